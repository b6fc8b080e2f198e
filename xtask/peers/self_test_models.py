"""Tests of the models' forward passes against small dense ones that are written differently."""

import itertools
import math

import numpy as np
import scipy.sparse as sp

import models
from check_models import Data, Failure, compare
from models import Inputs
from references import Operator
from self_test import dense_operator, error, random_weights
from tally import Tally

Pairs = dict[str, tuple[np.ndarray, np.ndarray]]
"""What a model gives, and what it should."""

HIDDEN, CLASSES = 4, 3


def relu(x: np.ndarray) -> np.ndarray:
    return x * (x > 0)


class Small:
    """A weighted graph of a few nodes, with features and weights."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(13)
        self.nodes, self.width = 11, 5
        self.dense = random_weights(self.rng, self.nodes, True)
        np.fill_diagonal(self.dense, 0)
        self.x = self.rng.standard_normal((self.nodes, self.width))
        self.inputs = Inputs(sp.csr_matrix(self.dense), self.x)
        self.undirected = dense_operator(Operator("0"), self.dense).real
        self.two = self.linear("layers.0", self.width, HIDDEN)
        self.two |= self.linear("layers.1", HIDDEN, CLASSES)

    def draw(self, rows: int, columns: int, is_complex: bool = False) -> np.ndarray:
        parts = self.rng.standard_normal((2, rows, columns))
        return parts[0] + 1j * parts[1] if is_complex else parts[0]

    def linear(self, name: str, rows: int, columns: int, is_complex: bool = False) -> dict:
        shapes = {f"{name}.weight": rows, f"{name}.bias": 1}
        return {key: self.draw(height, columns, is_complex) for key, height in shapes.items()}

    def two_layers(self, s: np.ndarray) -> np.ndarray:
        """A network of two layers with a matrix before each."""
        w0, b0, w1, b1 = self.two.values()
        return s @ relu(s @ (self.x @ w0) + b0) @ w1 + b1


def spectral_pairs(small: Small) -> Pairs:
    """Chebyshev polynomials by their cosines."""
    x, rng = small.x, small.rng
    weights = [small.draw(small.width, CLASSES) for _ in range(3)]
    named = {f"layers.0.weight.{k}": weight for k, weight in enumerate(weights)}

    def layer(operator: Operator, bias: np.ndarray) -> np.ndarray:
        values, vectors = np.linalg.eigh(dense_operator(operator, small.dense))
        angles = np.arccos(np.clip(values, -1, 1))
        waves = [(vectors * np.cos(k * angles)) @ vectors.conj().T for k in range(3)]
        return sum(wave @ x @ weight for wave, weight in zip(waves, weights)) + bias

    real, bias = rng.standard_normal((1, CLASSES)), small.draw(1, CLASSES, True)
    chebynet = models.chebynet(small.inputs, named | {"layers.0.bias": real}, layers=1)
    magnetic = Operator("1/3", "mean", False, kind="high")
    readout = small.linear("readout", 2 * CLASSES, CLASSES)
    all_weights = named | readout | {"layers.0.bias": bias}
    inputs = Inputs(small.inputs.adjacency, x, magnetic)
    z = layer(magnetic, bias)
    z = z * (np.abs(np.angle(z)) <= np.pi / 2)
    unwound = np.concatenate([z.real.T, z.imag.T]).T
    expected = unwound @ readout["readout.weight"] + readout["readout.bias"]
    return {
        "chebynet": (chebynet, layer(Operator("0", self_loops=False, kind="high"), real)),
        "magnet": (models.magnet(inputs, all_weights, layers=1, order=2), expected),
    }


def diffusion_pairs(small: Small) -> Pairs:
    """Iterations and series against closed forms, and the other way round."""
    n, s, x, two = small.nodes, small.undirected, small.x, small.two
    inverse = 0.2 * np.linalg.inv(np.identity(n) - 0.8 * s)
    gamma = np.array([[0.2 * 0.8**k for k in range(300)]])
    network = models.mlp(small.inputs, two)
    by_node = np.array([[sum(s[u] * column) for column in network.T] for u in range(n)])
    steps = models.page_rank_steps(0.2, 300)
    one = small.linear("layers.0", small.width, CLASSES)
    powers = list(itertools.accumulate([s] * 150, np.matmul, initial=np.identity(n)))
    mean = 0.3 * x + 0.7 * sum(powers[1:5]) @ x / 4
    pairs = {
        "appnp": (steps(sp.csr_matrix(s), x), inverse @ x),
        "appnp, a step": (
            models.page_rank_steps(0.3, 1)(sp.csr_matrix(s), network),
            0.7 * by_node + 0.3 * network,
        ),
        "gprgnn": (
            models.gprgnn(small.inputs, two | {"gamma": gamma}, order=299),
            inverse @ network,
        ),
        "s2gc": (
            models.s2gc(small.inputs, one, order=4, alpha=0.3),
            mean @ one["layers.0.weight"] + one["layers.0.bias"],
        ),
        "gcn": (models.gcn(small.inputs, two), small.two_layers(s)),
    }
    kept = inverse * (inverse.argsort(0).argsort(0) >= n - 4)
    pairs["sparse diffusion"] = models.diffusion(inverse, 4).toarray(), by_roots(kept)
    weights = {
        "gdc-ppr": [0.15 * 0.85**k for k in range(151)],
        "gdc-hkpr": [math.exp(-5) * 5**k / math.factorial(k) for k in range(151)],
    }
    for name, terms in weights.items():
        whole = sum(term * power for term, power in zip(terms, powers))
        found = models.MODELS[name](small.inputs, two, top_k=n)
        pairs[name] = found, small.two_layers(by_roots(whole))
    return pairs


def by_roots(matrix: np.ndarray) -> np.ndarray:
    """Divided by the square roots of the row sums on both sides."""
    root = np.array([0 if total == 0 else total**-0.5 for total in matrix.sum(axis=1)])
    return np.outer(root, root) * matrix


def directed_pairs(small: Small) -> Pairs:
    """Walks as a chain with one node more, powers whole, and a symmetric graph."""
    n, dense, x = small.nodes, small.dense, small.x
    walk = models.walk_matrix(small.inputs.adjacency)
    p = walk.toarray()
    chain = np.zeros((n + 1, n + 1))
    chain[:n, :n], chain[:n, n], chain[n, :n] = 0.9 * p, 0.1, 1 / n
    values, vectors = np.linalg.eig(chain.T)
    rank = vectors[:n, np.argmax(values.real)].real
    into, out = p.T @ p, p @ p.T
    near = np.where((into > 0) & (out > 0), (into + out) / 2, 0)

    two = small.two
    ways = {
        f"layers.0.{way}.{part}": two[f"layers.0.{part}"]
        for way in ("out", "in")
        for part in ("weight", "bias")
    }
    readout = {f"readout.{part}": two[f"layers.1.{part}"] for part in ("weight", "bias")}
    symmetric = Inputs(sp.csr_matrix(dense + dense.T), x)
    plain = by_roots(dense + dense.T)
    w0, b0, w1, b1 = two.values()

    faber = small.linear("layers.0", small.width, HIDDEN, True)
    faber |= small.linear("readout", 2 * HIDDEN, CLASSES)
    for way, k in itertools.product(("out", "in"), (1, 2)):
        faber[f"layers.0.{way}.{k}"] = small.draw(small.width, HIDDEN, True)
    factors = lambda sums: np.array([0 if total == 0 else total**-0.25 for total in sums])
    left, right = factors(dense.sum(axis=1)), factors(dense.sum(axis=0))
    matrix = np.outer(left, right) * dense
    z = x @ faber["layers.0.weight"] + faber["layers.0.bias"]
    for k in (1, 2):
        power = np.linalg.matrix_power(matrix, k)
        z = z + 0.3 * power @ x @ faber[f"layers.0.out.{k}"]
        z = z + 0.7 * power.T @ x @ faber[f"layers.0.in.{k}"]
    unwound = np.hstack([relu(z.real), relu(z.imag)])
    settings = {"layers": 1, "alpha": 0.3, "complex": True}
    return {
        "rank of digcn": (models.page_rank(walk, 0.1), rank / rank.sum()),
        "proximity of digcn": (models.proximity(walk).toarray(), by_roots(near)),
        "dirgnn": (
            models.dirgnn(symmetric, ways | readout, layers=1, alpha=0.3),
            relu(plain @ x @ w0 + b0) @ w1 + b1,
        ),
        "fabernet": (
            models.fabernet(small.inputs, faber, **settings),
            unwound @ faber["readout.weight"] + faber["readout.bias"],
        ),
    }


def attention_pairs(small: Small) -> Pairs:
    """GAT, one node, neighbour and head after the other."""
    n, dense, counts = small.nodes, small.dense, (2, 3)
    widths = [small.width, counts[0] * HIDDEN, counts[1] * CLASSES]
    w = {}
    for layer, (rows, columns) in enumerate(itertools.pairwise(widths)):
        w[f"layers.{layer}.weight"] = small.draw(rows, columns)
        w[f"layers.{layer}.source"] = small.draw(1, columns)
        w[f"layers.{layer}.target"] = small.draw(1, columns)
        w[f"layers.{layer}.bias"] = small.draw(1, CLASSES if layer else columns)

    def heads(x: np.ndarray, name: str, count: int) -> list[np.ndarray]:
        h = x @ w[f"{name}.weight"]
        size = h.shape[1] // count
        found = []
        for head in range(count):
            part = slice(head * size, (head + 1) * size)
            out = np.zeros((n, size))
            for u in range(n):
                near = [v for v in range(n) if u == v or dense[u, v] or dense[v, u]]
                scores = []
                for v in near:
                    score = w[f"{name}.target"][0, part] @ h[u, part]
                    score += w[f"{name}.source"][0, part] @ h[v, part]
                    scores.append(math.exp(score if score > 0 else 0.2 * score))
                for v, score in zip(near, scores):
                    out[u] += score / sum(scores) * h[v, part]
            found.append(out)
        return found

    hidden = np.concatenate(heads(small.x, "layers.0", counts[0]), axis=1) + w["layers.0.bias"]
    hidden = np.vectorize(lambda value: value if value > 0 else math.exp(value) - 1)(hidden)
    expected = np.mean(heads(hidden, "layers.1", counts[1]), axis=0) + w["layers.1.bias"]
    return {"gat": (models.gat(small.inputs, w, *counts), expected)}


def faults(small: Small) -> dict[str, bool]:
    """What must not be, and whether it is."""
    theirs = models.log_softmax(models.gcn(small.inputs, small.two))
    nodes = np.arange(small.nodes)
    labels = small.rng.integers(0, CLASSES, small.nodes)
    data = Data(None, small.inputs.adjacency, small.x, labels, nodes[:4], nodes[4:8])

    def passes(table: np.ndarray, reference: np.ndarray = theirs, slip: float = 0) -> bool:
        val, train = (-reference[part, labels[part]].mean() for part in (data.val, data.train))
        try:
            return bool(compare(data, table, reference, val, train + slip))
        except Failure:
            return False

    slightly = theirs.copy()
    slightly[-1, 0] += 1e-3
    flat = np.full_like(theirs, -1)
    matrix = lambda a: Inputs(sp.csr_matrix(a), small.x, Operator("1/3")).matrix().toarray()
    walks = [models.directed(sp.csr_matrix(a), 0.5) for a in (small.dense, small.dense.T)]
    return {
        "the same numbers fail": not passes(theirs),
        "an error of one entry passes": passes(slightly),
        "another loss passes": passes(theirs, slip=1e-3),
        "nodes that are all alike pass": passes(flat, flat),
        "a missing row passes": passes(theirs[1:]),
        "phases do not know direction": error(matrix(small.dense.T), matrix(small.dense)) < 0.1,
        "walks do not know direction": error(walks[0].toarray(), walks[1].toarray()) < 0.1,
    }


def forward_passes() -> int:
    """Forward passes against sums node by node, spectra, eigenvectors and each other."""
    tally, small = Tally(), Small()
    pairs = spectral_pairs(small) | diffusion_pairs(small)
    pairs |= directed_pairs(small) | attention_pairs(small)
    errors = {name: error(*pair) for name, pair in pairs.items()}
    failures = [f"{name}: {value:.2e}" for name, value in errors.items() if not value < 1e-10]
    tally.graph("small graph", "forward passes", len(pairs) - len(failures), failures)
    answers = faults(small)
    failures = [text for text, wrong in answers.items() if wrong]
    tally.graph("comparisons", "faults", len(answers) - len(failures), failures)
    return tally.end()
