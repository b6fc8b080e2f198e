"""scikit-learn's conventions, without importing scikit-learn."""

from __future__ import annotations

import inspect
import os
import sys
from typing import Any, TypeVar

import numpy as np

from ._arrays import column_names
from ._progress import caution
from .errors import ArgumentError, MagnonError

Self = TypeVar("Self", bound="Estimator")


class NotFittedError(MagnonError, ValueError, AttributeError):
    """The estimator has not learnt anything yet."""


def not_fitted(estimator: object) -> Exception:
    """scikit-learn's own exception where it is loaded, so that its users can catch that one."""
    words = f"This {type(estimator).__name__} instance is not fitted yet; call fit first"
    known = sys.modules.get("sklearn.exceptions")
    return known.NotFittedError(words) if known is not None else NotFittedError(words)


class Estimator:
    """Parameters are the arguments of the constructor, which only stores them."""

    @classmethod
    def _names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name."""
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self: Self, **params: Any) -> Self:
        """Sets parameters by name."""
        known = self._names()
        for name, value in params.items():
            if name not in known:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self!r}. Valid parameters are: {known!r}."
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        given = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if value is not defaults[name].default and repr(value) != repr(defaults[name].default)
        ]
        return f"{type(self).__name__}({', '.join(given)})"

    def __sklearn_is_fitted__(self) -> bool:
        return any(name.endswith("_") and not name.startswith("_") for name in vars(self))

    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise not_fitted(self)

    def _note_features(self, features: Any, shape: tuple[int, int]) -> None:
        """Keeps how many features there are, and what they are called."""
        self.n_features_in_ = shape[1]
        names = column_names(features)
        if names is not None:
            self.feature_names_in_ = np.asarray(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _check_features(self, features: Any, shape: tuple[int, int]) -> None:
        """Refuses features with other columns than those of ``fit``, in the words of scikit-learn."""
        names, known = column_names(features), getattr(self, "feature_names_in_", None)
        kind = type(self).__name__
        if known is None and names is not None:
            caution(f"X has feature names, but {kind} was fitted without feature names")
        elif known is not None and names is None:
            caution(f"X does not have valid feature names, but {kind} was fitted with feature names")
        elif known is not None and names is not None and list(known) != names:
            raise ValueError(_other_names(names, list(known)))
        if shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input"
            )

    def _threads(self) -> int | None:
        """The threads that ``n_jobs`` asks for, as joblib reads it; all where it is None or −1."""
        n_jobs: int | None = getattr(self, "n_jobs", None)
        if n_jobs is None or n_jobs == -1:
            return None
        if n_jobs == 0:
            raise ArgumentError("n_jobs is 0; it is a number of threads, or -1 for all")
        return max(1, n_jobs if n_jobs > 0 else (os.cpu_count() or 1) + 1 + n_jobs)

    def _tags(self, kind: str | None) -> Any:
        """What scikit-learn asks about an estimator; only it calls this."""
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type=kind,
            target_tags=TargetTags(required=kind == "classifier"),
            transformer_tags=TransformerTags(preserves_dtype=[]) if kind is None else None,
            classifier_tags=ClassifierTags() if kind == "classifier" else None,
            input_tags=InputTags(sparse=True),
        )


def _other_names(names: list[str], known: list[str]) -> str:
    """What scikit-learn says of columns that are not those of ``fit``."""
    words = ["The feature names should match those that were passed during fit."]
    for title, more in (
        ("Feature names unseen at fit time:", sorted(set(names) - set(known))),
        ("Feature names seen at fit time, yet now missing:", sorted(set(known) - set(names))),
    ):
        if more:
            words += [title, *(f"- {name}" for name in more[:5]), *(["- ..."] if len(more) > 5 else [])]
    if len(words) == 1:
        words.append("Feature names must be in the same order as they were in fit.")
    return "\n".join(words) + "\n"


class Transformer(Estimator):
    """An estimator that turns nodes into numbers."""

    def __sklearn_tags__(self) -> Any:
        return self._tags(None)

    def fit(self: Self, X: Any, y: Any = None, *, graph: Any = None) -> Self:
        """Learns from a graph and features."""
        raise NotImplementedError

    def transform(self, X: Any = None, *, graph: Any = None) -> Any:
        """Turns nodes into numbers."""
        raise NotImplementedError

    def fit_transform(self, X: Any = None, y: Any = None, *, graph: Any = None) -> Any:
        """Both in one call."""
        return self.fit(X, y, graph=graph).transform(X)

