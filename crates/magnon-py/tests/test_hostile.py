"""No input crashes the interpreter: each is taken, or refused with a named exception."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import magnon
from magnon.errors import DataError, GraphError, MagnonError

REFUSED = (MagnonError, TypeError, ValueError)

DTYPES = st.one_of(
    hnp.boolean_dtypes(),
    hnp.integer_dtypes(endianness="?"),
    hnp.unsigned_integer_dtypes(endianness="?"),
    hnp.floating_dtypes(endianness="?"),
    hnp.complex_number_dtypes(endianness="?"),
    hnp.datetime64_dtypes(),
    hnp.unicode_string_dtypes(max_len=2),
)


@st.composite
def arrays(draw, shapes=hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=6), dtypes=DTYPES):
    """Arrays of any type, shape and layout, some of them read only."""
    array = draw(hnp.arrays(draw(dtypes), draw(shapes)))
    if draw(st.booleans()) and array.ndim:
        array = np.repeat(array, 2, axis=0)[:: draw(st.sampled_from([2, -2]))]
    if draw(st.booleans()):
        array = array.T
    if draw(st.booleans()):
        array.flags.writeable = False
    return array


def attempt(call, *arguments, **keywords):
    try:
        return call(*arguments, **keywords)
    except REFUSED as error:
        assert str(error)
        assert "internal error" not in str(error)
        return None


small = st.integers(-2, 5)
pairs = hnp.arrays(st.sampled_from([np.int8, np.int32, np.int64]), st.tuples(st.integers(0, 12), st.just(2)), elements=small)


@given(arrays(), arrays())
def test_any_arrays(graph, features):
    data = attempt(magnon.as_dataset, graph, features)
    if data is not None:
        assert data.nodes > 0 and data.features.shape[0] == data.nodes
        attempt(magnon.propagate, data, charge=0.25, order=2)


@given(pairs, arrays(shapes=st.tuples(st.integers(0, 7), st.integers(0, 4))), st.one_of(arrays(), st.none()))
def test_graphs_with_features(edges, features, labels):
    data = attempt(magnon.as_dataset, edges, features, labels)
    if data is None:
        return
    assert np.all(np.isfinite(data.features))
    attempt(magnon.magnetic_operator, data, charge=0.3, linear_operator=True)
    attempt(magnon.train, data, epochs=2, split="50/25/25")
    attempt(magnon.spectrum, data, count=2)


@given(
    st.lists(st.integers(-2, 6), max_size=6),
    st.lists(st.integers(-2, 6), max_size=6),
    hnp.arrays(np.float64, st.integers(0, 6), elements=st.floats(width=64)),
    st.sampled_from([np.int32, np.int64]),
)
def test_broken_sparse_matrices(offsets, columns, values, kind):
    """Whatever someone writes into the arrays of a matrix after scipy has checked them."""
    matrix = sp.csr_array((4, 4))
    matrix.indptr, matrix.indices = np.array(offsets, dtype=kind), np.array(columns, dtype=kind)
    matrix.data = values
    matrix.has_canonical_format = True
    attempt(magnon.as_dataset, matrix)
    attempt(magnon.as_dataset, np.array([[0, 1], [1, 2], [2, 3]]), matrix)


@given(arrays(), st.floats(width=64), st.integers(-3, 99))
def test_any_settings(signal, number, count):
    attempt(magnon.denoise, "cycle:nodes=6", signal, charge=0.2, mu=number)
    attempt(magnon.spectrum, "cycle:nodes=6", charge=number, count=count)
    attempt(magnon.filter_response, "cycle:nodes=6", filter="ppr", alpha=number, points=min(count, 50))
    attempt(magnon.eigenmap, "cycle:nodes=6", vectors=[count])
    attempt(magnon.cycle_lengths, "cycle:nodes=6", max_length=count)


@given(arrays(), arrays(), arrays())
def test_any_classifier(features, labels, mask):
    clf = magnon.MagneticClassifier(epochs=2)
    if attempt(clf.fit, features, labels, train=mask) is not None:
        attempt(clf.predict, features)


def test_errors_name_what_is_wrong(graph):
    with pytest.raises(DataError, match="row 1, column 0"):
        magnon.as_dataset(graph, np.where(np.arange(80).reshape(40, 2) == 2, np.nan, 1.0))
    with pytest.raises(GraphError, match="names a node outside of 0..2"):
        magnon.as_dataset(np.array([[0, 1], [1, 2], [0, 2]]), nodes=2)
    with pytest.raises(DataError, match="targets"):
        magnon.as_dataset(np.array([[0, -1], [1, 2], [0, 2]]), nodes=3)
    with pytest.raises(ValueError, match="charge"):
        magnon.spectrum(graph, charge=0.7)
    with pytest.raises(ValueError, match="kind"):
        magnon.spectrum(graph, kind="laplace")
    with pytest.raises(magnon.errors.DataError, match="nowhere"):
        magnon.load_dataset("nowhere")
    with pytest.raises(magnon.errors.RunError, match="nothing"):
        magnon.predict("nothing")
