"""Reference computations of operators and filters with scipy, in complex128.

Definitions, for weights A(u, v) of u -> v, without self loops unless they are kept:

- A_s = max(A, A^T) or (A + A^T)/2, T_q(u, v) = exp(2 pi i q (A(u, v) - A(v, u))); of weights of either
  sign the maximum is the one of larger magnitude, the positive one of two that are as large
- A~ = A_s + I where self loops are added, D = row sums of |A_s| and 1 more for such a loop, the inverse
  of 0 taken as 0
- adjacency: D^-1/2 A~ D^-1/2 (sym), D^-1 A~ (rw) or A~ (none), times T_q entry by entry;
  the high pass negates it
- Laplacian: I - adjacency (sym, rw) or D - A~ (.) T_q (none)
"""

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla
from scipy.linalg import expm

SYMMETRIZE = ("max", "mean")
NORMALIZE = ("sym", "rw", "none")
CHARGES = ("0", "1/6", "1/5", "1/4", "1/3", "1/2")
KINDS = ("low", "high", "laplacian")
PHASES = ("sign", "weight")


@dataclass(frozen=True)
class Operator:
    """The config of an operator; the adjacency comes in two kinds, `low` and `high`."""

    charge: str
    symmetrize: str = "max"
    self_loops: bool = True
    normalize: str = "sym"
    kind: str = "low"
    keep_self_loops: bool = False
    """Whether self loops of the graph count, beside those that are added."""
    phase: str = "sign"
    """Whether an edge is turned by its direction alone, or by its weight."""

    def flags(self) -> list[str]:
        """The same config on the command line."""
        flags = ["--charge", self.charge, "--phase", self.phase, "--normalize", self.normalize]
        if self.normalize != "directed":
            flags += ["--symmetrize", self.symmetrize]
        if not self.self_loops:
            flags.append("--no-self-loops")
        if self.keep_self_loops:
            flags.append("--keep-self-loops")
        if self.kind == "laplacian":
            return flags + ["--kind", "laplacian"]
        return flags + ["--kind", "adjacency", "--pass", self.kind]

    def build(self, weights: sp.csr_matrix) -> sp.csr_matrix:
        """The matrix, for the adjacency of a graph."""
        nodes = weights.shape[0]
        identity = sp.identity(nodes, format="csr")
        a = sp.csr_matrix(weights, dtype=float)
        if not self.keep_self_loops:
            a = a - sp.diags(a.diagonal(), format="csr")

        if self.normalize == "directed":
            return self.build_directed(a + identity if self.self_loops else a)
        if self.symmetrize == "mean":
            total = (a + a.T) / 2
        else:
            high, low = a.maximum(a.T), a.minimum(a.T)
            total = high + low.multiply(-low > high) - high.multiply(-low > high)
        degree = np.asarray(abs(total).sum(axis=1)).ravel()
        if self.self_loops:
            total = total + identity
            degree = degree + 1

        # total (.) T_q = total + total (.) (T_q - 1), where T_q - 1 is as sparse as A - A^T.
        difference = sp.csr_matrix(a - a.T if self.phase == "weight" else abs(a) - abs(a).T)
        if self.phase == "sign":
            difference.data = np.sign(difference.data)
        turn = sp.csr_matrix(difference, dtype=complex)
        turn.data = np.exp(2j * np.pi * float(Fraction(self.charge)) * turn.data) - 1
        adjacency = sp.csr_matrix(total + total.multiply(turn))

        inverse = np.divide(1, degree, out=np.zeros(nodes), where=degree != 0)
        if self.normalize == "sym":
            root = sp.diags(np.sqrt(inverse), format="csr")
            adjacency = root @ adjacency @ root
        elif self.normalize == "rw":
            adjacency = sp.diags(inverse, format="csr") @ adjacency

        if self.kind == "low":
            return adjacency
        if self.kind == "high":
            return -adjacency
        if self.normalize == "none":
            return sp.csr_matrix(sp.diags(degree, format="csr") - adjacency)
        return sp.csr_matrix(identity - adjacency)


    def build_directed(self, a: sp.csr_matrix) -> sp.csr_matrix:
        """Half of e^{i 2 pi q} P and its conjugate transpose, P = D_out^-1/2 A D_in^-1/2."""
        out, into = (np.asarray(abs(a).sum(axis=axis)).ravel() for axis in (1, 0))
        inverse = lambda sums: sp.diags(np.divide(1, np.sqrt(sums), out=np.zeros(len(sums)), where=sums != 0))
        turned = np.exp(2j * np.pi * float(Fraction(self.charge))) * (inverse(out) @ a @ inverse(into))
        adjacency = sp.csr_matrix((turned + turned.conj().T) / 2)
        if self.kind == "low":
            return adjacency
        if self.kind == "high":
            return -adjacency
        return sp.csr_matrix(sp.identity(a.shape[0], format="csr") - adjacency)


def directed_operators() -> list[Operator]:
    """Degrees out and in divided out apart, with every charge, kind and self loops."""
    options = itertools.product(CHARGES, (True, False), KINDS)
    return [Operator(q, "max", loops, "directed", kind) for q, loops, kind in options]


def all_operators() -> list[Operator]:
    """Every combination of the options."""
    options = itertools.product(CHARGES, SYMMETRIZE, (True, False), NORMALIZE, KINDS)
    joint = [Operator(*option, phase=PHASES[i % 2]) for i, option in enumerate(options)]
    return joint + directed_operators()


