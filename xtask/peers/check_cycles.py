"""Compares what `magnon cycles --json` says about directed cycles with networkx.

    check_cycles.py MAGNON_BINARY WORK_DIR [DATA_DIR]
    check_cycles.py --self-test

Without DATA_DIR, only generated graphs are checked.
"""

import argparse
import csv
import itertools
import json
import math
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import networkx as nx
import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from datasets import load
from tally import Tally, check_binary

WEBKB = ["cornell", "texas", "washington", "wisconsin"]
LARGE = [
    "large/wiki-Vote.txt",
    "large/p2p-Gnutella31.txt",
    "large/soc-Epinions1.txt.zip",
    "large/cnr-2000.graph-txt.gz",
]
UNION = 3000
SEPARATE = 60
TIMEOUT = 240

Cycle = tuple[int, ...]
Edge = tuple[int, int]
Checks = tuple[int, list[str]]
"""Number of checks that passed, and what is said about the others."""


class Magnon:
    """The program under test."""

    def __init__(self, binary: str, work: Path) -> None:
        self.binary, self.work = binary, work

    def cycles(self, graph: Path, *flags: object) -> dict:
        """`magnon cycles`, as it prints it."""
        arguments = [self.binary, "cycles", str(graph), "--json", *map(str, flags)]
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=TIMEOUT)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(arguments)}: {done.stderr.strip()}")
        return json.loads(done.stdout)

    def listed(self, graph: Path, *flags: object) -> tuple[list[Cycle], dict]:
        """The cycles in the order in which they are written, and what is printed."""
        path = self.work / "cycles.csv"
        path.unlink(missing_ok=True)
        printed = self.cycles(graph, "--enumerate", "--csv", path, *flags)
        with path.open() as file:
            rows = list(csv.DictReader(file))
        cycles = [tuple(map(int, row["nodes"].split())) for row in rows]
        if [int(row["length"]) for row in rows] != [len(cycle) for cycle in cycles]:
            raise SystemExit(f"{path}: lengths are not the numbers of nodes")
        return cycles, printed


def verdict(failures: list[str], checks: int) -> Checks:
    """The result of `checks` checks, of which some failed."""
    return checks - len(failures), failures


def digraph(nodes: int, edges: Iterable[Edge]) -> nx.DiGraph:
    """The graph without self loops, repeated edges once."""
    graph = nx.DiGraph()
    graph.add_nodes_from(range(nodes))
    graph.add_edges_from((u, v) for u, v in edges if u != v)
    return graph


def all_cycles(graph: nx.DiGraph) -> list[Cycle]:
    """All cycles, each from its smallest node on."""
    return [from_smallest(cycle) for cycle in nx.simple_cycles(graph)]


def from_smallest(cycle: list[int]) -> Cycle:
    """The same cycle, its smallest node first."""
    start = cycle.index(min(cycle))
    return (*cycle[start:], *cycle[:start])


def by_length(cycles: Iterable[Cycle]) -> dict[str, int]:
    """Number of cycles by length, as JSON would have it."""
    return {str(length): count for length, count in Counter(map(len, cycles)).items()}


def random_edges(rng: np.random.Generator, nodes: int) -> list[Edge]:
    """Edges of a random digraph: with repeated edges, self loops and isolated nodes by chance."""
    density = rng.choice([0.05, 0.15, 0.25, 0.4, 0.9 if nodes <= 5 else 0.5])
    edges = list(zip(*np.nonzero(rng.random((nodes, nodes)) < density)))
    edges += [edge for edge in edges if rng.random() < 0.1]
    return [(int(u), int(v)) for u, v in rng.permutation(edges)] if edges else []


def special_edges(rng: np.random.Generator, nodes: int, shape: str) -> list[Edge]:
    """The same, of a kind that chance rarely makes."""
    edges = random_edges(rng, nodes)
    if shape == "acyclic":
        return [(min(edge), max(edge)) for edge in edges]
    if shape == "symmetric":
        return edges + [(v, u) for u, v in edges]
    if shape == "periodic":
        return [(u, v) for u, v in itertools.product(range(nodes), repeat=2) if (v - u) % 4 == 1]
    return edges


def flux_divisor(weights: dict[Edge, float], nodes: int) -> int | None:
    """Greatest common divisor of the net fluxes of a cycle basis; none where one is not whole."""
    graph = nx.Graph()
    graph.add_nodes_from(range(nodes))
    graph.add_edges_from((u, v) for u, v in weights if u != v)
    divisor = 0
    for cycle in nx.cycle_basis(graph):
        steps = zip(cycle, cycle[1:] + cycle[:1])
        # An edge is turned by its direction, whatever its weight.
        ends = [(weights.get((u, v), 0), weights.get((v, u), 0)) for u, v in steps]
        flux = sum(int(out > back) - int(out < back) for out, back in ends)
        if flux != round(flux):
            return None
        divisor = math.gcd(divisor, round(flux))
    return divisor


