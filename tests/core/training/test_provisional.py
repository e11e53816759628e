"""Before the end of a sweep verdicts are provisional, and some are not told yet."""

import pytest

from deem_core.training.guidance import EARLIEST, FIRM, LED, NOT_ENOUGH, Numbers, Recommendation, Verdict, so_far

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


@pytest.mark.parametrize("kind", ["class died", "rising energy"])
def test_rejections_are_told_from_half_of_the_way_on(kind):
    found = told(kind, EARLIEST)
    assert (found.kind, found.words) == (kind, f"{kind} so far")
    assert found.reason == "So far: the gap dipped."


@pytest.mark.parametrize("kind", ["too small", "not settled", "usable", "recommended"])
@pytest.mark.parametrize(("share", "led"), [(EARLIEST, LED), (FIRM - 0.01, LED), (0.99, LED - 1)])
def test_nothing_is_praised_or_recommended_before_the_same_rate_has_led_for_a_while(kind, share, led):
    (found,), chosen = so_far([verdict(kind)], CHOSEN, share, led=led)
    assert (found.kind, found.reason) == ("open", "Too early to tell.")
    assert (chosen.kind, chosen.index, chosen.learning_rate) == ("too early", None, None)


@pytest.mark.parametrize("kind", ["too small", "not settled", "usable", "recommended"])
def test_a_firm_lead_is_told_with_the_words_so_far(kind):
    (found,), chosen = so_far([verdict(kind)], CHOSEN, FIRM, led=LED)
    assert (found.kind, found.words) == (kind, f"{kind} so far")
    assert chosen == CHOSEN


def test_an_explosion_is_told_only_at_the_end():
    assert told("exploding difference", 0.99).kind == "open"


def test_a_sweep_that_ended_too_early_recommends_nothing_and_says_what_to_do():
    chosen = so_far([verdict("usable")], CHOSEN, 0.3, ended=True)[1]
    assert chosen == NOT_ENOUGH
    assert chosen.index is None
    assert chosen.to_try
