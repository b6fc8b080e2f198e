"""What users of scikit-learn take for granted: labels, names and parameters stay what they are."""

import datetime
import json
import pickle
import warnings

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

import magnon
from magnon.errors import ArgumentError, DataError, RunError

SPLITS = 3
WORDS = np.array(["alpha", "beta", "gamma"])


@pytest.fixture(scope="module")
def data():
    return magnon.generate("cyclic", nodes=150, columns=6, density=0.1, seed=1)


@pytest.fixture(scope="module")
def cv():
    folds = np.array_split(np.random.default_rng(0).permutation(150), SPLITS)
    return magnon.MaskSplit([(np.concatenate(folds[:k] + folds[k + 1 :]), folds[k]) for k in range(SPLITS)])


KINDS = {
    "int64": lambda codes: codes,
    "int32": lambda codes: codes.astype(np.int32) + 1,
    "text": lambda codes: WORDS[codes],
    "object": lambda codes: WORDS.astype(object)[codes],
    "bool": lambda codes: codes == 1,
    "float": lambda codes: codes.astype(float),
}


@pytest.mark.parametrize("kind", KINDS)
def test_cross_validation_by_predicted_labels(data, cv, kind):
    y = KINDS[kind](data.labels)
    clf = magnon.MagneticClassifier(data=data, charge="1/3", epochs=60)
    for scoring in ("accuracy", "f1_macro"):
        scores = cross_val_score(clf, cv.nodes, y, cv=cv, scoring=scoring, error_score="raise")
        assert len(scores) == SPLITS and scores.min() > 0.5
    fitted = clf.fit(cv.nodes, y)
    assert fitted.classes_.dtype == y.dtype and fitted.predict(cv.nodes).dtype == y.dtype
    assert set(fitted.predict(cv.nodes)) <= set(y)


def test_grid_search_by_f1(data, cv):
    search = GridSearchCV(magnon.MagneticClassifier(data=data, epochs=40), {"charge": [0, "1/3"]}, cv=cv, scoring="f1_macro")
    search.fit(cv.nodes, data.labels)
    assert search.best_params_ == {"charge": "1/3"} and np.all(np.isfinite(search.cv_results_["mean_test_score"]))


def fitted_on(data, y, **settings):
    train, val, _ = data.splits[0]
    clf = magnon.MagneticClassifier(**{"charge": "1/3", "epochs": 30, **settings})
    return clf.fit(data.features, y, graph=data.graph, train=train, val=val)


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_classifier_keeps_classes_and_parameters(data, kind, tmp_path):
    y = KINDS[kind](data.labels)
    clf = fitted_on(data, y, hidden=12, settings={"dropout": 0.25}, random_state=5)
    clf.save(tmp_path / "run")
    other = magnon.MagneticClassifier.load(tmp_path / "run", graph=data.graph, X=data.features)
    assert other.classes_.dtype == clf.classes_.dtype and other.classes_.tolist() == clf.classes_.tolist()
    assert other.score(data.features, y) == clf.score(data.features, y) > 0.5
    assert other.get_params() == clf.get_params()
    assert np.array_equal(clone(other).fit(data.features, y, graph=data.graph).predict_proba(),
                          clone(clf).fit(data.features, y, graph=data.graph).predict_proba())
    labels = magnon.predict(tmp_path / "run", magnon.as_dataset(data.graph, data.features)).labels
    assert labels.dtype == y.dtype
    assert np.mean(labels == y) == clf.score(data.features, y)


def test_a_run_of_the_command_is_loaded_with_its_settings(tmp_path):
    data = magnon.load_dataset("cyclic:nodes=90,columns=4")
    settings = {"charge": "1/3", "filter": "ppr", "alpha": 0.3, "hidden": 12, "epochs": 7, "rate": 0.02, "normalize": "rw"}
    magnon.train("cyclic:nodes=90,columns=4", output=tmp_path / "run", seed=4, **settings)
    clf = magnon.MagneticClassifier.load(tmp_path / "run")
    assert {key: clf.get_params()[key] for key in settings} == settings and clf.random_state == 4
    assert clf.classes_.dtype.kind == "i"
    assert clf.score(data.features, data.labels) > 0.3
    assert magnon.predict(tmp_path / "run").labels.dtype.kind == "i"


def test_what_was_saved_beside_another_run_does_not_count(data, tmp_path):
    fitted_on(data, WORDS[data.labels]).save(tmp_path / "run")
    run = magnon.train(data, epochs=5, charge="1/5")
    run.save(tmp_path / "run", overwrite=True)
    clf = magnon.MagneticClassifier.load(tmp_path / "run", graph=data.graph, X=data.features)
    assert clf.classes_.tolist() == [0, 1, 2] and clf.charge == "1/5" and clf.epochs == 5


