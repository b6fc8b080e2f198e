"""scikit-learn's conventions, checked by scikit-learn."""

import copy
import pickle

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import magnon
from magnon.errors import DataError

# What does not hold, and why.
EXPECTED = {
    "MagneticClassifier": {
        "check_classifiers_classes": "-1 marks nodes without a label, as in scikit-learn's semi-supervised models",
    },
}


@pytest.mark.filterwarnings("ignore:.*does not inherit")
@parametrize_with_checks(
    [magnon.MagneticClassifier(epochs=150), magnon.MagneticFeatures(), magnon.MagneticEmbedding(1)],
    expected_failed_checks=lambda estimator: EXPECTED.get(type(estimator).__name__, {}),
)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    return magnon.generate("cyclic", nodes=150, columns=6, density=0.1, seed=1)


@pytest.fixture(scope="module")
def fitted(data):
    train, val, test = data.splits[0]
    clf = magnon.MagneticClassifier(charge="1/3", epochs=300, controls=True)
    return clf.fit(data.features, data.labels, graph=data.graph, train=train, val=val, test=test)


def test_fit_is_the_run_of_train(data, fitted):
    run = magnon.train(data, charge="1/3", epochs=300, controls=True)
    assert run.test_accuracy == fitted.run_.test_accuracy
    assert np.array_equal(run.history["val_loss"], fitted.history_["val_loss"])
    test = data.splits[0][2]
    score = fitted.score(data.features, data.labels, mask=test)
    assert abs(score - run.test_accuracy) < 1e-12 and score > 0.8
    assert "irection helps" in run.verdict


def test_predictions(data, fitted):
    known = fitted.predict_proba()
    np.testing.assert_allclose(fitted.predict_proba(data.features), known, atol=1e-6)
    assert np.array_equal(fitted.predict(), known.argmax(axis=1))
    reversed_graph = fitted.predict_proba(data.features, graph=data.graph.T)
    assert np.abs(reversed_graph - known).max() > 0.1
    with pytest.raises(DataError, match="graph="):
        fitted.predict(data.features[:10])


def test_labels_of_any_kind(data):
    train, val, _ = data.splits[0]
    names = np.array(["a", "b", "c"], dtype=object)[data.labels]
    names[:5] = None
    train = train[train >= 5]
    clf = magnon.MagneticClassifier(charge="1/3", epochs=5).fit(
        data.features, names, graph=data.graph, train=train, val=val
    )
    assert clf.classes_.tolist() == ["a", "b", "c"] and set(clf.predict()) <= {"a", "b", "c"}
    numbers = data.labels.astype(float) * 10
    numbers[:5] = np.nan
    clf.fit(data.features, numbers, graph=data.graph, train=train, val=val)
    assert clf.classes_.tolist() == [0, 10, 20]


def test_parameters():
    clf = magnon.MagneticClassifier("gcn", hidden=8)
    assert clone(clf).get_params() == clf.get_params()
    assert clf.set_params(hidden=4).hidden == 4
    assert repr(clf) == "MagneticClassifier(model='gcn', hidden=4)"
    with pytest.raises(ValueError, match="Valid parameters"):
        clf.set_params(heads=3)
    with pytest.raises(ValueError, match="gtn"):
        magnon.MagneticClassifier("gtn").fit(np.eye(4), [0, 1, 0, 1])


def test_settings_of_a_model(data):
    clf = magnon.MagneticClassifier("gat", settings={"heads": 2}, epochs=3, n_jobs=1)
    clf.fit(data.features, data.labels, graph=data.graph)
    assert clf.run_.config.model.heads == 2


def test_pickle_and_copy(data, fitted):
    for other in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):
        assert np.array_equal(other.predict_proba(), fitted.predict_proba())
        assert np.array_equal(other.predict(data.features), fitted.predict(data.features))
        assert other.run_.to_dict() == fitted.run_.to_dict()


def test_save_and_load(data, fitted, tmp_path):
    fitted.save(tmp_path / "run")
    other = magnon.MagneticClassifier.load(tmp_path / "run", graph=data.graph, X=data.features)
    assert np.array_equal(other.predict().astype(int), fitted.predict())
    with pytest.raises(OSError, match="run"):
        fitted.save(tmp_path / "run")
    fitted.save(tmp_path / "run", overwrite=True)


def test_grid_search(data):
    cv = magnon.MaskSplit([(part, rest) for part, rest in halves(data.nodes)])
    clf = magnon.MagneticClassifier(data=data, epochs=40)
    search = GridSearchCV(clf, {"charge": [0, "1/3"]}, cv=cv).fit(cv.nodes, data.labels)
    assert search.best_params_ == {"charge": "1/3"}
    scores = cross_val_score(clf.set_params(charge="1/3"), cv.nodes, data.labels, cv=cv)
    assert scores.mean() == search.best_score_


