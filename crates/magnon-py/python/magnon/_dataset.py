"""Data sets: a graph with what is known about its nodes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _magnon
from ._align import order_beside
from ._arrays import read_features, scipy_sparse
from ._settings import split_settings, to_json
from ._graphs import Columns, Edges, read_graph
from ._keywords import FOR_FILES, GENERATED, HIDDEN, IN_MEMORY, DataSettings, Unpack
from ._keywords import check_keywords, documented, refuse_unknown
from ._labels import class_values, read_labels
from ._progress import Progress, remark, watching
from ._results import Result
from ._splits import read_splits
from .errors import ArgumentError

_MADE = ("degree", "identity")


class Dataset:
    """A directed graph with features, labels and splits.

    Made by :func:`load_dataset`, :func:`generate` and :func:`as_dataset`.

    Attributes
    ----------
    name : str
        Where it came from.
    node_names : list or None
        What the nodes are called, in the order of all arrays; None where they are 0, 1, 2….
    feature_names : list of str or None
        What the columns of the features are called, where they came with names.
    """

    def __init__(
        self,
        inner: _magnon.Dataset,
        node_names: list[Any] | None = None,
        classes: npt.NDArray[Any] | None = None,
        feature_names: list[str] | None = None,
    ) -> None:
        self._inner = inner
        self._classes = classes
        self.node_names: list[Any] | None = node_names if node_names is not None else inner.node_names()
        self.feature_names = feature_names

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return self._inner.nodes

    @property
    def graph(self) -> Any:
        """The adjacency as a ``scipy.sparse.csr_array``: row = source, column = target."""
        csr_array = scipy_sparse().csr_array
        rows = self._inner.rows()
        data = rows["data"] if rows["data"] is not None else np.ones(len(rows["indices"]), np.float32)
        return csr_array((data, rows["indices"], rows["indptr"]), shape=(self.nodes, self.nodes))

    @property
    def features(self) -> Any:
        """The features, scaled as asked for: an array, or a ``scipy.sparse.csr_array``; None without any."""
        found = self._inner.features()
        if not isinstance(found, tuple):
            return found
        indptr, indices, data, rows, columns = found
        return scipy_sparse().csr_array((data, indices, indptr), shape=(rows, columns))

    @property
    def labels(self) -> npt.NDArray[np.int64] | None:
        """The number of each node's class, −1 without one; None without labels."""
        found = self._inner.labels()
        return None if found is None else found[0]

    @property
    def classes(self) -> npt.NDArray[Any] | None:
        """The classes, in the type of the labels; those of files are numbers where all are whole numbers."""
        if self._classes is not None:
            return self._classes
        found = self._inner.labels()
        return None if found is None else class_values(found[1])

    @property
    def splits(self) -> list[tuple[npt.NDArray[np.int64], ...]]:
        """Training, validation and test nodes of each split."""
        return [tuple(parts) for parts in self._inner.splits()]

    # A data set does not change, so that a copy is the data set itself.
    def __copy__(self) -> Dataset:
        return self

    def __deepcopy__(self, memo: Any) -> Dataset:
        return self

    def edges(self) -> Edges:
        """The edges as compressed rows, for another data set on the same graph."""
        rows = self._inner.rows()
        return Edges(self.nodes, True, rows["indptr"], rows["indices"], rows["data"], self.node_names)

    def info(self) -> Result:
        """What the data set looks like: what ``magnon info`` tells."""
        return Result(self._inner.info())

    def __repr__(self) -> str:
        return f"Dataset({self.name!r}, {self.nodes} nodes)"

    def _repr_html_(self) -> str:
        return self.info()._repr_html_()

    def __reduce__(self) -> tuple[Any, ...]:
        inner = self._inner
        return _restored, (
            (inner.nodes, inner.rows(), inner.features(), inner.labels(), inner.splits()),
            (inner.name, inner.scaling(), inner.node_names()),
            (self.node_names, self._classes, self.feature_names),
        )


def _restored(arrays: Any, words: Any, kept: Any) -> Dataset:
    """The data set of a pickle."""
    nodes, rows, features, labels, splits = arrays
    name, scaling, names = words
    inner = _magnon.Dataset.from_arrays(
        nodes,
        True,
        rows["indptr"],
        rows["indices"],
        name=name,
        weights=rows["data"],
        features=(*features[:3], features[4]) if isinstance(features, tuple) else features,
        labels=labels,
        splits=splits,
        node_names=names,
        keep_self_loops=True,
        scaling=scaling,
    )
    return Dataset(inner, *kept)