@pytest.mark.parametrize("model", [model.name for model in magnon.models().models])
def test_a_refit_has_the_configuration_of_the_run(data, model, tmp_path):
    settings = {"epochs": 2, "rate": 0.03, "schedule": "step:100,0.5", "weight_decay": 0.001, "clip": 1.5, "runs": 2}
    run = magnon.train(data, model=model, seed=3, output=tmp_path / "run", no_report=True, **settings)
    clf = magnon.MagneticClassifier.load(tmp_path / "run", graph=data.graph, X=data.features)
    again = clf.fit(data.features, data.labels, graph=data.graph).run_.config.to_dict()
    told = run.config.to_dict()
    assert {key: again.get(key) for key in told if key != "data"} == {key: told[key] for key in told if key != "data"}


def test_a_run_of_words_that_look_like_numbers(data, tmp_path):
    words = data.labels.astype(str)
    train, val, test = data.splits[0]
    given = magnon.as_dataset(data.graph, data.features, words, train=train, val=val, test=test)
    run = magnon.train(given, epochs=5, charge="1/3", output=tmp_path / "run")
    assert set(magnon.predict(tmp_path / "run", given).labels) <= set(words)
    pickle.loads(pickle.dumps(run)).save(tmp_path / "other")
    assert set(magnon.predict(tmp_path / "other", given).labels) <= set(words)


def objects(kinds):
    found = np.empty(len(kinds), dtype=object)
    found[:] = kinds
    return found


UNSAVED = {
    "date": objects([datetime.date(2026, 1, day) for day in (1, 2, 3)]),
    "Timestamp": objects([pd.Timestamp(2026, 1, day) for day in (1, 2, 3)]),
    "bytes": np.array([b"a", b"b", b"c"]),
    "tuple": objects([("a", 1), ("b", 2), ("c", 3)]),
}


@pytest.mark.parametrize("kind", UNSAVED)
def test_labels_that_a_file_cannot_keep_are_refused_by_saving(data, kind, tmp_path):
    y = UNSAVED[kind][data.labels]
    clf = fitted_on(data, y)
    assert clf.score(data.features, y) > 0.3
    train, val, test = data.splits[0]
    given = magnon.as_dataset(data.graph, data.features, y, train=train, val=val, test=test)
    run = magnon.train(given, epochs=2, charge="1/3")
    for call in (
        lambda: clf.save(tmp_path / "run"),
        lambda: run.save(tmp_path / "run"),
        lambda: magnon.train(given, epochs=2, charge="1/3", output=tmp_path / "run"),
    ):
        with pytest.raises(DataError, match=rf"labels of type {kind} cannot be saved.*str or int"):
            call()
        assert not (tmp_path / "run").exists()


def test_classes_of_files_have_the_type_of_the_labels(data, tmp_path):
    assert data.classes.tolist() == [0, 1, 2] and magnon.as_dataset(data, data.features).classes.tolist() == [0, 1, 2]
    for y in (data.labels, data.labels.astype(np.int32) + 7, WORDS[data.labels]):
        found = magnon.as_dataset(data, labels=y)
        assert found.classes.dtype == y.dtype and set(found.classes) == set(y)
        assert pickle.loads(pickle.dumps(found)).classes.dtype == y.dtype
    assert magnon.load_dataset("cyclic:nodes=60").classes.dtype.kind == "i"


def test_a_classifier_without_a_graph_is_loaded_by_its_features(data, tmp_path):
    clf = magnon.MagneticClassifier(epochs=20).fit(data.features, data.labels)
    clf.save(tmp_path / "run")
    with pytest.raises(ArgumentError, match="without a graph.*X="):
        magnon.MagneticClassifier.load(tmp_path / "run")
    other = magnon.MagneticClassifier.load(tmp_path / "run", X=data.features)
    np.testing.assert_allclose(other.predict_proba(), clf.predict_proba(), atol=1e-6)
    assert np.array_equal(other.predict(data.features[:10]), clf.predict(data.features[:10]))


BROKEN = [
    "",
    "[]",
    "[" * 100_000,
    '{"classes": 3}',
    '{"run": RUN, "classes": [1], "dtype": "<i8"}',
    '{"run": RUN, "classes": ["a", "b", "c"], "dtype": "<i8"}',
    '{"run": RUN, "classes": [[1], 2, 3], "dtype": "q8"}',
]


@pytest.mark.parametrize("broken", BROKEN, ids=range(len(BROKEN)))
def test_a_broken_file_beside_a_run_is_named(data, broken, tmp_path):
    fitted_on(data, data.labels).save(tmp_path / "run")
    place = tmp_path / "run" / "estimator.json"
    mark = json.loads(place.read_text())["run"]
    place.write_text(broken.replace("RUN", f'"{mark}"'))
    with pytest.raises(RunError, match="estimator.json"):
        magnon.MagneticClassifier.load(tmp_path / "run", graph=data.graph, X=data.features)
    with pytest.raises(RunError, match="estimator.json"):
        magnon.predict(tmp_path / "run", magnon.as_dataset(data.graph, data.features))


