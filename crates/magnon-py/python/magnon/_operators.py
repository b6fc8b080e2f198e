"""Operators, what they filter, and their spectra."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from . import _magnon
from ._arrays import scipy_sparse
from ._dataset import Dataset, take
from ._settings import to_json
from ._keywords import (
    Charge,
    FilterSettings,
    OperatorSettings,
    PropagateSettings,
    Unpack,
    check_keywords,
    documented,
)
from ._progress import Progress, watching
from ._results import Picture, Result
from .errors import ArgumentError, DataError

_OPERATOR = ("charge", "phase", "symmetrize", "normalize", "self_loops", "kind", "pass_")


def _build(data: Any, settings: dict[str, Any], progress: Progress) -> tuple[_magnon.Operator, Dataset, dict[str, Any]]:
    dataset, rest = take(data, settings, progress)
    about = {key: rest.pop(key) for key in _OPERATOR if key in rest}
    # Threads are for what is done with the operator, too.
    keywords = to_json({**about, "threads": rest.get("threads")})
    with watching(progress) as watch:
        return _magnon.Operator(dataset._inner, keywords, watch), dataset, rest


@documented("operator")
def magnetic_operator(
    data: Any = "demo",
    *,
    linear_operator: bool = False,
    progress: Progress = False,
    **settings: Unpack[OperatorSettings],
) -> Any:
    """The magnetic operator of a graph.

    Parameters
    ----------
    data : graph, Dataset, or name of data
        See :func:`as_dataset` and :func:`load_dataset`.
    linear_operator : bool
        True for a ``scipy.sparse.linalg.LinearOperator``, which multiplies without building the matrix. A pickle of it
        holds the graph and the charge.
    **settings
        Keywords of the operator: ``charge``, ``phase``, ``symmetrize``, ``normalize``,
        ``self_loops``, ``kind``, ``pass_``.

    Returns
    -------
    scipy.sparse.csr_array or LinearOperator
        complex128, or float64 where all entries are real.

    Examples
    --------
    >>> import magnon
    >>> S = magnon.magnetic_operator([[0, 1], [1, 2], [2, 0]], charge="1/4", self_loops=False)
    >>> print(S.toarray().round(3)[0])
    [0.+0.j  0.+0.5j 0.-0.5j]
    """
    check_keywords(magnetic_operator, settings)
    csr_array = scipy_sparse().csr_array
    operator, dataset, _ = _build(data, dict(settings), progress)
    if linear_operator:
        from ._linear import MagneticLinearOperator

        return MagneticLinearOperator(operator, dataset)
    values, columns, offsets = operator.rows()
    nodes = len(offsets) - 1
    return csr_array((values, columns, offsets), shape=(nodes, nodes))


@documented("propagate")
def propagate(  # type: ignore[misc]  # features may be given by place, too
    data: Any = "demo",
    features: Any = None,
    *,
    return_report: bool = False,
    progress: Progress = False,
    **settings: Unpack[PropagateSettings],  # pyright: ignore[reportGeneralTypeIssues]
) -> Any:
    """Filters features with a function of the magnetic operator, h(S)X.

    Parameters
    ----------
    data : graph, Dataset, or name of data
    features : array, sparse matrix, tensor or frame, optional
        One row per node; those of the data set by default.
    return_report : bool
        True for what the command line tells, too.
    **settings
        Keywords of data, operator and filter, and ``device`` (``"cuda"`` for an NVIDIA card), or
        ``channels``, those of a bank such as ``["x", "out", "in", "out.in"]``, which bring their own operators and
        filters. Features of a graph in memory are taken as they are, unless ``feature_norm`` says otherwise.
        ``dtype="float16"`` rounds the result once to half precision; it is not for ``channels``.

    Returns
    -------
    numpy.ndarray
        complex64, or float32 of a real operator; one row per node. Of channels a dictionary, an array for each. In half
        precision float16, with a last axis for real and imaginary part of a complex operator, as NumPy has no
        complex numbers in half precision.

    Examples
    --------
    >>> import numpy as np, magnon
    >>> ring = np.array([[0, 1], [1, 2], [2, 0]])
    >>> sorted(magnon.propagate(ring, np.eye(3, dtype=np.float32), channels=["x", "out", "in.out"]))
    ['in.out', 'out', 'x']
    >>> magnon.propagate(ring, np.eye(3, dtype=np.float32), charge=0, filter="markov", order=2).round(3)
    array([[0.333, 0.333, 0.333],
           [0.333, 0.333, 0.333],
           [0.333, 0.333, 0.333]], dtype=float32)
    """
    check_keywords(propagate, settings)
    wanted: dict[str, Any] = dict(settings)
    if features is not None:
        wanted["features"] = features
        wanted.setdefault("feature_norm", "none")
    half = _is_half(wanted.pop("dtype", None))
    if wanted.get("channels") is not None:
        if half:
            raise ArgumentError("dtype is not for channels")
        dataset, rest = take(data, wanted, progress)
        with watching(progress) as watch:
            arrays, told = _magnon.propagate_channels(dataset._inner, to_json(rest), watch)
        found = dict(arrays)
        return (found, Result(told)) if return_report else found
    operator, dataset, rest = _build(data, wanted, progress)
    with watching(progress) as watch:
        filtered, told = operator.propagate(dataset._inner, to_json(rest), watch)
    if half:
        told = json.dumps({**json.loads(told), "dtype": "float16 pairs" if np.iscomplexobj(filtered) else "float16"})
        filtered = _halved(filtered)
    return (filtered, Result(told)) if return_report else filtered


def _is_half(dtype: Any) -> bool:
    """Whether a result is asked for in half precision, by a word of the command line or a type of NumPy."""
    if dtype is None:
        return False
    found = np.dtype(dtype)
    if found not in (np.float16, np.float32):
        raise ArgumentError(f"dtype is {dtype}; results are float32 or float16")
    return bool(found == np.float16)


def _halved(filtered: npt.NDArray[Any]) -> npt.NDArray[np.float16]:
    """Each number rounded once; those that half precision cannot hold are an error."""
    parts = filtered.view(np.float32).reshape(*filtered.shape, 2) if np.iscomplexobj(filtered) else filtered
    with np.errstate(over="ignore"):
        halves = parts.astype(np.float16)
    if np.isinf(halves).any():
        place = tuple(int(k) for k in np.argwhere(np.isinf(halves))[0])
        raise DataError(
            f"the number {parts[place]} in row {place[0]}, column {place[1]} of the result is beyond 65504, the largest "
            "of half precision; ask for float32, or scale the features (feature_norm)"
        )
    return halves


class Response(Result):
    """The response h(λ) of a filter."""

    def plot(self) -> Picture:
        """The curve as a picture."""
        if "curves" in self:
            curve = self.curves[0]
            x, y = curve.laplacian, curve.response
        else:
            x, y = self["lambda"], self.response
        order = np.argsort(x)
        title = f"Response of the filter over the spectrum of {self.name}"
        parts = (x[order].tolist(), y[order].tolist())
        return Picture(*_magnon.picture("response", title, self.filter, self.charge, *parts))

    _picture = plot


@documented("response")
def filter_response(
    data: Any = "demo",
    *,
    points: int | None = None,
    eigenvalues: bool | None = False,
    charges: Sequence[Charge] | None = None,
    memory: float | None = None,
    progress: Progress = False,
    **settings: Unpack[FilterSettings],
) -> Response:
    """What a filter does to each frequency of an operator.

    Parameters
    ----------
    points : int
        Points of an even grid over the interval that holds the spectrum, 201 by default.
    eigenvalues : bool
        True for the eigenvalues of Laplacian and adjacency in place of the grid.
    charges : sequence, optional
        Charges that eigenvalues are found at.
    memory : float, optional
        GiB that the dense solver may take.

    Returns
    -------
    Response
        With ``lambda`` and ``response``, or ``curves``.

    Examples
    --------
    >>> import magnon
    >>> found = magnon.filter_response("cycle:nodes=6", charge=0, filter="ppr", alpha=0.5, points=3)
    >>> found["lambda"], found.response.round(3)
    (array([-1.,  0.,  1.]), array([0.333, 0.5  , 1.   ]))
    """
    check_keywords(filter_response, settings)
    operator, _, rest = _build(data, dict(settings), progress)
    rest.update(points=points, eigenvalues=eigenvalues, charges=charges, memory=memory)
    with watching(progress) as watch:
        return Response(operator.response(to_json(rest), watch))


class Spectrum(Result):
    """Eigenvalues, ascending, and ``vectors`` in columns where they were asked for."""

    def plot(self) -> Picture:
        """The eigenvalues as a picture."""
        title = f"Eigenvalues of {self.name}, q = {self.charge_text}"
        values = self.eigenvalues.tolist()
        return Picture(*_magnon.picture("eigenvalues", title, "", self.charge, [], values))

    _picture = plot


@documented("spectrum")
def spectrum(
    data: Any = "demo",
    *,
    count: int | None = None,
    which: Literal["smallest", "largest"] | None = None,
    near: float | None = None,
    vectors: bool | None = False,
    tolerance: float | None = None,
    memory: float | None = None,
    device: str | None = None,
    progress: Progress = False,
    **settings: Unpack[OperatorSettings],
) -> Spectrum:
    """Eigenvalues of the magnetic operator: all of them, or ``count``.

    Parameters
    ----------
    count : int, optional
        How many; all by default.
    which : {"smallest", "largest"}, optional
        The end that counted eigenvalues are from.
    near : float, optional
        Counted eigenvalues are those nearest to this number.
    vectors : bool
        Whether eigenvectors are computed, too.
    tolerance : float, optional
        Largest residual of counted eigenvalues.
    memory : float, optional
        GiB that the dense solver may take.
    device : str, optional
        Where products are made, ``"cuda"`` for an NVIDIA card; not those of the dense solver, which finds all.

    Returns
    -------
    Spectrum
        With ``eigenvalues`` and ``vectors``.

    Examples
    --------
    >>> import magnon
    >>> magnon.spectrum("cycle:nodes=4", charge="1/4", kind="laplacian", self_loops=False).eigenvalues.round(6)
    array([0., 1., 1., 2.])
    """
    check_keywords(spectrum, settings)
    operator, _, rest = _build(data, dict(settings), progress)
    rest.update(count=count, which=which, near=near, vectors=vectors, tolerance=tolerance, memory=memory)
    rest.update(device=device)
    with watching(progress) as watch:
        found, told = operator.spectrum(to_json(rest), watch)
    return Spectrum(told, vectors=found)


class Density(Result):
    """The density of eigenvalues over ``lambda``, with standard errors."""

    def plot(self) -> Picture:
        """The density as a picture."""
        title = f"Density of the eigenvalues of {self.name}"
        parts = (self["lambda"].tolist(), self.density.tolist())
        return Picture(*_magnon.picture("response", title, f"q = {self.charge_text}", self.charge, *parts))

    _picture = plot


@documented("spectrum")
def spectral_density(
    data: Any = "demo",
    *,
    probes: int | None = None,
    moments: int | None = None,
    points: int | None = None,
    device: str | None = None,
    progress: Progress = False,
    **settings: Unpack[OperatorSettings],
) -> Density:
    """Estimates how the eigenvalues of the operator are spread, on a graph of any size.

    Parameters
    ----------
    probes : int, optional
        Random vectors.
    moments : int, optional
        Terms of the series.
    points : int, optional
        Points of the grid.
    device : str, optional
        Where products are made, ``"cuda"`` for an NVIDIA card.

    Returns
    -------
    Density
        With ``lambda``, ``density`` and ``error``.

    Examples
    --------
    >>> import magnon
    >>> found = magnon.spectral_density("cycle:nodes=500", charge=0, probes=4, points=50)
    >>> len(found.density)
    50
    """
    check_keywords(spectral_density, settings)
    operator, _, rest = _build(data, dict(settings), progress)
    rest.update(probes=probes, moments=moments, points=points, device=device)
    with watching(progress) as watch:
        return Density(operator.density(to_json(rest), watch))
