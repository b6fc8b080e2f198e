"""Rows of frames: outputs follow the rows of X, and what is given beside X follows it or its own names."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import magnon
from magnon.errors import DataError

NODES = 60
ORDER = np.random.default_rng(3).permutation(NODES)


@pytest.fixture(scope="module")
def data():
    return magnon.generate("cyclic", nodes=NODES, columns=4, density=0.2, seed=1)


@pytest.fixture(scope="module")
def named(data):
    """A graph with names, and a table in another order that holds features, labels and parts by name."""
    names = [f"n{k:03}" for k in range(NODES)]
    network = nx.from_scipy_sparse_array(data.graph, create_using=nx.DiGraph)
    network = nx.relabel_nodes(network, dict(enumerate(names)))
    table = pd.DataFrame(data.features, index=names, columns=[f"c{k}" for k in range(4)])
    table["label"] = data.labels
    table["train"] = np.arange(NODES) % 3 == 0
    table["val"] = np.arange(NODES) % 3 == 1
    return network, table.iloc[ORDER]


def features(table):
    return table[[f"c{k}" for k in range(4)]]


@pytest.fixture(scope="module")
def fitted(data, named):
    train, val = np.arange(NODES) % 3 == 0, np.arange(NODES) % 3 == 1
    X = features(named[1].sort_index())
    return magnon.MagneticClassifier(charge="1/3", epochs=40).fit(X, data.labels, graph=named[0], train=train, val=val)


def test_outputs_follow_the_rows_of_x(data, named, fitted):
    network, table = named
    X, known = features(table), fitted.predict()
    assert len(set(known)) == 3
    for graph in (None, network):
        assert np.array_equal(fitted.predict(X, graph=graph), known[ORDER])
        np.testing.assert_allclose(fitted.predict_proba(X, graph=graph), fitted.predict_proba()[ORDER], atol=1e-6)
        np.testing.assert_allclose(fitted.predict_log_proba(X, graph=graph), fitted.predict_log_proba()[ORDER], atol=1e-5)
    filters = magnon.MagneticFeatures(charge="1/3", bank=[{}, {"order": 2}]).fit(X, graph=network)
    assert np.array_equal(filters.transform(X), filters.transform(X.sort_index())[ORDER])
    assert np.array_equal(magnon.MagneticFeatures(charge="1/3").fit_transform(X.sort_index(), graph=network)[ORDER],
                          magnon.MagneticFeatures(charge="1/3").fit_transform(X, graph=network))


@pytest.mark.parametrize("kind", ["array", "list", "named", "plain", "other order"])
def test_labels_and_masks_follow_the_rows_of_x(data, named, fitted, kind):
    network, table = named
    turn = {
        "array": lambda column: column.to_numpy(),
        "list": lambda column: column.tolist(),
        "named": lambda column: column,
        "plain": lambda column: column.reset_index(drop=True),
        "other order": lambda column: column.iloc[ORDER],
    }[kind]
    X, (y, train, val) = features(table), (turn(table[name]) for name in ("label", "train", "val"))
    clf = magnon.MagneticClassifier(charge="1/3", epochs=40).fit(X, y, graph=network, train=train, val=val)
    assert np.array_equal(clf.predict_proba(), fitted.predict_proba())
    accuracy = np.mean(fitted.predict() == data.labels)
    for graph in (None, network):
        assert clf.score(X, y, graph=graph) == accuracy > 0.5
    mask = turn(~table["train"])
    left = np.arange(NODES) % 3 != 0
    assert clf.score(X, y, mask=mask) == np.mean((fitted.predict() == data.labels)[left])
    found = magnon.as_dataset(network, X, y, train=train, val=val)
    assert np.array_equal(found.labels, data.labels)
    assert [part.tolist() for part in found.splits[0]] == [np.flatnonzero(np.arange(NODES) % 3 == k).tolist() for k in range(3)]
    again = magnon.as_dataset(found, X, labels=y)
    assert np.array_equal(again.labels, data.labels) and np.array_equal(again.splits[0][0], found.splits[0][0])


def test_labels_in_a_column_are_warned_of_where_fit_is_called(data, named):
    network, table = named
    with pytest.warns(UserWarning, match="column-vector") as caught:
        magnon.MagneticClassifier(charge="1/3", epochs=2).fit(features(table), table[["label"]], graph=network)
    assert caught[0].filename == __file__


def test_numbers_of_nodes_are_those_of_the_graph(named):
    network, table = named
    found = magnon.as_dataset(network, features(table), table["label"].to_numpy(), train=[0, 1], val=[2])
    assert found.splits[0][0].tolist() == [0, 1] and found.splits[0][1].tolist() == [2]


def test_masks_of_splits_are_found_by_name(data, named):
    network, table = named
    expected = [np.flatnonzero(np.arange(NODES) % 3 == k) for k in (0, 1)]
    for X in (None, data.features, features(table), features(table.sort_index())):
        found = magnon.as_dataset(network, X, splits=iter([(table["train"], table["val"])]))
        assert np.array_equal(found.splits[0][0], expected[0]) and np.array_equal(found.splits[0][2], expected[1])
        cv = magnon.MaskSplit(found)
        assert np.array_equal(next(cv.split(cv.nodes))[1], expected[1])


def test_masks_that_cannot_be_placed_are_refused(data, named):
    _, table = named
    shuffled = table.reset_index(drop=True).iloc[ORDER]
    for one in (table, shuffled):
        with pytest.raises(DataError, match="index of a part.*to_numpy"):
            magnon.MaskSplit([(one["train"], one["val"])])
        with pytest.raises(DataError, match="index of a part of splits.*to_numpy"):
            magnon.as_dataset(data.graph, data.features, splits=[(one["train"], one["val"])])
        with pytest.raises(DataError, match="index of train.*to_numpy"):
            magnon.as_dataset(data.graph, data.features, train=one["train"])
    plain = table.reset_index(drop=True)
    assert magnon.MaskSplit([(plain["train"], plain["val"])]).get_n_splits() == 1
    # Beside a table of the same index a mask has the order of its rows.
    found = magnon.as_dataset(data.graph, features(table), train=table["train"])
    assert np.array_equal(found.splits[0][0], np.flatnonzero(table["train"]))


@pytest.mark.parametrize("number", [int, np.int64, np.int32])
def test_numbers_as_names_of_nodes_are_not_places(number):
    network = nx.relabel_nodes(nx.DiGraph([(0, 1), (1, 2)]), {0: number(2), 1: number(1), 2: number(0)})
    with pytest.raises(DataError, match="in another order"):
        magnon.as_dataset(network, pd.DataFrame(np.eye(3)))
    found = magnon.as_dataset(network, pd.DataFrame(np.eye(3)).iloc[[1, 0, 2]], feature_norm="none")
    assert np.array_equal(found.features, np.eye(3)[list(network)])


def test_a_series_is_no_table_of_features(data):
    import polars as pl
    import pyarrow as pa

    for one in (pd.Series(np.ones(NODES)), pl.Series(np.ones(NODES))):
        with pytest.raises(DataError, match=r"one row per node, not a Series.*to_frame\(\)"):
            magnon.as_dataset(data.graph, one)
        with pytest.raises(DataError, match="not a Series"):
            magnon.MagneticFeatures().fit(one, graph=data.graph)
    with pytest.raises(DataError, match="not a ChunkedArray of 1 dim"):
        magnon.as_dataset(data.graph, pa.chunked_array([np.ones(NODES)]))


def test_columns_of_a_run_are_those_of_training(data, named, tmp_path):
    network, table = named
    X = features(table)
    known = magnon.as_dataset(network, X, table["label"], train=table["train"], val=table["val"])
    run = magnon.train(known, epochs=5, charge="1/3", output=tmp_path / "run")
    run.save(tmp_path / "saved")
    magnon.MagneticClassifier(charge="1/3", epochs=5).fit(X, table["label"], graph=network).save(tmp_path / "fitted")
    for folder in ("run", "saved", "fitted"):
        place = tmp_path / folder
        labels = magnon.predict(place, network, features=X).labels
        assert np.array_equal(magnon.predict(place, magnon.as_dataset(network, X)).labels, labels)
        assert np.array_equal(magnon.predict(place, network, features=X.sort_index().to_numpy()).labels, labels)
        with pytest.raises(DataError, match="in another order.*'c0', 'c1'"):
            magnon.predict(place, network, features=X[X.columns[::-1]])
        with pytest.raises(DataError, match="lack the column 'c1'"):
            magnon.predict(place, network, features=X.rename(columns={"c1": "x"}))
        with pytest.raises(DataError, match="column 'x' that it does not know"):
            magnon.predict(place, magnon.as_dataset(known, X.assign(x=1.0)))
    numbered = X.set_axis(range(4), axis=1)
    assert magnon.as_dataset(network, numbered).feature_names is None
    assert magnon.as_dataset(known, labels=table["label"]).feature_names == list(X.columns)
    with pytest.raises(TypeError, match="string names.*column 1 is of type int.*astype"):
        magnon.as_dataset(network, X.set_axis(["a", 1, "b", "c"], axis=1))
