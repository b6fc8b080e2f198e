"""Keywords as flags of the command line, which checks them: the words are the same and cannot drift apart."""

from __future__ import annotations

import os
from collections.abc import Mapping
from numbers import Integral, Rational, Real
from typing import Any

import numpy as np

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


def to_flags(settings: Mapping[str, Any]) -> list[str]:
    """The flags of keywords; ``None`` and ``False`` are left out."""
    flags: list[str] = []
    for key, value in settings.items():
        if key == "self_loops":
            # On the command line, what is there by default is taken away.
            if value is not None and not value:
                flags.append("--no-self-loops")
            continue
        # A word of Python, such as pass, is written with an underscore behind it.
        name = "--" + key.rstrip("_").replace("_", "-")
        if isinstance(value, Mapping):
            flags += [f"{name}={word}={_text(one)}" for word, one in value.items()]
        elif key == "header" and value is not None:
            flags.append(f"{name}={'yes' if value else 'no'}")
        elif value is None or value is False:
            continue
        elif value is True:
            flags.append(name)
        else:
            flags.append(f"{name}={_text(value)}")
    return flags


def split_settings(settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Keywords about the data, and the others."""
    data = {key: value for key, value in settings.items() if key in DATA}
    rest = {key: value for key, value in settings.items() if key not in DATA}
    return data, rest


def _text(value: Any) -> str:
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real) and not isinstance(value, Rational):
        return repr(float(value))
    if isinstance(value, (list, tuple, np.ndarray)):
        return ",".join(_text(one) for one in value)
    return str(value)
