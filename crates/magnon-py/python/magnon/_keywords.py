"""The keywords that functions share, as type checkers and ``help`` show them. None leaves a keyword out."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeVar

from ._typed import (
    Charge,
    CompareSettings,
    DataSettings,
    FilterSettings,
    ModelSettings,
    OperatorSettings,
    Path,
    PropagateSettings,
    SourceSettings,
    TrainSettings,
)

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

Function = TypeVar("Function", bound=Callable[..., Any])


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
