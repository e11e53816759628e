"""Learning rate: which rate is safe? Energy curves and verdicts."""

from collections.abc import Sequence

import streamlit as st

from deem_core.figures import pictures
from deem_core.runs import Run, State
from deem_core.training.guidance import SMOOTHING
from studio import boot, errors, jobs, state, text, widgets
from studio.data import datasets
from studio.export import results
from studio.rates import form, sweeps

boot.guard(__file__)


def reading_the_curves() -> None:
    with st.popover("Reading the curves", icon=":material/help:", type="tertiary"):
        st.markdown(
            "While a model learns, the energy of your rows (*positive*) and of rows that it makes up (*negative*) "
            "fall. What tells most is their *difference*: in a healthy training it dips early, comes back towards "
            "zero and stays there."
        )
        widgets.picture(pictures.shapes(), "shapes")
        st.markdown(
            "- **Dip and long tail:** good. Take such a rate that lies well below those that fail.\n"
            "- **Stagnant:** too small a rate; nothing is learned in this time.\n"
            "- **Rising energy:** too large a rate; the model drifts away from your data.\n"
            "- **Exploding:** much too large; classes may die.\n\n"
            "On some data all curves are mirrored: they start high and fall. The same rules hold upside down."
        )


@errors.boundary()
def outcome(opened: datasets.Opened, states: Sequence[tuple[Run, State]]) -> None:
    run, now = states[0]
    jobs.progress(run, now, "sweep")
    if now.resumable:
        unfinished(run, now)
    sweep = sweeps.result_so_far(run)
    if sweep is None:
        if now.active:
            st.caption("The first curves appear in a few seconds.")
        return
    if not sweep.complete and not now.active:
        st.caption("What it found so far is shown.")
    if sweep.by_depth:
        found_depths(run, sweep)
    else:
        found_rates(run, sweep)
    takeaway(opened, run, sweep)


def unfinished(run: Run, now: State) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        if now.state == "failed":
            st.warning(text.plain(now.reason), icon=":material/error:")
        else:
            st.markdown("This sweep was stopped before it was done.", width="stretch")
        st.button("Resume", key="resume_sweep", icon=":material/play_arrow:", on_click=jobs.resume, args=(run.id,))


def found_rates(run: Run, sweep: sweeps.Sweep) -> None:
    keys = sweeps.keys(sweep)
    rate = sweeps.offer(run.id, keys, sweep.recommendation.learning_rate)
    recommendation(sweep)
    with st.container(border=True, key="rate_panel"):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.pills(
                "Learning rate",
                keys,
                key=f"{sweeps.PILLS}_{run.id}",
                format_func=lambda each: f"{each:g}{' ★' if each == sweep.recommendation.learning_rate else ''}",
                on_change=sweeps.take_pill,
                args=(run.id, rate),
                required=True,
            )
            st.space("stretch")
            reading_the_curves()
        curves(run, sweep, rate, keys)
    verdicts(run, sweep, rate, keys)
    if rate is not None:
        use(rate, sweep)


def found_depths(run: Run, sweep: sweeps.Sweep) -> None:
    recommendation(sweep)
    with st.container(border=True, key="rate_panel"):
        chosen = sweep.recommendation.n_layers
        curves(run, sweep, None if chosen is None else float(chosen), sweeps.keys(sweep))
    verdicts(run, sweep, None, sweeps.keys(sweep))


def recommendation(sweep: sweeps.Sweep) -> None:
    if sweep.training_start == "groups":
        st.info(
            "The grouped model explains these votes, so training starts from it and needs no sweep. This sweep "
            "starts from the majority vote, and its rates hold for training from there.",
            icon=":material/group:",
        )
    advice = sweep.recommendation
    if not sweep.complete:  # not yet, or never: no more than a hint
        st.caption(text.plain(advice.why) if advice.index is None else f"So far: {text.plain(advice.why)}")
        return
    icon = ":green[:material/recommend:]" if advice.kind == "recommended" else ":orange[:material/warning:]"
    words = f"{icon} {text.plain(advice.why)} {text.plain(advice.to_try)}"
    st.markdown(words)


def curves(run: Run, sweep: sweeps.Sweep, rate: float | None, keys: list[float]) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        smoothing = st.slider("Smoothing", 0.0, 0.99, SMOOTHING, **widgets.keep("sweep_smoothing"), width=220)
        log = st.toggle("Log scale", **widgets.keep("sweep_log"))
        zoom = st.toggle("Leave exploded curves out", True, **widgets.keep("sweep_zoom"), help="Zooms in on the rest.")
        hidden = st.pills(
            "Hide curves",
            keys,
            selection_mode="multi",
            key=f"sweep_hidden_{run.id}",
            format_func=lambda each: f"{each:g}",
        )
    key = f"{sweeps.CURVES}_{run.id}"
    widgets.picture(
        pictures.sweep_energies(sweep, selected=rate, smoothing=smoothing, log=log, zoom=zoom, hidden=hidden),
        key,
        note=f"Click a point to choose its rate. Trained {text.plain(sweep.how)}.",
        on_select=sweeps.take_point,
        args=(key, keys),
    )
    if sweep.grouped_likelihood is None:
        st.caption(sweeps.NO_REFEREE)
    else:
        judged = pictures.sweep_grouped(sweep, selected=rate, smoothing=smoothing, hidden=hidden)
        widgets.picture(judged, f"{key}_grouped")


