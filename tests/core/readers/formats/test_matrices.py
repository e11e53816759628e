"""Label matrices of NumPy and SciPy are read, and nothing in them is run."""

import io

import numpy as np
import pytest
import scipy.sparse as sp

from deem_core import InputError
from deem_core.readers import bounds, read
from deem_core.readers.formats.content import UndecidedError

RNG = np.random.default_rng(0)
MATRIX = np.where(RNG.random((40, 5)) < 0.4, -1, RNG.integers(0, 3, (40, 5)))
TRUTH = RNG.integers(0, 3, 40)


def npy(array, **options) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, **options)
    return buffer.getvalue()


def npz(**arrays) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def sparse(matrix) -> bytes:
    buffer = io.BytesIO()
    sp.save_npz(buffer, matrix)
    return buffer.getvalue()


def says(data, *words, **options):
    with pytest.raises(InputError) as refused:
        read(data, **options)
    assert all(word in str(refused.value) for word in words), str(refused.value)


@pytest.mark.parametrize(
    "matrix", [MATRIX, np.asfortranarray(MATRIX), np.where(MATRIX < 0, np.nan, MATRIX), MATRIX.astype("i1")]
)
def test_a_dense_matrix_keeps_its_votes(matrix):
    reading = read(npy(matrix))
    assert (reading.report.format, reading.report.layout) == ("npy", "wide")
    assert reading.votes.learners == tuple(f"lf_{j}" for j in range(5))
    np.testing.assert_array_equal(reading.votes.codes, MATRIX)
    assert any("-1 is read as no vote" in text for text in reading.report.sentences())


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_what_a_sparse_matrix_does_not_store_is_no_vote(form):
    moved = MATRIX + 1  # 0 abstains, classes from 1
    reading = read(sparse(sp.coo_matrix(moved).asformat(form)))
    np.testing.assert_array_equal(reading.votes.codes, MATRIX)
    assert reading.votes.classes.tolist() == ["1", "2", "3"]


def test_where_minus_one_is_stored_zeros_are_a_class():
    reading = read(sparse(sp.csr_matrix(MATRIX)))
    np.testing.assert_array_equal(reading.votes.codes, MATRIX)
    assert "class 0, since -1 is stored" in " ".join(reading.report.sentences())


def test_truth_and_names_beside_the_matrix():
    reading = read(npz(L=MATRIX, Y=TRUTH, names=[f"rule {j}" for j in range(5)], extra=np.zeros(3)))
    assert reading.votes.learners[0] == "rule 0"
    np.testing.assert_array_equal(reading.votes.truth, TRUTH)
    assert "Other arrays were left out: 'extra'." in reading.report.sentences("left out")
    assert read(npz(L=MATRIX, Y=TRUTH, gold=TRUTH)).votes.truth is None  # two could be it


def test_truth_of_another_length_is_left_out_with_the_reason():
    reading = read(npz(L=MATRIX, Y=TRUTH[:7]))
    assert reading.votes.truth is None
    assert reading.report.sentences("left out") == []
    assert "The array 'Y' is named like the truth, but has 7 values for 40 rows: it was left out." in (
        reading.report.sentences("warning")
    )


def test_of_several_matrices_one_is_asked_for():
    two = npz(L_train=MATRIX, L_test=MATRIX[:10])
    with pytest.raises(UndecidedError, match=r"several matrices: 'L_train', 'L_test'.*--sheet") as asked:
        read(two)
    assert asked.value.choice.names == ("L_train", "L_test")
    assert read(two, sheet="L_test").votes.n_rows == 10
    assert read(two, sheet="2").source.choice.chosen == "L_test"
    says(two, "has no array 'nope'", sheet="nope")


def test_files_that_are_no_matrix_are_refused():
    says(npy(np.array([["a", None]], object), allow_pickle=True), "never loaded")
    says(npz(L=np.array([[{}]], object)), "never loaded")
    says(npz(), "is an empty archive")
    says(npy(MATRIX[0]), "shape (5,)")
    says(npy(np.ones((3, 2, 2))), "Votes.from_soft")
    says(npy(MATRIX + 0.5), "not whole")
    says(npy(np.full((2, 2), np.inf)), "not whole")
    says(npy(np.array([["a", "b"]])), "whole numbers")
    says(npy(np.empty((0, 3), int)), "empty matrix")
    says(npy(MATRIX)[:-7], "damaged")
    says(npy(MATRIX)[:20], "damaged")
    says(npz(Y=TRUTH), "no matrix of numbers")
    says(npy(np.full((3, 2), 2**63, np.uint64)), "too large")
    says(npz(data=[1], shape=[2, 2], format="bsr", indices=[0], indptr=[0, 1, 1]), "'bsr'")
    says(npz(data=[1], shape=[2, 2], format="csr", indices=[7], indptr=[0, 1, 1]), "damaged")
    says(npz(data=[1], shape=[2, 2], format="csr", indices=[0], indptr=[0, 9, 1]), "damaged")
    says(npz(data=np.empty(0, int), shape=[2, 2], format="csr", indices=[], indptr=[0, 0, 0]), "without a vote")


def test_a_sparse_matrix_is_counted_before_it_is_written_out(monkeypatch):
    vast = npz(data=[1], shape=[10**12, 3], format="coo", row=[0], col=[0])
    says(vast, "3,000,000,000,000 cells")
    monkeypatch.setattr(bounds, "SMALL_UNPACKED", 10_000)
    says(npz(L=np.zeros((10_000, 100), int)), "zip archive", "200 times")
