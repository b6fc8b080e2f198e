"""Compares every trained model with a forward pass in double precision, written from its paper.

    check_models.py MAGNON_BINARY WORK_DIR [DATA_DIR] [--only MODEL]
    check_models.py --self-test

Without DATA_DIR, only models on generated graphs are checked.

A case trains a few epochs and compares three things that come from the weights of the best one: the
log-probabilities of all nodes as `magnon predict` writes them, the loss of the validation nodes at
that epoch, and that of the training nodes at the next. The two losses are computed on the
neighbourhoods of those nodes only, so that they check other code than the predictions do.

Differences are at most 1e-5, beside the largest log-probability where that is more than 1.
"""

import argparse
import csv
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import models
import references as ref
from datasets import canonical, load
from generated import write_folder, write_weighted
from models import Filter, Inputs
from references import Operator
from tally import Tally, check_binary

LIMIT = 1e-5
"""Largest difference of log-probabilities and of losses, beside max(1, |log-probability|)."""
SPREAD = 1e-3
"""How much the log-probabilities of nodes must differ for a comparison to mean anything."""
TIMEOUT = 240
EPOCHS = 3


class Failure(Exception):
    """A check that did not hold, and by how much."""


@dataclass
class Data:
    """A folder that magnon reads, and what is in it."""

    folder: Path
    adjacency: sp.csr_matrix
    x: np.ndarray
    labels: np.ndarray
    train: np.ndarray
    val: np.ndarray
    loops: bool = False
    """Whether self loops are kept."""

    @staticmethod
    def read(folder: Path, loops: bool = False) -> "Data":
        graph = load(folder)
        split = [np.loadtxt(folder / f"idx_{part}.csv", dtype=int) for part in ("train", "valid")]
        adjacency = graph.adjacency
        if not loops:
            adjacency = canonical(adjacency - sp.diags(adjacency.diagonal()))
        return Data(folder, adjacency, graph.features, graph.labels, *split, loops)

    def flags(self) -> list[str]:
        loops = ["--keep-self-loops"] if self.loops else []
        return [str(self.folder), "--feature-norm", "none", *loops]


def weighted_graph(
    folder: Path, nodes: int, density: float, seed: int, loops: bool = False
) -> Data:
    """A random graph with weights."""
    write_weighted(folder, nodes, density, seed, loops)
    return Data.read(folder, loops)


@dataclass
class Case:
    """A model with its settings, an operator and a filter on a graph."""

    model: str
    data: str
    settings: dict[str, object] = field(default_factory=dict)
    """As the model takes them; `hidden` and the like do not change the formula."""
    operator: Operator | None = None
    filter: tuple[str, Filter] | None = None
    """Flags, and what they mean."""
    extra: list[str] = field(default_factory=list)

    def flags(self) -> list[str]:
        flags = ["--model", self.model, *self.extra]
        if self.operator:
            flags += self.operator.flags()
        if self.filter and self.filter[0]:
            flags += ["--filter", *self.filter[0].split()]
        for key, value in self.settings.items():
            if key in ("hidden", "layers", "gate", "channels"):
                flags += [f"--{key}", str(value)]
            else:
                flags += ["--set", f"{key}={str(value).lower()}"]
        return flags

    def logits(self, data: Data, weights: models.Weights) -> np.ndarray:
        inputs = Inputs(data.adjacency, data.x, self.operator, self.filter and self.filter[1])
        known = {key: value for key, value in self.settings.items() if key != "hidden"}
        return models.MODELS[self.model](inputs, weights, **known)


