"""Trains models that propagate over the graph with PyTorch, and says how long an epoch takes.

    bench_models.py                a request a line, an answer a line
    bench_models.py --self-test

Requests: {"task": "prepare", "data": PATH, "edges": PATH or null, "model": NAME, "side": SIDE,
"settings": {...}, "seconds": S} chooses the fastest way and answers with title and method, or with
neither where there is no such side; {"task": "epochs", "seconds": S} trains for about so long and
answers with the median of the seconds of an epoch; {"task": "quit"}.

Two sides to the same model:

- pyg: the layers of PyTorch Geometric, and of its extension for directed graphs, on an edge list or
  on a sparse matrix whose numbers are computed once.
- hand: plain PyTorch with sparse matrices. Products with weights come before those with the graph,
  which leaves fewer columns; ways back take the transposed matrix, which is kept; features are
  dense or sparse.

All nodes go through the network, once for the loss of the training nodes and once more for that of
the validation nodes; the bank by hand makes the rows of those nodes alone.
"""

import json
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

warnings.filterwarnings("ignore")

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from torch.nn import Module, Parameter

import datasets
from references import Operator

THREADS = 2
CHARGE = "1/4"
UNDIRECTED = Operator("0")
MAGNETIC = Operator(CHARGE, symmetrize="mean", self_loops=False, kind="high")


@dataclass
class Problem:
    """A graph with features, labels and a split."""

    adjacency: sp.csr_matrix
    x: np.ndarray
    labels: np.ndarray
    train: np.ndarray
    val: np.ndarray
    classes: int

    @staticmethod
    def read(path: Path, edges: Path | None) -> "Problem":
        graph = datasets.load(path)
        if path.is_dir():
            split = [np.loadtxt(path / f"idx_{part}.csv", dtype=int) for part in ("train", "valid")]
        else:
            with np.load(path) as archive:
                masks = (archive["train_masks"][0], archive["val_masks"][0])
                split = [np.flatnonzero(mask) for mask in masks]
        adjacency = datasets.load(edges).adjacency if edges else graph.adjacency
        x = datasets.row_normalised(graph.features)
        return Problem(adjacency, x, graph.labels, *split, int(graph.labels.max()) + 1)

    def edge_list(self, operator: Operator | None) -> torch.Tensor:
        """Edges as they are, or both ways; without self loops."""
        matrix = self.adjacency if operator is None else operator.build(self.adjacency)
        row, column = sp.coo_matrix(matrix).coords
        other = row != column
        return torch.from_numpy(np.stack([row[other], column[other]]).astype(np.int64))


def csr(matrix: sp.spmatrix) -> torch.Tensor:
    """A sparse matrix of real numbers, in single precision."""
    matrix = sp.csr_matrix(matrix)
    matrix.sum_duplicates()
    places = (torch.from_numpy(part.astype(np.int64)) for part in (matrix.indptr, matrix.indices))
    values = torch.from_numpy(matrix.data.astype(np.float32))
    return torch.sparse_csr_tensor(*places, values, matrix.shape)


PRODUCTS: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "mm": torch.mm,
    "mm with reduce": lambda a, x: torch.sparse.mm(a, x, "sum"),
}


class Fixed(torch.autograd.Function):
    """A X with a sparse matrix whose transpose is at hand."""

    @staticmethod
    def forward(context, matrix, transpose, product, x):
        context.transpose, context.product = transpose, product
        return product(matrix, x)

    @staticmethod
    def backward(context, gradient):
        return None, None, None, context.product(context.transpose, gradient.contiguous())


class Matrix:
    """A fixed sparse matrix."""

    def __init__(self, matrix: sp.spmatrix, product: Callable) -> None:
        self.matrix, self.transpose, self.product = csr(matrix), csr(matrix.T), product

    def __matmul__(self, x: torch.Tensor) -> torch.Tensor:
        return Fixed.apply(self.matrix, self.transpose, self.product, x)


