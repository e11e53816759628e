"""An answer: one label per row, what follows from it, and parts that say the same as the whole."""

from __future__ import annotations

import io
import json
import re

import numpy as np
import pyarrow.parquet
import pytest

from deem_core import Answer, InputError, Votes, simulation
from deem_core.answers import scores
from deem_core.answers.stored import StoredAnswer, write_answer
from deem_core.auto.verbs import fuse
from deem_core.comparison.evaluation import Evaluation, evaluate
from deem_core.votes.coding import code_truth

VOTES = Votes.from_labels(np.array([["x", "x", "x"], ["x", "x", "y"], ["y", "y", "x"], [None] * 3], object))
POSTERIOR = np.array([[0.4, 0.6], [0.9, 0.1], [0.2, 0.8], [0.5, 0.5]])
PER_ROW = ("codes", "confidence", "margin", "entropy", "agreement", "review_score", "overruled", "needs_review")


def ensemble(n: int = 400, missing: float = 0.2, seed: int = 0) -> Answer:
    """Return an answer that is close to the truth, though not equal to it."""
    drawn = simulation.simulate("condind", n, seed, missing=missing)
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(n, drawn.votes.n_classes)) + 3 * np.eye(drawn.votes.n_classes)[drawn.truth]
    return Answer(drawn.votes, np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True))


# ---------------------------------------------------------------------- rows


def test_labels_are_in_the_original_values_and_none_without_votes():
    assert Answer(VOTES, POSTERIOR).labels.tolist() == ["y", "x", "y", None]


def test_every_value_of_a_row_is_that_of_its_definition():
    answer = ensemble()
    votes, p = answer.votes, answer.posterior
    np.testing.assert_array_equal(answer.codes, scores.fused_codes(votes, p))
    np.testing.assert_array_equal(answer.margin, np.sort(p, axis=1)[:, -1] - np.sort(p, axis=1)[:, -2])
    np.testing.assert_allclose(answer.entropy, -(p * np.log(p)).sum(axis=1))
    np.testing.assert_array_equal(answer.review_score, scores.review_score(votes, p))
    np.testing.assert_array_equal(answer.overruled, votes.unanimous & (answer.codes != votes.majority_vote.codes))


def test_what_is_asked_twice_is_computed_once(monkeypatch):
    answer, calls = ensemble(50), []
    original = scores.review_score
    monkeypatch.setattr(scores, "review_score", lambda *given: calls.append(1) or original(*given))
    assert answer.needs_review.any()
    assert answer.doubtful.any()
    assert len(answer.review_score) == 50
    assert len(calls) == 1


@pytest.mark.parametrize(("n", "expected"), [(1, 1), (10, 1), (11, 2), (30, 3), (400, 40)])
def test_a_tenth_of_the_rows_rounded_up_is_doubtful(n, expected):
    answer = ensemble(n, missing=0.0)
    assert answer.doubtful.sum() == expected
    assert answer.review_score[answer.doubtful].max() <= answer.review_score[~answer.doubtful].min(initial=0.0)


def test_among_equals_the_earlier_rows_are_reviewed():
    votes = Votes.from_labels([["a", "b", "a"]] * 20 + [["b", "b", "b"]] * 5)
    answer = Answer(votes, np.array([[0.9, 0.1]] * 20 + [[0.1, 0.9]] * 5))
    np.testing.assert_array_equal(answer.needs_review.nonzero()[0], [0, 1, 2])


def test_an_overruled_unanimous_vote_and_a_row_without_votes_are_always_reviewed():
    votes = Votes.from_labels([["a", "a"], ["b", "b"], [None, None], ["a", None], ["b", "a"]])
    answer = Answer(votes, np.array([[0.2, 0.8], [0.1, 0.9], [0.5, 0.5], [0.3, 0.7], [0.6, 0.4]]))
    np.testing.assert_array_equal(answer.review_rows(below=0.0), [True, False, True, False, False])
    np.testing.assert_array_equal(answer.review_rows(below=0.65), [True, False, True, False, True])
    np.testing.assert_array_equal(answer.below(0.75), [False, False, False, True, True])


def test_votes_that_nobody_cast_need_review_everywhere():
    votes = Votes(np.full((3, 2), -1), np.array(["a", "b"], object), ("x", "y"))
    assert Answer(votes, np.full((3, 2), 0.5)).needs_review.all()


@pytest.mark.parametrize(
    ("posterior", "sentence"),
    [
        (POSTERIOR[:3], "these votes need"),
        (POSTERIOR * 2, "Row 1 of the posterior"),
        (np.where(np.arange(4)[:, None] == 1, np.nan, POSTERIOR), "Row 2 of the posterior"),
    ],
)
def test_what_is_no_posterior_of_the_votes_is_refused(posterior, sentence):
    with pytest.raises(InputError, match=sentence):
        Answer(VOTES, posterior)


