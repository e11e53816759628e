"""What the Inspect pages say and show of an inspection."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from deem_core.diagnostics.experts import Expert
from deem_core.diagnostics.inspection import inspect
from deem_core.errors import InputError
from deem_core.estimators.irbm import IRBM
from deem_core.figures import bar_names
from studio.export import results
from studio.inspect import frame, inspections, words
from studio.train import trainings
from tests.in_process import experts


@pytest.fixture(scope="module")
def votes():
    return experts()


@pytest.fixture(scope="module")
def found(votes):
    return inspect(IRBM(random_state=0).fit(votes.without_truth()), votes, rng=np.random.default_rng(0))


def test_influence_on_classes_and_on_the_rest_adds_up_to_the_whole(found):
    importance = found.influence
    subset, rest = inspections.of_classes(importance, importance.classes[:2])
    share = importance.class_share[:2].sum() / importance.class_share.sum()
    whole, none = inspections.of_classes(importance, importance.classes)
    np.testing.assert_allclose(share * subset + (1 - share) * rest, whole)
    assert np.isnan(none).all()
    one, _ = inspections.of_classes(importance, importance.classes[1:2])
    np.testing.assert_allclose(one, importance.by_class[:, 1])


def test_a_clicked_bar_is_found_by_its_short_name():
    long = ("a_very_long_name_of_a_learner_1", "a_very_long_name_of_a_learner_2", "<b>")
    importance = SimpleNamespace(subjects=long)
    for shown, name in zip(bar_names(long), long, strict=True):
        assert inspections.clicked_learner({"selection": {"points": [{"y": shown}]}}, importance) == name
    assert inspections.clicked_learner({"selection": {"points": []}}, importance) is None
    assert inspections.clicked_learner({"selection": {"points": [{"y": "nobody"}]}}, importance) is None


def test_rows_are_found_by_id_first_and_by_number_from_1_else(votes):
    opened = SimpleNamespace(reading=SimpleNamespace(votes=votes))
    assert inspections.row_of(opened, " r7 ") == 7
    assert inspections.row_of(opened, "1") == 0
    numbered = SimpleNamespace(n_rows=3, has_ids=True, ids=np.array(["3", "2", "1"], object))
    assert inspections.row_of(SimpleNamespace(reading=SimpleNamespace(votes=numbered)), "3") == 0
    for nobody in ("0", "301", "-1", "r", "²", "9" * 5000):
        with pytest.raises(InputError, match="There is no row"):
            inspections.row_of(opened, nobody)


def test_a_reason_speaks_in_labels(found):
    reason = inspections.reason(found.review, 0)
    table = inspections.review_table(found)
    assert (reason.id, reason.fused, reason.runner_up) == tuple(table.loc[0, ["id", "fused label", "runner-up"]])
    assert set(reason.votes) <= {*found.classes, None}
    assert reason.confidence >= reason.runner_up_probability


def test_copies_are_named_as_one_learner(found):
    given = found.evaluation.dependence
    assert words.groups_in_words(given) == ["ann, ann_2, ann_3 behave like one learner."]


def test_the_table_of_layers_has_means_with_spread(found):
    table = words.layers_table(found.dependence)
    assert table["layer"].tolist() == [layer.name for layer in found.dependence.layers]
    assert table["largest pair (nats)"].str.fullmatch(r"\d\.\d{3} ± \d\.\d{3}").all()


@pytest.mark.parametrize("name", ["learners", "importance_by_class", "confusion", "review", "evaluation_confusion"])
def test_every_table_on_offer_can_be_made(found, name):
    assert not frame._missing(found, name)
    assert isinstance(frame._table(found, name), pd.DataFrame)


def test_tables_are_safe_in_a_spreadsheet_and_commas_stay_in_their_cell():
    frame = pd.DataFrame({"learner": ["=1+1", "a, b"], "influence": [0.5, 0.25]})
    assert results.frame_bytes(frame).decode() == 'learner,influence\n"\'=1+1",0.5\n"a, b",0.25\n'


def test_all_pairs_of_every_class_are_on_offer(found):
    table = frame._table(found, frame.PAIRS)
    d, layers = len(found.learners), found.dependence.layers
    assert len(table) == len(layers) * len(layers[0].classes) * d * (d - 1) // 2


def test_what_truth_says_of_confidence_is_told_with_its_numbers(found):
    said = words.calibration_words(found.evaluation)
    assert "of 300 rows with known truth" in said
    assert f"{100 * found.evaluation.calibration.error:.1f} points" in said


def test_experts_are_named_a_line_for_each_learner(found):
    cells = [Expert("bob", "z", 3.0, 2.0), Expert("ann", "x", 2.0, 2.0), Expert("bob", "x", 2.5, 1.5)]
    assert inspections.experts_in_words(cells, ("x", "y", "z")) == [
        "“bob” for classes “x” and “z”: 2.5 and 3.0 times as much influence as the median learner",
        "“ann” for class “x”: 2.0 times as much influence as the median learner",
    ]
    said = words.experts_said(found, cells, 4, majority=False)
    assert said.startswith(":material/lightbulb: **Likely experts**")
    assert said.endswith("- and 4 weaker ones")
    assert "has no experts" in words.experts_said(found, [], 0, majority=True)
    few = replace(found, influence=replace(found.influence, class_rows=np.full(len(found.classes), 3)))
    assert "too few to tell" in words.experts_said(few, [], 0, majority=False)


def test_of_many_classes_those_with_enough_rows_are_shown():
    rows = np.array([5, 30, *[1] * 60, 25])
    many = SimpleNamespace(classes=tuple(map(str, range(63))), class_rows=rows, enough=rows >= 20)
    assert inspections.classes_with_rows(many).tolist() == [1, 62]
    few = SimpleNamespace(classes=("x", "y"), class_rows=rows[:2], enough=rows[:2] >= 20)
    assert inspections.classes_with_rows(few).tolist() == [0, 1]


def test_a_confusion_that_is_not_kept_is_counted_from_the_labels(found, votes, monkeypatch):
    opened = SimpleNamespace(reading=SimpleNamespace(votes=votes), votes_of=lambda run: votes)
    fused = votes.majority_vote.codes
    monkeypatch.setattr(trainings, "outcome", lambda run, opened: SimpleNamespace(codes=fused))
    kept, real = inspections.confusion_of(found, None, opened, "bob")
    assert kept.psi.shape == real.psi.shape == (1, votes.n_classes, votes.n_classes)
    counted, same = inspections.confusion_of(replace(found, confusion=None), None, opened, "bob")
    own = votes.codes[:, votes.learners.index("bob")]
    for label in range(votes.n_classes):
        rows = fused == label
        assert counted.support[0, label] == rows.sum()
        np.testing.assert_allclose(counted.psi[0, label, label], (own[rows] == label).mean())
    np.testing.assert_allclose(same.psi, real.psi)


def test_tables_do_not_show_zeros_that_are_none():
    assert words._spread({"floor": 0.0004, "floor_std": 0.0002}, "floor") == "below 0.001"
    assert words._spread({"floor": 0.4, "floor_std": 0.0002}, "floor") == "0.400 ± 0.000"
