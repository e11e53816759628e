"""The pictures of the Data page show the numbers they were given, under the learners' names, in both themes."""

import json

import numpy as np
import pytest

from deem_core import Votes, figures
from deem_core.figures._cells import DARK, LIGHT
from deem_core.figures._names import bar_names, safe, short
from deem_core.figures._theme import THEMES
from deem_core.votes.agreement import pair_agreement, row_agreement

WICKED = "<script>%{x}</script> & 🤖 " + "a name that goes on and on and on and on"


def drawn(d, K=3, n=400, missing=0.3):
    rng = np.random.default_rng(d + K)
    codes = np.where(rng.random((n, d)) < 0.6, rng.integers(K, size=(n, 1)), rng.integers(K, size=(n, d)))
    codes[rng.random((n, d)) < missing] = -1
    return Votes(codes, np.arange(K), [f"{WICKED} {j}" for j in range(d)])


def all_figures(votes, theme="light"):
    pairs, rows = pair_agreement(votes), row_agreement(votes)
    accuracy = np.linspace(0.2, 0.9, votes.n_learners)
    counts = np.full(votes.n_learners, 50)
    return {
        "heatmap": figures.agreement_heatmap(
            pairs.share, votes.learners, order=pairs.order, common=pairs.common, theme=theme
        ),
        "sizes": figures.agreement_histogram(rows, by="size", theme=theme),
        "shares": figures.agreement_histogram(rows, by="share", theme=theme),
        "coverage": figures.coverage_bars(votes.learner_coverage, votes.learners, n_rows=votes.n_rows, theme=theme),
        "accuracy": figures.accuracy_bars(votes.learners, accuracy, counts, 0.8, theme=theme),
        "rules": figures.rule_bars(
            votes.learners, [[WICKED]] * votes.n_learners, accuracy, accuracy / 2, accuracy / 4, theme=theme
        ),
    }


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(("d", "K"), [(1, 2), (3, 2), (15, 10), (100, 1000)])
def test_any_size_and_any_name_can_be_drawn(d, K, theme):
    for name, figure in all_figures(drawn(d, K), theme).items():
        text = json.dumps(figure.to_plotly_json(), default=lambda value: np.asarray(value).tolist())
        assert "<script" not in text, name
        assert "%{x}<" not in text.replace("<b>%{x}</b>", ""), name
        assert figure.layout.template.layout.font.color == THEMES[theme].text
        assert figure.layout.xaxis.title.text, name
        assert figure.layout.yaxis.title.text, name
        assert figure.layout.height <= 1000, name


def test_both_themes_draw_in_their_own_colours():
    light, dark = all_figures(drawn(5)), all_figures(drawn(5), "dark")
    assert light["heatmap"].data[0].colorscale[0][1] == THEMES["light"].scale[0]
    assert dark["heatmap"].data[0].colorscale[0][1] == THEMES["dark"].scale[0]
    for name in ("sizes", "shares", "coverage", "accuracy"):
        assert light[name].data[0].marker.color != dark[name].data[0].marker.color


@pytest.mark.parametrize("theme", THEMES)
def test_lightness_alone_tells_the_order_of_a_scale(theme):
    def luminance(colour):
        red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    steps = np.diff([luminance(colour) for colour in THEMES[theme].scale])
    assert (steps < -10).all() or (steps > 10).all()


