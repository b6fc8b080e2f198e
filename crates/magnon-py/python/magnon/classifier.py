"""``MagneticClassifier``: node classification with scikit-learn's conventions."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _magnon
from ._align import RowOrder, order_beside
from ._arrays import read_features, read_part
from ._classifier_inputs import edges_of, kind_of, left_open, nodes_of, parts_of, seed_of
from ._dataset import Dataset, as_dataset
from ._estimator import Estimator
from ._settings import to_json
from ._graphs import Edges, edgeless
from ._kept import check_classes, keep, plain, read_classes, read_kept
from ._labels import Labels, read_labels
from ._progress import remark
from ._run_parameters import parameters
from ._training import Run
from .errors import ArgumentError, DataError

#: Parameters that are not settings of training.
_OWN = ("random_state", "n_jobs", "validation_fraction", "settings", "data")


class MagneticClassifier(Estimator):
    """Classifies the nodes of a directed graph, by any model of Magnon.

    Parameters
    ----------
    model : str
        One of ``magnon models``; MGC by default.
    charge, phase, symmetrize, normalize, self_loops, kind, pass_
        The operator, where the model takes one.
    filter, order, alpha, time, coefficients, feedback, exact, tolerance
        The filter, where the model takes one.
    channels, hidden, layers, dropout, gate, init, settings
        The model's own settings; ``settings`` is a dictionary of further ones, such as ``{"heads": 4}``.
    epochs, patience, batch, rate, weight_decay, decay, clip, schedule
        How it is trained.
    device : str, optional
        Where it is trained: ``"cpu"`` (the default), ``"cuda"``, ``"cuda:1"`` or ``"auto"``.
    feature_norm : {"auto", "row", "standard", "none"}
        How features are scaled.
    runs, controls : int, bool
        How often it is trained, and whether networks without direction and without the graph are, too.
    validation_fraction : float
        Share of the labelled nodes that decide when to stop, where ``fit`` is given no ``val``.
    data : Dataset, optional
        Graph and features, for cross-validation: ``X`` then holds numbers of nodes, see :class:`MaskSplit`.
    random_state : int
        The seed.
    n_jobs : int, optional
        Threads; all cores by default. The result does not depend on it.

    Attributes
    ----------
    classes_ : array
        The classes, in the type of the labels.
    run_ : Run
        The figures: accuracy with its interval, verdict, controls, page.
    history_ : dict of arrays
        Losses and accuracies by epoch.
    charge_ : float or None
        The charge taken.
    n_features_in_ : int
        Columns of the features.
    feature_names_in_ : array
        Their names, where the features came with names; ``predict`` and ``score`` refuse others.
    node_names_ : list or None
        What the graph calls its nodes.

    Examples
    --------
    >>> import magnon
    >>> data = magnon.generate("cyclic", nodes=90, columns=4, seed=1)
    >>> train, val, _ = data.splits[0]
    >>> clf = magnon.MagneticClassifier(charge="1/3", epochs=50)
    >>> clf = clf.fit(data.features, data.labels, graph=data.graph, train=train, val=val)
    >>> clf.predict(data.features).shape, clf.classes_
    ((90,), array([0, 1, 2]))
    """

    def __init__(
        self,
        model: str = "mgc",
        *,
        charge: Any = None,
        phase: str | None = None,
        symmetrize: str | None = None,
        normalize: str | None = None,
        self_loops: bool | None = None,
        kind: str | None = None,
        pass_: str | None = None,
        filter: str | None = None,
        order: int | None = None,
        alpha: float | None = None,
        time: float | None = None,
        coefficients: Any = None,
        feedback: Any = None,
        exact: bool = False,
        tolerance: float | None = None,
        channels: str | None = None,
        hidden: int | None = None,
        layers: int | None = None,
        dropout: float | None = None,
        gate: str | None = None,
        init: str | None = None,
        settings: dict[str, Any] | None = None,
        epochs: int | None = None,
        patience: int | None = None,
        batch: int | None = None,
        rate: float | None = None,
        weight_decay: float | None = None,
        decay: str | None = None,
        clip: float | None = None,
        schedule: str | None = None,
        device: str | None = None,
        preset: Any = None,
        feature_norm: str = "auto",
        runs: int | None = None,
        controls: bool = False,
        validation_fraction: float = 0.2,
        data: Dataset | None = None,
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.model = model
        self.charge = charge
        self.phase = phase
        self.symmetrize = symmetrize
        self.normalize = normalize
        self.self_loops = self_loops
        self.kind = kind
        self.pass_ = pass_
        self.filter = filter
        self.order = order
        self.alpha = alpha
        self.time = time
        self.coefficients = coefficients
        self.feedback = feedback
        self.exact = exact
        self.tolerance = tolerance
        self.channels = channels
        self.hidden = hidden
        self.layers = layers
        self.dropout = dropout
        self.gate = gate
        self.init = init
        self.settings = settings
        self.epochs = epochs
        self.patience = patience
        self.batch = batch
        self.rate = rate
        self.weight_decay = weight_decay
        self.decay = decay
        self.clip = clip
        self.schedule = schedule
        self.device = device
        self.preset = preset
        self.feature_norm = feature_norm
        self.runs = runs
        self.controls = controls
        self.validation_fraction = validation_fraction
        self.data = data
        self.random_state = random_state
        self.n_jobs = n_jobs

    # ``pass_`` ends as learnt attributes do, but is a parameter.
    def __sklearn_is_fitted__(self) -> bool:
        return "run_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        return self._tags("classifier")

    @property
    def _estimator_type(self) -> str:
        return "classifier"

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        graph: Any = None,
        train: Any = None,
        val: Any = None,
        test: Any = None,
    ) -> MagneticClassifier:
        """Trains the model.

        Parameters
        ----------
        X : array, sparse matrix, tensor or frame
            Features, one row per node in the order of the graph's nodes. Rows of a pandas frame that is indexed by the
            names of the nodes are found by these; so are labels and masks. Labels and masks without names have the
            order of X's rows, whatever that is; numbers of nodes are those of the graph.
        y : array
            Labels, one per node; −1, NaN or None for nodes without one. As in scikit-learn's semi-supervised models,
            −1 is no class: its nodes are neither learnt from nor scored.
        graph : graph, optional
            Anything that :func:`as_dataset` takes; without one, nodes stand alone.
        train, val, test : mask or numbers of nodes, optional
            Where labels are learnt from, where training stops, and where it is measured. By default all
            labelled nodes are trained on but for ``validation_fraction`` of them.

        Returns
        -------
        self
        """
        seed = seed_of(self.random_state)
        if self.data is not None:
            X, y, graph = self._placed(X, y)
        read = read_features(X)
        if read.shape[0] == 0 or read.shape[1] == 0:
            raise ValueError(
                f"0 sample(s) or 0 feature(s) (shape={read.shape}) while a minimum of 1 is required."
            )
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        alone = graph is None
        edges = edgeless(read.shape[0]) if alone else edges_of(graph)
        order = order_beside(X, edges, "X")
        train, val, test = (order.part(part, word) for part, word in zip((train, val, test), ("train", "val", "test")))
        labels = order.labels(y, "y")
        if len(labels.codes) != read.shape[0]:
            raise DataError(f"X has {read.shape[0]} rows, but y has {len(labels.codes)} labels")
        self._check_classes(labels)
        parts = parts_of(labels, train, val, test, self.validation_fraction, seed)
        dataset = as_dataset(
            edges,
            order.features(X),
            labels,
            keep_self_loops=isinstance(graph, (Edges, Dataset)),
            feature_norm="none" if self.data is not None else self.feature_norm,
            **dict(zip(("train", "val", "test"), parts)),
        )
        settings = {name: value for name, value in self.get_params().items() if name not in _OWN}
        del settings["feature_norm"]
        settings.update(set=self.settings, seed=seed, threads=self._threads())
        if alone:
            settings.update(left_open(self.model, self.charge, self.pass_))
        model = _magnon.train(dataset._inner, dataset.name, to_json(settings), None)
        self._learn(Run(model, labels.given()), dataset, labels.given())
        self._alone = alone
        self._note_features(X, read.shape)
        return self

    def _learn(self, run: Run, dataset: Dataset, classes: npt.NDArray[Any]) -> None:
        self.run_ = run
        self.classes_ = classes
        self.history_ = run.history
        self.charge_ = run.charge
        self.n_iter_ = len(run.history["epoch"])
        self.node_names_ = dataset.node_names
        self._dataset = dataset

    def _check_classes(self, labels: Labels) -> None:
        if len(labels.classes) < 2:
            unlabelled = "; -1 marks nodes without a label: number the classes from 0" if labels.minus_ones else ""
            raise ValueError(
                f"there is {len(labels.classes)} class in y; a classifier needs at least two: the labels are "
                f"of one class{unlabelled}"
            )
        if labels.minus_ones:
            remark(f"{labels.minus_ones} of {len(labels.codes)} labels are -1, which marks nodes without a label")

    def _placed(self, X: Any, y: Any) -> tuple[Any, Any, Any]:
        """Features, labels and graph of the data, where X holds numbers of nodes."""
        assert self.data is not None
        nodes = nodes_of(X, self.data.nodes)
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        labels = read_labels(y)
        if len(labels.codes) != len(nodes):
            raise DataError(f"X has {len(nodes)} rows, but y has {len(labels.codes)} labels")
        codes = np.full(self.data.nodes, -1, dtype=np.int64)
        codes[nodes] = labels.codes
        return self.data.features, labels._replace(codes=codes), self.data.edges()

    def _log_probabilities(self, X: Any, graph: Any) -> tuple[npt.NDArray[np.float32], RowOrder]:
        """Log-probabilities in the order of the nodes, and that of the rows of X."""
        self._check_fitted()
        known = self.run_._model.log_probabilities()
        if X is None and graph is None:
            return known, RowOrder(None, self.node_names_, len(known), "X", linked=not self._alone)
        if self.data is not None and graph is None:
            found = known[nodes_of(X, len(known))]
            return found, RowOrder(None, None, len(found), "X", linked=False)
        read = read_features(X)
        if read.shape[0] == 0:
            raise ValueError(f"0 sample(s) (shape={read.shape}) while a minimum of 1 is required.")
        self._check_features(X, read.shape)
        if graph is None:
            trained_on = self._dataset
            if not self._alone and read.shape[0] != trained_on.nodes:
                raise DataError(
                    f"the graph has {trained_on.nodes} nodes, but X has {read.shape[0]} rows; give the graph of "
                    "other nodes with graph="
                )
            graph = edgeless(read.shape[0]) if self._alone else trained_on.edges()
        kept, edges = isinstance(graph, (Edges, Dataset)), edges_of(graph)
        order = order_beside(X, edges, "X")
        dataset = as_dataset(edges, order.features(X), feature_norm="none", keep_self_loops=kept)
        return self.run_._model.predict(dataset._inner, self._threads()), order

    def predict_log_proba(self, X: Any = None, *, graph: Any = None) -> npt.NDArray[np.float32]:
        """Log-probabilities of the classes, one row per node; see :meth:`predict_proba`."""
        found, order = self._log_probabilities(X, graph)
        return order.as_given(found)

    def predict_proba(self, X: Any = None, *, graph: Any = None) -> npt.NDArray[np.float64]:
        """Probabilities of the classes, one row per node, in the order of the rows of X.

        Parameters
        ----------
        X : features, optional
            Those of the same or of other nodes; those that it was trained on by default.
        graph : graph, optional
            The graph of these nodes; the one that it was trained on by default.
        """
        found = np.exp(self.predict_log_proba(X, graph=graph).astype(np.float64))
        return found / found.sum(axis=1, keepdims=True)

    def predict(self, X: Any = None, *, graph: Any = None) -> npt.NDArray[Any]:
        """The class of each node; see :meth:`predict_proba`."""
        found = self.predict_log_proba(X, graph=graph)
        return self.classes_[found.argmax(axis=1)]

    def score(self, X: Any, y: Any, *, graph: Any = None, mask: Any = None) -> float:
        """Accuracy on the labelled nodes, or on those of a mask. Labels are given as in :meth:`fit`."""
        self._check_fitted()
        self._check_kind(read_labels(y))
        log_probabilities, order = self._log_probabilities(X, graph)
        labels, mask = order.labels(y, "y"), order.part(mask, "mask")
        known = np.flatnonzero(labels.codes >= 0)
        if mask is not None:
            known = np.intersect1d(known, read_part(mask, len(labels.codes), "mask"))
        if not len(known):
            raise DataError("there is no labelled node to score by")
        found = self.classes_[log_probabilities.argmax(axis=1)]
        if len(found) != len(labels.codes):
            raise DataError(f"X has {len(found)} rows, but y has {len(labels.codes)} labels")
        return float(np.mean(found[known] == labels.classes[labels.codes[known]]))

    def _check_kind(self, labels: Labels) -> None:
        """Refuses words where classes are numbers, and numbers where they are words: none of them could be equal."""
        if len(labels.classes) and {kind_of(labels.classes), kind_of(self.classes_)} == {"words", "numbers"}:
            classes = ", ".join(repr(one) for one in self.classes_[:5].tolist())
            raise DataError(
                f"the labels are {kind_of(labels.classes)} ({labels.dtype}), but the classes of fit are "
                f"{kind_of(self.classes_)}: {classes}{', …' if len(self.classes_) > 5 else ''}"
            )

    def save(self, folder: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Writes the run folder of the command line, with classes, parameters and names of columns beside it."""
        self._check_fitted()
        check_classes(self.classes_)
        self.run_.save(folder, overwrite=overwrite)
        given = {name: plain(value) for name, value in self.get_params().items() if name != "data"}
        if not isinstance(self.random_state, int):
            given["random_state"] = self.run_.config.train.seed
        names = getattr(self, "feature_names_in_", None)
        names = None if names is None else names.tolist()
        keep(folder, self.classes_, names, parameters=given, alone=self._alone)

    @classmethod
    def load(cls, folder: str | os.PathLike[str], *, graph: Any = None, X: Any = None) -> MagneticClassifier:
        """Reads a run folder; a run on a graph in memory needs that graph and its features again. One without a
        graph needs its features alone.

        Classes and parameters are those of the classifier that was saved; ``data`` is not kept. Parameters of a run of
        the command line are those of its configuration.
        """
        told = read_kept(folder)
        alone = graph is None and told.get("alone") is True
        if alone and X is None:
            raise ArgumentError("the classifier was fitted without a graph; give its features with X=")
        if alone:
            graph = edgeless(read_features(X).shape[0])
        given = None if graph is None else as_dataset(graph, X, feature_norm=None if X is None else "none")
        model = _magnon.Model.load(os.fspath(folder), None if given is None else given._inner)
        classes = read_classes(folder, model.classes)
        run = Run(model, classes)
        known = told.get("parameters") or parameters(run.config)
        clf = cls(**{name: value for name, value in known.items() if name in cls._names()})
        dataset = given or Dataset(model.dataset, classes=classes)
        clf._learn(run, dataset, classes)
        clf._alone = alone
        features = dataset.features
        clf._note_features(X, (0, 0) if features is None else features.shape)
        if told.get("feature_names"):
            clf.feature_names_in_ = np.asarray(told["feature_names"], dtype=object)
            if X is not None:
                clf._check_features(X, (0, clf.n_features_in_))
        return clf
