"""Edge tables: pandas, polars, pyarrow and all that speak Arrow, without importing them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _magnon
from .errors import DataError

_SOURCES = ("source", "src", "from", "u", "tail")
_TARGETS = ("target", "dst", "dest", "to", "v", "head")
_WEIGHTS = ("weight", "weights", "w", "value")


def read_table(table: Any) -> dict[str, Any]:
    """The columns of a table by name, as arrays of numbers or lists of texts."""
    stream = getattr(table, "__arrow_c_stream__", None)
    if stream is not None:
        try:
            return dict(_magnon.table(stream()))
        except ImportError:
            pass  # pandas hands out Arrow only where pyarrow is installed
    return {str(name): np.asarray(table[name]) for name in table.columns}


def choose_columns(
    names: Sequence[str], source: str | None, target: str | None, weight: str | None
) -> tuple[str, str, str | None]:
    """Which columns are source, target and weight: as named, by their headers, or by their order."""

    def find(given: str | None, known: Sequence[str]) -> str | None:
        if given is not None:
            if given not in names:
                raise DataError(f"there is no column '{given}'; there are {', '.join(names)}")
            return given
        return next((name for name in names if name.lower() in known), None)

    first, second = find(source, _SOURCES), find(target, _TARGETS)
    third = find(weight, _WEIGHTS)
    rest = [name for name in names if name not in (first, second, third)]
    if first is None and second is None and len(rest) >= 2:
        first, second = rest[:2]
    if first is None or second is None:
        raise DataError(
            f"which of the columns {', '.join(names)} are source and target? Name them: source=, target="
        )
    return first, second, third


def numbered(
    columns: Mapping[str, Any], source: str, target: str, nodes: int | None
) -> tuple[Any, Any, list[Any] | None]:
    """Sources and targets as numbers of nodes, and the names of the nodes where they are not 0, 1, 2…."""
    first, second = np.asarray(columns[source]), np.asarray(columns[target])
    if first.dtype.kind == "f" or second.dtype.kind == "f":
        raise DataError(f"the nodes in columns {source} and {target} are numbers with a point")
    whole = first.dtype.kind in "iu" and second.dtype.kind in "iu"
    if whole and nodes is not None:
        return first, second, None
    if first.dtype.kind == "O" or second.dtype.kind == "O":
        first, second = first.astype(str), second.astype(str)
    names, places = np.unique(np.concatenate([first, second]), return_inverse=True)
    sources, targets = places[: len(first)], places[len(first) :]
    if whole and len(names) and names[0] == 0 and names[-1] == len(names) - 1:
        return sources, targets, None
    return sources, targets, names.tolist()
