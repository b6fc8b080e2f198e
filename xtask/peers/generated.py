"""Random graphs in folders that magnon and `datasets.load` read, for checks that need no real data."""

import shutil
from pathlib import Path

import numpy as np
import scipy.sparse as sp

PLAIN, WEIGHTED, SIGNED = (f"generated/{name}" for name in ("plain", "weighted", "signed"))
"""Edges without weights, with positive ones, and with ones of either sign; all have self loops."""


def write_folder(
    folder: Path, adjacency: sp.spmatrix, x: np.ndarray, labels: np.ndarray, seed: int
) -> None:
    """A folder that magnon takes, with a random split of 30, 30 and 40 per cent."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    sp.save_npz(folder / "adj.npz", sp.csr_matrix(adjacency))
    sp.save_npz(folder / "features.npz", sp.csr_matrix(x))
    np.savetxt(folder / "labels.csv", labels, "%d")
    nodes = np.random.default_rng(seed).permutation(len(labels))
    cuts = [3 * len(nodes) // 10, 6 * len(nodes) // 10]
    for part, chosen in zip(("train", "valid", "test"), np.split(nodes, cuts)):
        np.savetxt(folder / f"idx_{part}.csv", np.sort(chosen), "%d")


def write_weighted(folder: Path, nodes: int, density: float, seed: int, loops: bool = False) -> None:
    """Weights are fractions that single precision holds; the last node has no edges."""
    rng = np.random.default_rng(seed)
    classes = 4
    weights = rng.integers(1, 33, (nodes, nodes)) / 16 * (rng.random((nodes, nodes)) < density)
    np.fill_diagonal(weights, rng.integers(0, 3, nodes) / 4 if loops else 0)
    weights[-1] = weights[:, -1] = 0
    labels = np.arange(nodes) % classes
    means = rng.standard_normal((classes, 10))
    x = (means[labels] + rng.standard_normal((nodes, 10))).astype(np.float32).astype(float)
    write_folder(folder, sp.csr_matrix(weights), x, labels, 6)


def write_counted(folder: Path, nodes: int, density: float, seed: int, signed: bool) -> None:
    """Features are counts. Weights are 1, or fractions of either sign; the last node has no edges."""
    rng = np.random.default_rng(seed)
    weights = (rng.random((nodes, nodes)) < density).astype(float)
    if signed:
        weights *= rng.integers(1, 33, (nodes, nodes)) / 16 * rng.choice([-1, 1], (nodes, nodes))
    weights[-1] = weights[:, -1] = 0
    x = rng.poisson(0.7, (nodes, 12)).astype(float)
    write_folder(folder, sp.csr_matrix(weights), x, rng.integers(0, 4, nodes), 6)


def write_all(work: Path) -> None:
    """Writes the three graphs that have names."""
    write_counted(work / PLAIN, 90, 0.05, 3, signed=False)
    write_weighted(work / WEIGHTED, 90, 0.05, 4, loops=True)
    write_counted(work / SIGNED, 90, 0.05, 5, signed=True)


def find(name: str, work: Path, data: Path | None) -> Path | None:
    """The place of a graph; none of a real one where there are no real data."""
    if name in (PLAIN, WEIGHTED, SIGNED):
        return work / name
    return data and data / name
