"""What is given in memory is taken whole, or refused with a sentence."""

import sys
import types
from fractions import Fraction

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import magnon
from magnon.errors import ArgumentError, DataError

RING = np.array([[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]])


def geometric(**more):
    return types.SimpleNamespace(edge_index=RING.T.copy(), num_nodes=4, **more)


def test_splits_of_masks_in_columns():
    labels = np.arange(40) % 2
    edges = np.array([[k, (k + 1) % 40] for k in range(40)])
    draw = np.random.default_rng(0).random((40, 10))
    train, val, test = draw < 0.5, (draw >= 0.5) & (draw < 0.75), draw >= 0.75
    given = types.SimpleNamespace(
        edge_index=edges.T, num_nodes=40, x=np.eye(40), y=labels, train_mask=train, val_mask=val, test_mask=test
    )
    for data in (
        magnon.as_dataset(given),
        magnon.as_dataset(edges, np.eye(40), labels, train=train, val=val, test=test),
        magnon.as_dataset(edges, np.eye(40), labels, splits=[(train[:, k], val[:, k], test[:, k]) for k in range(10)]),
    ):
        assert len(data.splits) == 10
        for k in (0, 7):
            for part, mask in zip(data.splits[k], (train, val, test)):
                assert np.array_equal(part, np.flatnonzero(mask[:, k]))
    one = magnon.as_dataset(edges, np.eye(40), labels, train=train, val=val)
    assert np.array_equal(one.splits[3][2], np.flatnonzero(test[:, 3]))
    shared = magnon.as_dataset(edges, np.eye(40), labels, train=train & ~test[:, :1], val=val & ~test[:, :1], test=test[:, 0])
    assert np.array_equal(shared.splits[9][2], np.flatnonzero(test[:, 0]))
    found = magnon.train(data, epochs=2, charge=0.2, split="given:7")
    assert found.config.data.split == "given:7"
    assert magnon.MaskSplit(data).get_n_splits() == 10
    pairs = magnon.as_dataset(edges, np.eye(40), labels, splits=[(np.arange(20), np.arange(20, 40))])
    assert np.array_equal(pairs.splits[0][2], np.arange(20, 40))


def test_splits_that_do_not_fit_are_refused():
    labels, train = np.arange(4) % 2, np.ones((4, 3), dtype=bool)
    with pytest.raises(ArgumentError, match="3 splits.*2"):
        magnon.as_dataset(RING, np.eye(4), labels, train=train, val=~train[:, :2])
    with pytest.raises(ArgumentError, match="splits"):
        magnon.as_dataset(RING, np.eye(4), labels, train=[0], splits=[([0], [1])])
    with pytest.raises(ArgumentError, match=r"train\[:, 0\]"):
        magnon.MagneticClassifier(epochs=2).fit(np.eye(4), labels, graph=RING, train=train)


def test_a_weight_that_is_not_there_is_refused():
    network = nx.DiGraph()
    network.add_edge("a", "b", cost=2.0)
    network.add_edge("b", "c", cost=3.0)
    with pytest.raises(DataError, match="'cots'.*cost"):
        magnon.as_dataset(network, weight="cots")
    other = igraph.Graph(n=3, edges=[(0, 1), (1, 2)], directed=True)
    other.es["cost"] = [2.0, 3.0]
    with pytest.raises(DataError, match="'cots'.*cost"):
        magnon.as_dataset(other, weight="cots")
    with pytest.raises(DataError, match="'edge_wight'"):
        magnon.as_dataset(geometric(edge_weight=np.ones(5)), weight="edge_wight")
    for graph in (RING, sp.csr_array(np.eye(4))):
        with pytest.raises(ArgumentError, match="weight"):
            magnon.as_dataset(graph, weight="cost")
    network.add_edge("c", "a")
    with pytest.warns(UserWarning, match="1 of 3 edges"):
        magnon.as_dataset(network, weight="cost")


def test_edge_attr_of_one_column():
    values = np.arange(2.0, 7.0)
    with pytest.warns(UserWarning, match="weight='edge_attr'"):
        plain = magnon.as_dataset(geometric(edge_attr=values[:, None]))
    assert plain.graph.data.max() == 1
    for attr in (values, values[:, None]):
        assert magnon.as_dataset(geometric(edge_attr=attr), weight="edge_attr").graph.sum() == values.sum()
    with pytest.raises(DataError, match="5 x 2"):
        magnon.as_dataset(geometric(edge_attr=np.ones((5, 2))), weight="edge_attr")


