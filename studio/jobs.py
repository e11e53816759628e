"""Jobs: runs as pages start, watch, cancel and resume them.

A run is a folder and its worker a process of its own, so nothing here is lost when the page, the tab or the server
goes away: pages only look.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import streamlit as st

from deem_core import DeemError, comparison
from deem_core.engine import LOCAL
from deem_core.runs import FusionSummary, Run, State, Wreck
from deem_core.votes import Votes
from studio import cluster, state, text
from studio.errors import callback_boundary
from studio.workspace import workspace

POLL_SECONDS = 1.0
"""How often a page looks while something runs."""

SAME_TICK_SECONDS = 0.8 * POLL_SECONDS
"""How long all parts of a page see the same state of a run."""

_LOOKS = "deem_looks"

STOP_SECONDS = 5.0
"""How long a run that was asked to stop may take, on a busy machine."""

RECOMMENDED: Mapping[str, Any] = {"method": "auto", "random_state": 0}
"""Settings of the one-click answer: the votes are asked who should answer."""

KIND_WORDS = {
    "fuse": "Answer",
    "train": "Training",
    "sweep": "Learning-rate sweep",
    "compare": "Comparison",
    "apply": "Labelling",
    "inspect": "Inspection",
    "ask": "Rows to label",
}

PAGES = {
    "fuse": "data",
    "train": "train",
    "sweep": "learning_rate",
    "compare": "compare",
    "apply": "home",
    "ask": "review",
}
"""Where a run of each kind is shown."""

ADDRESS_OF = {
    "fuse": state.RUN,
    "train": state.RUN,
    "sweep": state.SWEEP,
    "compare": state.COMPARISON,
    "apply": state.RUN,
    "ask": state.ASK,
}
"""Where the address names a run of each kind."""

STATE_LOOKS = {
    "queued": (":material/hourglass_empty:", "gray", "Queued"),
    "running": (":material/progress_activity:", "blue", "Running"),
    "done": (":material/check_circle:", "green", "Done"),
    "cancelled": (":material/cancel:", "orange", "Cancelled"),
    "failed": (":material/error:", "red", "Failed"),
}


DAMAGED = (":material/heart_broken:", "red", "Damaged")
"""How a run looks whose state or results are not what was written."""

FELL_BACK = (":material/warning:", "orange")
"""How a training that failed looks: done, but by another method than asked for."""


def find(id: str | None) -> Run | None:
    """Return a run by id, or None if it is gone."""
    if id is None:
        return None
    try:
        return workspace().run(id)
    except DeemError:
        return None


def of_dataset(dataset: str | None, kind: str | None = None) -> list[Run]:
    """Return the runs of a dataset, newest first."""
    return [] if dataset is None else workspace().runs(dataset=dataset, kind=kind)


def of_page(name: str, dataset: str, kind: str) -> Run | None:
    """Return the run that a page is about.

    The one in the address if it belongs to the dataset, else the latest.
    """
    named_run = find(state.get(name))
    if named_run is not None and named_run.kind == kind and named_run.dataset_id == dataset:
        return named_run
    latest = next(iter(of_dataset(dataset, kind)), None)
    if latest is not None:
        state.put(name, latest.id)
    return latest


def when(run: Run) -> str:
    """Return how long ago a run was made."""
    return text.ago(time.time() - run.created)


def start(kind: str, dataset_id: str, config: Mapping[str, Any], title: str = "") -> None:
    """Start a run and turn to it; an ``on_click`` callback."""
    with callback_boundary():
        run = workspace().start_run(kind, workspace().dataset(dataset_id), cluster.placed(config), title)
        state.put(ADDRESS_OF[kind], run.id)


def start_beside(kind: str, dataset_id: str, config: Mapping[str, Any], title: str = "") -> None:
    """Start a run and stay where one is; an ``on_click`` callback."""
    with callback_boundary():
        workspace().start_run(kind, workspace().dataset(dataset_id), cluster.placed(config), title)


def cancel(id: str) -> None:
    """Ask a run to stop; for the ``on_click`` of a button."""
    with callback_boundary():
        workspace().cancel(workspace().run(id))
        see_anew()


def finish(id: str) -> None:
    """Ask a sweep to end with what it has; an ``on_click`` callback."""
    with callback_boundary():
        workspace().finish(workspace().run(id))
        see_anew()


def resume(id: str) -> None:
    """Take up a run again; for the ``on_click`` of a button."""
    with callback_boundary():
        workspace().resume(workspace().run(id))
        see_anew()


def delete(ids: Sequence[str]) -> None:
    """Delete runs and their inspections; an ``on_click`` callback."""
    with callback_boundary():
        for each in ids:
            run = workspace().run(each)
            for inspection in of_dataset(run.dataset_id, "inspect"):
                if inspection.config.get("training") == each:
                    _stop_and_delete(inspection)
            workspace().delete_run(run)
            for name in ADDRESS_OF.values():
                if state.get(name) == each:
                    state.put(name, None)


def _stop_and_delete(run: Run) -> None:
    """Cancel a run and delete it."""
    workspace().cancel(run)
    until = time.monotonic() + STOP_SECONDS
    while run.is_active() and time.monotonic() < until:
        time.sleep(0.05)
    workspace().delete_run(run)


def watch(runs: Sequence[Run], draw: Callable[[Sequence[tuple[Run, State]]], None]) -> None:
    """Draw runs, again every second while one is active.

    When one begins, ends or is taken up again, or a click in here turns to another run or page or goes wrong, the
    whole page is drawn anew, since that changes more than this.
    """
    active = _active((run, run.state()) for run in runs)
    chosen = _chosen()

    @st.fragment(run_every=POLL_SECONDS if active else None)
    def fragment() -> None:
        states = [(run, seen(run)) for run in runs]
        # Before anything is drawn: a button of a drawing that is replaced at once would not feel a click.
        if _active(states) != active or _chosen() != chosen:
            st.rerun()
        # Streamlit fades what is being drawn anew; `studio.look` switches that off in here, where it would blink.
        with st.container(key=f"{state.LIVE}{draw.__name__.strip('<>')}_{runs[0].id}"):
            draw(states)

    fragment()


def seen(run: Run) -> State:
    """Return a run's state that all parts of a page see.

    Parts that are drawn anew by themselves, such as page and sidebar, tick one after the other: whoever comes first
    looks, and the others see the same.
    """
    looks: dict[str, tuple[float, State]] = st.session_state.setdefault(_LOOKS, {})
    at, now = looks.get(run.id, (-math.inf, None))
    if now is None or time.monotonic() - at > SAME_TICK_SECONDS:
        run.damage()  # results are read once, so that none is shown that is not what was written
        now = run.state()
        looks[run.id] = (time.monotonic(), now)
    return now


def see_anew() -> None:
    """Forget what was seen.

    Whenever a page is drawn from its beginning, and when a click changed a run, so that its answer is not a second old.
    """
    st.session_state.pop(_LOOKS, None)


def _active(states: Iterable[tuple[Run, State]]) -> dict[str, str]:
    return {run.id: now.state for run, now in states if now.active}


def _chosen() -> tuple[object, ...]:
    address = (state.get(name) for name in (state.DATA, *sorted(set(ADDRESS_OF.values()))))
    return *address, state.value(state.GO_TO), state.problem()


def instead(run: Run, now: State) -> str:
    """Return whose labels a finished run has because its training failed.

    Such as "majority vote"; empty for all others.
    """
    if now.state != "done" or run.kind not in ("train", "apply"):
        return ""
    return _instead(run.id, now.ended or 0.0, run)


@st.cache_data(max_entries=500, show_spinner=False)
def _instead(id: str, ended: float, _run: Run) -> str:
    summary = FusionSummary.of(_run)
    return "" if summary is None else summary.instead


def look(run: Run, now: State) -> tuple[str, str, str]:
    """Return icon, colour and word for the state of a run."""
    if now.damaged:
        return DAMAGED
    other = instead(run, now)
    return (*FELL_BACK, f"Fell back to {other}") if other else STATE_LOOKS[now.state]


def badge(run: Run, now: State) -> None:
    """Show the state of a run as a badge."""
    icon, color, word = look(run, now)
    st.badge(word, icon=icon, color=color)  # type: ignore[arg-type]


def again(run: Run, now: State, key: str) -> None:
    """Offer to take up a run that was cancelled or failed."""
    if now.resumable:
        goes_on = run.has_checkpoint()
        st.button(
            "Resume" if goes_on else "Start over",
            key=key,
            icon=":material/play_arrow:" if goes_on else ":material/replay:",
            on_click=resume,
            args=(run.id,),
            help="Continues from where it stopped." if goes_on else "Starts again with the same settings.",
        )


def expected(kind: str, votes: Votes, config: Mapping[str, Any]) -> None:
    """Say how long a run takes, before it is started.

    A rough guess is told with one digit or two.
    """
    seconds = comparison.expected_time(kind, votes, config)
    digits = 1 if seconds < 100 else 2
    shared = str(config.get("on") or LOCAL) != LOCAL
    circumstances = " on this machine alone" if shared else ", longer if the machine is busy"
    st.caption(
        f":material/timer: About {text.duration(float(f'{seconds:.{digits}g}'))}{circumstances}",
        width="content",
    )


def cancelled(run: Run, now: State) -> None:
    """Say that a run was cancelled, and what is left of it."""
    if now.state == "cancelled":
        st.caption("Cancelled. Progress is saved; you can resume." if run.has_checkpoint() else "Cancelled.")


def cancel_button(run: Run, now: State, key: str, **looks: Any) -> None:
    """Show the button that cancels a run, or that it was heard."""
    st.button(
        "Cancelling…" if now.cancelling else "Cancel",
        key=f"cancel_{key}_{run.id}",
        disabled=now.cancelling,
        on_click=cancel,
        args=(run.id,),
        **looks,
    )


def progress(run: Run, now: State, key: str, *, beside: Callable[[], None] | None = None) -> None:
    """Show the progress of an active run, and a cancel button.

    ``beside`` draws what stands beside that.
    """
    if not now.active:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.progress(min(max(now.share, 0.0), 1.0), text=text.plain(step_words(now)))
        cancel_button(
            run,
            now,
            key,
            icon=":material/stop_circle:",
            help="Stops within seconds. You can resume or restart it later.",
        )
        if beside is not None:
            beside()


def step_words(now: State) -> str:
    """Return what a run is doing and how long it will take."""
    if now.cancelling:
        return "Cancelling…"
    if now.state != "running":
        return now.step or "Queued"
    left = "" if now.seconds_left is None else f" · about {text.duration(now.seconds_left)} left"
    return f"{now.step or 'Starting'} · {text.percent(now.share, 0)}{left}"


def title(run: Run) -> str:
    """Return what people call a run."""
    return run.name() or KIND_WORDS.get(run.kind, run.kind)


SHOWN = 8


def table() -> None:
    """Show the latest runs of all datasets."""
    runs = [run for run in workspace().runs() if run.kind in PAGES][:SHOWN]
    wrecked = [wreck for wreck in workspace().wrecks() if wreck.what == "run"]
    wrecks(wrecked)
    if not runs and wrecked:
        return
    if not runs:
        st.caption("Nothing has been run yet. Load a sample above or upload your own file, and fuse it with one click.")
        return
    watch(runs, _rows)


def wrecks(found: Sequence[Wreck]) -> None:
    """Show runs or datasets that cannot be read, each to be deleted."""
    if not found:
        return
    with st.container(border=True, gap="xsmall", key=f"damaged_{found[0].what}s"):
        for wreck in found:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                icon, color, word = DAMAGED
                st.badge(word, icon=icon, color=color)  # type: ignore[arg-type]
                st.markdown(text.plain(" ".join(filter(None, (wreck.name, wreck.sentence)))), width="stretch")
                st.button(
                    "Delete",
                    key=f"delete_wreck_{wreck.id}",
                    type="tertiary",
                    icon=":material/delete:",
                    on_click=_delete_wreck,
                    args=(wreck,),
                )


def _delete_wreck(wreck: Wreck) -> None:
    with callback_boundary():
        workspace().delete_wreck(wreck)


def has_model(run: Run) -> bool:
    """Return whether a finished run keeps a model."""
    return run.result("model.safetensors") is not None


def with_models(dataset: str | None) -> list[Run]:
    """Return a dataset's finished runs with a model, newest first."""
    runs = [run for run in of_dataset(dataset) if run.kind in ("train", "fuse")]
    return [run for run in runs if run.state().state == "done" and (run.kind == "train" or has_model(run))]


