import numpy as np
import pytest

from deem_core import InputError
from deem_core.methods import Aggregate
from deem_core.methods.contract import check_stop_rule, fill_silent_rows, silence_notes


def test_codes_take_the_lowest_class_among_equals_and_leave_silent_rows_out():
    posterior = np.array([[0.2, 0.4, 0.4], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    made = Aggregate(posterior=posterior, voted=np.array([True, True, False]))
    assert made.codes.tolist() == [1, 0, -1]
    assert made.codes.dtype == np.int32


def test_silent_rows_get_the_prior_or_equal_shares():
    voted = np.array([True, False])
    posterior = np.array([[0.9, 0.1], [np.nan, np.nan]])
    fill_silent_rows(posterior, voted)
    assert posterior.tolist() == [[0.9, 0.1], [0.5, 0.5]]
    fill_silent_rows(posterior, voted, np.array([0.3, 0.7]))
    assert posterior.tolist() == [[0.9, 0.1], [0.3, 0.7]]


def test_silence_is_noted_only_where_it_is():
    assert silence_notes(np.array([True])) == ()
    assert silence_notes(np.array([True, False])) == ("1 row has no vote and gets no label.",)
    assert silence_notes(np.zeros(2000, bool)) == ("2,000 rows have no vote and get no label.",)


@pytest.mark.parametrize(("tolerance", "iterations"), [(-1e-5, 10), (float("nan"), 10), (1e-5, 0)])
def test_a_stop_rule_without_meaning_is_refused(tolerance, iterations):
    with pytest.raises(InputError, match="must be"):
        check_stop_rule(tolerance, iterations)
