"""The keywords that functions share. Written by ``cargo xtask keywords`` from the settings of the library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from os import PathLike
from typing import Any, Literal, TypedDict, Union

Charge = Union[float, str, Fraction]
Path = Union[str, PathLike[str]]


class Common(TypedDict, total=False):
    """Keywords of every function."""

    seed: int | None
    threads: int | None


class SourceSettings(Common, total=False):
    """What is read, and how. ``features`` and ``labels`` take arrays, too."""

    features: Any
    labels: Any
    nodes: int | None
    source: str | None
    target: str | None
    weight: str | None
    unweighted: bool | None
    weight_transform: Literal["none", "log", "scale"] | None
    header: bool | None
    id_column: str | None
    label_column: str | None
    missing: Sequence[str] | None
    extra_ids: Literal["auto", "add", "drop"] | None
    reverse: bool | None
    duplicates: Literal["sum", "max", "error"] | None
    keep_self_loops: bool | None


class DataSettings(SourceSettings, total=False):
    """How features are scaled and nodes are split, too."""

    feature_norm: Literal["row", "standard", "none", "auto"] | None
    split: str | None
    split_seed: int | None


class CompareSettings(DataSettings, total=False):
    """Where models are compared, too."""

    device: str | None


class OperatorSettings(DataSettings, total=False):
    """Which operator is built."""

    charge: Charge | None
    phase: Literal["sign", "weight"] | None
    symmetrize: Literal["max", "mean"] | None
    normalize: Literal["sym", "rw", "none", "directed"] | None
    self_loops: bool | None
    kind: Literal["adjacency", "laplacian"] | None
    pass_: Literal["low", "high", "auto"] | None


class FilterSettings(OperatorSettings, total=False):
    """Which filter is applied."""

    filter: Literal[
        "linear-rank", "markov", "ppr", "heat", "chebyshev", "bernstein", "arma", "polynomial", "power"
    ] | None
    order: int | None
    alpha: float | None
    time: float | None
    coefficients: Sequence[float] | None
    feedback: Sequence[float] | None
    exact: bool | None
    tolerance: float | None


class PropagateSettings(FilterSettings, total=False):
    """Where a filter is applied, too, or several at once."""

    channels: str | Sequence[str] | None
    device: str | None
    dtype: Literal["float32", "float16"] | type | None


class ModelSettings(FilterSettings, total=False):
    """Which model is trained, and how."""

    model: str | None
    channels: str | Sequence[str] | None
    hidden: int | None
    layers: int | None
    dropout: float | None
    gate: Literal["tanh", "exponential"] | None
    init: Literal["glorot", "he", "uniform", "unitary"] | None
    set: Mapping[str, Any] | None
    epochs: int | None
    patience: int | None
    batch: int | None
    rate: float | None
    weight_decay: float | None
    decay: Literal["l2", "decoupled"] | None
    clip: float | None
    schedule: str | None
    device: str | None
    preset: Path | None


class TrainSettings(ModelSettings, total=False):
    """How often it is trained, and where it is kept."""

    runs: int | None
    vary: Literal["seeds", "splits", "both"] | None
    controls: bool | None
    filtered: Path | None
    output: Path | None
    overwrite: bool | None
    resume: bool | None
    no_report: bool | None
    checkpoint_every: int | None