def test_a_weight_of_zero_is_no_edge_wherever_it_comes_from():
    weights = np.array([1.0, 2.0, 0.0, 3.0, 4.0])
    stored = sp.csr_array(sp.coo_array((weights, RING.T), shape=(4, 4)))
    assert stored.nnz == 5
    network = nx.DiGraph()
    network.add_weighted_edges_from([(u, v, w) for (u, v), w in zip(RING.tolist(), weights)])
    other = igraph.Graph(n=4, edges=RING.tolist(), directed=True)
    other.es["weight"] = weights.tolist()
    table = pd.DataFrame({"source": RING[:, 0], "target": RING[:, 1], "weight": weights})
    for graph in (stored, stored.tocoo(), network, other, table, geometric(edge_weight=weights)):
        with pytest.warns(UserWarning, match="1 edge of weight 0"):
            assert magnon.as_dataset(graph).graph.nnz == 4


def test_weights_below_single_precision_are_named():
    network = nx.DiGraph()
    network.add_weighted_edges_from([("a", "b", 1e-300), ("b", "c", 1.0), ("c", "a", 2.0), ("a", "c", 0.0)])
    with pytest.warns(UserWarning) as caught:
        assert magnon.as_dataset(network).graph.nnz == 2
    told = [str(one.message) for one in caught]
    assert any("1e-300" in words and "single precision" in words for words in told), told


def test_features_beside_a_data_set():
    data = magnon.as_dataset(RING, np.eye(4), np.arange(4) % 2)
    x = np.arange(8.0).reshape(4, 2)
    assert np.array_equal(magnon.propagate(data, x, charge=0.2), magnon.propagate(RING, x, charge=0.2))
    assert np.array_equal(
        magnon.propagate(data, x, channels=["out"])["out"], magnon.propagate(RING, x, channels=["out"])["out"]
    )
    made = magnon.as_dataset(data, x, feature_norm="none")
    assert np.array_equal(made.features, x) and np.array_equal(made.labels, data.labels)
    with pytest.raises(ArgumentError, match="^reverse: the data set is read already"):
        magnon.propagate(data, x, reverse=True)


@pytest.mark.parametrize(
    "labels",
    [
        pa.array(["a", "b", None, "a"]),
        pa.chunked_array([["a", "b"], [None, "a"]]),
        pa.array(["a", "b", None, "a"]).dictionary_encode(),
        pl.Series(["a", "b", None, "a"]),
        pd.Series(["a", "b", pd.NA, "a"], dtype="string"),
        pd.Series(["a", "b", None, "a"], dtype="category"),
        np.array(["a", "b", pd.NA, "a"], dtype=object),
        np.array(["a", "b", pd.NaT, "a"], dtype=object),
    ],
    ids=lambda labels: type(labels).__module__ + "." + type(labels).__name__,
)
def test_labels_of_any_library(labels):
    data = magnon.as_dataset(RING, np.eye(4), labels)
    assert data.labels.tolist() == [0, 1, -1, 0] and data.classes.tolist() == ["a", "b"]


def test_numbers_of_arrow():
    assert magnon.as_dataset(RING, np.eye(4), pa.array([3, 5, None, 3])).classes.tolist() == [3, 5]
    with pytest.raises(DataError, match="column b"):
        magnon.as_dataset(RING, pa.table({"a": [1.0] * 4, "b": [1.0, None, 2.0, 3.0]}))
    with pytest.raises(DataError, match="row 1, column 1"):
        magnon.as_dataset(RING, pd.DataFrame({"a": [1, 2, 3, 4], "b": [1, pd.NA, 3, 4]}))


def test_tensors_that_numpy_cannot_hold():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    index = torch.tensor(RING.T)
    x = torch.arange(8.0).reshape(4, 2)
    assert np.array_equal(magnon.as_dataset(index, x.bfloat16(), feature_norm="none").features, x.numpy())
    for thing in (x.to_sparse(), x.to_sparse_csr()):
        with pytest.raises(DataError, match="to_dense"):
            magnon.as_dataset(index, thing)
    with pytest.raises(DataError, match="to_dense"):
        magnon.as_dataset(torch.sparse_coo_tensor(index, torch.ones(5), (4, 4)))


class Sparse:
    """A tensor without memory of its own, as torch's sparse ones."""

    layout = "torch.sparse_coo"

    def __dlpack__(self, **_):
        raise BufferError("no strides")


