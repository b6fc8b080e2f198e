"""One graph from many libraries is one graph."""

import types

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import magnon
from magnon.errors import DataError

FORMATS = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]


def same(first, second):
    """Whether two data sets have the same graph."""
    one, other = magnon.as_dataset(first).graph, magnon.as_dataset(second).graph
    return one.shape == other.shape and (one != other).nnz == 0


@pytest.fixture
def edges(graph):
    matrix = graph.tocoo()
    return matrix.row, matrix.col, matrix.data


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("make", [sp.csr_array, sp.csr_matrix])
def test_scipy(graph, form, make):
    assert same(make(graph).asformat(form), graph)


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_index_width(graph, kind):
    other = sp.csr_array(graph)
    other.indices, other.indptr = other.indices.astype(kind), other.indptr.astype(kind)
    assert same(other, graph)


def test_unsorted_rows_stay_as_they_are(graph):
    columns = graph.indices[::-1].copy()
    rows = sp.csr_array((graph.data[::-1].copy(), columns, len(columns) - graph.indptr[::-1]), shape=graph.shape)
    before = rows.indices.copy()
    assert same(rows[::-1], graph)
    assert np.array_equal(rows.indices, before)


def test_zeros_that_are_stored_are_no_edges(graph):
    stored = graph.copy()
    stored.data[:5] = 0
    without = stored.copy()
    without.eliminate_zeros()
    assert same(stored, without)


def test_arrays():
    pairs = np.array([[0, 1], [1, 2], [2, 0], [3, 1]])
    expected = sp.coo_array((np.ones(4), pairs.T), shape=(4, 4))
    for kind in (np.int8, np.uint16, np.int32, np.uint32, np.int64, ">i8"):
        assert same(pairs.astype(kind), expected)
    assert same(np.asfortranarray(pairs), expected)
    assert same(pairs.T, expected)
    assert same(np.repeat(pairs, 2, axis=0)[::2], expected)
    assert same(expected.toarray(), expected)
    with pytest.raises(DataError, match="2 x 2"):
        magnon.as_dataset(np.array([[0, 1], [1, 0]]))


def test_networkx_keeps_names_and_weights(graph, edges):
    network = nx.from_scipy_sparse_array(graph, create_using=nx.DiGraph)
    named = nx.relabel_nodes(network, {k: f"node {39 - k}" for k in range(40)})
    data = magnon.as_dataset(named)
    assert data.node_names == list(named)
    expected = nx.to_scipy_sparse_array(named, nodelist=data.node_names, dtype=np.float32)
    assert (data.graph != expected).nnz == 0
    cycle = next(magnon.simple_cycles(named, max_length=3))
    assert all(named.has_edge(u, v) for u, v in zip(cycle, cycle[1:] + cycle[:1]))
    for u, v, weight in zip(*edges):
        network[u][v]["cost"] = 2 * weight
    doubled = magnon.as_dataset(network, weight="cost").graph
    assert abs(doubled - 2 * graph).max() == 0
    undirected = magnon.as_dataset(network.to_undirected()).graph
    assert abs(undirected - undirected.T).max() == 0


def test_igraph(graph, edges):
    rows, columns, weights = edges
    other = igraph.Graph(n=40, edges=list(zip(rows.tolist(), columns.tolist())), directed=True)
    other.es["weight"] = weights.tolist()
    assert same(other, graph)
    other.vs["name"] = [f"v{k}" for k in range(40)]
    assert magnon.as_dataset(other).node_names[3] == "v3"


def test_edge_index_object(graph, edges):
    """What PyTorch Geometric's Data looks like, with numpy's own DLPack in place of torch's."""
    rows, columns, weights = edges
    index = np.stack([rows, columns]).astype(np.int64)
    mask = np.arange(40) < 20
    data = types.SimpleNamespace(
        edge_index=index, edge_weight=weights, num_nodes=40, x=np.eye(40), y=np.arange(40) % 3, train_mask=mask,
        val_mask=~mask & (np.arange(40) < 30),
    )
    found = magnon.as_dataset(data)
    assert same(found, graph)
    assert found.features.shape == (40, 40)
    assert [len(part) for part in found.splits[0]] == [20, 10, 10]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_tables(graph, edges, make):
    rows, columns, weights = edges
    numbers = make({"source": rows, "target": columns, "weight": weights})
    assert same(numbers, graph)
    other_words = make({"w": weights, "to": columns, "from": rows})
    assert same(other_words, graph)
    names = np.array([f"n{k:02}" for k in range(40)])
    named = magnon.as_dataset(make({"a": names[rows].tolist(), "b": names[columns].tolist()}), unweighted=True)
    present = np.unique(np.concatenate([rows, columns]))
    assert named.node_names == names[present].tolist()
    assert abs(named.graph - (graph[present][:, present] > 0)).max() == 0


