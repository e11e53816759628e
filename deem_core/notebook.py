"""Notebooks: small pictures in HTML, and figures on request.

What a notebook shows of an object is plain HTML with SVG: no script, every text escaped. Figures are Plotly's, which
only `deem_core.figures` imports; here they are named as text and loaded when somebody asks for one.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any

from deem_core.text import clip

MOST_BARS = 12
"""Bars of a small picture; the rest is counted."""

_HOME = "deem_core.figures.plots"
_WIDTH, _HEIGHT = 160, 28  # pixels of a curve
_LETTERS = 40  # of a name
_CELL = "padding:0 .6em 0 0;text-align:left"
_COLOURS = ("#2563eb", "#d97706", "#059669", "#dc2626", "#7c3aed")


def figure(name: str, *things: Any, **options: Any) -> Any:
    """Return a Plotly figure by its name in `deem_core.figures.plots`."""
    return getattr(import_module(_HOME), name)(*things, **options)


def paragraphs(texts: Iterable[str]) -> str:
    """Return sentences as paragraphs."""
    return "".join(f"<p>{html.escape(str(text))}</p>" for text in texts)


def bars(title: str, names: Sequence[Any], shares: Sequence[float], texts: Sequence[str]) -> str:
    """Return bars from 0 to 1 with a name and a text each.

    A share that is not finite has no bar.
    """
    rows = "".join(
        f'<tr><td style="{_CELL}">{html.escape(clip(str(name), _LETTERS))}</td><td style="{_CELL}">{_bar(share)}</td>'
        f'<td style="{_CELL}">{html.escape(text)}</td></tr>'
        for name, share, text in list(zip(names, shares, texts, strict=True))[:MOST_BARS]
    )
    more = f"<p>… and {len(names) - MOST_BARS:,} more</p>" if len(names) > MOST_BARS else ""
    return f"<table><caption>{html.escape(title)}</caption>{rows}</table>{more}"


def _bar(share: float) -> str:
    wide = 0.0 if not math.isfinite(share) else min(max(share, 0.0), 1.0) * _WIDTH
    return (
        f'<svg width="{_WIDTH}" height="10" role="img" aria-hidden="true">'
        f'<rect width="{wide:.1f}" height="10" rx="2" fill="{_COLOURS[0]}"/></svg>'
    )


def curves(title: str, lines: Sequence[Sequence[float]]) -> str:
    """Return some curves over one another, each from left to right."""
    finite = [value for line in lines for value in line if math.isfinite(value)]
    if not finite:
        return ""
    low, high = min(finite), max(finite)
    drawn = "".join(_line(line, low, high, _COLOURS[at % len(_COLOURS)]) for at, line in enumerate(lines))
    return (
        f"<p>{html.escape(title)}: {low:.3g} to {high:.3g}</p>"
        f'<svg width="{2 * _WIDTH}" height="{2 * _HEIGHT}" role="img" aria-label="{html.escape(title)}">{drawn}</svg>'
    )


def _line(line: Sequence[float], low: float, high: float, colour: str) -> str:
    across, up = max(len(line) - 1, 1), (high - low) or 1.0
    points = " ".join(
        f"{2 * _WIDTH * at / across:.1f},{2 * (_HEIGHT - 1) * (1 - (value - low) / up) + 1:.1f}"
        for at, value in enumerate(line)
        if math.isfinite(value)
    )
    return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
