"""Why this label: what each vote did for the fused class against the runner-up."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest

from deem_core import InputError
from deem_core.diagnostics.reasons import why
from deem_core.model.energy import to_dawid_skene


def test_contributions_in_an_exact_irbm_are_log_ratios_and_add_up_to_the_log_odds(independent):
    rows = [0, 17, 42]
    found = why(independent.model, independent.votes, rows)
    psi, pi = (own[0].double().numpy() for own in to_dawid_skene(independent.model.parts_[0].model))
    for at, row in enumerate(rows):
        a, b, votes = found.fused[at], found.runner_up[at], independent.votes.codes[row]
        expected = [np.log(psi[i, vote, a] / psi[i, vote, b]) for i, vote in enumerate(votes)]
        np.testing.assert_allclose(found.contributions[at], expected, atol=1e-4)
        assert found.log_odds[at] == pytest.approx(np.sum(expected) + np.log(pi[a] / pi[b]), abs=1e-3)
        posterior = independent.model.fuse_codes(votes[None])[0]
        assert found.log_odds[at] == pytest.approx(np.log(posterior[a] / posterior[b]), abs=1e-3)
        assert found.confidence[at] == posterior.max()
        assert found.runner_up_probability[at] == np.sort(posterior)[-2]


def test_votes_that_were_not_cast_contribute_nothing_and_are_not_listed(layered):
    rows = np.arange(50)
    found = why(layered.model, layered.votes, rows)
    np.testing.assert_array_equal(np.isnan(found.contributions), layered.votes.codes[:50] < 0)
    assert len(found.to_frame()) == (layered.votes.codes[:50] >= 0).sum()


def test_several_rows_at_once_are_as_one_by_one(layered):
    together = why(layered.model, layered.votes, [3, 9, 27])
    for at, row in enumerate([3, 9, 27]):
        np.testing.assert_allclose(
            why(layered.model, layered.votes, [row]).contributions[0], together.contributions[at], rtol=1e-4, atol=1e-5
        )


def test_reasons_of_a_row_are_sorted_those_for_its_label_first(layered):
    found = why(layered.model, layered.votes, [5, 6])
    frame = found.of_row(1)
    assert frame["contribution"].is_monotonic_decreasing
    top = frame.iloc[0]
    assert top["vote"] == top["fused_label"]
    assert found.to_frame()["row"].unique().tolist() == [6, 7]  # counted from 1


def test_rows_are_chosen_by_mask_too_and_named(layered):
    mask = np.zeros(layered.votes.n_rows, bool)
    mask[4] = True
    assert why(layered.model, layered.votes, mask).ids == ("5",)  # no ids: numbers from 1


def test_near_copies_with_one_voice_have_a_contribution_together(merged):
    found = why(merged.model, merged.votes, np.arange(40))
    assert found.voices == merged.model.reduction_.learners
    for s, group in enumerate(found.voice_members):
        united = (merged.votes.codes[:40, list(group)] == merged.votes.codes[:40, group[0], None]).all(axis=1)
        own = found.contributions[:, list(group)][united]
        np.testing.assert_allclose(own, 0, atol=1e-5)  # the other three say the same
        assert np.abs(found.voice_contributions[united, s]).mean() > 0.3


def test_a_hedged_model_averages_its_trainings(layered):
    model = copy.copy(layered.model)
    model.parts_, model.hedged_ = [*layered.model.parts_, layered.model.parts_[0]], True
    rows = np.flatnonzero(layered.votes.unanimous)[:5]
    one, two = why(layered.model, layered.votes, rows), why(model, layered.votes, rows)
    same = (one.runner_up == two.runner_up) & (one.fused == two.fused)
    np.testing.assert_allclose(one.contributions[same], two.contributions[same], atol=1e-5)


def test_in_a_majority_vote_each_vote_counts_one(layered):
    model = copy.copy(layered.model)
    model.parts_ = []
    found = why(model, layered.votes, [0])
    votes = layered.votes.codes[0]
    expected = np.where(votes < 0, np.nan, (votes == found.fused[0]) * 1.0 - (votes == found.runner_up[0]))
    np.testing.assert_array_equal(found.contributions[0], expected)


def test_a_row_without_votes_has_no_reasons(layered):
    codes = layered.votes.codes.copy()
    codes[2] = -1
    with pytest.raises(InputError, match="Row 3 has no votes"):
        why(layered.model, replace(layered.votes, codes=codes), [1, 2])
