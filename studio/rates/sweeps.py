"""Sweeps on a page: settings, result so far, chosen rate."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from deem_core import DeemError, InputError
from deem_core.model import Shape, TrainConfig, resolve
from deem_core.runs import Run
from deem_core.training.guidance import RULE, TAIL, THRESHOLDS, WORTH, Verdict, smooth
from deem_core.training.sweep import Sweep, check_rates, default_rates
from deem_core.typing import Floats
from studio import jobs, state
from studio.data.datasets import Opened

PILLS = "rate_pills"
CURVES = "rate_curves"
TABLE = "rate_table"

VERDICT_LOOKS = {
    "recommended": ("Recommended", "green"),
    "usable": ("Usable", "blue"),
    "too small": ("Too small", "gray"),
    "not settled": ("Not settled", "yellow"),
    "rising energy": ("Rising energy", "orange"),
    "exploding difference": ("Exploding", "red"),
    "class died": ("A class died", "red"),
    "not finite": ("Not finite", "red"),
    "open": ("Open", "gray"),
}
SO_FAR = {f"{words} so far": color for words, color in VERDICT_LOOKS.values()}
ALL_LOOKS = dict(VERDICT_LOOKS.values()) | SO_FAR
"""Words of a verdict in the table → colour."""

NO_REFEREE = (
    "The grouped model does not judge the labels here: it does not explain these votes, or was not asked (start: "
    "majority)."
)

LEAST_SHARE = next(value for name, value, _ in THRESHOLDS if name == "smallest class share")


# ---------------------------------------------------------------------- settings


def defaults(opened: Opened) -> dict[str, Any]:
    """Return the settings that a sweep of a dataset takes by itself."""
    shape = Shape.of(opened.reading.votes)
    settled = resolve(TrainConfig(), shape).config
    rates = default_rates(shape)
    return {
        "lowest": rates[0],
        "highest": rates[-1],
        "count": len(rates),
        "updates": settled.updates,
        "n_layers": settled.n_layers,
        "batch_size": settled.batch_size,
    }


def grid(lowest: float, highest: float, count: int) -> list[float]:
    """Return rates at even distances on a logarithmic scale, to two digits.

    Raises
    ------
    InputError
        If the ends are in the wrong order.
    """
    if not 0 < lowest < highest:
        raise InputError("The lowest rate must be above 0 and below the highest.")
    ratio = math.log(highest / lowest) / max(count - 1, 1)
    return sorted({float(f"{lowest * math.exp(ratio * k):.2g}") for k in range(count)})


def parse_rates(text: str) -> list[float]:
    """Return the rates that somebody typed, separated by commas, semicolons or blanks.

    Raises
    ------
    InputError
        If one is not a positive number, or there are none.
    """
    words = text.replace(",", " ").replace(";", " ").split()
    try:
        return check_rates([float(word) for word in words])
    except ValueError:
        raise InputError(f"{text[:60]!r} is not a list of numbers; write for example 0.1, 0.3, 1.") from None


# ---------------------------------------------------------------------- what is known


def result_so_far(run: Run) -> Sweep | None:
    """Return the sweep as far as it is known.

    None before anything is.
    """
    content = run.summary() or run.partial()
    try:
        return None if content is None else Sweep.from_dict(content)
    except DeemError:
        return None


def table(sweep: Sweep, verdicts: Sequence[Verdict]) -> pd.DataFrame:
    """Return a row per candidate: verdict, reason, difference, two numbers."""
    chosen = sweep.recommendation.index
    return pd.DataFrame(
        {
            "": ["★" if r == chosen else "" for r in range(len(verdicts))],
            "rate": [keys(sweep)[r] for r in range(len(verdicts))],
            "verdict": [[look(verdict)] for verdict in verdicts],
            "reason": [verdict.reason for verdict in verdicts],
            "difference": [[value for value in row if math.isfinite(value)] for row in sweep.difference.tolist()],
            "final difference": [final(row, sweep.smoothing) for row in sweep.difference],
            "smallest class": [verdict.numbers.share_ratio for verdict in verdicts],
        }
    )


def look(verdict: Verdict) -> str:
    """Return the words of a verdict in the table."""
    words = VERDICT_LOOKS[verdict.kind][0]
    return f"{words} so far" if verdict.words != verdict.kind else words


def final(difference: Floats, smoothing: float) -> float:
    """Return the end of a curve as it is drawn.

    Verdicts turn mirrored curves round.

    Parameters
    ----------
    difference : (T,) float64
        NaN where nothing was recorded.
    """
    finite = difference[np.isfinite(difference)]
    return float(smooth(finite, smoothing)[-max(1, round(TAIL * len(finite))) :].mean()) if len(finite) else math.nan


def keys(sweep: Sweep) -> list[float]:
    """Return what tells the candidates apart: learning rates, or numbers of layers."""
    return [float(layers) for layers in sweep.n_layers] if sweep.by_depth else [float(rate) for rate in sweep.rates]


# ---------------------------------------------------------------------- choosing


def chosen_rate() -> float | None:
    """Return the learning rate in the address, if it is one."""
    said = state.get(state.RATE)
    try:
        rate = float(said) if said is not None else None
    except ValueError:
        return None
    return rate if rate is not None and math.isfinite(rate) and rate > 0 else None


def choose(rate: float | None) -> None:
    """Choose a learning rate."""
    state.put(state.RATE, None if rate is None else f"{rate:g}")


def offer(run_id: str, rates: Sequence[float], recommended: float | None) -> float | None:
    """Return the chosen rate, else the recommended one.

    A rate that the sweep does not have is not offered. The pills show it.
    """
    wish = chosen_rate()
    current = next((rate for rate in rates if wish is not None and math.isclose(rate, wish, rel_tol=1e-4)), None)
    current = recommended if current is None else current
    st.session_state[f"{PILLS}_{run_id}"] = current
    return current


def take_pill(run_id: str, shown: float | None) -> None:
    """Take the rate of the pills; an ``on_change`` callback.

    The rate that was shown already is nobody's choice.
    """
    rate: Any = state.value(f"{PILLS}_{run_id}")
    if rate is not None and rate != shown:
        choose(rate)


def take_point(key: str, rates: Sequence[float]) -> None:
    """Take the rate of a clicked point; an ``on_select`` callback."""
    event: Any = state.value(key)
    rate = clicked_rate(event, rates)
    if rate is not None:
        choose(rate)


def clicked_rate(event: Mapping[str, Any] | None, rates: Sequence[float]) -> float | None:
    """Return the rate whose point was clicked, if any."""
    points = (event or {}).get("selection", {}).get("points", [])
    if not points:
        return None
    wish = points[0].get("customdata")
    wish = wish[0] if isinstance(wish, (list, tuple)) and wish else wish
    return next((rate for rate in rates if isinstance(wish, (int, float)) and rate == float(wish)), None)


def take_row(key: str, rates: Sequence[float], shown: float | None) -> None:
    """Take the rate of a clicked row; an ``on_select`` callback.

    A table that is drawn with a row marked says so by itself: that is nobody's choice.
    """
    event: Any = state.value(key)
    rows = (event or {}).get("selection", {}).get("rows", [])
    if rows and rows[0] < len(rates) and rates[rows[0]] != shown:
        choose(rates[rows[0]])


def settings_key(dataset_id: str, *, first: bool) -> str:
    """Return the key of the settings expander.

    It is open before the first sweep and closed beside others.
    """
    return f"sweep_settings_{dataset_id}_{'first' if first else 'next'}"


def start(opened_id: str, config: Mapping[str, Any], title: str) -> None:
    """Start a sweep and close its settings.

    The rate chosen in the one before no longer counts.
    """
    choose(None)
    state.set_value(settings_key(opened_id, first=False), False)
    jobs.start("sweep", opened_id, config, title)


def train_with(rate: float) -> None:
    """Carry a rate to the Train page."""
    choose(rate)
    state.go_to("train")


def train_from_groups() -> None:
    """Go to the Train page without a rate."""
    choose(None)
    state.go_to("train")


def reopen(run_id: str) -> None:
    """Turn to an earlier sweep."""
    choose(None)
    state.put(state.SWEEP, run_id)


def rule() -> str:
    """Return how the recommended rate is chosen, and what that is worth."""
    return f"{RULE} {WORTH}"


def thresholds() -> pd.DataFrame:
    """Return the thresholds behind the verdicts, with their meaning."""
    rows = [(name.replace("_", " ").lower(), value, meaning) for name, value, meaning in THRESHOLDS]
    return pd.DataFrame(rows, columns=["threshold", "value", "meaning"])
