"""Tests of the reference computations against small dense ones that are written differently."""

import cmath
import itertools
import math
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import scipy.sparse as sp

import references as ref
from references import Operator
from tally import Tally


def random_weights(rng: np.random.Generator, nodes: int, weighted: bool) -> np.ndarray:
    """A dense adjacency with self loops and, as the last one, an isolated node."""
    weights = (rng.random((nodes, nodes)) < 0.25) * 1.0
    if weighted:
        weights *= rng.uniform(0.1, 2.0, weights.shape)
    weights[-1, :] = weights[:, -1] = 0
    return weights


def dense_operator(operator: Operator, weights: np.ndarray) -> np.ndarray:
    """The operator, one entry after the other."""
    nodes = len(weights)
    q = float(Fraction(operator.charge))

    loop = 1.0 if operator.self_loops else 0.0

    def joined(u: int, v: int) -> float:
        if u == v:
            return weights[u, u] if operator.keep_self_loops else 0.0
        there, back = weights[u, v], weights[v, u]
        larger = max(there, back, key=lambda weight: (abs(weight), weight))
        return larger if operator.symmetrize == "max" else (there + back) / 2

    if operator.normalize == "directed":
        return dense_directed(operator, weights, loop)
    degree = [loop + sum(abs(joined(u, v)) for v in range(nodes)) for u in range(nodes)]
    result = np.zeros((nodes, nodes), dtype=complex)
    for u, v in itertools.product(range(nodes), repeat=2):
        value = joined(u, v) + (loop if u == v else 0.0)
        turn = weights[u, v] - weights[v, u]
        if operator.phase == "sign":
            out, back = abs(weights[u, v]), abs(weights[v, u])
            turn = 0 if out == back else math.copysign(1, out - back)
        value *= cmath.exp(2j * math.pi * q * turn)
        if value != 0 and operator.normalize == "sym":
            value /= math.sqrt(degree[u] * degree[v])
        elif value != 0 and operator.normalize == "rw":
            value /= degree[u]
        if operator.kind == "laplacian":
            diagonal = degree[u] if operator.normalize == "none" else 1.0
            result[u, v] = (diagonal if u == v else 0.0) - value
        else:
            result[u, v] = value if operator.kind == "low" else -value
    return result


def dense_directed(operator: Operator, weights: np.ndarray, loop: float) -> np.ndarray:
    """The same with degrees out and in divided out apart."""
    nodes, turn = len(weights), cmath.exp(2j * math.pi * float(Fraction(operator.charge)))

    def edge(u: int, v: int) -> float:
        own = loop + (weights[u, u] if operator.keep_self_loops else 0.0)
        return own if u == v else weights[u, v]

    out = [sum(abs(edge(u, v)) for v in range(nodes)) for u in range(nodes)]
    into = [sum(abs(edge(u, v)) for u in range(nodes)) for v in range(nodes)]
    step = lambda u, v: edge(u, v) / math.sqrt(out[u] * into[v]) if edge(u, v) else 0.0
    result = np.zeros((nodes, nodes), dtype=complex)
    for u, v in itertools.product(range(nodes), repeat=2):
        value = (turn * step(u, v) + turn.conjugate() * step(v, u)) / 2
        if operator.kind == "laplacian":
            result[u, v] = (1.0 if u == v else 0.0) - value
        else:
            result[u, v] = value if operator.kind == "low" else -value
    return result


def spectral(matrix: np.ndarray, x: np.ndarray, response) -> np.ndarray:
    """U h(Lambda) U^H X of a Hermitian matrix."""
    values, vectors = np.linalg.eigh(matrix)
    return vectors @ (response(values)[:, None] * (vectors.conj().T @ x))


def paper_linear_rank(p: np.ndarray, x: np.ndarray, order: int) -> np.ndarray:
    """LinearRank by the recurrence of the paper."""
    term = 2 / (order + 1) * x
    result = term.astype(complex)
    for k in range(order - 1):
        term = (order - k - 1) / (order - k) * (p @ term)
        result += term
    return result


def error(a: np.ndarray, b: np.ndarray) -> float:
    """Relative difference."""
    return float(np.linalg.norm(a - b) / np.linalg.norm(b))


