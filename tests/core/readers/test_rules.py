"""Weak supervision: labelling rules that know one class each and abstain elsewhere."""

import inspect
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from deem_core import InputError, Votes, read
from deem_core.readers.vocabulary import rule_columns

CLASSES = (0, 1, 0, 1, 1, 0)
NAMES = tuple(f"lf{j}" for j in range(len(CLASSES)))


def fired(n=120, classes=CLASSES, share=0.2):
    """Return the codes of one-class rules, -1 where they abstain; some rows have no vote."""
    rng = np.random.default_rng(0)
    return np.where(rng.random((n, len(classes))) < share, np.array(classes), -1)


def frame(codes, spellings, **others):
    cells = {f"lf{j}": [spellings[code] for code in column] for j, column in enumerate(codes.T)}
    return pd.DataFrame({**cells, **others})


def csv(table, **options):
    return table.to_csv(index=False, **options).encode()


def parquet(table):
    buffer = io.BytesIO()
    table.to_parquet(buffer)
    return buffer.getvalue()


def long(codes, spellings):
    row, rule = np.indices(codes.shape).reshape(2, -1)
    labels = [spellings[code] for code in codes.ravel()]
    return pd.DataFrame({"row": row, "rule": [f"lf{j}" for j in rule], "label": labels})


def said(reading):
    return " ".join(reading.report.sentences())


SPELLINGS = {
    "integers and -1": {0: "0", 1: "1", -1: "-1"},
    "integers and empty": {0: "0", 1: "1", -1: ""},
    "floats and -1": {0: "0.0", 1: "1.0", -1: "-1.0"},
    "words and empty": {0: "HAM", 1: "SPAM", -1: ""},
    "words and ABSTAIN": {0: "HAM", 1: "SPAM", -1: "ABSTAIN"},
    "words and abstain": {0: "HAM", 1: "SPAM", -1: "abstain"},
    "words and -1": {0: "HAM", 1: "SPAM", -1: "-1"},
    "words and None": {0: "HAM", 1: "SPAM", -1: "None"},
    "integers and ABSTAIN": {0: "0", 1: "1", -1: "ABSTAIN"},
    "booleans": {0: "False", 1: "True", -1: ""},
    "minus and plus one": {0: "-1", 1: "1", -1: ""},
}


@pytest.mark.parametrize("spellings", SPELLINGS.values(), ids=SPELLINGS)
@pytest.mark.parametrize("layout", ["csv", "tsv", "parquet", "long"])
def test_rules_of_one_class_each_are_read_at_the_first_try(spellings, layout):
    codes = fired()
    make = {
        "csv": lambda: csv(frame(codes, spellings)),
        "tsv": lambda: csv(frame(codes, spellings), sep="\t"),
        "parquet": lambda: parquet(frame(codes, spellings)),
        "long": lambda: csv(long(codes, spellings)),
    }
    votes = read(make[layout]()).votes
    assert votes.learners == NAMES
    assert votes.n_classes == 2
    assert votes.codes.tolist() == codes.tolist()


@pytest.mark.parametrize("dtype", [np.int64, np.float64, "Int64"])
def test_typed_parquet_columns_of_rules_are_read(dtype):
    codes = fired()
    table = pd.DataFrame(codes, columns=NAMES).where(codes >= 0, -1 if dtype is np.int64 else np.nan).astype(dtype)
    assert read(parquet(table)).votes.codes.tolist() == codes.tolist()


def test_the_example_of_the_documentation_is_read():
    text = (Path(__file__).parents[3] / "docs" / "formats.md").read_text(encoding="utf-8")
    section = text.split("### Rules that know one class each\n")[1].split("\nLabelling rules")[0]
    votes = read(inspect.cleandoc(section).encode()).votes
    assert votes.learners == ("lf_link", "lf_please", "lf_short")
    assert votes.codes.tolist() == [[1, -1, -1], [-1, 1, 0], [-1, -1, -1], [-1, -1, 0], [1, 1, -1]]


def test_rules_are_said_and_their_classes_counted():
    reading = read(csv(frame(fired(), SPELLINGS["words and ABSTAIN"])))
    assert "6 of 6 learners vote for one class each and abstain elsewhere, as labelling rules do" in said(reading)
    assert "3 for 'HAM', 3 for 'SPAM'" in said(reading)
    assert "'ABSTAIN'" in said(reading)


