"""Camps: two sides are found, and nothing else is taken for them."""

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from deem_core import Votes, simulate
from deem_core.groups.camps import Camps, camps, cohen_kappa, common_ability
from deem_core.groups.mistakes import PairSample
from tests.core.groups.helpers import noisy_copies, table


def of(votes):
    return camps(votes, PairSample.of(votes, np.random.default_rng(0)))


def two_camps(seed, *, n=600, d=16, first=8, agree=0.6, K=2):
    """Learners that follow one of two opinions, which agree on a share of the rows."""
    rng = np.random.default_rng(seed)
    one = rng.integers(K, size=n)
    other = np.where(rng.random(n) < agree, one, (one + rng.integers(1, K, size=n)) % K)
    opinion = np.where(np.arange(d) < first, one[:, None], other[:, None])
    codes = np.where(rng.random((n, d)) < rng.uniform(0.6, 0.95, d), opinion, rng.integers(K, size=(n, d)))
    return table(codes, K)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("agree", [0.5, 0.6])
@pytest.mark.parametrize("first", [8, 9])
def test_two_camps_are_seen_with_their_sides(seed, agree, first):
    found = of(two_camps(seed, first=first, agree=agree))
    assert found.split
    assert {len(found.first), len(found.second)} == {first, 16 - first}
    assert {found.first, found.second} == {
        tuple(f"m{j}" for j in range(first)),
        tuple(f"m{j}" for j in range(first, 16)),
    }
    assert found.sentence.startswith("Two camps (")


@pytest.mark.parametrize("name", ["tree", "copies", "experts", "condind", "ampdata", "crowd"])
@pytest.mark.parametrize("n", [300, 2000])
@pytest.mark.parametrize("seed", range(3))
def test_no_simulated_ensemble_is_taken_for_camps(name, n, seed):
    assert not of(simulate(name, n, seed=seed).votes).split


@pytest.mark.parametrize("name", ["tree", "copies"])
@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("seed", range(4))
def test_families_are_no_camps_whatever_the_classes(name, K, seed):
    assert not of(simulate(name, 1500, seed=seed, n_classes=K, n_learners=24).votes).split


def test_three_families_are_strong_and_still_no_camps():
    found = of(simulate("copies", 2000, seed=0, n_classes=2).votes)
    assert found.strength > 0.4
    assert not found.split
    assert "no two camps" in found.sentence


@pytest.mark.parametrize("n", [40, 400])
@pytest.mark.parametrize("d", [6, 24, 60])
@pytest.mark.parametrize("knows", [0, 0.2, 0.5])
def test_noise_is_no_camp(n, d, knows):
    rng = np.random.default_rng(d)
    truth = rng.integers(2, size=(n, 1))
    codes = np.where(rng.random((n, d)) < knows, truth, rng.integers(2, size=(n, d)))
    found = of(table(codes, 2))
    assert not found.split
    assert found.strength is None or np.isfinite(found.strength)


def judged(monkeypatch, kappa):
    """Judge twelve learners with these κ, by very many rows."""
    np.fill_diagonal(kappa, 1)
    monkeypatch.setattr("deem_core.groups.camps.cohen_kappa", lambda *_: kappa.copy())
    no_rows, no_pairs = np.zeros((12, 5), np.int32), np.zeros((0, 2), int)
    sample = PairSample(np.arange(5), no_rows, np.full((12, 12), 10**6), no_pairs, 0)
    return camps(table(np.zeros((5, 12), int), 2), sample)


def halves(alike, beside, between):
    """Two sides of two halves each: κ inside halves, beside one another on a side, and between sides."""
    half = np.arange(12) // 3
    side = half // 2
    return np.where(half[:, None] == half, alike, np.where(side[:, None] == side, beside, between)).astype(float)


