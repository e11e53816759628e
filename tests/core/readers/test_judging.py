"""Files of judges that were asked in both orders."""

import json

import numpy as np
import pytest

from deem_core import InputError, cli
from deem_core.readers import label_table, read
from deem_core.readers.large import open_large
from deem_core.readers.stream import WholeOnlyError

RNG = np.random.default_rng(0)
TRUTH = RNG.choice(["A", "B"], 60)
OTHER = {"A": "B", "B": "A"}


def table(by_position: bool = False, biased: float = 0.3) -> bytes:
    """Two judges in both orders; one of them often prefers what comes first."""
    lines = ["id,gpt/ab,gpt/ba,kim/ab,kim/ba,rex"]
    for row, true in enumerate(TRUTH):
        first = RNG.random() < biased
        answers = ["A", "B", true, true] if first else [true] * 4
        if by_position:
            answers[1::2] = [OTHER[answer] for answer in answers[1::2]]
        lines.append(",".join([str(row), *answers, OTHER[true] if row % 5 == 0 else true]))
    return "\n".join(lines).encode()


def long(data: bytes) -> bytes:
    header, *rows = (line.split(",") for line in data.decode().splitlines())
    answers = [f"{row[0]},{judge},{label}" for row in rows for judge, label in zip(header[1:], row[1:], strict=True)]
    return "\n".join(["item,judge,label", *answers]).encode()


@pytest.mark.parametrize("form", [lambda data: data, long], ids=["wide", "long"])
def test_both_answers_are_votes_or_one_vote_when_that_is_said_and_the_bias_is_reported(form):
    data = table()
    kept = read(form(data))
    assert sorted(kept.votes.learners) == ["gpt/ab", "gpt/ba", "kim/ab", "kim/ba", "rex"]
    assert kept.votes.coverage == 1
    assert "Both answers count as votes; --one-voice" in " ".join(kept.report.sentences())
    reading = read(form(data), one_voice=True)
    assert reading.votes.learners == ("gpt", "kim", "rex")
    assert reading.report.position_bias == kept.report.position_bias
    gpt, kim = reading.report.position_bias
    assert gpt.contradicted == gpt.towards_first > 8
    assert (kim.contradicted, kim.both) == (0, 60)
    assert (reading.votes.codes[:, 0] == -1).sum() == gpt.contradicted
    said = " ".join(reading.report.sentences())
    assert "Asked in both orders: 'gpt' ('gpt/ab', 'gpt/ba'), 'kim'" in said
    assert "one vote where they agree" in said
    assert "Both answers count" not in said
    assert f"{gpt.contradicted} of {gpt.contradicted} towards the first" in said
    assert not [text for text in reading.report.sentences("warning") if "swap" in text]
    assert reading.report.to_dict()["position_bias"][0]["direction"] == "first"


def test_labels_by_position_are_doubted_and_swapped_when_that_is_said():
    data = table(by_position=True)
    assert any("--swap-ba" in text for text in read(data).report.sentences("warning"))
    reading = read(data, swap_ba=True)
    assert reading.votes.learners == ("gpt/ab", "gpt/ba", "kim/ab", "kim/ba", "rex")
    assert (reading.votes.codes[:, 2] == reading.votes.codes[:, 3]).all()
    assert read(data, swap_ba=True, one_voice=True).votes.learners == ("gpt", "kim", "rex")
    assert [bias.contradicted for bias in reading.report.position_bias][1] == 0
    assert "A and B were swapped" in " ".join(reading.report.sentences("changed"))
    with pytest.raises(InputError, match="nothing to swap"):
        read(b"id,a,b\n1,A,B\n2,B,B\n", swap_ba=True)
    with pytest.raises(InputError, match=r"No judge was asked in both orders.* Leave --one-voice out"):
        read(b"id,a,b\n1,A,B\n2,B,B\n", one_voice=True)


