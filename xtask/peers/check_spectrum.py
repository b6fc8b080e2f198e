"""Compares eigenvalues written by magnon with scipy's.

    check_spectrum.py MAGNON_BINARY WORK_DIR [DATA_DIR] [--only GRAPH]
    check_spectrum.py --self-test

Without DATA_DIR, only generated graphs are checked.
"""

import argparse
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import scipy.linalg
import scipy.sparse as sp

import generated
from datasets import load
from references import Operator, all_operators
from tally import Tally, check_binary

LIMIT = 1e-10
TIMEOUT = 240

# Graphs whose whole spectra are compared in every combination.
EVERY = [generated.PLAIN, generated.WEIGHTED, "cornell", "texas", "washington", "wisconsin"]
# A graph that is large enough for a few eigenvalues to be found without the others.
LARGE = "corar/derived/adj_directed.npz"
COUNT = 20


def eigenvalues(operator: Operator, weights: sp.csr_matrix) -> np.ndarray:
    """Ascending eigenvalues; a random walk is decomposed as it is, not through its twin."""
    matrix = operator.build(weights).toarray()
    if operator.normalize == "rw":
        return np.sort(scipy.linalg.eigvals(matrix, check_finite=False).real)
    return scipy.linalg.eigvalsh(matrix, check_finite=False)


def difference(ours: np.ndarray, theirs: np.ndarray) -> str | None:
    """What is wrong, if anything is."""
    if ours.shape != theirs.shape:
        return f"{len(ours)} eigenvalues, expected {len(theirs)}"
    if (np.diff(ours) < 0).any():
        return "the eigenvalues do not ascend"
    error = np.abs(ours - theirs).max() / max(1.0, np.abs(theirs).max())
    return None if error <= LIMIT else f"off by {error:.2e}, limit {LIMIT:.0e}"


def spectrum(binary: str, graph: Path, flags: list[str], work: Path) -> np.ndarray | str:
    """Eigenvalues by `magnon spectrum --csv`, or what went wrong."""
    output = work / f"check-{threading.get_ident()}.csv"
    output.unlink(missing_ok=True)
    arguments = [binary, "spectrum", str(graph), *flags]
    arguments += ["--csv", str(output), "--quiet", "--threads", "1"]
    try:
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return f"no end after {TIMEOUT} seconds"
    if done.returncode != 0:
        return f"exit code {done.returncode}: {done.stderr.strip()}"
    lines = output.read_text().splitlines()
    output.unlink()
    if lines[0] != "index,eigenvalue":
        return f"the header is {lines[0]!r}"
    table = np.array([line.split(",") for line in lines[1:]], dtype=float)
    if (table[:, 0] != np.arange(len(table))).any():
        return "the indices are not 0, 1, 2, ..."
    return table[:, 1]


def checks(weights: sp.csr_matrix, name: str) -> list[tuple[list[str], Operator, slice]]:
    """Flags, config and the part of the spectrum that they ask for."""
    if name != LARGE:
        return [(operator.flags(), operator, slice(None)) for operator in all_operators()]
    parts = {
        ("smallest",): slice(0, COUNT),
        ("largest",): slice(weights.shape[0] - COUNT, None),
    }
    plain = Operator("1/4", self_loops=False, kind="laplacian")
    configs = [plain, replace(plain, charge="0"), replace(plain, normalize="none")]
    return [
        (config.flags() + ["--count", str(COUNT), "--which", *which], config, part)
        for config in configs
        for which, part in parts.items()
    ]


def check(binary: str, path: Path, work: Path, name: str, tally: Tally) -> None:
    """All checks of one graph."""
    weights = load(path).adjacency
    known: dict[Operator, np.ndarray] = {}

    def one(flags: list[str], operator: Operator, part: slice) -> str | None:
        ours = spectrum(binary, path, flags, work)
        if isinstance(ours, str):
            return f"{' '.join(flags)}: {ours}"
        if operator not in known:
            known[operator] = eigenvalues(operator, weights)
        problem = difference(ours, known[operator][part])
        return problem and f"{' '.join(flags)}: {problem}"

    tasks = checks(weights, name)
    with ThreadPoolExecutor(2) as pool:
        problems = list(pool.map(lambda task: one(*task), tasks))
    failures = [problem for problem in problems if problem]
    tally.graph(name, "spectra", len(tasks) - len(failures), failures)


def self_test() -> int:
    """Random walks against their symmetric twins, a cycle against its closed form, and faults."""
    tally = Tally()
    rng = np.random.default_rng(11)
    failures = []
    count = 0
    for _ in range(20):
        weights = sp.csr_matrix((rng.random((12, 12)) < 0.2) * rng.uniform(0.5, 2, (12, 12)))
        for charge in ("0", "1/5", "1/2"):
            walk = Operator(charge, normalize="rw", kind="laplacian")
            twin = replace(walk, normalize="sym")
            count += 1
            if difference(eigenvalues(walk, weights), eigenvalues(twin, weights)):
                failures.append(f"charge {charge}: the twins differ")
    cycle = sp.csr_matrix(np.roll(np.identity(9), 1, axis=1))
    exact = np.sort(1 - np.cos(2 * np.pi * (np.arange(9) / 9 - 0.2)))
    found = eigenvalues(Operator("1/5", self_loops=False, kind="laplacian"), cycle)
    faults = {
        "a cycle is off": difference(found, exact) is not None,
        "an error passes": difference(exact + 1e-8, exact) is None,
        "a missing value passes": difference(exact[1:], exact) is None,
        "a wrong order passes": difference(exact[::-1], exact[::-1]) is None,
    }
    failures += [text for text, wrong in faults.items() if wrong]
    count += len(faults)
    tally.graph("small graphs", "comparisons", count - len(failures), failures)
    return tally.end()


def main() -> int:
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("work", type=Path)
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--only", help="one graph instead of all")
    arguments = parser.parse_args()
    binary, tally = check_binary(arguments.binary), Tally()
    generated.write_all(arguments.work)
    for name in [arguments.only] if arguments.only else [*EVERY, LARGE]:
        if path := generated.find(name, arguments.work, arguments.data):
            check(binary, path, arguments.work, name, tally)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
