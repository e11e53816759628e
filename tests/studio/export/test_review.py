"""The effect of a threshold, the preview, the review queue, and reviewed labels that come back."""

import numpy as np
import pandas as pd
import pytest

from deem_core.answers.export import fused_table
from deem_core.errors import InputError
from studio.export import results, review
from tests.studio.labelling import POSTERIOR, WIDE, finished

NO_IDS = "ann,bob,eve\n" + "cat,cat,dog\ndog,dog,dog\ncat,dog,dog\n" * 4


@pytest.fixture
def nameless(workspace):
    """Twelve rows without ids or truth, whose restarts disagree on the last."""
    dataset = workspace.add_dataset("nameless.csv", NO_IDS.encode())
    posterior = np.tile([[0.6, 0.4], [0.1, 0.9], [0.3, 0.7]], (4, 1))
    support = np.r_[np.ones(11), 0.5]
    return results.labelled(finished(workspace, dataset, posterior, support))


def test_a_threshold_sends_low_labels_overruled_votes_and_silent_rows_to_review(found):
    effect = review.effect(found, review.Budget(below=0.65))
    assert effect.counts.sum() == 3  # the row without votes is in no bar
    assert effect.reviewed.sum() == 2
    assert (effect.review, effect.chosen, effect.rows) == (3, 1, 4)  # 0.6, overruled, silent
    assert effect.all_accuracy == pytest.approx(1 / 2)  # cat is right, the overruled dog is not, the rest is unknown
    assert effect.kept_accuracy is None  # the row that is left has no known truth
    assert effect.kept_confidence == pytest.approx(0.7)


def test_the_usual_budget_is_the_usual_rule(found):
    assert review.effect(found, review.Budget()).review == int(found.answer.needs_review.sum())


def test_the_effect_is_what_the_file_will_say(found, nameless):
    budgets = [review.Budget(share=share) for share in (0.0, 0.1, 0.3, 1.0)]
    budgets += [review.Budget(below=low) for low in (0.0, 0.3, 0.6, 0.61, 0.9, 1.0)]
    for each in (found, nameless):
        for budget in budgets:
            table = fused_table(each.reading, each.answer, **budget.options, blank=True)
            effect = review.effect(each, budget)
            assert effect.review == sum(table["needs_review"].to_pylist())
            silent = int(each.answer.silent.sum())
            assert effect.chosen == table["fused_label"].null_count - silent
            assert (effect.reviewed <= effect.counts).all()


def test_a_larger_budget_reviews_more(nameless):
    found = [review.effect(nameless, review.Budget(share=share)).chosen for share in (0, 0.1, 0.25, 0.5, 1)]
    assert found == [0, 2, 3, 6, 12]
    below = [review.effect(nameless, review.Budget(below=low)).chosen for low in review.thresholds(nameless)]
    assert below == sorted(below) == list(review.thresholds(nameless).values())


def test_thresholds_lie_where_the_labels_are(workspace):
    """Of labels that are all 97% sure or more, every choice sends some to review."""
    rows = "".join(f"{'cat' if at % 2 else 'dog'},cat,dog\n" for at in range(1000))
    dataset = workspace.add_dataset("sure.csv", ("ann,bob,eve\n" + rows).encode())
    p = 1 - 0.03 * np.random.default_rng(0).random(1000) ** 3
    found = results.labelled(finished(workspace, dataset, np.stack([p, 1 - p], axis=1), np.ones(1000)))
    choices = review.thresholds(found)
    assert min(choices) > 0.97
    assert list(choices.values())[:5] == [5, 10, 20, 50, 100]


def test_the_preview_is_the_beginning_of_the_file(nameless):
    for options in ({}, {"review_below": 0.65, "blank": True}, {"originals": False}, {"diagnostics": False}):
        whole = fused_table(nameless.reading, nameless.answer, **options).to_pandas()
        first = review.preview(nameless, options, rows=5)
        assert first.columns[0] == "fused_label"  # what is new comes first
        assert set(first) == set(whole)
        pd.testing.assert_frame_equal(first[list(whole)].astype(object), whole[:5].astype(object), check_dtype=False)


@pytest.mark.parametrize("name", ["", "  "])
def test_a_label_column_needs_a_name(found, name):
    with pytest.raises(InputError, match="needs a name"):
        review.preview(found, {"label_column": name})