def test_minus_one_beside_words_is_no_vote_and_said():
    reading = read(csv(frame(fired(), SPELLINGS["words and -1"])))
    assert "because all other labels are words" in said(reading)


def test_rows_where_nobody_votes_stay_and_are_counted():
    codes = fired()
    silent = int((codes < 0).all(axis=1).sum())
    reading = read(csv(frame(codes, SPELLINGS["words and empty"], id=range(len(codes)))))
    assert silent > 10
    assert (reading.votes.votes_per_row == 0).sum() == silent
    assert f"{silent} rows without any vote" in said(reading)


@pytest.mark.parametrize("name", ["integers and -1", "words and ABSTAIN", "words and -1"])
def test_a_rule_that_never_fires_is_a_learner_without_votes(name):
    codes = fired()
    codes[:, 2] = -1
    votes = read(csv(frame(codes, SPELLINGS[name]))).votes
    assert votes.learners == NAMES
    assert votes.learner_coverage[2] == 0


def test_an_empty_column_is_left_out_since_it_may_be_anything():
    codes = fired()
    codes[:, 2] = -1
    reading = read(csv(frame(codes, SPELLINGS["words and empty"])))
    assert reading.votes.learners == (*NAMES[:2], *NAMES[3:])
    assert "Column 'lf2' was left out: it has no votes" in said(reading)


@pytest.mark.parametrize("abstain", ["", "ABSTAIN", "-1"])
def test_rules_that_all_vote_for_one_class_are_refused_with_a_sentence(abstain):
    content = csv(frame(np.where(fired() >= 0, 1, -1), {1: "SPAM", -1: abstain}))
    with pytest.raises(InputError, match="use one class only, 'SPAM'; there is nothing to fuse"):
        read(content)


def test_integers_of_one_class_beside_minus_one_are_refused_with_a_way_out():
    content = csv(frame(np.where(fired() >= 0, 0, -1), SPELLINGS["integers and -1"]))
    with pytest.raises(InputError, match=r"one class only, '0'.* -1 was read as no vote; if it is a class"):
        read(content)
    assert read(content, missing=["NA"]).votes.classes.tolist() == ["-1", "0"]


def test_minus_one_beside_one_alone_is_a_class_and_doubted():
    content = csv(frame(np.where(fired() >= 0, 1, -1), SPELLINGS["integers and -1"]))
    reading = read(content)
    assert reading.votes.classes.tolist() == ["-1", "1"]
    assert "-1 is read as a class, because 1 is the only other label" in said(reading)
    with pytest.raises(InputError, match="one class only, '1'"):
        read(content, missing=["-1"])


def test_rules_that_abstain_by_zero_are_doubted_and_can_be_told():
    content = csv(frame(fired(), {0: "-1", 1: "1", -1: "0"}))
    assert "If 0 is no vote here and -1 a class" in said(read(content))
    reading = read(content, missing=["0"])
    assert reading.votes.codes.tolist() == fired().tolist()
    assert "If 0 is no vote" not in said(read(csv(frame(fired(), SPELLINGS["integers and -1"]))))
    every = pd.DataFrame({name: np.roll([-1, 0, 1] * 40, shift) for shift, name in enumerate("ab")})
    assert "If 0 is no vote" not in said(read(csv(every)))


def test_rules_that_vote_on_most_rows_are_read_too():
    codes = fired(share=0.8)  # -1 is no longer what most cells share
    assert read(csv(frame(codes, SPELLINGS["integers and -1"]))).votes.codes.tolist() == codes.tolist()


def test_a_rule_of_its_own_class_joins_rules_that_share_theirs():
    codes = fired(classes=(0, 1, 0, 1, 2))
    table = frame(codes, {0: "sport", 1: "world", 2: "tech", -1: ""})
    table["both"] = ["sport", "world", ""] * 40
    reading = read(csv(table))
    assert reading.votes.learners == (*NAMES[:5], "both")
    assert "Only column 'lf4' ever votes for 'tech'. If it is not a labelling rule, ignore it." in said(reading)


