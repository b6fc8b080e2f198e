"""Numbers against scipy, networkx and numpy, written from the definitions."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import expm
from scipy.sparse.linalg import eigsh

import magnon


def dense_operator(adjacency, charge, self_loops=True):
    """D^-1/2 (A_s ⊙ T_q) D^-1/2 from its definition, phases by the direction of the larger weight."""
    a = adjacency.toarray()
    loops = np.eye(len(a)) if self_loops else 0
    symmetric = np.maximum(a, a.T) + loops
    phase = np.exp(2j * np.pi * charge * np.sign(a - a.T))
    degrees = symmetric.sum(axis=1)
    scale = np.divide(1, np.sqrt(degrees), where=degrees > 0, out=np.zeros(len(a)))
    return scale[:, None] * symmetric * phase * scale


@pytest.mark.parametrize("charge", [0, 0.2, "1/3", 0.5])
def test_operator(graph, charge):
    found = magnon.magnetic_operator(graph, charge=charge)
    number = 1 / 3 if charge == "1/3" else charge
    np.testing.assert_allclose(found.toarray(), dense_operator(graph, number), atol=1e-12)
    assert np.iscomplexobj(found.data) == (charge != 0 and charge != 0.5)


def test_linear_operator(graph):
    matrix = magnon.magnetic_operator(graph, charge=0.2, normalize="rw")
    operator = magnon.magnetic_operator(graph, charge=0.2, normalize="rw", linear_operator=True)
    block = np.random.default_rng(0).normal(size=(40, 3))
    np.testing.assert_allclose(operator @ block, matrix @ block, atol=1e-12)
    np.testing.assert_allclose(operator.adjoint() @ block[:, 0], matrix.conj().T @ block[:, 0], atol=1e-12)
    hermitian = magnon.magnetic_operator(graph, charge=0.2, linear_operator=True)
    largest = eigsh(hermitian, k=2, which="LA", return_eigenvectors=False)
    exact = np.linalg.eigvalsh(dense_operator(graph, 0.2))
    np.testing.assert_allclose(np.sort(largest), exact[-2:], atol=1e-8)


def test_spectrum(graph):
    exact_values, exact_vectors = np.linalg.eigh(dense_operator(graph, 0.25))
    found = magnon.spectrum(graph, charge=0.25, vectors=True)
    np.testing.assert_allclose(found.eigenvalues, exact_values, atol=1e-10)
    overlap = np.abs(np.sum(exact_vectors.conj() * found.vectors, axis=0))
    apart = np.diff(exact_values, prepend=-9, append=9)
    alone = np.minimum(apart[:-1], apart[1:]) > 1e-6
    np.testing.assert_allclose(overlap[alone], 1, atol=1e-8)
    few = magnon.spectrum(graph, charge=0.25, count=3, which="largest")
    np.testing.assert_allclose(few.eigenvalues, exact_values[-3:], atol=1e-8)


def test_propagate(graph):
    operator = dense_operator(graph, 0.2)
    features = np.random.default_rng(1).normal(size=(40, 5))
    heat = magnon.propagate(graph, features, charge=0.2, filter="heat", time=1.5)
    expected = expm(-1.5 * (np.eye(40) - operator)) @ features
    np.testing.assert_allclose(heat, expected, atol=2e-5)
    page_rank = magnon.propagate(graph, features, charge=0.2, filter="ppr", alpha=0.7, exact=True)
    expected = 0.3 * np.linalg.solve(np.eye(40) - 0.7 * operator, features)
    np.testing.assert_allclose(page_rank, expected, atol=2e-5)
    assert page_rank.dtype == np.complex64
    sparse = magnon.propagate(graph, sp.csr_array(features), charge=0.2, filter="heat", time=1.5)
    np.testing.assert_allclose(sparse, heat, atol=1e-6)


def test_response():
    found = magnon.filter_response("cycle:nodes=5", charge=0, filter="heat", time=2.0, points=11)
    np.testing.assert_allclose(found.response, np.exp(-2 * (1 - found["lambda"])), atol=1e-6)
    curves = magnon.filter_response("cycle:nodes=5", eigenvalues=True, charges=["0", "1/5"]).curves
    exact = 1 - np.cos(2 * np.pi * np.arange(5) / 5)
    np.testing.assert_allclose(curves[0].laplacian, np.sort(exact), atol=1e-10)


def test_denoise(graph):
    laplacian = np.eye(40) - dense_operator(graph, 0.2, self_loops=False)
    signal = np.random.default_rng(2).normal(size=40)
    found = magnon.denoise(graph, signal, charge=0.2, mu=0.7)
    np.testing.assert_allclose(found, np.linalg.solve(np.eye(40) + laplacian / 0.7, signal), atol=1e-9)
    same = magnon.denoise(graph, signal, charge=0.2, mu=0.7, form="filter")
    np.testing.assert_allclose(found, same, atol=1e-9)


def test_density_integrates_to_one(graph):
    found = magnon.spectral_density(graph, charge=0.2, probes=8)
    assert abs(np.trapezoid(found.density, found["lambda"]) - 1) < 0.05


def test_eigenmap(graph):
    found = magnon.eigenmap(graph, charge=0.2, vectors=[0, 1], whole_graph=True)
    laplacian = np.eye(40) - dense_operator(graph, 0.2, self_loops=False)
    residual = laplacian @ found.points - found.points * found.eigenvalues
    assert np.abs(residual).max() < 1e-7
    np.testing.assert_allclose(found.angles, np.angle(found.points), atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_cycles(seed):
    network = nx.gnp_random_graph(11, 0.2, seed=seed, directed=True)
    found = list(magnon.simple_cycles(network))
    turned = lambda cycle: tuple(cycle[cycle.index(min(cycle)) :] + cycle[: cycle.index(min(cycle))])  # noqa: E731
    expected = sorted(map(turned, nx.simple_cycles(network)))
    assert sorted(map(turned, found)) == expected
    lengths = magnon.cycle_lengths(network, max_length=11, enumerate=True)
    assert {a.length for a in lengths.lengths if a.exists} == {len(cycle) for cycle in expected}
    counts = {} if lengths.counts is None else {int(key): n for key, n in lengths.counts.items()}
    assert counts == {k: sum(len(c) == k for c in expected) for k in {len(c) for c in expected}}
    short = list(magnon.simple_cycles(network, max_length=3))
    assert sorted(map(turned, short)) == [cycle for cycle in expected if len(cycle) <= 3]


def test_homophily(graph):
    labels = np.random.default_rng(3).integers(0, 3, 40)
    rows, columns = ((graph + graph.T) > 0).nonzero()
    expected = np.mean(labels[rows] == labels[columns])
    assert abs(magnon.homophily(graph, labels).edge - expected) < 1e-12


@pytest.mark.parametrize("charge", [0, "1/3"])
def test_half_precision(graph, charge, tmp_path):
    x = np.random.default_rng(3).standard_normal((graph.shape[0], 5)).astype(np.float32)
    single = magnon.propagate(graph, x, charge=charge)
    parts = np.stack([single.real, single.imag], axis=-1) if charge else single
    half, report = magnon.propagate(graph, x, charge=charge, dtype="float16", return_report=True)
    assert half.dtype == np.float16 and report.dtype.startswith("float16")
    np.testing.assert_array_equal(half, parts.astype(np.float16))
    with pytest.raises(magnon.errors.DataError, match="65504"):
        magnon.propagate(graph, 1e6 * x, charge=charge, dtype=np.float16)
    with pytest.raises(magnon.errors.ArgumentError, match="float64"):
        magnon.propagate(graph, x, charge=charge, dtype="float64")
