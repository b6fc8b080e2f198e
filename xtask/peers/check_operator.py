"""Compares operators and filtered features written by magnon with scipy's.

    check_operator.py MAGNON_BINARY WORK_DIR [DATA_DIR] [--only GRAPH]
    check_operator.py --self-test

Without DATA_DIR, only generated graphs are checked.
"""

import argparse
import functools
import itertools
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import generated
import references as ref
from datasets import load, row_normalised
from references import Operator, all_operators, few_operators
from tally import Tally, check_binary

LIMIT = 1e-5
TIMEOUT = 240

# Graphs whose operators are checked in every combination, and in a few.
EVERY = [
    generated.PLAIN,
    "texas",
    "cornell",
    "corar/derived/adj_directed.npz",
    "pygsd/blog.npz",
]
FEW = [
    generated.WEIGHTED,
    "washington",
    "wisconsin",
    "linqs/cora.tgz",
    "geom_gcn_texas",
    "gnn_benchmark/citeseer.npz",
    "pygsd/migration.npz",
]
# Graphs whose features are filtered in every combination, and in a few.
FEATURES_EVERY = [generated.PLAIN, "texas"]
FEATURES_FEW = [generated.WEIGHTED, "cornell", "geom_gcn_texas", "corar"]
FILTERS = [generated.PLAIN, "texas"]
LOOPED = [generated.WEIGHTED, "geom_gcn_texas"]
WEIGHTED = [generated.WEIGHTED, "pygsd/migration.npz"]
SIGNED = [generated.SIGNED, "pygsd/bitcoin_alpha.csv"]
# So many nodes that the features are filtered in another layout than those of small graphs.
MANY_NODES = "pubmed/derived/adj_directed.npz"
MANY_NODES_FEATURES = "pubmed/features.npz"


class Failure(Exception):
    """A check that did not hold, and by how much."""


class Magnon:
    """The program under test; one thread of work a process."""

    def __init__(self, binary: str, work: Path, data: Path | None) -> None:
        self.binary, self.work, self.data = binary, work, data

    def find(self, graph: str) -> Path | None:
        """The place of a graph; none of a real one where there are no real data."""
        return generated.find(graph, self.work, self.data)

    def write(self, command: str, graph: str, flags: list[str], suffix: str) -> Path:
        """Runs a command that writes a file and gives the file."""
        output = self.work / f"check-{threading.get_ident()}{suffix}"
        output.unlink(missing_ok=True)
        arguments = [self.binary, command, str(self.find(graph)), *flags]
        arguments += ["-o", str(output), "--quiet", "--threads", "1"]
        try:
            done = subprocess.run(arguments, capture_output=True, text=True, timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            raise Failure(f"no end after {TIMEOUT} seconds") from None
        if done.returncode != 0:
            raise Failure(f"exit code {done.returncode}: {done.stderr.strip()}")
        if not output.exists():
            raise Failure(f"no file was written: {done.stderr.strip()}")
        return output

    def operator(self, graph: str, flags: list[str]) -> sp.csr_matrix:
        """`magnon operator`."""
        path = self.write("operator", graph, flags, ".npz")
        return read_back(path, lambda file: sp.csr_matrix(sp.load_npz(file)))

    def propagate(self, graph: str, flags: list[str]) -> np.ndarray:
        """`magnon propagate`."""
        path = self.write("propagate", graph, flags, ".npy")
        return read_back(path, np.load)


def read_back(path: Path, reader: Callable) -> object:
    """What a file holds; the file is removed."""
    try:
        return reader(path)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise Failure(f"the file cannot be read: {error}") from None
    finally:
        path.unlink()


def compare_operators(ours: sp.csr_matrix, theirs: sp.csr_matrix) -> float:
    """Largest difference over largest entry; shapes and supports must agree."""
    if ours.shape != theirs.shape:
        raise Failure(f"shape {ours.shape}, expected {theirs.shape}")
    if not np.isfinite(ours.data).all():
        raise Failure("entries that are not finite")
    ours = sp.csr_matrix(ours, dtype=complex)
    scale = abs(theirs).max()
    error = abs(ours - theirs).max() / scale
    if not error <= LIMIT:
        turned = abs(ours.conj() - theirs).max() / scale <= LIMIT
        hint = "; the conjugate agrees, so edges run the other way" if turned else ""
        raise Failure(f"relative error {error:.2e}, limit {LIMIT:.0e}{hint}")
    patterns = [abs(matrix) > 1e-10 * scale for matrix in (ours, theirs)]
    strangers = (patterns[0] != patterns[1]).nnz
    if strangers:
        raise Failure(f"{strangers} entries are zero on one side only")
    return error


def compare_features(ours: np.ndarray, theirs: np.ndarray, real: bool) -> float:
    """Frobenius norm of the difference over that of the reference; type and layout too."""
    expected = np.dtype(np.float32 if real else np.complex64)
    if ours.dtype != expected:
        raise Failure(f"type {ours.dtype}, expected {expected}")
    if not ours.flags.c_contiguous:
        raise Failure("the array is not in C order")
    if ours.shape != theirs.shape:
        raise Failure(f"shape {ours.shape}, expected {theirs.shape}")
    scale = np.linalg.norm(theirs)
    error = np.linalg.norm(ours - theirs) / scale
    if not error <= LIMIT:
        turned = np.linalg.norm(ours.conj() - theirs) / scale <= LIMIT
        hint = "; the conjugate agrees, so edges run the other way" if turned else ""
        raise Failure(f"relative error {error:.2e}, limit {LIMIT:.0e}{hint}")
    return error


Check = tuple[list[str], Callable[[], float]]
"""The command line of a check without its data, and the check itself, giving the error."""


def run_checks(tally: Tally, name: str, what: str, checks: list[Check]) -> None:
    """Runs the checks of one graph, two at a time."""

    def one(check: Check) -> tuple[float, str | None]:
        flags, work = check
        try:
            return work(), None
        except Failure as failure:
            return 0.0, f"magnon {' '.join(flags)}: {failure}"

    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(one, checks))
    failures = [failure for _, failure in results if failure]
    errors = [error for error, failure in results if not failure]
    note = f", worst error {max(errors):.1e}" if errors else ""
    tally.graph(name, what, len(errors), failures, note)


