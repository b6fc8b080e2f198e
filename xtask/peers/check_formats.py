"""Writes one graph in every format that people have, and compares what magnon reads with it.

    check_formats.py MAGNON_BINARY WORK_DIR
    check_formats.py --self-test

The files are written by networkx, pyarrow and Python's own csv and pickle modules. What is compared
is the operator of charge 1/4 (so every edge, its weight and its direction), the features as the
identity filter gives them, and the sizes of the classes.
"""

import argparse
import csv
import json
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import scipy.sparse as sp

from tally import Tally, check_binary

NODES, EDGES, COLUMNS = 40, 150, 3
CLASSES = ["blue", "green", "red"]


class Sample:
    """A random directed graph with weights, features and labels."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        names = [f"node {k:03d}" for k in random.permutation(NODES)]
        pairs = set()
        # Every node has an edge, so that edge lists know all of them.
        pairs.update((k, (k + 1) % NODES) for k in range(NODES))
        while len(pairs) < EDGES:
            u, v = random.integers(0, NODES, 2)
            if u != v:
                pairs.add((int(u), int(v)))
        self.edges = sorted(pairs, key=lambda pair: (pair[0] * 7 + pair[1] * 3) % 101)
        self.weights = random.integers(1, 20, len(self.edges)) / 4
        self.names = names
        self.features = random.integers(-50, 50, (NODES, COLUMNS)) / 8
        self.labels = [CLASSES[k] for k in random.integers(0, len(CLASSES), NODES)]

    def digraph(self) -> nx.DiGraph:
        """The same for networkx."""
        graph = nx.DiGraph()
        for k, name in enumerate(self.names):
            values = {f"f{c}": float(self.features[k, c]) for c in range(COLUMNS)}
            graph.add_node(name, **values, category=self.labels[k])
        for (u, v), weight in zip(self.edges, self.weights):
            graph.add_edge(self.names[u], self.names[v], weight=float(weight))
        return graph

    def in_edge_order(self) -> list[int]:
        """The nodes as they first appear in the edges."""
        return list(dict.fromkeys(k for edge in self.edges for k in edge))


def operator(sample: Sample, order: list[int], weighted: bool) -> np.ndarray:
    """The normalised magnetic operator of charge 1/4 from its definition, nodes in `order`."""
    adjacency = np.zeros((NODES, NODES))
    for (u, v), weight in zip(sample.edges, sample.weights):
        adjacency[u, v] = weight if weighted else 1.0
    both = np.maximum(adjacency, adjacency.T)
    looped = both + np.eye(NODES)
    phase = np.exp(0.5j * np.pi * np.sign(adjacency - adjacency.T))
    scale = 1 / np.sqrt(looped.sum(axis=1))
    s = scale[:, None] * looped * phase * scale[None, :]
    return s[np.ix_(order, order)]


def node_rows(sample: Sample) -> list[list]:
    """A table of nodes, in another order than that of the edges."""
    rows = [[name, *map(float, sample.features[k]), sample.labels[k]] for k, name in enumerate(sample.names)]
    return sorted(rows)


def write_text(sample: Sample, folder: Path, ending: str, separator: str) -> None:
    """Edges with columns to pass over, features and labels, as text."""
    folder.mkdir(exist_ok=True)
    names = sample.names

    def table(stem: str, rows: list[list]) -> None:
        with open(folder / f"{stem}.{ending}", "w", newline="") as out:
            csv.writer(out, delimiter=separator).writerows(rows)

    edges = [["timestamp", "receiver", "sender", "amount"]]
    for k, ((u, v), weight) in enumerate(zip(sample.edges, sample.weights)):
        edges.append([1_600_000_000 + k, names[v], names[u], weight])
    table("edges", edges)
    rows = node_rows(sample)
    table("features", [["id", *(f"f{c}" for c in range(COLUMNS))], *(row[:-1] for row in rows)])
    table("labels", [["id", "label"], *([row[0], row[-1]] for row in reversed(rows))])


def write_columns(sample: Sample, folder: Path, ending: str) -> None:
    """The same as Parquet or Feather, with the features as one column of lists."""
    folder.mkdir(exist_ok=True)
    names = sample.names
    edges = pa.table({
        "target": [names[v] for _, v in sample.edges],
        "source": [names[u] for u, _ in sample.edges],
        "weight": pa.array(sample.weights),
    })
    rows = node_rows(sample)
    nodes = pa.table({
        "id": [row[0] for row in rows],
        "embedding": pa.array([row[1:-1] for row in rows], pa.list_(pa.float32())),
        "label": pa.array([row[-1] for row in rows]).dictionary_encode(),
    })
    for stem, table in [("edges", edges), ("nodes", nodes)]:
        path = folder / f"{stem}.{ending}"
        if ending == "parquet":
            pa.parquet.write_table(table, path, compression="zstd")
        else:
            pa.feather.write_feather(table, path, compression="lz4")


def write_torch(sample: Sample, path: Path) -> None:
    """A dictionary of tensors as PyTorch keeps it: a pickle that names what lies beside it."""
    storages: list[bytes] = []

    def tensor(array: np.ndarray, kind: str) -> bytes:
        key = str(len(storages))
        storages.append(np.ascontiguousarray(array).tobytes())
        storage = b"(" + text("storage") + b"ctorch\n" + kind.encode() + b"\n" + text(key)
        storage += text("cpu") + number(array.size) + b"tQ"
        shape = b"(" + b"".join(map(number, array.shape)) + b"t"
        steps = [stride // array.itemsize for stride in np.ascontiguousarray(array).strides]
        strides = b"(" + b"".join(map(number, steps)) + b"t"
        return (
            b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + number(0) + shape + strides
            + b"\x89" + b"ccollections\nOrderedDict\n)R" + b"tR"
        )

    def text(word: str) -> bytes:
        return b"X" + len(word).to_bytes(4, "little") + word.encode()

    def number(value: int) -> bytes:
        return b"J" + value.to_bytes(4, "little")

    fields = {
        "edge_index": tensor(np.array(sample.edges).T, "LongStorage"),
        "edge_weight": tensor(sample.weights, "DoubleStorage"),
        "x": tensor(sample.features.astype(np.float32), "FloatStorage"),
        "y": tensor(np.array([CLASSES.index(label) for label in sample.labels]), "LongStorage"),
    }
    code = b"\x80\x02}(" + b"".join(text(name) + value for name, value in fields.items()) + b"u."
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("archive/data.pkl", code)
        for key, storage in enumerate(storages):
            archive.writestr(f"archive/data/{key}", storage)


def cases(sample: Sample, work: Path) -> list[tuple[Path, list[int], bool, bool]]:
    """Each file or folder, the order of its nodes, and whether it has weights and features."""
    graph, as_named, as_met = sample.digraph(), list(range(NODES)), sample.in_edge_order()
    nx.write_graphml(graph, work / "g.graphml")
    nx.write_gexf(graph, work / "g.gexf")
    nx.write_gml(graph, work / "g.gml")
    (work / "g.json").write_text(json.dumps(nx.node_link_data(graph, edges="links")))
    bare = nx.relabel_nodes(graph, {name: name.replace(" ", "-") for name in graph})
    nx.write_adjlist(bare, work / "g.adjlist")
    adjacent = list(dict.fromkeys(
        node for source in bare for node in (source, *bare.successors(source))
    ))
    places = {name.replace(" ", "-"): k for k, name in enumerate(sample.names)}
    write_torch(sample, work / "g.pt")
    arrays = {
        "edge_index": np.array(sample.edges).T,
        "edge_weight": sample.weights,
        "x": sample.features,
        "y": np.array([CLASSES.index(label) for label in sample.labels]),
    }
    (work / "g.pkl").write_bytes(pickle.dumps(arrays))
    write_text(sample, work / "csv", "csv", ",")
    write_text(sample, work / "semicolons", "csv", ";")
    write_text(sample, work / "tsv", "tsv", "\t")
    write_columns(sample, work / "parquet", "parquet")
    write_columns(sample, work / "feather", "feather")
    found = [(work / f"g.{ending}", as_named, True, True) for ending in ["graphml", "gexf", "gml", "json", "pt", "pkl"]]
    found.append((work / "g.adjlist", [places[name] for name in adjacent], False, False))
    found += [(work / name, as_met, True, True) for name in ["csv", "semicolons", "tsv", "parquet", "feather"]]
    return found


def check(magnon: str, path: Path, sample: Sample, order: list[int], weighted: bool, rich: bool,
          work: Path) -> tuple[int, list[str]]:
    """Number of checks that passed, and what failed."""
    def call(*arguments: object) -> dict:
        line = [magnon, *map(str, arguments), "--json", "--quiet"]
        done = subprocess.run(line, capture_output=True, text=True, timeout=60)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(line)}: {done.stderr.strip()}")
        return json.loads(done.stdout)

    failures, passed = [], 0

    def hold(truth: bool, words: str) -> None:
        nonlocal passed
        passed += truth
        if not truth:
            failures.append(words)

    output = work / "operator.npz"
    call("operator", path, "--charge", "1/4", "-o", output)
    found = sp.load_npz(output).toarray()
    hold(np.abs(found - operator(sample, order, weighted)).max() < 1e-6, "the operator differs")
    if rich:
        output = work / "features.npy"
        call("propagate", path, "--charge", "0", "--feature-norm", "none", "--filter", "polynomial",
             "--coefficients", "1", "-o", output)
        hold(np.abs(np.load(output) - sample.features[order]).max() < 1e-6, "the features differ")
        info = call("info", path)
        counts = [sample.labels.count(name) for name in CLASSES]
        hold(info["class_sizes"] == counts, f"classes {info['class_sizes']}, not {counts}")
    return passed, failures


def self_test() -> None:
    """The operator of a 3-cycle, by hand."""
    global NODES
    kept, NODES = NODES, 3
    sample = Sample.__new__(Sample)
    sample.edges, sample.weights = [(0, 1), (1, 2), (2, 0)], np.ones(3)
    s = operator(sample, [0, 1, 2], True)
    NODES = kept
    assert np.allclose(np.diag(s), 1 / 3) and np.isclose(s[0, 1], 1j / 3) and np.isclose(s[1, 0], -1j / 3)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("magnon", nargs="?")
    parser.add_argument("work", nargs="?", type=Path)
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        self_test()
        return 0
    magnon, tally = check_binary(arguments.magnon), Tally()
    work = arguments.work / "formats"
    work.mkdir(parents=True, exist_ok=True)
    sample = Sample(7)
    for path, order, weighted, rich in cases(sample, work):
        passed, failures = check(magnon, path, sample, order, weighted, rich, work)
        tally.graph(path.name, "claims", passed, failures)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
