"""The keywords that functions share, as type checkers see them. A test holds them to the command line's flags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from os import PathLike
from typing import Any, Literal, TypedDict, Union

Charge = Union[float, str, Fraction]
Path = Union[str, "PathLike[str]"]


class Common(TypedDict, total=False):
    """Keywords of every function."""

    seed: int | None
    threads: int | None


class DataSettings(Common, total=False):
    """What is read, and how. ``features`` and ``labels`` take arrays, too."""

    features: Any
    labels: Any
    nodes: int
    source: str
    target: str
    weight: str
    unweighted: bool
    weight_transform: Literal["none", "log", "scale"]
    header: bool
    id_column: str
    label_column: str
    missing: Sequence[str]
    extra_ids: Literal["auto", "add", "drop", "error"]
    reverse: bool
    duplicates: Literal["sum", "max", "error"]
    keep_self_loops: bool
    feature_norm: Literal["row", "standard", "none", "auto"]
    split: str
    split_seed: int


class OperatorSettings(DataSettings, total=False):
    """Which operator is built."""

    charge: Charge
    phase: Literal["sign", "weight"]
    symmetrize: Literal["max", "mean"]
    normalize: Literal["sym", "rw", "none", "directed"]
    self_loops: bool
    kind: Literal["adjacency", "laplacian"]
    pass_: Literal["low", "high", "auto"]


class FilterSettings(OperatorSettings, total=False):
    """Which filter is applied."""

    filter: str
    order: int
    alpha: float
    time: float
    coefficients: Sequence[float]
    feedback: Sequence[float]
    exact: bool
    tolerance: float


class PropagateSettings(FilterSettings, total=False):
    """Where a filter is applied, too, or several at once."""

    device: str
    dtype: str | type
    channels: str | Sequence[str]


class ModelSettings(FilterSettings, total=False):
    """Which model is trained, and how."""

    model: str
    channels: str | Sequence[str]
    hidden: int
    layers: int
    dropout: float
    gate: str
    init: str
    set: Mapping[str, Any]
    epochs: int
    patience: int
    batch: int
    rate: float
    weight_decay: float
    decay: str
    clip: float
    schedule: str
    device: str
    preset: Path


class TrainSettings(ModelSettings, total=False):
    """How often it is trained, and where it is kept."""

    runs: int
    vary: Literal["seeds", "splits", "both"]
    controls: bool
    filtered: Path
    output: Path
    overwrite: bool
    resume: bool
    no_report: bool
    checkpoint_every: int
