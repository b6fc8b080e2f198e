"""Filtered features as scikit-learn's users ask for them: names of columns, and frames in place of arrays."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

_CONTAINERS = ("default", "pandas", "polars")


def output_names(estimator: Any, input_features: Any, parts: Sequence[str], count: int) -> npt.NDArray[Any]:
    """Names of columns: those of the features, with a word for each of the ``parts`` that stand side by side."""
    known = getattr(estimator, "feature_names_in_", None)
    if input_features is not None:
        given = np.asarray(input_features, dtype=object)
        if known is not None and not np.array_equal(known, given):
            raise ValueError("input_features is not equal to feature_names_in_")
        if len(given) != count:
            raise ValueError(f"input_features should have length equal to number of features ({count}), got {len(given)}")
        known = given
    names = [f"x{k}" for k in range(count)] if known is None else list(known)
    return np.asarray([f"{name}{part}" for part in parts for name in names], dtype=object)


def check_container(transform: str | None) -> None:
    """Refuses a container that there is not."""
    if transform is not None and transform not in _CONTAINERS:
        raise ValueError(f"transform is one of {', '.join(_CONTAINERS)}, not {transform!r}")


def contained(estimator: Any, found: npt.NDArray[Any], X: Any, names: Callable[[], npt.NDArray[Any]]) -> Any:
    """The array, or a frame of it where the estimator or scikit-learn's configuration asks for one."""
    kind = getattr(estimator, "_sklearn_output_config", {}).get("transform")
    if kind is None:
        sklearn = sys.modules.get("sklearn")
        kind = "default" if sklearn is None else sklearn.get_config()["transform_output"]
    if kind == "default":
        return found
    check_container(kind)
    library = import_module(kind)
    if kind == "polars":
        return library.DataFrame(found, schema=names().tolist(), orient="row")
    return library.DataFrame(found, index=X.index if hasattr(X, "iloc") else None, columns=names(), copy=False)
