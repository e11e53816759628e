"""Learning rate: which rate is safe? Energy curves and verdicts."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from deem_core.figures import Along, pictures
from deem_core.runs import Run, State
from deem_core.text import percent
from deem_core.training.guidance import FIRM, NOT_ENOUGH, SMOOTHING, Verdict
from studio import boot, errors, examples, jobs, mishaps, state, text, widgets
from studio.data import datasets
from studio.export import results
from studio.rates import form, sweeps
from studio.words import MARGIN, TERMS

boot.guard(__file__)

MOST_ROWS = 12  # of a table that is shown whole


def reading_the_curves() -> None:
    with st.popover("Reading the curves", icon=":material/help:", type="tertiary"):
        st.markdown(
            "While a model learns, the energy of your rows (*positive*) and of rows that it generates (*negative*) "
            "falls. The *difference* matters most: in a healthy training it dips early, returns towards zero and stays "
            "there. Choose a rate well below the first one that fails."
        )
        widgets.picture(pictures.shapes(), "shapes")
        for shown in sweeps.VERDICT_LOOKS.values():
            st.markdown(f":{shown.color}-badge[{shown.words}] {shown.meaning}")
        st.caption("Some data give mirrored curves; read them upside down.")


@errors.boundary()
def outcome(opened: datasets.Opened, states: Sequence[tuple[Run, State]]) -> None:
    run, now = states[0]
    with st.container(key="sweep_state"):  # always there, so that what follows keeps its place when a sweep ends
        jobs.progress(run, now, "sweep", beside=lambda: finish(run, now))
        if now.resumable:
            unfinished(run, now)
        mishaps.show(run)
    sweep = sweeps.result_so_far(run)
    if sweep is None:
        if now.active:
            st.caption("The first curves appear in a few seconds.")
        return
    with st.container(key="sweep_advice"):
        recommendation(now, sweep)
    if sweep.by_depth:
        found_depths(run, sweep)
    else:
        found_rates(run, now, sweep)
    takeaway(opened, run, sweep)


def unfinished(run: Run, now: State) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        if now.state == "failed":
            st.warning(text.plain(now.reason), icon=":material/error:")
        else:
            st.markdown("This sweep was cancelled. Its curves so far are kept.", width="stretch")
        jobs.again(run, now, "resume_sweep")


def recommendation(now: State, sweep: sweeps.Sweep) -> None:
    if sweep.training_start == "groups":
        st.info(
            "The grouped model explains these votes, so training starts from it and needs no sweep. This sweep "
            "starts from the majority vote, and its rates apply to training from there.",
            icon=":material/group:",
        )
    st.markdown(headline(now, sweep))


def finish(run: Run, now: State) -> None:
    """Show the button that ends a sweep with what it has."""
    asked = run.is_finishing()
    st.button(
        "Finishing…" if asked else "Stop, I have seen enough",
        key="finish_sweep",
        icon=":material/done_all:",
        disabled=asked or now.state != "running" or sweeps.result_so_far(run) is None,
        on_click=jobs.finish,
        args=(run.id,),
        help="Ends the sweep and keeps its curves and verdicts. It can recommend a rate from about "
        f"{percent(FIRM, 0)} on.",
    )


def headline(now: State, sweep: sweeps.Sweep) -> str:
    """Return what is recommended, as surely as may be said by now."""
    advice = sweep.recommendation
    why = text.plain(f"{advice.why} {advice.to_try}".strip())
    if sweep.complete:
        return f"{':green[:material/star:]' if advice.kind == 'recommended' else ':orange[:material/warning:]'} {why}"
    if now.active:
        if sweeps.too_early(sweep):
            return f":gray[:material/hourglass_top:] Too early to tell ({percent(now.share, 0)})"
        return f":gray[:material/hourglass_top:] So far: {why}"
    if sweeps.too_early(sweep):
        return f":orange[:material/warning:] {text.plain(f'{NOT_ENOUGH.why} {NOT_ENOUGH.to_try}')}"
    ended = f"Ended at {percent(sweep.share, 0)}, so this rests on the curves so far." if sweep.ended else "So far:"
    return f":gray[:material/star:] {text.plain(ended)} {why}"


def found_rates(run: Run, now: State, sweep: sweeps.Sweep) -> None:
    keys = sweeps.keys(sweep)
    rate = sweeps.offer(run.id, keys, sweep.recommendation.learning_rate)
    with st.container(border=True, key="rate_panel", gap="small"):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.pills(
                "Learning rate",
                keys,
                key=f"{sweeps.PILLS}_{run.id}",
                format_func=lambda each: f"{each:g}{' ★' if each == sweep.recommendation.learning_rate else ''}",
                on_change=sweeps.take_pill,
                args=(run.id, rate),
                required=True,
                label_visibility="collapsed",
            )
            st.space("stretch")
            seen = view(sweep)
            reading_the_curves()
        curves(run, sweep, rate, keys, seen)
    verdicts(run, sweep, rate, keys)
    use(rate, sweep, sure=not now.active and not sweeps.too_early(sweep))


def found_depths(run: Run, sweep: sweeps.Sweep) -> None:
    with st.container(border=True, key="rate_panel", gap="small"):
        with st.container(horizontal=True, horizontal_alignment="right"):
            seen = view(sweep)
            reading_the_curves()
        chosen = sweep.recommendation.n_layers
        curves(run, sweep, None if chosen is None else float(chosen), sweeps.keys(sweep), seen)
    verdicts(run, sweep, None, sweeps.keys(sweep))


@dataclass(frozen=True)
class View:
    """How the curves are drawn."""

    along: Along
    smoothing: float
    log: bool
    calm: bool


def view(sweep: sweeps.Sweep) -> View:
    with st.popover("View", icon=":material/tune:", type="tertiary"):
        timed = sweep.curves.is_timed
        along = st.segmented_control(
            "Horizontal axis",
            ["epoch", "update", *(["second"] if timed else [])],
            default="epoch",
            required=True,
            format_func=lambda each: f"{each.capitalize()}s",
            **widgets.keep(f"sweep_along_{timed}"),
        )
        return View(
            along or "epoch",
            st.slider("Smoothing", 0.0, 0.99, SMOOTHING, **widgets.keep("sweep_smoothing")),
            st.toggle("Log scale", **widgets.keep("sweep_log")),
            st.toggle("Hide exploding curves", True, **widgets.keep("sweep_calm")),
        )


def curves(run: Run, sweep: sweeps.Sweep, rate: float | None, keys: list[float], seen: View) -> None:
    key = f"{sweeps.CURVES}_{run.id}"
    hidden = [each for each in sweeps.exploding(sweep) if each != rate] if seen.calm else []
    words = "none" if not hidden else ", ".join(f"{each:g}" for each in hidden)
    note = (
        "Click a curve to choose its rate, or a name below the curves to hide it. Hidden because they explode: "
        f"{words}. Trained {text.plain(sweep.how)}."
    )
    advice = sweep.recommendation
    best = advice.n_layers if sweep.by_depth else advice.learning_rate
    widgets.live_picture(
        pictures.sweep_energies(
            sweep,
            selected=rate,
            recommended=best,
            smoothing=seen.smoothing,
            x=seen.along,
            log=seen.log,
            zoom=seen.calm,
            hidden=hidden,
        ),
        key,
        note=note,
        on_pick=lambda value: sweeps.take_point(value, [] if sweep.by_depth else keys),
    )
    if sweep.grouped_likelihood is None:
        st.caption(sweeps.NO_REFEREE)
    else:
        judged = pictures.sweep_grouped(sweep, selected=rate, recommended=best, smoothing=seen.smoothing, hidden=hidden)
        widgets.live_picture(judged, f"{key}_grouped")


def verdicts(run: Run, sweep: sweeps.Sweep, rate: float | None, keys: list[float]) -> None:
    st.markdown("**Verdicts**" if sweep.complete else "**Verdicts so far**")
    key = f"{sweeps.TABLE}_{run.id}_{rate}_{sweeps.table_turns()}"
    rows = sweeps.table(sweep, sweep.verdicts)
    st.dataframe(
        rows,
        key=key,
        hide_index=True,
        height="content" if len(keys) <= MOST_ROWS else 600,
        row_height=64,  # three lines of a reason
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
            "reason": st.column_config.TextColumn("Why", width=340),
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
                help="Share of its majority-vote rows that the worst class keeps; a class that ends below "
                f"{sweeps.LEAST_SHARE:g} is lost.",
            ),
        },
    )
    if not sweep.by_depth:
        with st.container(key="chosen_verdict"):
            st.markdown(chosen_verdict(sweep, None if rate is None else sweep.verdicts[keys.index(rate)]))
    with st.popover("The rule and its thresholds", icon=":material/rule:", type="tertiary"):
        st.markdown(f"**Rule:** {sweeps.rule()}")
        st.markdown(f"**{MARGIN}:** {TERMS[MARGIN]}")
        st.dataframe(sweeps.thresholds(), hide_index=True)


def chosen_verdict(sweep: sweeps.Sweep, chosen: Verdict | None) -> str:
    """Return the verdict on the chosen rate in full."""
    if chosen is None:
        return ":gray[Choose a rate to read its verdict in full.]"
    shown = sweeps.VERDICT_LOOKS[chosen.kind]
    words = f":{shown.color}-badge[{sweeps.look(chosen)}] {text.plain(chosen.reason)}"
    if chosen.kind == "recommended" and sweep.complete:
        words += f" {text.plain(sweep.recommendation.why)}"
    return f"**{chosen.learning_rate:g}** {words}"


def use(rate: float | None, sweep: sweeps.Sweep, *, sure: bool) -> None:
    grouped = sweep.training_start == "groups"
    with st.container(horizontal=True, horizontal_alignment="right"):
        st.button(
            "Train with this rate"
            if rate is None
            else f"Train with {rate:g} from the majority vote"
            if grouped
            else f"Train with {rate:g}",
            key="train_with_rate",
            disabled=rate is None,
            type="primary" if sure and not grouped else "secondary",
            icon=":material/arrow_forward:",
            on_click=sweeps.train_with,
            args=(rate,),
        )
        if grouped:
            st.button(
                "Train from the grouped model",
                key="train_from_groups",
                type="primary" if sure else "secondary",
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
        st.caption("Use the camera icon to save a figure.", width="content")
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
            jobs.badge(run, run.state())
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
        examples.show("Learning rate")
        return
    badges, opened = head
    run = jobs.of_page(state.SWEEP, opened.dataset.id, "sweep")
    if run is not None and not run.is_active():
        with badges:
            jobs.badge(run, run.state())
    if run is not None:
        jobs.watch([run], lambda states: outcome(opened, states))
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
    if run is None:
        examples.show("Learning rate")
    earlier(opened, run)


page()
