"""``MagneticFeatures``: features filtered by the magnetic operator, as a transformer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _magnon
from ._align import RowOrder
from ._arrays import read_features
from ._dataset import Dataset, as_dataset
from ._estimator import Transformer
from ._settings import as_text, to_json
from ._graphs import Edges, edgeless
from ._keywords import refuse_unknown
from ._output import check_container, contained, output_names
from ._results import Result
from .errors import ArgumentError

_OPERATOR = ("charge", "phase", "symmetrize", "normalize", "self_loops", "kind", "pass_")
_FILTER = ("filter", "order", "alpha", "time", "coefficients", "feedback", "exact", "tolerance")


class MagneticFeatures(Transformer):
    """Filters features, X̄ = h(S)X, by one filter or by a bank of them.

    ``fit`` chooses the charges that are left open and learns how the features are scaled; ``transform`` uses both, on
    the same graph or on another one.

    Parameters
    ----------
    charge, phase, symmetrize, normalize, self_loops, kind, pass_
        The operator.
    filter, order, alpha, time, coefficients, feedback, exact, tolerance
        The filter.
    bank : sequence of dict, optional
        Several filters, each with keywords of its own on top of these; their columns stand side by side. An
        empty dictionary is the filter above.
    output : {"real", "complex"}
        ``real`` puts imaginary parts beside real ones, as scikit-learn's estimators need them.
    feature_norm : {"none", "row", "standard", "auto"}
        How features are scaled before.
    n_jobs : int, optional
        Threads; all by default. The result does not depend on it.

    Attributes
    ----------
    charge_ : list of str
        The charge of each filter.
    n_features_in_ : int
        Columns of the features.
    feature_names_in_ : array
        Their names, where the features came with names; ``transform`` refuses others.

    Examples
    --------
    >>> import numpy as np, magnon
    >>> ring = np.array([[0, 1], [1, 2], [2, 0]])
    >>> bank = [{"filter": "ppr"}, {"filter": "markov", "order": 2}]
    >>> magnon.MagneticFeatures(charge="1/3", bank=bank).fit_transform(np.eye(3), graph=ring).shape
    (3, 12)
    """

    def __init__(
        self,
        *,
        charge: Any = None,
        phase: str | None = None,
        symmetrize: str | None = None,
        normalize: str | None = None,
        self_loops: bool | None = None,
        kind: str | None = None,
        pass_: str | None = None,
        filter: str | None = None,
        order: int | None = None,
        alpha: float | None = None,
        time: float | None = None,
        coefficients: Any = None,
        feedback: Any = None,
        exact: bool = False,
        tolerance: float | None = None,
        bank: Sequence[Mapping[str, Any]] | None = None,
        output: str = "real",
        feature_norm: str = "none",
        n_jobs: int | None = None,
    ) -> None:
        self.charge = charge
        self.phase = phase
        self.symmetrize = symmetrize
        self.normalize = normalize
        self.self_loops = self_loops
        self.kind = kind
        self.pass_ = pass_
        self.filter = filter
        self.order = order
        self.alpha = alpha
        self.time = time
        self.coefficients = coefficients
        self.feedback = feedback
        self.exact = exact
        self.tolerance = tolerance
        self.bank = bank
        self.output = output
        self.feature_norm = feature_norm
        self.n_jobs = n_jobs

    def __sklearn_is_fitted__(self) -> bool:
        return "n_features_in_" in vars(self)

    def fit(self, X: Any, y: Any = None, *, graph: Any = None) -> MagneticFeatures:
        """Chooses the charges and learns the scaling, and keeps the graph; without one, nodes stand alone."""
        read = read_features(X)
        if read.shape[0] == 0 or read.shape[1] == 0:
            raise ValueError(f"0 sample(s) or 0 feature(s) (shape={read.shape}) while a minimum of 1 is required.")
        if self.output not in ("real", "complex"):
            raise ArgumentError(f"output is real or complex, not {self.output!r}")
        dataset = self._data(X, graph, read.shape[0], {"feature_norm": self.feature_norm})
        self._scaling = dataset._inner.scaling()
        self.charge_ = self._charges(dataset, alone=graph is None)
        self._graph = graph
        self._note_features(X, read.shape)
        return self

    def _data(self, X: Any, graph: Any, nodes: int, about: dict[str, Any]) -> Dataset:
        kept = isinstance(graph, (Edges, Dataset))
        return as_dataset(edgeless(nodes) if graph is None else graph, X, keep_self_loops=kept, **about)

    def _channels(self) -> list[dict[str, Any]]:
        """The settings of each filter."""
        bank = self.bank or ({},)
        for channel in bank:
            refuse_unknown(channel, (*_OPERATOR, *_FILTER))
        return [{**self.get_params(), **channel} for channel in bank]

    def _keywords(self, settings: Mapping[str, Any]) -> str:
        return to_json({**{key: settings[key] for key in _OPERATOR}, "threads": self._threads()})

    def _charges(self, dataset: Dataset, *, alone: bool) -> list[str]:
        """The charge of each filter; one that is left open is chosen by the cycles of the graph."""
        found: list[str] = []
        chosen: dict[str, str] = {}
        for settings in self._channels():
            charge = settings["charge"]
            if charge is None and alone:
                charge = 0
            if charge is None or charge == "auto":
                keywords = self._keywords(settings)
                if keywords not in chosen:
                    operator = _magnon.Operator(dataset._inner, keywords)
                    chosen[keywords] = str(Result(operator.report()).charge_text)
                charge = chosen[keywords]
            found.append(as_text(charge))
        return found

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """Names of the columns of ``transform`` on the graph of ``fit``: ``age_real`` and ``age_imag`` where the filtered
        features are complex, behind the number of the filter in a bank, as in ``filter1_age_real``."""
        self._check_fitted()
        dataset = as_dataset(edgeless(1) if self._graph is None else self._graph)
        operators = [
            _magnon.Operator(dataset._inner, self._keywords({**settings, "charge": charge}))
            for settings, charge in zip(self._channels(), self.charge_)
        ]
        return self._names_out([not Result(operator.report()).real for operator in operators], input_features)

    def _names_out(self, is_complex: Sequence[bool], input_features: Any = None) -> npt.NDArray[Any]:
        parts = [["_real", "_imag"] if one and self.output == "real" else [""] for one in is_complex]
        words = [part for one in parts for part in one]
        names = output_names(self, input_features, words, self.n_features_in_)
        if len(parts) > 1:
            filters = [k for k, one in enumerate(parts) for _ in range(len(one) * self.n_features_in_)]
            names = np.asarray([f"filter{k}_{name}" for k, name in zip(filters, names)], dtype=object)
        return names

    def set_output(self, *, transform: str | None = None) -> MagneticFeatures:
        """What ``transform`` gives: ``"default"`` for an array, ``"pandas"`` or ``"polars"`` for a frame."""
        check_container(transform)
        if transform is not None:
            self._sklearn_output_config = {"transform": transform}
        return self

    def transform(self, X: Any = None, *, graph: Any = None) -> Any:
        """The filtered features, one row per row of X: an array, or what :meth:`set_output` asks for."""
        self._check_fitted()
        read = read_features(X)
        if read.shape[0] == 0:
            raise ValueError(f"0 sample(s) (shape={read.shape}) while a minimum of 1 is required.")
        self._check_features(X, read.shape)
        graph = self._graph if graph is None else graph
        dataset = self._data(X, graph, read.shape[0], {"scaling": self._scaling, "scaled": False})
        parts: list[npt.NDArray[Any]] = []
        is_complex: list[bool] = []
        operators: dict[str, _magnon.Operator] = {}
        for settings, charge in zip(self._channels(), self.charge_):
            keywords = self._keywords({**settings, "charge": charge})
            if keywords not in operators:
                operators[keywords] = _magnon.Operator(dataset._inner, keywords)
            filters = to_json({**{key: settings[key] for key in _FILTER}, "threads": self._threads()})
            found, _ = operators[keywords].propagate(dataset._inner, filters)
            is_complex.append(np.iscomplexobj(found))
            if self.output == "real" and np.iscomplexobj(found):
                found = np.hstack([np.real(found), np.imag(found)])
            parts.append(found)
        names = dataset.node_names
        order = RowOrder(X, names, dataset.nodes, "X", linked=names is not None)
        found = order.as_given(parts[0] if len(parts) == 1 else np.hstack(parts))
        return contained(self, found, X, lambda: self._names_out(is_complex))
