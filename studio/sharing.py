"""Sharing: what people see of it when they share a server."""

from __future__ import annotations

from urllib.parse import urlsplit

import streamlit as st

from deem_core import InputError
from studio import cluster, state, workspace
from studio.serving import gate, hosts
from studio.serving.policy import policy

_UNGUARDED = (
    "This server was started in a way that leaves out its protection, so it shows nothing. Start it with "
    "“streamlit run app.py” or “deem-studio”."
)


def admit() -> None:
    """Refuse sessions without a gate or a space.

    Raises
    ------
    InputError
        If there is none; nothing may be shown then.
    """
    if policy().guards and not gate.Gate.installed:
        raise InputError(_UNGUARDED)
    workspace.workspace()


def banner() -> None:
    """Tell people that others are here, until they have read it."""
    rules = policy()
    if not (rules.shared or rules.is_open) or state.value(state.TOLD):
        return
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="sharing_banner"):
        st.markdown(f":material/group: {_words(rules.shared, rules.is_open)}", width="stretch")
        st.button("Got it", key="sharing_read", on_click=state.set_value, args=(state.TOLD, True))


def whereabouts() -> str:
    """Return what people call the machine that has their files."""
    return "this server" if policy().guards or policy().is_open else "this machine"


def what_leaves() -> str:
    """Return the sentence that says what leaves the machine."""
    try:
        shared_out = cluster.configured() is not None
    except InputError:  # said where it matters
        shared_out = False
    return f"Nothing leaves {whereabouts()}{', except the votes of runs on the cluster' if shared_out else ''}."


def where_files_are() -> str:
    """Return the sentence that says where files are kept, and how long."""
    place = "the private space of this browser" if policy().shared else f"`{workspace.workspace().root}`"
    return f"Files are kept in {place}, on {whereabouts()} only, until you delete them."


def _words(shared: bool, is_open: bool) -> str:
    who = "Other computers can reach this server." if is_open else "Several people share this server."
    if not shared:
        return f"**{who}** All who come here see, change and delete the same files and runs.{_way()}"
    return (
        f"**{who}** What you add here is in a private space that only this browser opens; whoever runs the server can "
        f"read it too.{_way()}"
    )


def _way() -> str:
    here = urlsplit(st.context.url or "")
    safe = here.scheme == "https" or hosts.is_loopback(here.hostname or "")
    return "" if safe else " Nothing is encrypted on its way: keep confidential data away."


def place() -> None:
    """Show in the sidebar whose space this is, and its link."""
    if not policy().shared:
        return
    with st.container(border=True, key="side_space", gap="xsmall"):
        st.caption(":material/lock: Private space of this browser")
        if st.button(
            "Use it in another browser",
            key="take_along",
            type="tertiary",
            help="Shows a private link. Once the browser forgets its cookies, only that leads back to this space.",
        ):
            _private_link()


@st.dialog("Your private link")
def _private_link() -> None:
    link = _link()
    if link is None:
        st.markdown("This page no longer knows its space. Reload it, then try again.")
        return
    st.warning(
        "Whoever has this link can see, change and delete everything in your space, and it cannot be taken back. Keep "
        "it like a password, and open it only in browsers of your own.",
        icon=":material/key:",
    )
    st.code(link, language=None, wrap_lines=True)


def _link() -> str | None:
    key, here = workspace.key(), urlsplit(st.context.url or "")
    if key is None or not here.netloc or not workspace.leads_here(key):
        return None
    return f"{here.scheme}://{here.netloc}{policy().base}{gate.SPACE}#{key}"
