"""Cells that hold several labels: taken apart on demand, proposed where it is clear."""

import json

import numpy as np
import pytest

from deem_core import InputError, Votes, compare, fuse, read, train
from deem_core.readers.several import PROPOSAL
from deem_core.votes.label_sets import as_label_sets, label_sets, question
from deem_core.votes.sets import Sets, proposed_separator

HEAD = "id,ann,bob,cem,dua,label\n"
ROWS = [
    ("cat|dog", "dog | cat", "cat", "cat|dog", "cat|dog"),
    ("dog", "dog", "dog|owl", "", "dog"),
    ("owl|cat", "cat|owl", "", "owl", "cat|owl"),
    ("cat", "cat", "dog", "cat", "cat|fox"),
    ("dog|owl", "owl", "owl|dog|owl", "owl|dog", "dog|owl"),
    ("", "dog", "dog", "[]", "[]"),
]


def file(sign="|", rows=ROWS):
    return (
        HEAD + "".join(f"{n},{','.join(_quoted(cell, sign) for cell in row)}\n" for n, row in enumerate(rows))
    ).encode()


def _quoted(cell, sign):
    return f'"{cell.replace("|", sign)}"'


def members(votes):
    sets = label_sets(votes)
    return [None if code < 0 else {*np.array(sets.labels)[sets.members[code]]} for code in votes.codes.ravel()]


@pytest.mark.parametrize("sign", ["|", ";", ","])
def test_cells_are_taken_apart_at_the_sign_that_they_use(sign):
    reading = read(file(sign), multilabel=True)
    votes = reading.votes
    assert votes.separator == sign
    assert label_sets(votes).labels == ("cat", "dog", "owl")
    assert members(votes) == [
        *({"cat", "dog"}, {"cat", "dog"}, {"cat"}, {"cat", "dog"}),
        *({"dog"}, {"dog"}, {"dog", "owl"}, None),
        *({"cat", "owl"}, {"cat", "owl"}, None, {"owl"}),
        *({"cat"}, {"cat"}, {"dog"}, {"cat"}),
        *({"dog", "owl"}, {"owl"}, {"dog", "owl"}, {"dog", "owl"}),
        *(None, {"dog"}, {"dog"}, set()),
    ]
    assert votes.classes[votes.truth[0]] == f"cat{sign}dog"
    assert votes.truth_only.tolist() == [f"cat{sign}fox"]  # nobody votes for a fox
    assert any("3 labels (cat, dog, owl)" in text for text in reading.report.sentences())
    named = read(file(sign), multilabel=sign).votes
    np.testing.assert_array_equal(named.codes, votes.codes)


def test_long_files_and_lists_in_records_hold_several_labels_too():
    votes = read(file(), multilabel=True).votes
    lines = [
        f"t{n},{worker},{cell}"
        for n, row in enumerate(ROWS)
        for worker, cell in zip("abcd", row[:4], strict=True)
        if cell
    ]
    long = read("\n".join(["task,worker,label", *lines]).encode(), multilabel=True).votes
    assert members(long) == members(votes)
    records = [
        {
            "id": n,
            "votes": {
                worker: json.loads(cell) if cell == "[]" else [part.strip() for part in cell.split("|")]
                for worker, cell in zip("abcd", row[:4], strict=True)
                if cell
            },
        }
        for n, row in enumerate(ROWS)
    ]
    listed = "\n".join(map(json.dumps, records)).encode()
    assert members(read(listed, multilabel=True).votes) == members(votes)


def test_an_empty_cell_is_no_vote_unless_it_is_said_to_mean_none():
    missing, none = read(file(), multilabel=True).votes, read(file(), multilabel=True, empty_is_none=True).votes
    assert missing.votes_per_row.tolist() == [4, 3, 3, 4, 4, 3]
    assert none.votes_per_row.tolist() == [4] * 6
    assert members(none)[7] == set()


