//! The commands whose results are kept.

/// A command, by a name of its own. Commands run in one folder in this order: later ones read what earlier ones wrote.
pub struct Case {
    pub name: &'static str,
    /// `DATA/` stands for the folder of the real data sets; such cases are left out without one.
    pub command: &'static str,
}

const fn case(name: &'static str, command: &'static str) -> Case {
    Case { name, command }
}

pub const CASES: &[Case] = &[
    // Graphs, tables and packed graphs.
    case(
        "generate-folder",
        "generate cyclic --nodes 120 --columns 8 --density 0.05 -o data --seed 3",
    ),
    case("generate-edges", "generate erdos-renyi --nodes 400 --density 0.02 -o edges.csv --seed 4"),
    case("pack", "pack edges.csv -o g.magnon"),
    case("pack-parts", "pack g.magnon -o parts.magnon --parts 3"),
    case("info", "info data"),
    case("info-packed", "info g.magnon"),
    case("cycles", "cycles data"),
    case("cycles-count", "cycles ordered:nodes=30,density=0.1 --csv cycles.csv --enumerate"),
    // The operator and its filters.
    case("operator", "operator data --charge 1/3 -o operator.npz"),
    case(
        "operator-mean",
        "operator data --charge 0.2 --symmetrize mean --normalize rw -o mean.npz",
    ),
    case("operator-directed", "operator data --charge 1/5 --normalize directed -o directed.npz"),
    case(
        "operator-laplacian",
        "operator data --charge 1/4 --kind laplacian --normalize none -o l.npz",
    ),
    case(
        "linear-rank",
        "propagate data --charge 1/3 --filter linear-rank --order 8 -o linear-rank.npy",
    ),
    case("markov", "propagate data --charge 1/3 --filter markov --order 6 -o markov.npy"),
    case("ppr", "propagate data --charge 1/3 --filter ppr --alpha 0.8 -o ppr.npy"),
    case(
        "ppr-exact",
        "propagate data --charge 1/3 --filter ppr --alpha 0.8 --exact -o ppr-exact.npy",
    ),
    case("heat", "propagate data --charge 1/3 --filter heat --time 2 -o heat.npy"),
    case(
        "heat-exact",
        "propagate data --charge 1/3 --filter heat --time 2 --exact -o heat-exact.npy",
    ),
    case(
        "chebyshev",
        "propagate data --charge 1/3 --filter chebyshev --coefficients 1,0.5,-0.25 -o chebyshev.npy",
    ),
    case(
        "bernstein",
        "propagate data --charge 1/3 --filter bernstein --coefficients 1,0.5,0.25 -o bernstein.npy",
    ),
    case(
        "arma",
        "propagate data --charge 1/3 --filter arma --coefficients 1,0.5 --feedback 0.3 -o arma.npy",
    ),
    case(
        "polynomial",
        "propagate data --charge 1/3 --filter polynomial --coefficients 1,0.5,0.25 -o polynomial.npy",
    ),
    case("power", "propagate data --charge 1/3 --filter power --order 3 -o power.npy"),
    case(
        "channels",
        "propagate data --channels x,out,in.out,linear-rank(order=4,charge=1/3) -o channels.npz",
    ),
    case("degrees", "propagate g.magnon --features degree --charge 0 --order 1 -o degrees.npy"),
    case(
        "propagate-file",
        "propagate g.magnon --features degrees.npy --charge 1/3 --memory 64M -o file.npy",
    ),
    case("denoise", "denoise data --charge 1/3 --mu 2 -o denoised.npy --csv energies.csv"),
    // Spectra and pictures.
    case(
        "spectrum",
        "spectrum data --charge 1/3 --vectors --npy vectors.npy --csv eigenvalues.csv",
    ),
    case(
        "spectrum-few",
        "spectrum edges.csv --charge 1/4 --count 5 --which smallest --csv few.csv",
    ),
    case(
        "density",
        "spectrum edges.csv --charge 1/4 --density --csv density.csv --plot density.svg",
    ),
    case("frustration", "spectrum data --frustration --points 12 --csv frustration.csv"),
    case(
        "response",
        "response --filter linear-rank --order 8 --csv response.csv --plot response.svg",
    ),
    case("eigenmap", "eigenmap data --charge 1/3 --csv map.csv --plot map.svg"),
    // Every model.
    case("mgc", "train data --model mgc --charge 1/3 --epochs 20 -o mgc"),
    case("mgc-auto", "train data --model mgc --epochs 20 --runs 2 --controls"),
    case("mlp", "train data --model mlp --epochs 20 -o mlp"),
    case("sgc", "train data --model sgc --epochs 20 -o sgc"),
    case("gfnn", "train data --model gfnn --epochs 20"),
    case("s2gc", "train data --model s2gc --epochs 20"),
    case("gcn", "train data --model gcn --epochs 20 -o gcn"),
    case("chebynet", "train data --model chebynet --epochs 20"),
    case("ppnp", "train data --model ppnp --epochs 20"),
    case("appnp", "train data --model appnp --epochs 20"),
    case("gdc-ppr", "train data --model gdc-ppr --epochs 20"),
    case("gdc-hkpr", "train data --model gdc-hkpr --epochs 20"),
    case("gprgnn", "train data --model gprgnn --epochs 20"),
    case("gat", "train data --model gat --epochs 20 --set heads=2"),
    case("digcn", "train data --model digcn --epochs 20"),
    case("magnet", "train data --model magnet --charge 1/4 --epochs 20 -o magnet"),
    case("dirgnn", "train data --model dirgnn --epochs 20"),
    case("fabernet", "train data --model fabernet --epochs 20"),
    case("fsgnn", "train data --model fsgnn --epochs 20"),
    case("linkx", "train data --model linkx --epochs 20"),
    case("bank", "train data --model bank --epochs 20 -o bank"),
    case("bank-channels", "train data --model bank --channels x,out,out.in,rows-in --epochs 20"),
    // Ways of training.
    case(
        "batch",
        "train data --model mgc --charge 1/3 --epochs 6 --batch 16 --clip 1 --schedule cosine:6,0.1",
    ),
    case("bank-batch", "train data --model bank --channels x,out,in --epochs 6 --batch 16"),
    case("weighted", "train data --model gcn --weight-transform log --epochs 6 --decay decoupled"),
    // What is done with runs.
    case("predict", "predict mgc -o mgc.csv"),
    case("predict-full", "predict mgc data --reverse --full -o reversed.csv"),
    case("predict-gcn", "predict gcn -o gcn.csv"),
    case("predict-bank", "predict bank -o bank.csv"),
    case(
        "compare",
        "compare data --models mgc,gcn,bank --splits 2 --draws 1 -o comparison --csv comparison.csv",
    ),
    case("compare-tuned", "compare data --models gcn --splits 2 --draws 1 --tune-trials 3"),
    case("tune", "tune data --model mgc --charge 1/3 --trials 6 --csv trials.csv -o best.json"),
    case("tune-random", "tune data --model bank --channels x,out --trials 2 --search random"),
    // The paper's settings.
    case("preset-cornell", "train DATA/cornell --preset cornell --epochs 60 --runs 2"),
    case("preset-texas", "train DATA/texas --preset texas --epochs 60"),
    case("preset-pubmed", "train DATA/pubmed --preset pubmed --epochs 10"),
    case("preset-corar", "train DATA/corar --preset corar --epochs 20"),
    case(
        "squirrel-bank",
        "train DATA/geom_gcn_squirrel --model bank --channels x,out.in,rows-out --epochs 10",
    ),
    case("reproduce", "reproduce accuracy --data DATA --only texas --runs 2"),
];