def few_operators() -> list[Operator]:
    """Every symmetrisation, normalisation and kind, with charges and self loops in turn."""
    options = itertools.product(SYMMETRIZE, NORMALIZE, KINDS)
    return [
        Operator(
            CHARGES[(i + i // 6) % 6], symmetrize, i // 2 % 2 == 0, normalize, kind, phase=PHASES[i // 3 % 2]
        )
        for i, (symmetrize, normalize, kind) in enumerate(options)
    ] + directed_operators()[7::8]


def signed_operators() -> list[Operator]:
    """Every symmetrisation, normalisation and kind, with two charges and self loops in turn."""
    options = itertools.product(("1/5", "1/3"), SYMMETRIZE, NORMALIZE, KINDS)
    return [
        Operator(charge, symmetrize, i % 2 == 0, normalize, kind, phase=PHASES[i // 2 % 2])
        for i, (charge, symmetrize, normalize, kind) in enumerate(options)
    ] + directed_operators()[::3]


def is_real(matrix: sp.csr_matrix) -> bool:
    """Whether imaginary parts are rounding errors only."""
    size = abs(matrix).max()
    return abs(matrix.imag).max() <= 1e-12 * size


def power_series(s: sp.csr_matrix, x: np.ndarray, coefficients: list[float]) -> np.ndarray:
    """Sum of c_k S^k X, a few columns at a time so that they stay in the cache."""
    result = np.empty(x.shape, dtype=complex)
    width = max(1, 1_000_000 // x.shape[0])
    for start in range(0, x.shape[1], width):
        part = slice(start, start + width)
        term = x[:, part].astype(complex)
        total = coefficients[0] * term
        for coefficient in coefficients[1:]:
            term = s @ term
            total += coefficient * term
        result[:, part] = total
    return result


def linear_rank(order: int) -> list[float]:
    """Sum over k < K of 2 (K - k) / (K (K + 1)) P^k."""
    return [2 * (order - k) / (order * (order + 1)) for k in range(order)]


def markov(order: int) -> list[float]:
    """Mean of P, ..., P^K."""
    return [0.0] + [1 / order] * order


def ppr(alpha: float, order: int) -> list[float]:
    """Sum over k <= K of (1 - alpha) alpha^k P^k."""
    return [(1 - alpha) * alpha**k for k in range(order + 1)]


def heat(time: float, order: int) -> list[float]:
    """Sum over k <= K of e^-t t^k / k! P^k."""
    return [math.exp(-time) * time**k / math.factorial(k) for k in range(order + 1)]


def ppr_error(p: sp.csr_matrix, x: np.ndarray, alpha: float, solution: np.ndarray) -> float:
    """Bound of the relative error of a solution of (I - alpha P) Y = (1 - alpha) X, |P| <= 1."""
    solution = solution.astype(complex)
    residual = solution - alpha * (p @ solution) - (1 - alpha) * x
    return float(np.linalg.norm(residual) / (1 - alpha) / np.linalg.norm(solution))


def ppr_exact(p: sp.csr_matrix, x: np.ndarray, alpha: float) -> np.ndarray:
    """(1 - alpha) (I - alpha P)^-1 X."""
    system = sp.identity(p.shape[0]) - alpha * p
    return (1 - alpha) * spla.spsolve(system.tocsc(), x.astype(complex))


def heat_exact(p: sp.csr_matrix, x: np.ndarray, time: float) -> np.ndarray:
    """exp(-t (I - P)) X."""
    return expm(-time * (np.identity(p.shape[0]) - p.toarray())) @ x


def chebyshev(s: sp.csr_matrix, x: np.ndarray, coefficients: list[float]) -> np.ndarray:
    """Sum of c_k T_k(S) X, by the three-term recurrence."""
    before, term = x.astype(complex), s @ x.astype(complex)
    result = coefficients[0] * before
    for coefficient in coefficients[1:]:
        result += coefficient * term
        before, term = term, 2 * (s @ term) - before
    return result


def gershgorin(matrix: sp.csr_matrix) -> tuple[float, float]:
    """Centre and half length of the interval that Gershgorin's circles cover."""
    centre = matrix.diagonal().real
    radius = np.asarray(abs(matrix).sum(axis=1)).ravel() - abs(centre)
    low, high = (centre - radius).min(), (centre + radius).max()
    return (low + high) / 2, (high - low) / 2


def bernstein(laplacian: sp.csr_matrix, x: np.ndarray, coefficients: list[float]) -> np.ndarray:
    """Sum of t_k C(K, k) 2^-K (2I - L)^(K-k) L^k X."""
    order = len(coefficients) - 1
    other = 2 * sp.identity(laplacian.shape[0], format="csr") - laplacian
    result = np.zeros(x.shape, dtype=complex)
    for k, coefficient in enumerate(coefficients):
        term = x.astype(complex)
        for factor in [laplacian] * k + [other] * (order - k):
            term = factor @ term
        result += coefficient * math.comb(order, k) / 2**order * term
    return result


def arma_exact(
    s: sp.csr_matrix, x: np.ndarray, coefficients: list[float], feedback: list[float]
) -> np.ndarray:
    """(sum of z_k S^k) (I + sum of e_k S^k)^-1 X."""
    system = sp.identity(s.shape[0], dtype=complex, format="csr")
    power = system
    for e in feedback:
        power = power @ s
        system = system + e * power
    return power_series(s, spla.spsolve(system.tocsc(), x.astype(complex)), coefficients)
