"""Forward passes of the models in double precision, from the formulas of their papers.

A model is a function of a graph, trained weights by name and its settings; it gives the logits of
all nodes. Nothing here is evaluated the way magnon does it: features are propagated before they are
multiplied with weights, polynomials go term by term, and matrices are those of the whole graph.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla
from scipy.linalg import expm

from references import Operator

Weights = dict[str, np.ndarray]
Filter = Callable[[sp.csr_matrix, np.ndarray], np.ndarray]
"""h(S)X of an operator and a block of columns."""

UNDIRECTED = Operator("0")
PLAIN = Operator("0", self_loops=False)


@dataclass
class Inputs:
    """What a model may look at."""

    adjacency: sp.csr_matrix
    """A(u, v) = weight of u -> v, without the self loops that do not count."""
    x: np.ndarray
    operator: Operator | None = None
    """The operator, where another than the model's own is asked for."""
    filter: Filter | None = None

    def matrix(self, own: Operator = UNDIRECTED) -> sp.csr_matrix:
        """The operator's matrix; real where its entries are."""
        operator = replace(self.operator or own, keep_self_loops=True)
        matrix = operator.build(self.adjacency)
        matrix.sum_duplicates()  # else scipy sorts the places of one part for both, but not numbers
        return matrix if matrix.imag.count_nonzero() else matrix.real


def relu(x: np.ndarray) -> np.ndarray:
    return np.maximum(x, 0)


def linear(w: Weights, name: str, x: np.ndarray) -> np.ndarray:
    return x @ w[f"{name}.weight"] + w[f"{name}.bias"]


def parts(z: np.ndarray) -> np.ndarray:
    """Real parts, then imaginary ones."""
    return np.hstack([z.real, z.imag]) if np.iscomplexobj(z) else z


def woven(z: np.ndarray) -> np.ndarray:
    """Each column's real part, then its imaginary one."""
    return np.stack([z.real, z.imag], axis=-1).reshape(len(z), -1) if np.iscomplexobj(z) else z


def log_softmax(logits: np.ndarray) -> np.ndarray:
    shifted = logits - logits.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def inverse_root(sums: np.ndarray, exponent: float = 0.5) -> np.ndarray:
    """d^-e, and 0 for 0."""
    return np.power(sums, -exponent, out=np.zeros(len(sums)), where=sums > 0)


def unit_rows(x: np.ndarray) -> np.ndarray:
    """Rows scaled to norm 1."""
    norms = np.linalg.norm(x, axis=1, keepdims=True)
    return x / np.where(norms == 0, 1, norms)


def mlp(g: Inputs, w: Weights) -> np.ndarray:
    return linear(w, "layers.1", relu(linear(w, "layers.0", g.x)))


def filtered(g: Inputs) -> np.ndarray:
    matrix = g.matrix()
    result = g.filter(matrix, g.x)
    return result if np.iscomplexobj(matrix) else result.real


def sgc(g: Inputs, w: Weights) -> np.ndarray:
    return linear(w, "layers.0", woven(filtered(g)))


def gfnn(g: Inputs, w: Weights) -> np.ndarray:
    return linear(w, "layers.1", relu(linear(w, "layers.0", woven(filtered(g)))))


def s2gc(g: Inputs, w: Weights, order: int = 16, alpha: float = 0.05) -> np.ndarray:
    """The mean over k = 1 ... K of (1 - alpha) S^k X + alpha X."""
    s, power, total = g.matrix(), g.x, 0
    for _ in range(order):
        power = s @ power
        total = total + ((1 - alpha) * power + alpha * g.x) / order
    return linear(w, "layers.0", woven(total))


def mgc(g: Inputs, w: Weights, gate: str = "tanh") -> np.ndarray:
    z = linear(w, "layers.0", filtered(g))
    if not np.iscomplexobj(z):
        hidden = np.tanh(z)
    elif gate == "tanh":
        hidden = np.tanh(z.real) * np.tanh(z.imag)
    else:
        hidden = z.real * np.tanh(np.exp(z.imag))
    return linear(w, "layers.1", hidden)


def convolutions(s: sp.csr_matrix, x: np.ndarray, w: Weights, layers: int) -> np.ndarray:
    for layer in range(layers):
        x = linear(w, f"layers.{layer}", s @ (relu(x) if layer else x))
    return x


def gcn(g: Inputs, w: Weights, layers: int = 2) -> np.ndarray:
    return convolutions(g.matrix(), g.x, w, layers)


