//! Made-up numbers of the right shape.

use magnon_report::*;
use std::f64::consts::{PI, TAU};

/// A small generator: the sample needs no randomness worth the name.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

const CHARGES: [f64; 7] = [0.0, 0.1, 1.0 / 6.0, 0.2, 0.25, 1.0 / 3.0, 0.5];
const CLASSES: [&str; 5] = ["student", "project", "course", "staff", "faculty"];

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn grid(low: f64, high: f64, count: usize) -> Vec<f64> {
    (0..count).map(|i| low + (high - low) * i as f64 / (count - 1) as f64).collect()
}

fn eigenvalues(charge: f64, count: usize) -> Vec<f64> {
    let lift = 0.18 * (PI * charge).sin().powi(2);
    grid(0.0, 1.0, count)
        .into_iter()
        .map(|t| {
            lift + (1.9 - 1.6 * lift) * t.powf(0.6) * (1.0 + 0.05 * (9.0 * t).sin() * (1.0 - t))
        })
        .collect()
}

fn linear_rank(x: f64) -> f64 {
    let s = 1.0 - x;
    (0..=10).map(|k| f64::from(11 - k) / 66.0 * s.powi(k)).sum()
}

pub fn spectrum() -> SpectrumFigure {
    let curve = |&charge: &f64| {
        let eigenvalues = eigenvalues(charge, 183);
        let approximation = eigenvalues.iter().map(|value| 0.04 + 0.94 * value).collect();
        SpectrumCurve { charge, eigenvalues, approximation, indices: Vec::new() }
    };
    let x = grid(0.0, 2.0, 200);
    let y = x.iter().copied().map(linear_rank).collect();
    SpectrumFigure {
        title: "Spectrum of the magnetic Laplacian".into(),
        curves: CHARGES.iter().map(curve).collect(),
        response: Some(Curve { name: "LinearRank, K = 10".into(), x, y, dashed: false }),
        chosen: Some(1.0 / 3.0),
        note: String::new(),
    }
}

pub fn density() -> DensityFigure {
    let curve = |&charge: &f64| {
        let x = grid(0.0, 2.0, 160);
        let density: Vec<f64> = x
            .iter()
            .map(|x| {
                1.2 * (-(x - 1.0 - 0.3 * charge).powi(2) * 6.0).exp()
                    + 0.5 * (-(x - 0.2).powi(2) * 60.0).exp()
            })
            .collect();
        let low = density.iter().map(|d| 0.9 * d - 0.01).collect();
        let high = density.iter().map(|d| 1.1 * d + 0.02).collect();
        DensityCurve { name: format!("q = {charge:.2}"), x, density, low, high }
    };
    DensityFigure {
        title: "Spectral density".into(),
        curves: [0.0, 0.25].iter().map(curve).collect(),
    }
}

pub fn frustration() -> FrustrationFigure {
    let charges = grid(0.0, 0.5, 201);
    let values = charges.iter().map(|q| 0.03 * (3.0 * PI * q).sin().powi(2) + 0.02 * q).collect();
    FrustrationFigure { title: "Frustration".into(), charges, values, minima: vec![0.0, 1.0 / 3.0] }
}

pub fn response() -> ResponseFigure {
    let curve = |name: &str, h: &dyn Fn(f64) -> f64, dashed: bool| {
        let x = grid(0.0, 2.0, 200);
        let y = x.iter().copied().map(h).collect();
        Curve { name: name.into(), x, y, dashed }
    };
    ResponseFigure {
        title: "Filters".into(),
        curves: vec![
            curve("LinearRank, K = 10", &linear_rank, false),
            curve("PageRank, α = 0.1", &|x| 0.1 / (0.1 + 0.9 * x), false),
            curve("heat, t = 2", &|x| (-2.0 * x).exp(), false),
            curve(
                "heat, t = 2, K = 4",
                &|x| {
                    (0..=4)
                        .map(|k| (-2.0 * x).powi(k) / [1.0, 1.0, 2.0, 6.0, 24.0][k as usize])
                        .sum()
                },
                true,
            ),
        ],
    }
}