def is_cycle(adjacency: sp.csr_matrix, cycle: list[int]) -> bool:
    """Whether all nodes differ and every edge is there."""
    if len(cycle) < 2 or len(set(cycle)) != len(cycle):
        return False
    return all(adjacency[u, v] != 0 for u, v in zip(cycle, cycle[1:] + cycle[:1]))


def lengths_by_chance(
    adjacency: sp.csr_matrix, longest: int, walks: int, rng: np.random.Generator
) -> set[int]:
    """Lengths of cycles that random paths in the largest strong component close."""
    _, member = connected_components(adjacency, connection="strong")
    inside = np.flatnonzero(member == np.bincount(member).argmax())
    graph = sp.csr_matrix(adjacency[inside][:, inside])
    successors = np.split(graph.indices, graph.indptr[1:-1])
    found: set[int] = set()
    for start in rng.integers(len(inside), size=walks):
        position = {int(start): 0}
        node = int(start)
        while len(position) <= 3 * longest:
            near = successors[node].tolist()
            found |= {len(position) - position[v] for v in near if v in position}
            fresh = [v for v in near if v not in position]
            if not fresh:
                break
            node = fresh[rng.integers(len(fresh))]
            position[node] = len(position)
    return {length for length in found if 2 <= length <= longest}


def check_counts(magnon: Magnon, path: Path) -> Checks:
    """Counts by length of a graph whose cycles are few."""
    adjacency = sp.coo_matrix(load(path).adjacency)
    cycles = all_cycles(digraph(adjacency.shape[0], zip(adjacency.row, adjacency.col)))
    printed = magnon.cycles(path, "--enumerate")
    failures = []
    if printed["counts"] != by_length(cycles) or printed["complete"] is not True:
        failures.append(f"counts are {printed['counts']}, expected {by_length(cycles)}")
    return verdict(failures, 1)


def check_union(magnon: Magnon) -> Checks:
    """Cycles of many small digraphs that are one graph of many components."""
    rng = np.random.default_rng(11)
    edges: list[Edge] = []
    expected: list[Cycle] = []
    nodes = 0
    for size in rng.integers(1, 10, UNION).tolist():
        part = random_edges(rng, size)
        edges += [(nodes + u, nodes + v) for u, v in part]
        cycles = all_cycles(digraph(size, part))
        expected += [tuple(nodes + u for u in cycle) for cycle in cycles]
        nodes += size
    path = magnon.work / "union.csv"
    path.write_text("".join(f"{u},{v}\n" for u, v in edges))

    failures = []
    checks = 0
    complete: list[Cycle] = []
    # The bounded search of networkx loses cycles, so what it finds without a bound is filtered.
    for bound in (None, 2, 3, 4, 5, 6):
        flags = ["--nodes", nodes] + ([] if bound is None else ["--max-length", bound])
        theirs = [cycle for cycle in expected if bound is None or len(cycle) <= bound]
        ours, printed = magnon.listed(path, *flags)
        complete = complete or ours
        name = "all lengths" if bound is None else f"lengths up to {bound}"
        missing, strange = set(theirs) - set(ours), set(ours) - set(theirs)
        if missing or strange:
            examples = [*sorted(missing)[:1], *sorted(strange)[:1]]
            failures.append(f"{name}: {len(missing)} lost, {len(strange)} invented: {examples}")
        if len(set(ours)) != len(ours):
            failures.append(f"{name}: {len(ours) - len(set(ours))} come more than once")
        if [cycle[0] for cycle in ours] != sorted(cycle[0] for cycle in ours):
            failures.append(f"{name}: not in the order of the smallest nodes")
        for threads in (1, 2):
            counted = magnon.cycles(path, "--enumerate", "--threads", threads, *flags)
            if not printed["counts"] == counted["counts"] == by_length(theirs):
                failures.append(f"{name}: counts on {threads} threads differ")
            failures += wrong_lengths(counted, {len(cycle) for cycle in expected})
        checks += 3 + 2 * (1 + len(printed["lengths"]))
    first, printed = magnon.listed(path, "--nodes", nodes, "--limit", 1000)
    if first != complete[:1000] or printed["complete"] is not False:
        failures.append("the first thousand cycles are not the first of all")
    path.unlink()
    return verdict(failures, checks + 1)


def wrong_lengths(printed: dict, lengths: set[int]) -> list[str]:
    """What `lengths` says that is not so, on a graph that is small enough for every answer."""
    return [
        f"length {answer['length']}: exists is {answer['exists']} by {answer['evidence']}"
        for answer in printed["lengths"]
        if answer["exists"] is not (answer["length"] in lengths)
    ]