def halves(nodes):
    order = np.random.default_rng(0).permutation(nodes)
    return [(order[: nodes // 2], order[nodes // 2 :]), (order[nodes // 2 :], order[: nodes // 2])]


def test_features_in_a_pipeline(data):
    features = magnon.MagneticFeatures(charge="1/3", order=4)
    filtered = features.fit_transform(data.features, graph=data.graph)
    exact = magnon.propagate(data.graph, data.features, charge="1/3", order=4)
    assert np.array_equal(filtered, np.hstack([exact.real, exact.imag]))
    train, _, test = data.splits[0]
    model = LogisticRegression(max_iter=2000).fit(filtered[train], data.labels[train])
    assert model.score(filtered[test], data.labels[test]) > 0.7
    alone = make_pipeline(magnon.MagneticFeatures(), LogisticRegression())
    assert alone.fit(data.features, data.labels).predict(data.features).shape == (150,)


def test_embedding(data):
    found = magnon.MagneticEmbedding(3, charge="1/3", output="complex").fit(graph=data.graph)
    assert found.embedding_.shape == (150, 3) and np.all(np.diff(found.eigenvalues_) >= 0)
    network = nx.DiGraph([("a", "b"), ("b", "c"), ("c", "a")])
    angles = magnon.MagneticEmbedding(1, charge="1/3", output="angles").fit_transform(network)[:, 0]
    steps = np.diff(angles, append=angles[0])
    np.testing.assert_allclose(np.exp(1j * steps), np.exp(1j * steps[0]), atol=1e-6)


def test_two_fits_at_once_give_the_same(data, fitted):
    from concurrent.futures import ThreadPoolExecutor

    def fit(_):
        clf = magnon.MagneticClassifier(charge="1/3", epochs=300, n_jobs=1)
        train, val, test = data.splits[0]
        return clf.fit(data.features, data.labels, graph=data.graph, train=train, val=val, test=test)

    with ThreadPoolExecutor(2) as pool:
        for clf in pool.map(fit, range(2)):
            assert np.array_equal(clf.predict_proba(), fitted.predict_proba())


def test_names_and_containers_of_filtered_features(data):
    import pandas as pd
    import polars as pl
    from sklearn import config_context

    names = [f"c{k}" for k in range(6)]
    X = pd.DataFrame(data.features, columns=names, index=np.arange(150) + 1000)
    plain = magnon.MagneticFeatures(charge="1/3").fit(data.features, graph=data.graph)
    assert plain.get_feature_names_out().tolist() == [f"x{k}_{part}" for part in ("real", "imag") for k in range(6)]
    bank = magnon.MagneticFeatures(bank=[{"charge": 0}, {"charge": "1/3"}]).fit(X.reset_index(drop=True), graph=data.graph)
    assert bank.get_feature_names_out().tolist() == [
        *(f"filter0_{name}" for name in names),
        *(f"filter1_{name}_{part}" for part in ("real", "imag") for name in names),
    ]
    expected = bank.transform(X.reset_index(drop=True))
    with pytest.raises(ValueError, match="input_features"):
        bank.get_feature_names_out(names[::-1])
    with pytest.raises(ValueError, match="default, pandas, polars, not 'arrow'"):
        bank.set_output(transform="arrow")
    named = nx.relabel_nodes(nx.from_scipy_sparse_array(data.graph, create_using=nx.DiGraph), {k: k + 1000 for k in range(150)})
    turned = X.iloc[::-1]
    frame = bank.set_output(transform="pandas").transform(turned, graph=named)
    assert frame.columns.tolist() == bank.get_feature_names_out().tolist() and frame.index.equals(turned.index)
    assert np.array_equal(frame.to_numpy(), expected[::-1])
    assert isinstance(clone(bank).fit_transform(turned, graph=named), pd.DataFrame)
    assert bank.set_output(transform="polars").transform(turned, graph=named).shape == (150, 18)
    assert isinstance(bank.set_output(transform="default").transform(turned, graph=named), np.ndarray)
    with config_context(transform_output="pandas"):
        assert isinstance(plain.transform(data.features), pd.DataFrame)
    chain = make_pipeline(magnon.MagneticFeatures(), LogisticRegression()).set_output(transform="pandas")
    assert chain.fit(X, data.labels).predict(X).shape == (150,)
    alone = magnon.MagneticFeatures(charge="1/3").fit(X)
    assert len(alone.get_feature_names_out()) == alone.transform(X).shape[1]
