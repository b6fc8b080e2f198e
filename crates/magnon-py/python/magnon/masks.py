"""``MaskSplit``: cross-validation by masks, which keeps nodes aligned with their graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from ._align import RowOrder
from ._arrays import read_part
from ._dataset import Dataset
from .errors import ArgumentError


class MaskSplit:
    """Splits nodes by masks, for ``GridSearchCV`` and its like.

    Cross-validation takes rows apart, and a graph cannot be taken apart with them. So the classifier holds the
    data, and the rows are the numbers of the nodes.

    Parameters
    ----------
    splits : Dataset, or list of parts
        The splits of a data set, or ``(train, test)`` or ``(train, val, test)`` of each as masks or numbers of
        nodes. Validation nodes are handed to ``fit`` with the training nodes.
    nodes : int, optional
        Number of nodes, where masks do not tell.

    Examples
    --------
    >>> import magnon, numpy as np
    >>> data = magnon.generate("cyclic", nodes=60, columns=4)
    >>> cv = magnon.MaskSplit(data)
    >>> clf = magnon.MagneticClassifier(data=data, charge="1/3", epochs=5)
    >>> train, test = next(cv.split(cv.nodes))
    >>> clf.fit(cv.nodes[train], data.labels[train]).predict(cv.nodes[test]).shape == test.shape
    True
    """

    def __init__(self, splits: Dataset | Iterable[Iterable[Any]], nodes: int | None = None) -> None:
        given: list[tuple[Any, ...]]
        given = splits.splits if isinstance(splits, Dataset) else [tuple(parts) for parts in splits]
        count = splits.nodes if isinstance(splits, Dataset) else nodes
        if not given:
            raise ArgumentError("there is no split; give some, or load the data with split='60/20/20'")
        if count is None:
            masks = [part for parts in given for part in parts if np.asarray(part).dtype == bool]
            count = len(masks[0]) if masks else 1 + max(int(np.max(part)) for parts in given for part in parts)
        self._nodes = count
        self._splits = [self._two(parts) for parts in given]

    def _two(self, parts: tuple[Any, ...]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        if len(parts) not in (2, 3):
            raise ArgumentError(f"a split has train and test, or train, val and test, not {len(parts)} parts")
        # Without a graph there are no names to find the rows of a series by.
        order = RowOrder(None, None, self._nodes, "a part", linked=False)
        read = [read_part(order.part(part, "a part"), self._nodes, "a part") for part in parts]
        return np.concatenate(read[:-1]), read[-1]

    @property
    def nodes(self) -> npt.NDArray[np.int64]:
        """The numbers of all nodes: what is given as X."""
        return np.arange(self._nodes)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of splits."""
        return len(self._splits)

    def split(
        self, X: Any = None, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
        """Rows that are trained on and rows that are measured, split by split."""
        if X is not None and len(X) != self._nodes:
            raise ArgumentError(f"there are {self._nodes} nodes, but X has {len(X)} rows; give MaskSplit.nodes as X")
        yield from self._splits