def operator_checks(magnon: Magnon, name: str, operators: list[Operator]) -> list[Check]:
    """`magnon operator` against scipy."""
    weights = load(magnon.find(name)).adjacency

    def check(operator: Operator) -> Check:
        flags = operator.flags()
        work = lambda: compare_operators(magnon.operator(name, flags), operator.build(weights))
        return ["operator", name, *flags], work

    return [check(operator) for operator in operators]


Expected = Callable[[sp.csr_matrix], np.ndarray]
"""The filtered features that belong to a matrix."""


class Propagation:
    """`magnon propagate` on one graph with its features, against scipy."""

    def __init__(self, magnon: Magnon, name: str, features: Path | None = None) -> None:
        self.magnon, self.name = magnon, name
        self.extra = ["--features", str(features)] if features else []
        graph = load(magnon.find(name))
        self.x = row_normalised(read_features(features) if features else graph.features)
        self.checks: list[Check] = []

        @functools.cache
        def build(operator: Operator) -> sp.csr_matrix:
            matrix = operator.build(graph.adjacency)
            matrix.sum_duplicates()  # scipy would do so later, while other threads read
            return matrix

        self.build = build

    def add(self, operator: Operator, text: str, expected: Expected) -> None:
        """Compares with the features that `expected` gives."""

        def compare(ours: np.ndarray, matrix: sp.csr_matrix) -> float:
            return compare_features(ours, expected(matrix), ref.is_real(matrix))

        self.add_comparison(operator, text, compare)

    def add_comparison(
        self, operator: Operator, text: str, compare: Callable[[np.ndarray, sp.csr_matrix], float]
    ) -> None:
        """Adds a check whose error `compare` tells, from features and matrix."""
        flags = [*operator.flags(), *self.extra, "--filter", *text.split()]
        work = lambda: compare(self.magnon.propagate(self.name, flags), self.build(operator))
        self.checks.append((["propagate", self.name, *flags], work))

    def add_series(self, operator: Operator, text: str, coefficients: list[float]) -> None:
        """Compares with a power series."""
        self.add(operator, text, lambda s: ref.power_series(s, self.x, coefficients))


def read_features(path: Path) -> np.ndarray:
    """Features of a file of their own, in double precision."""
    if path.suffix == ".npz":
        return sp.load_npz(path).toarray().astype(float)
    return np.load(path).astype(float)


