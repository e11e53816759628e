"""Labels that have an order: wished, named, proposed, and kept wherever votes go."""

import numpy as np
import pytest

from deem_core import InputError, Votes, apply, fuse, read, train
from deem_core.readers.large import open_large
from deem_core.readers.order import PROPOSAL
from deem_core.votes.scale import NEAR, label_scores, ordered_classes, proposed_order, relative_distance

WORDS = ("poor", "fair", "good", "excellent")
N = 60


def made(words=WORDS, *, layout="wide", truth=None, near=True, seed=0):
    rng = np.random.default_rng(seed)
    K = len(words)
    true = rng.integers(0, K, N)
    off = rng.integers(-1, 2, (N, 4)) if near else rng.integers(0, K, (N, 4))
    codes = np.clip(true[:, None] + off, 0, K - 1) if near else np.where(rng.random((N, 4)) < 0.5, true[:, None], off)
    right = [truth[i % len(truth)] if truth else words[code] for i, code in enumerate(true)]
    if layout == "long":
        lines = [f"r{i},w{j},{words[code]}" for i, row in enumerate(codes) for j, code in enumerate(row)]
        return "\n".join(["task,worker,label", *lines]).encode()
    if layout == "soft":
        head = ",".join(f"m{j}:{word}" for j in range(3) for word in words)
        rows = [",".join(f"{p:.4f}" for _ in range(3) for p in rng.dirichlet(np.ones(K))) for _ in true]
        return "\n".join([f"id,{head}", *(f"r{i},{row}" for i, row in enumerate(rows))]).encode()
    lines = [",".join([f"r{i}", *(words[code] for code in row), right[i]]) for i, row in enumerate(codes)]
    return "\n".join(["id,a,b,c,d,label", *lines]).encode()


def proposals(reading):
    return [text for text in reading.report.sentences() if text.startswith(PROPOSAL)]


@pytest.mark.parametrize("layout", ["wide", "long", "soft"])
def test_words_of_a_known_scale_are_proposed_and_on_demand_put_in_order(layout):
    plain = read(made(layout=layout))
    assert not plain.votes.ordered
    assert plain.votes.scores is None
    assert "poor < fair < good < excellent" in proposals(plain)[0]
    assert "--ordinal" in proposals(plain)[0]
    reading = read(made(layout=layout), ordered=True)
    assert reading.votes.ordered
    assert reading.votes.classes.tolist() == list(WORDS)
    assert reading.votes.scores.tolist() == [1, 2, 3, 4]
    assert not proposals(reading)
    assert any("lowest first: poor < fair < good < excellent" in text for text in reading.report.sentences())
    place = [WORDS.index(label) for label in plain.votes.classes]
    np.testing.assert_array_equal(np.append(place, -1)[plain.votes.codes], reading.votes.codes)
    if plain.votes.truth is not None:
        np.testing.assert_array_equal(np.append(place, -1)[plain.votes.truth], reading.votes.truth)
    if layout == "soft":
        np.testing.assert_array_equal(reading.votes.soft[:, :, place], plain.votes.soft)


def test_steps_are_named_and_one_that_nobody_chose_is_a_step_too():
    order = ["awful", "bad", "so-so", "fine"]
    file = made(("bad", "so-so", "fine"), truth=("bad", "awful", "splendid"))
    with pytest.raises(InputError, match=r"order of the labels .* is not known.*--order"):
        read(file, ordered=True)
    votes = read(file, ordered=order, gold=None).votes
    assert votes.classes.tolist() == order
    assert votes.truth_only.tolist() == ["splendid"]  # awful is a class now, if one without votes
    assert (votes.truth == 0).any()
    assert np.isnan(label_scores(votes)[-1])
    with pytest.raises(InputError, match="lacks 'fine'"):
        read(file, ordered=order[:3])
    with pytest.raises(InputError, match="comes twice"):
        read(file, ordered=[*order, "bad"])
    named = read(file, ordered=True, labels=[(label, label) for label in order[1:]]).votes
    assert named.classes.tolist() == order[1:]


def test_numbers_are_scores_and_proposed_only_if_neighbours_are_confused():
    numbers = tuple("12345")
    votes = read(made(numbers), ordered=True).votes
    assert votes.scores.tolist() == [1, 2, 3, 4, 5]
    assert read(made(("10", "2", "2.5")), ordered=True).votes.scores.tolist() == [2, 2.5, 10]
    assert proposals(read(made(numbers)))
    codes = read(made(numbers, near=False)).votes  # class codes, whose errors know no neighbours
    assert relative_distance(codes) > NEAR
    assert proposed_order(codes) is None
    assert not proposals(read(made(("1", "2"))))  # two have no middle
    assert not proposals(read(made(("cat", "dog", "owl"))))
    assert ordered_classes([3, 1, 2]) == [1, 2, 3]


def test_a_file_in_parts_has_the_same_steps(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_bytes(made())
    whole = read(path, ordered=["none at all", *WORDS]).votes
    large = open_large(path, ordered=["none at all", *WORDS])
    parts = [part.votes for part in large.parts(25)]
    assert all(part.ordered and part.classes.tolist() == whole.classes.tolist() for part in parts)
    np.testing.assert_array_equal(np.concatenate([part.codes for part in parts]), whole.codes)
    np.testing.assert_array_equal(np.concatenate([part.truth for part in parts]), whole.truth)


def test_the_order_stays_through_models_and_is_lost_where_theirs_differs():
    votes = read(made(), ordered=True).votes
    model = train(votes, "irbm", random_state=0)
    assert apply(model, votes).expected_score is not None
    turned = Votes.from_labels(votes.classes[votes.codes], learners=votes.learners, classes=list(WORDS[::-1]))
    backwards = train(turned, "irbm", random_state=0)
    assert backwards.fuse(votes).expected_score is None
    assert votes.as_ordered(False).content_hash != votes.content_hash


def test_gold_follows_the_steps():
    gold = {"r0": "good", "r1": "poor"}
    votes = read(made()).votes.with_gold(gold).as_ordered()
    assert [votes.classes[code] for code in votes.gold.labels] == ["good", "poor"]
    assert fuse(votes, "mv").labels[:2].tolist() == ["good", "poor"]
