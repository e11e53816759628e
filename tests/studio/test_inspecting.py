"""What the Inspect pages say and show of an inspection."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from deem_core.diagnostics.inspection import inspect
from deem_core.errors import InputError
from deem_core.estimator import IRBM
from deem_core.figures.names import bar_names
from studio import inspecting, inspections, results
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
        assert inspections.clicked({"selection": {"points": [{"y": shown}]}}, importance) == name
    assert inspections.clicked({"selection": {"points": []}}, importance) is None
    assert inspections.clicked({"selection": {"points": [{"y": "nobody"}]}}, importance) is None


def test_rows_are_found_by_id_first_and_by_number_from_1_else(votes):
    opened = SimpleNamespace(reading=SimpleNamespace(votes=votes))
    assert inspections.row_of(opened, " r7 ") == 7
    assert inspections.row_of(opened, "1") == 0
    numbered = SimpleNamespace(n_rows=3, ids=np.array(["3", "2", "1"], object))
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
    assert inspecting.groups_in_words(given) == ["ann, ann_2, ann_3 behave like one learner."]


def test_matrices_are_of_the_average_of_one_class_or_of_all(found):
    given = found.dependence
    for which, count in (("average", 1), (given.layers[0].classes[0], 1), ("all", len(given.layers[0].classes))):
        matrices, names = inspecting.dependence_of(given, which, "average")
        assert [len(matrix) for matrix in matrices] == [count] * len(given.layers)
        assert len(names) == count
    matrices, _ = inspecting.dependence_of(given, given.layers[0].classes[1], "average")
    np.testing.assert_array_equal(matrices[0][0], given.layers[0].information[1])


def test_the_scale_of_colours_is_told_in_nats():
    weak = np.array([[[np.nan, 0.01], [0.01, np.nan]]])
    assert "0.01 nats, which is very little" in inspecting.scale_words([weak])
    assert inspecting.scale_words([weak, 100 * weak]) == " The strongest cell is 1 nats."
    assert inspecting.scale_words([np.full((1, 2, 2), np.nan)]) == ""


def test_the_table_of_layers_has_means_with_spread(found):
    table = inspecting.layers_table(found.dependence)
    assert table["layer"].tolist() == [layer.name for layer in found.dependence.layers]
    assert table["largest pair (nats)"].str.fullmatch(r"\d\.\d{3} ± \d\.\d{3}").all()


@pytest.mark.parametrize("name", ["learners", "importance_by_class", "confusion", "review", "evaluation_confusion"])
def test_every_table_on_offer_can_be_made(found, name):
    assert not inspecting._missing(found, name)
    assert isinstance(inspecting._table(found, name), pd.DataFrame)


def test_tables_are_safe_in_a_spreadsheet_and_commas_stay_in_their_cell():
    frame = pd.DataFrame({"learner": ["=1+1", "a, b"], "influence": [0.5, 0.25]})
    assert results.frame_bytes(frame).decode() == 'learner,influence\n"\'=1+1",0.5\n"a, b",0.25\n'


def test_all_pairs_of_every_class_are_on_offer(found):
    table = inspecting._table(found, inspecting.PAIRS)
    d, layers = len(found.learners), found.dependence.layers
    assert len(table) == len(layers) * len(layers[0].classes) * d * (d - 1) // 2


def test_what_truth_says_of_confidence_is_told_with_its_numbers(found):
    said = inspecting.calibration_words(found.evaluation)
    assert "of 300 rows with known truth" in said
    assert f"{100 * found.evaluation.calibration.error:.1f} points" in said
