"""The pictures of the Learners and Dependence pages show what they were given, by name, however much it is."""

import inspect
import json

import numpy as np
import pytest

from deem_core import figures
from deem_core.diagnostics.calibration import reliability_curve, selective_accuracy
from deem_core.figures._axes import with_question
from deem_core.figures._cells import DARK, LIGHT
from deem_core.figures._placement import GAP, LETTER, LINE, places_of_names
from deem_core.figures._theme import THEMES

WICKED = "<script>%{x}</script> & Co"
NAMES = ["ann", "bob", "cleo", "dan"]
CLASSES = ["cat", "dog", WICKED]
RNG = np.random.default_rng(0)
PSI = np.array([[0.8, 0.12, 0.1], [0.15, 0.88, 0.2], [0.05, 0.0, 0.7]])  # vote, label
SCORE = np.linspace(0.34, 1, 300)
RIGHT = np.arange(300) % 3 > 0
NAN = float("nan")


def information(*, layers=2, classes=3, units=4):
    values = RNG.random((layers, classes, units, units))
    return (values + values.swapaxes(2, 3)) / 2


def pictures(theme="light", names=NAMES):
    """One of each, wicked names and all."""
    d = len(names)
    names = [*names[:-1], WICKED]
    curve = reliability_curve(SCORE, RIGHT)
    sure = selective_accuracy(SCORE, RIGHT)
    return {
        "influence_bars": figures.influence_bars(
            names, np.arange(d), spread=np.ones(d), noise=0.2, highlight=[WICKED], theme=theme
        ),
        "influence_panels": figures.influence_panels(
            np.arange(d), np.ones(d), names, subset_name=WICKED, rest_name="rest", theme=theme
        ),
        "influence_heatmap": figures.influence_heatmap(RNG.random((d, 3)), names, CLASSES, theme=theme),
        "trust_scatter": figures.trust_scatter(names, RNG.random(d), RNG.random(d), real=RNG.random(d), theme=theme),
        "confusion_matrix": figures.confusion_matrix(PSI, CLASSES, learner=WICKED, theme=theme),
        "confusion_pair": figures.confusion_pair(PSI, PSI, CLASSES, learner=WICKED, theme=theme),
        "dependence_grid": figures.dependence_grid(
            information(units=d), names, ["input", WICKED], CLASSES, order="file", theme=theme
        ),
        "dependence_summary": figures.dependence_summary(
            ["input", WICKED], [1, 2], [0.1, 0.1], [0.3, 0.4], [0.1, 0.1], floor=[0.2, 0.1], theme=theme
        ),
        "correlation_heatmap": figures.correlation_heatmap(np.eye(d), names, theme=theme),
        "selective_accuracy_curve": figures.selective_accuracy_curve({WICKED: sure}, baseline=0.6, theme=theme),
        "reliability_curve_figure": figures.reliability_curve_figure(curve, curve, temperature=1.5, theme=theme),
        "recovery_scatter": figures.recovery_scatter(
            PSI[None], PSI[None], learners=[WICKED], classes=CLASSES, theme=theme
        ),
        "why_bars": figures.why_bars(
            names,
            [*CLASSES[: d - 1], None][:d],
            np.append(np.arange(d - 1), NAN),
            fused="cat",
            runner_up=WICKED,
            theme=theme,
        ),
    }


def words(figure):
    return " ".join(note.text for note in figure.layout.annotations)


def hover(trace):
    return np.asarray(trace.customdata, object).ravel().tolist()


# ---------------------------------------------------------------------- all of them


def test_wicked_names_are_harmless_and_every_picture_can_be_sent_to_a_page():
    for name, figure in pictures().items():
        text = json.dumps(json.loads(figure.to_json()), ensure_ascii=False)
        assert "<script" not in text, name
        assert "</script" not in text, name
        assert "%{x}" not in text.replace("<b>%{x}</b>", ""), name


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_picture_has_the_colours_of_its_theme(theme):
    for name, figure in pictures(theme).items():
        assert figure.layout.template.layout.paper_bgcolor == THEMES[theme].background, name


def test_every_picture_has_a_theme_and_says_what_its_axes_are():
    for name, figure in pictures().items():
        assert inspect.signature(getattr(figures, name)).parameters["theme"].default == "light"
        titles = [axis.title.text for axis in figure.select_xaxes()] + [a.title.text for a in figure.select_yaxes()]
        bars = [trace.colorbar.title.text for trace in figure.data if trace.type == "heatmap"]
        assert any(titles) or any(bars) or "nats" in words(figure), name


