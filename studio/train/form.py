"""Settings of a training as widgets.

What is left as it is follows from the data, and says so.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar

import streamlit as st

from deem_core.comparison import METHODS, TRAINED
from deem_core.model import AUTO, GROUPS_RATE, Settings, Shape, TrainConfig, resolve
from studio import background, state, text, widgets
from studio.data.datasets import Opened
from studio.rates import sweeps
from studio.train.settings import STARTS, TITLES, VALUES, method_title

VERSION = "deem_train_settings"
"""Counts resets, so that all widgets begin anew."""

FROM_DATA, CHOSEN, BY_SWEEP = "Automatic", "Manual", "From a sweep"
METHOD = "method"
LAYERED = ("deem", "deem_soft")
"""Methods with layers."""
_WHY = {item.name: item.metadata["why"] for item in fields(TrainConfig)}


def reset() -> None:
    """Forget all settings; for the ``on_click`` of a button."""
    st.session_state[VERSION] = st.session_state.get(VERSION, 0) + 1


def show(opened: Opened) -> dict[str, Any]:
    """Show the settings and return the config of a train run."""
    votes = opened.reading.votes
    methods = [name for name in TRAINED if votes.soft is not None or not METHODS[name].soft]
    default = None if state.value(_key(METHOD)) else "deem"  # one that a button chose stands in the session
    chosen = st.segmented_control(
        TITLES["method"],
        methods,
        default=default,
        required=True,
        format_func=method_title,
        **_keep(METHOD),
        help="DEEM has layers that disentangle learners. The iRBM has none and is equivalent to Dawid–Skene; "
        "exact fits it by maximum likelihood, without a sampler. Grouped Dawid–Skene looks for learners that make "
        "the same mistakes, and is fitted exactly too. Soft DEEM reads probabilities, where a file has "
        "them; all others read the most probable class of each vote.",
    )
    method = chosen or "deem"
    usual = resolve(TrainConfig(), Shape.of(votes), soft=METHODS[method].soft)
    config: dict[str, Any] = {"method": method}
    tunable = METHODS[method].tunable
    if tunable:
        config |= _rate(method, usual, opened)
        config |= _main(method, usual, opened)
    config["random_state"] = st.session_state.get(_key("seed"), 0) if tunable else 0
    if tunable:
        with st.expander("Advanced", icon=":material/tune:"):
            config |= _advanced(method, usual)
    return {name: value for name, value in config.items() if value is not None}


def choose_method(method: str) -> None:
    """Choose a method; for the ``on_click`` of a button."""
    state.set_value(_key(METHOD), method)


def is_swept(method: str) -> bool:
    """Return whether a sweep of learning rates says something about a method."""
    return METHODS[method].tunable and not METHODS[method].soft


def _rate(method: str, usual: Settings, opened: Opened) -> dict[str, Any]:
    swept = is_swept(method)
    chosen = sweeps.chosen_rate() if swept else None
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    kind = left.segmented_control(
        TITLES["learning_rate"],
        [FROM_DATA, CHOSEN, *([BY_SWEEP] if swept else [])],
        default=CHOSEN if chosen is not None else FROM_DATA,
        required=True,
        **_keep(f"rate_kind_{chosen}_{swept}"),
        help="From a sweep: several rates are tried first and the recommended one is used. It takes about as long as "
        "the training itself.",
    )
    if swept and kind != BY_SWEEP:
        _recommended(opened, chosen, float(usual.config.learning_rate or 0))
    if kind == BY_SWEEP:
        return {"learning_rate": AUTO}
    if kind == FROM_DATA:
        elsewhere = f"; {GROUPS_RATE:g} from the grouped model" if swept else ""
        right.caption(f"{usual.config.learning_rate:g}: {usual.reasons['learning_rate']}{elsewhere}")
        return {}
    rate = right.number_input(
        "Rate",
        1e-6,
        100.0,
        chosen or float(usual.config.learning_rate or 0.5),
        format="%g",
        **_keep(f"rate_{chosen}_{swept}"),
        label_visibility="collapsed",
    )
    return {"learning_rate": rate}


def _recommended(opened: Opened, chosen: float | None, default: float) -> None:
    """Offer the rate that the latest sweep recommends, if unused."""
    found = sweeps.latest_words(opened.dataset.id)
    if found is None or found[0] == chosen:
        return
    rate, words = found
    why = "" if rate == default else f" {sweeps.NOT_THE_DEFAULT}"
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="swept_rate"):
        st.markdown(f":green[:material/star:] {text.plain(words + why)}", width="stretch")
        st.button(f"Use {rate:g}", key="use_swept_rate", on_click=sweeps.choose, args=(rate,))


def _main(method: str, usual: Settings, opened: Opened) -> dict[str, Any]:
    n_rows, config_from_data = opened.reading.votes.n_rows, usual.config
    epochs = (config_from_data.updates or 0) * (config_from_data.batch_size or 1) / n_rows
    grid = st.grid(6, min_column_width=140)
    config: dict[str, Any] = {}
    if method in LAYERED:
        config["n_layers"] = _automatic(grid, "n_layers", (0, 10), config_from_data.n_layers or 0)
    config["restarts"] = grid.number_input(TITLES["restarts"], 1, 100, 5, **_keep("restarts"), help=_help("restarts"))
    config["epochs"] = _automatic(
        grid,
        "epochs",
        (0.01, 100_000.0),
        epochs,
        words=f"Passes through the data. {_help('updates')} Automatic: {config_from_data.updates:,} updates.",
    )
    config["batch_size"] = _automatic(grid, "batch_size", (1, n_rows), config_from_data.batch_size or 1)
    config["device"] = background.choose_device(grid, _keep("device"))
    grid.number_input(TITLES["random_state"], 0, 2**31 - 1, 0, **_keep("seed"), help="Same seed, same labels.")
    return config


def _advanced(method: str, usual: Settings) -> dict[str, Any]:
    config_from_data = usual.config
    grid = st.grid(4, min_column_width=180)
    config: dict[str, Any] = {
        "sampler": _choice(grid, "sampler"),
        "sampler_steps": grid.number_input(
            TITLES["sampler_steps"], 1, 1000, 5, **_keep("sampler_steps"), help=_help("sampler_steps")
        ),
        "step_size": _automatic(grid, "step_size", (1e-6, 100.0), float(config_from_data.step_size or 1)),
        "chain_start": _choice(grid, "chain_start"),
        "momentum": grid.number_input(TITLES["momentum"], 0.0, 0.99, 0.0, **_keep("momentum"), help=_help("momentum")),
        "l1": _penalty(grid, "l1"),
        "l2": _penalty(grid, "l2"),
        "init_scale": _automatic(grid, "init_scale", (1e-6, 100.0), float(config_from_data.init_scale or 1)),
    }
    if not METHODS[method].soft:
        config |= {"start": _start(grid), "near_copies": _choice(grid, "near_copies")}
    if method in LAYERED:
        config["activation"] = _choice(grid, "activation")
    if method == "deem":
        config["draws"] = grid.number_input(
            TITLES["draws"],
            0,
            10_000,
            0,
            **_keep("draws"),
            help="Average the answer over this many passes with sampled layer outputs (the paper's E(Y|X) "
            f"by sampling); 0 is one pass with their probabilities. {_help('draws')}",
        )
    config["early_stop"] = grid.toggle(TITLES["early_stop"], **_keep("early_stop"), help=_help("early_stop"))
    config["allow_few_learners"] = grid.toggle(
        TITLES["allow_few_learners"],
        **_keep("allow_few_learners"),
        help=_help("allow_few_learners"),
    )
    standard = TrainConfig()
    return {name: value for name, value in config.items() if value != getattr(standard, name)}


Number = TypeVar("Number", int, float)


def _automatic(grid: Any, name: str, bounds: tuple[Number, Number], usual: Number, *, words: str = "") -> Number | None:
    """Return what somebody set, None for the automatic value.

    The label says "auto" then.
    """
    usual = type(usual)(f"{usual:.3g}") if isinstance(usual, float) else usual
    usual = min(max(usual, bounds[0]), bounds[1])
    own = f"{name}_{usual:g}"  # another method may have another automatic value
    held = state.value(_key(own))
    value: Number = grid.number_input(
        f"{TITLES[name]} (auto)" if held in (None, usual) else TITLES[name],
        *bounds,
        usual,
        format="%d" if isinstance(usual, int) else "%g",
        **_keep(own),
        help=words or _help(name),
    )
    return None if value == usual else value


def _penalty(grid: Any, name: str) -> float:
    value: float = grid.number_input(TITLES[name], 0.0, 100.0, 0.0, format="%g", **_keep(name), help=_help(name))
    return value


def _choice(grid: Any, name: str) -> str:
    item = next(each for each in fields(TrainConfig) if each.name == name)
    value: str = grid.selectbox(
        TITLES[name],
        item.metadata["choices"],
        format_func=lambda each: VALUES[name][each],
        **_keep(name),
        help=_help(name),
    )
    return value


def _start(grid: Any) -> str:
    """Return where training starts.

    A rate that a sweep recommends holds from the majority vote.
    """
    chosen = sweeps.chosen_rate()
    value: str = grid.selectbox(
        TITLES["start"],
        STARTS,
        index=list(STARTS).index("majority" if chosen is not None else AUTO),
        format_func=lambda name: STARTS[name],
        **_keep(f"start_{chosen}"),
        help=f"{_help('start')} By default training starts from the grouped model where that explains the "
        "votes. A rate chosen on the Learning rate page is meant for a start from the majority vote.",
    )
    return value


def _help(name: str) -> str:
    why = _WHY[name]
    return f"{why[:1].upper()}{why[1:]}."


def _key(name: str) -> str:
    return f"train_{st.session_state.get(VERSION, 0)}_{state.get(state.DATA)}_{name}"


def _keep(name: str) -> widgets.Kept:
    return widgets.keep(_key(name))