def test_rows_without_a_graph_have_no_order(data):
    order = np.random.default_rng(0).permutation(150)
    frame, y = pd.DataFrame(data.features).add_prefix("c").iloc[order], pd.Series(data.labels).iloc[order]
    clf = magnon.MagneticClassifier(epochs=5).fit(frame, y)
    assert clf.score(frame, y) == np.mean(clf.predict(frame) == y.to_numpy())


FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame}


@pytest.mark.parametrize("library", FRAMES)
def test_columns_are_those_of_fit(data, library):
    names = [f"c{k}" for k in range(6)]
    frame = FRAMES[library](dict(zip(names, data.features.T)))
    train, val, _ = data.splits[0]
    clf = magnon.MagneticClassifier(charge="1/3", epochs=5)
    clf.fit(frame, data.labels, graph=data.graph, train=train, val=val)
    features = magnon.MagneticFeatures(charge="1/3").fit(frame, graph=data.graph)
    assert clf.feature_names_in_.tolist() == features.feature_names_in_.tolist() == names
    for call in (clf.predict, clf.predict_proba, features.transform, lambda X: clf.score(X, data.labels)):
        call(frame)
        with pytest.raises(ValueError, match="must be in the same order as they were in fit"):
            call(frame[names[::-1]])
        other = FRAMES[library](dict(zip(["c0", "c1", "c2", "c3", "c4", "x"], data.features.T)))
        with pytest.raises(ValueError, match="Feature names unseen at fit time:\n- x\nFeature names seen at fit time, yet now missing:\n- c5"):
            call(other)
        with pytest.warns(UserWarning, match="X does not have valid feature names, but Magnetic"):
            call(data.features)
    clf.fit(data.features, data.labels, graph=data.graph)
    with pytest.warns(UserWarning, match="X has feature names, but MagneticClassifier was fitted without"):
        clf.predict(frame)


def test_column_names_are_kept_by_saving(data, tmp_path):
    frame = pd.DataFrame(data.features, columns=[f"c{k}" for k in range(6)])
    train, val, _ = data.splits[0]
    clf = magnon.MagneticClassifier(charge="1/3", epochs=5)
    clf.fit(frame, data.labels, graph=data.graph, train=train, val=val).save(tmp_path / "run")
    other = magnon.MagneticClassifier.load(tmp_path / "run", graph=data.graph, X=frame)
    with pytest.raises(ValueError, match="same order"):
        other.predict(frame[frame.columns[::-1]])


@pytest.fixture
def named(data):
    """A graph with names in an order of its own, and a frame and labels that are indexed by them."""
    names = [f"n{k:03}" for k in range(150)]
    network = nx.from_scipy_sparse_array(data.graph, create_using=nx.DiGraph)
    network = nx.relabel_nodes(network, dict(enumerate(names)))
    frame = pd.DataFrame(data.features, index=names)
    return network, frame, pd.Series(data.labels, index=names)


def test_rows_of_a_frame_are_found_by_name(data, named):
    network, frame, y = named
    order = np.random.default_rng(3).permutation(150)
    shuffled, labels = frame.iloc[order], y.iloc[order[::-1]]
    found = magnon.as_dataset(network, shuffled, labels, train=pd.Series(np.arange(150) < 50, index=frame.index).iloc[order])
    plain = magnon.as_dataset(network, data.features, data.labels, train=np.arange(50))
    assert np.array_equal(found.features, plain.features) and np.array_equal(found.labels, plain.labels)
    assert np.array_equal(found.splits[0][0], plain.splits[0][0])
    train, val, _ = data.splits[0]
    clf = magnon.MagneticClassifier(charge="1/3", epochs=60)
    clf.fit(shuffled, labels, graph=network, train=train, val=val)
    known = clf.predict(data.features)
    assert np.array_equal(clf.predict(shuffled), known[order])
    assert clf.score(shuffled, labels) == np.mean(known == data.labels)
    features = magnon.MagneticFeatures(charge="1/3").fit(frame, graph=network)
    assert np.array_equal(features.transform(shuffled), features.transform(frame)[order])


def test_rows_that_have_no_node_are_refused(named):
    network, frame, y = named
    with pytest.raises(DataError, match="'n000'.*reset_index"):
        magnon.as_dataset(network, frame.rename(index={"n000": "other"}))
    with pytest.raises(DataError, match="twice"):
        magnon.as_dataset(network, frame.rename(index={"n000": "n001"}))
    magnon.as_dataset(network, frame.reset_index(drop=True))
    turned = nx.relabel_nodes(nx.DiGraph([(0, 1), (1, 2)]), {0: 2, 2: 0})
    with pytest.raises(DataError, match="in another order"):
        magnon.as_dataset(turned, pd.DataFrame(np.eye(3)))
    with pytest.raises(DataError, match="in another order"):
        magnon.as_dataset(nx.DiGraph([(0, 1), (1, 2)]), pd.DataFrame(np.eye(3)).iloc[[2, 0, 1]])


