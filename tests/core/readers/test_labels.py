"""Labels merged, named, ordered and ignored while a file is read."""

import io
import json

import numpy as np
import pytest

from deem_core import InputError, read
from deem_core.diagnostics.checkup import checkup
from deem_core.readers import Wish, label_table, may_be_one, read_labels, wished_map, write_labels
from deem_core.readers.large import open_large

CLASSES = ("ham", "not sure", "promo", "spam")
STYLES = (str, str.upper, lambda text: f" {text.replace(' ', '_').title()} ", lambda text: f"'{text}.'")
N, D = 150, 6


def made(messy, *, rows=N, layout="wide", truth=True, copies=False):
    """A file whose learners each spell labels in a way of their own, or all alike."""
    rng = np.random.default_rng(3)
    true = rng.integers(0, 4, rows)
    codes = np.where(rng.random((rows, D)) < 0.75, true[:, None], rng.integers(0, 4, (rows, D)))
    if copies:
        codes[:, 1] = codes[:, 0]
    style = [STYLES[(j % len(STYLES)) if messy else 0] for j in range(D + 1)]
    cells = [[style[j](CLASSES[code]) for j, code in enumerate(row)] for row in codes]
    right = [style[D](CLASSES[code]) for code in true]
    if layout == "long":
        lines = [f"r{i},w{j},{cell},{right[i]}" for i, row in enumerate(cells) for j, cell in enumerate(row)]
        return "\n".join(["task,worker,label,truth", *lines]).encode()
    head = ["id", *(f"a{j}" for j in range(D)), *(["truth"] if truth else [])]
    lines = [",".join([f"r{i}", *row, *([right[i]] if truth else [])]) for i, row in enumerate(cells)]
    return "\n".join([",".join(head), *lines]).encode()


def same(one, other):
    keys = [str(label).strip(" '.").replace("_", " ").casefold() for label in one.classes]
    assert keys == other.classes.tolist()
    np.testing.assert_array_equal(one.codes, other.codes)
    np.testing.assert_array_equal(one.truth, other.truth)
    assert not len(one.truth_only)


@pytest.mark.parametrize("layout", ["wide", "long"])
def test_merged_votes_are_those_of_a_cleaned_file(layout):
    messy, clean = made(True, layout=layout), made(False, layout=layout)
    assert read(messy).votes.n_classes > 4
    same(read(messy, merge_spellings=True).votes, read(clean).votes)


def test_a_merged_class_has_the_name_of_its_commonest_spelling():
    reading = read(b"a,b,c\nSpam,spam,spam\nham,HAM,ham\nSpam,spam,ham\n", merge_spellings=True)
    assert reading.votes.classes.tolist() == ["ham", "spam"]
    assert "'ham' also as 'HAM'; 'spam' also as 'Spam'" in " ".join(reading.report.sentences("changed"))


def test_merging_finds_learners_that_share_no_spelling():
    file = b"a,b,c\n" + b"spam,SPAM,Spam\nham,HAM,Ham\n" * 10
    assert read(file, merge_spellings=True).votes.n_learners == 3


def test_cells_stay_as_they_were():
    reading = read(made(True), merge_spellings=True)
    assert "'ham.'" in reading.source.table["a3"].to_pylist()


def test_labels_are_named_ordered_and_ignored():
    file = b"a,b,c,truth\n" + b"0,1,1,1\n1,1,0,1\n0,0,2,0\n9,0,0,9\n" * 5
    names = {"1": "spam", "0": "ham", "9": None}
    votes = read(file, labels=names).votes
    assert votes.classes.tolist() == ["spam", "ham", "2"]
    assert votes.codes[:4].tolist() == [[1, 0, 0], [0, 0, 1], [1, 1, 2], [-1, 1, 1]]
    assert votes.truth[:4].tolist() == [0, 0, 1, -1]


