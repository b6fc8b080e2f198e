"""``estimator.json`` in a run folder: what Python knows of a run besides what the command line reads."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ._labels import class_values
from .errors import DataError, RunError

_NAME = "estimator.json"


def check_classes(classes: npt.NDArray[Any] | None) -> None:
    """Refuses classes that a file could not give back as they are; to be asked before anything is written."""
    for one in [] if classes is None else classes.tolist():
        if not isinstance(one, (bool, int, float, str)):
            raise DataError(
                f"a run with labels of type {type(one).__name__} cannot be saved, as {one!r}: its file keeps texts and "
                "numbers; train on labels of type str or int, as those of [str(one) for one in labels]"
            )


def check_columns(folder: str | os.PathLike[str], names: list[str] | None) -> None:
    """Refuses features whose columns are known not to be those that the run of a folder was trained on."""
    known = read_kept(folder).get("feature_names")
    if not known or names is None or names == known:
        return
    missing = next((name for name in known if name not in names), None)
    other = next((name for name in names if name not in known), None)
    if missing is not None:
        problem = f"lack the column {missing!r}"
    elif other is not None:
        problem = f"have a column {other!r} that it does not know"
    else:
        problem = "have their columns in another order"
    shown = ", ".join(repr(name) for name in known[:5])
    raise DataError(
        f"the features are not those that the run was trained on: they {problem}; "
        f"select its columns in its order: {shown}{', …' if len(known) > 5 else ''}"
    )


def keep(
    folder: str | os.PathLike[str],
    classes: npt.NDArray[Any] | None = None,
    feature_names: list[str] | None = None,
    **about: Any,
) -> None:
    """Writes what belongs to the run of a folder: the classes in their own type, names of columns, and more."""
    if feature_names is not None:
        about["feature_names"] = feature_names
    if classes is None and not about:
        return
    place = Path(folder) / _NAME
    told: dict[str, Any] = {"run": _mark(place.parent), **about}
    if classes is not None:
        told.update(classes=classes.tolist(), dtype=classes.dtype.str)
    part = place.with_name(f".{_NAME}.{os.getpid()}.part")
    try:
        with open(part, "w", encoding="utf-8") as file:
            json.dump(told, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, place)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise RunError(f"{place}: cannot write it: {error}") from error


def read_kept(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """What was written beside the run that a folder holds; nothing where the run is another one by now."""
    place = Path(folder) / _NAME
    try:
        told = json.loads(place.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise _broken(place, error) from error
    kinds = {"parameters": dict, "feature_names": list, "classes": list}
    if not isinstance(told, dict) or any(not isinstance(told.get(key, kind()), kind) for key, kind in kinds.items()):
        raise _broken(place, "it is not what save writes")
    return told if told.get("run") == _mark(place.parent) else {}


def read_classes(folder: str | os.PathLike[str], names: list[str]) -> npt.NDArray[Any]:
    """The classes of the run of a folder in the type of the labels that it was trained on."""
    told = read_kept(folder)
    values = told.get("classes")
    if values is None:
        return class_values(names)
    place = Path(folder) / _NAME
    try:
        kind = np.dtype(told["dtype"])
        # The length of texts is that of the longest, not one that the file claims.
        classes = np.asarray(values, dtype=kind if kind.kind in "biufO" else np.str_)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise _broken(place, error) from error
    if classes.shape != (len(names),):
        raise _broken(place, f"it has classes of shape {classes.shape}, the model {len(names)}")
    return classes


def plain(value: Any) -> Any:
    """A parameter as JSON has it; None for what it cannot hold."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (Fraction, os.PathLike)):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(one) for one in value]
    return None


def _mark(folder: Path) -> str:
    """What tells the run of a folder from others."""
    try:
        return hashlib.sha256((folder / "metrics.json").read_bytes()).hexdigest()
    except OSError as error:
        raise RunError(f"{folder}: its run cannot be read: {error}") from error


def _broken(place: Path, problem: object) -> RunError:
    return RunError(f"{place}: broken: {problem}; remove it to read the run without it")
