"""Compares what `magnon info --json` says about graphs with scipy and networkx.

    check_graph.py MAGNON_BINARY WORK_DIR [DATA_DIR] [--only GRAPH]
    check_graph.py --self-test

Without DATA_DIR, only generated graphs are checked.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

import networkx as nx
import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

import generated
from datasets import Graph, load
from tally import Tally, check_binary

GRAPHS = [
    generated.PLAIN,
    generated.WEIGHTED,
    generated.SIGNED,
    "texas",
    "cornell",
    "washington",
    "wisconsin",
    "corar",
    "pubmed",
    "corar/derived/adj_directed.npz",
    "pubmed/derived/adj_directed.npz",
    "geom_gcn_texas",
    "geom_gcn_wisconsin",
    "geom_gcn_squirrel/squirrel_filtered_directed.npz",
    "linqs/cora.tgz",
    "linqs/citeseer.tgz",
    "gnn_benchmark/cora.npz",
    "gnn_benchmark/citeseer.npz",
    "cora_ml/cora_ml.npz",
    "pygsd/blog.npz",
    "pygsd/migration.npz",
    "pygsd/bitcoin_alpha.csv",
    "large/wiki-Vote.txt",
    "large/p2p-Gnutella31.txt",
    "large/soc-Epinions1.txt.zip",
    "large/cnr-2000.graph-txt.gz",
]
# networkx keeps a dictionary entry an edge; larger graphs are left to scipy.
NETWORKX_EDGES = 200_000


def without_self_loops(adjacency: sp.csr_matrix) -> sp.csr_matrix:
    """A copy with an empty diagonal."""
    graph = sp.coo_matrix(adjacency)
    off = graph.row != graph.col
    return sp.csr_matrix((graph.data[off], (graph.row[off], graph.col[off])), graph.shape)


def structure_scipy(adjacency: sp.csr_matrix) -> dict:
    """Reciprocity, components and the like, by sparse matrices."""
    graph = without_self_loops(adjacency)
    ones = sp.csr_matrix((np.ones(graph.nnz), graph.indices, graph.indptr), graph.shape)
    weak, _ = connected_components(ones, connection="weak")
    strong, member = connected_components(ones, connection="strong")
    degree = np.asarray(ones.sum(axis=0)).ravel() + np.asarray(ones.sum(axis=1)).ravel()
    returned = ones.multiply(ones.T).nnz
    return {
        "reciprocity": returned / graph.nnz if graph.nnz else 0.0,
        "acyclic": strong == graph.shape[0],
        "weak_components": weak,
        "strong_components": strong,
        "largest_strong_component": int(np.bincount(member).max()),
        "isolated": int((degree == 0).sum()),
    }


def structure_networkx(adjacency: sp.csr_matrix) -> dict:
    """The same, by networkx."""
    graph = nx.from_scipy_sparse_array(without_self_loops(adjacency), create_using=nx.DiGraph)
    strong = [len(component) for component in nx.strongly_connected_components(graph)]
    return {
        "reciprocity": nx.overall_reciprocity(graph) if graph.number_of_edges() else 0.0,
        "acyclic": nx.is_directed_acyclic_graph(graph),
        "weak_components": nx.number_weakly_connected_components(graph),
        "strong_components": len(strong),
        "largest_strong_component": max(strong),
        "isolated": nx.number_of_isolates(graph),
    }


def homophily(adjacency: sp.csr_matrix, labels: np.ndarray) -> dict:
    """Both indices over the undirected pairs of labelled nodes; none where there is no pair."""
    graph = without_self_loops(adjacency)
    pairs = sp.coo_matrix(abs(graph) + abs(graph.T))
    known = (labels[pairs.row] >= 0) & (labels[pairs.col] >= 0)
    row, col = pairs.row[known], pairs.col[known]
    if len(row) == 0:
        return {"node_homophily": None, "edge_homophily": None}
    same = labels[row] == labels[col]
    count = np.bincount(row, minlength=len(labels))
    alike = np.bincount(row, weights=same, minlength=len(labels))
    met = count > 0
    return {
        "node_homophily": float((alike[met] / count[met]).mean()),
        "edge_homophily": float(same.mean()),
    }


def expected(graph: Graph) -> dict:
    """Everything that `info` is compared with."""
    adjacency = graph.adjacency
    single = without_self_loops(adjacency).astype(np.float32)
    small = adjacency.nnz <= NETWORKX_EDGES
    values = {
        "nodes": adjacency.shape[0],
        "edges": adjacency.nnz,
        "self_loops": int((adjacency.diagonal() != 0).sum()),
        "symmetric": (single != single.T).nnz == 0,
        **(structure_networkx(adjacency) if small else structure_scipy(adjacency)),
        "features": 0 if graph.features is None else graph.features.shape[1],
    }
    if graph.labels is None:
        return values | {
            "classes": 0,
            "class_sizes": [],
            "node_homophily": None,
            "edge_homophily": None,
        }
    sizes = np.bincount(graph.labels[graph.labels >= 0]).tolist()
    if graph.named_classes:
        sizes.sort()
    values |= {"classes": len(sizes), "class_sizes": sizes}
    return values | homophily(adjacency, graph.labels)


def difference(key: str, ours: object, theirs: object) -> str | None:
    """What is wrong with a value; counts of what is absent may be null or 0."""
    if key == "class_sizes":
        ours = list(ours.values()) if isinstance(ours, dict) else ours or []
    if key in ("features", "classes"):
        ours = ours or 0
    if isinstance(theirs, float) and isinstance(ours, int | float):
        agrees = abs(ours - theirs) <= 1e-9
    else:
        agrees = type(ours) is type(theirs) and ours == theirs
    return None if agrees else f"{key} is {ours}, expected {theirs}"


def check(binary: str, path: Path) -> tuple[int, list[str]]:
    """Number of values that agree, and what is said about the others."""
    done = subprocess.run([binary, "info", str(path), "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        return 0, [f"exit code {done.returncode}: {done.stderr.strip()}"]
    try:
        info = json.loads(done.stdout)
    except json.JSONDecodeError as error:
        return 0, [f"the output is not one JSON object: {error}"]
    graph = load(path)
    values = expected(graph)
    if graph.named_classes and isinstance(info.get("class_sizes"), list):
        info["class_sizes"].sort()
    optional = {"features", "classes", "class_sizes", "node_homophily", "edge_homophily"}
    failures = []
    for key, theirs in values.items():
        if key not in info and not (key in optional and not theirs):
            failures.append(f"{key} is missing")
        elif problem := difference(key, info.get(key), theirs):
            failures.append(problem)
    return len(values) - len(failures), failures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", nargs="?", metavar="MAGNON_BINARY")
    parser.add_argument("work", nargs="?", type=Path, metavar="WORK_DIR")
    parser.add_argument("data", nargs="?", type=Path, metavar="DATA_DIR")
    parser.add_argument("--only", action="append", metavar="GRAPH", help="check this graph only")
    parser.add_argument("--self-test", action="store_true", help="check the references alone")
    options = parser.parse_args()
    if options.self_test:
        from self_test import graph_measures

        return graph_measures()
    if options.work is None:
        parser.error("MAGNON_BINARY and WORK_DIR are needed")

    binary = check_binary(options.binary)
    generated.write_all(options.work)
    tally = Tally()
    for name in GRAPHS:
        path = generated.find(name, options.work, options.data)
        if path and (not options.only or name in options.only):
            passed, failures = check(binary, path)
            tally.graph(name, "values", passed, failures)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
