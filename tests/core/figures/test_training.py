"""The pictures of the Learning-rate and Train pages show what they were given, in both themes, however much it is."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from deem_core import figures
from deem_core.errors import InputError
from deem_core.figures import Curve
from deem_core.figures._symlog import symlog, symlog_ticks
from deem_core.figures._theme import THEMES
from deem_core.model.records import Record
from deem_core.training.guidance import Numbers, Verdict, smooth
from deem_core.training.health import Restart

WICKED = "<script>%{x}</script> & Co"
PANELS = ("y", "y2", "y3")


def curve(key, *, level=0.0, length=30, rejected=False, name=None):
    t = np.arange(length, dtype=float)
    positive = -8.0 - level * t / length
    difference = -np.sin(t / 5) * np.exp(-t / 10)
    return Curve(
        key, name or f"learning rate {key:g}", t, positive, positive - difference, difference, "usable", rejected
    )


def curves(n=4):
    return [curve(0.1 * 2**k, level=k) for k in range(n)]


def record(restart, update, shares=(0.5, 0.5), *, acceptance=0.9, moved=0.1, difference=0.1):
    return Record(
        restart, update, update / 10, -8.0, -8.1, difference, 0.0, 0.0, 0.0, acceptance, moved, np.array(shares), 1.0
    )


def history(restarts=3, length=12, shares=(0.5, 0.5)):
    return [record(r, update, shares) for update in range(1, length + 1) for r in range(restarts)]


def main(figure, axis=None):
    return [line for line in figure.data if line.mode == "lines+markers" and axis in (None, line.yaxis)]


def words(figure):
    return " ".join(note.text for note in figure.layout.annotations)


# ---------------------------------------------------------------------- energies


def test_every_point_in_all_three_panels_names_its_curve():
    figure = figures.energy_panels(curves())
    assert {line.yaxis for line in figure.data} == set(PANELS)
    for axis in PANELS:
        assert sorted(line.customdata[0] for line in main(figure, axis)) == [c.key for c in curves()]
    for line in figure.data:
        assert len(line.customdata) == len(line.x)
        assert len(set(line.customdata)) == 1
    assert figure.layout.hovermode == "closest"


def test_panels_are_linked_and_have_titles_with_units():
    layout = figures.energy_panels(curves(), x="update").layout
    assert {layout.xaxis.matches, layout.xaxis2.matches, layout.xaxis3.matches} == {"x"}
    assert layout.xaxis2.title.text == "updates"
    assert all("nats" in title.text for title in layout.annotations[:3])


def test_in_narrow_places_a_legend_stands_below_its_title_and_loses_no_name():
    narrow = figures.energy_panels(curves()).layout.meta["arrangements"]
    assert [each["layout"]["legend"]["title"]["side"] for each in narrow] == ["top", "top"]


def test_lines_show_the_curves_as_given():
    given = curves(2)
    figure = figures.energy_panels(given)
    for axis, what in zip(PANELS, ("positive", "negative", "difference"), strict=True):
        for line in main(figure, axis):
            own = next(c for c in given if c.key == line.customdata[0])
            np.testing.assert_allclose(line.y, getattr(own, what))


def test_classes_that_differ_most_are_drawn_from_gain_to_loss():
    figure = figures.class_differences(["a", "b", "c"], [-0.2, 0.1, np.nan], title="recall")
    assert list(figure.data[0].y) == ["b", "a"]
    assert "-20.00 points" in figure.data[0].customdata[1]
    many = figures.class_differences(range(100), np.linspace(-1, 1, 100), title="recall", max_classes=10)
    assert len(many.data[0].y) == 10
    assert "10 of 100" in many.layout.yaxis.title.text
    assert "nothing to compare" in words(figures.class_differences([], [], title="recall"))


@pytest.mark.parametrize("theme", THEMES)
def test_the_selected_curve_is_drawn_last_thicker_and_in_a_colour_of_its_own(theme):
    figure = figures.energy_panels(curves(), selected=0.2, theme=theme)
    for axis in PANELS:
        *others, last = main(figure, axis)
        assert last.customdata[0] == 0.2
        assert last.line.color == last.marker.color == THEMES[theme].selected
        assert all(line.line.color != last.line.color and line.line.width < last.line.width for line in others)


def test_rejected_curves_step_back_unless_selected():
    given = [*curves(2), curve(9.0, rejected=True)]
    first = main(figures.energy_panels(given), "y")[0]
    assert first.customdata[0] == 9.0
    assert first.opacity < 1
    chosen = main(figures.energy_panels(given, selected=9.0), "y")[-1]
    assert chosen.customdata[0] == 9.0
    assert chosen.opacity == 1


def test_smoothing_adds_the_raw_curves_faintly_behind():
    given = curves(2)
    figure = figures.energy_panels(given, smoothing=0.7)
    raw = [line for line in figure.data if line.mode == "lines"]
    assert len(raw) == len(main(figure)) == 6
    assert all(line.opacity < 0.5 and line.hoverinfo == "skip" and not line.showlegend for line in raw)
    np.testing.assert_allclose(raw[0].y, given[0].positive)
    np.testing.assert_allclose(main(figure, "y3")[0].y, smooth(given[0].difference, 0.7))
    with pytest.raises(InputError, match="smoothing"):
        figures.energy_panels(given, smoothing=1.0)


def test_hidden_curves_are_absent_and_the_others_keep_their_colours():
    all_shown, some = figures.energy_panels(curves()), figures.energy_panels(curves(), hidden={0.1})
    assert all(line.customdata[0] != 0.1 for line in some.data)
    colours = {line.customdata[0]: line.line.color for line in all_shown.data}
    assert all(line.line.color == colours[line.customdata[0]] for line in some.data)
    assert "hidden" in words(figures.energy_panels(curves(1), hidden=[0.1]))


def test_zoom_follows_the_curves_that_were_not_rejected():
    exploded = Curve(5.0, "learning rate 5", *(np.linspace(0, 1e6, 30),) * 4, "exploding difference", rejected=True)
    low, high = figures.energy_panels([*curves(2), exploded], zoom=True).layout.yaxis.range
    assert -12 < low < -9
    assert -8.1 < high < -7
    low, high = figures.energy_panels([*curves(2), exploded], zoom=True).layout.yaxis3.range
    assert low < 0 < high
    assert high < 5
    assert figures.energy_panels([exploded], zoom=True).layout.yaxis.range[1] > 9e5


def test_log_keeps_order_and_sign_and_starts_every_energy_at_zero():
    figure = figures.energy_panels(curves(), log=True)
    assert all(line.y[0] == 0 for line in main(figure, "y"))
    signs = np.sign(main(figure, "y3")[0].y)
    np.testing.assert_array_equal(signs, np.sign(main(figures.energy_panels(curves()), "y3")[0].y))
    assert all("log" in title.text for title in figure.layout.annotations[:3])
    assert "0" in figure.layout.yaxis3.ticktext
    assert "-8" in main(figure, "y")[0].hovertext[0], "the hover text gives the energy itself"


def test_symmetric_logarithm_is_odd_and_its_ticks_name_the_values_they_stand_at():
    values = np.array([-100.0, -1.0, 0.0, 1.0, 100.0])
    np.testing.assert_allclose(symlog(values, 1.0), -symlog(-values, 1.0))
    ticks = symlog_ticks(-2.1, 3.1, 0.1)
    named = np.array([float(text.replace("−", "-").replace(",", "")) for text in ticks["ticktext"]])
    np.testing.assert_allclose(symlog(named, 0.1), ticks["tickvals"])
    assert len(symlog_ticks(-40.0, 40.0, 1.0)["tickvals"]) <= 10


def test_gaps_stay_gaps_and_a_curve_of_nothing_does_no_harm():
    gappy = curve(1.0)
    gappy.positive[10:] = np.nan
    nothing = Curve(2.0, "learning rate 2", *(np.full(5, np.nan),) * 4)
    for changes in ({}, {"log": True}, {"zoom": True}, {"smoothing": 0.9, "zoom": True, "log": True}):
        figure = figures.energy_panels([gappy, nothing], **changes)
        json.loads(figure.to_json())
        assert np.isnan(main(figure, "y")[0].y[10:]).all()
        json.loads(figures.energy_panels([nothing], **changes).to_json())


@pytest.mark.parametrize("theme", THEMES)
def test_without_curves_a_sentence_says_what_will_be_seen(theme):
    figure = figures.energy_panels([], theme=theme)
    assert not figure.data
    assert "No curves yet" in words(figure)
    assert figure.layout.template.layout.paper_bgcolor == THEMES[theme].background


def test_names_cannot_smuggle_in_markup():
    figure = figures.energy_panels([curve(1.0, name=WICKED), curve(2.0)])
    text = figure.to_json()
    assert "<script>" not in text
    assert "%{x}</" not in text


def test_a_sweep_gives_its_rates_as_keys_and_its_verdicts():
    numbers = np.arange(6.0).reshape(2, 3)
    verdicts = tuple(
        Verdict(kind, rate, 1, "", Numbers()) for kind, rate in (("recommended", 0.1), ("class died", 2.0))
    )
    made = SimpleNamespace(
        rates=np.array([0.1, 2.0]),
        n_layers=np.array([1, 1]),
        updates=np.array([0, 10, 20]),
        epochs=np.array([0, 1, 2]),
        positive=numbers,
        negative=numbers + 1,
        difference=numbers * 0 - 1,
        by_depth=False,
        verdicts=verdicts,
    )
    first, second = figures.curves_of_sweep(made)
    assert (first.key, first.name, first.rejected) == (0.1, "learning rate 0.1", False)
    assert (second.verdict, second.rejected) == ("class died", True)
    np.testing.assert_array_equal(figures.curves_of_sweep(made, x="update")[0].x, made.updates)
    made.by_depth, made.n_layers = True, np.array([0, 2])
    assert [c.key for c in figures.curves_of_sweep(made)] == [0, 2]


def refereed(likelihood):
    numbers = np.zeros((2, 3))
    return SimpleNamespace(
        rates=np.array([0.1, 2.0]),
        n_layers=np.array([1, 1]),
        epochs=np.array([0, 1, 2]),
        positive=numbers,
        negative=numbers,
        difference=numbers,
        by_depth=False,
        verdicts=tuple(Verdict(kind, 1.0, 1, "", Numbers()) for kind in ("recommended", "class died")),
        grouped_likelihood=likelihood,
    )


def test_the_grouped_likelihood_is_drawn_for_every_rate_that_is_not_hidden():
    likelihood = np.array([[-1.0, -0.5, -0.1], [-1.0, -2.0, np.nan]])
    figure = figures.grouped_likelihood(refereed(likelihood), selected=0.1)
    assert [trace.name for trace in figure.data] == ["0.1", "2"]
    np.testing.assert_array_equal(figure.data[0].y, likelihood[0])
    assert (figure.data[0].line.dash, figure.data[1].line.dash) == ("solid", "dot")
    assert figure.data[0].line.width > figure.data[1].line.width
    assert len(figures.grouped_likelihood(refereed(likelihood), hidden=[2.0]).data) == 1
    smoothed = figures.grouped_likelihood(refereed(likelihood), smoothing=0.5).data[0].y
    np.testing.assert_allclose(smoothed, smooth(likelihood[:1], 0.5)[0])


def test_without_a_grouped_model_or_curves_the_picture_says_so():
    for figure in (
        figures.grouped_likelihood(refereed(None)),
        figures.grouped_likelihood(refereed(np.zeros((2, 3))), hidden=[0.1, 2.0]),
    ):
        assert not figure.data
        assert figure.layout.annotations


def test_records_give_a_curve_per_restart_and_dropped_ones_are_marked():
    kept, dropped = Restart(0, 1, True, "", 0.9), Restart(0, 2, False, "Class died.", 0.1)
    first, second, _ = figures.curves_of_records(history(), restarts=[kept, dropped])
    assert (first.name, first.rejected, len(first.x)) == ("restart 1", False, 12)
    assert (second.key, second.verdict, second.rejected) == (1, "Class died.", True)
    assert not figures.curves_of_records([])


@pytest.mark.parametrize("theme", THEMES)
def test_four_shapes_are_drawn_and_explained(theme):
    for columns in (2, 4):
        figure = figures.shapes(columns=columns, theme=theme)
        assert len(figure.data) == 4
        assert all(name in words(figure) for name in ("Healthy", "Stagnant", "Rising", "Exploding"))
    assert np.argmin(figure.data[0].y) < 15
    assert abs(figure.data[0].y[-1]) < 0.15


# ---------------------------------------------------------------------- while training


@pytest.mark.parametrize("restarts", [1, 20])
def test_sampler_health_has_a_line_per_restart_in_both_panels(restarts):
    figure = figures.sampler_health(history(restarts))
    assert [line.yaxis for line in figure.data] == ["y"] * restarts + ["y2"] * restarts
    assert figure.data[0].y[0] == 0.9
    assert figure.data[-1].y[0] == 0.1
    bands = [(shape.y0, shape.y1) for shape in figure.layout.shapes]
    assert bands == [(0.5, 1.0), (0.01, 0.3)]


def test_hover_says_whether_the_sampler_is_well():
    given = [record(0, 1, acceptance=0.2), record(0, 2, moved=0.6), record(0, 3, acceptance=np.nan)]
    figure = figures.sampler_health(given)
    assert list(figure.data[0].customdata) == ["low", "good", "unknown"]
    assert list(figure.data[1].customdata) == ["good", "high", "good"]
    assert "begins" in words(figures.sampler_health([]))


def test_shares_are_drawn_against_the_majority_vote_as_a_mean_over_restarts():
    given = [record(r, t, shares) for t in (1, 2) for r, shares in enumerate([(0.4, 0.6), (0.6, 0.4)])]
    figure = figures.shares_over_time(given, ["no", "yes"], [0.25, 0.75])
    drawn = {line.name: line.y for line in figure.data if line.showlegend is not False}
    np.testing.assert_allclose(drawn["no"], [2.0, 2.0])
    np.testing.assert_allclose(drawn["yes"], [0.5 / 0.75] * 2)
    assert "÷" in figure.layout.yaxis.title.text


def test_a_class_that_dies_in_one_restart_only_is_named_and_marked():
    given = [
        record(r, t, (0.5, 0.5) if r else (0.5 - 0.045 * t, 0.5 + 0.045 * t)) for t in range(1, 11) for r in (1, 0)
    ]
    figure = figures.shares_over_time(given, [WICKED, "yes"], [0.5, 0.5], theme="dark")
    assert "is dying in restart 1: 10% left" in words(figure)
    assert "<script>" not in figure.to_json()
    last = figure.data[-1]
    assert last.line.color == THEMES["dark"].bad
    assert sum(line.line.color == last.line.color for line in figure.data) == 3, "its mean and both restarts"
    assert "dying" not in words(figures.shares_over_time(history(), ["a", "b"], [0.5, 0.5]))


def test_of_many_classes_those_that_shrink_most_get_a_line_and_a_band_the_others():
    K = 1000
    majority = np.full(K, 1 / K)
    kept = np.linspace(0.6, 1.4, K)
    figure = figures.shares_over_time(history(2, shares=majority * kept), [f"c{k}" for k in range(K)], majority)
    names = {line.name for line in figure.data if line.showlegend is not False}
    assert {f"c{k}" for k in range(8)} < names
    assert any("992 others" in name for name in names)
    assert len(figure.data) < 15


def test_classes_with_too_few_rows_are_left_out_where_others_have_enough():
    shares = np.array([0.5, 0.49, 0.01])
    figure = figures.shares_over_time(history(1, shares=(0.5, 0.5, 0.0)), "abc", shares, rows=1000)
    assert {line.name for line in figure.data} == {"a", "b"}
    assert "dying" in words(figures.shares_over_time(history(1, shares=(0.5, 0.5, 0.0)), "abc", shares))


def test_restarts_of_different_lengths_are_drawn_together():
    given = [*[record(0, t) for t in range(1, 6)], *[record(1, t) for t in range(1, 9)]]
    figure = figures.shares_over_time(given, ["a", "b"], [0.5, 0.5])
    assert all(len(line.x) == 8 for line in figure.data)
    assert np.isfinite(figure.data[-1].y).all()


# ---------------------------------------------------------------------- the answer


def test_class_shares_stand_beside_those_of_the_majority_vote():
    figure = figures.class_shares([0.4, 0.6], [0.5, 0.5], ["no", WICKED], truth=[0.3, 0.7])
    assert [bar.name for bar in figure.data] == ["majority vote", "fused", "truth"]
    np.testing.assert_array_equal(figure.data[1].x, [0.4, 0.6])
    assert "<script>" not in figure.to_json()
    assert len(figures.class_shares([0.4, 0.6], [0.5, 0.5], ["no", "yes"]).data) == 2


def test_label_changes_are_coloured_by_their_logarithm_and_what_stayed_is_grey():
    matrix = np.array([[900, 9], [99, 800]])
    stayed, changed = figures.label_changes(matrix, ["no", "yes"]).data
    np.testing.assert_allclose(changed.z, [[np.nan, 1.0], [2.0, np.nan]])
    assert stayed.colorscale[0][1] == THEMES["light"].grid
    np.testing.assert_array_equal(stayed.text, [["900", ""], ["", "800"]])
    assert changed.customdata[1][0] == (
        "<b>yes</b> by majority vote<br><b>no</b> when fused<br>99 rows, 11.0% of those voted yes"
    )


def test_of_many_classes_those_with_most_changes_are_drawn():
    matrix = np.diag(np.full(1000, 10))
    matrix[500, 3] = 7
    figure = figures.label_changes(matrix, [f"c{k}" for k in range(1000)], theme="dark")
    assert set(figure.layout.xaxis.ticktext[:2]) == {"c3", "c500"}
    assert len(figure.layout.xaxis.ticktext) == 20
    assert "20 of 1,000" in figure.layout.xaxis.title.text


def test_no_change_at_all_needs_no_scale():
    figure = figures.label_changes(np.diag([5, 5]), [WICKED, "b"])
    assert not figure.data[1].showscale
    assert "<script>" not in figure.to_json()


def test_methods_stand_best_first_with_their_intervals():
    nan = float("nan")
    figure = figures.accuracy_intervals(
        ["mv", "deem", "broken"], [0.8, 0.9, nan], [0.7, 0.85, nan], [0.85, 0.92, nan], highlight="deem", reference="mv"
    )
    assert [dot.y[0] for dot in figure.data] == ["deem", "mv"]
    assert figure.data[0].marker.color == THEMES["light"].selected
    np.testing.assert_allclose(figure.data[0].error_x.array, [0.02])
    np.testing.assert_allclose(figure.data[0].error_x.arrayminus, [0.05])
    assert figure.layout.shapes[0].x0 == 0.8
    assert "truth" in words(figures.accuracy_intervals(["a"], [nan], [nan], [nan]))
    assert figures.accuracy_intervals(["a"], [0.5], [nan], [nan]).data[0].error_x.array == (0.0,)


@pytest.mark.parametrize("theme", THEMES)
def test_rows_to_review_stand_out(theme):
    figure = figures.confidence_histogram(
        [0, 0.25, 0.5, 0.75, 1], [1, 2, 3, 4], reviewed=[1, 2, 0, 1], threshold=0.5, theme=theme
    )
    colours = THEMES[theme]
    assert [bars.marker.color for bars in figure.data] == [colours.selected, colours.accent]
    assert [list(bars.y) for bars in figure.data] == [[1, 2, 0, 1], [0, 0, 3, 3]]
    assert figure.data[0].customdata[3][1] == "4 rows (40.0%), 1 to review"
    assert "review below 50.0%" in words(figure)
    assert "No fused rows" in words(figures.confidence_histogram([0, 1], [0]))
