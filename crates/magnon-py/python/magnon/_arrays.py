"""Features and parts of splits as numpy arrays, whatever they come from.

No library but numpy is imported here: an object of another one brings its own methods.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .errors import ArgumentError, DataError


def is_sparse(thing: Any) -> bool:
    """Whether a thing is a scipy sparse matrix or array."""
    return type(thing).__module__.startswith("scipy.sparse") and hasattr(thing, "tocsr")


def is_frame(thing: Any) -> bool:
    """Whether a thing is a table with named columns."""
    if hasattr(thing, "columns") or hasattr(thing, "column_names"):
        return hasattr(thing, "__arrow_c_stream__") or hasattr(thing, "to_numpy")
    # Series and arrays of Arrow are streams, too, but of one column.
    return hasattr(thing, "__arrow_c_stream__") and not hasattr(thing, "to_numpy")


def as_array(thing: Any) -> npt.NDArray[Any]:
    """An array, without a copy where the thing has its numbers in memory already."""
    if isinstance(thing, np.ndarray):
        return thing
    if hasattr(thing, "__dlpack__"):
        if hasattr(thing, "detach"):
            thing = thing.detach()
        if "sparse" in str(getattr(thing, "layout", "")):
            raise DataError("sparse tensors are not read: give a scipy sparse matrix, or tensor.to_dense()")
        if hasattr(thing, "cpu"):
            thing = thing.cpu()
        return _from_tensor(thing)
    return np.asarray(thing)


def _from_tensor(tensor: Any) -> npt.NDArray[Any]:
    try:
        return np.from_dlpack(tensor)
    except (BufferError, RuntimeError, TypeError) as error:
        kind = str(getattr(tensor, "dtype", "unknown type"))
        # Short numbers with a point that numpy lacks are exact in single precision.
        if "bfloat16" in kind or "float8" in kind:
            return as_array(tensor.float())
        raise DataError(f"a tensor of {kind} cannot be read ({error}); give it as float32 or int64") from error


def is_missing(one: Any) -> bool:
    """Whether an object marks a missing value: None, NaN, or NA and NaT of pandas."""
    if one is None or type(one).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(one, (float, np.floating)) and one != one


class Compressed(NamedTuple):
    """A sparse matrix by rows; columns ascend, each once."""

    indptr: npt.NDArray[Any]
    indices: npt.NDArray[Any]
    data: npt.NDArray[Any]
    shape: tuple[int, int]


def compressed(matrix: Any) -> Compressed:
    """Rows of a scipy matrix of any format; that of the caller is not changed."""
    if hasattr(matrix, "ndim") and matrix.ndim != 2:
        raise DataError(f"a sparse matrix has two dimensions, not {matrix.ndim}")
    rows = matrix.tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy() if rows is matrix else rows
        rows.sum_duplicates()
    return Compressed(rows.indptr, rows.indices, rows.data, rows.shape)


def real(array: npt.NDArray[Any], what: str) -> npt.NDArray[Any]:
    """The array in float32 or float64, whichever it has already."""
    if array.dtype in (np.float32, np.float64) and array.dtype.isnative:
        return array
    if array.dtype.kind == "c":
        raise DataError(f"Complex data not supported: {what} are complex; give real numbers")
    try:
        return array.astype(np.float64)
    except TypeError as error:
        place = next((place for place, one in np.ndenumerate(array) if is_missing(one)), None)
        if place is not None:
            words = ", ".join(f"{axis} {at}" for axis, at in zip(("row", "column"), place))
            raise DataError(f"{what} have a missing value at {words}; fill it first") from error
        raise TypeError(f"{what} are no numbers: {error}") from error
    except ValueError as error:
        raise DataError(f"{what} are no numbers: {error}") from error


class Features(NamedTuple):
    """Features as the compiled module takes them, and the names of their columns."""

    cells: Any
    shape: tuple[int, int]
    columns: list[str] | None


def read_features(features: Any) -> Features:
    """Features from an array, a sparse matrix, a tensor or a frame."""
    if is_sparse(features):
        rows = compressed(features)
        with np.errstate(over="ignore"):  # what is too large is named as infinite
            values = real(rows.data, "the features").astype(np.float32)
        return Features((_whole(rows.indptr), _whole(rows.indices), values, rows.shape[1]), rows.shape, None)
    columns = None
    if is_frame(features) and hasattr(features, "to_numpy"):
        columns = column_names(features)
        array = np.asarray(features.to_numpy())
    elif is_frame(features):
        from ._tables import read_table

        table = read_table(features)
        columns = list(table)
        array = np.column_stack([np.asarray(column) for column in table.values()])
    else:
        array = as_array(features)
    if array.ndim != 2:
        one = "to_frame()" if hasattr(features, "to_frame") else "reshape(-1, 1)"
        raise DataError(
            f"features are a table of one row per node, not {_kind(features)} of {array.ndim} dimension(s); "
            f"Reshape your data with {one} for one column"
        )
    array = real(array, "the features")
    return Features(array, (array.shape[0], array.shape[1]), columns)


def _kind(features: Any) -> str:
    name = type(features).__name__
    return "an array" if name in ("ndarray", "list", "tuple") else f"a {name}"


def _whole(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Indices in int32 or int64, in the order of this machine."""
    if array.dtype in (np.int32, np.int64) and array.dtype.isnative:
        return array
    return array.astype(np.int64)


def column_names(features: Any) -> list[str] | None:
    """The names of the columns of a frame, where they are texts; numbers name none."""
    if not is_frame(features):
        return None
    given: Any = getattr(features, "column_names", None)
    names: list[Any] = list(getattr(features, "columns", ()) if given is None else given)
    texts = [isinstance(name, str) for name in names]
    if any(texts) and not all(texts):
        other = next(name for name in names if not isinstance(name, str))
        raise TypeError(
            "Feature names are only supported if all input features have string names, but the column "
            f"{other!r} is of type {type(other).__name__}; rename the columns with X.columns = X.columns.astype(str)"
        )
    return names if any(texts) else None


def read_part(part: Any, nodes: int, what: str) -> npt.NDArray[np.int64]:
    """Nodes of a part of a split, from a mask or from numbers."""
    array = as_array(part)
    if array.dtype == bool:
        if array.ndim == 2 and len(array) == nodes:
            words = f"{what} holds the masks of {array.shape[1]} splits; take one of them, as in {what}[:, 0]"
            raise ArgumentError(words)
        if array.shape != (nodes,):
            raise DataError(f"{what} is a mask of {array.shape}, but there are {nodes} nodes")
        return np.flatnonzero(array)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise ArgumentError(f"{what} must be a mask or numbers of nodes")
    return array.astype(np.int64)


def scipy_sparse() -> Any:
    """The module for sparse matrices, or an error that says how to get it."""
    try:
        return import_module("scipy.sparse")
    except ImportError as error:
        raise ImportError("sparse matrices are those of scipy: pip install 'magnon[scipy]'") from error


def loaded(module: str) -> Any:
    """A module that the user has imported already, or None."""
    return sys.modules.get(module)
