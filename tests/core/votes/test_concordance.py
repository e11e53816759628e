"""Agreement figures: textbook examples, definitions written out, and what intervals rest on."""

import itertools
import math

import numpy as np
import pytest

from deem_core import Votes, simulate
from deem_core.votes.concordance import concordance

N = None
KRIPPENDORFF = [  # four coders, twelve units (Krippendorff 2011, "Computing Krippendorff's alpha-reliability")
    [1, 2, 3, 3, 2, 1, 4, 1, 2, N, N, N],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, N, 3],
    [N, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, N],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, N],
]
FLEISS = [  # ten subjects, fourteen raters, five categories: κ = 0.210
    *([0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1]),
    *([7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7]),
]


def figures(votes, **options):
    return {each.name: each.value for each in concordance(votes, **options).coefficients}


def test_krippendorff_s_own_example():
    found = figures(Votes.from_labels(np.array(KRIPPENDORFF, object).T))
    assert {name: round(found[name], 3) for name in list(found)[:3]} == {
        "alpha_nominal": 0.743,
        "alpha_ordinal": 0.815,
        "alpha_interval": 0.849,
    }


def test_fleiss_own_example():
    rows = [[f"c{k}" for k, votes in enumerate(row) for _ in range(votes)] for row in FLEISS]
    assert figures(Votes.from_labels(rows))["fleiss_kappa"] == pytest.approx(0.210, abs=5e-4)


def by_definition(codes, distance):
    """α by pairs of votes, as Krippendorff defines it: within rows against all."""
    pairable = [row[row >= 0] for row in codes if (row >= 0).sum() >= 2]
    everything = np.concatenate(pairable)
    counts = np.bincount(everything, minlength=codes.max() + 1)
    observed = sum(
        sum(distance(a, b, counts) for a, b in itertools.permutations(row, 2)) / (len(row) - 1) for row in pairable
    )
    expected = sum(n * m * distance(a, b, counts) for a, n in enumerate(counts) for b, m in enumerate(counts) if a != b)
    return 1 - (len(everything) - 1) * observed / expected


def kappa_by_definition(codes, K):
    """Fleiss' κ with the mean of rows in place of equal numbers of votes (Gwet 2014)."""
    rows = [np.bincount(row[row >= 0], minlength=K) for row in codes if (row >= 0).sum() >= 2]
    agreeing = np.mean([(row * (row - 1)).sum() / (row.sum() * (row.sum() - 1)) for row in rows])
    chance = (np.mean([row / row.sum() for row in rows], axis=0) ** 2).sum()
    return (agreeing - chance) / (1 - chance)


def noisy(n, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.clip(rng.integers(0, 5, n)[:, None] + rng.choice([-1, 0, 0, 0, 1, 2], (n, 5)), 0, 4)
    return np.where(rng.random(codes.shape) < 0.3, -1, codes)


def scale(codes):
    return Votes(codes, np.array([1, 2, 4, 8, 9]), tuple("abcde"))


DISTANCES = {
    "alpha_nominal": lambda a, b, counts: a != b,
    "alpha_ordinal": lambda a, b, counts: (counts[min(a, b) : max(a, b) + 1].sum() - (counts[a] + counts[b]) / 2) ** 2,
    "alpha_interval": lambda a, b, counts: ([1, 2, 4, 8, 9][a] - [1, 2, 4, 8, 9][b]) ** 2,
}


def test_figures_are_their_definitions_with_missing_votes_and_repeated_rows():
    codes = np.concatenate([noisy(40), noisy(40)[:15], np.full((2, 5), -1), [[3, -1, -1, -1, -1]]])
    found = figures(scale(codes))
    for name, distance in DISTANCES.items():
        assert found[name] == pytest.approx(by_definition(codes, distance)), name
    assert found["fleiss_kappa"] == pytest.approx(kappa_by_definition(codes, 5))


def test_intervals_are_those_of_leaving_out_each_row():
    codes = noisy(150, seed=1)
    whole = concordance(scale(codes))
    paired = np.flatnonzero((codes >= 0).sum(axis=1) >= 2)
    without = [figures(scale(np.delete(codes, row, axis=0))) for row in paired]
    for each in whole.coefficients:
        logs = np.log([1 - one[each.name] for one in without])
        error = math.sqrt((len(logs) - 1) * logs.var())
        assert math.log((1 - each.low) / (1 - each.value)) == pytest.approx(1.96 * error, rel=0.05), each.name
        assert each.low < each.value < each.high < 1


def test_where_all_agree_the_interval_still_has_a_width():
    agreed = Votes.from_labels([["a"] * 3, ["b"] * 3] * 20)
    for each in concordance(agreed).coefficients:
        assert each.value == each.high == 1
        assert 0.7 < each.low < 0.95
    fewer = Votes.from_labels([["a"] * 3, ["b"] * 3] * 3)
    assert concordance(fewer)["fleiss_kappa"].low < 0.5


def test_rows_that_are_all_alike_give_no_interval_without_width():
    alike = Votes.from_labels([["a", "a", "b"], ["b", "b", "a"]] * 2)
    for each in concordance(alike).coefficients:
        assert each.low < each.value - 0.1
        assert each.high > each.value + 0.1


@pytest.mark.parametrize(
    ("labels", "reason"),
    [
        ([["a", "a"], ["b", None]], "all votes are for one class"),
        ([["a", None], [None, "b"]], "no row has two votes"),
    ],
)
def test_what_is_not_defined_says_why(labels, reason):
    found = concordance(Votes.from_labels(labels))
    assert {each.reason for each in found.coefficients} == {reason}
    assert found.to_dict()["figures"]["alpha_nominal"]["value"] is None
    assert reason in found["fleiss_kappa"].text


def test_orders_are_looked_at_for_numbers_or_where_they_are_said():
    words = Votes.from_labels([["poor", "fair", "poor"], ["good", "good", "fair"]], classes=["poor", "fair", "good"])
    assert list(figures(words)) == ["alpha_nominal", "fleiss_kappa"]
    told = concordance(words, ordered=True)
    assert [each.name for each in told.coefficients] == ["alpha_nominal", "alpha_ordinal", "fleiss_kappa"]
    assert told.scale == ("poor", "fair", "good")
    assert "a scale: poor, fair, good." in told.sentence
    steps = words.as_ordered()
    assert figures(steps) == figures(words, ordered=True)
    assert "The ordinal figure counts how far apart labels are" in concordance(steps).sentence
    assert "The ordinal and interval figures count" in concordance(scale(noisy(9)).as_ordered()).sentence
    assert list(figures(scale(noisy(9)), ordered=False)) == ["alpha_nominal", "fleiss_kappa"]
    two = Votes.from_labels([[0, 1, 1], [1, 1, 0]])
    assert list(figures(two)) == ["alpha_nominal", "fleiss_kappa"]


def test_a_million_rows_cost_their_patterns():
    few = simulate("crowd", 400, 0, 8, 3).votes
    many = few.select_rows(np.tile(np.arange(400), 2500))
    assert len(many.distinct.codes) == len(few.distinct.codes)
    small, large = concordance(few), concordance(many)
    assert large.n_rows == 2500 * small.n_rows
    for one, other in zip(small.coefficients, large.coefficients, strict=True):
        assert other.value == pytest.approx(one.value, abs=2e-3)
        assert math.log((1 - other.low) / (1 - other.value)) == pytest.approx(
            math.log((1 - one.low) / (1 - one.value)) / 50, rel=0.01
        )
