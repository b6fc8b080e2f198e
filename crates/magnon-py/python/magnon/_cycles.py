"""Directed cycles, and homophily."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain
from typing import Any

from . import _magnon
from ._dataset import take
from ._settings import to_json
from ._keywords import DataSettings, Unpack, check_keywords, documented
from ._progress import Progress, watching
from ._results import Result


@documented("cycles")
def cycle_lengths(
    data: Any = "demo",
    *,
    max_length: int | None = None,
    enumerate: bool | None = False,
    budget: int | None = None,
    progress: Progress = False,
    **settings: Unpack[DataSettings],
) -> Result:
    """Which lengths of directed cycles exist, and the charges that they suggest.

    Parameters
    ----------
    max_length : int
        Longest length asked about, from 2 to 63; 20 by default.
    enumerate : bool
        True counts all cycles by length; there may be exponentially many.
    budget : int
        Edges looked at before a length is left undecided.

    Returns
    -------
    Result
        With ``lengths`` (``length``, ``exists``, ``witness``), ``charges`` and ``choice``. A witness holds the nodes of a
        cycle, by their names where they have some.

    Examples
    --------
    >>> import magnon
    >>> found = magnon.cycle_lengths([[0, 1], [1, 2], [2, 0]])
    >>> [answer.length for answer in found.lengths if answer.exists], found.choice
    ([3], '1/3')
    """
    check_keywords(cycle_lengths, settings)
    dataset, rest = take(data, dict(settings), progress)
    rest.update(max_length=max_length, enumerate=enumerate, budget=budget)
    with watching(progress) as watch:
        told = _magnon.cycles(dataset._inner, to_json(rest), watch)
    return Result(told if dataset.node_names is None else _named(json.loads(told), dataset.node_names))


def _named(told: dict[str, Any], names: list[Any]) -> dict[str, Any]:
    """The figures with the names of nodes in place of their numbers."""
    for answer in told["lengths"]:
        if answer.get("witness") is not None:
            answer["witness"] = [names[node] for node in answer["witness"]]
    return told


@documented("info")
def simple_cycles(
    data: Any = "demo", *, max_length: int | None = None, **settings: Unpack[DataSettings]
) -> Iterator[list[Any]]:
    """All directed cycles, one after the other, in the order of their smallest node.

    A thread looks for them ahead of the caller, and stops when the iterator is let go.

    Parameters
    ----------
    max_length : int, optional
        Longest cycles; all by default.

    Returns
    -------
    iterator of lists
        The nodes of each cycle, by their names where they have some.

    Examples
    --------
    >>> import magnon
    >>> list(magnon.simple_cycles([[0, 1], [1, 2], [2, 0], [2, 1]]))
    [[0, 1, 2], [1, 2]]
    """
    check_keywords(simple_cycles, settings)
    dataset, _ = take(data, dict(settings), False)
    names = dataset.node_names
    names = list(range(dataset.nodes)) if names is None else names
    return chain.from_iterable(_magnon.CycleBatches(dataset._inner, names, max_length))


@documented("info")
def homophily(  # type: ignore[misc]  # labels may be given by place, too
    data: Any = "demo",
    labels: Any = None,
    **settings: Unpack[DataSettings],  # pyright: ignore[reportGeneralTypeIssues]
) -> Result:
    """How often neighbours share a label, over the underlying undirected graph.

    Returns
    -------
    Result
        With ``node`` (mean over nodes), its standard error ``node_error``, and ``edge`` (share of pairs).

    Examples
    --------
    >>> import magnon
    >>> magnon.homophily([[0, 1], [1, 2], [2, 3]], [0, 0, 1, 1]).edge.__round__(3)
    0.667
    """
    check_keywords(homophily, settings)
    if labels is not None:
        settings["labels"] = labels
    dataset, _ = take(data, dict(settings), False)
    return Result(_magnon.homophily(dataset._inner))
