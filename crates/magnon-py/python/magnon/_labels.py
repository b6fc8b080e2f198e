"""Labels of nodes as classes, whatever they come from."""

from __future__ import annotations

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ._arrays import as_array, is_missing, loaded
from ._progress import caution
from .errors import DataError


class Labels(NamedTuple):
    """The class of every node, −1 without one, and the classes."""

    codes: npt.NDArray[np.int64]
    classes: npt.NDArray[Any]
    #: The type of what was given.
    dtype: np.dtype[Any]
    #: How many labels were −1, which marks nodes without one.
    minus_ones: int

    def names(self) -> list[str]:
        """The classes as words."""
        return [str(name) for name in self.classes.tolist()]

    def given(self) -> npt.NDArray[Any]:
        """The classes in the type of what was given."""
        return self.classes.astype(self.dtype) if self.dtype.kind == "f" else self.classes


def label_array(labels: Any) -> npt.NDArray[Any]:
    """Labels as a one-dimensional array, of objects where some are missing."""
    if hasattr(labels, "to_numpy") and hasattr(labels, "to_pylist"):
        # Arrow's own refuses to copy unless it is told to.
        array = np.asarray(labels.to_numpy(zero_copy_only=False))
    else:
        array = np.asarray(labels.to_numpy()) if hasattr(labels, "to_numpy") else as_array(labels)
    if array.ndim == 2 and array.shape[1] == 1:
        known = loaded("sklearn.exceptions")
        kind = UserWarning if known is None else known.DataConversionWarning
        caution("A column-vector y was passed when a 1d array was expected", kind)
        array = array[:, 0]
    if array.ndim != 1:
        raise DataError(f"labels are one per node, not an array of {array.ndim} dimension(s)")
    return array


def read_labels(labels: Any, classes: npt.NDArray[Any] | None = None) -> Labels:
    """Classes of labels; −1, NaN and None are nodes without one."""
    if isinstance(labels, Labels):
        return labels
    array = label_array(labels)
    known, minus_ones = _known(array)
    values = _plain(array[known])
    if classes is None:
        classes = _classes(values)
    codes = np.full(len(array), -1, dtype=np.int64)
    if len(classes):
        codes[known] = np.searchsorted(classes, values.astype(classes.dtype))
    return Labels(codes, classes, _type(labels, array), minus_ones)


def _type(labels: Any, array: npt.NDArray[Any]) -> np.dtype[Any]:
    """The type of what was given. Whole numbers that tables hold with gaps have become numbers with a point."""
    given = getattr(labels, "dtype", getattr(labels, "type", None))
    is_whole = not isinstance(given, np.dtype) and "int" in str(given).lower()
    return np.dtype(np.int64) if array.dtype.kind == "f" and is_whole else array.dtype


def _classes(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    try:
        classes = np.unique(values)
    except TypeError as error:
        raise DataError(f"labels cannot be told apart: {error}") from error
    if classes.dtype.kind == "f" and bool(np.all(classes == np.floor(classes))):
        large = classes[np.abs(classes.astype(np.float64)) > 2**53]
        if len(large):
            raise DataError(f"the label {large[0]:g} is too large for a class; number the classes from 0, or name them")
        return classes.astype(np.int64)
    if classes.dtype.kind == "f":
        raise DataError("Unknown label type: continuous; labels are classes, not measurements")
    return classes


def _plain(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Objects that are all truth values or all numbers as an array of these."""
    if values.dtype.kind != "O" or not len(values):
        return values
    if all(isinstance(one, (bool, np.bool_)) for one in values):
        return values.astype(bool)
    for kinds, dtype in ((Integral, np.int64), ((Integral, float, np.floating), np.float64)):
        if all(isinstance(one, kinds) and not isinstance(one, (bool, np.bool_)) for one in values):
            try:
                return values.astype(dtype)
            except OverflowError:
                return values
    return values


def _known(array: npt.NDArray[Any]) -> tuple[npt.NDArray[np.bool_], int]:
    """Which labels name a class, and how many are −1."""
    if array.dtype.kind == "f":
        if bool(np.any(np.isinf(array))):
            raise DataError("a label is infinity; labels are classes, NaN or -1 for none")
        return ~np.isnan(array) & (array != -1), int(np.sum(array == -1))
    if array.dtype.kind == "i":
        return array != -1, int(np.sum(array == -1))
    if array.dtype.kind == "O":
        missing = np.asarray([is_missing(one) for one in array], dtype=bool)
        unlabelled = np.asarray([isinstance(one, (Integral, float, np.floating)) and one == -1 for one in array], dtype=bool)
        return ~(missing | unlabelled), int(np.sum(unlabelled))
    if array.dtype.kind in "cmM":
        raise DataError(f"labels of type {array.dtype} are no classes")
    return np.ones(len(array), dtype=bool), 0


def class_values(names: list[str]) -> npt.NDArray[Any]:
    """Classes by their names: numbers where all are whole numbers as they are written, and words otherwise."""
    try:
        numbers = np.asarray([int(name) for name in names], dtype=np.int64)
    except (ValueError, OverflowError):
        return np.asarray(names)
    return numbers if names and [str(number) for number in numbers.tolist()] == names else np.asarray(names)
