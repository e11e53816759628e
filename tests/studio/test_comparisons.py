"""Tables of methods and of disputed rows."""

from types import SimpleNamespace

import numpy as np
import pytest

from deem_core.comparison.result import Agreement, Comparison, MethodResult
from deem_core.votes import Votes
from studio import comparisons

LABELS = {
    "mv": np.array([0, 0, 1, 1, -1], np.int32),
    "ds": np.array([0, 1, 1, 1, -1], np.int32),
    "onecoin": np.array([0, 0, 1, 0, -1], np.int32),
}


@pytest.fixture
def opened():
    codes = np.array([[0, 0, 0], [0, 1, 0], [1, 1, -1], [1, 0, 1], [-1, -1, -1]], np.int32)
    votes = Votes(codes, np.array(["no", "yes"], object), ("a", "b", "DEEM"), np.array(list("vwxyz"), object))
    return SimpleNamespace(reading=SimpleNamespace(votes=votes))


def method(name, **known):
    return MethodResult(**{"name": name, "title": name.upper(), "stochastic": False, "seeds": 1, **known})


def comparison(*methods, n_truth=4):
    return Comparison(
        n_rows=5,
        n_learners=3,
        n_classes=2,
        n_truth=n_truth,
        classes=["no", "yes"],
        methods=methods,
        agreement=Agreement(names=[], matrix=[]),
        n_disputed=2,
    )


def test_agreement_is_with_the_majority_of_methods_on_rows_with_votes():
    assert comparisons.agreement_with_consensus(LABELS) == {"mv": 1.0, "ds": 0.75, "onecoin": 0.75}
    assert comparisons.agreement_with_consensus({}) == {}


def test_intervals_of_agreement_rest_on_the_rows_with_votes():
    found = comparisons.consensus_intervals(LABELS)
    np.testing.assert_allclose(found["ds"], [0.3006, 0.9544], atol=1e-4)  # Wilson, 3 of 4
    assert found["mv"][1] == 1.0
    assert comparisons.consensus_intervals({}) == {}


def test_disputed_rows_come_with_the_label_of_every_method_and_every_vote(opened):
    number, rows = comparisons.disputed(opened.reading.votes, LABELS, None, None)
    assert number == 2
    assert rows["id"].tolist() == ["w", "y"]
    assert rows["row"].tolist() == [2, 4]
    assert rows["Dawid-Skene"].tolist() == ["yes", "yes"]
    assert rows["DEEM (vote)"].tolist() == ["no", "yes"]


def test_a_pair_shows_only_the_rows_on_which_the_two_differ(opened):
    number, rows = comparisons.disputed(opened.reading.votes, LABELS, "mv", "ds")
    assert (number, rows["id"].tolist()) == (1, ["w"])
    assert "One-coin Dawid-Skene" not in rows


def test_a_missing_vote_is_an_empty_cell(opened):
    labels = {"mv": LABELS["mv"], "ds": np.array([0, 0, 0, 1, -1], np.int32)}
    _, rows = comparisons.disputed(opened.reading.votes, labels, None, None)
    assert rows["DEEM (vote)"].tolist() == [""]


def test_columns_without_any_number_are_left_out(tmp_path):
    known = {"accuracy": 0.8, "intervals": {"accuracy": [0.7, 0.9]}, "seconds": 1.0}
    found = comparison(method("mv", **known), method("ds", **known | {"accuracy": 0.9, "std": {"accuracy": 0.01}}))
    table = comparisons.ranked(found, None)
    assert table["method"].tolist() == ["DS", "MV"]
    assert table["95% interval"].tolist() == ["70.0% to 90.0%"] * 2
    assert not {"MB", "note"} & set(table)
    assert "± seeds" in table
    assert "± seeds" not in comparisons.ranked(comparison(method("mv", **known)), None)


def test_methods_that_could_not_run_come_last_with_their_reason():
    found = comparison(method("ebcc", seeds=0, note="Too many classes."), method("mv", accuracy=0.8, seconds=1.0))
    table = comparisons.ranked(found, None)
    assert table["method"].tolist() == ["MV", "EBCC"]
    assert table["note"].tolist() == ["", "Too many classes."]


def test_differences_are_of_recall_with_truth_and_of_shares_without():
    ours = {"recalls": [0.9, None], "shares": [0.75, 0.25]}
    theirs = {"recalls": [0.5, 0.5], "shares": [0.5, 0.5]}
    methods = method("ds", **ours), method("mv", **theirs)
    assert comparisons.class_differences(comparison(*methods), "ds", "mv") == {"no": pytest.approx(0.4)}
    assert comparisons.class_differences(comparison(*methods, n_truth=0), "ds", "mv") == {"no": 0.25, "yes": -0.25}


def test_settings_hold_plain_values_only():
    config = comparisons.config(["mv"], seeds=2, budget=60, experts=[np.int64(3), "x"], device="cpu")
    assert config["expert_classes"] == [3, "x"]
    assert type(config["expert_classes"][0]) is int
    assert "expert_classes" not in comparisons.config(["mv"], seeds=2, budget=60, experts=[], device="auto")


def test_disputed_rows_tell_how_many_methods_agree_and_the_truth_where_it_is_known(opened):
    _, rows = comparisons.disputed(opened.reading.votes, LABELS, None, None)
    assert rows["methods agreeing"].tolist() == ["2 of 3", "2 of 3"]
    assert "truth" not in rows
    votes = opened.reading.votes
    truth = np.array([0, 2, 1, -1, 0], np.int32)
    known = Votes(votes.codes, votes.classes, votes.learners, votes.ids, truth, truth_only=np.array(["maybe"], object))
    told = comparisons.disputed(known, LABELS, None, None)[1]
    assert told["truth"].tolist() == ["maybe", ""]
    assert told["Dawid-Skene"].tolist() == rows["Dawid-Skene"].tolist()


def test_refusals_are_told_once_with_the_methods_they_hold_for():
    found = comparison(
        method("mv"),
        method("dnn_det", seeds=0, note="No."),
        method("hlm", seeds=0, note="Why."),
        method("dnn_sto", seeds=0, note="No."),
    )
    assert comparisons.refusals(found) == {"No.": ["DNN_DET", "DNN_STO"], "Why.": ["HLM"]}