def chebyshev_layer(
    s: sp.csr_matrix, x: np.ndarray, w: Weights, name: str, order: int
) -> np.ndarray:
    """Sum over k <= K of T_k(S) X W_k, and a bias."""
    before, term = x, s @ x
    total = before @ w[f"{name}.weight.0"] + w[f"{name}.bias"]
    for k in range(1, order + 1):
        total = total + term @ w[f"{name}.weight.{k}"]
        before, term = term, 2 * (s @ term) - before
    return total


def chebynet(g: Inputs, w: Weights, layers: int = 2, order: int = 2) -> np.ndarray:
    """The Laplacian less I is the negated adjacency."""
    s, x = g.matrix(Operator("0", self_loops=False, kind="high")), g.x
    for layer in range(layers):
        x = chebyshev_layer(s, relu(x) if layer else x, w, f"layers.{layer}", order)
    return x


def magnet(g: Inputs, w: Weights, layers: int = 2, order: int = 1) -> np.ndarray:
    """ReLU of a complex number is itself where its real part is not negative."""
    s, x = g.matrix(), g.x
    for layer in range(layers):
        x = chebyshev_layer(s, x, w, f"layers.{layer}", order)
        x = np.where(x.real >= 0, x, 0)
    return linear(w, "readout", parts(x))


def ppnp(g: Inputs, w: Weights) -> np.ndarray:
    return g.filter(g.matrix(), mlp(g, w)).real


def appnp(g: Inputs, w: Weights) -> np.ndarray:
    return g.filter(g.matrix(), mlp(g, w)).real


def page_rank_steps(restart: float, steps: int) -> Filter:
    """The iteration of APPNP."""

    def apply(s: sp.csr_matrix, h: np.ndarray) -> np.ndarray:
        z = h
        for _ in range(steps):
            z = (1 - restart) * (s @ z) + restart * h
        return z

    return apply


def gprgnn(g: Inputs, w: Weights, order: int = 10) -> np.ndarray:
    s, power = g.matrix(), mlp(g, w)
    gamma = w["gamma"].ravel()
    total = gamma[0] * power
    for k in range(1, order + 1):
        power = s @ power
        total = total + gamma[k] * power
    return total


class Tie(Exception):
    """The entries that are kept are not clear."""


def diffusion(dense: np.ndarray, top_k: int) -> sp.csr_matrix:
    """The largest entries of each column, divided by the square roots of the row sums."""
    n = len(dense)
    if top_k < n:
        sizes = np.sort(dense, axis=0)[::-1]
        least, next_one = sizes[top_k - 1], sizes[top_k]
        gap = np.where(least > 1e-12, least - next_one, np.inf).min()
        if gap < 1e-4:
            raise Tie(f"entries kept and left out differ by {gap:.1e}")
        dense = np.where(dense >= least, dense, 0)
    root = inverse_root(dense.sum(axis=1))
    return sp.csr_matrix(root[:, None] * dense * root)


def gdc_ppr(
    g: Inputs, w: Weights, restart: float = 0.15, top_k: int = 64, layers: int = 2
) -> np.ndarray:
    s = g.matrix().toarray()
    dense = restart * np.linalg.inv(np.identity(len(s)) - (1 - restart) * s)
    return convolutions(diffusion(dense, top_k), g.x, w, layers)


def gdc_hkpr(
    g: Inputs, w: Weights, time: float = 5.0, top_k: int = 64, layers: int = 2
) -> np.ndarray:
    s = g.matrix().toarray()
    dense = expm(-time * (np.identity(len(s)) - s))
    return convolutions(diffusion(dense, top_k), g.x, w, layers)


def gat(g: Inputs, w: Weights, heads: int = 8, output_heads: int = 1) -> np.ndarray:
    """Two layers of attention; the operator tells the neighbours, the node itself among them."""
    pattern = sp.csr_matrix(UNDIRECTED.build(g.adjacency).real)
    pattern.sort_indices()
    row = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))

    def attend(x: np.ndarray, name: str, count: int) -> list[np.ndarray]:
        h = x @ w[f"{name}.weight"]
        vectors = (h, w[f"{name}.source"], w[f"{name}.target"])
        blocks = zip(*(np.split(vector, count, axis=1) for vector in vectors))
        results = []
        for h, source, target in blocks:
            scores = (h @ target[0])[row] + (h @ source[0])[pattern.indices]
            scores = np.where(scores > 0, scores, 0.2 * scores)
            scores -= np.maximum.reduceat(scores, pattern.indptr[:-1])[row]
            scores = np.exp(scores)
            scores /= np.add.reduceat(scores, pattern.indptr[:-1])[row]
            attention = sp.csr_matrix((scores, pattern.indices, pattern.indptr), pattern.shape)
            results.append(attention @ h)
        return results

    hidden = np.hstack(attend(g.x, "layers.0", heads)) + w["layers.0.bias"]
    hidden = np.where(hidden > 0, hidden, np.expm1(np.minimum(hidden, 0)))
    return sum(attend(hidden, "layers.1", output_heads)) / output_heads + w["layers.1.bias"]


