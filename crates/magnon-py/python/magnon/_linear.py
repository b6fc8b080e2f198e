"""The magnetic operator as a linear operator of scipy. The only module that needs scipy to be imported."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse.linalg import LinearOperator

from . import _magnon
from ._dataset import Dataset, as_dataset
from ._settings import to_json
from ._results import Result


class MagneticLinearOperator(LinearOperator):  # type: ignore[misc, unused-ignore]  # scipy may bring no types
    """Multiplies by the magnetic operator without building its matrix. A pickle holds the graph, and builds it anew."""

    def __init__(self, operator: _magnon.Operator, dataset: Dataset) -> None:
        report = Result(operator.report())
        self._operator, self._dataset, self._report = operator, dataset, report
        super().__init__(np.dtype(np.float64 if report.real else np.complex128), (report.nodes, report.nodes))

    def _product(self, block: npt.NDArray[Any], adjoint: bool) -> npt.NDArray[Any]:
        columns = np.asarray(block, dtype=np.complex128).reshape(self._report.nodes, -1)
        found = self._operator.product(columns, adjoint).reshape(np.shape(block))
        return np.real(found).copy() if self._report.real and not np.iscomplexobj(block) else found

    def _matvec(self, x: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return self._product(x, False)

    def _rmatvec(self, x: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return self._product(x, True)

    def _matmat(self, X: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return self._product(X, False)

    def _rmatmat(self, X: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return self._product(X, True)

    def __reduce__(self) -> tuple[Any, ...]:
        report = self._report
        settings = {
            # A fraction is exact as it is written; so is any other number as Python writes it.
            "charge": report.charge_text if "/" in report.charge_text else report.charge,
            "phase": report.phase,
            "symmetrize": None if report.normalize == "directed" else report.symmetrize,
            "normalize": report.normalize,
            "self_loops": report.self_loops,
            **_KINDS[report.kind],
        }
        return _restored, (as_dataset(self._dataset.edges(), keep_self_loops=True), to_json(settings))


#: How the kinds of operators are asked for.
_KINDS: dict[str, dict[str, str]] = {
    "adjacency": {"kind": "adjacency", "pass_": "low"},
    "negated-adjacency": {"kind": "adjacency", "pass_": "high"},
    "laplacian": {"kind": "laplacian"},
}


def _restored(dataset: Dataset, settings: str) -> MagneticLinearOperator:
    return MagneticLinearOperator(_magnon.Operator(dataset._inner, settings), dataset)