class TestHeatmap:
    SHARE = np.array([[1, 0.2, np.nan], [0.2, 1, 0.6], [np.nan, 0.6, 1]])
    COMMON = np.array([[9, 5, 2], [5, 9, 7], [2, 7, 9]])

    def test_cells_follow_the_order_and_the_diagonal_is_blank(self):
        figure = figures.agreement_heatmap(self.SHARE, ["a", "b", "c"], order=[2, 1, 0])
        np.testing.assert_allclose(figure.data[0].z, [[np.nan, 0.6, np.nan], [0.6, np.nan, 0.2], [np.nan, 0.2, np.nan]])
        assert figure.layout.xaxis.ticktext == figure.layout.yaxis.ticktext == ("c", "b", "a")
        assert figure.layout.yaxis.range[0] > figure.layout.yaxis.range[1]  # the first at the top
        assert figure.layout.yaxis.scaleanchor == "x"

    def test_hover_texts_name_the_pair(self):
        figure = figures.agreement_heatmap(self.SHARE, ["a", "b", "c"], order=[2, 1, 0], common=self.COMMON)
        known, unknown = figure.data[:2]
        assert list(known.x) == list(known.y) == ["c", "b", "a"]
        assert "same vote on %{z:.1%} of %{customdata:,} common rows" in known.hovertemplate
        assert known.customdata[0][1] == 7
        assert "too few rows in common (%{customdata:,})" in unknown.hovertemplate
        np.testing.assert_array_equal(np.argwhere(np.isfinite(unknown.z)), [[0, 2], [2, 0]])
        assert unknown.customdata[0][2] == 2

    @pytest.mark.parametrize("theme", THEMES)
    def test_numbers_are_dark_on_light_cells_and_light_on_dark_ones(self, theme):
        share = np.array([[1, 0.2, 0.9], [0.2, 1, 0.5], [0.9, 0.5, 1]])
        numbers = figures.agreement_heatmap(share, ["a", "b", "c"], theme=theme).data[-1]
        colour = dict(zip(numbers.text, numbers.textfont.color, strict=True))
        assert colour["20%"] != colour["90%"]
        assert colour["20%"] == (DARK if theme == "light" else LIGHT)

    def test_a_hundred_learners_are_light(self):
        figure = figures.agreement_heatmap(np.full((100, 100), 0.5), [f"a rather long name {j}" for j in range(100)])
        assert len(figure.to_json()) < 300_000

    def test_colours_span_what_there_is(self):
        trace = figures.agreement_heatmap(self.SHARE, ["a", "b", "c"]).data[0]
        assert (trace.zmin, trace.zmax) == (pytest.approx(0.2), pytest.approx(0.6))
        unknown = figures.agreement_heatmap(np.full((2, 2), np.nan), ["a", "b"]).data[0]
        assert (unknown.zmin, unknown.zmax) == (0, 1)
        same = figures.agreement_heatmap(np.ones((3, 3)), ["a", "b", "c"]).data[0]
        assert (same.zmin, same.zmax) == (pytest.approx(0.9), 1)

    def test_many_learners_are_thinly_named(self):
        figure = figures.agreement_heatmap(np.full((100, 100), 0.5), [f"m{j}" for j in range(100)])
        assert figure.layout.xaxis.ticktext == tuple(f"m{j}" for j in range(0, 100, 3))
        assert figure.layout.xaxis.tickvals == figure.layout.xaxis.ticktext  # places are called by name
        assert "one in 3" in figure.layout.xaxis.title.text
        assert len(figure.data) == 1


class TestHistogram:
    VOTES = Votes(np.array([[0, 0, 0], [0, 0, 1], [1, 1, 1], [0, 0, 0]]), np.arange(2), ("a", "b", "c"))

    def test_complete_votes_are_counted_in_learners(self):
        figure = figures.agreement_histogram(row_agreement(self.VOTES))
        assert figure.data[0].y.tolist() == [0, 1, 3]
        assert figure.layout.xaxis.ticktext == ("1", "2", "all 3")
        assert figure.data[0].customdata[2] == ["all 3 learners agree", "3 rows (75.0%)"]
        assert figure.data[0].marker.color[-1] == THEMES["light"].good

    def test_missing_votes_are_counted_as_shares_of_those_cast(self):
        codes = np.array([[0, 0, -1], [0, 0, 1], [-1, 1, -1], [-1, -1, -1]])
        rows = row_agreement(Votes(codes, np.arange(2), ("a", "b", "c")))
        figure = figures.agreement_histogram(rows)
        assert figure.data[0].y.tolist() == [1, 0, 0, 0, 1]
        assert figure.layout.xaxis.ticktext[0] == "60–70%"
        assert figure.data[0].customdata[-1] == ["all votes agree", "1 row (50.0%)"]
        by_size = figures.agreement_histogram(rows, by="size")
        assert by_size.data[0].y.tolist() == [1, 1, 2, 0]
        assert by_size.data[0].customdata[0][0] == "no votes"

    def test_nothing_but_silence_is_an_empty_picture(self):
        rows = row_agreement(Votes(np.full((3, 2), -1), np.arange(2), ("a", "b")))
        assert figures.agreement_histogram(rows).data[0].y.sum() == 0