class Half:
    """A tensor of a type that numpy lacks, as torch's bfloat16."""

    dtype = "torch.bfloat16"

    def __dlpack__(self, **_):
        raise BufferError("Unsupported dtype in DLTensor.")

    def __dlpack_device__(self):
        return (1, 0)

    def float(self):
        return np.arange(8, dtype=np.float32).reshape(4, 2)


def test_tensors_are_named_where_they_cannot_be_read():
    assert magnon.as_dataset(RING, Half(), feature_norm="none").features.sum() == 28
    with pytest.raises(DataError, match="to_dense"):
        magnon.as_dataset(RING, Sparse())
    with pytest.raises(DataError, match="to_dense"):
        magnon.as_dataset(Sparse())


def test_graphs_of_several_kinds_are_refused():
    several = types.SimpleNamespace(node_types=["paper", "author"], edge_types=[("author", "writes", "paper")])
    with pytest.raises(DataError, match="to_homogeneous"):
        magnon.as_dataset(several)


def test_witnesses_have_names():
    network = nx.DiGraph([("x", "a"), ("a", "b"), ("b", "c"), ("c", "a"), ("c", ("d", 1))])
    found = magnon.cycle_lengths(network)
    (witness,) = [answer.witness for answer in found.lengths if answer.exists]
    assert sorted(witness) == ["a", "b", "c"] and all(network.has_edge(u, v) for u, v in zip(witness, [*witness[1:], witness[0]]))
    plain = magnon.cycle_lengths(nx.DiGraph([(0, 1), (1, 2), (2, 0)]))
    assert [list(answer.witness) for answer in plain.lengths if answer.exists] == [[0, 1, 2]]


def test_unknown_keywords_name_what_may_be_meant():
    data = magnon.generate("cycle", nodes=5)
    calls = [
        (magnon.train, "epoch", "epochs"),
        (magnon.spectrum, "chage", "charge"),
        (magnon.magnetic_operator, "chage", "charge"),
        (magnon.simple_cycles, "max_lenght", "max_length"),
        (magnon.cycle_lengths, "max_lenght", "max_length"),
    ]
    for call, wrong, right in calls:
        with pytest.raises((TypeError, ValueError), match=f"{wrong}.*did you mean {right}"):
            call(data, **{wrong: 1})
    with pytest.raises((TypeError, ValueError), match="duplicate.*did you mean duplicates"):
        magnon.as_dataset(RING, duplicate="max")
    with pytest.raises(ValueError, match="(?s)laplacain.*did you mean laplacian"):
        magnon.spectrum(data, kind="laplacain")


REFUSED = {
    "epochs: invalid type.*expected a whole number": lambda data: magnon.train(data, epochs="many"),
    "epochs: invalid value.*-1": lambda data: magnon.train(data, epochs=-1),
    "rate must be a finite number": lambda data: magnon.train(data, rate=float("nan")),
    "schedule: 'often' is no schedule": lambda data: magnon.train(data, schedule="often"),
    "no setting 'haeds'": lambda data: magnon.train(data, model="gat", set={"haeds": 2}),
    "threads is 0, but must be a whole number from 1": lambda data: magnon.train(data, threads=0),
    "seed is -1, but must be a whole number": lambda data: magnon.train(data, seed=-1),
    # What the command line refuses, too.
    "overwrite is of no use without output": lambda data: magnon.train(data, overwrite=True),
    "which is of no use without count": lambda data: magnon.spectrum(data, which="largest"),
    "near cannot be used with which": lambda data: magnon.spectrum(data, count=1, which="largest", near=0.5),
    "points cannot be used with eigenvalues": lambda data: magnon.filter_response(data, eigenvalues=True, points=5),
    "tune_trials cannot be used with tune": lambda data: magnon.compare(data, ["mgc"], tune=1, tune_trials=2),
    "charge is not for channels": lambda data: magnon.propagate(data, channels=["x"], charge=0),
    "source is of no use without target": lambda _: magnon.load_dataset("cycle:nodes=4", source=1),
    "weight cannot be used with unweighted": lambda _: magnon.load_dataset("cycle:nodes=4", weight="w", unweighted=True),
    "split_seed is for splits that are drawn": lambda _: magnon.load_dataset("cycle:nodes=4", split_seed=1),
}