class Magnon:
    """The program under test; one thread of work a process."""

    def __init__(self, binary: str, work: Path) -> None:
        self.binary, self.work = binary, work

    def run(self, arguments: list[str]) -> None:
        command = [self.binary, *arguments, "--quiet", "--json", "--threads", "1"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            raise Failure(f"no end after {TIMEOUT} seconds") from None
        if done.returncode != 0:
            raise Failure(f"{arguments[0]}: exit code {done.returncode}: {done.stderr.strip()}")

    def train(self, case: Case, data: Data, number: int) -> Path:
        """A run folder. The last epoch has a rate of 0: it tells the loss of the one before."""
        run = self.work / f"model-{number}"
        shutil.rmtree(run, ignore_errors=True)
        flags = ["--epochs", str(EPOCHS + 1), "--patience", "10", "--no-report"]
        flags += ["--schedule", f"cosine:{EPOCHS},0", "--seed", str(number)]
        self.run(["train", *data.flags(), *case.flags(), *flags, "--out", str(run)])
        return run

    def predict(self, run: Path) -> np.ndarray:
        """Log-probabilities of all nodes."""
        path = run / "all.csv"
        self.run(["predict", str(run), "--full", "--output", str(path)])
        with path.open() as file:
            head, *rows = csv.reader(file)
        classes = [f"probability_{c}" for c in range(len(head) - 5)]
        if head != ["node", "label", "part", "predicted", "confidence", *classes]:
            raise Failure(f"the columns of the predictions are {head}")
        if [row[0] for row in rows] != [str(node) for node in range(len(rows))]:
            raise Failure("the nodes of the predictions are not in order")
        return np.log(np.array([row[5:] for row in rows], dtype=float))


def read_weights(path: Path) -> models.Weights:
    """Tensors of a safetensors file; a third axis holds real and imaginary parts."""
    raw = path.read_bytes()
    size = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + size])
    header.pop("__metadata__", None)
    weights = {}
    for name, entry in header.items():
        first, last = (8 + size + offset for offset in entry["data_offsets"])
        if entry["dtype"] != "F32":
            raise Failure(f"{name} is of type {entry['dtype']}")
        numbers = np.frombuffer(raw[first:last], "<f4").astype(float).reshape(entry["shape"])
        weights[name] = numbers[..., 0] + 1j * numbers[..., 1] if numbers.ndim == 3 else numbers
    return weights


def read_losses(run: Path) -> tuple[float, float]:
    """Of the validation nodes at the best epoch, and of the training nodes before the next step."""
    with (run / "history.csv").open() as file:
        rows = list(csv.DictReader(file))
    losses = [float(row["val_loss"]) for row in rows]
    best = int(np.argmin(losses))
    if best + 1 == len(rows):
        raise Failure("the last epoch, which changes nothing, is the best")
    return losses[best], float(rows[best + 1]["train_loss"])


def loss(log_probabilities: np.ndarray, data: Data, nodes: np.ndarray) -> float:
    return -log_probabilities[nodes, data.labels[nodes]].mean()


def check(magnon: Magnon, case: Case, data: Data, number: int) -> list[float]:
    """The errors of one case."""
    run = magnon.train(case, data, number)
    ours = magnon.predict(run)
    theirs = models.log_softmax(case.logits(data, read_weights(run / "model.safetensors")))
    val, train = read_losses(run)
    shutil.rmtree(run)
    return compare(data, ours, theirs, val, train)


def compare(
    data: Data, ours: np.ndarray, theirs: np.ndarray, val: float, train: float
) -> list[float]:
    """Errors of log-probabilities and of both losses."""
    if ours.shape != theirs.shape:
        raise Failure(f"shape {ours.shape}, expected {theirs.shape}")
    spread = theirs.std(axis=0).max()
    if not spread >= SPREAD:
        raise Failure(f"all nodes are alike: log-probabilities spread by {spread:.1e}")
    scale = max(1.0, abs(theirs).max())
    pairs = {
        "log-probabilities": abs(ours - theirs).max() / scale,
        "loss of validation nodes": abs(val - loss(theirs, data, data.val)) / scale,
        "loss of training nodes": abs(train - loss(theirs, data, data.train)) / scale,
    }
    for name, error in pairs.items():
        if not error <= LIMIT:
            raise Failure(f"{name}: error {error:.2e}, limit {LIMIT:.0e}")
    return list(pairs.values())


def series(text: str, coefficients: list[float]) -> tuple[str, Filter]:
    """A filter that is a power series."""
    return text, lambda s, x: ref.power_series(s, x, coefficients)


POWERS = [0.5, -1.0, 0.25]
WAVES = [0.3, -0.7, 0.2, 0.4, -0.1]
BUMPS = [1.0, 0.6, -0.2, 0.3, 0.1]
TOP, BOTTOM = [0.8, -0.5], [0.3, -0.2]