@pytest.mark.parametrize(
    "figure",
    [
        figures.influence_bars([], []),
        figures.influence_bars(["a"], [NAN]),
        figures.influence_panels([NAN], [NAN], ["a"]),
        figures.influence_heatmap(np.zeros((0, 0)), [], []),
        figures.influence_heatmap([[NAN]], ["a"], ["x"]),
        figures.trust_scatter(["a"], [NAN], [0.5]),
        figures.confusion_matrix(np.full((2, 2), NAN), ["x", "y"]),
        figures.confusion_pair(np.full((2, 2), NAN), np.full((2, 2), NAN), ["x", "y"]),
        figures.dependence_grid([], [], [], []),
        figures.dependence_grid([np.zeros((0, 3, 3))], ["a", "b", "c"], ["input"], []),
        figures.dependence_grid([np.full((1, 2, 2), NAN)], ["a", "b"], ["input"], ["x"]),
        figures.dependence_summary(["input"], [NAN], [NAN], [NAN], [NAN]),
        figures.correlation_heatmap(np.ones((1, 1)), ["fused label"]),
        figures.selective_accuracy_curve({}),
        figures.reliability_curve_figure(reliability_curve(np.array([]), np.array([], bool))),
        figures.recovery_scatter([NAN], [0.5], kind="π"),
        figures.why_bars(["a"], [None], [NAN], fused="x", runner_up="y"),
        figures.why_bars([], [], [], fused="x", runner_up="y"),
    ],
)
def test_nothing_to_show_gives_a_sentence(figure):
    assert not figure.data
    assert words(figure).endswith(".")


# ---------------------------------------------------------------------- influence


def test_influence_is_sorted_with_spread_and_noise():
    figure = figures.influence_bars(
        NAMES, [1.0, 3.0, NAN, 2.0], spread=[0.1, 0.2, 0.3, NAN], noise=[0.05, 0.1, 0.1, 1.5], highlight=["dan"]
    )
    noise, bars = figure.data
    assert bars.y == ("bob", "dan", "ann")
    assert bars.x.tolist() == [3.0, 2.0, 1.0]
    assert bars.error_x.array.tolist() == [0.2, 0.0, 0.1]
    assert noise.x.tolist() == [0.2, 3.0, 0.1]
    assert noise.base == 0
    assert bars.marker.color[1] == THEMES["light"].selected
    assert "± 0.2 over restarts" in hover(bars)[0]
    assert "chance" in hover(bars)[1]
    assert "chance" not in hover(bars)[0]
    assert figure.layout.xaxis.range[1] > 3.2


def test_noise_lies_on_both_sides_where_influence_may_be_negative():
    noise = figures.influence_bars(["a", "b"], [1.0, -1.0], noise=0.1).data[0]
    assert noise.base.tolist() == [-0.2, -0.2]
    assert noise.x.tolist() == [0.4, 0.4]


def test_many_learners_are_cut_from_the_end_and_counted():
    figure = figures.influence_bars([f"w{j}" for j in range(100)], np.arange(100))
    assert len(figure.data[0].y) == 40
    assert figure.data[0].y[0] == "w99"
    assert "40 of 100" in figure.layout.yaxis.title.text


def test_subset_and_rest_share_scale_and_order():
    figure = figures.influence_panels([1, 5, 2, NAN], [9, 1, 2, 3], NAMES, subset_name="cats", highlight=["bob"])
    first, second = figure.data
    assert first.y == second.y == ("bob", "cleo", "ann", "dan")
    assert figure.layout.xaxis.range == figure.layout.xaxis2.range
    assert figure.layout.xaxis.range[1] > 9
    assert "cats" in words(figure)
    assert "5 times as much" in hover(first)[0]
    assert "times" not in hover(first)[3]