@pytest.mark.parametrize("words", REFUSED)
def test_values_that_cannot_be_meant_are_refused_by_keyword(words):
    with pytest.raises(ArgumentError, match=words):
        REFUSED[words](magnon.generate("cyclic", nodes=60, columns=4))


def test_values_are_those_of_numpy_and_fractions(tmp_path):
    data = magnon.generate("cyclic", nodes=np.int64(60), columns=4)
    settings = {"epochs": np.int32(3), "charge": Fraction(1, 3), "controls": np.False_, "dropout": np.float32(0.5)}
    run = magnon.train(data, coefficients=np.array([0.5, 0.5]), filter="polynomial", **settings)
    assert (run.epochs, run.charge_text) == (3, "1/3") and run.config.filter.coefficients.tolist() == [0.5, 0.5]


UNKNOWN = {
    "as_dataset": (lambda data: magnon.as_dataset(data, lables=[0] * 5), "lables.*did you mean labels"),
    "as_dataset of a graph": (lambda data: magnon.as_dataset(RING, lables=[0] * 4), "lables.*did you mean labels"),
    "as_dataset, none": (lambda data: magnon.as_dataset(RING, duplicate=None), "duplicate.*did you mean duplicates"),
    "homophily": (lambda data: magnon.homophily(data, revers=True), "revers.*did you mean reverse"),
    "bank": (lambda data: magnon.MagneticFeatures(bank=[{"chrage": 0}]).fit(np.eye(5), graph=data), "chrage.*did you mean charge"),
    "bank of an output": (lambda data: magnon.MagneticFeatures(bank=[{"output": "real"}]).fit(np.eye(5), graph=data), "output"),
    "predict": (lambda data: magnon.predict("run", data, ful=True), "ful.*did you mean full"),
    "predict by name": (lambda data: magnon.predict("run", ful=False), "ful.*did you mean full"),
    "generate": (lambda data: magnon.generate("cycle", node=None), "node.*did you mean nodes"),
    "generate, output": (lambda data: magnon.generate("cycle", output="x"), "output"),
    "load_dataset": (lambda data: magnon.load_dataset("cycle:nodes=5", revers=False), "revers.*did you mean reverse"),
    "train": (lambda data: magnon.train(data, control=False), "control.*did you mean controls"),
    "compare": (lambda data: magnon.compare(data, ["mlp"], html="x.html"), "html"),
    "tune": (lambda data: magnon.tune(data, trial=None), "trial.*did you mean trials"),
    "propagate": (lambda data: magnon.propagate(data, np.eye(5), output="x.npy"), "output"),
    "denoise": (lambda data: magnon.denoise(data, np.ones(5), nu=None), "nu"),
    "eigenmap": (lambda data: magnon.eigenmap(data, vector=None), "vector.*did you mean vectors"),
    "a word of Python": (lambda data: magnon.spectrum(data, **{"pass": None}), "did you mean pass_"),
}


@pytest.mark.parametrize("call", UNKNOWN)
def test_unknown_keywords_are_refused_whatever_they_are(call):
    call, words = UNKNOWN[call]
    with pytest.raises(TypeError, match=words):
        call(magnon.generate("cycle", nodes=5))


def test_settings_of_a_data_set_are_not_ignored():
    data = magnon.as_dataset(RING)
    assert (magnon.as_dataset(data, reverse=True).graph != data.graph.T).nnz == 0
    assert magnon.as_dataset(data, reverse=None) is data


def test_features_of_a_file_beside_a_graph_in_memory(tmp_path):
    for data in (magnon.as_dataset(RING), RING):
        with pytest.raises(ArgumentError, match="^features of a graph in memory are an array.*read the file first"):
            magnon.propagate(data, tmp_path / "x.npy")


@pytest.mark.parametrize("key", ["features", "labels"])
def test_arrays_beside_data_by_name_are_refused(key):
    given = {key: np.ones(5, dtype=int)}
    for call in (magnon.load_dataset, magnon.train, magnon.homophily, lambda **given: magnon.predict("run", **given)):
        with pytest.raises(ArgumentError, match=f"^{key} of files are files"):
            call(**given)


def test_results_of_scipy_name_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy", None)
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    data = magnon.generate("cycle", nodes=5)
    for call in (lambda: data.graph, lambda: magnon.magnetic_operator(data), lambda: magnon.magnetic_operator(data, linear_operator=True)):
        with pytest.raises(ImportError, match=r"pip install 'magnon\[scipy\]'"):
            call()