def operators_and_filters() -> int:
    """Operators entry by entry, filters through the spectrum."""
    tally = Tally()
    rng = np.random.default_rng(7)
    for weighted in (False, True):
        weights = random_weights(rng, 13, weighted)
        sparse = sp.csr_matrix(weights)
        failures = []
        kept = [replace(operator, keep_self_loops=True) for operator in ref.few_operators()]
        operators = ref.all_operators() + kept
        for operator in operators:
            difference = error(operator.build(sparse).toarray(), dense_operator(operator, weights))
            if difference > 1e-12:
                failures.append(f"{operator}: {difference:.2e}")
        kind = "weighted" if weighted else "unweighted"
        tally.graph(f"{kind} graph", "operators", len(operators) - len(failures), failures)

    signed = weights * rng.choice([-1, 1], weights.shape)
    failures = []
    for operator in ref.signed_operators():
        matrix = operator.build(sp.csr_matrix(signed))
        difference = error(matrix.toarray(), dense_operator(operator, signed))
        if difference > 1e-12:
            failures.append(f"{operator}: {difference:.2e}")
        centre, half = ref.gershgorin(matrix)
        if operator.normalize != "none":
            centre, half = (1 if operator.kind == "laplacian" else 0), 1
        if abs(np.linalg.eigvals(matrix.toarray()) - centre).max() > half + 1e-12:
            failures.append(f"{operator}: eigenvalues outside of their bounds")
    total = 2 * len(ref.signed_operators())
    tally.graph("signed graph", "operators", total - len(failures), failures)

    failures, count = [], 0
    x = rng.standard_normal((13, 4))
    c, feedback = [0.3, -0.7, 0.2, 0.4], [0.3, -0.2]
    bernstein = lambda v: sum(
        t * math.comb(3, k) / 8 * (2 - v) ** (3 - k) * v**k for k, t in enumerate(c)
    )
    ratio = lambda v: (0.3 - 0.7 * v + 0.2 * v**2 + 0.4 * v**3) / (1 + 0.3 * v - 0.2 * v**2)
    clip = lambda v: np.clip(v, -1, 1)
    for charge, kind in itertools.product(("1/5", "1/4"), ("low", "high")):
        p = Operator(charge, kind=kind).build(sparse)
        dense = p.toarray()
        laplacian = np.identity(13) - dense
        series = partial(ref.power_series, p, x)
        pairs = {
            "linear-rank": (series(ref.linear_rank(8)), paper_linear_rank(dense, x, 8)),
            "linear-rank of order 1": (series(ref.linear_rank(1)), x),
            "markov": (
                series(ref.markov(5)),
                spectral(dense, x, lambda v: sum(v**k for k in range(1, 6)) / 5),
            ),
            "ppr": (
                series(ref.ppr(0.85, 30)),
                spectral(dense, x, lambda v: 0.15 * (1 - (0.85 * v) ** 31) / (1 - 0.85 * v)),
            ),
            "ppr, exact": (
                ref.ppr_exact(p, x, 0.85),
                spectral(dense, x, lambda v: 0.15 / (1 - 0.85 * v)),
            ),
            "heat": (series(ref.heat(2.5, 40)), spectral(laplacian, x, lambda v: np.exp(-2.5 * v))),
            "heat, exact": (
                ref.heat_exact(p, x, 2.5),
                spectral(dense, x, lambda v: np.exp(2.5 * (v - 1))),
            ),
            "polynomial": (series(c), spectral(dense, x, lambda v: np.polyval(c[::-1], v))),
            "chebyshev": (
                ref.chebyshev(p, x, c),
                spectral(
                    dense,
                    x,
                    lambda v: sum(t * np.cos(k * np.arccos(clip(v))) for k, t in enumerate(c)),
                ),
            ),
            "bernstein": (
                ref.bernstein(sp.csr_matrix(laplacian), x, c),
                spectral(laplacian, x, bernstein),
            ),
            "arma": (ref.arma_exact(p, x, c, feedback), spectral(dense, x, ratio)),
        }
        for name, (ours, theirs) in pairs.items():
            count += 1
            if error(ours, theirs) > 1e-12:
                failures.append(f"{name}, {charge}, {kind}: {error(ours, theirs):.2e}")
        # The bound of an error is no less than it, and not by orders of magnitude.
        exact = ref.ppr_exact(p, x, 0.85)
        wrong = exact + 1e-3 * rng.standard_normal(exact.shape)
        count += 1
        if not 1 <= ref.ppr_error(p, x, 0.85, wrong) / error(wrong, exact) < 20:
            failures.append(f"error of ppr, {charge}, {kind}")
    tally.graph("weighted graph", "filters", count - len(failures), failures)
    return tally.end()


