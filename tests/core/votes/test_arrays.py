import numpy as np
import pytest

from deem_core.votes import arrays
from deem_core.votes.arrays import chunks, distinct_rows, one_hot, spread_rows


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
@pytest.mark.parametrize("shape", [(1, 1), (500, 3), (2000, 12), (300, 70)])
def test_rows_come_back_and_are_counted(shape, dtype):
    codes = np.random.default_rng(0).integers(-1, 3, shape).astype(dtype)
    codes[len(codes) // 2 :] = codes[: len(codes) - len(codes) // 2]
    rows = distinct_rows(codes)
    assert (rows.codes[rows.of_row] == codes).all()
    assert len(np.unique(rows.codes, axis=0)) == len(rows.codes)
    assert (rows.counts == np.bincount(rows.of_row)).all()


def test_rows_are_in_order_of_first_appearance():
    assert distinct_rows(np.array([[2, 1], [0, 0], [2, 1]])).codes.tolist() == [[2, 1], [0, 0]]


def test_numbers_that_hold_a_row_tell_rows_apart_and_others_are_checked():
    few, many = np.full((2, 40), 2, np.int32), np.full((2, 41), 2, np.int32)
    assert arrays._fingerprints(few)[1]  # 3^40 < 2^64 ≤ 3^41
    assert not arrays._fingerprints(many)[1]
    every = np.stack(np.meshgrid(*[np.arange(-1, 2)] * 7), axis=-1).reshape(-1, 7)
    assert len(np.unique(arrays._fingerprints(every)[0])) == 3**7


def test_equal_fingerprints_of_different_rows_are_noticed(monkeypatch):
    codes = np.zeros((4, 70), np.int32)
    codes[[0, 2], 1] = codes[1, 0] = 1  # rows 0 and 2 are equal and come last when sorted
    monkeypatch.setattr(arrays.pd, "factorize", lambda prints: (np.zeros(len(prints), np.intp), np.zeros(1)))
    rows = distinct_rows(codes)
    assert rows.of_row.tolist() == [0, 1, 0, 2]
    assert (rows.codes == codes[[0, 1, 3]]).all()


def test_values_of_distinct_rows_are_spread_over_all_rows():
    rows = distinct_rows(np.array([[2, 1], [0, 0], [2, 1]]))
    values = np.array([[0.5], [0.25]])
    assert rows.spread(values).tolist() == [[0.5], [0.25], [0.5]]
    assert rows.spread(values.T, axis=1).tolist() == [[0.5, 0.25, 0.5]]


def test_without_repeats_nothing_is_copied():
    codes = np.arange(6, dtype=np.int32).reshape(3, 2)
    rows, values = distinct_rows(codes), np.zeros((3, 4))
    assert np.shares_memory(rows.codes, codes)
    assert rows.spread(values) is values


def test_no_rows_are_no_rows():
    assert len(distinct_rows(np.zeros((0, 3), np.int32)).codes) == 0


def test_chunks_cover_every_row_once():
    assert list(chunks(5, 2)) == [slice(0, 2), slice(2, 4), slice(4, 5)]
    assert list(chunks(2, 0)) == [slice(0, 1), slice(1, 2)]  # a table wider than the memory meant for a chunk
    assert list(chunks(0, 3)) == []


def test_missing_votes_are_zero_vectors():
    assert one_hot(np.array([[0, 1], [2, -1]]), 3).tolist() == [[[1, 0, 0], [0, 1, 0]], [[0, 0, 1], [0, 0, 0]]]


class TestSpreadRows:
    def test_few_rows_are_all_there(self):
        assert spread_rows(10, 20).tolist() == list(range(10))
        assert spread_rows(10, 10).tolist() == list(range(10))
        assert spread_rows(0, 10).tolist() == []
        assert spread_rows(10, 1).tolist() == [0]

    def test_positions_between_rows_go_to_the_one_before_or_to_the_nearest(self):
        assert spread_rows(100, 3).tolist() == [0, 49, 99]
        assert spread_rows(100, 4).tolist() == [0, 33, 66, 99]
        assert spread_rows(101, 4).tolist() == [0, 33, 66, 100]
        assert spread_rows(101, 4, nearest=True).tolist() == [0, 33, 67, 100]
        assert spread_rows(100, 3, nearest=True).tolist() == [0, 50, 99]  # 49.5: halves go to the even row
        assert spread_rows(102, 3, nearest=True).tolist() == [0, 50, 101]  # 50.5

    @pytest.mark.parametrize("n", [1_001, 4_567, 20_000, 123_457, 10_000_019])
    def test_they_are_those_of_floating_point_where_that_is_right(self, n):
        exact = np.linspace(0, n - 1, 1_000)
        off = np.abs(exact - exact.round())
        clear = (off > 1e-6) & (np.abs(off - 0.5) > 1e-6)
        assert clear.sum() > 900
        np.testing.assert_array_equal(spread_rows(n, 1_000)[clear], np.floor(exact[clear]))
        np.testing.assert_array_equal(spread_rows(n, 1_000, nearest=True)[clear], exact[clear].round())

    def test_a_row_on_its_place_is_that_row(self):
        """In floating point 49 · (1 / 49) is below 1, and the row before it was taken."""
        for n in range(3, 200):
            rows = spread_rows(n, (n - 1) // 2 + 1)
            step = (n - 1) // ((n - 1) // 2)
            if (n - 1) % 2 == 0:
                assert rows.tolist() == list(range(0, n, step))

    @pytest.mark.parametrize("n", [20_000_000, 2**31, 2**40])
    @pytest.mark.parametrize("nearest", [False, True])
    def test_long_tables_are_never_left(self, n, nearest):
        """In single precision the last row of 20 million is the one after it."""
        rows = spread_rows(n, 1_000, nearest=nearest)
        assert rows[0] == 0
        assert rows[-1] == n - 1
        assert len(rows) == 1_000
        steps = np.diff(rows)
        assert steps.max() - steps.min() <= 1