def random_features(magnon: Magnon, nodes: int, columns: int) -> Path:
    """A file of random features in single precision."""
    path = magnon.work / f"features-{nodes}.npy"
    np.save(path, np.random.default_rng(nodes).standard_normal((nodes, columns)).astype("f4"))
    return path


def linear_rank_checks(magnon: Magnon, name: str, operators: list[Operator]) -> list[Check]:
    """LinearRank with many operators."""
    propagation = Propagation(magnon, name)
    for operator in operators:
        order = 3 if operator.normalize == "none" else 8
        propagation.add_series(operator, f"linear-rank --order {order}", ref.linear_rank(order))
    return propagation.checks


POWERS = [0.5, -1.0, 0.25]
WAVES = [0.3, -0.7, 0.2, 0.4, -0.1]
BUMPS = [1.0, 0.6, -0.2, 0.3, 0.1]
TOP, BOTTOM = [0.8, -0.5], [0.3, -0.2]


def filter_checks(magnon: Magnon, name: str) -> list[Check]:
    """The other filters, with both normalisations."""
    propagation = Propagation(magnon, name)
    x = propagation.x
    identity = sp.identity(x.shape[0], format="csr")
    add, add_series = propagation.add, propagation.add_series
    arma = f"arma --coefficients={join(TOP)} --feedback={join(BOTTOM)}"
    polynomial = f"polynomial --coefficients={join(POWERS)}"
    chebyshev = f"chebyshev --coefficients={join(WAVES)}"
    bernstein = f"bernstein --coefficients={join(BUMPS)}"
    charges = ("1/6", "1/5", "1/4", "1/3", "1/2")
    for charge, normalize in itertools.product(charges, ("sym", "rw")):
        for kind in ("low", "high"):
            adjacency = Operator(charge, normalize=normalize, kind=kind)
            add_series(adjacency, "markov --order 5", ref.markov(5))
            add_series(adjacency, "ppr --alpha 0.85 --order 12", ref.ppr(0.85, 12))
            add_series(adjacency, "heat --time 2.5 --order 6", ref.heat(2.5, 6))
            add_series(adjacency, polynomial, POWERS)
            add(adjacency, chebyshev, lambda p: ref.chebyshev(p, x, WAVES))
            add(adjacency, bernstein, lambda p: ref.bernstein(identity - p, x, BUMPS))
            if charge not in ("1/4", "1/5"):
                continue
            add(adjacency, "ppr --alpha 0.85 --exact", lambda p: ref.ppr_exact(p, x, 0.85))
            add(adjacency, "heat --time 2.5 --order 40", lambda p: ref.heat_exact(p, x, 2.5))
            add(adjacency, "heat --time 2.5 --exact", lambda p: ref.heat_exact(p, x, 2.5))
            # So many terms that nothing depends on what exactly is cut off.
            add(adjacency, f"{arma} --order 60", lambda p: ref.arma_exact(p, x, TOP, BOTTOM))
            add(adjacency, f"{arma} --exact", lambda p: ref.arma_exact(p, x, TOP, BOTTOM))
        laplacian = Operator(charge, normalize=normalize, kind="laplacian")
        add_series(laplacian, polynomial, POWERS)
        add(laplacian, chebyshev, lambda s: ref.chebyshev(s - identity, x, WAVES))
        add(laplacian, bernstein, lambda s: ref.bernstein(s, x, BUMPS))
    return propagation.checks


def weighted_checks(magnon: Magnon, name: str) -> list[Check]:
    """Filters of a graph whose weights are fractions."""
    nodes = load(magnon.find(name)).adjacency.shape[0]
    propagation = Propagation(magnon, name, random_features(magnon, nodes, 5))
    for charge, normalize in itertools.product(("1/4", "1/5"), ref.NORMALIZE):
        operator = Operator(charge, normalize=normalize)
        propagation.add_series(operator, "linear-rank --order 6", ref.linear_rank(6))
        propagation.add_series(operator, "heat --time 1.5 --order 5", ref.heat(1.5, 5))

        def chebyshev(s: sp.csr_matrix, known: bool = normalize != "none") -> np.ndarray:
            centre, half = (0, 1) if known else ref.gershgorin(s)
            scaled = (s - centre * sp.identity(s.shape[0])) / half
            return ref.chebyshev(scaled, propagation.x, WAVES)

        propagation.add(operator, f"chebyshev --coefficients={join(WAVES)}", chebyshev)
    return propagation.checks


