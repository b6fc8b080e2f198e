"""Keywords as JSON, which the extension reads as the settings of a call: their names are those of the settings."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from numbers import Integral, Rational, Real
from typing import Any

import numpy as np

from .errors import ArgumentError

#: Keywords that say what is read, and how.
DATA = (
    "features",
    "labels",
    "nodes",
    "source",
    "target",
    "weight",
    "unweighted",
    "weight_transform",
    "header",
    "id_column",
    "label_column",
    "missing",
    "extra_ids",
    "reverse",
    "duplicates",
    "keep_self_loops",
    "feature_norm",
    "split",
    "split_seed",
)


def to_json(settings: Mapping[str, Any]) -> str:
    """The keywords as a JSON object; ``None`` is left out."""
    given: dict[str, Any] = {}
    for key, value in settings.items():
        if value is None:
            continue
        if key == "self_loops":
            # The library takes away what is there by default.
            given["no_self_loops"] = not value
        else:
            # A word of Python, such as pass, is written with an underscore behind it.
            name = key.rstrip("_")
            given[name] = _plain(name, value)
    return json.dumps(given)


def split_settings(settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Keywords about the data, and the others."""
    data = {key: value for key, value in settings.items() if key in DATA}
    rest = {key: value for key, value in settings.items() if key not in DATA}
    return data, rest


def as_text(value: Any) -> str:
    """A number, a fraction or a word as text."""
    plain = _plain("a value", value)
    return plain if isinstance(plain, str) else json.dumps(plain)


def _plain(name: str, value: Any) -> Any:
    """A value that JSON has."""
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real) and not isinstance(value, Rational):
        if not math.isfinite(value):
            raise ArgumentError(f"{name} must be a finite number, not {value}")
        return float(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(name, one) for key, one in value.items() if one is not None}
    if isinstance(value, np.ndarray):
        return _plain(name, value.tolist())
    if isinstance(value, (list, tuple, range)):
        return [_plain(name, one) for one in value]
    return str(value)