def test_missing_values_in_tables_are_named():
    with pytest.raises(DataError, match="target"):
        magnon.as_dataset(pl.DataFrame({"source": [0, 1], "target": [1, None]}))


@pytest.mark.parametrize(
    "turn",
    [
        np.asfortranarray,
        lambda x: x.astype(np.float32),
        lambda x: np.repeat(x, 2, axis=0)[::2],
        lambda x: x[::-1][::-1],
        lambda x: x.astype(">f8"),
        sp.csr_matrix,
        sp.coo_array,
        pd.DataFrame,
        lambda x: pl.DataFrame({f"c{k}": x[:, k] for k in range(x.shape[1])}),
        lambda x: pa.table({f"c{k}": x[:, k] for k in range(x.shape[1])}),
        lambda x: x.tolist(),
    ],
)
def test_features(graph, turn):
    features = np.random.default_rng(0).integers(0, 9, (40, 3)).astype(np.float64)
    found = magnon.as_dataset(graph, turn(features), feature_norm="none").features
    found = found.toarray() if sp.issparse(found) else found
    assert np.array_equal(found, features) and found.dtype == np.float32


def test_column_names_are_kept(graph):
    frame = pd.DataFrame(np.ones((40, 2)), columns=["age", "income"])
    assert magnon.as_dataset(graph, frame).feature_names == ["age", "income"]


def test_large_labels_are_refused(graph):
    labels = np.array([1e30, 2e30] * 20)
    with pytest.raises(DataError, match="too large for a class"):
        magnon.as_dataset(graph, np.eye(40), labels=labels)
    magnon.as_dataset(graph, np.eye(40), labels=labels / 1e30)


def test_read_only_arrays_are_not_written(graph):
    features = np.arange(80.0).reshape(40, 2)
    features.flags.writeable = False
    before = features.copy()
    magnon.propagate(graph, features, charge=0.25, feature_norm="standard")
    assert np.array_equal(features, before)


def test_torch():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    index = torch.tensor([[0, 1, 2], [1, 2, 0]])
    features = torch.eye(3, requires_grad=True)
    assert magnon.propagate(index, features, charge="1/3", order=2).shape == (3, 3)
    expected = magnon.propagate(sp.csr_array(([1.0] * 3, index.numpy()), shape=(3, 3)), np.eye(3), charge="1/3", order=2)
    for tensor in (features, features.detach().to(torch.float64), features.detach().T.contiguous().T):
        assert np.array_equal(magnon.propagate(index, tensor, charge="1/3", order=2), expected)
    with pytest.raises(DataError, match="complex"):
        magnon.propagate(index, torch.eye(3, dtype=torch.complex64))


def test_pytorch_geometric(graph):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    geometric = pytest.importorskip("torch_geometric", reason="PyTorch Geometric is not installed")
    from torch_geometric.utils import from_scipy_sparse_matrix

    index, weight = from_scipy_sparse_matrix(sp.coo_matrix(graph))
    labels, masks = torch.arange(40) % 2, torch.arange(40)
    data = geometric.data.Data(
        x=torch.eye(40),
        y=labels,
        edge_index=index,
        edge_weight=weight,
        train_mask=masks % 3 == 0,
        val_mask=masks % 3 == 1,
        test_mask=masks % 3 == 2,
    )
    expected = magnon.propagate(graph, np.eye(40), charge="1/5", order=3)
    assert np.array_equal(magnon.propagate(data, data.x, charge="1/5", order=3), expected)
    clf = magnon.MagneticClassifier(epochs=5, charge="1/5").fit(
        data.x, data.y, graph=data, train=data.train_mask, val=data.val_mask
    )
    assert clf.predict_proba().shape == (40, 2)
