"""Splits of nodes into parts, from masks, numbers of nodes, or masks of several splits side by side."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from ._arrays import as_array, read_part
from .errors import ArgumentError, DataError

Split = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]


def read_splits(nodes: int, codes: Any, parts: tuple[Any, ...], splits: Iterable[Iterable[Any]] | None) -> list[Split]:
    """Training, validation and test nodes of each split.

    ``parts`` are the three of one split, or masks of n × k of k splits; ``codes`` are the classes of the nodes.
    """
    if splits is not None:
        if any(part is not None for part in parts):
            raise ArgumentError("give splits, or train, val and test, not both")
        return [_split(nodes, codes, _three(one)) for one in splits]
    if all(part is None for part in parts):
        return []
    columns = [_columns(part, nodes) for part in parts]
    counts = {len(masks) for masks in columns if masks is not None}
    if not counts:
        return [_split(nodes, codes, parts)]
    if len(counts) > 1:
        found = ", ".join(
            f"{word} of {len(masks)} splits" for word, masks in zip(("train", "val", "test"), columns) if masks is not None
        )
        raise ArgumentError(f"the masks are those of different numbers of splits: {found}")
    return [
        _split(nodes, codes, tuple(part if masks is None else masks[k] for part, masks in zip(parts, columns)))
        for k in range(counts.pop())
    ]


def _three(split: Iterable[Any]) -> tuple[Any, ...]:
    parts = tuple(split)
    if len(parts) == 2:
        return (parts[0], None, parts[1])
    if len(parts) != 3:
        raise ArgumentError(f"a split of splits is (train, test) or (train, val, test), not {len(parts)} parts")
    return parts


def _columns(part: Any, nodes: int) -> list[npt.NDArray[np.bool_]] | None:
    """The masks of several splits, where a part holds one per column."""
    array = None if part is None else as_array(part)
    if array is None or array.ndim != 2 or array.dtype != bool or len(array) != nodes:
        return None
    return list(array.T)


def _split(nodes: int, codes: Any, parts: tuple[Any, ...]) -> Split:
    train, val, test = parts
    if train is None:
        raise ArgumentError("a split needs train; name its nodes")
    none = np.zeros(0, dtype=np.int64)
    first = read_part(train, nodes, "train")
    second = none if val is None else read_part(val, nodes, "val")
    if test is not None:
        return first, second, read_part(test, nodes, "test")
    if codes is None:
        return first, second, none
    rest = codes >= 0
    for part in (first, second):
        if part.size and (part.min() < 0 or part.max() >= nodes):
            raise DataError(f"the split names node {part.max()}, but the graph has {nodes} nodes")
        rest[part] = False
    return first, second, np.flatnonzero(rest)
