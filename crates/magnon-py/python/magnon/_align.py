"""Rows of frames in the order of the nodes: an index that names nodes says which row is whose."""

from __future__ import annotations

from typing import Any

from .errors import DataError

_AS_THEY_ARE = "take the rows in the order of the nodes with reset_index(drop=True)"


def aligned(thing: Any, names: list[Any] | None, nodes: int, what: str) -> Any:
    """A frame or series of pandas with its rows in the order of the nodes; anything else as it is.

    An index 0, 1, 2… numbers rows. Any other index beside a graph with names must hold these names. Where an index
    could be meant in two ways, it is refused.
    """
    if not (hasattr(thing, "iloc") and hasattr(thing, "index")) or len(thing) != nodes:
        return thing
    index: list[Any] = thing.index.tolist()
    plain = index == list(range(nodes))
    if names is None or index == names:
        if names is None and not plain and _are_numbers(index, nodes):
            raise DataError(
                f"the index of {what} holds the numbers of the nodes in another order; sort the rows with sort_index(), "
                f"or {_AS_THEY_ARE}"
            )
        return thing
    if plain:
        if _are_numbers(names, nodes):
            raise DataError(
                f"the graph has its nodes in another order than the index of {what}; name the order with "
                f"{what}.loc[list(graph)] and then {_AS_THEY_ARE}"
            )
        return thing
    place = {name: k for k, name in enumerate(index)}
    if len(place) != nodes:
        raise DataError(f"the index of {what} has a name twice, so that rows cannot be found by it; {_AS_THEY_ARE}")
    missing = next((name for name in names if name not in place), None)
    if missing is not None:
        raise DataError(
            f"the index of {what} lacks the node {missing!r}; index the rows by the names of the nodes, or {_AS_THEY_ARE}"
        )
    return thing.iloc[[place[name] for name in names]]


def _are_numbers(names: list[Any], nodes: int) -> bool:
    """Whether the names are 0, 1, 2… in any order."""
    return all(isinstance(name, int) for name in names) and set(names) == set(range(nodes))