def test_other_columns_of_a_rules_file_are_no_rules():
    codes = fired()
    rows = range(len(codes))
    table = frame(
        codes,
        SPELLINGS["words and empty"],
        id=[f"c{row}" for row in rows],
        text=[f"comment {row}" for row in rows],
        n_words=[row % 17 for row in rows],
        n_letters=[row % 23 for row in rows],
        split="train",
        score=["0.5" if row % 9 == 0 else "" for row in rows],
        remark=["look again" if row == 3 else "" for row in rows],
        flag=["7" if row % 5 == 0 else "" for row in rows],
        label=[("HAM", "SPAM")[row % 2] for row in rows],
    )
    reading = read(csv(table))
    assert reading.votes.learners == NAMES
    assert reading.votes.classes.tolist() == ["HAM", "SPAM"]
    assert reading.report.roles["id"] == "id"
    assert reading.report.roles["label"] == "truth"


def test_flags_beside_learners_of_several_classes_stay_out():
    rows = range(60)
    table = pd.DataFrame(
        {
            **{f"m{step}": [("cat", "dog", "bird")[(row * step) % 3] for row in rows] for step in (1, 2, 4)},
            "flag": ["yes" if row % 4 == 0 else "" for row in rows],
            "hint": ["maybe" if row % 6 == 0 else "" for row in rows],
        }
    )
    assert read(csv(table)).votes.learners == ("m1", "m2", "m4")


def test_plus_and_minus_one_with_a_sparse_constant_beside_them_keep_their_classes():
    rows = range(60)
    table = pd.DataFrame(
        {
            **{f"m{step}": [(-1, 1)[(row // step) % 2] for row in rows] for step in (1, 2, 3)},
            "level": ["3" if row % 4 == 0 else "" for row in rows],
        }
    )
    votes = read(csv(table)).votes
    assert votes.learners == ("m1", "m2", "m3")
    assert votes.classes.tolist() == ["-1", "1"]


def test_a_constant_without_gaps_is_no_rule():
    tallies = {"a": {"x": 10}, "b": {"y": 10}, "c": {"x": 5}}
    assert rule_columns(tallies, 10) == []
    assert rule_columns({**tallies, "d": {"y": 3}}, 10)[0].columns == {"c", "d"}


def test_with_known_classes_rules_that_mostly_abstain_are_learners():
    codes = fired(share=0.1)
    codes[:, 5] = -1
    content = csv(frame(codes, SPELLINGS["integers and -1"], text="some words"))
    reading = read(content, classes=["0", "1"])
    assert reading.votes.learners == NAMES
    assert reading.votes.codes.tolist() == codes.tolist()


@pytest.mark.parametrize(
    "labels",
    [
        [["SPAM", "ABSTAIN", None], ["ABSTAIN", "HAM", None]],
        [["SPAM", "-1", ""], ["-1", "HAM", ""]],
        [["SPAM", -1, None], [-1, "HAM", -1]],
    ],
)
def test_arrays_of_rules_follow_the_same_rules(labels):
    votes = Votes.from_labels(labels)
    assert votes.classes.tolist() == ["HAM", "SPAM"]
    assert votes.codes.tolist() == [[1, -1, -1], [-1, 0, -1]]


def test_integer_arrays_of_rules_keep_minus_one_as_no_vote():
    codes = fired()
    assert Votes.from_labels(codes).codes.tolist() == codes.tolist()
    with pytest.raises(InputError, match="only the class 0"):
        Votes.from_labels(np.where(codes >= 0, 0, -1))


def test_unknown_truth_of_minus_one_beside_words_is_unknown():
    votes = Votes.from_labels([["SPAM", "HAM"], ["HAM", "HAM"]], truth=["-1", "HAM"])
    assert votes.truth.tolist() == [-1, 0]
    reading = read(csv(frame(fired(), SPELLINGS["words and empty"], label=["SPAM", "-1"] * 60)))
    assert reading.votes.truth.tolist() == [1, -1] * 60


def test_real_rules_are_read(large_data):
    reading = read(large_data / "ws_youtube.csv.gz")
    votes = reading.votes
    assert (votes.n_rows, votes.n_learners, votes.classes.tolist()) == (1956, 10, ["HAM", "SPAM"])
    assert votes.constant_learners == votes.learners
    assert (votes.votes_per_row == 0).sum() == 228
    assert "5 for 'SPAM', 5 for 'HAM'" in said(reading)
