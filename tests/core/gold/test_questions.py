"""Questions: which rows are asked, and in which order."""

import numpy as np
import pytest

from deem_core import InputError, ask, fuse, simulate
from deem_core.auto import make_field
from deem_core.gold import Questions, questions
from deem_core.gold.questions import CHECK, DISPUTED
from deem_core.readers import read_gold
from tests.core.gold.helpers import gold_of, panel


@pytest.fixture(scope="module")
def field():
    return make_field(panel(400))


def rng(seed=0):
    return np.random.default_rng(seed)


def test_three_of_every_five_rows_are_disputed_and_come_first(field):
    asked = questions(field, 20, rng=rng())
    assert not asked.fair
    for at in range(0, 20, 5):
        assert asked.kinds[at : at + 5] == (DISPUTED,) * 3 + (CHECK,) * 2
    assert all((kind == DISPUTED) == field.disputed[row] for kind, row in zip(asked.kinds, asked.rows, strict=True))


def test_below_twenty_rows_are_a_fair_draw(field):
    assert questions(field, 10, rng=rng()).fair
    gold = gold_of(np.zeros(400, np.int32), np.arange(10))
    assert not questions(field, 10, gold=gold, rng=rng()).fair


def test_crowds_are_asked_at_random():
    votes = simulate("crowd", 400, seed=0).votes
    assert votes.coverage < 0.95
    assert questions(make_field(votes), 30, rng=rng()).fair


def test_no_row_is_asked_twice(field):
    gold = gold_of(np.zeros(400, np.int32), np.arange(0, 400, 2))
    asked = questions(field, 50, gold=gold, rng=rng())
    assert len(set(asked.rows)) == 50
    assert not gold.known[list(asked.rows)].any()


def test_every_row_of_a_stratum_is_as_likely(field):
    """Frequent patterns come up as often as they weigh: within a stratum the draw is fair."""
    counts = np.zeros(400)
    for seed in range(600):
        counts[list(questions(field, 20, rng=rng(seed)).rows)] += 1
    for stratum, expected in ((field.disputed, 12), (~field.disputed, 8)):
        mean = 600 * expected / stratum.sum()
        assert np.abs(counts[stratum] - mean).max() < 6 * np.sqrt(mean)


def test_when_one_stratum_is_used_up_the_other_serves(field):
    left = np.flatnonzero(~field.disputed)
    gold = gold_of(np.zeros(400, np.int32), left)
    assert set(questions(field, 20, gold=gold, rng=rng()).kinds) == {DISPUTED}


def test_reasons_name_who_differs_and_likeliest_labels_differ(field):
    asked = questions(field, 20, rng=rng())
    assert all("differ" in asked.reasons[at] for at in range(3))
    assert all(first != second for first, second in asked.likeliest)
    assert "20 gold rows" in asked.effect


def test_nothing_is_left_to_ask():
    votes = panel(30)
    field = make_field(votes)
    with pytest.raises(InputError, match="nothing to ask"):
        questions(field, 5, gold=gold_of(votes.truth, np.arange(30)), rng=rng())
    with pytest.raises(InputError, match="1 or more"):
        questions(field, 0, rng=rng())


def test_a_queue_that_is_filled_in_comes_back_as_gold(tmp_path):
    votes = panel(400)
    asked = ask(fuse(votes, random_state=0), 20)
    frame = asked.to_frame(votes)
    assert (frame["gold_label"] == "").all()
    frame["gold_label"] = [str(votes.truth[row]) for row in asked.rows]
    frame.to_csv(tmp_path / "queue.csv", index=False)
    gold = read_gold(tmp_path / "queue.csv", votes).gold
    assert sorted(gold.rows) == sorted(asked.rows)
    assert (gold.labels == votes.truth[gold.rows]).all()
    assert gold.asked[gold.rows].all()


def test_questions_survive_json(field):
    asked = questions(field, 20, rng=rng())
    assert Questions.from_dict(asked.to_dict()) == asked


def test_the_likeliest_label_is_that_of_the_answer(field):
    asked = questions(field, 20, rng=rng())
    assert [first for first, _ in asked.likeliest] == field.start_codes[list(asked.rows)].tolist()
    assert all(first != second for first, second in asked.likeliest)


def test_answers_remember_how_their_rows_were_chosen(field):
    votes = panel(400)
    asked = questions(field, 20, rng=rng())
    labels: list[str | None] = [votes.classes[votes.truth[row]] for row in asked.rows]
    labels[3] = None
    gold = asked.gold(labels, votes)
    assert gold.rows.tolist() == sorted(row for at, row in enumerate(asked.rows) if at != 3)
    np.testing.assert_array_equal(gold.labels, votes.truth[gold.rows])
    np.testing.assert_array_equal(gold.asked, gold.known)
    assert "random sample" not in " ".join(fuse(votes, gold=gold, random_state=0).gold.sentences)
    assert not questions(field, 10, rng=rng()).gold(labels[:10], votes).was_asked
    with pytest.raises(InputError, match="19 labels cannot answer 20 questions"):
        asked.gold(labels[1:], votes)
