"""Sweeps on a page: settings, result so far, chosen rate."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from deem_core import DeemError, InputError
from deem_core.model import Shape, TrainConfig, resolve
from deem_core.runs import Run
from deem_core.training.guidance import EXPLOSION, RISE, RULE, TAIL, THRESHOLDS, TIMES, WORTH, Verdict, smooth
from deem_core.training.sweep import Sweep, check_rates, default_rates
from deem_core.typing import Floats
from studio import jobs, state
from studio.data.datasets import Opened

PILLS = "rate_pills"
CURVES = "rate_curves"
TABLE = "rate_table"

TABLE_TURNS = "rate_table_turns"
"""Counts tables, so that one whose row was unmarked is replaced by a fresh one."""


@dataclass(frozen=True)
class Look:
    """How a verdict is shown wherever it is shown: words, colour, meaning."""

    words: str
    color: str
    meaning: str


VERDICT_LOOKS = {
    "recommended": Look("Recommended", "green", "Use this one: it was chosen by the rule below."),
    "usable": Look("Usable", "blue", "The difference dips early, returns towards zero and stays there."),
    "not settled": Look("Not settled", "yellow", "It dipped but has not returned: more updates may help."),
    "too small": Look("Too small", "gray", "Hardly anything moves: nothing is learned in this time."),
    "rising energy": Look("Rising energy", "orange", "An energy climbs instead of falling: the model drifts away."),
    "exploding difference": Look("Exploding", "red", "The difference keeps growing: the rate is much too large."),
    "class died": Look("Class lost", "red", "One of your classes gets far fewer rows than by majority vote."),
    "not finite": Look("Broke down", "red", "The numbers overflowed: the rate is far too large."),
    "open": Look("Too early", "gray", "The sweep has not run long enough to tell."),
}
SO_FAR = {f"{shown.words} so far": shown.color for shown in VERDICT_LOOKS.values()}
ALL_LOOKS = {shown.words: shown.color for shown in VERDICT_LOOKS.values()} | SO_FAR
"""Words of a verdict in the table → colour."""

NO_REFEREE = "The grouped model plays no part here: it does not explain these votes, or was not used (start: majority)."

NOT_THE_DEFAULT = (
    f"If the curves show no problem, a sweep takes {TIMES} the default rate; the default has to be safe without a "
    "sweep."
)
"""Why a sweep and the default differ."""

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
    words = VERDICT_LOOKS[verdict.kind].words
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


def take_point(value: object, rates: Sequence[float]) -> None:
    """Take the rate of a clicked point."""
    rate = next((rate for rate in rates if isinstance(value, (int, float)) and rate == float(value)), None)
    if rate is not None:
        choose(rate)


def take_row(key: str, rates: Sequence[float], shown: float | None) -> None:
    """Take the rate of a clicked row; an ``on_select`` callback.

    A table that is drawn with a row marked says so by itself: that is nobody's choice. A row that is unmarked gives
    the choice back to the recommendation, which a fresh table marks.
    """
    event: Any = state.value(key)
    rows = (event or {}).get("selection", {}).get("rows", [])
    if not rows:
        choose(None)
        state.set_value(TABLE_TURNS, table_turns() + 1)
    if rows and rows[0] < len(rates) and rates[rows[0]] != shown:
        choose(rates[rows[0]])


def table_turns() -> int:
    """Return how many tables were replaced."""
    turns = state.value(TABLE_TURNS)
    return turns if isinstance(turns, int) else 0


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


def too_early(sweep: Sweep) -> bool:
    """Return whether the sweep is too short for a recommendation."""
    return sweep.recommendation.kind == "too early"


def exploding(sweep: Sweep) -> list[float]:
    """Return the candidates whose curves dwarf all others."""
    return [
        key
        for key, verdict in zip(keys(sweep), sweep.verdicts, strict=True)
        if verdict.kind in ("exploding difference", "not finite")
        or verdict.numbers.peak > EXPLOSION
        or verdict.numbers.rise > RISE
    ]


def latest_words(dataset_id: str) -> tuple[float, str] | None:
    """Return the rate that the dataset's latest sweep recommends, and a sentence."""
    for run in jobs.of_dataset(dataset_id, "sweep"):
        sweep = result_so_far(run) if run.state().state == "done" else None
        if sweep is not None and not sweep.by_depth and sweep.recommendation.kind == "recommended":
            rate = float(sweep.recommendation.learning_rate or 0)
            return rate, f"Your sweep from {jobs.when(run)} recommends {rate:g}."
    return None


def rule() -> str:
    """Return how the recommended rate is chosen, and what that is worth."""
    return f"{RULE} {WORTH}"


def thresholds() -> pd.DataFrame:
    """Return the thresholds behind the verdicts, with their meaning."""
    rows = [(name.replace("_", " ").lower(), value, meaning) for name, value, meaning in THRESHOLDS]
    return pd.DataFrame(rows, columns=["threshold", "value", "meaning"])
