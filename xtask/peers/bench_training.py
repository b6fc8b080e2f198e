"""Trains MGC with PyTorch, and says how long that takes and how good it gets.

    bench_training.py NAME --data FOLDER [--way careful|authors] [--runs 10] [--seed 0]
                      [--threads 2] [--init glorot|uniform] [--epochs N]
    bench_training.py --self-test

NAME is a preset (`presets/NAME.json`) and a folder in FOLDER. One JSON object goes to stdout.

Two ways to the same model:

- authors: what a script on a graph usually does. All nodes go through the network at every epoch,
  once for the loss of the training rows, once more for that of the validation rows; weights are
  complex parameters, the optimiser is as it comes, and the best weights are a deep copy.
- careful: only training rows go forward and back, only validation rows forward. Ways to hold complex
  numbers, kinds of Adam and numbers of threads up to --threads are tried first, and the fastest
  combination is taken: where products are small a second thread can cost more than it brings.

The filtered features are computed once, by scipy. Seconds of training leave out the import of torch,
reading, filtering and the choice of the fastest way, which are given apart.
"""

import argparse
import copy
import itertools
import json
import math
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

START = time.perf_counter()

import numpy as np
import torch
import torch.nn.functional as F

import datasets
import references

IMPORTED = time.perf_counter() - START

PRESETS = Path(__file__).resolve().parents[2] / "crates" / "magnon" / "presets"
HIGH_PASS = ("cornell", "texas", "washington", "wisconsin")
"""Graphs whose neighbours are unlike: their adjacency is negated."""

OPTIMISERS = ("fused", "foreach", "plain")


@dataclass(frozen=True)
class Config:
    """What a preset says."""

    charge: str
    order: int
    high: bool
    row_norm: bool
    hidden: int
    dropout: float
    epochs: int
    patience: int
    rate: float
    weight_decay: float
    init: str = "glorot"

    @staticmethod
    def read(name: str) -> "Config":
        preset = json.loads((PRESETS / f"{name}.json").read_text())
        train = preset["train"]
        return Config(
            charge=preset["operator"]["charge"],
            order=preset["filter"]["order"],
            high=name in HIGH_PASS,
            row_norm=preset["data"]["load"]["feature_norm"] == "row",
            hidden=preset["model"]["hidden"],
            dropout=preset["model"]["dropout"],
            epochs=train["epochs"],
            patience=train["patience"],
            rate=train["optimiser"]["rate"],
            weight_decay=train["optimiser"]["weight_decay"],
        )


@dataclass
class Problem:
    """Filtered features of all nodes, float32 or complex64, with labels and split."""

    x: np.ndarray
    labels: np.ndarray
    train: np.ndarray
    val: np.ndarray
    test: np.ndarray
    classes: int


def read(folder: Path) -> tuple[datasets.Graph, list[np.ndarray]]:
    """A graph and its split."""
    parts = ("train", "valid", "test")
    split = [np.loadtxt(folder / f"idx_{part}.csv", dtype=np.int64) for part in parts]
    return datasets.load(folder), split


def filtered(graph: datasets.Graph, split: list[np.ndarray], config: Config) -> Problem:
    """H(P)X of a graph."""
    kind = "high" if config.high else "low"
    operator = references.Operator(config.charge, kind=kind).build(graph.adjacency)
    features = graph.features
    if config.row_norm:
        features = datasets.row_normalised(features)
    real = references.is_real(operator)
    operator = operator.real if real else operator
    x = references.power_series(operator, features, references.linear_rank(config.order))
    x = np.ascontiguousarray(x.real, np.float32) if real else x.astype(np.complex64)
    return Problem(x, graph.labels, *split, classes=int(graph.labels.max()) + 1)