def test_judges_are_named_or_ignored_by_either_name():
    data, kim = table(), ("kim/ab", "kim/ba", "rex")
    assert read(data, ignore=["gpt"]).votes.learners == kim
    assert read(data, ignore=["gpt"], one_voice=True).votes.learners == ("kim", "rex")
    assert read(data, learners=["gpt", "rex"]).votes.learners == ("gpt/ab", "gpt/ba", "rex")
    assert read(data, learners=["gpt", "rex"], one_voice=True).votes.learners == ("gpt", "rex")
    assert read(data, ignore=["gpt/ba"]).votes.learners == ("gpt/ab", *kim)
    assert read(data, ignore=["gpt/ba"], one_voice=True).votes.learners == ("gpt/ab", "kim", "rex")
    assert read(long(data), ignore=["gpt"]).votes.learners == kim
    kept = ["gpt/ab", "gpt/ba", "kim/ab", "kim/ba", "rex"]  # as the Data page leaves a learner out
    assert read(data, learners=kept, ignore=["gpt"], one_voice=True).votes.learners == ("kim", "rex")


def test_a_single_judge_is_told_its_bias_and_refused_as_one_vote():
    data = "\n".join(line.rsplit(",", 3)[0] for line in table().decode().splitlines()).encode()
    with pytest.raises(InputError, match=r"one judge, 'gpt', asked in both orders \('gpt' on .* of 60 rows"):
        read(data, one_voice=True)
    assert read(data).votes.learners == ("gpt/ab", "gpt/ba")


def test_labels_are_counted_by_judge():
    for merged, learners in ((False, 5), (True, 3)):
        reading = read(table(), one_voice=merged)
        rows = label_table(reading.source, reading.report, reading.votes, reading.labels)
        assert [(row.label, row.learners) for row in rows] == [("A", learners), ("B", learners)]
        assert sum(row.votes for row in rows) == 5 * 60


def test_in_parts_both_answers_are_votes_and_nothing_is_swapped_or_merged(tmp_path):
    (tmp_path / "votes.csv").write_bytes(table())
    file = open_large(tmp_path / "votes.csv", ignore=["gpt"])
    assert file.learners == ("kim/ab", "kim/ba", "rex")
    assert "Asked in both orders: 'kim' ('kim/ab', 'kim/ba'). Both answers count" in " ".join(file.report.sentences())
    for option in ("swap_ba", "one_voice"):
        with pytest.raises(WholeOnlyError, match="both orders"):
            open_large(tmp_path / "votes.csv", **{option: True})


def test_describe_prints_and_writes_the_bias(tmp_path, capsys):
    file, out = tmp_path / "votes.csv", tmp_path / "facts.json"
    file.write_bytes(table(by_position=True))
    assert cli.main(["describe", str(file), "--swap-ba", "--one-voice", "--json", str(out)]) == 0
    assert "Position bias: judges asked in both orders" in capsys.readouterr().out
    assert json.loads(out.read_text())["n_learners"] == 3
    bias = json.loads(out.read_text())["position_bias"]
    assert [each["judge"] for each in bias] == ["gpt", "kim"]
    assert bias[0]["low"] < bias[0]["share"] < bias[0]["high"]


@pytest.mark.parametrize(
    ("labels", "names", "sentence"),
    [
        ("A,B,tie", "abc", "which of two answers is better: A, B, tie; a tie is a class"),
        ("A,B", ["gpt", "claude", "kim"], "which of two answers is better: A, B."),
        ("Yes,No", "abc", "yes-or-no question: No, Yes."),
        ("1,2,5", ["judge_1", "judge_2", "judge_3"], "marks of a rubric, in the order of the numbers: 1, 2, 5."),
        ("1,2,5", "abc", None),
        ("A,B,C,D", "abc", None),
        ("A,B", "abc", None),
    ],
)
def test_verdicts_that_are_plain_to_see_are_named(labels, names, sentence):
    words = labels.split(",")
    lines = [",".join(["id", *names]), *(",".join([str(row), *[words[row % len(words)]] * 3]) for row in range(12))]
    said = " ".join(read("\n".join(lines).encode()).report.sentences("understood"))
    assert (sentence in said) if sentence else ("The labels" not in said)


def test_for_a_model_that_knows_judges_as_one_voice_nothing_is_asked():
    kept = read(table()).report.sentences("understood")
    assert any("--one-voice (or the box" in sentence for sentence in kept)
    known = read(table(), known_learners=["gpt", "kim", "rules"]).report.sentences("understood")
    assert not any("--one-voice" in sentence for sentence in known)
    assert any("are one vote where they agree" in sentence for sentence in known)
    both = read(table(), known_learners=["gpt/ab", "gpt/ba", "kim"]).report.sentences("understood")
    assert any("--one-voice" in sentence for sentence in both)
