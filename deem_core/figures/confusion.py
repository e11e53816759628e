"""Pictures of confusion: what a learner says when the label is something."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike, NDArray

from deem_core.figures._axes import panels, picture_layout, picture_of_nothing, shown_of
from deem_core.figures._cells import (
    MOST_WRITTEN,
    cell_names,
    cell_numbers,
    colour_bar,
    name_axis,
    places,
    strongest,
    tick_angle,
)
from deem_core.figures._names import short
from deem_core.figures._theme import Theme, theme_of
from deem_core.typing import Floats

MOST_CLASSES = 25
"""Classes that fit on a screen with their names."""

FEW_CLASSES = 6
"""Classes up to which percentages have room for their sign in each of two matrices."""

NOTHING = "Choose a learner to see what it says for each label."


def confusion_matrix(
    psi: ArrayLike,
    classes: Sequence[Any],
    *,
    counts: ArrayLike | None = None,
    learner: str = "the learner",
    label: str = "fused label",
    said: str = "vote",
    max_classes: int = MOST_CLASSES,
    theme: str | None = "light",
) -> go.Figure:
    """Draw what one learner votes for each label.

    A row per label, a column per vote.

    Parameters
    ----------
    psi : (K, K) array
        ``psi[l, m]`` = Pr(vote l | label m), as in `Confusion.psi`; NaN where nothing is known of label m.
    classes : sequence of K labels
    counts : (K,) array, optional
        Rows of each label that the learner voted on (`Confusion.support`), for the hover text.
    learner : str
        Its name, for the hover text.
    label : str
        What the rows are: "fused label", or "true label" for real confusion.
    said : str
        What the columns are.
    max_classes : int
        Of more classes, the most confused ones are drawn, and the axes say so.
    theme : "light" or "dark"
    """
    colours = theme_of(theme)
    share = np.asarray(psi, np.float64).reshape(len(classes), len(classes))
    if not np.isfinite(share).any():
        return picture_of_nothing(colours, NOTHING)
    support = _support(counts, len(classes))
    order = _most_confused([share], [support], max_classes)
    n = len(order)
    axis_names = [cell_names(classes)[0][k] for k in order]
    cells = _cells(share, classes, order, support=support, who=(learner, label), colours=colours)
    height = _height(n)
    words = shown_of("most confused first", max_classes, len(classes)) if len(classes) > max_classes else ""
    after = f" · {words}" if words else ""
    return go.Figure([cells.update(colorbar=_bar()), *_written(cells)]).update_layout(
        picture_layout(colours, height + 120),
        plot_bgcolor=colours.grid,
        xaxis={
            **name_axis(axis_names, f"{said}{after}", pixels=560),
            "tickangle": tick_angle(axis_names, 560),
        },
        yaxis=name_axis(axis_names, label, pixels=height, upwards=False),
    )


def confusion_pair(
    estimated: ArrayLike,
    real: ArrayLike,
    classes: Sequence[Any],
    *,
    estimated_counts: ArrayLike | None = None,
    real_counts: ArrayLike | None = None,
    learner: str = "the learner",
    max_classes: int = MOST_CLASSES,
    theme: str | None = "light",
) -> go.Figure:
    """Draw estimated beside real confusion of a learner (evaluation only).

    Both have one scale and one order.

    Parameters
    ----------
    estimated, real : (K, K) array
        ``[l, m]`` = Pr(vote l | label m).
    classes : sequence of K labels
    estimated_counts, real_counts : (K,) array, optional
        Rows of each label that the learner voted on.
    learner : str
    max_classes : int
    theme : "light" or "dark"
    """
    colours = theme_of(theme)
    K = len(classes)
    shares = [np.asarray(psi, np.float64).reshape(K, K) for psi in (estimated, real)]
    if not any(np.isfinite(share).any() for share in shares):
        return picture_of_nothing(colours, NOTHING)
    supports = [_support(counts, K) for counts in (estimated_counts, real_counts)]
    order = _most_confused(shares, supports, max_classes)
    axis_names = [cell_names(classes)[0][k] for k in order]
    height = _height(len(order))
    figure = panels(colours, ["Estimated", "Real"], height=height + 150, spacing=0.06)
    labels = ("fused label", "true label")
    for at, (share, support, label) in enumerate(zip(shares, supports, labels, strict=True), start=1):
        cells = _cells(share, classes, order, support=support, who=(learner, label), colours=colours, panel=at - 1)
        figure.add_trace(cells.update(showscale=at == 2, colorbar=_bar()), row=1, col=at)
        for text in _written(cells, pair=True):
            figure.add_trace(text, row=1, col=at)
        axis = name_axis(axis_names, label if at == 1 else "", pixels=height, upwards=False, labelled=at == 1)
        figure.update_yaxes(axis, row=1, col=at)
    title = "vote" if max_classes >= K else f"vote ({len(order)} of {K:,})"
    across = name_axis(axis_names, title, pixels=280, most_letters=12)
    figure.update_xaxes({**across, "tickangle": tick_angle(axis_names, 280)})
    figure.update_yaxes(title={"text": "true label", "standoff": 6}, col=2)
    return figure.update_layout(plot_bgcolor=colours.grid)


def _cells(
    share: Floats,
    classes: Sequence[Any],
    order: NDArray[np.intp],
    *,
    support: Floats,
    who: tuple[str, str],
    colours: Theme,
    panel: int = 0,
) -> go.Heatmap:
    """Return the cells, labels downwards and votes to the right."""
    n, names = len(order), cell_names(classes)[1]
    learner, label = short(who[0], 60), who[1]

    def words(m: int, vote: int) -> str:
        given = f"when the {label} is <b>{names[m]}</b>"
        if np.isnan(share[vote, m]):
            return f"nothing is known of {learner}<br>{given}"
        rows = f"<br>{support[m]:,.0f} such rows with a vote" if np.isfinite(support[m]) else ""
        return f"{given},<br>{learner} says <b>{names[vote]}</b> in {_percent(share[vote, m])} of the rows{rows}"

    drawn = share[np.ix_(order, order)].T
    return go.Heatmap(
        z=drawn,
        zmin=0,
        zmax=1,
        x=list(range(n)),
        y=list(range(n)),
        colorscale=colours.colour_scale(),
        xgap=1,
        ygap=1,
        customdata=[[words(m, vote) for vote in order.tolist()] for m in order.tolist()],
        hovertemplate="%{customdata}<extra></extra>",
        hoverongaps=False,
        meta=places(order, order, panel),
    )


def _written(cells: go.Heatmap, *, pair: bool = False) -> list[go.Scatter]:
    """Return the percentages written on the cells, if there is room.

    On narrow cells they are small and without the sign.
    """
    share = np.asarray(cells.z, np.float64)
    narrow = pair and len(share) > FEW_CLASSES
    sign = "" if narrow else "%"
    texts = [[f"{100 * cell:.0f}{sign}" if cell >= 0.005 else "0" for cell in row] for row in share]
    return [cell_numbers(share, texts, cells, size=11 if narrow else 13)] if len(share) <= MOST_WRITTEN else []


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%" if share >= 0.0995 else f"{100 * share:.2g}%" if share >= 0.0001 else "hardly any"


def _most_confused(shares: Sequence[Floats], supports: Sequence[Floats], most: int) -> NDArray[np.intp]:
    """Return the classes drawn: all, or those with most wrong votes.

    Wrong votes are counted in rows where these are known.
    """
    total = np.zeros(len(shares[0]))
    for share, support in zip(shares, supports, strict=True):
        wrong = np.nan_to_num(np.where(np.eye(len(share), dtype=bool), 0, share) * np.nan_to_num(support, nan=1.0))
        total += wrong.sum(axis=0) + wrong.sum(axis=1)
    return strongest(total, most)


def _support(counts: ArrayLike | None, K: int) -> Floats:
    """Return rows of each label, NaN where they are not counted."""
    return np.broadcast_to(np.asarray(np.nan if counts is None else counts, np.float64), (K,))


def _height(n: int) -> int:
    return int(np.clip(38 * n, 180, 620))


def _bar() -> dict[str, Any]:
    return colour_bar("share of the label's rows", tickformat=".0%")
