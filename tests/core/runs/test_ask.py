"""Runs with gold: rows to ask for, and answers that a run used and keeps."""

import json

import numpy as np
import pytest

from deem_core.errors import InputError
from deem_core.gold import Field, Questions
from deem_core.readers import read_votes
from deem_core.runs import FusionSummary, Run, Workspace
from deem_core.runs.answer_book import Reply
from deem_core.votes import Votes
from tests.in_process import add_votes, done


def camps(rows: int = 300) -> Votes:
    """Return votes with truth: six judges that share their mistakes, and four good ones."""
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, rows)
    fooled = rng.random(rows) < 0.42
    weak = np.where(fooled, 1 - truth, truth)[:, None]
    weak = np.where(rng.random((rows, 6)) < 0.06, 1 - weak, weak)
    strong = np.where(rng.random((rows, 4)) < 0.08, 1 - truth[:, None], truth[:, None])
    ids = np.array([f"r{row}" for row in range(rows)], object)
    names = tuple([f"weak_{j}" for j in range(6)] + [f"strong_{j}" for j in range(4)])
    return Votes(
        np.column_stack([weak, strong]).astype(np.int32),
        np.array(["no", "yes"], object),
        names,
        ids,
        truth.astype(np.int32),
    )


@pytest.fixture
def asked(workspace: Workspace) -> Run:
    return done(workspace, "ask", add_votes(workspace, camps()), {"n": 20, "random_state": 0})


def queue_of(run: Run) -> Questions:
    return Questions.from_dict(json.loads((run.path / "queue.json").read_text()))


def label(workspace: Workspace, run: Run, rows: int = 20) -> str:
    """Answer the queue of a run by the truth; return the digest of the answers."""
    dataset = workspace.dataset(run.dataset_id)
    votes, queue = workspace.read(dataset).votes, queue_of(run)
    assert votes.truth is not None
    book = workspace.answer_book(dataset)
    for row in queue.rows[:rows]:
        text = str(votes.classes[votes.truth[row]])
        book.add(Reply(row, str(votes.ids[row]), text, "ann", 1.0, asked=not queue.fair))
    snapshot = book.labels(votes).snapshot()
    assert snapshot is not None
    return workspace.store(snapshot)


def test_the_queue_and_the_candidates_are_kept(workspace: Workspace, asked: Run) -> None:
    queue = queue_of(asked)
    assert len(queue) == len(set(queue.rows)) == 20
    votes = workspace.read(workspace.dataset(asked.dataset_id)).votes
    assert Field.load(asked.path, votes).votes.truth is None
    summary = asked.summary()
    assert summary is not None
    assert summary["rows"] == 20
    assert summary["effect"]


def test_more_rows_are_others_and_the_candidates_are_not_computed_again(
    workspace: Workspace, asked: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("computed again")

    monkeypatch.setattr("deem_core.auto.make_field", never)
    gold = label(workspace, asked)
    config = {"n": 20, "random_state": 0, "gold": gold}
    more = done(workspace, "ask", workspace.dataset(asked.dataset_id), config)
    assert not set(queue_of(more).rows) & set(queue_of(asked).rows)


@pytest.mark.parametrize("config", [{"n": 0}, {"n": "many"}, {"m": 3}])
def test_wrong_settings_are_a_sentence(workspace: Workspace, config: dict[str, object]) -> None:
    with pytest.raises(InputError):
        done(workspace, "ask", add_votes(workspace, camps(30)), config)


def test_an_answer_with_gold_says_so_and_does_not_evaluate_on_it(workspace: Workspace, asked: Run) -> None:
    dataset, gold = workspace.dataset(asked.dataset_id), label(workspace, asked)
    without = FusionSummary.of(done(workspace, "fuse", dataset, {"method": "auto", "random_state": 0}))
    run = done(workspace, "fuse", dataset, {"method": "auto", "random_state": 0, "gold": gold})
    summary = FusionSummary.of(run)
    assert summary is not None
    assert without is not None
    assert any("20 gold rows" in sentence for sentence in summary.training.findings)
    assert summary.evaluation is not None
    assert without.evaluation is not None
    assert summary.evaluation.rows == 280
    assert summary.evaluation.accuracy > without.evaluation.accuracy + 0.1


def test_later_answers_do_not_change_what_a_run_used(workspace: Workspace, asked: Run) -> None:
    dataset, gold = workspace.dataset(asked.dataset_id), label(workspace, asked, 5)
    run = workspace.new_run("fuse", dataset, {"gold": gold})
    label(workspace, asked, 20)
    votes = workspace.with_gold(workspace.read(dataset).votes, run.spec)
    assert votes.gold is not None
    assert votes.gold.n_rows == 5


def test_answers_win_over_a_gold_column_of_the_file(workspace: Workspace) -> None:
    dataset = workspace.add_dataset(
        "votes.csv", b"id,a,b,c,known\n1,x,x,y,x\n2,y,y,y,\n3,x,y,x,y\n4,y,x,y,y\n", reading={"gold": "known"}
    )
    digest = workspace.store(b"row,id,gold_label,asked\n1,1,y,yes\n2,2,x,\n")
    run = workspace.new_run("fuse", dataset, {"gold": digest})
    gold = workspace.with_gold(workspace.read(dataset).votes, run.spec).gold
    assert gold is not None
    assert gold.codes.tolist() == [1, 0, 1, 1]
    assert gold.asked is not None
    assert gold.asked.tolist() == [True, False, False, False]


def test_stored_answers_go_when_the_last_run_that_used_them_goes(workspace: Workspace, asked: Run) -> None:
    gold = label(workspace, asked)
    runs = [workspace.new_run("fuse", workspace.dataset(asked.dataset_id), {"gold": gold}) for _ in range(2)]
    for run in runs:
        assert workspace.input(gold)
        workspace.cancel(run)
        workspace.delete_run(run)
    with pytest.raises(InputError):
        workspace.input(gold)


def test_trainings_and_comparisons_take_gold(workspace: Workspace, asked: Run) -> None:
    dataset, gold = workspace.dataset(asked.dataset_id), label(workspace, asked)
    quick = {"method": "gds", "random_state": 0, "gold": gold}
    assert FusionSummary.of(done(workspace, "train", dataset, quick)) is not None
    compared = done(workspace, "compare", dataset, {"methods": ["mv", "ds"], "gold": gold, "random_state": 0})
    assert compared.summary() is not None


def test_the_truth_of_a_file_is_never_gold_by_itself(workspace: Workspace) -> None:
    dataset = workspace.add_dataset("votes.csv", b"id,a,b,c,gold\n1,x,x,y,x\n2,y,y,y,y\n3,x,y,x,x\n4,y,x,y,y\n")
    votes = workspace.read(dataset).votes
    assert votes.gold is None
    assert votes.truth is not None
    assert read_votes(b"id,a,b,c,gold\n1,x,x,y,x\n2,y,y,y,y\n3,x,y,x,x\n4,y,x,y,y\n").gold is None