class DenseFeatures:
    """Features as a dense matrix."""

    def __init__(self, x: np.ndarray, product: Callable) -> None:
        self.x = torch.from_numpy(x.astype(np.float32))

    def times(self, weight: torch.Tensor, dropout: float) -> torch.Tensor:
        return (F.dropout(self.x, dropout, True) if dropout else self.x) @ weight


class SparseFeatures:
    """Features as a sparse matrix; entries that are left out are zeros in their place."""

    def __init__(self, x: np.ndarray, product: Callable) -> None:
        matrix = sp.csr_matrix(x)
        self.there, self.product = csr(matrix), product
        # Where the entries of the matrix stand in its transpose.
        numbered = sp.csr_matrix((np.arange(matrix.nnz), matrix.indices, matrix.indptr), x.shape)
        self.order = torch.from_numpy(sp.csr_matrix(numbered.T).data.astype(np.int64))
        self.back = csr(matrix.T)

    def times(self, weight: torch.Tensor, dropout: float) -> torch.Tensor:
        there, back = self.there, self.back
        if dropout:
            values = F.dropout(there.values(), dropout, True)
            there = self.filled(there, values)
            back = self.filled(back, values[self.order])
        return Fixed.apply(there, back, self.product, weight)

    @staticmethod
    def filled(matrix: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        places = (matrix.crow_indices(), matrix.col_indices())
        return torch.sparse_csr_tensor(*places, values, matrix.shape, check_invariants=False)


Weights = dict[str, torch.Tensor]


def layer_weights(name: str, weight: torch.Tensor, bias: torch.Tensor) -> Weights:
    """The parameters of a layer as magnon calls them."""
    return {f"{name}.weight": weight, f"{name}.bias": bias}


def glorot(*shape: int) -> Parameter:
    return Parameter(torch.nn.init.xavier_uniform_(torch.empty(*shape)))


def zeros(*shape: int) -> Parameter:
    return Parameter(torch.zeros(*shape))


class Hand(Module):
    """What the models by hand have in common: features, and where dropout is."""

    partial = False
    """Whether the logits are those of the training or the validation nodes alone."""

    def __init__(
        self, problem: Problem, settings: dict, features: object, product: Callable
    ) -> None:
        super().__init__()
        self.problem, self.settings, self.features = problem, settings, features
        self.product, self.dropout = product, settings["dropout"]
        self.build(problem.x.shape[1], settings["hidden"], problem.classes)

    def first(self, weight: torch.Tensor, dropout: float) -> torch.Tensor:
        return self.features.times(weight, dropout if self.training else 0)

    def drop(self, x: torch.Tensor) -> torch.Tensor:
        return F.dropout(x, self.dropout, self.training)

    def operator(self, operator: Operator) -> Matrix:
        return Matrix(operator.build(self.problem.adjacency).real, self.product)


class HandGcn(Hand):
    def build(self, width: int, hidden: int, classes: int) -> None:
        self.s = self.operator(UNDIRECTED)
        self.w0, self.b0 = glorot(width, hidden), zeros(hidden)
        self.w1, self.b1 = glorot(hidden, classes), zeros(classes)

    def forward(self) -> torch.Tensor:
        hidden = F.relu(self.s @ self.first(self.w0, self.dropout) + self.b0)
        return self.s @ (self.drop(hidden) @ self.w1) + self.b1

    def named(self) -> Weights:
        found = layer_weights("layers.0", self.w0, self.b0)
        return found | layer_weights("layers.1", self.w1, self.b1)


class HandAppnp(HandGcn):
    def forward(self) -> torch.Tensor:
        hidden = F.relu(self.first(self.w0, self.dropout) + self.b0)
        h = torch.addmm(self.b1, self.drop(hidden), self.w1)
        z, restart = h, self.settings["restart"]
        for _ in range(self.settings["steps"]):
            z = torch.add(restart * h, self.s @ z, alpha=1 - restart)
        return z


class HandChebynet(Hand):
    def build(self, width: int, hidden: int, classes: int) -> None:
        self.s = self.operator(Operator("0", self_loops=False, kind="high"))
        self.terms = self.settings["order"] + 1
        # The weights of all polynomials side by side: one product makes all terms.
        self.w0, self.b0 = glorot(width, self.terms * hidden), zeros(hidden)
        self.w1, self.b1 = glorot(hidden, self.terms * classes), zeros(classes)

    def sum(self, product: torch.Tensor) -> torch.Tensor:
        """Clenshaw's recurrence."""
        terms = product.chunk(self.terms, dim=1)
        after, now = None, terms[-1].contiguous()
        for k in range(self.terms - 2, -1, -1):
            spread = (self.s @ now) * (2 if k else 1) + terms[k]
            after, now = now, spread if after is None else spread - after
        return now

    def forward(self) -> torch.Tensor:
        hidden = F.relu(self.sum(self.first(self.w0, self.dropout)) + self.b0)
        return self.sum(self.drop(hidden) @ self.w1) + self.b1

    def named(self) -> Weights:
        found = {"layers.0.bias": self.b0, "layers.1.bias": self.b1}
        for layer, weight in enumerate((self.w0, self.w1)):
            for k, part in enumerate(weight.chunk(self.terms, dim=1)):
                found[f"layers.{layer}.weight.{k}"] = part
        return found


class HandMagnet(Hand):
    """Two layers; real parts beside imaginary ones."""

    def build(self, width: int, hidden: int, classes: int) -> None:
        if (self.settings["order"], self.settings["layers"]) != (1, 2):
            raise ValueError("only two layers of order 1 are written")
        matrix = MAGNETIC.build(self.problem.adjacency)
        matrix.sum_duplicates()
        self.re, self.im = Matrix(matrix.real, self.product), Matrix(matrix.imag, self.product)
        self.w0, self.b0 = glorot(width, 2 * hidden), zeros(2 * hidden)
        self.w1, self.b1 = glorot(hidden, 2 * hidden), zeros(2 * hidden)
        self.w2, self.b2 = glorot(2 * hidden, classes), zeros(classes)

    @staticmethod
    def relu(re: torch.Tensor, im: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        mask = (re >= 0).to(re.dtype)
        return re * mask, im * mask

    def forward(self) -> torch.Tensor:
        own, near = self.first(self.w0, 0).chunk(2, dim=1)
        near = near.contiguous()
        re0, im0 = self.b0.chunk(2)
        re, im = self.relu(own + self.re @ near + re0, self.im @ near + im0)
        own, near = self.w1.chunk(2, dim=1)
        width = own.shape[1]
        both = torch.cat([re @ near, im @ near], dim=1)
        real, imaginary = self.re @ both, self.im @ both
        re1, im1 = self.b1.chunk(2)
        re, im = self.relu(
            re @ own + real[:, :width] - imaginary[:, width:] + re1,
            im @ own + real[:, width:] + imaginary[:, :width] + im1,
        )
        return torch.addmm(self.b2, self.drop(torch.cat([re, im], dim=1)), self.w2)

    def named(self) -> Weights:
        found = {"readout.weight": self.w2, "readout.bias": self.b2}
        for layer, (weight, bias) in enumerate(((self.w0, self.b0), (self.w1, self.b1))):
            found[f"layers.{layer}.bias"] = torch.complex(*bias.chunk(2))
            for k, part in enumerate(weight.chunk(2, dim=1)):
                found[f"layers.{layer}.weight.{k}"] = part
        return found


class HandBank(Hand):
    """The features, words of up to two steps and rows of the adjacency, as a careful program has them.

    One product with the features makes all projections; what takes the same step lies side by side, so
    that four products with the graph make all words and rows; and the last steps make the rows of the
    nodes asked for alone, those of training or of validation.
    """

    partial = True
    ENDS = {"out": ("out", "out.out", "out.in"), "in": ("in", "in.out", "in.in")}
    WORDS = ("x", "out", "in", "out.out", "out.in", "in.out", "in.in")
    CHANNELS = (*WORDS, "rows-out", "rows-in")

    def build(self, width: int, hidden: int, classes: int) -> None:
        if tuple(self.settings["channels"]) != self.CHANNELS:
            raise ValueError("only one bank is written")
        degrees = (np.asarray(self.problem.adjacency.sum(axis=axis)).ravel() for axis in (1, 0))
        left, right = (sp.diags(np.power(d, -0.5, out=np.zeros(len(d)), where=d > 0)) for d in degrees)
        step = sp.csr_matrix(left @ self.problem.adjacency @ right)
        steps = {"out": step, "in": sp.csr_matrix(step.T)}
        self.whole = {way: Matrix(matrix, self.product) for way, matrix in steps.items()}
        parts = {True: self.problem.train, False: self.problem.val}
        self.last = {
            part: {way: Matrix(matrix[rows], self.product) for way, matrix in steps.items()}
            for part, rows in parts.items()
        }
        self.chosen = {part: torch.from_numpy(rows) for part, rows in parts.items()}
        nodes, self.width = self.problem.adjacency.shape[0], hidden
        self.words = Parameter(torch.cat([glorot(width, hidden).detach() for _ in self.WORDS], dim=1))
        self.rows = torch.nn.ParameterDict({way: glorot(nodes, hidden) for way in steps})
        self.bias = zeros(len(self.CHANNELS) * hidden)
        self.scores = zeros(len(self.CHANNELS))
        self.w1, self.b1 = glorot(len(self.CHANNELS) * hidden, classes), zeros(classes)

    def forward(self) -> torch.Tensor:
        projected = dict(zip(self.WORDS, self.first(self.words, 0).chunk(len(self.WORDS), dim=1)))
        last = self.last[self.training]
        for second, step in self.whole.items():
            words = [f"{first}.{second}" for first in self.ENDS]
            made = step @ torch.cat([projected[word] for word in words], dim=1)
            projected |= dict(zip(words, made.chunk(2, dim=1)))
        found = {"x": projected["x"][self.chosen[self.training]]}
        for way, words in self.ENDS.items():
            sources = [projected[word] for word in words] + [self.rows[way]]
            made = last[way] @ torch.cat(sources, dim=1)
            found |= dict(zip((*words, f"rows-{way}"), made.chunk(4, dim=1)))
        biases = self.bias.chunk(len(self.CHANNELS))
        shares = torch.softmax(self.scores, 0)
        blocks = [
            share * F.normalize(found[channel] + bias, dim=1)
            for channel, share, bias in zip(self.CHANNELS, shares, biases)
        ]
        hidden = self.drop(F.relu(torch.cat(blocks, dim=1)))
        return torch.addmm(self.b1, hidden, self.w1)

    def named(self) -> Weights:
        count = len(self.CHANNELS)
        found = {"channel_weights": self.scores, "bias_scales": torch.ones(1, count)}
        found |= layer_weights("readout", self.w1, self.b1)
        weights = [*self.words.chunk(len(self.WORDS), dim=1), self.rows["out"], self.rows["in"]]
        for c, (weight, bias) in enumerate(zip(weights, self.bias.chunk(count))):
            found |= layer_weights(f"channels.{c}", weight, bias)
        return found


class Pyg(Module):
    """What the models of PyTorch Geometric have in common: dense features, and the graph."""

    partial = False

    def __init__(self, problem: Problem, settings: dict, sparse: bool) -> None:
        super().__init__()
        self.problem, self.settings, self.sparse = problem, settings, sparse
        self.dropout = settings["dropout"]
        self.x = torch.from_numpy(problem.x.astype(np.float32))
        self.graph = self.connect()
        self.build(problem.x.shape[1], settings["hidden"], problem.classes)

    def connect(self) -> torch.Tensor:
        if self.sparse:
            return csr(UNDIRECTED.build(self.problem.adjacency).real)
        return self.problem.edge_list(UNDIRECTED)

    def drop(self, x: torch.Tensor) -> torch.Tensor:
        return F.dropout(x, self.dropout, self.training)


class PygGcn(Pyg):
    def build(self, width: int, hidden: int, classes: int) -> None:
        from torch_geometric.nn import GCNConv

        flags = {"normalize": False} if self.sparse else {"cached": True}
        self.first = GCNConv(width, hidden, **flags)
        self.second = GCNConv(hidden, classes, **flags)

    def forward(self) -> torch.Tensor:
        hidden = F.relu(self.first(self.drop(self.x), self.graph))
        return self.second(self.drop(hidden), self.graph)

    def named(self) -> Weights:
        first, second = self.first, self.second
        found = layer_weights("layers.0", first.lin.weight.T, first.bias)
        return found | layer_weights("layers.1", second.lin.weight.T, second.bias)


class PygAppnp(Pyg):
    def build(self, width: int, hidden: int, classes: int) -> None:
        from torch_geometric.nn import APPNP

        flags = {"normalize": False} if self.sparse else {"cached": True}
        self.first = torch.nn.Linear(width, hidden)
        self.second = torch.nn.Linear(hidden, classes)
        self.steps = APPNP(self.settings["steps"], self.settings["restart"], **flags)

    def forward(self) -> torch.Tensor:
        hidden = F.relu(self.first(self.drop(self.x)))
        return self.steps(self.second(self.drop(hidden)), self.graph)

    def named(self) -> Weights:
        first, second = self.first, self.second
        found = layer_weights("layers.0", first.weight.T, first.bias)
        return found | layer_weights("layers.1", second.weight.T, second.bias)


class PygChebynet(Pyg):
    """Takes edge lists alone."""

    def build(self, width: int, hidden: int, classes: int) -> None:
        from torch_geometric.nn import ChebConv

        terms = self.settings["order"] + 1
        self.first, self.second = ChebConv(width, hidden, terms), ChebConv(hidden, classes, terms)

    def forward(self) -> torch.Tensor:
        hidden = F.relu(self.first(self.drop(self.x), self.graph))
        return self.second(self.drop(hidden), self.graph)

    def named(self) -> Weights:
        found = {}
        for number, layer in enumerate((self.first, self.second)):
            found[f"layers.{number}.bias"] = layer.bias
            for k, part in enumerate(layer.lins):
                found[f"layers.{number}.weight.{k}"] = part.weight.T
        return found


class PygGat(Pyg):
    def build(self, width: int, hidden: int, classes: int) -> None:
        from torch_geometric.nn import GATConv

        heads, last = self.settings["heads"], self.settings["output_heads"]
        flags = {"dropout": self.dropout, "add_self_loops": not self.sparse}
        self.first = GATConv(width, hidden, heads, **flags)
        self.second = GATConv(heads * hidden, classes, last, concat=False, **flags)

    def forward(self) -> torch.Tensor:
        hidden = F.elu(self.first(self.drop(self.x), self.graph))
        return self.second(self.drop(hidden), self.graph)

    def named(self) -> Weights:
        found = {}
        for number, layer in enumerate((self.first, self.second)):
            found |= layer_weights(f"layers.{number}", layer.lin.weight.T, layer.bias)
            found[f"layers.{number}.source"] = layer.att_src.reshape(1, -1)
            found[f"layers.{number}.target"] = layer.att_dst.reshape(1, -1)
        return found


class PygMagnet(Pyg):
    """Takes edge lists alone; real and imaginary parts of a bias are the same."""

    def connect(self) -> torch.Tensor:
        return self.problem.edge_list(None)

    def build(self, width: int, hidden: int, classes: int) -> None:
        from torch_geometric_signed_directed.nn.directed import MagNetConv, complex_relu_layer

        # A layer makes a complex row of features for every edge, both ways and with self loops, and
        # one more with its weight.
        needed = 16 * width * (2 * self.graph.shape[1] + 2 * len(self.x))
        if needed > 0.8 * available_memory():
            raise ValueError(f"{needed / 2**30:.0f} GiB are needed")
        order, layers = self.settings["order"], self.settings["layers"]
        widths = [width] + [hidden] * layers
        self.layers = torch.nn.ModuleList(
            MagNetConv(rows, columns, order, 0.25, False, cached=True)
            for rows, columns in zip(widths, widths[1:])
        )
        self.relu = complex_relu_layer()
        self.last = torch.nn.Linear(2 * hidden, classes)

    def forward(self) -> torch.Tensor:
        re, im = self.x, torch.zeros_like(self.x)
        for layer in self.layers:
            re, im = self.relu(*layer(re, im, self.graph))
        return self.last(self.drop(torch.cat([re, im], dim=1)))

    def named(self) -> Weights:
        found = layer_weights("readout", self.last.weight.T, self.last.bias)
        for number, layer in enumerate(self.layers):
            found[f"layers.{number}.bias"] = torch.complex(layer.bias, layer.bias)
            for k, part in enumerate(layer.weight):
                found[f"layers.{number}.weight.{k}"] = part
        return found


def available_memory() -> float:
    """Bytes that may be asked for."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    kib = next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    return 1024.0 * kib


HAND = {
    "gcn": HandGcn,
    "appnp": HandAppnp,
    "chebynet": HandChebynet,
    "magnet": HandMagnet,
    "bank": HandBank,
}
PYG = {
    "gcn": PygGcn,
    "appnp": PygAppnp,
    "chebynet": PygChebynet,
    "gat": PygGat,
    "magnet": PygMagnet,
}
TITLES = {"hand": "PyTorch by hand", "pyg": "PyTorch Geometric"}
FEATURES = {"dense features": DenseFeatures, "sparse features": SparseFeatures}


def ways(side: str, model: str, problem: Problem, settings: dict) -> dict[str, Callable]:
    """Makers of the network by what is special about them."""
    if side == "pyg":
        if model not in PYG:
            return {}
        if model in ("chebynet", "magnet"):
            return {"edge list": lambda: PYG[model](problem, settings, False)}
        return {
            name: lambda sparse=sparse: PYG[model](problem, settings, sparse)
            for name, sparse in (("edge list", False), ("sparse matrix", True))
        }
    if model not in HAND:
        return {}
    return {
        f"{features}, {product}": lambda f=features, p=product: HAND[model](
            problem, settings, FEATURES[f](problem.x, PRODUCTS[p]), PRODUCTS[p]
        )
        for features in FEATURES
        for product in PRODUCTS
    }


class Training:
    """A network in training."""

    def __init__(self, network: Module, problem: Problem, settings: dict) -> None:
        torch.manual_seed(0)
        self.network = network
        self.rows = [torch.from_numpy(part) for part in (problem.train, problem.val)]
        labels = torch.from_numpy(problem.labels.astype(np.int64))
        self.labels = [labels[rows] for rows in self.rows]
        flags = {"lr": settings["rate"], "weight_decay": settings["weight_decay"], "fused": True}
        self.optimiser = torch.optim.Adam(network.parameters(), **flags)

    def epoch(self) -> float:
        """One epoch; its validation loss."""
        network, optimiser = self.network, self.optimiser
        network.train()
        optimiser.zero_grad(set_to_none=True)
        F.cross_entropy(self.logits(0), self.labels[0]).backward()
        optimiser.step()
        network.eval()
        with torch.no_grad():
            return F.cross_entropy(self.logits(1), self.labels[1]).item()

    def logits(self, part: int) -> torch.Tensor:
        logits = self.network()
        return logits if self.network.partial else logits[self.rows[part]]

    def seconds(self, budget: float) -> float:
        """Median time of an epoch: as many as the budget allows, or three where they are slow.

        Very slow ones are fewer: four times the budget is not overdrawn by more than one.
        """
        taken = []
        while sum(taken) < (budget if len(taken) >= 3 else 4 * budget):
            start = time.perf_counter()
            self.epoch()
            taken.append(time.perf_counter() - start)
        return statistics.median(taken)


class Worker:
    """Answers requests."""

    def __init__(self) -> None:
        torch.set_num_threads(THREADS)
        self.training: Training | None = None

    def prepare(self, request: dict) -> dict:
        model, side, settings = request["model"], request["side"], request["settings"]
        edges = request["edges"] and Path(request["edges"])
        problem = Problem.read(Path(request["data"]), edges)
        tried: dict[str, tuple[float, Training]] = {}
        for name, make in ways(side, model, problem, settings).items():
            try:
                training = Training(make(), problem, settings)
                training.epoch()
                tried[name] = training.seconds(request["seconds"] / 2), training
            except (RuntimeError, NotImplementedError, ValueError, TypeError) as error:
                print(f"{model}, {side}, {name}: {error}", file=sys.stderr)
        if not tried:
            return {}
        best = min(tried, key=lambda name: tried[name][0])
        self.training = tried[best][1]
        return {"title": TITLES[side], "method": best, "torch": torch.__version__}

    def epochs(self, request: dict) -> dict:
        return {"seconds": self.training.seconds(request["seconds"])}

    def answer(self, request: dict) -> dict:
        tasks = {"prepare": self.prepare, "epochs": self.epochs}
        try:
            return tasks[request["task"]](request)
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}"}


def self_test() -> int:
    """Logits of every way against the forward passes in double precision, and that losses fall."""
    import models

    rng = np.random.default_rng(2)
    nodes, classes = 40, 3
    dense = (rng.random((nodes, nodes)) < 0.1) * 1.0
    np.fill_diagonal(dense, 0)
    x = rng.standard_normal((nodes, 6)) * (rng.random((nodes, 6)) < 0.5)
    labels = rng.integers(0, classes, nodes)
    parts = np.split(rng.permutation(nodes), 2)
    problem = Problem(sp.csr_matrix(dense), x, labels, *parts, classes)
    common = {"hidden": 4, "layers": 2, "dropout": 0.5, "rate": 0.05, "weight_decay": 0.0}
    common |= {"steps": 3, "restart": 0.2}
    known = {
        "gcn": {},
        "appnp": {},
        "chebynet": {"order": 3},
        "gat": {"heads": 2, "output_heads": 2},
        "magnet": {"order": 1},
        "bank": {"channels": HandBank.CHANNELS},
    }
    checks = {}
    for side, model in [(side, model) for side in TITLES for model in PYG | HAND]:
        settings = common | known[model]
        for name, make in ways(side, model, problem, settings).items():
            torch.manual_seed(3)
            try:
                network = make()
                with torch.no_grad():
                    for parameter in network.parameters():
                        parameter += 0.1 * torch.randn_like(parameter)
                training = Training(network, problem, settings)
                first = training.epoch()
                for _ in range(20):
                    training.epoch()
                network.eval()
                logits = network().detach().numpy()
            except (RuntimeError, NotImplementedError, ValueError, TypeError) as error:
                print(f"{model}, {side}, {name} does not work: {error}")
                continue
            weights = {key: value.detach().numpy() for key, value in network.named().items()}
            weights = {k: v[None] if v.ndim == 1 else v for k, v in weights.items()}
            operator = MAGNETIC if model == "magnet" else None
            inputs = models.Inputs(problem.adjacency, x, operator, models.page_rank_steps(0.2, 3))
            told = known[model] | ({"channels": ",".join(HandBank.CHANNELS)} if model == "bank" else {})
            expected = models.MODELS[model](inputs, weights, **told)
            shown = expected[problem.val] if network.partial else expected
            checks[f"{model}, {side}, {name}"] = np.allclose(logits, shown, atol=1e-4)
            rows = torch.from_numpy(expected[problem.train])
            loss = F.cross_entropy(rows, torch.from_numpy(labels[problem.train])).item()
            checks[f"{model}, {side}, {name}: training"] = loss < np.log(classes) and first > 0
    failed = [name for name, right in checks.items() if not right]
    for name in failed:
        print(f"FAIL {name}")
    print(f"{len(checks) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


def main() -> int:
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if sys.argv[1:]:
        print(__doc__, file=sys.stderr)
        return 2
    worker = Worker()
    for line in sys.stdin:
        request = json.loads(line)
        if request["task"] == "quit":
            break
        print(json.dumps(worker.answer(request)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
