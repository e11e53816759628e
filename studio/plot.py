"""Plotly figures that stay where they are while their data change.

``st.plotly_chart`` makes a new chart whenever its data change: it is blank for a moment, and zoom and hidden curves are
lost. This element keeps one chart and draws it again in place (``plot.js``), with the copy of Plotly that Streamlit
ships.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import streamlit as st

from deem_core import DeemError

_JS = (Path(__file__).parent / "plot.js").read_text(encoding="utf-8")
_STATIC = Path(st.__file__).parent / "static" / "static" / "js"
_mount = st.components.v2.component(
    "deem_plot",
    html='<div class="deem-plot" style="width: 100%; min-height: 300px"></div>',
    css=".deem-plot { overflow: hidden } .deem-plot .nsewdrag { cursor: crosshair } "
    ".deem-plot g.trace { transition: opacity 0.1s }",
    js=_JS,
    isolate_styles=False,
)


def code_file() -> str:
    """Return the name of Streamlit's file that holds Plotly.

    Raises
    ------
    DeemError
        If this version of Streamlit has none.
    """
    names = sorted(path.name for path in _STATIC.glob("PlotlyChart.*.js"))
    if not names:
        raise DeemError("This version of Streamlit draws figures differently; install the version in requirements.txt.")
    return names[0]


def show(
    figure: str,
    key: str,
    *,
    alt: str,
    config: Mapping[str, Any],
    on_pick: Callable[[Any], None] | None = None,
) -> None:
    """Show a figure, drawn again in place under the same key.

    Of its layout ``meta["arrangements"]`` are layouts for narrow places: a list of ``{"below": pixels, "layout":
    changes}``.

    Parameters
    ----------
    figure : str
        JSON of a Plotly figure.
    key : str
    alt : str
        What is to be seen, for those who cannot see it.
    config : mapping
        Plotly's own options.
    on_pick : callable, optional
        Called with the ``customdata`` of a clicked point.
    """

    def picked() -> None:
        event: Any = st.session_state.get(key)
        value = None if event is None else event.get("picked")
        if on_pick is not None and value is not None:
            on_pick(value)

    _mount(
        key=key,
        data={
            "figure": figure,
            "config": json.dumps(dict(config)),
            "file": code_file(),
            "alt": alt,
        },
        on_picked_change=picked,
    )