def join(values: list[float]) -> str:
    """Numbers as a flag takes them."""
    return ",".join(str(value) for value in values)


def exact(restart: float) -> Filter:
    return lambda s, x: ref.ppr_exact(s, x, 1 - restart)


DEFAULT_SQUARE = "", lambda s, x: s @ (s @ x)
DEFAULT_STEPS = "", models.page_rank_steps(0.1, 10)
DEFAULT_EXACT = "", exact(0.1)
LINEAR_RANK = series("linear-rank --order 6", ref.linear_rank(6))
FILTERS = [
    LINEAR_RANK,
    series("markov --order 3", ref.markov(3)),
    series("heat --time 1.5 --order 5", ref.heat(1.5, 5)),
    series(f"polynomial --coefficients={join(POWERS)}", POWERS),
    series("power --order 3", [0, 0, 0, 1]),
    (f"chebyshev --coefficients={join(WAVES)}", lambda s, x: ref.chebyshev(s, x, WAVES)),
    (
        f"bernstein --coefficients={join(BUMPS)}",
        lambda s, x: ref.bernstein(sp.identity(s.shape[0], format="csr") - s, x, BUMPS),
    ),
    ("heat --time 1.5 --exact", lambda s, x: ref.heat_exact(sp.csr_matrix(s), x, 1.5)),
    ("ppr --alpha 0.8 --exact", exact(0.2)),
    (
        f"arma --coefficients={join(TOP)} --feedback={join(BOTTOM)} --exact",
        lambda s, x: ref.arma_exact(s, x, TOP, BOTTOM),
    ),
]
CHARGES = ("0", "1/4", "1/3")