def test_the_expert_of_a_class_is_outlined():
    matrix = np.array([[1.0, 1.0, 1.0], [1.0, 6.0, 1.0], [1.0, 1.0, NAN], [1.0, 1.0, NAN]])
    figure = figures.influence_heatmap(matrix, NAMES, ["x", "y", "z"])
    (frame,) = figure.layout.shapes
    assert (frame.x0, frame.x1, frame.y0, frame.y1) == (0.5, 1.5, 0.5, 1.5)
    assert "outlined" in figure.layout.xaxis.title.text
    assert "bob" in figure.data[0].customdata[1][1]
    assert "influence 6 nats" in figure.data[0].customdata[1][1]
    assert "no rows" in figure.data[0].customdata[2][2]
    chosen = figures.influence_heatmap(matrix, NAMES, ["x", "y", "z"], marked=[("ann", "x"), ("nobody", "x")])
    assert [(frame.x0, frame.y0) for frame in chosen.layout.shapes] == [(-0.5, -0.5)]


def test_ratios_are_to_the_median_learner_of_the_class_and_only_over_positive_ones():
    matrix = [[1.0, -1.0, 8.0], [2.0, -0.5, 0.0], [3.0, 0.5, 0.0], [2.0, NAN, 2.0]]
    cells = figures.influence_heatmap(matrix, NAMES[:4], ["x", "y", "z"], relative=True)
    assert cells.data[0].z[0] == pytest.approx([-1, NAN, 2], nan_ok=True)  # cut at four times
    assert cells.data[0].z[2] == pytest.approx([np.log2(1.5), NAN, -2], nan_ok=True)
    assert (
        "2 times the median learner"
        in figures.influence_heatmap([[1.0], [2.0], [1.0]], NAMES[:3], ["x"]).data[0].customdata[1][0]
    )


def test_of_many_cells_the_highest_peaks_are_drawn():
    matrix = np.ones((100, 1000))
    matrix[77, 555], matrix[3, 999] = 9, 7
    figure = figures.influence_heatmap(matrix, [f"w{j}" for j in range(100)], [f"c{k}" for k in range(1000)])
    assert np.shape(figure.data[0].z) == (40, 30)
    assert figure.layout.yaxis.ticktext[:2] == ("w77", "w3")
    assert figure.layout.xaxis.ticktext[:2] == ("c555", "c999")
    assert "30 of 1,000" in figure.layout.xaxis.title.text
    assert "40 of 100" in figure.layout.yaxis.title.text


def test_numbers_on_cells_are_read_on_their_colours():
    for theme, ends in (("light", (DARK, LIGHT)), ("dark", (LIGHT, DARK))):
        cells, texts = figures.confusion_matrix(np.eye(2), ["x", "y"], theme=theme).data
        assert cells.texttemplate is None
        assert texts.text == ("100%", "0", "0", "100%")
        assert texts.textfont.color == (ends[1], ends[0], ends[0], ends[1])


# ---------------------------------------------------------------------- trust


def test_all_learners_are_points_and_names_never_collide():
    n = 60
    across, up = RNG.random(n), RNG.random(n)
    names = [f"learner_{j}" for j in range(n)]
    places = places_of_names(across, up, names, width=500, height=300)
    assert 0 < sum(place is not None for place in places) < n
    boxes = []
    for a, b, name, place in zip(across * 500, up * 300, names, places, strict=True):
        if place is None:
            continue
        wide = LETTER * len(name)
        left = {"top center": a - wide / 2, "bottom center": a - wide / 2, "middle right": a + GAP}.get(
            place, a - wide - GAP
        )
        bottom = {"top center": b + GAP, "bottom center": b - GAP - LINE}.get(place, b - LINE / 2)
        boxes.append((left, bottom, left + wide, bottom + LINE))
    for k, one in enumerate(boxes):
        for other in boxes[:k]:
            assert one[0] >= other[2] or other[0] >= one[2] or one[1] >= other[3] or other[1] >= one[3]


def test_trust_shows_estimates_against_influence_and_real_accuracy_where_known():
    figure = figures.trust_scatter(NAMES, [1, 2, 3, NAN], [0.5, 0.6, 0.7, 0.8], real=[0.4, NAN, 0.75, 0.1])
    lines, real, points = figure.data
    assert points.x.tolist() == [1, 2, 3]
    assert points.y.tolist() == [0.5, 0.6, 0.7]
    assert real.y.tolist() == [0.4, 0.75]
    assert "ann" in points.customdata[0]
    assert "40.0%" in points.customdata[0]
    assert "really" not in points.customdata[1]
    assert lines.hoverinfo == "skip"
    assert len(figures.trust_scatter(NAMES, [1, 2, 3, 4], [0.5] * 4).data) == 1


