"""What ``MagneticClassifier`` is given, as its methods use it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ._arrays import as_array, is_sparse, read_part
from ._dataset import Dataset
from ._graphs import Edges, read_graph
from ._labels import Labels
from ._training import models
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


def left_open(model: str, charge: Any, pass_: str | None) -> dict[str, Any]:
    """What a model leaves for the graph to decide. Without edges there are no cycles to choose a charge by, and no
    neighbours to be alike."""
    operator = models(model).config.get("operator") or {}
    closed = {"charge": 0, "pass_": "low"} if operator else {}
    given = {"charge": charge, "pass_": pass_}
    return {key: value for key, value in closed.items() if given[key] is None and operator.get(key.rstrip("_")) == "auto"}


def parts_of(
    labels: Labels, train: Any, val: Any, test: Any, fraction: float, seed: int
) -> tuple[Any, Any, Any]:
    """The parts of a split: a ``fraction`` of the training nodes of each class is held back where ``val`` is not given."""
    nodes = len(labels.codes)
    first = np.flatnonzero(labels.codes >= 0) if train is None else read_part(train, nodes, "train")
    if val is not None:
        second = read_part(val, nodes, "val")
        return (np.setdiff1d(first, second) if train is None else first), second, test
    if not 0 < fraction < 1:
        raise ArgumentError("validation_fraction must be above 0 and below 1")
    if first.size and (first.min() < 0 or first.max() >= nodes):
        raise DataError(f"train names node {first.max()}, but there are {nodes} nodes")
    draw = np.random.default_rng(seed)
    held = []
    for code in range(len(labels.classes)):
        members = draw.permutation(first[labels.codes[first] == code])
        held.append(members[: max(1, round(fraction * len(members)))] if len(members) > 1 else members[:0])
    second = np.sort(np.concatenate(held))
    if not len(second):
        # Too few to hold any back; training stops by what it learns from.
        return first[: max(1, len(first) - 1)], first[max(1, len(first) - 1) :], test
    return np.setdiff1d(first, second), second, test


def seed_of(state: Any) -> int:
    """The seed of a ``random_state``."""
    if state is None:
        return int(np.random.default_rng().integers(2**31))
    if isinstance(state, np.random.RandomState):
        return int(state.randint(2**31))
    if isinstance(state, np.random.Generator):
        return int(state.integers(2**31))
    return int(state)