def test_labels_are_renamed_and_merged_one_by_one():
    rows = [tuple(cell.replace("dog", "DOG") if j == 1 else cell for j, cell in enumerate(row)) for row in ROWS]
    votes = read(file(rows=rows), multilabel=True, merge_spellings=True, labels={"cat": "feline", "owl": ""}).votes
    assert label_sets(votes).labels == ("dog", "feline")
    assert members(votes)[8] == {"feline"}  # owl|cat without the owl


def test_cells_with_the_same_labels_in_another_order_are_not_called_spellings():
    rows = [("cat|dog", "dog|cat", "cat", "dog|cat", "cat|dog")] * 2 + ROWS
    (told,) = [text for text in read(file(rows=rows), multilabel=True).report.sentences("changed") if "also as" in text]
    assert told.startswith("Cells with the same labels are one: ")


def test_one_label_is_a_question_of_its_own():
    votes = read(file(), one_label="dog").votes
    assert votes.classes.tolist() == ["no", "yes"]
    assert votes.codes[:3].tolist() == [[1, 1, 0, 1], [1, 1, 1, -1], [0, 0, -1, 0]]
    assert votes.truth.tolist() == [1, 1, 0, 0, 1, 0]
    assert not votes.separator
    with pytest.raises(InputError, match=r"no label 'fox' in these votes; there are 'cat', 'dog', 'owl'"):
        read(file(), one_label="fox")
    gold = read(file(), multilabel=True).votes.with_gold({"0": "cat|fox", "1": "dog|owl"})
    assert question(gold, "cat").gold.labels.tolist() == [1, 0]
    assert question(gold, "owl").gold.labels.tolist() == [0, 1]


def test_it_is_proposed_only_where_cells_clearly_hold_several_labels():
    sentences = read(file(rows=ROWS * 3)).report.sentences()
    assert any(text.startswith(f"{PROPOSAL}, with '|' between them") for text in sentences)
    with pytest.raises(InputError, match=r"Its cells seem to hold several labels, with '\|' between them"):
        read(file())  # more sets than rows
    assert proposed_separator({"cat;dog": 5, "dog;owl": 5, "cat;owl": 2}) == ";"
    assert proposed_separator({'["cat", "dog"]': 5, '["dog"]': 5, '["cat"]': 5}) == "|"
    assert proposed_separator({"Paris, France": 5, "Lyon, France": 5, "Rome, Italy": 4}) is None  # each city once
    assert proposed_separator({"yes, as far as I can see": 9, "no, as far as I can see": 9, "yes, no": 1}) is None
    assert proposed_separator({"cat": 99, "dog": 99, "cat|dog": 1}) is None  # a slip
    once = {"red": 9, "green": 9, "red, green": 5, "red, mauve": 1, "green, red": 2}
    assert proposed_separator(once) is None  # mauve may be part of a name
    assert proposed_separator(once | {"mauve": 1}) == ","
    assert proposed_separator({}) is None


def test_a_cell_that_only_looks_like_a_list_is_left_alone():
    assert Sets("|").parts('["cat", 1, null]') == ["cat", "1"]
    assert Sets("|").parts("[not json]") is None
    assert Sets("|").parts('[["cat"]]') is None
    assert Sets("|").parts(" | ") == []


@pytest.mark.parametrize("sign", ["", " ", "x", "and"])
def test_a_separator_is_a_sign(sign):
    if not sign:
        assert not read(file(rows=ROWS * 3), multilabel=sign).votes.separator
        return
    with pytest.raises(InputError, match="cannot separate labels"):
        read(file(), multilabel=sign)


def test_what_takes_one_label_says_so_and_how_to_open_one():
    votes = read(file(), multilabel=True).votes
    for doer in (lambda: train(votes, "deem"), lambda: compare(votes, ["mv"]), lambda: fuse(votes, "deem")):
        with pytest.raises(InputError, match=r"hold several labels at once.*--one-label 'cat'"):
            doer()
    with pytest.raises(InputError, match="have no order"):
        read(file(), multilabel=True, ordered=True)
    with pytest.raises(InputError, match="Check the separator"):
        as_label_sets(Votes.from_labels([["cat", "(none)"]] * 2))
