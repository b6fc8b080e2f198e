"""Nodes as points, and smoother signals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from . import _magnon
from ._align import aligned
from ._arrays import as_array
from ._dataset import take
from ._settings import to_json
from ._keywords import OperatorSettings, Unpack, check_keywords, documented
from ._progress import Progress, watching
from ._results import Picture, Result
from .errors import DataError


class Eigenmap(Result):
    """Nodes as ``points`` of the complex plane, one column per eigenvector, with their ``angles``."""

    def plot(self) -> Picture:
        """The nodes as a picture; its page can be turned in space."""
        return Picture(*self._drawn)

    _picture = plot


@documented("eigenmap")
def eigenmap(
    data: Any = "demo",
    *,
    vectors: Sequence[int] | None = (0, 1, 2),
    whole_graph: bool | None = False,
    tolerance: float | None = None,
    memory: float | None = None,
    device: str | None = None,
    progress: Progress = False,
    **settings: Unpack[OperatorSettings],
) -> Eigenmap:
    """Maps the nodes of a graph by eigenvectors of its magnetic Laplacian.

    Parameters
    ----------
    vectors : sequence of int
        Which eigenvectors, counted from 0 at the smallest eigenvalue.
    whole_graph : bool
        Whether components other than the largest count.
    tolerance : float, optional
        Largest residual of the eigenvectors.
    memory : float, optional
        GiB that the dense solver may take.
    device : str, optional
        Where products are made, ``"cuda"`` for an NVIDIA card.

    Returns
    -------
    Eigenmap
        With ``points`` (complex128), ``angles``, ``eigenvalues`` and ``nodes_named``.

    Examples
    --------
    >>> import magnon
    >>> found = magnon.eigenmap("cycle:nodes=6", charge="1/6", vectors=[0])
    >>> found.points.shape, bool(abs(found.eigenvalues[0]) < 1e-9)
    ((6, 1), True)
    """
    check_keywords(eigenmap, settings)
    dataset, rest = take(data, dict(settings), progress)
    rest.update(vectors=vectors, whole_graph=whole_graph, tolerance=tolerance, memory=memory, device=device)
    with watching(progress) as watch:
        points, angles, told, drawn = _magnon.eigenmap(dataset._inner, to_json(rest), watch)
    found = Eigenmap(told, points=points, angles=angles, nodes_named=dataset.node_names)
    found.__dict__["_drawn"] = drawn
    return found


@documented("denoise")
def denoise(
    data: Any = "demo",
    signal: Any = None,
    *,
    mu: float | None = None,
    form: Literal["filter", "laplacian"] | None = None,
    return_report: bool = False,
    progress: Progress = False,
    **settings: Unpack[OperatorSettings],
) -> Any:
    """Smooths a signal on a graph, β(I − αA)⁻¹x = (I + L/μ)⁻¹x.

    Parameters
    ----------
    signal : array, optional
        Real or complex, one row per node; the features of the data set by default.
    mu : float
        Weight of closeness to the signal against smoothness.
    form : {"filter", "laplacian"}
        The closed form that is solved, the first or the second; they are equal.
    return_report : bool
        True for what the command line tells, too.

    Returns
    -------
    numpy.ndarray
        As many dimensions as the signal; complex128, or float64 where it is real.

    Examples
    --------
    >>> import numpy as np, magnon
    >>> magnon.denoise("cycle:nodes=4", np.array([1.0, -1.0, 1.0, -1.0]), charge=0, mu=2.0)
    array([ 0.5, -0.5,  0.5, -0.5])
    """
    check_keywords(denoise, settings)
    dataset, rest = take(data, dict(settings), progress)
    rest.update(mu=mu, form=form)
    block, shape = None, None
    if signal is not None:
        array = as_array(aligned(signal, dataset.node_names, dataset.nodes, "signal"))
        if array.ndim not in (1, 2) or array.dtype.kind not in "biufc":
            raise DataError("a signal is an array of numbers with one row per node")
        shape = array.shape
        columns = int(np.prod(shape[1:], dtype=np.int64))
        block = np.asarray(array, dtype=np.complex128).reshape(shape[0], columns)
    with watching(progress) as watch:
        smooth, told = _magnon.denoise(dataset._inner, block, to_json(rest), watch)
    smooth = smooth if shape is None else smooth.reshape(shape)
    return (smooth, Result(told)) if return_report else smooth
