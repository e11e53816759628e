import numpy as np
import pytest

from deem_core import distinct
from deem_core.distinct import distinct_rows


@pytest.mark.parametrize("shape", [(1, 1), (500, 3), (2000, 12)])
def test_rows_come_back_and_are_counted(shape):
    codes = np.random.default_rng(0).integers(-1, 3, shape).astype(np.int32)
    rows = distinct_rows(codes)
    assert (rows.codes[rows.of_row] == codes).all()
    assert len(np.unique(rows.codes, axis=0)) == len(rows.codes)
    assert rows.counts.sum() == len(codes)


def test_rows_are_in_order_of_first_appearance():
    assert distinct_rows(np.array([[2, 1], [0, 0], [2, 1]])).codes.tolist() == [[2, 1], [0, 0]]


def test_equal_fingerprints_of_different_rows_are_noticed(monkeypatch):
    codes = np.array([[0, 1], [1, 0], [0, 1]], np.int32)
    monkeypatch.setattr(distinct.pd, "factorize", lambda prints: (np.zeros(len(prints), np.intp), np.zeros(1)))
    rows = distinct_rows(codes)
    assert (rows.codes[rows.of_row] == codes).all()


def test_no_rows_are_no_rows():
    assert len(distinct_rows(np.zeros((0, 3), np.int32)).codes) == 0
