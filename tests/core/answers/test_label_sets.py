"""Answers of several labels: each fused as a question, one answer for all."""

import json
from dataclasses import replace

import numpy as np
import pyarrow.csv
import pytest
from sklearn.metrics import accuracy_score, f1_score, hamming_loss

from deem_core import cli, fuse, read
from deem_core.answers.label_sets import SetAnswer, chosen_sets
from deem_core.answers.stored import StoredAnswer, write_answer
from deem_core.auto.several import answer_sets
from deem_core.comparison import evaluate
from deem_core.control import Control
from deem_core.methods import registry
from deem_core.votes.label_sets import label_sets, question

LABELS = ("cat", "dog", "fox", "owl")


def made(n=120, seed=0):
    """A file of sets: cells are wrong in one label in ten, some are missing, some truth nobody votes for."""
    rng = np.random.default_rng(seed)
    truth = rng.random((n, 4)) < 0.4
    said = truth[:, None] ^ (rng.random((n, 5, 4)) < 0.12)
    absent = rng.random((n, 5)) < 0.2
    absent[3] = True
    spell = lambda chosen: "|".join(np.array(LABELS)[chosen]) or "[]"  # noqa: E731
    rows = [
        ",".join([str(i), *("" if gone else spell(own) for own, gone in zip(said[i], absent[i], strict=True))])
        + f",{spell(truth[i])}{'|emu' if i == 5 else ''}"
        for i in range(n)
    ]
    return "\n".join(["id,a,b,c,d,e,label", *rows]).encode(), truth


@pytest.fixture(scope="module")
def reading():
    return read(made()[0], multilabel=True)


@pytest.fixture(scope="module")
def answer(reading):
    return fuse(reading.votes, "ds")


def test_each_label_is_fused_as_a_question_and_the_set_is_what_is_more_likely_than_not(reading, answer):
    votes = reading.votes
    alone = np.stack([fuse(question(votes, label), "ds").posterior[:, 1] for label in LABELS], axis=1)
    np.testing.assert_allclose(answer.posterior, alone)
    assert answer.label_names == LABELS
    for n, (label, p) in enumerate(zip(answer.labels, alone, strict=True)):
        expected = "|".join(name for name, share in zip(LABELS, p, strict=True) if share >= 0.5) or "(none)"
        assert label == (None if n == 3 else expected)
    np.testing.assert_allclose(answer.confidence, np.prod(np.maximum(alone, 1 - alone), axis=1))
    assert "Each of 4 labels was fused as a yes or no question" in answer.notes[0]
    assert answer.notes[1] == "1 row without votes gets no label."
    assert not chosen_sets(answer)[3].any()


def test_who_answered_is_named_only_if_it_is_one(reading):
    gen = np.random.default_rng(0)
    by = iter(["gds", "safe", "gds", "gds"])

    def ask(own, control):
        return replace(registry.aggregate("mv", own, gen), answered_by=next(by))

    mixed, _ = answer_sets(reading.votes, "auto", ask, Control())
    assert mixed.answered_by == "auto"
    assert "by Safe vote" in mixed.notes[0]
    by = iter(["gds"] * 4)
    assert answer_sets(reading.votes, "auto", ask, Control())[0].answered_by == "gds"


def test_review_majority_and_summary_follow(reading, answer):
    votes = reading.votes
    scores = np.stack([fuse(question(votes, label), "ds").review_score for label in LABELS], axis=1)
    np.testing.assert_allclose(answer.review_score, scores.min(axis=1))
    lowest = np.argsort(answer.review_score)[: int(np.ceil(0.1 * 119))]
    assert answer.needs_review[lowest].all()
    assert answer.needs_review[3]
    sets = answer.sets
    yes = np.stack([(question(votes, k).codes == 1).sum(axis=1) for k in range(4)], axis=1)
    clear = (2 * yes != votes.votes_per_row[:, None]).all(axis=1) & (votes.votes_per_row > 0)
    np.testing.assert_array_equal(sets.members[answer.majority[clear]], (2 * yes > votes.votes_per_row[:, None])[clear])
    found = answer.summary()
    assert found.n_classes == 4
    np.testing.assert_allclose(found.class_shares, chosen_sets(answer)[~answer.silent].mean(axis=0))
    assert found.changed == (answer.codes != answer.majority).sum()
    part = answer.rows(2, 6)
    assert part.labels.tolist() == answer.labels[2:6].tolist()
    np.testing.assert_array_equal(part.needs_review, answer.needs_review[2:6])
    assert {"p_cat", "p_owl"} <= set(answer.to_frame().columns)