@documented("info")
def load_dataset(
    data: str | os.PathLike[str] = "demo",
    *,
    progress: Progress = False,
    **settings: Unpack[DataSettings],
) -> Dataset:
    """Reads a folder or file in any format that Magnon reads, a public data set, or a generator's graph.

    Parameters
    ----------
    data : str or path
        Folder, file, name of :func:`fetch`'s list, or a generator such as ``cyclic:nodes=500``.
    progress : bool or callable
        True shows a bar.
    **settings
        Keywords of the data, such as ``reverse``, ``feature_norm``, ``split``.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import magnon
    >>> data = magnon.load_dataset("cyclic:nodes=30,columns=2")
    >>> data.nodes, data.features.shape, len(data.splits)
    (30, (30, 2), 1)
    """
    check_keywords(load_dataset, settings)
    check_files(settings)
    with watching(progress) as watch:
        inner = _magnon.Dataset.load(os.fspath(data), to_json(settings), watch)
    for text in inner.remarks():
        remark(text)
    return Dataset(inner)


def generate(kind: str = "cyclic", **settings: Any) -> Dataset:
    """Generates a directed graph with features, labels and a split.

    Parameters
    ----------
    kind : str
        ``cycle``, ``cyclic``, ``ordered``, ``noisy``, ``feed-forward`` or ``erdos-renyi``.
    **settings
        ``nodes``, ``blocks``, ``density``, ``within``, ``mutual``, ``direction``, ``columns``, ``noise``,
        ``seed``: what the generator takes, as on the command line.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import magnon
    >>> magnon.generate("cycle", nodes=5).graph.nnz
    5
    """
    refuse_unknown(settings, GENERATED, hidden=("threads",))
    inner, _ = _magnon.Dataset.generate(kind, to_json(settings))
    return Dataset(inner)


def fetch(name: str, *, allow_unverified: bool = False, progress: Progress = False) -> str:
    """Downloads a public data set by name, or finds it where it was kept.

    Returns
    -------
    str
        The folder, for :func:`load_dataset`.
    """
    with watching(progress) as watch:
        return _magnon.fetch(name, allow_unverified, watch)


def fetch_list() -> list[Result]:
    """The public data sets that :func:`fetch` knows.

    Examples
    --------
    >>> import magnon
    >>> "texas" in [entry.name for entry in magnon.fetch_list()]
    True
    """
    return list(Result(_magnon.fetch_list()).datasets)


def as_dataset(
    graph: Any,
    features: Any = None,
    labels: Any = None,
    *,
    train: Any = None,
    val: Any = None,
    test: Any = None,
    splits: Iterable[Iterable[Any]] | None = None,
    name: str = "graph",
    classes: npt.NDArray[Any] | None = None,
    **settings: Any,
) -> Dataset:
    """Makes a data set of a graph in memory.

    Parameters
    ----------
    graph : scipy sparse matrix, networkx or igraph graph, PyG Data, DGL graph, edge table or edge array
        Row = source, column = target. Self loops are dropped and edges that are there twice are summed,
        unless ``keep_self_loops`` and ``duplicates`` say otherwise. An edge of weight 0 is dropped with a warning. Of a
        :class:`Dataset` the graph is taken, and what is not given anew.
    features : array, sparse matrix, tensor or frame, optional
        One row per node, in the order of the graph's nodes; or ``"degree"`` or ``"identity"``. The numbers are
        copied once, to single precision. Rows of a pandas frame that is indexed by the names of the nodes are found by
        these; so are labels and masks. Labels and masks without names have the order of the features' rows.
    labels : array, optional
        One per node; −1, NaN or None for nodes without one.
    train, val, test : mask or numbers of nodes, optional
        The parts of a split; ``test`` is by default what is labelled and in neither of the others. Masks of n × k are
        those of k splits.
    splits : sequence of (train, test) or (train, val, test), optional
        Several splits, in place of ``train``, ``val`` and ``test``.
    **settings
        ``nodes``, ``weight``, ``source``, ``target``, ``duplicates``, ``keep_self_loops``, ``reverse``,
        ``unweighted`` and ``feature_norm``, as in :func:`load_dataset`.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import numpy as np, magnon
    >>> magnon.as_dataset(np.array([[0, 1], [1, 2], [2, 0]])).nodes
    3
    """
    refuse_unknown(settings, IN_MEMORY, hidden=HIDDEN)
    parts = (train, val, test)
    if isinstance(graph, Dataset) and all(one is None for one in (features, labels, *parts, splits, *settings.values())):
        return graph
    if isinstance(graph, Dataset):
        if features is None and settings.get("feature_norm") is not None:
            raise ArgumentError("feature_norm: the features of the data set are read already; give them with features=")
        if settings.get("keep_self_loops") is None:
            settings["keep_self_loops"] = True
    columns = Columns(*(settings.pop(key, None) for key in ("nodes", "source", "target", "weight")))
    for key in FOR_FILES:
        if settings.pop(key, None) is not None:
            raise ArgumentError(f"{key} is for files; this graph is in memory")
    attached = _attached(graph)
    cells, feature_names, made = None, None, None
    if features is None:
        features, feature_names = attached.get("features"), attached.get("feature_names")
        settings.update(attached.get("scaled", {}))
    if labels is None:
        labels, classes = attached.get("labels"), attached.get("classes", classes)
    edges = graph.edges() if isinstance(graph, Dataset) else read_graph(graph, columns)
    order = order_beside(features, edges, "features")
    if isinstance(features, (str, os.PathLike)):
        made = os.fspath(features)
        if made not in _MADE:
            raise ArgumentError(
                f"features of a graph in memory are an array, 'degree' or 'identity', not {made!r}; read the file first"
            )
    elif features is not None:
        read = read_features(order.features(features))
        cells, feature_names = read.cells, read.columns or feature_names
        if read.shape[0] != edges.nodes and edges.names is None and columns.nodes is None and not edges.rows:
            # An array of pairs does not tell of nodes without edges; the features do.
            if edges.nodes < read.shape[0]:
                edges = edges._replace(nodes=read.shape[0])
    told = None if labels is None else order.labels(labels, "labels", classes)
    if told is not None and edges.names is None and not edges.rows and edges.nodes < len(told.codes):
        edges = edges._replace(nodes=len(told.codes))
    if splits is None and all(part is None for part in parts):
        parts, splits = attached.get("parts", parts), attached.get("splits")
    parts = tuple(order.part(part, word) for part, word in zip(parts, ("train", "val", "test")))
    if splits is not None:
        splits = [[order.part(part, "a part of splits") for part in split] for split in splits]
    inner = _magnon.Dataset.from_arrays(
        edges.nodes,
        edges.rows,
        np.ascontiguousarray(edges.first),
        np.ascontiguousarray(edges.targets),
        name=name,
        weights=edges.weights,
        features=cells,
        labels=None if told is None else (told.codes, told.names()),
        splits=read_splits(edges.nodes, told and told.codes, parts, splits),
        node_names=None if edges.names is None else [str(one) for one in edges.names],
        made=made,
        **{key: value for key, value in settings.items() if value is not None},
    )
    return Dataset(inner, edges.names, None if told is None else told.classes, feature_names)