def test_the_queue_shows_votes_reasons_and_room_for_the_review(nameless):
    table = review.queue_table(nameless)
    assert list(table)[:6] == ["row", "fused_label", "reviewed_label", "confidence", "restarts_agreeing", "why"]
    disputed = table[table["row"] == 12].iloc[0]
    why = "2 of 3 votes for dog, 1 for cat; against: ann (cat); dog 70%, cat 30%; only 50% of the restarts agree"
    assert disputed["why"].removeprefix("close: ") == why
    assert disputed[["ann", "bob", "eve"]].tolist() == ["cat", "dog", "dog"]
    assert (table["reviewed_label"] == "").all()
    assert len(review.queue_table(nameless, 1)) == 1


def test_the_queue_shows_what_the_file_says_beside_the_votes(workspace):
    text = "Ticket,Text,ann,bob,eve,why\nT1,=free money,cat,cat,dog,x\nT2,a dog,dog,dog,dog,y\n"
    reading = {"learners": ["ann", "bob", "eve"]}
    dataset = workspace.add_dataset("texts.csv", text.encode(), reading=reading)
    made = results.labelled(finished(workspace, dataset, POSTERIOR[:2], np.ones(2)))
    table = review.queue_table(made)
    assert table["Text"].tolist()[0] in ("=free money", "a dog")
    assert set(table["why (file)"]) <= {"x", "y"}
    assert "Ticket" in table or table["id"][0].startswith("T")


def test_learners_named_like_a_column_of_the_queue_keep_their_votes(workspace):
    dataset = workspace.add_dataset("names.csv", b"why,confidence,c\ncat,cat,dog\ndog,dog,dog\n")
    made = results.labelled(finished(workspace, dataset, POSTERIOR[:2], np.ones(2)))
    assert list(review.queue_table(made))[-3:] == ["why (vote)", "confidence (vote)", "c"]


def back(table: pd.DataFrame, **labels) -> bytes:
    """The queue with the labels of some rows filled in, by their number, as a spreadsheet would save it."""
    table = table.copy()
    for row, label in labels.items():
        table.loc[table["row"] == int(row[1:]), "reviewed_label"] = label
    return results.frame_bytes(table)


def test_a_queue_that_comes_back_judges_the_labels(found):
    assert isinstance(found.votes.ids, pd.Index)
    judged, said = review.judge(found, "review.csv", back(review.queue_table(found), r1="cat", r2="dog"))
    assert judged.rows == 2
    assert judged.accuracy == 0.5  # the second was overruled
    assert judged.majority_vote_accuracy == 1.0
    assert said[0] == "2 reviewed labels were read from review.csv."


def test_a_queue_without_ids_comes_back_by_the_number_of_the_row(nameless):
    judged, _ = review.judge(nameless, "review.csv", back(review.queue_table(nameless), r12="dog"))
    assert (judged.rows, judged.accuracy) == (1, 1.0)
    with pytest.raises(InputError, match="no columns row and reviewed_label"):
        review.judge(nameless, "gold.csv", b"id,truth\n1,cat\n")


def test_a_plain_file_of_ids_and_labels_works_too(found):
    judged, _ = review.judge(found, "gold.csv", b"id,label\n007,dog\n@x,dog\n")
    assert (judged.rows, judged.accuracy) == (2, 0.5)


def test_labels_that_a_spreadsheet_would_run_are_understood_with_their_apostrophe(workspace):
    dataset = workspace.add_dataset("signs.csv", WIDE.replace("cat", "=a").replace("dog", "-b").encode())
    made = results.labelled(finished(workspace, dataset, POSTERIOR[:, ::-1]))
    table = review.queue_table(made)
    judged, said = review.judge(made, "review.csv", back(table, r1="'=a", r2="-b"))
    assert judged.rows == 2
    assert len(said) == 1  # both are labels of the votes


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"row,reviewed_label\n1,\n2,\n", "No row of r.csv has a reviewed label"),
        (b"row,reviewed_label\n9,cat\n2,dog\n", "the row number '9'"),
        (b"row,reviewed_label\nx,cat\n2,dog\n", "the row number 'x'"),
        (b"row,id,reviewed_label\n1,other,cat\n2,others,dog\n", "the queue of other votes"),
        (b"", "empty"),
        (b"id,label\nzz,cat\nyy,dog\n", "None of the tasks"),
    ],
)
def test_a_file_that_cannot_be_used_gets_a_sentence(found, data, sentence):
    with pytest.raises(InputError, match=sentence):
        review.judge(found, "r.csv", data)


def test_ids_that_lost_their_zeros_in_a_spreadsheet_are_forgiven(found):
    judged, _ = review.judge(found, "r.csv", b"row,id,reviewed_label\n1,7,cat\n")
    assert judged.rows == 1