def test_evaluation_is_that_of_scikit_learn(answer):
    truth = made()[1]
    found = evaluate(answer)
    said, known = chosen_sets(answer), np.ones(120, bool)
    right = truth.copy()
    own = next(method for method in found.methods if method.name == "fused")
    exact = accuracy_score(right[known], said[known])
    wrong_for_sure = [3, 5]  # no votes, and a label that nobody votes for
    exact_here = np.delete((right == said).all(axis=1), wrong_for_sure).sum() / 120
    assert found.accuracy == own.accuracy == pytest.approx(exact_here)
    assert exact >= exact_here
    assert own.hamming_loss == pytest.approx(hamming_loss(right, said))
    assert own.label_micro_f1 == pytest.approx(f1_score(right, said, average="micro"))
    assert own.label_macro_f1 == pytest.approx(f1_score(right, said, average="macro"))
    assert type(found).from_dict(found.to_dict()) == found
    majority = found.methods[2]
    assert majority.accuracy == pytest.approx((answer.majority == answer.votes.truth).mean())


def test_sets_that_nobody_voted_for_are_classes_and_are_stored_and_read_back(tmp_path):
    cells = ["a,b,c,d", *["x|y,x|z,y|z,"] * 6, *["x,y,z,"] * 4, *["x|y,x|y,,"] * 3]
    votes = read("\n".join(cells).encode(), multilabel=True, learners=["a", "b", "c"]).votes
    answer = fuse(votes, "mv")
    assert "x|y|z" in answer.labels  # two of three name each
    assert "(none)" in answer.labels
    assert "x|y|z" not in votes.classes
    with (tmp_path / "stored.parquet").open("wb") as stream:
        write_answer(answer, stream)
    back = StoredAnswer(tmp_path / "stored.parquet", votes.n_classes).answer(votes)
    assert isinstance(back, SetAnswer)
    assert back.labels.tolist() == answer.labels.tolist()
    assert back.method == "mv"
    np.testing.assert_array_equal(back.needs_review, answer.needs_review)
    np.testing.assert_allclose(back.confidence, answer.confidence)


def test_the_command_writes_sets_and_probabilities_and_tells_all_scores(tmp_path, capsys):
    file, out, story = tmp_path / "votes.csv", tmp_path / "fused.csv", tmp_path / "fused.json"
    file.write_bytes(made()[0])
    assert cli.main(["fuse", str(file), "--multilabel", "-o", str(out), "--json", str(story)]) == 0
    said = capsys.readouterr().out
    assert "Each of 4 labels was fused" in said
    assert "Label by label: Fused labels" in said
    table = pyarrow.csv.read_csv(out)
    names = table.column_names
    at = names.index("fused_label")
    assert names[at : at + 6] == ["fused_label", "confidence", "p_cat", "p_dog", "p_fox", "p_owl"]
    assert {"majority_vote", "agreement", "entropy", "needs_review"} <= set(names)
    written = json.loads(story.read_text())
    assert written["labels"] == list(LABELS)
    assert written["n_classes"] == 4
    assert written["subset_accuracy"] == written["accuracy"] > 0.6
    assert {"hamming_loss", "label_micro_f1", "label_macro_f1"} <= set(written)
    assert cli.main(["fuse", str(file), "--one-label", "dog", "-o", str(out)]) == 0
    assert {"p_no", "p_yes"} <= set(pyarrow.csv.read_csv(out).column_names)


def test_truth_plays_no_part(reading):
    votes = reading.votes
    one, other = fuse(votes, "ds"), fuse(votes.without_truth(), "ds")
    np.testing.assert_array_equal(one.posterior, other.posterior)
    assert label_sets(votes).labels == label_sets(votes.without_truth()).labels


def test_a_notebook_draws_the_shares_of_labels_and_says_what_is_counted(reading):
    answer = fuse(reading.votes, "mv")
    assert repr(answer).startswith("Answer(120 rows × 4 labels, several in a row by mv")
    figure = answer.plot()
    assert {name for trace in figure.data for name in trace.y} == set(LABELS)
    for what in ("label_changes", "confidence"):
        assert answer.plot(what).data
    assert "(none)" in answer._repr_html_()