def in_use(kind: str) -> Run | None:
    """Return the run in the address, else the dataset's latest."""
    runs = of_dataset(state.get(state.DATA), kind)
    named = state.get(ADDRESS_OF[kind])
    return next((run for run in runs if run.id == named), runs[0] if runs else None)


def _rows(states: Sequence[tuple[Run, State]]) -> None:
    with st.container(border=True, gap="xsmall", key="recent_runs"):
        for run, now in states:
            _row(run, now)


def _row(run: Run, now: State) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        badge(run, now)
        st.markdown(f"**{text.plain(run.spec['inputs']['name'])}** · {text.plain(title(run))}", width="stretch")
        st.caption(_words(run, now), width="content")
        st.button("Open", key=f"open_run_{run.id}", type="tertiary", on_click=_open, args=(run.id,))


def _words(run: Run, now: State) -> str:
    if now.active:
        return text.plain(step_words(now))
    summary = FusionSummary.of(run) if now.state == "done" and run.kind in ("train", "fuse", "apply") else None
    evaluation = None if summary is None else summary.evaluation
    return when(run) if evaluation is None else f"accuracy {text.percent(evaluation.accuracy)} · {when(run)}"


def _open(id: str) -> None:
    run = find(id)
    if run is None:
        state.complain("This run was deleted.")
        return
    state.use_dataset(run.dataset_id)
    state.put(ADDRESS_OF[run.kind], run.id)
    state.go_to(PAGES[run.kind])