def verdicts(run: Run, sweep: sweeps.Sweep, rate: float | None, keys: list[float]) -> None:
    st.markdown("**Verdicts**" if sweep.complete else "**Verdicts so far**")
    key = f"{sweeps.TABLE}_{run.id}_{rate}"
    rows = sweeps.table(sweep, sweep.verdicts)
    st.dataframe(
        rows,
        key=key,
        hide_index=True,
        on_select=lambda: sweeps.take_row(key, keys, rate) if not sweep.by_depth else None,
        selection_mode="single-row",
        selection_default={"selection": {"rows": [keys.index(rate)] if rate in keys else []}},
        column_config={
            "": st.column_config.TextColumn("", width=30),
            "rate": st.column_config.NumberColumn("Layers" if sweep.by_depth else "Rate", format="%g", width=60),
            "verdict": st.column_config.MultiselectColumn(
                "Verdict",
                options=list(sweeps.ALL_LOOKS),
                color=list(sweeps.ALL_LOOKS.values()),
                width=120 if sweep.complete else 150,
            ),
            "reason": st.column_config.TextColumn("Why", width=330),
            "difference": st.column_config.LineChartColumn("Difference", width="small"),
            "final difference": st.column_config.NumberColumn(
                "Final" if sweep.complete else "Latest",
                format="%.3f",
                width=65,
                help="Difference at the end, in nats." if sweep.complete else "Difference so far, in nats.",
            ),
            "smallest class": st.column_config.NumberColumn(
                "Worst class",
                format="%.2f",
                width=85,
                help="What the worst class keeps of its majority-vote share; a class that ends below "
                f"{sweeps.LEAST_SHARE:g} has died.",
            ),
        },
    )
    with st.popover("The rule and its thresholds", icon=":material/rule:", type="tertiary"):
        st.markdown(f"**Rule:** {sweeps.rule()}")
        st.dataframe(sweeps.thresholds(), hide_index=True)


def use(rate: float, sweep: sweeps.Sweep) -> None:
    grouped = sweep.training_start == "groups"
    with st.container(horizontal=True, horizontal_alignment="right"):
        st.button(
            f"Train with {rate:g} from the majority vote" if grouped else f"Train with {rate:g}",
            key="train_with_rate",
            type="secondary" if grouped else "primary",
            icon=":material/arrow_forward:",
            on_click=sweeps.train_with,
            args=(rate,),
        )
        if grouped:
            st.button(
                "Train from the grouped model",
                key="train_from_groups",
                type="primary",
                icon=":material/arrow_forward:",
                on_click=sweeps.train_from_groups,
            )


def takeaway(opened: datasets.Opened, run: Run, sweep: sweeps.Sweep) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        widgets.download(
            "Curves as CSV",
            lambda: sweep.to_frame().to_csv(index=False).encode(),
            results.file_name(opened, "curves.csv"),
            f"curves_csv_{run.id}",
        )
        st.space("stretch")
        st.caption("The camera above a figure saves it.", width="content")
        widgets.choose_picture_format()


def earlier(opened: datasets.Opened, current: Run | None) -> None:
    runs = jobs.of_dataset(opened.dataset.id, "sweep")
    if len(runs) < 1 + (current is not None):
        return
    st.markdown("**Earlier sweeps of this dataset**")
    for run in runs:
        if current is not None and run.id == current.id:
            continue
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            jobs.badge(run.state())
            st.markdown(text.plain(jobs.title(run)), width="stretch")
            st.caption(jobs.when(run), width="content")
            st.button("Open", key=f"open_{run.id}", type="tertiary", on_click=sweeps.reopen, args=(run.id,))


def page() -> None:
    head = widgets.with_data(
        "Learning rate",
        "Which rate is safe?",
        ":material/show_chart:",
        "Energy curves of several learning rates appear here once there are votes to learn from.",
    )
    if head is None:
        return
    badges, opened = head
    run = jobs.of_page(state.SWEEP, opened.dataset.id, "sweep")
    if run is not None and not run.is_active():
        with badges:
            jobs.badge(run.state())
    place = st.expander(
        "Settings of a new sweep",
        expanded=run is None,
        key=sweeps.settings_key(opened.dataset.id, first=run is None),
        icon=":material/tune:",
        on_change="rerun",
    )
    if place.open:  # the expected time costs some seconds of a processor
        with place, errors.boundary():
            form.show(opened)
    if run is not None:
        jobs.watch([run], lambda states: outcome(opened, states))
    earlier(opened, run)


page()
