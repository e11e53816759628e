"""Machines: the choice where to run, and what the cluster is doing.

Ray stays out of the app: another process asks, and pages show what is known and never wait.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import pandas as pd
import streamlit as st

from deem_core import InputError
from deem_core.engine import CLUSTER, LOCAL, Node, Survey
from deem_core.runs import SHARED_ROWS, Run
from studio import background, text, widgets
from studio.cluster import EVERYWHERE, LABELLING, chosen, configured, remember, title
from studio.workspace import workspace

ASK_SECONDS = 60.0
"""How long a cluster may take to answer; on a busy machine the first process there is slow to start."""
FRESH_SECONDS = 30.0
"""How long an answer is believed."""


_MORE = {LABELLING: f" Fewer than {text.count(SHARED_ROWS)} rows are labelled on this machine in any case."}


def choose(key: str = EVERYWHERE) -> dict[str, str]:
    """Show where to run, if there is a choice; return it.

    Below the choice stands what the cluster is doing.
    """
    try:
        wish = configured()
    except InputError as error:
        st.warning(text.plain(str(error)), icon=":material/lan:")
        return {"on": LOCAL}
    if wish is None:
        return {}
    where = st.segmented_control(
        "Where to run",
        [LOCAL, wish],
        default=chosen(key)["on"],
        required=True,
        format_func=title,
        **widgets.keep(key),
        help=f"The cluster shares out the work among its machines; the labels are the same.{_MORE.get(key, '')}",
    )
    remember(key, where or LOCAL)
    _standing(wish, key)
    return chosen(key)


# ---------------------------------------------------------------------- what it is doing


@dataclass(frozen=True)
class Standing:
    """What a cluster said when it was asked.

    Attributes
    ----------
    survey : Survey, optional
    problem : str
        Why there is none, and what to do.
    """

    survey: Survey | None
    problem: str = ""

    @property
    def words(self) -> str:
        """One line: machines, cores, GPUs."""
        if self.survey is None:
            return self.problem
        nodes = self.survey.nodes
        whole = f"{text.count(len(nodes), 'machine')} · {_room('core', [(n.cores, n.free_cores) for n in nodes])}"
        if any(node.gpus for node in nodes):
            whole += f" · {_room('GPU', [(n.gpus, n.free_gpus) for n in nodes])}"
        if not self.survey.running:
            return f"No cluster runs now: a run starts one on this machine for itself · {whole}"
        waiting = self.survey.waiting
        return f"{whole} · {text.count(waiting, 'piece')} of work waiting" if waiting else whole


def _room(noun: str, parts: list[tuple[float, float | None]]) -> str:
    whole = sum(part for part, _ in parts)
    known = [free for _, free in parts if free is not None]
    words = f"{whole:g} {noun}{'' if whole == 1 else 's'}"
    return f"{sum(known):g} of {words} free" if len(known) == len(parts) else words


def _standing(wish: str, key: str) -> None:
    """Show what a cluster is doing: a line, and more on request."""
    _, asking = _questions().get(wish, lambda: ask(wish))

    @st.fragment(run_every=background.POLL_SECONDS if asking else None)
    def fragment() -> None:
        found, still = _questions().get(wish, lambda: ask(wish))
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"{key}_standing"):
            if found is None:
                st.caption(":material/lan: Asking the cluster…", width="content")
            elif found.survey is None:
                st.caption(f":orange[:material/warning:] {text.plain(found.problem)}", width="stretch")
            else:
                st.caption(f":material/lan: {text.plain(found.words)}", width="content")
            if found is not None and found.survey is not None:
                with st.popover("Machines and queue", type="tertiary", icon=":material/dns:", key=f"{key}_machines"):
                    _details(found.survey)
            st.button(
                "Ask again",
                key=f"{key}_again",
                type="tertiary",
                icon=":material/refresh:",
                disabled=still,
                on_click=_questions().forget,
                args=(wish,),
            )
        if asking != still:  # a click asked again, or the answer came
            st.rerun()

    fragment()


def _details(found: Survey) -> None:
    st.markdown(f"**{text.plain(title(found.engine))}**")
    st.dataframe(machines(found), hide_index=True, height="content")
    lines = queue()
    st.markdown("**Runs of this app**")
    for line in lines:
        st.markdown(text.plain(line))
    if not lines:
        st.caption("No run is on the cluster or waits for it.")
    if found.waiting:
        one = found.waiting == 1
        st.caption(f"{text.count(found.waiting, 'piece')} of work {'waits' if one else 'wait'} for a free core.")


def machines(found: Survey) -> pd.DataFrame:
    """Return a row for each machine, in words."""
    return pd.DataFrame(
        {
            "machine": [node.name for node in found.nodes],
            "cores": [_free(node.cores, node.free_cores) for node in found.nodes],
            "GPUs": [_free(node.gpus, node.free_gpus) for node in found.nodes],
            "memory": ["–" if node.memory is None else text.size(node.memory) for node in found.nodes],
        }
    )


def _free(whole: float, free: float | None) -> str:
    return f"{whole:g}" if free is None or not whole else f"{free:g} of {whole:g} free"


def queue() -> list[str]:
    """Return the runs on the cluster, then those that wait.

    On a shared server those of other people have no names.
    """
    known = {run.id: run for run in workspace().runs()}
    living = [ticket.run for ticket in workspace().queue.tickets(CLUSTER) if ticket.counts]
    return [f"{'Running' if not at else 'Waiting'}: {_name(known.get(run))}" for at, run in enumerate(living)]


def _name(run: Run | None) -> str:
    return "a run of somebody else" if run is None else f"{run.name() or run.kind} ({run.spec['inputs']['name']})"


@st.cache_resource(show_spinner=False)
def _questions() -> background.Questions[Standing]:
    return background.Questions(lambda found: FRESH_SECONDS)


def ask(wish: str) -> Standing:
    """Return what a cluster says of itself; it takes seconds."""
    content = background.command(["devices", "--on", wish], timeout=ASK_SECONDS, failed=True)
    if content is None:
        return Standing(
            None,
            f"{title(wish)} does not answer. Check that it runs (ray status) and that this machine reaches it, then "
            "ask again, or run on this machine.",
        )
    if content.get("problem"):
        return Standing(None, str(content["problem"]))
    try:
        nodes = tuple(Node(**{each.name: node[each.name] for each in fields(Node)}) for node in content["nodes"])
        return Standing(Survey(wish, nodes, bool(content["running"]), content["waiting"]))
    except (KeyError, TypeError):
        return Standing(None, f"{title(wish)} gave an answer that this version of DEEM Studio does not understand.")
