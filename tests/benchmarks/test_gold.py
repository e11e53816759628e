"""The benchmark of gold rows: its panels, what it judges on, and its arithmetic."""

import json

import numpy as np
import pytest

from benchmarks import bench_gold
from deem_core import Votes
from deem_core.auto.decision import make_field
from deem_core.votes import Gold


@pytest.fixture(scope="module")
def panel():
    return bench_gold.two_camps(2, 7, n=300)


@pytest.fixture(scope="module")
def field(panel):
    return make_field(panel)


def shared_mistakes(votes, first, second):
    wrong = votes.codes != np.asarray(votes.truth)[:, None]
    return np.corrcoef(wrong[:, first], wrong[:, second])[0, 1]


@pytest.mark.parametrize("K", [2, 4])
def test_a_simulated_panel_has_the_camps_it_says(K):
    votes = bench_gold.two_camps(K, 3, n=20_000)
    right = (votes.codes == np.asarray(votes.truth)[:, None]).mean(axis=0)
    assert [name.split("_")[0] for name in votes.learners] == ["weak"] * 8 + ["strong"] * 4
    np.testing.assert_allclose(right, [0.55] * 8 + [0.9] * 4, atol=0.02)
    assert shared_mistakes(votes, 0, 7) == pytest.approx(0.7**2, abs=0.03)
    assert shared_mistakes(votes, 8, 11) == pytest.approx(0.7**2, abs=0.03)
    assert shared_mistakes(votes, 0, 8) == pytest.approx(0, abs=0.03)


@pytest.mark.parametrize("how", ["random", "chosen"])
def test_gold_rows_are_never_judged_on(field, panel, how):
    gold = bench_gold.drawn(field, panel.truth, 40, how, np.random.default_rng(0))
    rest = bench_gold.remaining(field, panel.truth, gold)
    assert gold.n_rows == 40
    assert not (rest & gold.known).any()
    assert rest.sum() == 260
    truth = np.where(gold.known, 1 - panel.truth, panel.truth)  # what gold rows say is not looked at again
    changed = bench_gold.outcome(field, truth, gold).right
    assert changed == bench_gold.outcome(field, panel.truth, gold).right


def test_rows_without_truth_are_neither_gold_nor_judged_on(field, panel):
    truth = np.where(np.arange(300) < 200, -1, panel.truth)
    for how in ("random", "chosen"):
        gold = bench_gold.drawn(field, truth, 20, how, np.random.default_rng(1))
        assert gold.n_rows == 20
        assert gold.rows.min() >= 200
        assert bench_gold.remaining(field, truth, gold).sum() == 80


def test_random_rows_are_a_fair_draw_and_chosen_ones_are_not(field, panel):
    random, chosen = (
        bench_gold.drawn(field, panel.truth, 20, how, np.random.default_rng(0)) for how in ("random", "chosen")
    )
    assert not random.was_asked
    assert chosen.was_asked
    assert field.disputed[chosen.rows].sum() == 12


def test_labels_of_every_candidate_are_those_that_the_choice_knows(field, panel):
    gold = bench_gold.drawn(field, panel.truth, 50, "random", np.random.default_rng(0))
    np.testing.assert_array_equal(bench_gold.labels_of(field, gold, "start"), field.start_codes)
    np.testing.assert_array_equal(bench_gold.labels_of(field, gold, "learner:strong_2"), panel.codes[:, 9])
    np.testing.assert_array_equal(bench_gold.labels_of(field, gold, "camp_2"), field.camp_codes["camp_2"])
    weighted = bench_gold.labels_of(field, gold, "gold_vote")
    assert (weighted == panel.truth).mean() > 0.85
    assert [bench_gold.kind_of(name) for name in ("start", "gold_vote", "mv", "camp_1", "learner:a")] == [
        *("start", "weights", "method", "camp", "learner")
    ]


def test_large_sets_keep_rows_with_truth_first():
    truth = np.where(np.arange(500) % 10 == 0, 1, -1)
    votes = Votes(np.ones((500, 3), np.int32), np.arange(2), ("a", "b", "c"), truth=truth)
    small = bench_gold.capped(votes, 60)
    assert small.n_rows == 60
    assert (np.asarray(small.truth) == 1).sum() == 50
    assert bench_gold.capped(votes, 500) is votes


def test_means_are_over_draws_that_have_a_figure(field, panel):
    none = bench_gold.outcome(field, panel.truth, Gold(np.full(300, -1)))
    assert none.right["procedure"] == none.right["start"]
    told = [
        bench_gold.Outcome({"procedure": p, "start": 50.0, **more}, held, True, 20.0, "start", True, ())
        for p, held, more in [(60.0, True, {}), (50.0, False, {"learner": 40.0})]
    ]
    cell = bench_gold.cell(told)
    assert (cell["procedure"], cell["gain"], cell["sd"], cell["worst_draw"]) == (55.0, 5.0, 5.0, 0.0)
    assert (cell["learner"], cell["held"], cell["held_majority"], cell["draws"]) == (40.0, 1, 2, 2)


def test_a_small_run_has_its_page(panel):
    cells = list(bench_gold.of_set("camps-2-7", panel, 2, sizes=(5, 20, 100)))
    used = [(cell["g"], cell["used"]) for cell in cells]
    assert used == [(0, 0), (5, 5), (5, 5), (20, 20), (20, 20), (100, 60), (100, 60)]  # a fifth of 300 at most
    assert cells[:5] == list(bench_gold.of_set("camps-2-7", panel, 2, sizes=(5, 20)))
    text = bench_gold.page(json.loads(json.dumps(cells)))
    assert "camps-2-7, random, 20: strong camp named in" in text
    assert "| camps-2-7: 300 × 12 × 2, " in text


def test_the_stored_page_is_the_one_made_from_the_store():
    assert bench_gold.PAGE.read_text() == bench_gold.page(json.loads(bench_gold.STORE.read_text()))