pub fn eigenmap(nodes: usize, edges: usize) -> EigenmapFigure {
    let mut noise = Noise(7);
    let mut figure = EigenmapFigure {
        title: format!("Magnetic eigenmap, q = 1/3, {nodes} nodes"),
        axes: ["Re u₁", "Im u₁", "Re u₂"].map(str::to_owned),
        class_names: names(&CLASSES),
        ..Default::default()
    };
    for _ in 0..nodes {
        let label = (noise.next() * 5.0).floor();
        let angle = TAU * (label / 5.0 + 0.11 * (noise.next() + noise.next() - 1.0));
        let radius = 0.35 + 0.65 * noise.next().sqrt();
        figure.x.push(radius * angle.cos());
        figure.y.push(radius * angle.sin());
        figure.z.push(0.8 * (2.0 * angle).sin() * radius + 0.2 * (noise.next() - 0.5));
        figure.phases.push(angle);
        figure.labels.push(label as u16);
    }
    let mut node = || (noise.next() * nodes as f64) as u32;
    figure.edges = (0..edges).map(|_| [node(), node()]).collect();
    figure
}

pub fn training() -> TrainingFigure {
    let mut noise = Noise(3);
    let mut curve = |end: f64, start: f64, rate: f64, rough: f64| -> Vec<f64> {
        (0..240)
            .map(|e| {
                end + (start - end) * (-f64::from(e) / rate).exp() + rough * (noise.next() - 0.5)
            })
            .collect()
    };
    let mut val_loss = curve(0.58, 1.62, 30.0, 0.03);
    for (epoch, value) in val_loss.iter_mut().enumerate().skip(120) {
        *value += 0.0009 * (epoch - 120) as f64;
    }
    TrainingFigure {
        title: "Loss and accuracy".into(),
        train_loss: curve(0.12, 1.6, 34.0, 0.02),
        val_loss,
        train_accuracy: curve(0.98, 0.2, 28.0, 0.01),
        val_accuracy: curve(0.84, 0.2, 24.0, 0.02),
        best_epoch: Some(124),
    }
}

pub fn confusion() -> ConfusionFigure {
    ConfusionFigure {
        title: "Confusion on the test nodes".into(),
        class_names: names(&CLASSES),
        counts: vec![
            vec![412, 8, 21, 3, 0],
            vec![14, 96, 11, 2, 5],
            vec![33, 4, 201, 9, 1],
            vec![2, 0, 7, 58, 14],
            vec![0, 6, 0, 19, 122],
        ],
    }
}

fn control(name: &str, accuracy: f64, half_width: f64, note: &str) -> Control {
    Control {
        name: name.into(),
        accuracy,
        half_width: Some(half_width),
        runs: 10,
        note: note.into(),
        main: name == "MGC",
    }
}

fn fact(name: &str, value: &str) -> Fact {
    Fact { name: name.into(), value: value.into() }
}

fn evidence() -> CycleEvidence {
    let length = |length, found: &str, evidence: &str, count| CycleLength {
        length,
        found: found.into(),
        evidence: evidence.into(),
        count,
        witness: if found == "yes" { "3 → 91 → 12 → 3".into() } else { String::new() },
    };
    let charge = |charge, origin: &str, loss, accuracy, chosen| ChargeCandidate {
        charge,
        origin: origin.into(),
        val_loss: loss,
        val_accuracy: accuracy,
        chosen,
    };
    CycleEvidence {
        lengths: vec![
            length(2, "yes", "a cycle is at hand", Some(26)),
            length(3, "yes", "a cycle is at hand", Some(14)),
            length(4, "yes", "a cycle is at hand", Some(22_318)),
            length(5, "no", "all strong components searched", Some(0)),
            length(6, "not settled", "search stopped after 5 s", None),
        ],
        charges: vec![
            charge(0.0, "control", Some(0.671), Some(0.781), false),
            charge(0.25, "4-cycles", Some(0.611), Some(0.824), false),
            charge(1.0 / 3.0, "3-cycles", Some(0.5801), Some(0.843), true),
            charge(0.5, "2-cycles", None, None, false),
        ],
        choice: "q = 1/3".into(),
        reason: "It has the smallest validation loss of the charges that the cycles suggest."
            .into(),
    }
}

/// A table as other pages have them.
fn table() -> ReportTable {
    let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
    ReportTable {
        title: "Accuracy beside the paper's".into(),
        setting: "the authors' split, ten seeds".into(),
        head: row(["model", "Texas", "Cornell"]),
        rows: vec![
            row(["GCN", "64.2 (47.4)", "47.7 (42.3)"]),
            row(["MGC", "79.0 (84.2)", "80.3 (79.5)"]),
        ],
        notes: vec!["The paper's figures stand in brackets.".into()],
    }
}

/// What mattered in a search.
pub fn shares() -> SharesFigure {
    SharesFigure {
        title: "What mattered".into(),
        label: "share of the variance between trials".into(),
        names: ["rate", "charge", "hidden", "dropout"].map(str::to_owned).to_vec(),
        shares: vec![0.12, 0.54, 0.28, 0.0],
        notes: vec!["0.01: 71 %, 0.1: 64 %".into()],
    }
}

