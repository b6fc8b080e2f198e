"""Compares operators and filtered features written by magnon with scipy's.

    check_operator.py MAGNON_BINARY DATA_DIR WORK_DIR [--only GRAPH]
    check_operator.py --self-test
"""

import argparse
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import references as ref
from datasets import load, row_normalised
from references import Operator, all_operators, few_operators
from tally import Tally, check_binary

LIMIT = 1e-5
TIMEOUT = 60

# Graphs whose operators are checked in every combination, and in a few.
EVERY = [
    "texas",
    "cornell",
    "washington",
    "wisconsin",
    "corar/derived/adj_directed.npz",
    "linqs/cora.tgz",
    "pygsd/blog.npz",
]
FEW = ["geom_gcn_texas", "gnn_benchmark/citeseer.npz", "pygsd/migration.npz"]
# Graphs whose features are filtered in every combination, and in a few.
FEATURES_EVERY = ["texas", "cornell"]
FEATURES_FEW = ["geom_gcn_texas", "corar"]
FILTERS = "texas"


class Failure(Exception):
    """A check that did not hold, and by how much."""


class Magnon:
    """The program under test; one thread of work a process."""

    def __init__(self, binary: str, data: Path, work: Path) -> None:
        self.binary, self.data, self.work = binary, data, work

    def write(self, command: str, graph: str, flags: list[str], suffix: str) -> Path:
        """Runs a command that writes a file and gives the file."""
        output = self.work / f"check-{threading.get_ident()}{suffix}"
        output.unlink(missing_ok=True)
        arguments = [self.binary, command, str(self.data / graph), *flags]
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
    weights = load(magnon.data / name).adjacency

    def check(operator: Operator) -> Check:
        flags = operator.flags()
        work = lambda: compare_operators(magnon.operator(name, flags), operator.build(weights))
        return ["operator", name, *flags], work

    return [check(operator) for operator in operators]


def linear_rank_checks(magnon: Magnon, name: str, operators: list[Operator]) -> list[Check]:
    """`magnon propagate` with LinearRank against the scipy loop."""
    graph = load(magnon.data / name)
    x = row_normalised(graph.features)

    def check(operator: Operator) -> Check:
        order = 3 if operator.normalize == "none" else 8
        flags = [*operator.flags(), "--filter", "linear-rank", "--order", str(order)]

        def work() -> float:
            matrix = operator.build(graph.adjacency)
            expected = ref.power_series(matrix, x, ref.linear_rank(order))
            return compare_features(magnon.propagate(name, flags), expected, ref.is_real(matrix))

        return ["propagate", name, *flags], work

    return [check(operator) for operator in operators]


def filter_checks(magnon: Magnon, name: str) -> list[Check]:
    """The other filters, with the symmetric normalisation."""
    graph = load(magnon.data / name)
    x = row_normalised(graph.features)
    identity = sp.identity(x.shape[0], format="csr")
    checks: list[Check] = []

    def add(operator: Operator, text: str, expected: Callable[[sp.csr_matrix], np.ndarray]) -> None:
        flags = [*operator.flags(), "--filter", *text.split()]

        def work() -> float:
            matrix = operator.build(graph.adjacency)
            return compare_features(magnon.propagate(name, flags), expected(matrix), False)

        checks.append((["propagate", name, *flags], work))

    powers = [0.5, -1.0, 0.25]
    waves = [0.3, -0.7, 0.2, 0.4, -0.1]
    bumps = [1.0, 0.6, -0.2, 0.3, 0.1]
    top, bottom = [0.8, -0.5], [0.3, -0.2]
    for charge in ("1/4", "1/5"):
        for kind in ("low", "high"):
            adjacency = Operator(charge, kind=kind)
            add(adjacency, "markov --order 5", lambda p: ref.power_series(p, x, ref.markov(5)))
            add(
                adjacency,
                "ppr --alpha 0.85 --order 30",
                lambda p: ref.power_series(p, x, ref.ppr(0.85, 30)),
            )
            add(adjacency, "ppr --alpha 0.85 --exact", lambda p: ref.ppr_exact(p, x, 0.85))
            add(
                adjacency,
                "heat --time 2.5 --order 6",
                lambda p: ref.power_series(p, x, ref.heat(2.5, 6)),
            )
            add(adjacency, "heat --time 2.5 --order 40", lambda p: ref.heat_exact(p, x, 2.5))
            add(adjacency, "heat --time 2.5 --exact", lambda p: ref.heat_exact(p, x, 2.5))
            add(
                adjacency,
                f"bernstein --coefficients={join(bumps)}",
                lambda p: ref.bernstein(identity - p, x, bumps),
            )
            arma = f"arma --coefficients={join(top)} --feedback={join(bottom)}"
            # So many terms that nothing depends on what exactly is cut off.
            add(adjacency, f"{arma} --order 60", lambda p: ref.arma_exact(p, x, top, bottom))
            add(adjacency, f"{arma} --exact", lambda p: ref.arma_exact(p, x, top, bottom))
        for kind in ("low", "high", "laplacian"):
            add(
                Operator(charge, kind=kind),
                f"polynomial --coefficients={join(powers)}",
                lambda s: ref.power_series(s, x, powers),
            )
        for kind in ("low", "high"):
            add(
                Operator(charge, kind=kind),
                f"chebyshev --coefficients={join(waves)}",
                lambda s: ref.chebyshev(s, x, waves),
            )
        laplacian = Operator(charge, kind="laplacian")
        add(
            laplacian,
            f"chebyshev --coefficients={join(waves)}",
            lambda s: ref.chebyshev(s - identity, x, waves),
        )
        add(
            laplacian,
            f"bernstein --coefficients={join(bumps)}",
            lambda s: ref.bernstein(s, x, bumps),
        )
    return checks


def join(values: list[float]) -> str:
    """Numbers as a flag takes them."""
    return ",".join(str(value) for value in values)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", nargs="?", metavar="MAGNON_BINARY")
    parser.add_argument("data", nargs="?", type=Path, metavar="DATA_DIR")
    parser.add_argument("work", nargs="?", type=Path, metavar="WORK_DIR")
    parser.add_argument("--only", action="append", metavar="GRAPH", help="check this graph only")
    parser.add_argument("--self-test", action="store_true", help="check the references alone")
    options = parser.parse_args()
    if options.self_test:
        from self_test import operators_and_filters

        return operators_and_filters()
    if options.work is None:
        parser.error("MAGNON_BINARY, DATA_DIR and WORK_DIR are needed")

    options.work.mkdir(parents=True, exist_ok=True)
    magnon = Magnon(check_binary(options.binary), options.data, options.work)
    wanted = lambda name: not options.only or name in options.only
    tally = Tally()
    for names, operators in ((EVERY, all_operators()), (FEW, few_operators())):
        for name in filter(wanted, names):
            run_checks(tally, name, "operators", operator_checks(magnon, name, operators))
    for names, operators in ((FEATURES_EVERY, all_operators()), (FEATURES_FEW, few_operators())):
        for name in filter(wanted, names):
            checks = linear_rank_checks(magnon, name, operators)
            run_checks(tally, name, "linear-rank filters", checks)
    if wanted(FILTERS):
        run_checks(tally, FILTERS, "other filters", filter_checks(magnon, FILTERS))
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
