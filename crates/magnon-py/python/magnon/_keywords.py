"""The keywords that functions share, as type checkers and ``help`` show them. Tests hold them to the command line's
flags. None leaves a keyword out."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from fractions import Fraction
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, Union

if TYPE_CHECKING:
    from typing_extensions import Unpack
else:
    try:
        from typing import Unpack
    except ImportError:  # Python 3.10
        try:
            from typing_extensions import Unpack
        except ImportError:  # nothing but numpy needs to be installed

            class Unpack:
                """What a type checker takes from typing_extensions."""

                def __class_getitem__(cls, kind: Any) -> Any:
                    return kind


__all__ = [
    "Charge",
    "CompareSettings",
    "DataSettings",
    "FOR_FILES",
    "GENERATED",
    "HIDDEN",
    "IN_MEMORY",
    "FilterSettings",
    "ModelSettings",
    "OperatorSettings",
    "Path",
    "PropagateSettings",
    "SourceSettings",
    "TrainSettings",
    "Unpack",
    "check_keywords",
    "documented",
    "refuse_unknown",
]

#: Keywords of generators.
GENERATED = ("nodes", "blocks", "density", "within", "mutual", "direction", "columns", "noise", "seed")
#: Keywords of :func:`as_dataset`: of any graph, of those in memory, and those that are for files.
_NAMED = ("features", "labels", "train", "val", "test", "splits", "name", "classes")
_GRAPH = ("nodes", "source", "target", "weight", "unweighted", "reverse", "duplicates", "keep_self_loops", "feature_norm")
FOR_FILES = ("header", "id_column", "label_column", "missing", "extra_ids", "weight_transform")
IN_MEMORY = (*_NAMED, *_GRAPH, *FOR_FILES)
#: How features were scaled already, which only the package itself says.
HIDDEN = ("scaling", "scaled")

Charge = Union[float, str, Fraction]
Path = Union[str, PathLike[str]]
Function = TypeVar("Function", bound=Callable[..., Any])


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

    device: str | None
    dtype: Literal["float32", "float16"] | type | None
    channels: str | Sequence[str] | None


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


def documented(command: str) -> Callable[[Function], Function]:
    """Names the keywords of ``**settings`` in the signature and the documentation of a function."""

    def document(function: Function) -> Function:
        words = function.__annotations__["settings"].removeprefix("Unpack[").removesuffix("]")
        signature = inspect.signature(function)
        own = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
        known = keywords(globals()[words])
        more = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
            for name, kind in known.items()
            if name not in signature.parameters
        ]
        vars(function)["__signature__"] = signature.replace(parameters=[*own, *more])
        if function.__doc__:
            list_ = [f"{one.name} : {str(one.annotation).removesuffix(' | None')}" for one in more]
            title = "Other Parameters"
            words = [title, "-" * len(title), *list_, f"    As the flags that ``magnon {command} --help`` explains."]
            before, returns, after = inspect.cleandoc(function.__doc__).partition("Returns\n-------\n")
            function.__doc__ = before + "\n".join(words) + "\n\n" + returns + after
        return function

    return document


def keywords(kind: Any) -> dict[str, str]:
    """The keywords of a typed dictionary, and their types as they are written."""
    return {name: getattr(one, "__forward_arg__", str(one)) for name, one in kind.__annotations__.items()}


def check_keywords(function: Callable[..., Any], settings: Mapping[str, Any]) -> None:
    """Refuses what is not in the signature of a documented function, also where it is None or False."""
    refuse_unknown(settings, inspect.signature(function).parameters)


def refuse_unknown(given: Iterable[str], known: Iterable[str], *, hidden: Sequence[str] = ()) -> None:
    """Refuses keywords that a function does not have, and names the one that may be meant; no ``hidden`` one."""
    words = list(known)
    for name in given:
        if name not in words and name not in hidden:
            near = [f"{name}_"] if f"{name}_" in words else get_close_matches(name, words, 1)
            raise TypeError(f"unexpected keyword argument {name!r}" + (f"; did you mean {near[0]}?" if near else ""))
