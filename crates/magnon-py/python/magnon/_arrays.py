"""Features, labels and parts of splits as numpy arrays, whatever they come from.

No library but numpy is imported here: an object of another one brings its own methods.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .errors import ArgumentError, DataError


def is_sparse(thing: Any) -> bool:
    """Whether a thing is a scipy sparse matrix or array."""
    return type(thing).__module__.startswith("scipy.sparse") and hasattr(thing, "tocsr")


def is_frame(thing: Any) -> bool:
    """Whether a thing is a table with named columns."""
    return hasattr(thing, "__arrow_c_stream__") or (
        hasattr(thing, "columns") and hasattr(thing, "to_numpy")
    )


def as_array(thing: Any) -> npt.NDArray[Any]:
    """An array, without a copy where the thing has its numbers in memory already."""
    if isinstance(thing, np.ndarray):
        return thing
    if hasattr(thing, "__dlpack__"):
        if hasattr(thing, "detach"):
            thing = thing.detach()
        if hasattr(thing, "cpu"):
            thing = thing.cpu()
        return np.from_dlpack(thing)
    return np.asarray(thing)


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
        columns = [str(name) for name in features.columns]
        array = np.asarray(features.to_numpy())
    elif hasattr(features, "__arrow_c_stream__"):
        from ._tables import read_table

        table = read_table(features)
        columns = list(table)
        array = np.column_stack([np.asarray(column) for column in table.values()])
    else:
        array = as_array(features)
    if array.ndim != 2:
        raise DataError(
            f"features are a table of one row per node, not an array of {array.ndim} dimension(s); "
            "Reshape your data with reshape(-1, 1) for one column"
        )
    array = real(array, "the features")
    return Features(array, (array.shape[0], array.shape[1]), columns)


def _whole(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Indices in int32 or int64, in the order of this machine."""
    if array.dtype in (np.int32, np.int64) and array.dtype.isnative:
        return array
    return array.astype(np.int64)


class Labels(NamedTuple):
    """The class of every node, −1 without one, and the classes."""

    codes: npt.NDArray[np.int64]
    classes: npt.NDArray[Any]

    def names(self) -> list[str]:
        """The classes as words."""
        return [str(name) for name in self.classes.tolist()]


def read_labels(labels: Any, classes: npt.NDArray[Any] | None = None) -> Labels:
    """Classes of labels; −1, NaN and None are nodes without one."""
    array = np.asarray(labels.to_numpy()) if hasattr(labels, "to_numpy") else as_array(labels)
    if array.ndim == 2 and array.shape[1] == 1:
        known = loaded("sklearn.exceptions")
        kind = UserWarning if known is None else known.DataConversionWarning
        warnings.warn("A column-vector y was passed when a 1d array was expected", kind, stacklevel=3)
        array = array[:, 0]
    if array.ndim != 1:
        raise DataError(f"labels are one per node, not an array of {array.ndim} dimension(s)")
    known = _known(array)
    if classes is None:
        try:
            classes = np.unique(array[known])
        except TypeError as error:
            raise DataError(f"labels cannot be told apart: {error}") from error
        if classes.dtype.kind == "f" and bool(np.all(classes == np.floor(classes))):
            large = classes[np.abs(classes.astype(np.float64)) > 2**53]
            if len(large):
                raise DataError(f"the label {large[0]:g} is too large for a class; number the classes from 0, or name them")
            classes = classes.astype(np.int64)
        elif classes.dtype.kind == "f":
            raise DataError("Unknown label type: continuous; labels are classes, not measurements")
    codes = np.full(len(array), -1, dtype=np.int64)
    if len(classes):
        places = np.searchsorted(classes, array[known].astype(classes.dtype))
        codes[known] = places
    return Labels(codes, classes)


def _known(array: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    if array.dtype.kind == "f":
        if bool(np.any(np.isinf(array))):
            raise DataError("a label is infinity; labels are classes, NaN or -1 for none")
        return ~np.isnan(array) & (array != -1)
    if array.dtype.kind == "i":
        return array != -1
    if array.dtype.kind == "O":
        missing = [one is None or one != one or (not isinstance(one, str) and one == -1) for one in array]
        return ~np.asarray(missing, dtype=bool)
    if array.dtype.kind in "cmM":
        raise DataError(f"labels of type {array.dtype} are no classes")
    return np.ones(len(array), dtype=bool)


def read_part(part: Any, nodes: int, what: str) -> npt.NDArray[np.int64]:
    """Nodes of a part of a split, from a mask or from numbers."""
    array = as_array(part)
    if array.dtype == bool:
        if array.shape != (nodes,):
            raise DataError(f"{what} is a mask of {array.shape}, but there are {nodes} nodes")
        return np.flatnonzero(array)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise ArgumentError(f"{what} must be a mask or numbers of nodes")
    return array.astype(np.int64)


def loaded(module: str) -> Any:
    """A module that the user has imported already, or None."""
    return sys.modules.get(module)
