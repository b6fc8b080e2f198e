"""Rows of frames in the order of the nodes: an index that names nodes says which row is whose."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from ._arrays import as_array
from ._graphs import Edges
from ._labels import Labels, read_labels
from .errors import DataError

_AS_THEY_ARE = "take the rows in the order of the nodes with reset_index(drop=True)"


class RowOrder:
    """The order that rows of features come in, beside that of the nodes.

    What is given with the features row by row follows them: an array has their order, a series may have one of its
    own by its index. ``linked`` is False where nodes have no edges, so that their order does not matter.
    """

    def __init__(self, features: Any, names: list[Any] | None, nodes: int, what: str, *, linked: bool = True) -> None:
        self._names = names
        self._nodes = nodes
        self._linked = linked
        self._index = _index(features)
        #: The row of each node; None where rows have the order of the nodes.
        self.rows = row_order(features, names, nodes, what) if linked else None

    def features(self, features: Any) -> Any:
        """The features in the order of the nodes."""
        return features if self.rows is None else features.iloc[self.rows]

    def labels(self, labels: Any, what: str, classes: npt.NDArray[Any] | None = None) -> Labels:
        """Labels in the order of the nodes; those that were read already have it."""
        if isinstance(labels, Labels):
            return labels
        read = read_labels(aligned(labels, self._names, self._nodes, what) if self._linked else labels, classes)
        if self.rows is None or self._has_names(labels) or len(read.codes) != self._nodes:
            return read
        return read._replace(codes=read.codes[self.rows])

    def part(self, part: Any, what: str) -> Any:
        """A mask in the order of the nodes. Numbers are those of nodes, and have no order."""
        index = _index(part)
        if index is not None and self._names is None:
            if np.asarray(part).dtype == bool and not _is_plain(index) and index != self._index:
                raise DataError(
                    f"the index of {what} is not 0, 1, 2…, and the nodes have no names to find its rows by; give the mask "
                    "in the order of the nodes with to_numpy(), or with as_dataset beside a graph with names"
                )
            return part
        if self.rows is None or self._has_names(part):
            return aligned(part, self._names, self._nodes, what)
        array = None if part is None else as_array(part)
        if array is None or array.dtype != bool or not array.ndim or len(array) != self._nodes:
            return part
        return array[self.rows]

    def as_given(self, found: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """What was found for the nodes, in the order of the rows of the features."""
        if self.rows is None:
            return found
        given = np.empty_like(found)
        given[self.rows] = found
        return given

    def _has_names(self, thing: Any) -> bool:
        index = _index(thing)
        return index is not None and len(index) == self._nodes and not _is_plain(index)


def order_beside(features: Any, edges: Edges, what: str) -> RowOrder:
    """The order of features beside edges. Nodes without edges and names have the order of the rows, whatever it is."""
    linked = edges.names is not None or len(edges.targets) > 0
    return RowOrder(features, edges.names, edges.nodes, what, linked=linked)


def aligned(thing: Any, names: list[Any] | None, nodes: int, what: str) -> Any:
    """A frame or series of pandas with its rows in the order of the nodes; anything else unchanged."""
    rows = row_order(thing, names, nodes, what)
    return thing if rows is None else thing.iloc[rows]


def row_order(thing: Any, names: list[Any] | None, nodes: int, what: str) -> npt.NDArray[np.int64] | None:
    """The row of each node in a frame or series of pandas; None where rows have the order of the nodes.

    An index 0, 1, 2… numbers rows. Any other index beside a graph with names must hold these names. Where an index
    could be meant in two ways, it is refused.
    """
    index = _index(thing)
    if index is None:
        return None
    if names is None:
        if not _is_plain(index) and _are_numbers(index):
            raise DataError(
                f"the index of {what} holds the numbers of the nodes in another order; sort the rows with sort_index(), "
                f"or {_AS_THEY_ARE}"
            )
        return None
    if len(index) != nodes or index == names:
        return None
    if _is_plain(index):
        if _are_numbers(names):
            raise DataError(
                f"the graph has its nodes in another order than the index of {what}; name the order with "
                f"{what}.loc[list(graph)] and then {_AS_THEY_ARE}"
            )
        return None
    place = {name: k for k, name in enumerate(index)}
    if len(place) != nodes:
        raise DataError(f"the index of {what} has a name twice, so that rows cannot be found by it; {_AS_THEY_ARE}")
    missing = next((name for name in names if name not in place), None)
    if missing is not None:
        raise DataError(
            f"the index of {what} lacks the node {missing!r}; index the rows by the names of the nodes, or {_AS_THEY_ARE}"
        )
    return np.asarray([place[name] for name in names], dtype=np.int64)


def _index(thing: Any) -> list[Any] | None:
    """The index of a frame or series of pandas."""
    return thing.index.tolist() if hasattr(thing, "iloc") and hasattr(thing, "index") else None


def _is_plain(index: list[Any]) -> bool:
    return index == list(range(len(index)))


def _are_numbers(names: list[Any]) -> bool:
    """Whether the names are 0, 1, 2… in any order."""
    return all(isinstance(name, Integral) for name in names) and set(names) == set(range(len(names)))
