"""Graphs of other libraries as edges. Row = source, column = target."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ._arrays import as_array, compressed, is_frame, is_sparse, real
from ._progress import caution
from ._tables import choose_columns, numbered, read_table
from .errors import ArgumentError, DataError


class Edges(NamedTuple):
    """Edges as the compiled module takes them: compressed rows, or pairs."""

    nodes: int
    rows: bool
    first: npt.NDArray[Any]
    targets: npt.NDArray[Any]
    weights: npt.NDArray[np.float32] | None
    names: list[Any] | None


def edgeless(nodes: int) -> Edges:
    """A graph without edges, where none is given."""
    none = np.zeros(0, dtype=np.int64)
    return Edges(nodes, True, np.zeros(nodes + 1, dtype=np.int64), none, None, None)


class Columns(NamedTuple):
    """How edges are found where a graph leaves it open."""

    nodes: int | None = None
    source: str | None = None
    target: str | None = None
    weight: str | None = None


def read_graph(graph: Any, columns: Columns = Columns()) -> Edges:
    """Edges of a graph of any library. A weight of 0 is no edge."""
    return graph if isinstance(graph, Edges) else _without_zeros(_read(graph, columns))


def _read(graph: Any, columns: Columns) -> Edges:
    if is_frame(graph):
        return _table(graph, columns)
    if columns.source is not None or columns.target is not None:
        raise ArgumentError("source and target name columns of a table of edges; this graph is none")
    if hasattr(graph, "is_multigraph") and hasattr(graph, "adj"):
        return _networkx(graph, columns.weight)
    if type(graph).__module__.startswith("igraph"):
        return _igraph(graph, columns.weight)
    if hasattr(graph, "edge_index"):
        return _tensors(graph, columns)
    if len(getattr(graph, "edge_types", None) or getattr(graph, "etypes", None) or ()) > 1 or hasattr(graph, "node_types"):
        raise DataError(
            "the graph has several kinds of nodes or edges; make one kind of them with to_homogeneous(), or give the "
            "edges of one kind"
        )
    if hasattr(graph, "edges") and hasattr(graph, "num_nodes"):
        return _dgl(graph, columns.weight)
    if columns.weight is not None:
        raise ArgumentError("weight names a column or an attribute of edges; this graph is a matrix or pairs, which have none")
    if is_sparse(graph):
        return _sparse(graph)
    return _array(as_array(graph), columns.nodes, tensor=hasattr(graph, "__dlpack__") and hasattr(graph, "cpu"))


def _whole(array: npt.NDArray[Any], what: str) -> npt.NDArray[Any]:
    if array.dtype in (np.int32, np.int64) and array.dtype.isnative:
        return array
    if array.dtype.kind not in "iu" and array.size:
        raise DataError(f"{what} must be whole numbers, not {array.dtype}")
    if array.dtype == np.uint64 and array.size and array.max() > np.iinfo(np.int64).max:
        raise DataError(f"{what} hold a number of {array.max()}")
    return array.astype(np.int64)


def _weights(values: Any) -> npt.NDArray[np.float32]:
    given = real(np.asarray(values), "the weights")
    with np.errstate(over="ignore", under="ignore"):
        weights = given.astype(np.float32)
    lost = (weights == 0) & (given != 0)
    if lost.any():
        count = int(np.sum(lost)) - 1
        others = f" and {count} other{'' if count == 1 else 's'}" if count else ""
        caution(f"the weight {given[lost][0]:g}{others} taken as 0: smaller than any number of single precision (1.4e-45)")
    return weights


def _sparse(matrix: Any) -> Edges:
    rows = compressed(matrix)
    if rows.shape[0] != rows.shape[1]:
        raise DataError(f"a graph is a square matrix, not {rows.shape[0]} x {rows.shape[1]}")
    indptr, indices, values = rows.indptr, rows.indices, rows.data
    if len(indices) != len(values) or len(indptr) != rows.shape[0] + 1 or indptr[-1] != len(values):
        raise DataError("the arrays of the sparse matrix do not fit each other")
    indptr, indices = _whole(indptr, "row offsets"), _whole(indices, "columns")
    return Edges(rows.shape[0], True, indptr, indices, _weights(values), None)


def _without_zeros(edges: Edges) -> Edges:
    """A weight of 0 is no edge, whether a library stores it or not."""
    if edges.weights is None or bool(np.all(edges.weights != 0)):
        return edges
    kept = edges.weights != 0
    if len(edges.targets) != len(kept):
        return edges  # refused with the numbers of both
    if edges.rows and np.any((edges.first < 0) | (edges.first > len(kept))):
        raise DataError("the row offsets do not fit the entries")
    count = len(kept) - int(np.sum(kept))
    caution(f"{count} edge{'' if count == 1 else 's'} of weight 0 dropped: a weight of 0 is no edge")
    first = edges.first
    if edges.rows:
        first = np.concatenate([[0], np.cumsum(kept)])[first]
    elif len(first) == len(kept):
        first = first[kept]
    return edges._replace(first=first, targets=edges.targets[kept], weights=edges.weights[kept])


def no_weight(name: str, known: Any) -> DataError:
    """The edges have no attribute of this name."""
    names = ", ".join(sorted(map(str, known)))
    return DataError(f"weight is {name!r}, but no edge has this attribute; there {'is ' + names if names else 'is none'}")


def _networkx(graph: Any, weight: str | None) -> Edges:
    names = list(graph)
    place = {name: k for k, name in enumerate(names)}
    edges = list(graph.edges(data=weight or "weight", default=None))
    without = sum(w is None for _, _, w in edges)
    if weight is not None and without:
        if without == len(edges):
            raise no_weight(weight, {key for _, _, about in graph.edges(data=True) for key in about})
        caution(f"{without} of {len(edges)} edges have no {weight!r}; their weight is 1")
    sources = np.fromiter((place[u] for u, _, _ in edges), dtype=np.int64, count=len(edges))
    targets = np.fromiter((place[v] for _, v, _ in edges), dtype=np.int64, count=len(edges))
    weights = _weights([1 if w is None else w for _, _, w in edges])
    if not graph.is_directed():
        other = sources != targets
        sources, targets, weights = (
            np.concatenate([sources, targets[other]]),
            np.concatenate([targets, sources[other]]),
            np.concatenate([weights, weights[other]]),
        )
    plain = names == list(range(len(names)))
    return Edges(len(names), False, sources, targets, weights, None if plain else names)


def _igraph(graph: Any, weight: str | None) -> Edges:
    edges = np.asarray(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    known = graph.es.attributes()
    if weight is not None and weight not in known:
        raise no_weight(weight, known)
    weight = weight or "weight"
    weights = _weights(graph.es[weight]) if weight in known else None
    if not graph.is_directed():
        other = edges[:, 0] != edges[:, 1]
        weights = None if weights is None else np.concatenate([weights, weights[other]])
        edges = np.concatenate([edges, edges[other][:, ::-1]])
    names = list(graph.vs["name"]) if "name" in graph.vs.attributes() else None
    return Edges(graph.vcount(), False, edges[:, 0], edges[:, 1], weights, names)


def _tensors(data: Any, columns: Columns) -> Edges:
    """PyTorch Geometric's Data, or anything with an edge_index."""
    index = as_array(data.edge_index)
    if index.ndim != 2 or index.shape[0] != 2:
        raise DataError(f"edge_index is 2 x m, not {' x '.join(map(str, index.shape))}")
    weights = _attribute(data, columns.weight)
    nodes = columns.nodes if columns.nodes is not None else getattr(data, "num_nodes", None)
    nodes = int(nodes) if nodes is not None else _most(index)
    return Edges(nodes, False, _whole(index[0], "sources"), _whole(index[1], "targets"), weights, None)