# ---------------------------------------------------------------------- confusion


def test_confusion_has_labels_down_votes_across_and_says_so_in_words():
    figure = figures.confusion_matrix(PSI, CLASSES, counts=[10, 200, 30], learner="ann")
    cells = figure.data[0]
    np.testing.assert_allclose(cells.z, PSI.T)
    text = cells.customdata[1][0]
    assert "when the fused label is <b>dog</b>,<br>ann says <b>cat</b> in 12% of the rows" in text
    assert "200 such rows" in text
    assert figure.layout.yaxis.title.text == "fused label"
    assert figure.layout.xaxis.title.text == "vote"
    assert figure.layout.yaxis.range[0] > figure.layout.yaxis.range[1]


def test_of_many_classes_the_most_confused_are_drawn():
    psi = np.eye(60)
    psi[[40, 50], [40, 40]] = [0.5, 0.5]
    figure = figures.confusion_matrix(psi, range(60))
    assert np.shape(figure.data[0].z) == (25, 25)
    assert set(figure.layout.yaxis.ticktext[:2]) == {"40", "50"}
    assert "25 of 60" in figure.layout.xaxis.title.text


def test_an_unknown_label_is_blank_and_estimated_stands_beside_real():
    known = PSI.copy()
    known[:, 2] = NAN
    figure = figures.confusion_pair(PSI, known, CLASSES)
    assert "Estimated" in words(figure)
    assert "Real" in words(figure)
    cells = [trace for trace in figure.data if trace.type == "heatmap"]
    assert [(one.zmin, one.zmax, one.showscale) for one in cells] == [(0, 1, False), (0, 1, True)]
    assert "nothing is known" in cells[1].customdata[2][0]
    assert "true label" in cells[1].customdata[0][0]


# ---------------------------------------------------------------------- dependence


