"""What a call on a cluster is about: the graph and the features, at the driver and as workers get them."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Union

import numpy as np

from . import _magnon
from ._blocks import Span
from ._dataset import Dataset, load_dataset, take
from ._settings import split_settings, to_json
from ._progress import Progress, remark
from ._shipping import SharedFile, engine
from .errors import ArgumentError

#: Keywords that say how a table of features is read, beside a graph that is packed already.
_TABLE = ("id_column", "label_column", "missing", "extra_ids")


@dataclass(frozen=True)
class Packed:
    """A packed graph as a worker gets it: a file that it may see, and its chunks where it was shipped."""

    file: SharedFile
    chunks: list[Any] | None
    #: Whether it may be seen.
    shared: bool

    def dataset(self) -> Dataset | None:
        if self.shared and self.file.is_here():
            return load_dataset(self.file.path)
        return None if self.chunks is None else self.file.read_copy(self.chunks, load_dataset)


@dataclass(frozen=True)
class Put:
    """A graph in the object store."""

    ref: Any

    def dataset(self) -> Dataset:
        return engine().get(self.ref)


@dataclass(frozen=True)
class Graph:
    """The graph, at the driver."""

    source: str | Dataset
    shared: bool | None

    @cached_property
    def dataset(self) -> Dataset:
        return load_dataset(self.source) if isinstance(self.source, str) else self.source

    def shipped(self, *, whole: bool = False) -> Packed | Put:
        """What workers get; ``whole`` with its chunks, for machines that do not see the file."""
        if not isinstance(self.source, str):
            return Put(engine().put(self.source))
        file = SharedFile.of(self.source, has_checksums=True)
        ships = whole or self.shared is False
        return Packed(file, file.ship() if ships else None, self.shared is not False)

    def check(self) -> str:
        """What tells it from other graphs."""
        if isinstance(self.source, str):
            return SharedFile.of(self.source, has_checksums=True).check
        rows = self.source._inner.rows()
        return _hash([rows[key] for key in ("indptr", "indices", "data") if rows[key] is not None])


@dataclass(frozen=True)
class TableFile:
    """A file of features, as a worker gets it."""

    file: SharedFile
    #: How it is read.
    keywords: str

    def open(self, graph: Dataset) -> _magnon.FeatureFile:
        return _magnon.FeatureFile(self.file.path, graph._inner, self.keywords)


@dataclass(frozen=True)
class FileTable:
    """Features that stay in their file, at the driver."""

    inner: _magnon.FeatureFile
    source: TableFile
    #: Whether workers may read the file themselves.
    shared: bool

    @property
    def shape(self) -> tuple[int, int]:
        return self.inner.shape

    @property
    def file(self) -> TableFile | None:
        """What workers read it by, where they may."""
        return self.source if self.shared else None

    def block(self, span: Span) -> Any:
        return self.inner.columns(*span)

    def check(self) -> str:
        """What tells them from other features."""
        return " ".join((self.source.file.check, self.source.keywords))


@dataclass(frozen=True)
class Table:
    """Features in memory, at the driver."""

    cells: Any
    #: Workers cannot read them themselves.
    file: TableFile | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.cells.shape[0]), int(self.cells.shape[1])

    def block(self, span: Span) -> Any:
        part = self.cells[:, span[0] : span[1]]
        part = part.toarray() if hasattr(part, "toarray") else part
        return np.ascontiguousarray(part, dtype=np.float32)

    def check(self) -> str:
        """What tells them from other features."""
        sparse = hasattr(self.cells, "indptr")
        return _hash([self.cells.indptr, self.cells.indices, self.cells.data] if sparse else [self.cells])


AnyTable = Union[FileTable, Table]


def _hash(arrays: list[Any]) -> str:
    """A checksum of arrays, read a part at a time."""
    hasher = hashlib.sha256()
    for array in arrays:
        hasher.update(f"{array.dtype} {array.shape}".encode())
        rows = max(1, (16 << 20) // max(1, array[:1].nbytes))
        for first in range(0, len(array), rows):
            hasher.update(np.ascontiguousarray(array[first : first + rows]).data)
    return hasher.hexdigest()[:32]


def read_source(
    data: Any, features: Any, settings: dict[str, Any], shared: bool | None, progress: Progress
) -> tuple[Graph, AnyTable, dict[str, Any]]:
    """The graph, the features, and the settings that are left."""
    about, rest = split_settings(settings)
    raw = (about.get("feature_norm") or "none") == "none"
    in_file = isinstance(features, (str, os.PathLike))
    stays = features is not None and (not in_file or _magnon.FeatureFile.is_one(os.fspath(features)))
    if isinstance(data, (str, os.PathLike)) and os.fspath(data).endswith(".magnon") and raw and stays:
        known = ("feature_norm", *(_TABLE if in_file else ()))
        others = [key for key in about if key not in known and about[key] is not None]
        if others:
            raise ArgumentError(f"{', '.join(others)}: the graph is packed already")
        graph = Graph(os.path.abspath(os.fspath(data)), shared)
        keywords = to_json({key: value for key, value in about.items() if key in _TABLE})
        return graph, _open(features, graph, keywords) if in_file else _table(features), rest
    if features is not None:
        settings = {**settings, "features": features}
        settings.setdefault("feature_norm", "none")
    dataset, rest = take(data, settings, progress)
    cells = dataset.features
    if cells is None:
        raise ArgumentError(f"{dataset.name} has no features to filter; give some")
    return Graph(Dataset(dataset._inner, dataset.node_names), shared), _table(cells), rest


def _open(path: Any, graph: Graph, keywords: str) -> FileTable:
    """The features of a file beside a packed graph, as the command line filters them with ``--memory``."""
    inner = _magnon.FeatureFile(os.fspath(path), graph.dataset._inner, keywords)
    for text in inner.remarks():
        remark(text)
    source = TableFile(SharedFile.of(path, has_checksums=False), keywords)
    return FileTable(inner, source, graph.shared is not False)


def _table(cells: Any) -> Table:
    if cells.ndim != 2:
        raise ArgumentError(f"features are a table, not an array of {cells.ndim} axes")
    return Table(cells)