@pytest.mark.parametrize(("smaller", "split"), [(4, False), (5, True)])
def test_the_smaller_side_must_hold_more_than_035_of_the_learners(monkeypatch, smaller, split):
    side = np.arange(12) < smaller
    found = judged(monkeypatch, np.where(side[:, None] & side, 0.9, np.where(side[:, None] | side, 0.05, 0.45)))
    assert found.strength > 0.4
    assert len(found.second) == smaller
    assert found.split == split


@pytest.mark.parametrize(
    ("what", "split", "no_split"),
    [
        ("strength of 0.40", (0.6, 0.6, 0.225), (0.6, 0.6, 0.246)),
        ("1.6 times the agreement between sides", (0.9, 0.25, 0.15), (0.9, 0.25, 0.165)),
        ("median κ of 0.1", (0.105, 0.105, 0.02), (0.095, 0.095, 0.02)),
    ],
)
def test_camps_begin_at_their_limits(monkeypatch, what, split, no_split):
    above, below = (judged(monkeypatch, halves(*kappas)) for kappas in (split, no_split))
    assert (above.split, below.split) == (True, False), what
    assert above.strength > 0.4
    assert (below.strength > 0.4) == (what != "strength of 0.40")
    assert below.strength > 0.35


def test_a_small_side_is_outvoted_and_no_alarm():
    assert not of(two_camps(0, first=12)).split


@pytest.mark.parametrize(
    ("codes", "why"),
    [
        (np.zeros((100, 3), int), "at least four learners"),
        (np.where(np.eye(100, 10, dtype=bool), 0, -1), "common rows"),
        (np.zeros((100, 6), int), "hardly agree beyond chance"),
        (np.full((5, 6), -1), "at least four learners"),
    ],
)
def test_where_nothing_can_be_said_the_reason_is(codes, why):
    found = of(table(codes, 2))
    assert found.strength is None
    assert not found.split
    assert why in found.sentence


def test_kappa_is_cohens():
    rng = np.random.default_rng(0)
    codes = rng.integers(3, size=(200, 4))
    codes[:, 1] = np.where(rng.random(200) < 0.5, codes[:, 0], codes[:, 1])
    codes[rng.random((200, 4)) < 0.2] = -1
    found = cohen_kappa(codes, 3)
    for i in range(4):
        for j in range(i):
            both = (codes[:, i] >= 0) & (codes[:, j] >= 0)
            assert found[i, j] == pytest.approx(cohen_kappa_score(codes[both, i], codes[both, j]))


def test_one_ability_explains_its_own_table():
    ability = np.array([0.9, 0.7, 0.5, 0.3, 0.8])
    np.testing.assert_allclose(common_ability(np.outer(ability, ability)), ability, atol=1e-6)


def test_a_panel_of_judges_has_camps(large_data):
    with np.load(large_data / "llmjudge_llmbar.npz", allow_pickle=False) as stored:
        codes = stored["X"].astype(np.int32)
    found = of(Votes(codes=codes, classes=np.array([0, 1]), learners=[f"j{j}" for j in range(codes.shape[1])]))
    assert found.split
    assert found.strength == pytest.approx(0.53, abs=0.01)


def test_a_camp_is_said_in_numbers():
    assert "2 learners against 1" in Camps(0.5, True, "", ("a", "b"), ("c",)).sentence


@pytest.mark.parametrize("seed", range(6))
def test_guessers_beside_copies_of_one_of_them_are_no_camps(seed):
    """They share out among two sides at random, and agree with nobody on either."""
    assert not of(noisy_copies(seed, n=1500)).split


@pytest.mark.parametrize("each", [2, 3, 4, 5])
def test_camps_that_contradict_each_other_are_camps(each):
    rng = np.random.default_rng(each)
    first = rng.integers(2, size=(500, 1))
    codes = np.hstack([np.repeat(first, each, axis=1), np.repeat(1 - first, each, axis=1)])
    codes = np.where(rng.random(codes.shape) < 0.03, 1 - codes, codes)
    assert of(table(codes, 2)).split