# ---------------------------------------------------------------------- parts


def test_parts_say_the_same_as_the_whole_whatever_their_size():
    whole = ensemble(101)
    for size in (1, 17, 101, 500):
        parts = list(ensemble(101).parts(size))
        for name in PER_ROW:
            np.testing.assert_array_equal(np.concatenate([getattr(part, name) for part in parts]), getattr(whole, name))


def test_a_part_shares_the_memory_of_the_whole():
    whole = ensemble(50)
    assert np.shares_memory(whole.head(10).posterior, whole.posterior)


def test_an_answer_is_built_part_by_part_in_single_precision():
    whole = ensemble(100)
    built = Answer.from_parts(whole.votes, (whole.posterior[at : at + 30] for at in range(0, 100, 30)), method="mv")
    assert built.posterior.dtype == np.float32
    assert built.method == "mv"
    np.testing.assert_array_equal(built.codes, whole.codes)
    for rows in (slice(0, 99), slice(0, 100)):
        extra = [whole.posterior[rows], *([whole.posterior[:2]] if rows.stop == 100 else [])]
        with pytest.raises(InputError, match="The parts hold"):
            Answer.from_parts(whole.votes, extra)


def test_nothing_makes_a_second_table_of_probabilities():
    """Peak memory of all that follows stays below the posterior's own size."""
    import tracemalloc

    votes = Votes(np.zeros((20_000, 3), np.int32), np.arange(200).astype(str).astype(object), ("a", "b", "c"))
    posterior = np.full((20_000, 200), 1 / 200, np.float32)
    assert votes.votes_per_row.all()
    assert len(votes.majority_vote.codes) == 20_000
    tracemalloc.start()
    answer = Answer(votes, posterior)
    for name in ("codes", "confidence", "margin", "agreement"):
        getattr(answer, name)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < posterior.nbytes


# ---------------------------------------------------------------------- tables


def test_the_table_holds_codes_and_but_the_prior_nothing_for_rows_without_votes():
    table = Answer(VOTES, POSTERIOR).to_table().to_pydict()
    assert table["fused"] == [1, 0, 1, -1]
    assert table["majority"] == [0, 0, 1, -1]
    assert table["confidence"] == [pytest.approx(0.6), pytest.approx(0.9), pytest.approx(0.8), None]
    assert table["agreement"] == [0.0, pytest.approx(2 / 3), pytest.approx(2 / 3), None]
    assert table["entropy"][3] is None
    assert table["p_1"][3] == 0.5
    assert table["needs_review"] == [True, False, False, True]


def test_probabilities_are_left_out_where_classes_are_many():
    labels = np.array([[str(k)] * 3 for k in range(51)], object)
    names = Answer(Votes.from_labels(labels), np.eye(51)).to_table().column_names
    assert names == ["fused", "confidence", "majority", "agreement", "entropy", "needs_review"]


@pytest.mark.parametrize("support", [None, np.array([0.5, 1.0, 1.0, np.nan])])
def test_a_stored_answer_reads_back(tmp_path, support):
    answer = Answer(VOTES, POSTERIOR, support=support, method="deem", answered_by="mv")
    with (tmp_path / "result.parquet").open("wb") as stream:
        write_answer(answer, stream)
    stored = StoredAnswer(tmp_path / "result.parquet", 2)
    np.testing.assert_array_equal(stored.codes, answer.codes)
    np.testing.assert_array_equal(stored.majority, VOTES.majority_vote.codes)
    np.testing.assert_array_equal(stored.changes, answer.changes)
    np.testing.assert_array_equal(stored.posterior, POSTERIOR)
    back = stored.answer(VOTES, otherwise=lambda: pytest.fail("the posterior was kept"))
    np.testing.assert_array_equal(back.needs_review, answer.needs_review)
    assert (back.method, back.answered_by) == ("deem", "mv")
    assert (back.support is None) == (support is None)


def test_a_posterior_that_was_not_kept_is_asked_for_again(tmp_path):
    votes = Votes.from_labels(np.array([[str(k)] * 3 for k in range(51)], object))
    with (tmp_path / "result.parquet").open("wb") as stream:
        write_answer(Answer(votes, np.eye(51)), stream)
    stored = StoredAnswer(tmp_path / "result.parquet", 51)
    assert stored.posterior is None
    np.testing.assert_array_equal(stored.answer(votes, lambda: np.eye(51)).codes, np.arange(51))


