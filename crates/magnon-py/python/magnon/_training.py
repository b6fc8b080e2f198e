"""Training, prediction, comparison and search, as the commands do them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from . import _magnon
from ._dataset import Dataset, check_files, take
from ._settings import to_json
from ._keywords import (
    CompareSettings,
    ModelSettings,
    Path,
    SourceSettings,
    TrainSettings,
    Unpack,
    check_keywords,
    documented,
)
from ._kept import check_classes, check_columns, keep, read_classes
from ._progress import Progress, watching
from ._results import Page, Result, short
from .errors import ArgumentError


#: What a run shows of itself.
_SHOWN = (
    "model",
    "dataset",
    "charge_text",
    "filter",
    "order",
    "epochs",
    "train_accuracy",
    "val_accuracy",
    "test_accuracy",
    "verdict",
)


class Run(Result):
    """A trained model: the figures of ``magnon train``, and what it predicts.

    ``test_accuracy``, ``test_interval``, ``verdict``, ``controls``, ``charge_text`` and ``seconds`` are among its
    attributes; ``history`` has a column per figure and a row per epoch.
    """

    def __init__(
        self,
        model: _magnon.Model,
        classes: npt.NDArray[Any] | None = None,
        feature_names: list[str] | None = None,
    ) -> None:
        names, rows = model.history()
        table = np.asarray(rows, dtype=np.float64).reshape(len(rows), len(names))
        history = {name: table[:, k] for k, name in enumerate(names)}
        super().__init__(model.report(), history=history)
        self.__dict__.update(_model=model, _classes=classes, _feature_names=feature_names)

    @property
    def config(self) -> Result:
        """The configuration, as a run folder has it."""
        return Result(self._model.config())

    @property
    def probabilities(self) -> npt.NDArray[np.float32]:
        """Probabilities of the classes, one row per node of the data."""
        return np.exp(self._model.log_probabilities())

    @property
    def page(self) -> Page:
        """The report of the run on one page: cycles, charges, spectrum, training, errors and a map."""
        return Page(self._model.page())

    plot = page

    def save(self, folder: Path, *, overwrite: bool = False) -> None:
        """Writes a run folder, which ``magnon predict`` and :func:`predict` read."""
        check_classes(self._classes)
        self._model.save(os.fspath(folder), overwrite, True)
        keep(folder, self._classes, self._feature_names)

    def __repr__(self) -> str:
        shown = [(key, self._shown(key)) for key in _SHOWN if self.get(key) is not None]
        more = len(self) - len(shown)
        return f"{self._listed(shown)}\n… {more} more: to_dict(), or the page of the run with .page"

    def _shown(self, key: str) -> str:
        value, of_all = self[key], ""
        if isinstance(value, Result):
            value, of_all = value["mean"], f", mean of {value.n} runs"
        if not key.endswith("_accuracy"):
            return short(value) + of_all
        interval = self.get("test_interval") if key == "test_accuracy" else None
        text = f"{100 * value:.1f} %"
        if interval is not None:
            text += f" ({100 * interval.low:.1f} to {100 * interval.high:.1f} %)"
        return text + of_all

    def __reduce__(self) -> tuple[Any, ...]:
        *parts, data = self._model.state()
        return _restored, (parts, Dataset(data, classes=self._classes, feature_names=self._feature_names))


def _restored(parts: list[Any], data: Dataset) -> Run:
    weights, config, report, history, known = parts
    model = _magnon.Model.from_state(weights, config, report, history, known, data._inner)
    return Run(model, data._classes, data.feature_names)


@documented("train")
def train(
    data: Any = "demo", *, progress: Progress = False, **settings: Unpack[TrainSettings]
) -> Run:
    """Trains a model to classify nodes.

    Parameters
    ----------
    data : graph, Dataset, or name of data
        With features, labels and a split: of its own, or drawn with ``split="60/20/20"``.
    **settings
        Those of ``magnon train``, among them ``model``, ``charge``, ``order``, ``hidden``, ``epochs``,
        ``runs``, ``controls``, ``seed`` and ``output``, a folder that the run is kept in.

    Returns
    -------
    Run

    Examples
    --------
    >>> import magnon
    >>> run = magnon.train("cyclic:nodes=90,columns=4", charge="1/3", epochs=20, seed=1)
    >>> run.model, run.charge_text, run.epochs
    ('mgc', '1/3', 20)
    """
    check_keywords(train, settings)
    named = isinstance(data, (str, os.PathLike))
    if named:
        check_files(settings)
    dataset, rest = (None, dict(settings)) if named else training_data(data, dict(settings), progress)
    source = os.fspath(data) if dataset is None else dataset.name
    inner = None if dataset is None else dataset._inner
    classes = None if dataset is None else dataset._classes
    columns = None if dataset is None else dataset.feature_names
    output = settings.get("output")
    if output is not None:
        check_classes(classes)
    with watching(progress) as watch:
        run = Run(_magnon.train(inner, source, to_json(rest), watch), classes, columns)
    if output is not None:
        keep(output, classes, columns)
    return run


def training_data(data: Any, settings: dict[str, Any], progress: Progress) -> tuple[Dataset, dict[str, Any]]:
    return take(data, settings, progress, keep=("split", "split_seed"))


def models(name: str | None = None) -> Result:
    """The models that can be trained, or one with its paper, its settings and how it is trained by default.

    Examples
    --------
    >>> import magnon
    >>> magnon.models().models[0].name
    'mgc'
    >>> magnon.models("gat").config.model.heads
    8
    """
    return Result(_magnon.models(name))


class Predictions(Result):
    """What a model predicts: ``labels``, ``probabilities`` and ``node_names``, with the figures."""


@documented("predict")
def predict(
    run: Path,
    data: Any = None,
    *,
    full: bool | None = False,
    device: str | None = None,
    progress: Progress = False,
    **settings: Unpack[SourceSettings],
) -> Predictions:
    """Classifies nodes with the model of a run folder.

    Parameters
    ----------
    run : path
        The folder that :func:`train` or the command line wrote.
    data : graph, Dataset, or name of data, optional
        Those that the model was trained on by default. Features are scaled as the model's were.
    full : bool
        Compute every row, even those that the run has predicted and no change can reach.
    device : str, optional
        Where it runs, ``"cuda"`` for an NVIDIA card; for data by name.

    Returns
    -------
    Predictions
        With ``labels`` of the type that the run was trained on: numbers where all classes are whole numbers.
    """
    check_keywords(predict, settings)
    folder = os.fspath(run)
    if data is None or isinstance(data, (str, os.PathLike)):
        check_files(settings)
        source = None if data is None else os.fspath(data)
        with watching(progress) as watch:
            known, classes, told, names = _magnon.predict(
                folder, source, to_json({**settings, "full": full, "device": device}), watch
            )
        return _predictions(told, known, read_classes(folder, classes), names)
    if device not in (None, "cpu"):
        raise ArgumentError("device is for data by name; nodes of a graph in memory are classified on the processor")
    about: dict[str, Any] = dict(settings) if isinstance(data, Dataset) else {"feature_norm": "none", **settings}
    dataset, rest = take(data, about, progress)
    check_columns(folder, dataset.feature_names)
    model = _magnon.Model.load(folder, dataset._inner)
    known = model.predict(dataset._inner, rest.get("threads"))
    return _predictions({}, known, read_classes(folder, model.classes), dataset.node_names)


def _predictions(told: Any, known: Any, classes: npt.NDArray[Any], names: Any) -> Predictions:
    labels = classes[known.argmax(axis=1)]
    return Predictions(told, labels=labels, probabilities=np.exp(known), node_names=names)


class Comparison(Result):
    """Models side by side: ``models``, ``controls``, ``verdict``, and a ``page``."""

    @property
    def page(self) -> Page:
        """The verdict, and the intervals as a chart."""
        return Page(self._page)

    plot = page


@documented("compare")
def compare(
    data: Any = "demo",
    models: Sequence[str] | None = None,
    *,
    splits: int | None = None,
    runs: int | None = None,
    draws: int | None = None,
    tune: float | None = None,
    tune_trials: int | None = None,
    memory: str | None = None,
    progress: Progress = False,
    **settings: Unpack[CompareSettings],
) -> Comparison:
    """Compares models over many splits, with controls, intervals and a verdict on direction.

    Parameters
    ----------
    models : sequence of str
        Names of models, or files such as the config.json of a run.
    splits, runs, draws : int
        Splits that each is trained on, seeds on each, and graphs with directions by coin.
    tune, tune_trials : float, int
        Search the settings of each first: minutes for each, or trials on each split.
    memory : str
        Memory that the process may hold, such as ``"8G"``; a model that needs more is a row that says so.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import magnon
    >>> found = magnon.compare("cyclic:nodes=60,columns=4", ["mgc", "mlp"], splits=2, draws=1)
    >>> sorted(row.model for row in found.models)
    ['mgc', 'mlp']
    """
    check_keywords(compare, settings)
    dataset, rest = training_data(data, dict(settings), progress)
    rest.update(models=models, splits=splits, runs=runs, draws=draws)
    rest.update(tune=tune, tune_trials=tune_trials, memory=memory)
    with watching(progress) as watch:
        return compared(dataset, to_json(rest), watch)


def compared(dataset: Dataset, keywords: str, watch: Any, journal: str | None = None) -> Comparison:
    """A comparison, with what the journal has of it."""
    told, page = _magnon.compare(dataset._inner, keywords, watch, journal)
    found = Comparison(told)
    found.__dict__["_page"] = page
    return found


@documented("tune")
def tune(
    data: Any = "demo",
    *,
    trials: int | None = None,
    minutes: float | None = None,
    search: Literal["halving", "random"] | None = None,
    splits: int | None = None,
    runs: int | None = None,
    progress: Progress = False,
    **settings: Unpack[ModelSettings],
) -> Result:
    """Searches for better settings of a model, on validation nodes alone.

    Parameters
    ----------
    trials, minutes : int, float
        Settings that are tried, or the time that the search may take.
    search : {"halving", "random"}
        Whether trials that fall behind are given up early, or all are trained to their end.
    splits, runs : int
        Splits that each trial is trained on, and seeds on each.
    **settings
        Those of ``magnon tune``: what the trials have in common.

    Returns
    -------
    Result
        With ``trials``, ``best``, ``config`` and ``importance``.

    Examples
    --------
    >>> import magnon
    >>> found = magnon.tune("cyclic:nodes=60,columns=4", trials=3, epochs=20, charge="1/3")
    >>> len(found.trials)
    3
    """
    check_keywords(tune, settings)
    dataset, rest = search_data(data, dict(settings), progress)
    rest.update(trials=trials, minutes=minutes, search=search, splits=splits, runs=runs)
    with watching(progress) as watch:
        return Result(_magnon.tune(dataset._inner, to_json(rest), watch))


def search_data(data: Any, settings: dict[str, Any], progress: Progress) -> tuple[Dataset, dict[str, Any]]:
    """The data set that a search is about, and its checked keywords."""
    if settings.get("model") == "":
        raise ArgumentError("the name of the model is empty")
    return training_data(data, settings, progress)