def test_a_truth_file_and_gold_labels_go_through_the_same_map():
    lines = ["id,a,b,c,known"] + [
        f"r{i},{i % 2},{i % 2},{(i + i // 7) % 2},{'' if i > 3 else i % 2}" for i in range(20)
    ]
    file, names = "\n".join(lines).encode(), {"0": "ham", "1": "spam"}
    truth = io.BytesIO(b"id,truth\nr5,SPAM\nr6,0\nr7,Ham\n")
    gold = io.BytesIO(b"id,label\nr1,1\nr2,HAM\nr2,ham\n")
    votes = read(file, labels=names, merge_spellings=True, truth_file=truth, gold_file=gold, ignore=["known"]).votes
    assert votes.truth[[5, 6, 7]].tolist() == [1, 0, 0]
    assert not len(votes.truth_only)
    assert votes.gold.codes[[1, 2]].tolist() == [1, 0]
    assert not len(votes.gold.only)
    column = read(file, labels=names, gold="known").votes.gold
    assert column.codes[:5].tolist() == [0, 1, 0, 1, -1]


def test_probabilities_of_merged_classes_are_added_and_those_of_ignored_ones_left_out():
    head = [f"{judge}:{name}" for judge in ("p", "q", "r") for name in ("Spam", "spam", "ham", "unsure")]
    rows = ["0.25,0.25,0.25,0.25," * 3, "0.1,0.2,0.7,0.0," * 3, "0,0,0,1," * 3]
    file = "\n".join([",".join(head), *(row.rstrip(",") for row in rows * 4)]).encode()
    votes = read(file, merge_spellings=True, labels={"unsure": ""}).votes
    assert [str(label).casefold() for label in votes.classes] == ["ham", "spam"]
    np.testing.assert_allclose(votes.soft[0, 0], [1 / 3, 2 / 3], rtol=1e-6)
    np.testing.assert_allclose(votes.soft[1, 0], [0.7, 0.3], rtol=1e-6)
    assert votes.codes[:3, 0].tolist() == [1, 0, -1]


def test_a_file_read_in_parts_has_the_same_votes(tmp_path):
    path = tmp_path / "messy.csv"
    path.write_bytes(made(True))
    options = {"merge_spellings": True, "labels": {"spam": "junk", "promo": ""}}
    whole = read(path, **options).votes
    large = open_large(path, **options)
    assert large.classes.tolist() == whole.classes.tolist()
    assert whole.classes[0] == "junk"
    codes = [part.votes.codes for part in large.parts(40)]
    np.testing.assert_array_equal(np.concatenate(codes), whole.codes)
    np.testing.assert_array_equal(np.concatenate([part.votes.truth for part in large.parts(40)]), whole.truth)


# ---------------------------------------------------------------------- what is found


def test_spellings_are_the_first_finding_and_their_symptoms_are_not_told():
    messy, clean = read(made(True, copies=True)).votes, read(made(False, copies=True)).votes
    first, *rest = checkup(messy)
    assert first.kind == "spellings"
    assert first.title == "16 spellings look like 4 classes"
    assert [finding.kind for finding in rest] == [finding.kind for finding in checkup(clean)]
    assert "identical_learners" in {finding.kind for finding in rest}  # hidden by the spellings otherwise
    assert not {"unpredicted_classes", "rare_classes"} & {finding.kind for finding in rest}


def test_labels_that_may_be_one_are_a_note():
    file = b"a,b,c\n" + b"not spam,notspam,ham\nham,ham,notspam\n" * 20
    found = [finding for finding in checkup(read(file).votes) if finding.kind == "similar_labels"]
    assert [finding.severity for finding in found] == ["note"]
    assert set(found[0].classes) == {"not spam", "notspam"}


# ---------------------------------------------------------------------- tables and files of labels


@pytest.mark.parametrize("layout", ["wide", "long"])
def test_the_table_counts_labels_as_the_file_spells_them(layout):
    reading = read(made(True, layout=layout), merge_spellings=True)
    rows = label_table(reading.source, reading.report, reading.votes, reading.labels)
    assert sum(row.votes for row in rows) == N * D
    assert len({row.name for row in rows}) == 4
    assert {row.learners for row in rows} == {1, 2}  # a0 and a4, a1 and a5 share a style


def test_the_table_of_probabilities_counts_most_probable_classes():
    head = [f"{judge}:{name}" for judge in ("p", "q", "r") for name in ("Spam", "spam", "ham")]
    file = "\n".join([",".join(head), *[",".join(["0.5,0.2,0.3", "0.1,0.8,0.1", "0,0.1,0.9"])] * 4]).encode()
    reading = read(file, merge_spellings=True)
    rows = label_table(reading.source, reading.report, reading.votes, reading.labels)
    assert {(row.label, row.votes, row.learners) for row in rows} == {("Spam", 4, 1), ("spam", 4, 1), ("ham", 4, 1)}


