"""What calls fail with. The words are those of the library, and name what is at fault and what to do."""

from __future__ import annotations

__all__ = [
    "ArgumentError",
    "DataError",
    "DenoiseError",
    "FetchError",
    "FilterError",
    "GraphError",
    "MagnonError",
    "ModelError",
    "OperatorError",
    "RunError",
    "SpectrumError",
    "SplitError",
    "Stopped",
    "TrainError",
]


class MagnonError(Exception):
    """Any error of Magnon."""


class ArgumentError(MagnonError, ValueError):
    """An argument that cannot be meant: outside of its range, or of no use beside the others."""


class DataError(MagnonError, ValueError):
    """Data that cannot be read or used."""


class SplitError(DataError):
    """A split that cannot be had."""


class GraphError(DataError):
    """Edges that are no graph."""


class OperatorError(MagnonError, ValueError):
    """An operator that cannot be built."""


class FilterError(MagnonError, ValueError):
    """A filter that cannot be built or applied."""


class SpectrumError(MagnonError, ValueError):
    """Eigenvalues that cannot be found."""


class DenoiseError(MagnonError, ValueError):
    """A signal that cannot be denoised."""


class ModelError(MagnonError, ValueError):
    """A model that cannot be built."""


class TrainError(MagnonError, ValueError):
    """A model that cannot be trained."""


class RunError(MagnonError, OSError):
    """A run folder that cannot be read or written."""


class FetchError(MagnonError, OSError):
    """A data set that cannot be fetched."""


class Stopped(MagnonError):
    """The call was stopped before its end."""