def test_labels_without_probabilities_read_back_with_all_that_follows_from_them(tmp_path, monkeypatch):
    whole = ensemble(100)
    with (tmp_path / "result.parquet").open("wb") as stream:
        write_answer(whole, stream, probabilities=False)
    names = pyarrow.parquet.read_schema(tmp_path / "result.parquet").names
    assert "review_score" in names
    assert not [name for name in names if name.startswith("p_")]
    back = StoredAnswer(tmp_path / "result.parquet", whole.votes.n_classes).answer(whole.votes)
    assert not back.probabilities_known
    for name in ("codes", "needs_review", "review_score", "doubtful", "overruled", "agreement"):
        np.testing.assert_array_equal(getattr(back, name), getattr(whole, name), name)
    for name in ("confidence", "entropy"):
        np.testing.assert_allclose(getattr(back, name), getattr(whole, name), atol=1e-6)
    parts = [part.confidence for part in back.parts(30)]
    np.testing.assert_array_equal(np.concatenate(parts), back.confidence)
    np.testing.assert_array_equal(back.rows(40, 60).needs_review, whole.needs_review[40:60])
    assert back.summary().changed == whole.summary().changed
    for name in ("posterior", "margin"):
        with pytest.raises(InputError, match="were not kept"):
            getattr(back, name)
    with pytest.raises(AttributeError):
        _ = back.nothing


def test_stored_labels_of_other_rows_are_a_sentence(tmp_path):
    with (tmp_path / "result.parquet").open("wb") as stream:
        write_answer(Answer(VOTES, POSTERIOR), stream, probabilities=False)
    with pytest.raises(InputError, match="4 rows; the votes have 2"):
        StoredAnswer(tmp_path / "result.parquet", 2).answer(VOTES.select_rows([0, 1]))


def test_parts_make_the_same_file_as_the_whole(tmp_path, monkeypatch):
    answer = ensemble(100)
    monkeypatch.setattr("deem_core.answers.answer.PART_ROWS", 30)
    stream = io.BytesIO()
    write_answer(answer, stream)
    assert pyarrow.parquet.read_table(io.BytesIO(stream.getvalue())).equals(answer.to_table())


def test_the_frame_has_the_columns_of_the_fused_file():
    frame = Answer(VOTES, POSTERIOR).to_frame()
    assert frame.columns.tolist() == [
        *("fused_label", "confidence", "p_x", "p_y", "majority_vote", "agreement", "entropy", "needs_review")
    ]
    assert frame["fused_label"].tolist() == ["y", "x", "y", None]


def test_rows_without_votes_have_the_prior_and_no_numbers_about_a_label():
    prior = np.where(VOTES.votes_per_row[:, None] == 0, [0.25, 0.75], POSTERIOR)
    answer = Answer(VOTES, prior)
    frame = answer.to_frame()
    assert frame.loc[3, ["confidence", "entropy", "agreement"]].isna().all()
    assert frame.loc[3, ["p_x", "p_y"]].tolist() == [0.25, 0.75]
    assert frame.loc[[0, 1, 2], "confidence"].notna().all()
    stored = answer.to_table()
    assert stored["confidence"].null_count == 1
    assert [stored["p_0"][3].as_py(), stored["p_1"][3].as_py()] == [0.25, 0.75]


def test_a_support_or_a_truth_of_other_rows_is_refused():
    answer = Answer(VOTES, POSTERIOR)
    with pytest.raises(InputError, match="The support has 2 entries"):
        answer.supported(np.ones(2))
    with pytest.raises(InputError, match="The support has 2 entries"):
        Answer(VOTES, POSTERIOR, support=np.ones(2))
    with pytest.raises(InputError, match="other votes"):
        answer.with_truth(VOTES.select_rows([0, 1]))
    codes = answer.codes
    assert answer.with_truth(VOTES.without_truth()).codes is codes


def test_a_damaged_table_is_a_sentence(tmp_path):
    (tmp_path / "result.parquet").write_bytes(b"PAR1 and nothing else")
    for name in ("codes", "posterior", "support"):
        with pytest.raises(InputError, match="are damaged"):
            getattr(StoredAnswer(tmp_path / "result.parquet", 2), name)