def walk_matrix(adjacency: sp.csr_matrix) -> sp.csr_matrix:
    """D^-1 (A + I)."""
    total = sp.csr_matrix(adjacency + sp.identity(adjacency.shape[0]))
    degree = np.asarray(total.sum(axis=1)).ravel()
    return sp.csr_matrix(sp.diags(1 / degree) @ total)


def page_rank(walk: sp.csr_matrix, alpha: float) -> np.ndarray:
    """The share of each node in the walk that leaves with alpha and comes back anywhere.

    Nodes get mass from the auxiliary one in equal parts: pi = c 1 + (1 - alpha) P^T pi.
    """
    n = walk.shape[0]
    system = sp.csc_matrix(sp.identity(n) - (1 - alpha) * walk.T)
    rank = spla.spsolve(system, np.ones(n))
    return rank / rank.sum()


def digraph_laplacian(walk: sp.csr_matrix, alpha: float) -> sp.csr_matrix:
    """Half the sum of Pi^1/2 P Pi^-1/2 and its transpose."""
    root = np.sqrt(page_rank(walk, alpha))
    turned = sp.diags(root) @ walk @ sp.diags(1 / root)
    return sp.csr_matrix((turned + turned.T) / 2)


def proximity(walk: sp.csr_matrix) -> sp.csr_matrix:
    """Half of P^T P + P P^T where neither is 0, divided by the square roots of its row sums."""
    into, out = sp.csr_matrix(walk.T @ walk), sp.csr_matrix(walk @ walk.T)
    both = (into != 0).multiply(out != 0)
    total = (into + out).multiply(both) / 2
    root = sp.diags(inverse_root(np.asarray(total.sum(axis=1)).ravel()))
    return sp.csr_matrix(root @ total @ root)


def digcn(
    g: Inputs, w: Weights, layers: int = 2, alpha: float = 0.1, inception: bool = False
) -> np.ndarray:
    walk = walk_matrix(g.adjacency)
    first = digraph_laplacian(walk, alpha)
    if not inception:
        return convolutions(first, g.x, w, layers)
    second, x = proximity(walk), g.x
    for layer in range(layers):
        x = relu(x) if layer else x
        name = f"layers.{layer}"
        ways = {name: first @ x, f"{name}.own": x, f"{name}.second": second @ x}
        x = sum(linear(w, way, block) for way, block in ways.items())
    return x


def directed(adjacency: sp.csr_matrix, exponent: float) -> sp.csr_matrix:
    """D_out^-e A D_in^-e."""
    out, into = (np.asarray(adjacency.sum(axis=axis)).ravel() for axis in (1, 0))
    left, right = inverse_root(out, exponent), inverse_root(into, exponent)
    return sp.csr_matrix(sp.diags(left) @ adjacency @ sp.diags(right))


def dirgnn(
    g: Inputs,
    w: Weights,
    layers: int = 2,
    alpha: float = 0.5,
    jumping_knowledge: str = "cat",
    normalize_rows: bool = False,
) -> np.ndarray:
    p, x, made = directed(g.adjacency, 0.5), g.x, []
    for layer in range(layers):
        out = linear(w, f"layers.{layer}.out", p @ x)
        back = linear(w, f"layers.{layer}.in", p.T @ x)
        x = relu(alpha * out + (1 - alpha) * back)
        x = unit_rows(x) if normalize_rows else x
        made.append(x)
    handed = {"none": x, "cat": np.hstack(made), "max": np.max(made, axis=0)}
    return linear(w, "readout", handed[jumping_knowledge])


def fabernet(
    g: Inputs,
    w: Weights,
    layers: int = 2,
    order: int = 2,
    alpha: float = 0.5,
    exponent: float = 0.25,
    complex: bool = False,
) -> np.ndarray:
    p, x, made = directed(g.adjacency, exponent), g.x, []
    for layer in range(layers):
        name = f"layers.{layer}"
        total = linear(w, name, x)
        out = back = x
        for k in range(1, order + 1):
            out, back = p @ out, p.T @ back
            total = total + alpha * (out @ w[f"{name}.out.{k}"])
            total = total + (1 - alpha) * (back @ w[f"{name}.in.{k}"])
        x = relu(total.real) + 1j * relu(total.imag) if complex else relu(total)
        made.append(x)
    return linear(w, "readout", parts(np.hstack(made)))


