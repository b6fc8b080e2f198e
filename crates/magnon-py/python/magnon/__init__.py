"""Magnon learns on directed graphs through the magnetic Laplacian.

Functions are the commands of ``magnon``, with the same words and the same results; estimators follow
scikit-learn's conventions. Graphs come from scipy, networkx, igraph, PyTorch Geometric, edge tables or arrays.

Examples
--------
>>> import magnon
>>> magnon.cycle_lengths("cycle:nodes=3").choice
'1/3'
"""

from __future__ import annotations

from . import errors
from ._cycles import cycle_lengths, homophily, simple_cycles
from ._dataset import Dataset, as_dataset, fetch, fetch_list, generate, load_dataset
from ._magnon import __version__
from ._operators import filter_response, magnetic_operator, propagate, spectral_density, spectrum
from ._results import Page, Picture, Result
from ._signals import denoise, eigenmap
from ._training import Run, compare, models, predict, train, tune
from .classifier import MagneticClassifier
from .embedding import MagneticEmbedding
from .errors import MagnonError
from .masks import MaskSplit
from .transformer import MagneticFeatures

__all__ = [
    "Dataset",
    "MagneticClassifier",
    "MagneticEmbedding",
    "MagneticFeatures",
    "MagnonError",
    "MaskSplit",
    "Page",
    "Picture",
    "Result",
    "Run",
    "__version__",
    "as_dataset",
    "compare",
    "cycle_lengths",
    "denoise",
    "eigenmap",
    "errors",
    "fetch",
    "fetch_list",
    "filter_response",
    "generate",
    "homophily",
    "load_dataset",
    "magnetic_operator",
    "models",
    "predict",
    "propagate",
    "simple_cycles",
    "spectral_density",
    "spectrum",
    "train",
    "tune",
]
