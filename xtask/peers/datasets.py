"""Readers of the test data, written with scipy and numpy alone."""

import gzip
import io
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp


@dataclass
class Graph:
    """A directed graph with what is known about its nodes."""

    adjacency: sp.csr_matrix
    """A(u, v) = weight of u -> v, float64, self loops included."""
    features: np.ndarray | None = None
    labels: np.ndarray | None = None
    """Class of each node, -1 where there is none."""
    named_classes: bool = False
    """Whether classes have names in the file, so that their order is free."""


def load(path: Path) -> Graph:
    """Reads a folder or a file, by what it holds."""
    name = path.name
    if path.is_dir():
        if (path / "adj.npz").exists():
            return read_folder(path)
        return read_geom_gcn(path)
    if name.endswith(".tgz"):
        return read_linqs(path)
    if name.endswith(".graph-txt.gz"):
        return read_webgraph(path)
    if name.endswith(".npz"):
        return read_npz(path)
    return read_edge_list(path)


def row_normalised(features: np.ndarray) -> np.ndarray:
    """Rows divided by their sums where all features are counts, features as they are otherwise."""
    if (features < 0).any() or (features != np.floor(features)).any():
        return features
    sums = features.sum(axis=1, keepdims=True)
    return features / np.where(sums == 0, 1, sums)


def from_edges(
    source: np.ndarray, target: np.ndarray, nodes: int, weights: np.ndarray | None = None
) -> sp.csr_matrix:
    """Adjacency of an edge list; a repeated edge without a weight counts once."""
    data = np.ones(len(source)) if weights is None else weights.astype(float)
    adjacency = sp.coo_matrix((data, (source, target)), shape=(nodes, nodes)).tocsr()
    adjacency.sum_duplicates()
    if weights is None:
        adjacency.data[:] = 1
    return adjacency


def canonical(matrix: sp.spmatrix) -> sp.csr_matrix:
    """A float64 CSR copy without duplicates and stored zeros."""
    matrix = sp.csr_matrix(matrix, dtype=float, copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def read_folder(path: Path) -> Graph:
    """`adj.npz`, `features.npz` or `derived/features.npy`, `labels.csv`."""
    adjacency = canonical(sp.load_npz(path / "adj.npz"))
    features = None
    if (path / "features.npz").exists():
        features = sp.load_npz(path / "features.npz").toarray().astype(float)
    elif (path / "derived" / "features.npy").exists():
        features = np.load(path / "derived" / "features.npy")
    labels = np.loadtxt(path / "labels.csv", dtype=int)
    return Graph(adjacency, features, labels)


def read_geom_gcn(path: Path) -> Graph:
    """Geom-GCN text. The two ends of a line are target and source, in this order."""
    ends = np.loadtxt(path / "out1_graph_edges.txt", dtype=int, skiprows=1)
    rows = (path / "out1_node_feature_label.txt").read_text().splitlines()[1:]
    features: dict[int, list[int]] = {}
    labels: dict[int, int] = {}
    for row in rows:
        node, values, label = row.split("\t")
        features[int(node)] = [int(value) for value in values.split(",")]
        labels[int(node)] = int(label)
    nodes = len(rows)
    return Graph(
        from_edges(ends[:, 1], ends[:, 0], nodes),
        np.array([features[node] for node in range(nodes)], dtype=float),
        np.array([labels[node] for node in range(nodes)]),
    )


def read_linqs(path: Path) -> Graph:
    """LINQS archive. A line `cited citing` of `.cites` is the edge citing -> cited."""
    with tarfile.open(path) as archive:
        members = {
            Path(member.name).suffix: archive.extractfile(member).read().decode()
            for member in archive
            if member.name.endswith((".content", ".cites"))
        }
    rows = [line.split() for line in members[".content"].splitlines()]
    number = {row[0]: node for node, row in enumerate(rows)}
    edges = [line.split() for line in members[".cites"].splitlines()]
    known = [(number[b], number[a]) for a, b in edges if a in number and b in number]
    source, target = np.array(known).T
    classes = sorted({row[-1] for row in rows})
    return Graph(
        from_edges(source, target, len(rows)),
        np.array([row[1:-1] for row in rows], dtype=float),
        np.array([classes.index(row[-1]) for row in rows]),
        named_classes=True,
    )


def read_npz(path: Path) -> Graph:
    """A bare scipy matrix, or one of the archives that hold a graph with its features."""
    with np.load(path) as archive:
        keys = set(archive.files)
        if "adj_data" in keys:
            # Rows are cited papers, columns citing ones: turned here.
            adjacency = canonical(member_matrix(archive, "adj_").T)
            features = member_matrix(archive, "attr_").toarray().astype(float)
            return Graph(adjacency, features, archive["labels"].astype(int))
        if "adj_matrix.data" in keys:
            adjacency = canonical(member_matrix(archive, "adj_matrix."))
            features = member_matrix(archive, "attr_matrix.").toarray().astype(float)
            return Graph(adjacency, features, archive["labels"].astype(int))
        if "edges" in keys:
            source, target = archive["edges"].T
            labels = archive["node_labels"].astype(int)
            adjacency = from_edges(source, target, len(labels))
            return Graph(adjacency, archive["node_features"].astype(float), labels)
    return Graph(canonical(sp.load_npz(path)))


def member_matrix(archive: np.lib.npyio.NpzFile, prefix: str) -> sp.csr_matrix:
    """The CSR matrix whose arrays are the members `prefix` + data, indices, indptr, shape."""
    data, indices, indptr, shape = (
        archive[prefix + part] for part in ("data", "indices", "indptr", "shape")
    )
    return sp.csr_matrix((data, indices, indptr), shape=tuple(shape))


def read_webgraph(path: Path) -> Graph:
    """WebGraph ASCII: the number of nodes, then the successors of one node a line."""
    with gzip.open(path, "rt") as file:
        nodes = int(next(file))
        successors = [np.array(line.split(), dtype=np.int64) for line in file]
    successors = successors[:nodes]
    source = np.repeat(np.arange(len(successors)), [len(row) for row in successors])
    return Graph(from_edges(source, np.concatenate(successors), nodes))


def read_edge_list(path: Path) -> Graph:
    """`source target [weight]` a line, plain or zipped; nodes are the ids that occur, ascending."""
    text = path.read_bytes()
    if zipfile.is_zipfile(io.BytesIO(text)):
        with zipfile.ZipFile(path) as archive:
            text = archive.read(archive.namelist()[0])
    lines = text.decode().replace(",", " ").splitlines()
    table = np.loadtxt([line for line in lines if not line.startswith("#")], ndmin=2)
    ids, ends = np.unique(table[:, :2], return_inverse=True)
    source, target = ends.reshape(-1, 2).T
    weights = table[:, 2] if table.shape[1] > 2 else None
    return Graph(from_edges(source, target, len(ids), weights))