def draw(
    rows: int, columns: int, is_complex: bool, init: str
) -> tuple[torch.Tensor, torch.Tensor]:
    """Weights and bias of a layer.

    Glorot is uniform on +-sqrt(6 / (rows + columns)) where weights are real, and of Rayleigh
    magnitude and uniform phase where they are complex, with biases of zero; uniform is
    +-1 / sqrt(rows) for everything, real and imaginary parts apart.
    """
    dtype = torch.complex64 if is_complex else torch.float32
    if init == "uniform":
        size = 1 / math.sqrt(rows)
        parts = 2 if is_complex else 1
        numbers = [torch.empty(n, columns, parts).uniform_(-size, size) for n in (rows, 1)]
        weight, bias = (
            torch.view_as_complex(x) if is_complex else x.squeeze(-1) for x in numbers
        )
        return weight, bias.reshape(-1)
    bias = torch.zeros(columns, dtype=dtype)
    if not is_complex:
        size = math.sqrt(6 / (rows + columns))
        return torch.empty(rows, columns).uniform_(-size, size), bias
    uniform = torch.rand(rows, columns)
    magnitude = torch.sqrt(-2 * torch.log1p(-uniform)) / math.sqrt(rows + columns)
    phase = torch.empty(rows, columns).uniform_(-math.pi, math.pi)
    return torch.polar(magnitude, phase), bias


