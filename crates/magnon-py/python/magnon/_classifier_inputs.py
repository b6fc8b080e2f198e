"""What ``MagneticClassifier`` is given, as its methods use it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ._arrays import as_array, is_sparse
from ._dataset import Dataset
from ._graphs import Edges, read_graph
from .errors import ArgumentError, DataError


def edges_of(graph: Any) -> Edges:
    """The edges of a graph or of a data set."""
    return graph.edges() if isinstance(graph, Dataset) else read_graph(graph)


def kind_of(classes: npt.NDArray[Any]) -> str:
    """Whether classes are words, numbers or anything else."""
    if classes.dtype.kind in "biuf":
        return "numbers"
    return "words" if all(isinstance(one, str) for one in classes.tolist()) else "objects"


def nodes_of(X: Any, nodes: int) -> npt.NDArray[np.int64]:
    """The numbers of nodes that X holds where the classifier has data."""
    if is_sparse(X):
        raise ArgumentError("X holds numbers of nodes where the classifier has data; it is no matrix")
    array = as_array(X)
    array = array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ArgumentError("X holds numbers of nodes where the classifier has data")
    if array.size and (array.min() < 0 or array.max() >= nodes):
        raise DataError(f"X names node {array.max()}, but there are {nodes} nodes")
    return array.astype(np.int64)


def seed_of(state: Any) -> int:
    """The seed of a ``random_state``."""
    if state is None:
        return int(np.random.default_rng().integers(2**31))
    if isinstance(state, np.random.RandomState):
        return int(state.randint(2**31))
    if isinstance(state, np.random.Generator):
        return int(state.integers(2**31))
    return int(state)
