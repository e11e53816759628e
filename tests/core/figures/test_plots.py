"""Figures that objects draw of themselves, and what notebooks show of them."""

import re

import numpy as np
import plotly.graph_objects as go
import pytest

import deem_core
from deem_core import DEEM, GroupedDawidSkene, InputError, Votes, compare, fuse, notebook, simulate, sweep

EVIL = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def votes():
    made = simulate("condind", 200, 0).votes.select_learners(range(5))
    return Votes(
        made.codes, np.array(["cat", EVIL, "dog"], object), tuple(f"{EVIL}{j}" for j in range(5)), truth=made.truth
    )


@pytest.fixture(scope="module")
def model(votes):
    return DEEM(restarts=2, updates=12, batch_size=64, random_state=0).fit(votes)


@pytest.fixture(scope="module")
def swept(votes):
    return sweep(votes, rates=[0.1, 0.5], updates=12, random_state=0)


def test_everything_draws_itself(votes, model, swept):
    answer, compared = fuse(votes, "mv"), compare(votes, methods=["mv", "ds"])
    drawn = {
        "class shares": answer.plot(),
        "changes": answer.plot("label_changes", theme="dark"),
        "confidence": answer.plot("confidence"),
        "energies": model.plot_energies(smoothing=0.0, x="update"),
        "accuracy": compared.plot(),
        "agreement": compare(votes.without_truth(), methods=["mv", "ds"]).plot(),
        "sweep": swept.plot(),
    }
    for name, figure in drawn.items():
        assert isinstance(figure, go.Figure), name
        assert len(figure.data), name
    assert len({str(figure.layout.title.text) for figure in drawn.values()}) == len(drawn)
    counted = sum(np.nansum(np.asarray(trace.y, float)) for trace in drawn["confidence"].data if trace.y is not None)
    assert counted == pytest.approx(200)


def test_wrong_wishes_get_a_sentence(votes, swept):
    answer = fuse(votes, "mv")
    with pytest.raises(InputError, match="no figure 'pie' of an answer; there are class_shares"):
        answer.plot("pie")
    with pytest.raises(InputError, match="light or dark"):
        swept.plot(theme="pink")
    with pytest.raises(InputError, match="fitted exactly"):
        GroupedDawidSkene(random_state=0).fit(votes).plot_energies()
    with pytest.raises(InputError, match="not fitted yet"):
        DEEM().plot_energies()


def test_notebooks_get_html_without_scripts_and_with_small_pictures(votes, model, swept):
    pages = {
        "votes": votes._repr_html_(),
        "answer": fuse(votes, "mv")._repr_html_(),
        "comparison": compare(votes, methods=["mv", "ds"])._repr_html_(),
        "sweep": swept._repr_html_(),
        "model": model._training_html(),
    }
    for name, page in pages.items():
        assert EVIL not in page, name
        assert "<script" not in page, name
        assert "<table" in page, name
        assert "<svg" in page, name
    assert pages["model"].count("<polyline") == 2
    assert repr(fuse(votes, "mv")).startswith("Answer(200 rows × 3 classes by mv, 0 labels differ")
    assert swept.recommendation.why.split(":")[0].split("&")[0][:20] in pages["sweep"]


def test_small_bars_are_as_long_as_their_shares():
    page = notebook.bars("Title", ["a", "b", "c", "d"], [1.0, 0.5, float("nan"), 2.0], ["x"] * 4)
    assert [float(wide) for wide in re.findall(r'rect width="([\d.]+)"', page)] == [160, 80, 0, 160]
    many = notebook.bars("Title", list(range(30)), [0.1] * 30, [""] * 30)
    assert many.count("<rect") == notebook.MOST_BARS
    assert "… and 18 more" in many


def test_small_curves_fit_their_frame_and_skip_what_is_not_finite():
    page = notebook.curves("Energy", [[0.0, float("nan"), 2.0], [1.0]])
    points = [pair.split(",") for line in re.findall(r'points="([^"]*)"', page) for pair in line.split()]
    assert len(points) == 3
    assert all(0 <= float(x) <= 320 and 0 <= float(y) <= 56 for x, y in points)
    assert "Energy: 0 to 2" in page
    assert notebook.curves("Energy", [[float("nan")]]) == ""


def test_asking_for_a_figure_is_what_loads_plotly():
    import subprocess
    import sys

    code = (
        "import sys; from deem_core import fuse; answer = fuse([['a', 'a', 'b'], ['b', 'b', 'b']], method='mv'); "
        "answer._repr_html_(); before = 'plotly' in sys.modules; answer.plot(); print(before, 'plotly' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
    assert deem_core.notebook is notebook