def _attribute(data: Any, weight: str | None) -> npt.NDArray[np.float32] | None:
    """The weights of an edge_index: the attribute that is asked for, or ``edge_weight``."""
    known = [name for name in ("edge_weight", "edge_attr") if getattr(data, name, None) is not None]
    name = weight or "edge_weight"
    values = getattr(data, name, None)
    if values is None and weight is not None:
        raise no_weight(weight, known)
    if values is None:
        attributes = as_array(data.edge_attr) if known else None
        if attributes is not None and (attributes.ndim == 1 or attributes.shape[1:] == (1,)):
            caution("edge_attr is not read; take its one column as weights with weight='edge_attr'")
        return None
    array = as_array(values)
    if array.ndim > 2 or (array.ndim == 2 and array.shape[1] != 1):
        raise DataError(f"{name} is {' x '.join(map(str, array.shape))}; weights are one number per edge")
    return _weights(array.reshape(-1))


def _dgl(graph: Any, weight: str | None) -> Edges:
    sources, targets = (as_array(part) for part in graph.edges())
    if weight is not None and weight not in graph.edata:
        raise no_weight(weight, graph.edata)
    weights = None if weight is None else _weights(as_array(graph.edata[weight]).reshape(-1))
    nodes = int(graph.num_nodes())
    return Edges(nodes, False, _whole(sources, "sources"), _whole(targets, "targets"), weights, None)


def _table(table: Any, columns: Columns) -> Edges:
    found = read_table(table)
    source, target, weight = choose_columns(
        list(found), columns.source, columns.target, columns.weight
    )
    sources, targets, names = numbered(found, source, target, columns.nodes)
    nodes = columns.nodes if columns.nodes is not None else None
    if nodes is None:
        nodes = len(names) if names is not None else max(_most(sources), _most(targets))
    weights = _weights(found[weight]) if weight is not None else None
    return Edges(nodes, False, _whole(sources, source), _whole(targets, target), weights, names)


def _array(array: npt.NDArray[Any], nodes: int | None, tensor: bool) -> Edges:
    """Pairs of nodes by rows or by columns, or a square matrix of weights."""
    if array.ndim != 2:
        raise DataError(
            "a graph is a scipy matrix, a graph of networkx or igraph, a table of edges, or an array of "
            f"pairs, not an array of {array.ndim} dimension(s)"
        )
    if array.shape == (2, 2) and not tensor:
        raise DataError(
            "an array of 2 x 2 may hold two edges in its rows or in its columns; give a list of sources and "
            "one of targets as a scipy matrix, or a larger array"
        )
    if array.shape[0] == array.shape[1] and array.shape[0] > 2:
        sources, targets = np.nonzero(array)
        weights = _weights(array[sources, targets])
        return Edges(array.shape[0], False, sources, targets, weights, None)
    if array.shape[1] == 2 and not (tensor and array.shape[0] == 2):
        array = array.T
    if array.shape[0] != 2:
        shape = " x ".join(map(str, array.shape))
        raise DataError(f"pairs of nodes are an array of m x 2 or 2 x m, not {shape}")
    index = _whole(array, "pairs of nodes")
    count = nodes if nodes is not None else _most(index)
    return Edges(count, False, index[0], index[1], None, None)


def _most(numbers: npt.NDArray[Any]) -> int:
    return int(numbers.max()) + 1 if numbers.size else 0