def cases() -> list[Case]:
    """Every model, with its own settings and others."""
    found = []
    uniform = ["--init", "uniform"]

    # Without dropout, so that the loss of training nodes can be compared. Linear models have rates
    # so large that probabilities would come to 0.
    usual = ["--dropout", "0"]
    special = {
        "sgc": ["--rate", "0.01"],
        "s2gc": ["--rate", "0.01"],
        "gprgnn": [*usual, "--set", "propagation_dropout=0"],
    }

    def add(model: str, *graphs: str, **rest: object) -> None:
        extra = [*rest.pop("extra", []), *special.get(model, usual)]
        found.extend(Case(model, graph, extra=extra, **rest) for graph in graphs)

    all_graphs = ("texas", "cornell", "weighted", "looped")
    add("mlp", "texas", "weighted")
    add("mlp", "weighted", settings={"hidden": 7}, extra=uniform)
    add("linkx", *all_graphs, settings={"hidden": 9}, extra=uniform)

    # Networks on filtered features.
    for model in ("sgc", "gfnn"):
        add(model, "texas", "weighted", "looped", "corar", filter=DEFAULT_SQUARE)
        for charge in CHARGES:
            operator = Operator(charge, symmetrize="mean", normalize="rw")
            add(model, "texas", "weighted", operator=operator, filter=LINEAR_RANK)
        for number, one in enumerate(FILTERS):
            operator = Operator(CHARGES[number % 3], kind=("low", "high")[number % 2])
            add(model, "weighted", operator=operator, filter=one)
    for charge in CHARGES:
        add("s2gc", "texas", "weighted", operator=Operator(charge))
    add("s2gc", "wisconsin", settings={"order": 5, "alpha": 0.3})
    for charge, gate in (("0", "tanh"), ("1/4", "tanh"), ("1/3", "exponential")):
        for kind in ("low", "high"):
            settings = {"hidden": 11} | ({"gate": gate} if charge != "0" else {})
            operator = Operator(charge, kind=kind)
            add("mgc", *all_graphs, settings=settings, operator=operator, filter=LINEAR_RANK)
    add("mgc", "directed", operator=Operator("1/5"), filter=LINEAR_RANK)
    laplacian = Operator("1/4", kind="laplacian", self_loops=False)
    add("mgc", "texas", operator=laplacian, filter=FILTERS[3], extra=uniform)

    for model in ("sgc", "gfnn", "mgc"):
        batches = ["--batch", "7"]
        add(model, "weighted", operator=Operator("1/4"), filter=LINEAR_RANK, extra=batches)

    # Networks whose predictions are filtered.
    add("ppnp", *all_graphs, "corar", filter=DEFAULT_EXACT)
    add("appnp", *all_graphs, "corar", filter=DEFAULT_STEPS)
    steps = "ppr --alpha 0.75 --order 4", models.page_rank_steps(0.25, 4)
    add("appnp", "wisconsin", filter=steps, settings={"hidden": 9}, extra=uniform)
    for charge in CHARGES:
        operator = Operator(charge, symmetrize="mean")
        add("ppnp", "texas", "weighted", operator=operator, filter=DEFAULT_EXACT)
        add("appnp", "texas", "weighted", operator=operator, filter=DEFAULT_STEPS)
    for number, one in enumerate(FILTERS):
        operator = Operator(CHARGES[number % 3], kind=("low", "high")[number % 2])
        add("appnp", "weighted", operator=operator, filter=one)
    walk = Operator("1/4", normalize="rw")
    add("appnp", "weighted", operator=walk, filter=LINEAR_RANK)
    add("gprgnn", *all_graphs, "corar")
    add("gprgnn", "wisconsin", settings={"order": 4, "hidden": 9}, extra=uniform)
    add("gprgnn", "weighted", operator=Operator("0", normalize="rw", symmetrize="mean"))

    # Convolutions.
    mean_walk = Operator("0", "mean", normalize="rw")
    add("gcn", "weighted", operator=mean_walk)
    add("gcn", *all_graphs, "corar")
    add("gcn", "wisconsin", settings={"layers": 1})
    add("gcn", "wisconsin", settings={"layers": 4, "hidden": 5}, extra=uniform)
    add("gcn", "weighted", operator=Operator("0", "mean", False))
    everything = {"top_k": 65536}
    for model in ("gdc-ppr", "gdc-hkpr"):
        add(model, "weighted", operator=mean_walk, settings=everything)
    for graph in ("texas", "weighted", "looped"):
        add("gdc-ppr", graph, settings=everything | {"restart": 0.2})
        add("gdc-hkpr", graph, settings=everything | {"time": 3.0})
    for top_k in (4, 9):
        add("gdc-ppr", "diffused", settings={"top_k": top_k, "layers": 3}, extra=uniform)
        add("gdc-hkpr", "diffused", settings={"top_k": top_k, "layers": 1}, extra=uniform)
    add("chebynet", *all_graphs, "corar")
    add("chebynet", "wisconsin", settings={"order": 1, "layers": 3, "hidden": 9}, extra=uniform)
    add("chebynet", "wisconsin", settings={"order": 5, "layers": 1}, extra=uniform)
    add("gat", *all_graphs, "corar")
    several = {"heads": 3, "hidden": 5, "output_heads": 4}
    add("gat", "texas", "weighted", settings=several, extra=uniform)
    add("digcn", *all_graphs, "directed")
    add("digcn", "wisconsin", settings={"alpha": 0.4, "layers": 3}, extra=uniform)
    for layers in (1, 2, 3):
        settings = {"inception": True, "layers": layers}
        add("digcn", *all_graphs, settings=settings, extra=uniform)
    for charge in CHARGES:
        operator = Operator(charge, symmetrize="mean", self_loops=False, kind="high")
        add("magnet", *all_graphs, operator=operator, extra=uniform)
        settings = {"order": 3, "layers": 1, "hidden": 7}
        add("magnet", "texas", "weighted", operator=operator, settings=settings)
        settings = {"order": 2, "layers": 3, "hidden": 5}
        operator = Operator(charge, self_loops=False, kind="high")
        add("magnet", "weighted", operator=operator, settings=settings, extra=uniform)
    operator = Operator("1/4", symmetrize="mean", self_loops=False, kind="high")
    add("magnet", "directed", operator=operator)
    for knowledge in ("none", "cat", "max"):
        settings = {"jumping_knowledge": knowledge, "hidden": 9}
        add("dirgnn", *all_graphs, settings=settings | {"alpha": 0.3}, extra=uniform)
        settings |= {"layers": 3, "normalize_rows": True}
        add("dirgnn", "texas", "weighted", settings=settings, extra=uniform)
    add("dirgnn", "directed", settings={"alpha": 0.8, "layers": 1})
    for is_complex in (False, True):
        settings = {"complex": is_complex, "hidden": 9}
        add("fabernet", *all_graphs, settings=settings | {"alpha": 0.3}, extra=uniform)
        settings |= {"order": 4, "layers": 1, "exponent": 0.5}
        add("fabernet", "texas", "weighted", settings=settings, extra=uniform)
        settings |= {"order": 1, "layers": 3, "alpha": 0.9}
        add("fabernet", "wisconsin", settings=settings, extra=uniform)
    add("fsgnn", *all_graphs, "corar")
    power = "power(order=2,charge=1/5,normalize=directed,self_loops=false)"
    banks = (
        ("x,out,in,out.in,in.out,rows-out,rows-in.out", {}),
        ("x,in,out.in", {"rescale": True, "degrees": True}),
        (f"x,linear-rank(order=4,charge=1/3),{power},power(order=1)", {"layers": 2}),
        (f"linear-rank(order=3,kind=negated-adjacency),{power}", {"activation": "gated_tanh"}),
        (f"{power},out.out.in", {"normalize_rows": False, "activation": "tanh"}),
    )
    for channels, settings in banks:
        settings = {"channels": channels, "hidden": 6, **settings}
        add("bank", *all_graphs, settings=settings, extra=uniform)
    settings = {"order": 2, "hidden": 9, "normalize_rows": False}
    add("fsgnn", "wisconsin", "weighted", settings=settings, extra=uniform)
    return found


