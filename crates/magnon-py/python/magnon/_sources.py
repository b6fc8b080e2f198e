"""What a call on a cluster is about: the graph and the features, at the driver and as workers get them."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._blocks import Span
from ._dataset import Dataset, load_dataset, take
from ._flags import split_settings
from ._progress import Progress
from ._shipping import SharedFile, engine
from .errors import ArgumentError


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
class Table:
    """The features, at the driver."""

    cells: Any
    #: The file that they lie in, where workers may read it.
    file: SharedFile | None

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.cells.shape[0]), int(self.cells.shape[1])

    def block(self, span: Span) -> Any:
        part = self.cells[:, span[0] : span[1]]
        part = part.toarray() if hasattr(part, "toarray") else part
        return np.ascontiguousarray(part, dtype=np.float32)

    def check(self) -> str:
        """What tells them from other features."""
        if self.file is not None:
            return self.file.check
        sparse = hasattr(self.cells, "indptr")
        return _hash([self.cells.indptr, self.cells.indices, self.cells.data] if sparse else [self.cells])


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
) -> tuple[Graph, Table, dict[str, Any]]:
    """The graph, the features, and the settings that are left."""
    about, rest = split_settings(settings)
    named = isinstance(data, (str, os.PathLike))
    raw = (about.get("feature_norm") or "none") == "none"
    if named and os.fspath(data).endswith(".magnon") and features is not None and raw:
        others = [key for key in about if key not in ("feature_norm", "features") and about[key] is not None]
        if others:
            raise ArgumentError(f"{', '.join(others)}: the graph is packed already")
        file = None
        if isinstance(features, (str, os.PathLike)):
            if shared is not False:
                file = SharedFile.of(features, has_checksums=False)
            features = np.load(features, mmap_mode="r")
        source: str | Dataset = os.path.abspath(os.fspath(data))
        table = Table(features, file)
    else:
        if features is not None:
            if isinstance(features, (str, os.PathLike)) and not named:
                features = np.load(features, mmap_mode="r")
            settings = {**settings, "features": features}
            settings.setdefault("feature_norm", "none")
        dataset, rest = take(data, settings, progress)
        table = Table(dataset.features, None)
        if table.cells is None:
            raise ArgumentError(f"{dataset.name} has no features to filter; give some")
        source = Dataset(dataset._inner, dataset.node_names)
    if table.cells.ndim != 2:
        raise ArgumentError(f"features are a table, not an array of {table.cells.ndim} axes")
    return Graph(source, shared), table, rest