def fsgnn(g: Inputs, w: Weights, order: int = 3, normalize_rows: bool = True) -> np.ndarray:
    channels = [g.x]
    for own in (PLAIN, UNDIRECTED):
        s, power = g.matrix(own), g.x
        for _ in range(order):
            power = s @ power
            channels.append(power)
    scores = w["channel_weights"].ravel()
    shares = np.exp(scores - scores.max())
    shares /= shares.sum()
    blocks = []
    for c, (share, channel) in enumerate(zip(shares, channels)):
        block = linear(w, f"channels.{c}", channel)
        blocks.append(share * (unit_rows(block) if normalize_rows else block))
    return linear(w, "readout", relu(np.hstack(blocks)))


def linkx(g: Inputs, w: Weights) -> np.ndarray:
    a, x = linear(w, "edges", g.adjacency), linear(w, "features", g.x)
    return linear(w, "readout", relu(linear(w, "mix", np.hstack([a, x])) + a + x))


def channel(g: Inputs, text: str) -> np.ndarray:
    """One channel of a bank, by its text."""
    step = directed(abs(g.adjacency), 0.5)
    step = sp.csr_matrix(step.multiply(g.adjacency.sign()))
    ways = {"out": step, "in": sp.csr_matrix(step.T)}
    if text == "x":
        return g.x
    word = text.removeprefix("rows-").split(".")
    if set(word) <= set(ways):
        block = np.eye(len(g.x)) if text.startswith("rows-") else g.x
        for way in reversed(word):
            block = ways[way] @ block
        return block
    name, settings = text.removesuffix(")").split("(")
    given = dict(setting.split("=") for setting in settings.split(","))
    operator = Operator(
        given.get("charge", "0"),
        self_loops=given.get("self_loops") != "false",
        normalize=given.get("normalize", "sym"),
        kind="high" if given.get("kind") == "negated-adjacency" else "low",
    )
    matrix = replace(g, operator=operator).matrix()
    order = int(given["order"])
    # LinearRank is the mean of powers, weighed from the first one down; a power is the last one alone.
    weights = {
        "linear-rank": [2 * (order - k) / (order * (order + 1)) for k in range(order)],
        "power": [0.0] * order + [1.0],
    }[name]
    total, power = 0, g.x
    for weight in weights:
        total = total + weight * power
        power = matrix @ power
    return total


def bank(
    g: Inputs,
    w: Weights,
    channels: str,
    layers: int = 1,
    activation: str = "relu",
    normalize_rows: bool = True,
    rescale: bool = False,
    degrees: bool = False,
) -> np.ndarray:
    if rescale:
        largest = np.abs(g.x).max(axis=1, keepdims=True)
        g = replace(g, x=g.x / np.where(largest > 0, largest, 1))
    if degrees:
        edges = g.adjacency != 0
        both = [np.asarray(edges.sum(axis=axis)).ravel() for axis in (0, 1)]
        g = replace(g, x=np.hstack([g.x, np.log1p(np.stack(both, axis=1))]))
    scores = w["channel_weights"].ravel()
    shares = np.exp(scores - scores.max())
    shares /= shares.sum()
    act = relu if activation == "relu" else np.tanh
    texts = re.split(r",(?![^(]*\))", channels)
    blocks = []
    for c, (share, text) in enumerate(zip(shares, texts, strict=True)):
        bias = w[f"channels.{c}.bias"]
        if normalize_rows:
            bias = bias * w["bias_scales"].ravel()[c]
        block = channel(g, text) @ w[f"channels.{c}.weight"]
        if activation == "gated_tanh":
            z = block + bias
            block = np.tanh(z.real) * np.tanh(z.imag) if np.iscomplexobj(z) else np.tanh(z)
        else:
            block = block.real + bias
        blocks.append(share * (unit_rows(block) if normalize_rows else block))
    hidden = np.hstack(blocks)
    hidden = hidden if activation == "gated_tanh" else act(hidden)
    for layer in range(1, layers):
        hidden = act(linear(w, f"layers.{layer}", hidden))
    return linear(w, "readout", hidden)


FUNCTIONS = (
    (mgc, mlp, sgc, gfnn, s2gc, gcn, chebynet, ppnp, appnp, gdc_ppr, gdc_hkpr, gprgnn)
    + (gat, digcn, magnet, dirgnn, fabernet, fsgnn, linkx, bank)
)
MODELS: dict[str, Callable[..., np.ndarray]] = {
    function.__name__.replace("_", "-"): function for function in FUNCTIONS
}