def graph_measures() -> int:
    """scipy against networkx, and homophily and symmetry by counting."""
    from check_graph import expected, homophily, structure_networkx, structure_scipy
    from datasets import Graph

    tally = Tally()
    rng = np.random.default_rng(3)
    failures = []
    rounds = 40
    for i in range(rounds):
        nodes = 14
        weights = (rng.random((nodes, nodes)) < rng.choice([0.03, 0.08, 0.2])) * 1.0
        if i % 4 == 0:
            weights = np.triu(weights)
        if i % 5 == 0:
            weights = np.maximum(weights, weights.T)
        if i % 9 == 0:
            weights = np.diag(weights.diagonal())
        sparse = sp.csr_matrix(weights)
        labels = rng.integers(-1, 3, nodes)
        if structure_scipy(sparse) != structure_networkx(sparse):
            failures.append(f"round {i}: scipy and networkx differ")
        if not alike(homophily(sparse, labels), counted_homophily(weights, labels)):
            failures.append(f"round {i}: homophily differs")
        values = expected(Graph(sparse, None, labels))
        if values["symmetric"] != bool((weights == weights.T).all()):
            failures.append(f"round {i}: symmetry differs")
        if values["edges"] != int(weights.sum()) or values["self_loops"] != int(np.trace(weights)):
            failures.append(f"round {i}: counts differ")
    tally.graph("random graphs", "comparisons", 4 * rounds - len(failures), failures)
    return tally.end()


def counted_homophily(weights: np.ndarray, labels: np.ndarray) -> dict:
    """Homophily by going through all pairs of nodes."""
    shares, same, pairs = [], 0, 0
    for u in range(len(labels)):
        near = [v for v in range(len(labels)) if v != u and (weights[u, v] or weights[v, u])]
        near = [v for v in near if labels[v] >= 0]
        if labels[u] < 0 or not near:
            continue
        shares.append(sum(labels[v] == labels[u] for v in near) / len(near))
        same += sum(labels[v] == labels[u] for v in near if v > u)
        pairs += sum(v > u for v in near)
    return {
        "node_homophily": sum(shares) / len(shares) if shares else None,
        "edge_homophily": same / pairs if pairs else None,
    }


def alike(a: dict, b: dict) -> bool:
    """Whether two results agree up to rounding."""
    return all(
        (a[key] is None and b[key] is None)
        or (a[key] is not None and b[key] is not None and abs(a[key] - b[key]) < 1e-12)
        for key in a
    )


def cycle_measures() -> int:
    """networkx's cycles, the flux and the search by chance against going through everything."""
    from check_cycles import (
        all_cycles,
        digraph,
        flux_divisor,
        is_cycle,
        lengths_by_chance,
        special_edges,
    )

    tally = Tally()
    rng = np.random.default_rng(9)
    failures = []
    rounds = 60
    for i in range(rounds):
        nodes = int(rng.integers(2, 7))
        edges = special_edges(rng, nodes, ("any", "acyclic", "symmetric", "periodic")[i % 4])
        dense = np.zeros((nodes, nodes))
        for u, v in edges:
            dense[u, v] = u != v
        sparse = sp.csr_matrix(dense)
        cycles = permuted_cycles(dense > 0)
        found = all_cycles(digraph(nodes, edges))
        if sorted(found) != sorted(cycles):
            failures.append(f"round {i}: networkx's cycles differ")
        if not all(is_cycle(sparse, list(cycle)) for cycle in found):
            failures.append(f"round {i}: a cycle is not taken for one")
        weights = {edge: float(rng.integers(1, 4)) / (1 + i % 2) for edge in edges}
        if flux_divisor(weights, nodes) != permuted_flux_divisor(weights, nodes):
            failures.append(f"round {i}: the flux differs")
        if not lengths_by_chance(sparse, nodes, 50, rng) <= {len(cycle) for cycle in cycles}:
            failures.append(f"round {i}: chance finds what is not there")
    full = sp.csr_matrix(1 - np.identity(6))
    no_cycles = ([0], [0, 1, 0], [0, 0])
    failures += [f"{path} is taken for a cycle" for path in no_cycles if is_cycle(full, path)]
    if lengths_by_chance(full, 6, 50, rng) != {2, 3, 4, 5, 6}:
        failures.append("chance does not find the lengths of a complete graph")
    count = 4 * rounds + len(no_cycles) + 1
    tally.graph("random digraphs", "comparisons", count - len(failures), failures)
    return tally.end()


def permuted_cycles(edge: np.ndarray) -> list[tuple[int, ...]]:
    """All cycles, by going through all orders of all sets of nodes."""
    return [
        path
        for length in range(2, len(edge) + 1)
        for path in itertools.permutations(range(len(edge)), length)
        if path[0] == min(path)
        and all(edge[u, v] for u, v in zip(path, path[1:] + path[:1]))
    ]


def permuted_flux_divisor(weights: dict, nodes: int) -> int | None:
    """Greatest common divisor of the fluxes of all cycles of the underlying graph."""
    matrix = np.zeros((nodes, nodes))
    for (u, v), value in weights.items():
        matrix[u, v] = value
    fluxes = [
        sum(np.sign(matrix[u, v] - matrix[v, u]) for u, v in zip(path, path[1:] + path[:1]))
        for path in permuted_cycles((matrix + matrix.T) > 0)
    ]
    whole = all(flux == round(flux) for flux in fluxes)
    return math.gcd(*(round(flux) for flux in fluxes)) if whole else None