def wrong_witnesses(printed: dict, adjacency: sp.csr_matrix) -> list[str]:
    """Lengths that are said to exist without a cycle to show for it."""
    failures = []
    for answer in printed["lengths"]:
        length, witness = answer["length"], answer["witness"]
        if answer["exists"] is not True:
            if witness is not None:
                failures.append(f"length {length}: a witness of what does not exist")
        elif not witness or len(witness) != length or not is_cycle(adjacency, witness):
            failures.append(f"length {length}: the witness {witness} is no such cycle")
    return failures


def check_separate(magnon: Magnon) -> Checks:
    """Lengths, symmetry and flux of small digraphs, one at a time."""
    rng = np.random.default_rng(23)
    failures = []
    checks = 0
    for i in range(SEPARATE):
        nodes = int(rng.integers(1, 13))
        shape = ("any", "acyclic", "any", "symmetric", "periodic")[i % 5]
        edges = special_edges(rng, nodes, shape)
        # No weights, whole ones, and halves; repeated edges add up where there are weights.
        unit = (None, 1.0, None, 0.5)[i % 4]
        values = [1.0 if unit is None else unit * rng.integers(1, 4) for _ in edges]
        weights: dict[Edge, float] = {}
        for edge, value in zip(edges, values):
            weights[edge] = value if unit is None else weights.get(edge, 0) + value
        # Nodes are the ids that occur, ascending, unless their number is given.
        names = range(nodes)
        flags = ["--nodes", nodes]
        if i % 3 == 0 and edges:
            used = sorted({u for edge in edges for u in edge})
            weights = {(used.index(u), used.index(v)): w for (u, v), w in weights.items()}
            names, nodes, flags = [5 * u + 3 for u in names], len(used), []
        path = magnon.work / "separate.csv"
        end = lambda value: "" if unit is None else f",{value}"
        rows = [f"{names[u]},{names[v]}{end(w)}\n" for (u, v), w in zip(edges, values)]
        path.write_text("".join(rows))

        printed = magnon.cycles(path, "--max-length", 14, *flags)
        dense = np.zeros((nodes, nodes))
        for (u, v), value in weights.items():
            dense[u, v] = value if u != v else 0
        cycles = all_cycles(digraph(nodes, weights))
        divisor = flux_divisor(weights, nodes)
        expected = {
            "nodes": nodes,
            "acyclic": not cycles,
            "symmetric": bool((dense == dense.T).all()),
            "flux_free": divisor == 0,
            "flux_divisor": divisor,
        }
        problems = [
            f"{key} is {printed[key]}, expected {value}"
            for key, value in expected.items()
            if printed[key] != value
        ]
        problems += wrong_lengths(printed, {len(cycle) for cycle in cycles})
        problems += wrong_witnesses(printed, sp.csr_matrix(dense))
        failures += [f"digraph {i}, {shape}, edges {rows}: {problem}" for problem in problems]
        checks += len(expected) + 2 * len(printed["lengths"])
        path.unlink()
    return verdict(failures, checks)


def check_large(magnon: Magnon, path: Path) -> tuple[Checks, str]:
    """Witnesses, and no length ruled out that chance finds."""
    printed = magnon.cycles(path)
    adjacency = load(path).adjacency
    failures = wrong_witnesses(printed, adjacency)
    found = lengths_by_chance(adjacency, 20, 300, np.random.default_rng(5))
    answers = {answer["length"]: answer["exists"] for answer in printed["lengths"]}
    failures += [
        f"length {length} is ruled out, and yet there is such a cycle"
        for length in sorted(found)
        if answers[length] is False
    ]
    said = Counter(answers.values())
    note = f": {said[True]} exist, {said[False]} do not, {said[None]} undecided"
    return verdict(failures, 2 * len(answers)), f"{note}; chance finds {len(found)}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", nargs="?", metavar="MAGNON_BINARY")
    parser.add_argument("work", nargs="?", type=Path, metavar="WORK_DIR")
    parser.add_argument("data", nargs="?", type=Path, metavar="DATA_DIR")
    parser.add_argument("--self-test", action="store_true", help="check the references alone")
    options = parser.parse_args()
    if options.self_test:
        from self_test import cycle_measures

        return cycle_measures()
    if options.work is None:
        parser.error("MAGNON_BINARY and WORK_DIR are needed")

    options.work.mkdir(parents=True, exist_ok=True)
    magnon = Magnon(check_binary(options.binary), options.work)
    tally = Tally()
    for name in WEBKB if options.data else []:
        tally.graph(name, "table of counts", *check_counts(magnon, options.data / name))
    tally.graph(f"{UNION} small digraphs", "cycle lists and counts", *check_union(magnon))
    tally.graph(f"{SEPARATE} small digraphs", "answers", *check_separate(magnon))
    for name in LARGE if options.data else []:
        checks, note = check_large(magnon, options.data / name)
        tally.graph(name, "answers", *checks, note)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