def test_features_are_scaled_as_in_fit(data):
    X = data.features * np.array([1, 10, 100, 1, 1, 1000])
    scaler = magnon.MagneticFeatures(charge=0, feature_norm="standard").fit(X, graph=data.graph)
    whole = scaler.transform(X)
    part = data.graph[:40][:, :40]
    mean, std = X.astype(np.float32).astype(float).mean(axis=0), X.astype(np.float32).astype(float).std(axis=0)
    found = scaler.transform(X[:40], graph=part)
    np.testing.assert_allclose(found, magnon.propagate(part, (X[:40] - mean) / std, charge=0), atol=1e-5)
    np.testing.assert_array_equal(whole, magnon.propagate(data.graph, X, charge=0, feature_norm="standard"))


def test_an_open_charge_is_chosen_in_fit(data):
    features = magnon.MagneticFeatures().fit(data.features, graph=data.graph)
    assert features.charge_ == ["1/3"] and features.transform(data.features).shape == (150, 12)
    acyclic = np.array([[k, k + 1] for k in range(9)])
    assert features.transform(data.features[:10], graph=acyclic).shape == (10, 12)
    bank = magnon.MagneticFeatures(bank=[{}, {"charge": "1/4"}, {"charge": "auto"}]).fit(data.features, graph=data.graph)
    assert bank.charge_ == ["1/3", "1/4", "1/3"]
    assert pickle.loads(pickle.dumps(bank)).charge_ == bank.charge_


def test_transformers_take_n_jobs(data, monkeypatch):
    seen = []
    operator = magnon._magnon.Operator

    class Watched:
        def __init__(self, dataset, keywords, *more):
            seen.append(json.loads(keywords))
            self._inner = operator(dataset, keywords, *more)

        def propagate(self, dataset, keywords, *more):
            seen.append(json.loads(keywords))
            return self._inner.propagate(dataset, keywords, *more)

        def __getattr__(self, name):
            return getattr(self._inner, name)

    monkeypatch.setattr(magnon._magnon, "Operator", Watched)
    magnon.MagneticFeatures(charge="1/3", n_jobs=2).fit_transform(data.features, graph=data.graph)
    assert seen and all(keywords["threads"] == 2 for keywords in seen)
    points = magnon.MagneticEmbedding(1, n_jobs=-1).fit_transform(graph=data.graph)
    assert np.array_equal(points, magnon.MagneticEmbedding(1).fit_transform(graph=data.graph))
    for estimator in (magnon.MagneticEmbedding(1, n_jobs=0), magnon.MagneticFeatures(n_jobs=0)):
        with pytest.raises(ArgumentError, match="n_jobs"):
            estimator.fit_transform(data.features, graph=data.graph)


def test_labels_of_another_type_are_refused_by_score(data):
    clf = fitted_on(data, WORDS[data.labels])
    with pytest.raises(DataError, match="int64.*'alpha'"):
        clf.score(data.features, data.labels)
    clf = fitted_on(data, data.labels)
    with pytest.raises(DataError, match="0, 1, 2"):
        clf.score(data.features, data.labels.astype(str))
    assert clf.score(data.features, data.labels.astype(float)) == clf.score(data.features, data.labels)


def test_minus_one_is_no_class_and_said(data, caplog):
    y = data.labels.copy()
    y[:20] = -1
    with caplog.at_level("INFO", logger="magnon"):
        assert magnon.MagneticClassifier(charge="1/3", epochs=2).fit(data.features, y, graph=data.graph).classes_.tolist() == [0, 1, 2]
    assert any("20 of 150 labels are -1" in record.getMessage() for record in caplog.records)
    with pytest.raises(ValueError, match="-1 marks"):
        magnon.MagneticClassifier(epochs=2).fit(data.features, np.where(data.labels == 1, 1, -1), graph=data.graph)


def test_missing_labels_of_pandas(data):
    y = pd.Series(data.labels, dtype="Int64")
    y[:20] = pd.NA
    clf = magnon.MagneticClassifier(charge="1/3", epochs=2).fit(data.features, y, graph=data.graph)
    assert clf.classes_.tolist() == [0, 1, 2] and clf.classes_.dtype == np.int64


def test_clones_share_the_data(data):
    clf = magnon.MagneticClassifier(data=data)
    assert clone(clf).data is data
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert clone(clone(clf)).data is data
