"""Runs with gold rows: summaries, trainings judged, trainings as candidates."""

import numpy as np
import pandas as pd
import pytest

from deem_core import InputError
from deem_core.runs import FusionSummary, Workspace
from tests.core.gold.helpers import panel
from tests.in_process import add_votes, done

TRAINING = {"method": "deem", "updates": 20, "restarts": 2, "batch_size": 64, "device": "cpu", "random_state": 0}


@pytest.fixture
def workspace(tmp_path):
    return Workspace(tmp_path)


def snapshot(workspace, votes, rows):
    lines = "".join(f"{row + 1},{votes.truth[row]},\n" for row in rows)
    return workspace.store(f"row,gold_label,asked\n{lines}".encode())


def test_an_answer_with_gold_tells_what_gold_chose_and_proves(workspace):
    votes = panel(300)
    dataset = add_votes(workspace, votes)
    config = {"method": "auto", "random_state": 0, "gold": snapshot(workspace, votes, range(30))}
    summary = FusionSummary.of(done(workspace, "fuse", dataset, config))
    assert summary.gold.n_gold == 30
    assert any("30 gold rows" in sentence for sentence in summary.training.why)
    assert summary.evaluation is None or summary.evaluation.rows == 270
    assert FusionSummary.of(done(workspace, "fuse", dataset, {"method": "auto", "random_state": 0})).gold is None


def test_a_training_with_gold_is_judged_by_it(workspace):
    votes = panel(200)
    dataset = add_votes(workspace, votes)
    run = done(workspace, "train", dataset, {**TRAINING, "gold": snapshot(workspace, votes, range(25))})
    verdict = FusionSummary.of(run).gold
    assert (verdict.n_gold, verdict.chosen, verdict.switched) == (25, "deem", False)
    assert verdict.answer.rows == 25


def test_gold_chooses_between_finished_trainings_too(workspace):
    votes = panel(200)
    dataset = add_votes(workspace, votes)
    training = done(workspace, "train", dataset, TRAINING)
    gold = snapshot(workspace, votes, range(25))
    config = {"method": "auto", "random_state": 0, "gold": gold, "consider": [training.id]}
    verdict = FusionSummary.of(done(workspace, "fuse", dataset, config)).gold
    names = {verdict.chosen, *(rival.name for rival in verdict.rivals)}
    assert any(name.startswith("DEEM") for name in names)


def test_a_training_that_used_gold_has_no_say(workspace):
    votes = panel(200)
    dataset = add_votes(workspace, votes)
    gold = snapshot(workspace, votes, np.arange(25))
    training = done(workspace, "train", dataset, {**TRAINING, "gold": gold})
    config = {"method": "auto", "random_state": 0, "gold": gold, "consider": [training.id]}
    with pytest.raises(InputError, match="without gold"):
        done(workspace, "fuse", dataset, config)


def test_nor_has_one_that_used_the_gold_column_of_the_file(workspace):
    votes = panel(200)
    table = pd.DataFrame(votes.codes, columns=votes.learners)
    table["known"] = np.where(np.arange(200) < 25, votes.truth, "")
    dataset = workspace.add_dataset("panel.csv", table.to_csv(index=False).encode(), reading={"gold": "known"})
    training = done(workspace, "train", dataset, TRAINING)
    assert FusionSummary.of(training).gold.n_gold == 25
    with pytest.raises(InputError, match="without gold"):
        done(workspace, "fuse", dataset, {"method": "auto", "random_state": 0, "consider": [training.id]})