class Plain(torch.nn.Module):
    """The network as a module, with complex parameters where the features are."""

    def __init__(self, inputs: int, classes: int, is_complex: bool, config: Config) -> None:
        super().__init__()
        self.dropout = config.dropout
        parameter = torch.nn.Parameter
        weight, bias = draw(inputs, config.hidden, is_complex, config.init)
        self.weight0, self.bias0 = parameter(weight), parameter(bias)
        weight, bias = draw(config.hidden, classes, False, config.init)
        self.weight1, self.bias1 = parameter(weight), parameter(bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        z = x @ self.weight0 + self.bias0
        h = torch.tanh(z.real) * torch.tanh(z.imag) if z.is_complex() else torch.tanh(z)
        h = F.dropout(h, self.dropout, self.training)
        return h @ self.weight1 + self.bias1


class Real:
    """The network as bare tensors, all of them real.

    Subclasses hold a complex first layer as real numbers in one way or another; the same weights
    give the same results.
    """

    def __init__(self, start: Plain) -> None:
        with torch.no_grad():
            first = self.pack(start.weight0.detach(), start.bias0.detach())
            second = [start.weight1.detach().clone(), start.bias1.detach().clone()]
        self.parameters = [p.contiguous().requires_grad_() for p in [*first, *second]]
        self.dropout = start.dropout

    @staticmethod
    def pack(weight: torch.Tensor, bias: torch.Tensor) -> list[torch.Tensor]:
        """Parameters of the first layer."""
        return [weight.clone(), bias.clone()]

    @staticmethod
    def rows(x: np.ndarray) -> torch.Tensor:
        """Input rows as this network wants them."""
        return torch.from_numpy(np.ascontiguousarray(x))

    def hidden(self, x: torch.Tensor) -> torch.Tensor:
        weight, bias = self.parameters[:2]
        return torch.tanh(torch.addmm(bias, x, weight))

    def logits(self, x: torch.Tensor, training: bool) -> torch.Tensor:
        h = self.hidden(x)
        if training:
            h = F.dropout(h, self.dropout, True)
        return torch.addmm(self.parameters[3], h, self.parameters[2])


class Interleaved(Real):
    """Real and imaginary parts side by side; products are complex."""

    @staticmethod
    def pack(weight: torch.Tensor, bias: torch.Tensor) -> list[torch.Tensor]:
        return [torch.view_as_real(weight).clone(), torch.view_as_real(bias).clone()]

    def hidden(self, x: torch.Tensor) -> torch.Tensor:
        weight, bias = (torch.view_as_complex(p) for p in self.parameters[:2])
        parts = torch.tanh(torch.view_as_real(torch.addmm(bias, x, weight)))
        return parts[..., 0] * parts[..., 1]


class Planar(Real):
    """Re X above Im X, Re W beside Im W: one real product holds all four."""

    @staticmethod
    def pack(weight: torch.Tensor, bias: torch.Tensor) -> list[torch.Tensor]:
        return [torch.cat([p.real, p.imag], dim=-1) for p in (weight, bias)]

    @staticmethod
    def rows(x: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(np.concatenate([x.real, x.imag]))

    def hidden(self, x: torch.Tensor) -> torch.Tensor:
        weight, bias = self.parameters[:2]
        upper, lower = (x @ weight).chunk(2)
        upper = upper + bias
        (rr, ri), (ir, ii) = upper.chunk(2, dim=1), lower.chunk(2, dim=1)
        return torch.tanh(rr - ii) * torch.tanh(ri + ir)


def adam(parameters: list[torch.Tensor], config: Config, kind: str) -> torch.optim.Adam:
    flags = {} if kind == "plain" else {kind: True}
    rate, decay = config.rate, config.weight_decay
    return torch.optim.Adam(parameters, lr=rate, weight_decay=decay, **flags)


@dataclass
class Run:
    """What came of one run."""

    seed: int
    epochs: int
    best_epoch: int
    val_loss: float
    test_accuracy: float


class Authors:
    """All nodes at every epoch."""

    def __init__(self, problem: Problem, config: Config) -> None:
        self.problem, self.config = problem, config
        self.method = f"all nodes, plain Adam, threads: {torch.get_num_threads()}"
        self.x = torch.from_numpy(problem.x)
        self.labels = torch.from_numpy(problem.labels)
        split = (problem.train, problem.val, problem.test)
        self.train_rows, self.val_rows, self.test_rows = map(torch.from_numpy, split)
        self.train(0, 3)

    def train(self, seed: int, epochs: int) -> Run:
        torch.manual_seed(seed)
        inputs, classes = self.x.shape[1], self.problem.classes
        model = Plain(inputs, classes, self.x.is_complex(), self.config)
        optimiser = adam(list(model.parameters()), self.config, "plain")
        best, best_epoch, weights = math.inf, 0, None
        for epoch in range(1, epochs + 1):
            model.train()
            optimiser.zero_grad()
            output = model(self.x)
            loss = F.cross_entropy(output[self.train_rows], self.labels[self.train_rows])
            loss.backward()
            optimiser.step()
            model.eval()
            with torch.no_grad():
                output = model(self.x)
                loss = F.cross_entropy(output[self.val_rows], self.labels[self.val_rows]).item()
            if loss < best:
                best, best_epoch = loss, epoch
                weights = copy.deepcopy(model.state_dict())
            if epoch - best_epoch >= self.config.patience:
                break
        model.load_state_dict(weights)
        with torch.no_grad():
            right = model(self.x)[self.test_rows].argmax(1) == self.labels[self.test_rows]
        return Run(seed, epoch, best_epoch, best, right.float().mean().item())


class Careful:
    """Only the rows that are needed, in the fastest way that was found."""

    def __init__(self, problem: Problem, config: Config) -> None:
        self.config, self.classes = config, problem.classes
        self.inputs, self.complex = problem.x.shape[1], np.iscomplexobj(problem.x)
        self.layouts = (Interleaved, Planar) if self.complex else (Real,)
        parts = (problem.train, problem.val, problem.test)
        self.labels = [torch.from_numpy(problem.labels[part]) for part in parts]
        rows = {layout: [layout.rows(problem.x[p]) for p in parts] for layout in self.layouts}
        threads = range(1, torch.get_num_threads() + 1)
        tried = {}
        for way in itertools.product(self.layouts, OPTIMISERS, threads):
            self.use(*way, rows[way[0]])
            tried[way] = self.speed()
        way = min(tried, key=tried.get)
        self.use(*way, rows[way[0]])
        layout, optimiser, threads = way
        self.method = f"{layout.__name__.lower()} layout, {optimiser} Adam, threads: {threads}"

    def use(
        self, layout: type[Real], optimiser: str, threads: int, rows: list[torch.Tensor]
    ) -> None:
        self.layout, self.optimiser, self.rows = layout, optimiser, rows
        torch.set_num_threads(threads)

    def speed(self) -> float:
        """Seconds of ten epochs, the best of three after a warm-up."""
        steps = self.steps(0)
        epochs = lambda: [next(steps) for _ in range(10)]
        epochs()
        return min(timed(epochs)[0] for _ in range(3))

    def steps(self, seed: int) -> Iterator[tuple[Real, float]]:
        """The network and its validation loss after every epoch, without end."""
        torch.manual_seed(seed)
        network = self.layout(Plain(self.inputs, self.classes, self.complex, self.config))
        optimiser = adam(network.parameters, self.config, self.optimiser)
        (train, val, _), (train_labels, val_labels, _) = self.rows, self.labels
        while True:
            loss = F.cross_entropy(network.logits(train, True), train_labels)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()
            with torch.inference_mode():
                loss = F.cross_entropy(network.logits(val, False), val_labels).item()
            yield network, loss

    def train(self, seed: int, epochs: int) -> Run:
        best, best_epoch, weights = math.inf, 0, None
        for epoch, (network, loss) in zip(range(1, epochs + 1), self.steps(seed)):
            if loss < best:
                best, best_epoch = loss, epoch
                with torch.no_grad():
                    if weights is None:
                        weights = [torch.empty_like(p) for p in network.parameters]
                    torch._foreach_copy_(weights, network.parameters)
            if epoch - best_epoch >= self.config.patience:
                break
        with torch.no_grad():
            torch._foreach_copy_(network.parameters, weights)
            right = network.logits(self.rows[2], False).argmax(1) == self.labels[2]
        return Run(seed, epoch, best_epoch, best, right.float().mean().item())


WAYS = {"authors": Authors, "careful": Careful}


def timed(work: Callable[[], object]) -> tuple[float, object]:
    """Seconds taken, and the result."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def measure(arguments: argparse.Namespace) -> dict:
    """All runs of one way."""
    torch.set_num_threads(arguments.threads)
    config = Config.read(arguments.name)
    config = Config(**(vars(config) | {"init": arguments.init}))
    seconds = {"import": IMPORTED}
    seconds["load"], (graph, split) = timed(lambda: read(arguments.data / arguments.name))
    seconds["filter"], problem = timed(lambda: filtered(graph, split, config))
    seconds["warm_up"], way = timed(lambda: WAYS[arguments.way](problem, config))
    epochs = arguments.epochs or config.epochs
    seeds = range(arguments.seed, arguments.seed + arguments.runs)
    seconds["train"], runs = timed(lambda: [way.train(seed, epochs) for seed in seeds])
    accuracies = [run.test_accuracy for run in runs]
    total = sum(run.epochs for run in runs)
    return {
        "dataset": arguments.name,
        "pass": "high" if config.high else "low",
        "way": arguments.way,
        "method": way.method,
        "init": arguments.init,
        "threads": arguments.threads,
        "torch": torch.__version__,
        "seconds": seconds,
        "epochs": total,
        "seconds_per_epoch": seconds["train"] / total,
        "test_accuracy": statistics.mean(accuracies),
        "test_std": statistics.stdev(accuracies) if len(accuracies) > 1 else 0.0,
        "val_loss": statistics.mean(run.val_loss for run in runs),
        "runs": [vars(run) for run in runs],
    }


def self_test() -> int:
    """The layouts against the module: logits and gradients of the same weights."""
    rng = np.random.default_rng(1)
    z = rng.standard_normal((9, 6)) + 1j * rng.standard_normal((9, 6))
    config = Config.read("cornell")
    checks = {}
    labels = torch.from_numpy(rng.integers(0, 3, 9))
    cases = [(Real, z.real.astype(np.float32)), (Interleaved, z), (Planar, z)]
    for layout, x in cases:
        x = x.astype(np.float32 if layout is Real else np.complex64)
        for init in ("glorot", "uniform"):
            start = Plain(6, 3, layout is not Real, Config(**(vars(config) | {"init": init})))
            start.eval()
            network = layout(start)
            expected = start(torch.from_numpy(x))
            logits = network.logits(layout.rows(x), False)
            F.cross_entropy(expected, labels).backward()
            F.cross_entropy(logits, labels).backward()
            gradients = layout.pack(start.weight0.grad, start.bias0.grad)
            gradients += [start.weight1.grad, start.bias1.grad]
            pairs = [(logits, expected)]
            pairs += [(p.grad, g) for p, g in zip(network.parameters, gradients)]
            right = all(torch.allclose(a, b, rtol=1e-4, atol=1e-6) for a, b in pairs)
            checks[f"{layout.__name__}, {init}"] = right
    weight, _ = draw(300, 200, True, "glorot")
    checks["variance"] = abs(weight.abs().square().mean().item() * 250 - 1) < 0.02
    failed = [name for name, right in checks.items() if not right]
    for name in failed:
        print(f"FAIL {name}")
    print(f"{len(checks) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


def main() -> int:
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = sorted(path.stem for path in PRESETS.glob("*.json"))
    parser.add_argument("name", choices=names)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--way", choices=sorted(WAYS), default="careful")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--init", choices=("glorot", "uniform"), default="glorot")
    parser.add_argument("--epochs", type=int, help="at most so many, in place of the preset's")
    print(json.dumps(measure(parser.parse_args())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
