"""``MagneticEmbedding``: nodes as points by eigenvectors of the magnetic Laplacian."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ._estimator import Estimator
from ._signals import eigenmap
from .errors import ArgumentError, DataError


class MagneticEmbedding(Estimator):
    """Maps the nodes of a graph by the first eigenvectors of its magnetic Laplacian.

    As scikit-learn's ``SpectralEmbedding`` it has no ``transform``: other nodes need another fit.

    Parameters
    ----------
    n_components : int
        Eigenvectors taken.
    output : {"plane", "angles", "complex"}
        Real and imaginary parts side by side, phase angles, or the complex entries.
    charge, phase, symmetrize, normalize
        The operator.
    whole_graph : bool
        Whether components other than the largest count.
    random_state : int
        Seed of the iteration on large graphs.
    n_jobs : int, optional
        Threads; all by default.

    Attributes
    ----------
    embedding_ : array
        One row per node.
    n_features_in_ : int
        Nodes of the graph.
    eigenvalues_ : array
        The eigenvalues of the vectors taken.
    map_ : Eigenmap
        Points, angles and a picture.

    Examples
    --------
    >>> import numpy as np, magnon
    >>> ring = np.array([[0, 1], [1, 2], [2, 3], [3, 0]])
    >>> magnon.MagneticEmbedding(n_components=1, charge="1/4").fit_transform(graph=ring).shape
    (4, 2)
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        output: str = "plane",
        charge: Any = None,
        phase: str | None = None,
        symmetrize: str | None = None,
        normalize: str | None = None,
        whole_graph: bool = False,
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.output = output
        self.charge = charge
        self.phase = phase
        self.symmetrize = symmetrize
        self.normalize = normalize
        self.whole_graph = whole_graph
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any = None, y: Any = None, *, graph: Any = None) -> MagneticEmbedding:
        """Finds the eigenvectors; the graph is ``graph``, or ``X`` where that is one."""
        given = X if graph is None else graph
        if given is None:
            raise ArgumentError("there is no graph to embed; give it with graph=")
        if isinstance(given, (np.ndarray, list)):
            check_numbers(np.asarray(given))
        if self.output not in ("plane", "angles", "complex"):
            raise ArgumentError(f"output is plane, angles or complex, not {self.output!r}")
        settings = {name: getattr(self, name) for name in ("charge", "phase", "symmetrize", "normalize")}
        self.map_ = eigenmap(
            given,
            vectors=range_list(self.n_components),
            whole_graph=self.whole_graph,
            seed=self.random_state,
            threads=self._threads(),
            **settings,
        )
        self.eigenvalues_ = self.map_.eigenvalues
        self.embedding_ = self._shown()
        self.n_features_in_ = len(self.embedding_)
        return self

    def fit_transform(self, X: Any = None, y: Any = None, *, graph: Any = None) -> npt.NDArray[Any]:
        """The points of the nodes of a graph."""
        return self.fit(X, y, graph=graph).embedding_

    def __sklearn_tags__(self) -> Any:
        tags = self._tags(None)
        tags.input_tags.pairwise = True
        tags.transformer_tags = None
        return tags

    def _shown(self) -> npt.NDArray[Any]:
        points = self.map_.points
        if self.output == "complex":
            return points
        return self.map_.angles if self.output == "angles" else np.hstack([points.real, points.imag])


def check_numbers(array: npt.NDArray[Any]) -> None:
    """Refuses arrays that are neither edges nor weights, in the words of scikit-learn's conventions."""
    if array.dtype.kind == "c":
        raise DataError("Complex data not supported: weights of edges are real")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise DataError("the graph holds NaN or infinity")
    if array.ndim == 2 and 0 in array.shape:
        kind = "sample" if array.shape[0] == 0 else "feature"
        raise DataError(f"0 {kind}(s) (shape={array.shape}) while a minimum of 1 is required.")
    if array.shape == (1, 1):
        raise DataError("a graph of n_samples = 1 node has no embedding")


def range_list(count: int) -> list[int]:
    """0 to ``count`` − 1, for at least one."""
    if count < 1:
        raise ArgumentError(f"n_components is {count}; it must be at least 1")
    return list(range(count))