def test_layers_stand_side_by_side_classes_below_each_other_on_one_scale():
    given = information(layers=3, classes=2)
    given[:, :, range(4), range(4)] = 99.0  # entropy, not drawn
    figure = figures.dependence_grid(
        given, NAMES, ["input", "after layer 1", "after layer 2"], CLASSES[:2], order="file"
    )
    assert len(figure.data) == 6
    assert {trace.coloraxis for trace in figure.data} == {"coloraxis"}
    assert figure.layout.coloraxis.cmin == 0
    assert figure.layout.coloraxis.cmax < 1
    blank = given.copy()
    blank[:, :, range(4), range(4)] = NAN
    for at, trace in enumerate(figure.data):
        np.testing.assert_allclose(trace.z, blank[at % 3, at // 3], rtol=1e-6)
        assert trace.x == trace.y == tuple(NAMES)
        assert "nats" in trace.hovertemplate
    assert "dog" in figure.data[3].hovertemplate
    assert "after layer 2" in figure.data[2].hovertemplate
    assert "after layer 2" in words(figure)


def test_a_mapping_of_layers_is_the_same_picture():
    given = information()
    once = figures.dependence_grid(given, NAMES, ["a", "b"], CLASSES)
    assert once == figures.dependence_grid({"b": given[1], "a": given[0]}, NAMES, ["a", "b"], CLASSES)


def test_dependent_units_stand_together_in_the_same_order_in_every_layer():
    given = np.full((2, 1, 5, 5), 0.01)
    given[0, 0, [0, 4], [4, 0]] = 0.6
    figure = figures.dependence_grid(given, [*NAMES, "eve"], ["input", "after"], ["x"])
    names = figure.data[0].x
    assert abs(names.index("ann") - names.index("eve")) == 1
    assert figure.data[1].x == names
    back = [[4, 3, 2, 1, 0]] * 2
    chosen = figures.dependence_grid(given, [*NAMES, "eve"], ["input", "after"], ["x"], order=back)
    assert chosen.data[0].x == ("eve", "dan", "cleo", "bob", "ann")


def test_layers_may_have_units_of_their_own():
    merged = ["ann + bob", "cleo", "dan"]
    given = [information(layers=1)[0], information(layers=1, units=3)[0]]
    figure = figures.dependence_grid(given, [NAMES, merged], ["input", "input, near-copies merged"], CLASSES)
    assert sorted(figure.data[0].x) == NAMES
    assert sorted(figure.data[1].x) == merged
    assert "near-copies merged" in words(figure)


def test_a_hundred_learners_and_many_classes_stay_light_and_are_counted():
    names = [f"w{j}" for j in range(100)]
    figure = figures.dependence_grid(information(layers=3, classes=14, units=100), names, ["a", "b", "c"], range(14))
    assert len(figure.data) == 36
    assert "12 of 14" in words(figure)
    assert "100 learners · drag to zoom in" in [axis.title.text for axis in figure.select_xaxes()]
    assert figure.layout.dragmode == "zoom"
    assert not any(axis.fixedrange for axis in figure.select_xaxes())
    assert len(figure.to_json()) < 4_000_000
    assert figure.layout.height > figures.dependence_grid(information(), NAMES, ["a", "b"], CLASSES).layout.height


def test_the_summary_shows_means_spread_and_floor_in_nats():
    figure = figures.dependence_summary(
        ["input", "after layer 1"], [4.2, 2.1], [0.4, 0.2], [0.8, 0.7], [0.1, NAN], floor=[0.3, 0.2], largest_floor=0.05
    )
    means = [trace for trace in figure.data if trace.mode == "lines+markers"]
    floors = [trace for trace in figure.data if trace.mode == "lines"]
    assert [list(trace.y) for trace in means] == [[4.2, 2.1], [0.8, 0.7]]
    assert list(means[0].error_y.array) == [0.4, 0.2]
    assert [list(trace.y) for trace in floors] == [[0.3, 0.2], [0.05, 0.05]]
    assert sum(bool(trace.showlegend) for trace in figure.data) == 2
    assert "nats" in words(figure)
    assert "± 0.4" in means[0].customdata[0]


def test_correlation_is_signed_only_where_something_is_and_the_fused_label_stands_out():
    matrix = np.array([[1, 0.4, 0.6], [0.4, 1, NAN], [0.6, NAN, 1]])
    names = ["ann", "bob", "fused label"]
    figure = figures.correlation_heatmap(matrix, names, order=[2, 0, 1])
    cells = figure.data[0]
    assert (cells.zmin, cells.zmax) == (0, 1)
    assert np.isnan(np.diag(np.asarray(cells.z, float))).all()
    assert cells.z[0][1] == pytest.approx(0.6)
    assert list(cells.x) == list(cells.y) == ["fused label", "ann", "bob"]
    assert "<b>fused label</b>" in figure.layout.xaxis.ticktext[0]
    assert figures.correlation_heatmap(-matrix, names).data[0].zmin == -1


def test_correlation_of_learners_alone_has_nobody_in_bold():
    figure = figures.correlation_heatmap(np.eye(3), ["ann", "bob", "eve"], fused="", what="mistakes")
    assert list(figure.layout.xaxis.ticktext) == ["ann", "bob", "eve"]
    assert figure.layout.xaxis.title.text == "learner"
    assert "mistakes" in figure.data[0].colorbar.title.text


def test_the_fused_label_is_named_among_a_hundred_learners_without_running_into_a_neighbour():
    names = [*(f"w{j}" for j in range(100)), "fused label"]
    figure = figures.correlation_heatmap(np.full((101, 101), 0.3), names, order=[*range(50), 100, *range(50, 100)])
    for axis in (figure.layout.xaxis, figure.layout.yaxis):
        at = axis.ticktext.index("<b>fused label</b>")
        places = [figure.data[0].x.index(name) for name in axis.tickvals]
        assert min(np.diff(places)[at - 1 : at + 1]) > 1
    assert len(figure.to_json()) < 300_000


def test_weak_dependence_looks_pale_and_strong_dependence_has_the_whole_scale():
    for most, top in ((0.02, 0.1), (0.6, 0.6)):
        matrix = np.full((1, 3, 3), most)
        assert figures.dependence_grid([matrix], NAMES[:3], ["input"], ["x"]).layout.coloraxis.cmax == top


def test_a_picture_asks_its_question_above_legend_and_titles():
    bars = figures.influence_bars(["a", "b"], [1.0, 2.0], noise=0.1)
    before = bars.layout.height
    asked = with_question(bars, "Who <b>decides?")
    assert asked.layout.title.text == "<b>Who &lt;b&gt;decides?</b>"
    assert asked.layout.height - before == asked.layout.margin.t - 30  # the legend needs 30 pixels
    for name, figure in pictures().items():
        above = figure.layout.margin.t
        assert with_question(figure, "Why?").layout.margin.t >= above + 30, name


def test_percentages_are_large_where_there_is_room():
    few, many = (figures.confusion_pair(np.eye(K), np.eye(K), range(K)).data[1] for K in (2, 10))
    assert "100%" in few.text
    assert "100" in many.text
    assert few.textfont.size > many.textfont.size


# ---------------------------------------------------------------------- confidence and recovery


def test_selective_accuracy_shows_every_order_its_interval_and_the_baseline():
    sure, shuffled = selective_accuracy(SCORE, RIGHT), selective_accuracy(RNG.random(300), RIGHT)
    figure = figures.selective_accuracy_curve({"by confidence": sure, "by chance": shuffled}, baseline=0.6)
    band, first, second = figure.data
    np.testing.assert_allclose(first.y, sure.accuracy)
    assert (first.name, second.name) == ("by confidence", "by chance")
    assert band.fill == "toself"
    assert "60.0%" in words(figure)
    assert "most certain 100% of the rows" in first.customdata[-1]
    alone = figures.selective_accuracy_curve(sure)
    np.testing.assert_allclose(alone.data[1].y, sure.accuracy)
    assert not alone.layout.showlegend


def test_calibration_shows_bins_with_rows_and_the_error_before_and_after():
    before, after = reliability_curve(SCORE, RIGHT), reliability_curve(SCORE**2, RIGHT)
    figure = figures.reliability_curve_figure(before, after, temperature=1.5)
    diagonal, first, second = figure.data
    assert list(diagonal.x) == list(diagonal.y) == [0, 1]
    np.testing.assert_allclose(first.x, before.confidence[before.rows > 0])
    np.testing.assert_allclose(first.y, before.accuracy[before.rows > 0])
    assert f"{before.error:.3f}" in words(figure)
    assert f"{after.error:.3f}" in words(figure)
    assert "1.50" in second.name


def test_recovery_names_each_parameter_and_thins_out_very_many():
    true, found = np.stack([PSI, PSI]), np.stack([PSI, PSI - 0.1])
    figure = figures.recovery_scatter(true, found, learners=["ann", "bob"], classes=CLASSES)
    points = figure.data[1]
    assert len(points.x) == 18
    wanted = "when the label is <b>dog</b>,<br><b>ann</b> says <b>cat</b><br>true 0.120, recovered 0.120"
    assert wanted in list(points.customdata)
    assert "0.100" in words(figure)
    many = figures.recovery_scatter(RNG.random((20, 20, 20)), RNG.random((20, 20, 20)))
    assert len(many.data[1].x) <= 4_000
    assert "of 8,000 shown" in words(many)
    assert (
        "share of <b>dog</b>"
        in figures.recovery_scatter([0.3, 0.7], [0.4, 0.6], kind="π", classes=CLASSES).data[1].customdata[1]
    )


# ---------------------------------------------------------------------- why


def test_votes_for_the_label_go_right_those_against_left_and_the_silent_are_last():
    figure = figures.why_bars(NAMES, ["dog", None, "cat", "cat"], [-1.0, NAN, 0.5, 2.0], fused="cat", runner_up="dog")
    bars = figure.data[0]
    assert bars.y == ("dan", "cleo", "ann", "bob")
    assert bars.x.tolist() == [2.0, 0.5, -1.0, 0.0]
    assert bars.text == ("says cat", "says cat", "says dog", "no vote")
    theme = THEMES["light"]
    assert bars.marker.color[0] == theme.good
    assert bars.marker.color[2] == theme.bad
    assert bars.textfont.color[3] == theme.rest
    assert "1 nats for dog" in bars.customdata[2]
    assert "did not vote" in bars.customdata[3]
    assert "log-odds of cat against dog" in figure.layout.xaxis.title.text
    low, high = figure.layout.xaxis.range
    assert low < -1
    assert high > 2


def test_of_many_votes_the_weightiest_are_drawn():
    value = np.linspace(-1, 2, 100)
    figure = figures.why_bars([f"w{j}" for j in range(100)], ["x"] * 100, value, fused="x", runner_up="y")
    assert len(figure.data[0].y) == 25
    assert figure.data[0].y[0] == "w99"
    assert "25 of 100" in figure.layout.yaxis.title.text
