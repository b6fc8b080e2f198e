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
from .errors import RunError

_NAME = "estimator.json"


def keep(folder: str | os.PathLike[str], classes: npt.NDArray[Any] | None, **about: Any) -> None:
    """Writes what belongs to the run of a folder: the classes in their own type, and more."""
    if classes is None and not about:
        return
    place = Path(folder) / _NAME
    told: dict[str, Any] = {"run": _mark(place.parent), **about}
    if classes is not None and all(isinstance(one, (bool, int, float, str)) for one in classes.tolist()):
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
