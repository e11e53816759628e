"""Pictures: drawings with their words, which hold in the app and in the report."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import pytest

from deem_core import GroupedDawidSkene, Votes, fuse, scorecard, simulation
from deem_core.comparison import MethodScore, compare
from deem_core.diagnostics import panel_health
from deem_core.diagnostics.inspection import inspect
from deem_core.diagnostics.rules import rule_table
from deem_core.estimators.irbm import IRBM
from deem_core.figures import Picture, numbers, pictures
from deem_core.model.records import Record
from deem_core.training.guidance import SMOOTHING
from deem_core.training.health import Restart
from deem_core.training.sweep import sweep
from deem_core.votes.agreement import pair_agreement, row_agreement
from deem_core.votes.describe import describe
from deem_core.votes.label_sets import as_label_sets
from deem_core.votes.orders import PositionBias
from tests.in_process import experts

RESTARTS = [Restart(0, 1, True, "", 0.9), Restart(0, 2, False, "A class died.", 0.1)]
RECORDS = [
    Record.from_dict(
        {
            **dict.fromkeys(Record.__dataclass_fields__, 0.0),
            "restart": restart,
            "update": update,
            "epoch": float(update),
            "shares": [0.5, 0.5],
        }
    )
    for restart in (0, 1)
    for update in (1, 2, 3)
]


@pytest.fixture(scope="module")
def votes():
    return experts()


@pytest.fixture(scope="module")
def found(votes):
    return inspect(IRBM(random_state=0).fit(votes.without_truth()), votes, rng=np.random.default_rng(0))


@pytest.fixture(scope="module")
def grouped():
    votes = simulation.tree(400, rng=np.random.default_rng(3)).votes
    return inspect(GroupedDawidSkene(random_state=0).fit(votes), votes, rng=np.random.default_rng(0))


@pytest.fixture(scope="module")
def all_pictures(votes, found, grouped):
    facts, classes = describe(votes), [str(label) for label in votes.classes]
    compared = compare(votes, methods=["mv", "ds"], random_state=0)
    one = replace(
        found.confusion, learners=votes.learners[:1], psi=found.confusion.psi[:1], support=found.confusion.support[:1]
    )
    swept = sweep(simulation.tree(60, rng=np.random.default_rng(0)).votes, rates=[0.1, 0.5], updates=20, device="cpu")
    methods = [MethodScore("fused", "Fused labels", 0.9, 0.9, (0.8, 0.95), (0.8, 0.95))]
    reason = found.review
    answered = fuse(votes, method="mv")
    shares = np.full(len(classes), 1 / len(classes))
    panel = panel_health(votes, np.random.default_rng(0))
    made = {
        "votes_per_class": pictures.votes_per_class(votes),
        "votes_per_label": pictures.votes_per_label(as_label_sets(Votes.from_labels([["a|b", "b"], ["a", "a|c"]]))),
        "pair_agreement": pictures.pair_agreement(pair_agreement(votes), votes.learners),
        "row_agreement": pictures.row_agreement(row_agreement(votes)),
        "coverage": pictures.coverage(facts, votes.learners),
        "position_bias": pictures.position_bias([PositionBias("gpt", "gpt/ab", "gpt/ba", 90, 30, 22, 6, 4)]),
        "rules": pictures.rules(rule_table(votes)),
        "shared_mistakes": pictures.shared_mistakes(panel),
        "class_coverage": pictures.class_coverage(panel),
        "learner_accuracy": pictures.learner_accuracy(facts, votes.learners, np.full(votes.n_learners, 9)),
        "shapes": pictures.shapes(),
        "example_rates": pictures.example_rates(),
        "example_training": pictures.example_training(),
        "example_influence": pictures.example_influence(),
        "example_dependence": pictures.example_dependence(),
        "example_methods": pictures.example_methods(),
        "sweep_energies": pictures.sweep_energies(swept, smoothing=SMOOTHING),
        "sweep_grouped": pictures.sweep_grouped(swept, smoothing=SMOOTHING),
        "energies": pictures.energies(RECORDS, RESTARTS, smoothing=0.5),
        "run_energies": pictures.run_energies({"a": (RECORDS, RESTARTS), "b": (RECORDS, [])}, smoothing=0.5),
        "shares_over_time": pictures.shares_over_time(RECORDS, ["a", "b"], [0.5, 0.5]),
        "sampler_health": pictures.sampler_health(RECORDS),
        "class_shares": pictures.class_shares(shares, shares, classes),
        "label_changes": pictures.label_changes(np.eye(len(classes), dtype=int), classes),
        "confidence": pictures.confidence([0, 0.5, 1], [1, 2]),
        "review_budget": pictures.review_budget([0, 0.5, 1], [1, 2], [1, 0], 0.5),
        "evaluation": pictures.evaluation(methods),
        "method_accuracy": pictures.method_accuracy(compared),
        "method_agreement": pictures.method_agreement(compared),
        "agreement_with_most": pictures.agreement_with_most(["DEEM"], [0.9], [[0.8, 1.0]]),
        "class_differences": pictures.class_differences({"a": 0.1}, with_truth=True),
        "influence": pictures.influence(found.influence),
        "influence_of_classes": pictures.influence_of_classes(
            found.influence, classes[:1], found.influence.overall, found.influence.overall
        ),
        "influence_where_overruled": pictures.influence_where_overruled(found.influence, found.influence),
        "group_tree": pictures.group_tree(grouped.groups),
        "group_opinion": pictures.group_opinion(grouped.groups, 0),
        "learner_in_group": pictures.learner_in_group(grouped.groups, 0),
        "influence_of_groups": pictures.influence_of_groups(found.influence),
        "experts": pictures.experts(found.influence, found.influence.experts()),
        "trust": pictures.trust(found, real=True),
        "scorecard": pictures.scorecard(scorecard(answered, inspection=found)),
        "confusion": pictures.confusion(one),
        "why": pictures.why(
            reason.learners, [None] * len(reason.learners), reason.contributions[0], fused="a", runner_up="b"
        ),
        "selective_accuracy": pictures.selective_accuracy(found.evaluation),
        "calibration": pictures.calibration(found.evaluation),
        "dependence": pictures.dependence(found.dependence),
        "dependence_over_layers": pictures.dependence_over_layers(found.dependence),
        "correlation": pictures.correlation(found.correlation),
    }
    assert set(made) == set(pictures.__all__)  # a new picture belongs in here
    return made


@pytest.mark.parametrize("name", pictures.__all__)
def test_every_picture_can_be_drawn_and_says_what_it_asks_and_shows(all_pictures, name):
    picture = all_pictures[name]
    assert picture.question.endswith("?")
    assert picture.alt.endswith(".")
    assert not picture.caption or picture.caption.endswith(".")
    assert picture.caption.count("**") % 2 == 0
    light, dark = picture.figure("light"), picture.figure("dark")
    assert light.layout.template != dark.layout.template
    assert picture.question not in light.to_json()


def test_no_two_pictures_are_explained_by_the_same_words(all_pictures):
    captions = [
        picture.caption for name, picture in all_pictures.items() if picture.caption and "influence_" not in name
    ]
    assert len(captions) == len(set(captions))
    questions = [picture.question for picture in all_pictures.values()]
    assert len(questions) == len(set(questions))


def test_a_tree_of_groups_names_everybody(grouped):
    tree = grouped.groups
    figure, alt = pictures.group_tree(tree).figure("light"), pictures.group_tree(tree).alt
    drawn = " ".join(text for trace in figure.data for text in trace.text or ())
    assert len(tree.members) == 3
    for name in (*tree.names, *tree.learners):
        assert name in drawn
        assert name in alt
    inside = pictures.group_tree(replace(tree, label_group=0)).figure("light")
    assert any("label</b>, of group 1" in text for trace in inside.data for text in trace.text or ())
    none = pictures.group_tree(replace(tree, members=(), opinions=tree.opinions[:0]))
    assert "no groups" in none.alt
    assert len(none.figure("dark").data) == len(tree.learners) + 2  # a line each, the learners, the label


def test_groups_are_not_called_near_copies(grouped):
    assert "near-copies" in pictures.influence_of_groups(grouped.voices).question
    other = pictures.influence_of_groups(grouped.voices, near_copies=False)
    assert "near-copies" not in (other.question + other.caption + other.alt).lower()


def test_the_question_stands_above_a_picture_on_request():
    picture = Picture("Who <b>decides?", lambda theme: go.Figure(), "A drawing.")
    assert picture.figure("light").layout.title.text is None
    assert picture.figure("light", titled=True).layout.title.text == "<b>Who &lt;b&gt;decides?</b>"


def test_bold_in_a_caption_is_markup_and_nothing_else_is():
    picture = Picture("?", lambda theme: go.Figure(), "", "**Good:** a < b & <script>**x**</script> 2 * 3 ** 4")
    assert picture.caption_html() == (
        "<strong>Good:</strong> a &lt; b &amp; &lt;script&gt;<strong>x</strong>&lt;/script&gt; 2 * 3 ** 4"
    )


def test_json_of_a_picture_cannot_end_a_script():
    picture = Picture("?", lambda theme: go.Figure(layout={"title": {"text": "</script>"}}), "")
    assert not set("<>") & set(picture.json("light"))
    assert json.loads(picture.json("light"))["layout"]["title"]["text"] == "</script>"


def test_curves_that_were_left_out_and_second_trainings_are_explained():
    kept, dropped = RESTARTS
    plain = pictures.energies(RECORDS, [kept, kept], smoothing=0.5).caption
    assert "Dotted" not in plain
    assert "near-copies" not in plain
    assert "Dashed in red: left out" in pictures.energies(RECORDS, [kept, dropped], smoothing=0.5).caption
    second = [kept, kept, replace(kept, training=1)]
    assert "Restarts from 3 on" in pictures.energies(RECORDS, second, smoothing=0.5).caption


def test_dependence_is_drawn_of_the_average_of_one_class_or_of_all(found):
    given = found.dependence
    classes = list(given.layers[0].classes)

    def strongest(picture):
        return max(
            np.nanmax(np.asarray(cells.z, float)) for cells in picture.figure("light").data if cells.z is not None
        )

    def largest(matrices):
        off = matrices[..., ~np.eye(matrices.shape[-1], dtype=bool)]
        return np.nanmax(off)

    first = given.layers[0]
    assert strongest(pictures.dependence(given)) == pytest.approx(largest(first.mean_matrix))
    assert strongest(pictures.dependence(given, classes[1:2])) == pytest.approx(largest(first.information[1]))
    assert strongest(pictures.dependence(given, classes)) == pytest.approx(largest(first.information))


def test_the_average_over_classes_is_not_called_a_label(found):
    given = found.dependence
    label = given.layers[0].classes[1]
    average, one = (numbers(pictures.dependence(given, own).figure("light")) for own in (None, [label]))
    units = ["learner", "other learner"] if len(given.layers) == 1 else ["unit", "other unit"]
    shown = [*units, "mutual information (nats)", "in words"]  # titles beside panels are classes, not whose names
    assert list(average) == shown
    assert list(one) == ["series", *shown]
    assert set(one["series"]) == {label}
    assert average["in words"].str.contains(" nats, average over classes; ").all()
    assert not average["in words"].str.contains("given the label").any()
    assert one["in words"].str.contains(f" nats given the label {label}; ", regex=False).all()


def test_a_legend_above_bars_has_no_larger_title_than_entries():
    bias = PositionBias("judge", "judge/ab", "judge/ba", 10, 4, towards_first=3, towards_second=1, single=0)
    legend = pictures.position_bias([bias], merged=False).figure("light").layout
    assert legend.legend.title.font.size <= legend.template.layout.font.size


def test_of_many_units_those_that_depend_most_are_drawn(found):
    cut = pictures.dependence(found.dependence, most_units=2)
    assert cut.caption.endswith("Only the 2 most dependent are drawn.")
    assert "most dependent are drawn" not in pictures.dependence(found.dependence, most_units=100).caption
    first = found.dependence.layers[0]
    matrix = np.where(np.eye(len(first.units), dtype=bool), -1, first.mean_matrix)
    pair = np.unravel_index(np.nanargmax(matrix), matrix.shape)
    names = {str(name) for name in cut.figure("light").data[0].x}
    assert names == {first.units[at] for at in pair}


def test_the_scale_of_colours_is_told_in_nats(found):
    layer = found.dependence.layers[0]
    weak = replace(found.dependence, layers=(replace(layer, information=0 * layer.information + 0.01),))
    assert "The strongest cell is 0.01 nats, which is very little." in pictures.dependence(weak).caption
    strong = replace(found.dependence, layers=(replace(layer, information=0 * layer.information + 1),))
    assert "The strongest cell is 1 nats. " in pictures.dependence(strong).caption


def test_heatmaps_side_by_side_are_moved_on_a_phone_and_one_alone_is_not(found):
    layer = found.dependence.layers[0]
    assert pictures.dependence(replace(found.dependence, layers=(layer, layer))).scrolls
    assert not pictures.dependence(replace(found.dependence, layers=(layer,))).scrolls


def test_helpers_of_figures_are_used_by_figures_alone():
    root = Path(__file__).parents[3]
    files = [path for place in ("deem_core", "studio", "pages", "benchmarks") for path in (root / place).rglob("*.py")]
    outside = [path for path in files if root / "deem_core" / "figures" not in path.parents]
    assert outside
    assert not [path.name for path in outside if "figures._" in path.read_text(encoding="utf-8")]
