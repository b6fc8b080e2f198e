"""Times the Python package against the command line, scipy and networkx, in one run.

Usage: bench_python.py MAGNON [full|tiny]

MAGNON is the command of the same release; the package is the one that is installed. `tiny` shows that everything runs;
its figures mean nothing.
"""

import itertools
import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import networkx as nx
import numpy as np
import scipy.sparse as sp

import magnon


def best(call, repeats):
    """Seconds of the quickest of some calls."""

    def once():
        start = time.perf_counter()
        call()
        return time.perf_counter() - start

    return min(once() for _ in range(repeats))


def line(name, ours, theirs, wanted):
    print(f"{name:46} {ours:9.4f} s {theirs:9.4f} s   {theirs / ours:7.2f}   {wanted}")


def told(command, *words):
    done = subprocess.run([command, *words, "--json", "--quiet"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["seconds"]


def scipy_operator(a, charge):
    """The operator as one writes it with scipy."""
    both = a + a.T
    symmetric = a.maximum(a.T).tocsr()
    turn = (a - a.T).sign().tocsr() + 0 * both
    symmetric = symmetric + sp.eye_array(a.shape[0])
    degrees = np.asarray(symmetric.sum(axis=1)).ravel()
    scale = sp.dia_array((degrees**-0.5, 0), shape=a.shape)
    phase = symmetric.tocoo()
    turns = np.asarray(turn[phase.coords[0], phase.coords[1]]).ravel()
    phase.data = phase.data * np.exp(2j * np.pi * charge * turns)
    return scale @ phase.tocsr() @ scale


def operators(repeats, tiny):
    draw = np.random.default_rng(0)
    nodes, entries = (400, 4_000) if tiny else (400_000, 4_000_000)
    pairs = draw.integers(0, nodes, (2, entries))
    a = sp.csr_array((np.ones(entries), pairs), shape=(nodes, nodes))
    a.sum_duplicates()
    a.data[:] = 1
    a.setdiag(0)
    a.eliminate_zeros()
    theirs = best(lambda: scipy_operator(a, 0.2), 1)
    ours = best(lambda: magnon.magnetic_operator(a, charge=0.2, linear_operator=True), repeats)
    line(f"operator of {entries} entries, against scipy", ours, theirs, "≥ 5")
    matrix = best(lambda: magnon.magnetic_operator(a, charge=0.2), repeats)
    line("the same as a scipy matrix", matrix, theirs, "")


def cycles(repeats, tiny):
    network = nx.gnp_random_graph(40, 0.12, seed=3, directed=True)
    count = 100 if tiny else 100_000
    ours = best(lambda: sum(1 for _ in itertools.islice(magnon.simple_cycles(network), count)), repeats)
    theirs = best(lambda: sum(1 for _ in itertools.islice(nx.simple_cycles(network), count)), 1)
    line(f"{count} simple cycles, against networkx", ours, theirs, "≥ 25")


def against_the_command(command, repeats, tiny):
    name = "cyclic:nodes=60,columns=6,density=0.1" if tiny else "cyclic:nodes=20000,columns=256,density=0.002"
    epochs = 3 if tiny else 200
    data = magnon.load_dataset(name)

    def propagate():
        return magnon.propagate(data, charge="1/3", order=16, return_report=True)[1].seconds.propagate

    times = [(told(command, "propagate", name, "--charge", "1/3", "--order", "16")["propagate"], propagate()) for _ in range(repeats)]
    theirs, ours = (min(column) for column in zip(*times))
    line("propagate itself, against the command", ours, theirs, "≥ 0.95")
    whole = best(lambda: magnon.propagate(data, charge="1/3", order=16), repeats)
    parts = told(command, "propagate", name, "--charge", "1/3", "--order", "16")
    line("propagate as a call, against operator + propagate", whole, parts["operator"] + parts["propagate"], "≥ 0.95")

    words = {"charge": "1/3", "epochs": epochs, "patience": 1000}
    flags = ["--charge", "1/3", "--epochs", str(epochs), "--patience", "1000"]
    times = []
    for _ in range(repeats):
        parts = told(command, "train", name, *flags)
        rust = sum(parts[key] for key in ("operator", "propagate", "train"))
        times.append((rust, best(lambda: magnon.train(data, **words), 1)))
    theirs, ours = (min(column) for column in zip(*times))
    line("train, against the command", ours, theirs, "≥ 0.95")


def two_at_once(repeats, tiny):
    data = magnon.load_dataset("cyclic:nodes=60,columns=6,density=0.1" if tiny else "cyclic:nodes=6000,columns=128,density=0.003")
    epochs = 3 if tiny else 300
    fit = lambda _=None: magnon.train(data, charge="1/3", epochs=epochs, patience=1000, threads=1)  # noqa: E731
    alone = best(fit, repeats)

    def both():
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(fit, range(2)))

    line("two fits in two threads, against one after the other", best(both, repeats), 2 * alone, "≈ 2")


def main(command, size="full"):
    tiny = {"full": False, "tiny": True}[size]
    repeats = 1 if tiny else 3
    print(f"{'':46} {'ours':>11} {'theirs':>11}   {'ratio':>7}   wanted")
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import numpy"], check=True)
    bare = time.perf_counter() - start
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import magnon"], check=True)
    print(f"{'import, beside numpy':46} {time.perf_counter() - start - bare:9.4f} s {bare:9.4f} s             < 0.2 s")
    operators(repeats, tiny)
    cycles(repeats, tiny)
    against_the_command(command, repeats, tiny)
    two_at_once(repeats, tiny)


if __name__ == "__main__":
    main(*sys.argv[1:])