def test_the_table_of_labels_with_a_probability_each_counts_the_labels():
    rows = ["x,.9,y,.8,x,.7", "y,.6,y,.9,x,.8", "x,.7,,,y,.9"] * 4
    file = "\n".join(["p_verdict,p_prob,q_verdict,q_prob,r_verdict,r_prob", *rows]).encode()
    reading = read(file)
    assert reading.votes.learners == ("p", "q", "r")
    table = label_table(reading.source, reading.report, reading.votes, reading.labels)
    assert [(row.label, row.name, row.votes, row.learners) for row in table] == [("x", "x", 16, 2), ("y", "y", 16, 3)]


@pytest.mark.parametrize("name", ["labels.csv", "labels.json"])
def test_a_file_of_labels_can_be_edited_and_read(tmp_path, name):
    reading = read(made(True), merge_spellings=True)
    rows = label_table(reading.source, reading.report, reading.votes, reading.labels)
    write_labels(rows, tmp_path / name)
    pairs = read_labels(tmp_path / name)
    assert len(pairs) == len(rows)
    votes = read(made(True), labels=pairs).votes  # without merge_spellings: the file says it all
    np.testing.assert_array_equal(votes.codes, reading.votes.codes)
    assert votes.classes.tolist() == reading.votes.classes.tolist()


def test_names_may_be_json_itself():
    assert read_labels('{"1": "spam", "0": null}') == (("1", "spam"), ("0", ""))
    assert read_labels('[{"label": 1, "name": "spam"}]') == (("1", "spam"),)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", "from,to\n1,spam\n", "needs the columns label and name"),
        ("a.json", "{1: 2}", "is not JSON"),
        ("a.json", json.dumps([{"name": "x"}]), "needs a 'label' in each entry"),
        ("a.json", "3", "pairs of a label and its name"),
    ],
)
def test_a_file_that_names_no_labels_is_refused(tmp_path, name, content, said):
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(InputError) as caught:
        read_labels(path)
    assert said in str(caught.value)


def table_of(file, **options):
    reading = read(file, **options)
    return label_table(reading.source, reading.report, reading.votes, reading.labels, merged=True), reading.labels


def test_merged_spellings_are_one_row_of_the_table():
    rows, _ = table_of(made(True), merge_spellings=True)
    assert [row.label.casefold() for row in rows] == list(CLASSES)
    assert [len(row.also) for row in rows] == [3] * 4
    assert {row.learners for row in rows} == {D}


def test_wishes_rename_merge_order_and_ignore():
    rows, labels = table_of(made(False))
    assert wished_map(rows, [Wish(row.label, row.label, at) for at, row in enumerate(rows)], labels).plain
    names = {"ham": "good", "not sure": "", "promo": "spam", "spam": "spam"}
    wish = wished_map(rows, [Wish(row.label, names[row.label], -at) for at, row in enumerate(rows)], labels)
    assert dict(wish.names) == names
    votes = read(made(False), labels=wish.names).votes
    assert votes.classes.tolist() == ["spam", "good"]  # by the order that was wished
    again, given = table_of(made(False), labels=wish.names)
    assert {row.label: row.name for row in again} == names
    assert given.to_options() == wish.to_options()


def test_another_order_alone_is_a_wish():
    rows, labels = table_of(made(False))
    wish = wished_map(rows, [Wish(row.label, row.label, -at) for at, row in enumerate(rows)], labels)
    assert read(made(False), labels=wish.names).votes.classes.tolist() == list(CLASSES)[::-1]


def test_classes_that_may_be_one_are_suggested():
    rows, _ = table_of(b"a,b,c\n" + b"not spam,notspam,ham\nham,ham,not spam\n" * 20)
    assert may_be_one(rows) == [("not spam", "notspam")]


def test_a_text_that_is_left_out_is_quoted_as_the_file_spells_it():
    rows = b"".join(b"Text %d,spam,Spam,ham\nText %d,HAM,ham,ham\n" % (i, i) for i in range(9))
    reading = read(b"words,a,b,c\n" + rows, merge_spellings=True)
    assert "'Text 0', 'Text 1', 'Text 2'" in " ".join(reading.report.sentences("left out"))