def test_a_notebook_shows_the_answer_and_no_markup_of_labels():
    votes = Votes.from_labels([["<b>", "<b>"], ["y", "y"]], classes=["<b>", "y"])
    page = Answer(votes, [[0.9, 0.1], [0.1, 0.9]], notes=("a < b",), method="ds")._repr_html_()
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert "a &lt; b" in page
    assert "<b>" not in votes._repr_html_()
    silent = Votes.from_labels([["a", "b", None], ["b", "a", None]], learners=["x", "y", "silent"])
    assert "None" not in silent._repr_html_()
    gone = Answer(Votes.from_labels([["a", "b"], [None, None]]), [[0.9, 0.1], [0.5, 0.5]], method="ds")._repr_html_()
    assert not {"None", "NaN", "nan"} & set(re.findall(r">(\w+)<", gone))


# ---------------------------------------------------------------------- in short


def test_a_tied_row_is_changed_only_if_its_label_is_none_of_the_tied_classes():
    votes = Votes(np.array([[0, 1], [0, 1], [0, 1], [2, 2]]), np.arange(3), ["one", "two"])
    posterior = np.array([[0.2, 0.7, 0.1], [0.6, 0.3, 0.1], [0.1, 0.2, 0.7], [0.6, 0.3, 0.1]])
    answer = Answer(votes, posterior)
    assert answer.codes.tolist() == [1, 0, 2, 0]
    assert answer.majority.tolist() == [1, 0, 1, 2]
    assert votes.majority_vote.codes.tolist() == [0, 0, 0, 2]
    assert answer.changes.tolist() == [[1, 0, 0], [0, 1, 1], [1, 0, 0]]
    assert answer.overruled.tolist() == [False, False, False, True]
    assert answer.summary().changed == 2
    assert answer.to_table()["majority"].to_pylist() == answer.rows(0, 4).majority.tolist() == [1, 0, 1, 2]
    assert answer.to_frame()["majority_vote"].tolist() == [1, 0, 1, 2]


def test_the_majority_vote_is_evaluated_with_ties_as_a_fair_draw():
    votes = Votes(np.array([[0, 1], [1, 1], [0, 1], [1, 1]]), np.arange(2), ["a", "b"], truth=np.array([1, 1, 1, 0]))
    evaluation = evaluate(Answer(votes, np.array([[0.1, 0.9]] * 4)))
    assert evaluation.accuracy == 0.75
    assert evaluation.majority_vote_accuracy == 0.5
    assert evaluation.majority_vote_first_class_accuracy == 0.25
    assert evaluation.gains["majority_vote"][0] == pytest.approx(0.25)  # two tied rows, half a win each
    assert {one.name: one.accuracy for one in evaluation.methods}["majority_vote"] == 0.5


def test_the_summary_counts_what_fusing_changed():
    summary = Answer(VOTES, POSTERIOR).summary()
    assert (summary.changed, summary.overruled) == (1, 1)
    assert summary.class_shares == [pytest.approx(1 / 3), pytest.approx(2 / 3)]
    assert summary.majority_shares == [pytest.approx(2 / 3), pytest.approx(1 / 3)]
    assert summary.mean_confidence == pytest.approx((0.6 + 0.9 + 0.8) / 3)
    assert summary.agreement == pytest.approx(2 / 3)


def test_evaluation_needs_truth_and_does_not_change_the_summary():
    assert evaluate(Answer(VOTES, POSTERIOR)) is None
    codes, only = code_truth(np.array(["y", "x", "y", None], object), VOTES.classes)
    known = Answer(Votes(VOTES.codes, VOTES.classes, VOTES.learners, VOTES.ids, codes, truth_only=only), POSTERIOR)
    evaluation = evaluate(known)
    assert evaluation.accuracy == 1.0
    assert evaluation.majority_vote_accuracy == pytest.approx(2 / 3)
    assert Evaluation.from_dict(json.loads(json.dumps(evaluation.to_dict()))) == evaluation
    assert known.summary() == Answer(VOTES, POSTERIOR).summary()


# ---------------------------------------------------------------------- fuse


def test_fuse_gives_an_answer_by_any_method_and_never_reads_the_truth():
    drawn = simulation.simulate("tree", 300, 0)
    for method in ("mv", "ds", "ebcc", "irbm"):
        answer = fuse(drawn.votes, method, random_state=0)
        assert answer.method == method
        np.testing.assert_array_equal(answer.codes, fuse(drawn.votes.without_truth(), method, random_state=0).codes)
    assert answer.votes.truth is not None


def test_fuse_takes_settings_only_where_something_is_trained():
    votes = simulation.simulate("tree", 120, 0).votes
    answer = fuse(votes, "deem", random_state=0, updates=5, restarts=2, batch_size=32)
    assert answer.method == "deem"
    with pytest.raises(InputError, match="has no setting 'updates'"):
        fuse(votes, "ds", updates=5)
    with pytest.raises(InputError, match="There is no method 'nobody'"):
        fuse(votes, "nobody")
