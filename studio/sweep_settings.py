"""The settings of a sweep as widgets."""

from __future__ import annotations

from typing import Any

import streamlit as st

from deem_core.errors import InputError
from studio import estimates, sweeps
from studio.datasets import Opened


def show(opened: Opened) -> None:
    """Show the settings, the expected time and the button that starts the sweep.

    Raises
    ------
    InputError
        If the rates or depths do not serve; everything else is shown all the same.
    """
    usual = sweeps.defaults(opened)
    kind = st.segmented_control(
        "Compare",
        ["Learning rates", "Numbers of layers"],
        default="Learning rates",
        required=True,
        key="sweep_kind",
        persist_state="session",
        help="One thing at a time: rates at one depth, or depths at one rate.",
    )
    config: dict[str, Any] = {}
    problem = None
    try:
        config = _rates(opened, usual) if kind == "Learning rates" else _depths()
    except InputError as error:  # said where the button would be; the other settings stay where they are
        problem = error
    first, second, third, fourth = st.columns(4)
    config["updates"] = first.number_input(
        "Length (updates)",
        20,
        100_000,
        usual["updates"],
        step=50,
        key=f"sweep_updates_{opened.dataset.id}",
        persist_state="session",
        help="The same for every rate. Learning rate × updates decides how far a training goes.",
    )
    if kind == "Learning rates":
        config["n_layers"] = second.number_input(
            "Layers", 0, 10, usual["n_layers"], key=f"sweep_layers_{opened.dataset.id}", persist_state="session"
        )
    config["batch_size"] = third.number_input(
        "Batch (rows)",
        1,
        opened.reading.votes.n_rows,
        usual["batch_size"],
        key=f"sweep_batch_{opened.dataset.id}",
        persist_state="session",
        help="Rows per update. Another batch has other good rates.",
    )
    config["random_state"] = fourth.number_input("Seed", 0, 2**31 - 1, 0, key="sweep_seed", persist_state="session")
    if problem is not None:
        raise problem
    with st.container(horizontal=True, vertical_alignment="center"):
        estimates.show(opened.dataset.id, config)
        st.space("stretch")
        st.button(
            "Start the sweep",
            key="start_sweep",
            type="primary",
            icon=":material/play_arrow:",
            on_click=sweeps.start,
            args=(opened.dataset.id, config, title_of(config)),
        )


def _rates(opened: Opened, usual: dict[str, Any]) -> dict[str, Any]:
    by_hand = st.toggle("Type the rates", key="sweep_typed", persist_state="session")
    if by_hand:
        words = st.text_input("Learning rates", "0.05, 0.1, 0.2, 0.5, 1, 2", key="sweep_list", persist_state="session")
        return {"rates": sweeps.typed(words)}
    first, second, third = st.columns(3)
    own = opened.dataset.id  # the usual rates follow from the data
    lowest = first.number_input(
        "From", 1e-6, 100.0, usual["lowest"], format="%g", key=f"sweep_lowest_{own}", persist_state="session"
    )
    highest = second.number_input(
        "To", 1e-6, 100.0, usual["highest"], format="%g", key=f"sweep_highest_{own}", persist_state="session"
    )
    count = third.number_input("How many", 2, 20, usual["count"], key=f"sweep_count_{own}", persist_state="session")
    made = sweeps.grid(lowest, highest, count)
    st.caption(" · ".join(f"{rate:g}" for rate in made))
    return {"rates": made}


def _depths() -> dict[str, Any]:
    chosen = st.pills(
        "Numbers of layers",
        [0, 1, 2, 3],
        selection_mode="multi",
        default=[0, 1, 2],
        key="sweep_depths",
        persist_state="session",
    )
    rate = st.number_input(
        "At the learning rate",
        1e-6,
        100.0,
        sweeps.chosen_rate() or 0.5,
        format="%g",
        key="sweep_depth_rate",
        persist_state="session",
    )
    if not chosen:
        raise InputError("Choose at least one number of layers.")
    return {"n_layers": sorted(chosen), "rates": [rate]}


def title_of(config: dict[str, Any]) -> str:
    """Return what people call a sweep with these settings."""
    if isinstance(config.get("n_layers"), list):
        return f"Layers {', '.join(map(str, config['n_layers']))} at {config['rates'][0]:g}"
    return f"{len(config['rates'])} rates, {min(config['rates']):g} to {max(config['rates']):g}"