class TestBars:
    def test_the_fewest_votes_come_first(self):
        figure = figures.coverage_bars([1.0, 0.25, 0.5], ["a", "b", "c"], n_rows=8)
        assert figure.data[0].y == ("b", "c", "a")
        assert figure.data[0].x.tolist() == [0.25, 0.5, 1]
        assert list(figure.data[0].customdata[0]) == ["b", "voted on 2 of 8 rows (25.00%)"]

    def test_those_left_out_are_counted(self):
        figure = figures.coverage_bars(np.linspace(0, 1, 100), [f"m{j}" for j in range(100)])
        assert figure.data[0].y == tuple(f"m{j}" for j in range(40))
        assert "40 of 100" in figure.layout.yaxis.title.text

    def test_the_parts_of_a_rule_add_up_to_its_coverage(self):
        coverage, overlap, conflict = np.array([[0.2, 0.5, 0.0], [0.1, 0.5, 0.0], [0.1, 0.2, 0.0]])
        polarity = [["spam"], ["ham", "spam"], []]
        alone, agreeing, against = figures.rule_bars(["a", "b", "c"], polarity, coverage, overlap, conflict).data
        assert alone.y == ("b", "a → spam", "c → nothing")
        np.testing.assert_allclose(alone.x, [0, 0.1, 0])
        np.testing.assert_allclose(agreeing.x, [0.3, 0, 0])
        np.testing.assert_allclose(against.x, [0.2, 0.1, 0])
        np.testing.assert_allclose(alone.x + agreeing.x + against.x, [0.5, 0.2, 0])

    def test_accuracy_has_its_interval_and_the_majority_vote_beside_it(self):
        figure = figures.accuracy_bars(["a", "silent", "b"], [0.5, np.nan, 1.0], [10, 0, 4], 0.75)
        bars = figure.data[0]
        assert bars.y == ("b", "a")
        assert bars.x.tolist() == [1, 0.5]
        assert bars.error_x.array[0] == 0  # nothing above 100%
        low = bars.x[1] - bars.error_x.arrayminus[1]
        assert low == pytest.approx(0.2366, abs=1e-4)  # Wilson, 5 of 10
        assert bars.customdata[1] == ["a", "50.00% of 10 votes right", "95% interval 23.7% to 76.3%"]
        assert figure.layout.shapes[0].x0 == 0.75
        assert "75.0%" in figure.layout.annotations[0].text

    def test_without_majority_vote_there_is_no_line(self):
        assert not figures.accuracy_bars(["a"], [0.5], [10]).layout.shapes


class TestNames:
    def test_long_names_keep_both_ends(self):
        assert short("a" * 30 + "_17") == "a" * 9 + "…" + "aaaaa_17"
        assert len(short("x" * 61, 60)) == 60
        assert short("short") == "short"

    def test_a_learner_has_one_name_in_every_picture(self):
        learners = ["same_" * 10 + str(j) + "_" * 20 for j in range(3)]
        names = bar_names(learners)
        assert len(set(names)) == 3
        figure = figures.coverage_bars([0.9, 0.5, 0.1], learners)
        assert figure.data[0].y == (names[2], names[1], names[0])

    def test_html_and_templates_are_disarmed(self):
        assert safe("<b>&%{y}") == "&lt;b&gt;&amp;% {y}"