def graphs(work: Path, data: Path | None) -> dict[str, Data]:
    """The graphs of the cases, read once; without real data, those that are generated."""
    found = {
        "weighted": weighted_graph(work / "weighted", 90, 0.04, 5),
        "looped": weighted_graph(work / "looped", 90, 0.04, 5, loops=True),
        # One of few whose diffusions have no entries so alike that rounding decides which are kept.
        "diffused": weighted_graph(work / "diffused", 30, 0.1, 610),
    }
    if data is None:
        return found
    found |= {name: Data.read(data / name) for name in ("texas", "cornell", "wisconsin")}
    corar = load(data / "corar")
    directed = canonical(sp.load_npz(data / "corar" / "derived" / "adj_directed.npz"))
    for name, adjacency in (("corar", corar.adjacency), ("directed", directed)):
        x = corar.features.astype(np.float32).astype(float)
        write_folder(work / name, adjacency, x, corar.labels, 7)
        found[name] = Data.read(work / name)
    return found


def run_checks(
    tally: Tally,
    model: str,
    numbered: list[tuple[int, Case]],
    work: Callable[[int, Case], list[float]],
) -> None:
    """Runs the cases of one model, two at a time."""

    def one(entry: tuple[int, Case]) -> tuple[list[float], str | None]:
        number, case = entry
        try:
            return work(number, case), None
        except (Failure, models.Tie) as failure:
            return [], f"{case.data}: {' '.join(case.flags())}: {failure}"

    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(one, numbered))
    failures = [failure for _, failure in results if failure]
    errors = [error for errors, _ in results for error in errors]
    note = f", worst error {max(errors):.1e}" if errors else ""
    tally.graph(model, "comparisons", len(errors), failures, note)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", nargs="?", metavar="MAGNON_BINARY")
    parser.add_argument("work", nargs="?", type=Path, metavar="WORK_DIR")
    parser.add_argument("data", nargs="?", type=Path, metavar="DATA_DIR")
    parser.add_argument("--only", action="append", metavar="MODEL", help="check this model only")
    parser.add_argument("--self-test", action="store_true", help="check the references alone")
    options = parser.parse_args()
    if options.self_test:
        from self_test_models import forward_passes

        return forward_passes()
    if options.work is None:
        parser.error("MAGNON_BINARY and WORK_DIR are needed")
    work = options.work / "models"
    work.mkdir(parents=True, exist_ok=True)
    magnon = Magnon(check_binary(options.binary), work)
    data = graphs(work, options.data)
    tally = Tally()
    for model in options.only or models.MODELS:
        here = lambda case: case.model == model and case.data in data
        numbered = [(n, case) for n, case in enumerate(cases()) if here(case)]
        run_checks(tally, model, numbered, lambda n, case: check(magnon, case, data[case.data], n))
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
