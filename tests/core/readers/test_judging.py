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
def test_one_judge_is_one_learner_and_its_bias_is_reported(form):
    data = table()
    reading = read(form(data))
    assert reading.votes.learners == ("gpt", "kim", "rex")
    gpt, kim = reading.report.position_bias
    assert gpt.contradicted == gpt.towards_first > 8
    assert (kim.contradicted, kim.both) == (0, 60)
    assert (reading.votes.codes[:, 0] == -1).sum() == gpt.contradicted
    said = " ".join(reading.report.sentences())
    assert "Asked in both orders: 'gpt' ('gpt/ab', 'gpt/ba'), 'kim'" in said
    assert f"{gpt.contradicted} of {gpt.contradicted} towards the first" in said
    assert not [text for text in reading.report.sentences("warning") if "swap" in text]
    assert reading.report.to_dict()["position_bias"][0]["direction"] == "first"


def test_labels_by_position_are_doubted_and_swapped_when_that_is_said():
    data = table(by_position=True)
    assert any("--swap-ba" in text for text in read(data).report.sentences("warning"))
    reading = read(data, swap_ba=True)
    assert [bias.contradicted for bias in reading.report.position_bias][1] == 0
    assert "A and B were swapped" in " ".join(reading.report.sentences("changed"))
    with pytest.raises(InputError, match="nothing to swap"):
        read(b"id,a,b\n1,A,B\n2,B,B\n", swap_ba=True)


def test_judges_are_named_or_ignored_by_either_name():
    assert read(table(), ignore=["gpt"]).votes.learners == ("kim", "rex")
    assert read(table(), learners=["gpt", "rex"]).votes.learners == ("gpt", "rex")
    assert read(table(), ignore=["gpt/ba"]).votes.learners == ("gpt/ab", "kim", "rex")
    assert read(long(table()), ignore=["gpt"]).votes.learners == ("kim", "rex")
    kept = ["gpt/ab", "gpt/ba", "kim/ab", "kim/ba", "rex"]  # as the Data page leaves a learner out
    assert read(table(), learners=kept, ignore=["gpt"]).votes.learners == ("kim", "rex")


def test_a_single_judge_is_told_its_bias_and_refused():
    data = "\n".join(line.rsplit(",", 3)[0] for line in table().decode().splitlines()).encode()
    with pytest.raises(InputError, match=r"one judge, 'gpt', asked in both orders \('gpt' on .* of 60 rows"):
        read(data)


def test_labels_are_counted_by_judge():
    reading = read(table())
    rows = label_table(reading.source, reading.report, reading.votes, reading.labels)
    assert [(row.label, row.learners) for row in rows] == [("A", 3), ("B", 3)]
    assert sum(row.votes for row in rows) == 5 * 60


def test_such_files_are_not_read_in_parts(tmp_path):
    (tmp_path / "votes.csv").write_bytes(table())
    with pytest.raises(WholeOnlyError, match="both orders"):
        open_large(tmp_path / "votes.csv")


def test_describe_prints_and_writes_the_bias(tmp_path, capsys):
    file, out = tmp_path / "votes.csv", tmp_path / "facts.json"
    file.write_bytes(table(by_position=True))
    assert cli.main(["describe", str(file), "--swap-ba", "--json", str(out)]) == 0
    assert "Position bias: judges asked in both orders" in capsys.readouterr().out
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