def _attached(graph: Any) -> dict[str, Any]:
    """What PyTorch Geometric's Data, or another data set, brings with the edges."""
    if isinstance(graph, Dataset):
        inner = graph._inner
        found = {"features": graph.features, "scaled": {"scaling": inner.scaling()}, "splits": graph.splits or None}
        found["feature_names"] = graph.feature_names
        labels, classes = graph.labels, graph.classes
        if labels is not None and classes is not None:
            found["labels"] = read_labels(labels, np.arange(len(classes)))._replace(classes=classes)
        return {key: value for key, value in found.items() if value is not None}
    if not hasattr(graph, "edge_index"):
        return {}
    found = {key: getattr(graph, name, None) for key, name in (("features", "x"), ("labels", "y"))}
    parts = tuple(getattr(graph, f"{part}_mask", None) for part in ("train", "val", "test"))
    if parts[0] is not None:
        found["parts"] = parts
    return {key: value for key, value in found.items() if value is not None}


def check_files(settings: Mapping[str, Any]) -> None:
    """Refuses arrays beside data that are given by name."""
    for key in ("features", "labels"):
        if not isinstance(settings.get(key), (type(None), str, os.PathLike)):
            raise ArgumentError(f"{key} of files are files; read the graph first, and give both as arrays")


def take(
    data: Any, settings: dict[str, Any], progress: Progress, *, keep: tuple[str, ...] = ()
) -> tuple[Dataset, dict[str, Any]]:
    """The data set that a function is about, and the keywords that are not about it.

    ``keep`` names keywords about the data that the function uses itself.
    """
    about, rest = split_settings(settings)
    rest.update({key: about.pop(key) for key in keep if key in about})
    if isinstance(data, Dataset):
        features = about.get("features")
        if features is not None:
            # Features beside a data set are another data set on its graph.
            norm = about.pop("feature_norm", None)
            data = as_dataset(data, about.pop("features"), feature_norm=norm, name=data.name)
        given = [key for key, value in about.items() if value is not None]
        if given:
            raise ArgumentError(f"{', '.join(given)}: the data set is read already; say so to load_dataset")
        return data, rest
    if isinstance(data, (str, os.PathLike)):
        common = {key: rest[key] for key in ("seed",) if key in rest}
        return load_dataset(data, progress=progress, **about, **common), rest
    about.pop("split_seed", None)
    if about.pop("split", None) is not None:
        raise ArgumentError("split is for models; give a graph in memory its parts as train, val and test")
    return as_dataset(data, about.pop("features", None), about.pop("labels", None), **about), rest