pub fn report() -> Report {
    Report {
        title: "Texas: webpages classified by their links".into(),
        subtitle: "Magnetic graph convolution, 10 given splits".into(),
        facts: vec![
            fact("nodes", "183"),
            fact("edges", "295"),
            fact("features", "1703"),
            fact("classes", "5"),
            fact("reciprocity", "0.177"),
            fact("node homophily", "0.057"),
            fact("split", "given, 10 of 10"),
            fact("filter", "LinearRank, K = 10, high pass"),
        ],
        remarks: vec!["30 self loops were dropped; --keep-self-loops keeps them.".into()],
        tables: vec![table()],
        shares: None,
        controls: vec![
            control("MGC", 0.8421, 0.0263, "the model of this report"),
            control("MGC, q = 0", 0.787, 0.031, "the same network without edge direction"),
            control("MLP", 0.771, 0.034, "features alone, no graph"),
        ],
        controls_note: "95 % confidence interval of the mean over 10 splits".into(),
        cycles: Some(evidence()),
        spectrum: Some(spectrum()),
        spectra: vec![spectrum(), spectrum()],
        density: Some(density()),
        frustration: Some(frustration()),
        response: Some(response()),
        training: Some(training()),
        confusion: Some(confusion()),
        eigenmap: Some(eigenmap(183, 295)),
        command: "magnon train texas --charge 1/3 --filter linear-rank --order 10 --pass high --seed 1".into(),
        configuration: serde_json::from_str(
            r#"{"operator": {"charge": "1/3", "normalize": "sym", "self_loops": true, "kind": "adjacency"},
               "filter": {"kind": "linear-rank", "order": 10}, "train": {"rate": 0.01, "patience": 50}}"#,
        )
        .ok(),
        made_by: "magnon 0.1.0".into(),
    }
}

/// The same with names that try to break out, run the wrong way, or never end.
pub fn hostile_report() -> Report {
    let long = "an extraordinarily-long-class-name-without-any-space-".repeat(6);
    let bad = [
        "</script><script>document.title='broken'</script>",
        "\"><img src=x onerror=\"document.title='broken'\">",
        "שלום עולם <b>",
        long.as_str(),
        "'; &amp; \u{202e}gnp.exe",
    ];
    let mut report = report();
    report.title = format!("{} {}", bad[0], bad[1]);
    report.subtitle = long.clone();
    report.facts.push(fact(bad[1], bad[0]));
    report.facts.push(fact(&long, &long));
    report.remarks.push(bad[2].into());
    report.command = format!("magnon train '{}' {long}", bad[0]);
    report.configuration = serde_json::to_value(names(&bad)).ok();
    for (control, name) in report.controls.iter_mut().zip(bad) {
        control.name = name.into();
        control.note = format!("{name} {long}");
    }
    if let Some(cycles) = &mut report.cycles {
        cycles.choice = bad[0].into();
        cycles.reason = bad[1].into();
        for (length, name) in cycles.lengths.iter_mut().zip(bad) {
            length.evidence = name.into();
        }
    }
    if let Some(confusion) = &mut report.confusion {
        confusion.class_names = names(&bad);
        confusion.title = bad[0].into();
    }
    if let Some(map) = &mut report.eigenmap {
        map.class_names = names(&bad);
        map.node_names = (0..map.x.len()).map(|node| bad[node % 5].to_owned()).collect();
        map.axes = [bad[0], bad[3], bad[2]].map(str::to_owned);
    }
    for (curve, name) in report.response.iter_mut().flat_map(|figure| &mut figure.curves).zip(bad) {
        curve.name = name.into();
    }
    report
}

/// As large as the page must stand.
pub fn large_report() -> Report {
    let curve = |&charge: &f64| SpectrumCurve {
        charge,
        eigenvalues: eigenvalues(charge, 20_000),
        ..SpectrumCurve::default()
    };
    let spectrum = SpectrumFigure { curves: CHARGES.iter().map(curve).collect(), ..spectrum() };
    let mut eigenmap = eigenmap(20_000, 44_000);
    eigenmap.node_names = (0..20_000).map(|node| format!("paper {node}")).collect();
    Report {
        title: "A graph of 20,000 nodes".into(),
        spectrum: Some(spectrum),
        eigenmap: Some(eigenmap),
        ..report()
    }
}

/// Almost nothing to tell.
pub fn bare_report() -> Report {
    Report { title: "A bare report".into(), facts: vec![fact("nodes", "1")], ..Report::default() }
}
