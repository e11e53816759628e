"""The settings of a sweep as widgets."""

from __future__ import annotations

from typing import Any

import streamlit as st

from deem_core import InputError
from studio import background, machines, widgets
from studio.data.datasets import Opened
from studio.rates import sweeps


def show(opened: Opened) -> None:
    """Show the settings, the expected time and the start button.

    Raises
    ------
    InputError
        If the rates or depths do not serve; everything else is shown all the same.
    """
    where = machines.choose()
    usual = sweeps.defaults(opened)
    kind = st.segmented_control(
        "Compare",
        ["Learning rates", "Layers"],
        default="Learning rates",
        required=True,
        **widgets.keep("sweep_kind"),
        help="One thing at a time: rates at one depth, or depths at one rate.",
    )
    config: dict[str, Any] = dict(where)
    problem = None
    try:
        config |= _rates(opened, usual) if kind == "Learning rates" else _depths()
    except InputError as error:  # said where the button would be; the other settings stay where they are
        problem = error
    first, second, third, fourth, fifth = st.columns(5)
    config["updates"] = first.number_input(
        "Length (updates)",
        20,
        100_000,
        usual["updates"],
        step=50,
        **widgets.keep(f"sweep_updates_{opened.dataset.id}"),
        help="The same for every rate. Learning rate × updates decides how far training goes.",
    )
    if kind == "Learning rates":
        config["n_layers"] = second.number_input(
            "Layers", 0, 10, usual["n_layers"], **widgets.keep(f"sweep_layers_{opened.dataset.id}")
        )
    config["batch_size"] = third.number_input(
        "Batch (rows)",
        1,
        opened.reading.votes.n_rows,
        usual["batch_size"],
        **widgets.keep(f"sweep_batch_{opened.dataset.id}"),
        help="Rows per update. A different batch size needs different rates.",
    )
    config["device"] = background.choose_device(fourth, widgets.keep("sweep_device"))
    config["random_state"] = fifth.number_input("Seed", 0, 2**31 - 1, 0, **widgets.keep("sweep_seed"))
    if problem is not None:
        raise problem
    if not widgets.torch_is_there():
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        background.show_sweep_seconds(opened.dataset.id, config)
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
    by_hand = st.toggle("Enter rates by hand", **widgets.keep("sweep_typed"))
    if by_hand:
        words = st.text_input("Learning rates", "0.05, 0.1, 0.2, 0.5, 1, 2", **widgets.keep("sweep_list"))
        return {"rates": sweeps.parse_rates(words)}
    first, second, third = st.columns(3)
    own = opened.dataset.id  # the usual rates follow from the data
    lowest = first.number_input(
        "From", 1e-6, 100.0, usual["lowest"], format="%g", **widgets.keep(f"sweep_lowest_{own}")
    )
    highest = second.number_input(
        "To", 1e-6, 100.0, usual["highest"], format="%g", **widgets.keep(f"sweep_highest_{own}")
    )
    count = third.number_input("How many", 2, 20, usual["count"], **widgets.keep(f"sweep_count_{own}"))
    rates = sweeps.grid(lowest, highest, count)
    st.caption(" · ".join(f"{rate:g}" for rate in rates))
    return {"rates": rates}


def _depths() -> dict[str, Any]:
    chosen = st.pills(
        "Layers",
        [0, 1, 2, 3],
        selection_mode="multi",
        default=[0, 1, 2],
        **widgets.keep("sweep_depths"),
    )
    rate = st.number_input(
        "At the learning rate",
        1e-6,
        100.0,
        sweeps.chosen_rate() or 0.5,
        format="%g",
        **widgets.keep("sweep_depth_rate"),
    )
    if not chosen:
        raise InputError("Choose at least one number of layers.")
    return {"n_layers": sorted(chosen), "rates": [rate]}


def title_of(config: dict[str, Any]) -> str:
    """Return what people call a sweep with these settings."""
    if isinstance(config.get("n_layers"), list):
        return f"Layers {', '.join(map(str, config['n_layers']))} at {config['rates'][0]:g}"
    return f"{len(config['rates'])} rates, {min(config['rates']):g} to {max(config['rates']):g}"