def signed_checks(magnon: Magnon, name: str) -> list[Check]:
    """Polynomials of a graph with negative weights."""
    nodes = load(magnon.find(name)).adjacency.shape[0]
    propagation = Propagation(magnon, name, random_features(magnon, nodes, 5))
    for operator in ref.signed_operators():
        propagation.add_series(operator, f"polynomial --coefficients={join(POWERS)}", POWERS)
    return propagation.checks


def many_nodes_checks(magnon: Magnon, name: str, features: Path) -> list[Check]:
    """Filters of a graph of many nodes."""
    propagation = Propagation(magnon, name, features)

    def solved(ours: np.ndarray, matrix: sp.csr_matrix) -> float:
        error = ref.ppr_error(matrix, propagation.x, 0.85, ours)
        if ours.dtype != np.complex64 or not error <= LIMIT:
            raise Failure(f"type {ours.dtype}, relative error {error:.2e}, limit {LIMIT:.0e}")
        return error

    # The slowest comes first, so that the others run beside it.
    propagation.add_comparison(Operator("1/5"), "ppr --alpha 0.85 --exact", solved)
    for charge, normalize in itertools.product(("0", "1/4", "1/5"), ("sym", "rw")):
        operator = Operator(charge, normalize=normalize)
        propagation.add_series(operator, "linear-rank --order 4", ref.linear_rank(4))
    propagation.add_series(Operator("1/5"), "heat --time 2.5 --order 6", ref.heat(2.5, 6))
    return propagation.checks


def join(values: list[float]) -> str:
    """Numbers as a flag takes them."""
    return ",".join(str(value) for value in values)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", nargs="?", metavar="MAGNON_BINARY")
    parser.add_argument("work", nargs="?", type=Path, metavar="WORK_DIR")
    parser.add_argument("data", nargs="?", type=Path, metavar="DATA_DIR")
    parser.add_argument("--only", action="append", metavar="GRAPH", help="check this graph only")
    parser.add_argument("--self-test", action="store_true", help="check the references alone")
    options = parser.parse_args()
    if options.self_test:
        from self_test import operators_and_filters

        return operators_and_filters()
    if options.work is None:
        parser.error("MAGNON_BINARY and WORK_DIR are needed")

    generated.write_all(options.work)
    magnon = Magnon(check_binary(options.binary), options.work, options.data)
    wanted = lambda name: magnon.find(name) and (not options.only or name in options.only)
    tally = Tally()
    for names, operators in ((EVERY, all_operators()), (FEW, few_operators())):
        for name in filter(wanted, names):
            run_checks(tally, name, "operators", operator_checks(magnon, name, operators))
    for names, operators in ((FEATURES_EVERY, all_operators()), (FEATURES_FEW, few_operators())):
        for name in filter(wanted, names):
            checks = linear_rank_checks(magnon, name, operators)
            run_checks(tally, name, "linear-rank filters", checks)
    for name in filter(wanted, FILTERS):
        run_checks(tally, name, "other filters", filter_checks(magnon, name))
    for name in filter(wanted, LOOPED):
        operators = [replace(operator, keep_self_loops=True) for operator in few_operators()]
        checks = operator_checks(magnon, name, operators)
        checks += linear_rank_checks(magnon, name, operators)
        run_checks(tally, name, "operators and filters with kept self loops", checks)
    for name in filter(wanted, WEIGHTED):
        run_checks(tally, name, "weighted filters", weighted_checks(magnon, name))
    for name in filter(wanted, SIGNED):
        checks = operator_checks(magnon, name, ref.signed_operators())
        checks += signed_checks(magnon, name)
        run_checks(tally, name, "operators and filters with negative weights", checks)
    if wanted(MANY_NODES):
        # The first columns of many: the layout goes by the nodes.
        features = magnon.work / "features-many.npz"
        columns = sp.csc_matrix(sp.load_npz(magnon.data / MANY_NODES_FEATURES))[:, :40]
        sp.save_npz(features, sp.csr_matrix(columns))
        checks = many_nodes_checks(magnon, MANY_NODES, features)
        run_checks(tally, MANY_NODES, "filters of many nodes", checks)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
