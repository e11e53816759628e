"""Before the end of a sweep verdicts are provisional, and some are not told yet."""

import pytest

from deem_core.training.guidance import EARLIEST, Numbers, Recommendation, Verdict, so_far

CHOSEN = Recommendation("recommended", 0, 0.5, 1, "Why.", "")


def verdict(kind):
    return Verdict(kind, 0.5, 1, "The gap dipped.", Numbers(records=10))


def told(kind, share):
    (found,), _ = so_far([verdict(kind)], CHOSEN, share)
    return found


@pytest.mark.parametrize(
    "kind", ["class died", "rising energy", "exploding difference", "too small", "not settled", "usable", "recommended"]
)
def test_at_a_tenth_of_the_way_nothing_is_decided(kind):
    found = told(kind, 0.1)
    assert (found.kind, found.words) == ("open", "open")
    assert found.provisional
    assert not found.rejected


@pytest.mark.parametrize("share", [0.0, 0.1, 0.9])
def test_a_candidate_that_broke_down_is_told_at_once_and_for_good(share):
    assert told("not finite", share) == verdict("not finite")


@pytest.mark.parametrize("kind", ["class died", "rising energy", "too small", "not settled", "usable", "recommended"])
def test_later_verdicts_are_told_with_the_words_so_far(kind):
    found = told(kind, EARLIEST)
    assert (found.kind, found.words) == (kind, f"{kind} so far")
    assert found.reason == "So far: the gap dipped."


def test_an_explosion_is_told_only_at_the_end():
    assert told("exploding difference", 0.99).kind == "open"


def test_nothing_is_recommended_before_half_of_the_way():
    early, late = (so_far([verdict("recommended")], CHOSEN, share)[1] for share in (EARLIEST - 0.01, EARLIEST))
    assert (early.kind, early.index, early.learning_rate) == ("too early", None, None)
    assert late == CHOSEN
