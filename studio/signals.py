"""Signals of runs in the browser: title, notification, links, cancelling.

A long run is left alone, so it speaks where somebody who looks elsewhere sees it. What the server cannot do, some lines
of script do in the page itself; nothing is fetched.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from urllib.parse import urlencode

import streamlit as st

from deem_core.runs import Run, State
from studio import jobs, state, text

APP = "DEEM Studio"
WATCHED = "deem_watched"
"""Runs that this session saw active, by id, and when it last did."""

FRESH_SECONDS = 20.0
"""How long an end is news: the page is drawn anew more than once when a run ends."""

_CSS = """
button {
  all: unset; cursor: pointer; font: inherit; font-size: 0.875rem; line-height: 1.6; border-radius: 0.25rem;
  color: var(--st-link-color, inherit); text-decoration: underline; text-underline-offset: 0.2em;
}
button:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 2px; }
"""

_NOTIFY = """
const KEY = "deem_notify";
const wanted = () => window.Notification && Notification.permission === "granted" && localStorage.getItem(KEY) === "on";

function hearCancel() {  // the answer of the server takes a moment; the click is seen at once
  if (window.deemHearsCancel) return;
  window.deemHearsCancel = true;
  const style = document.createElement("style");
  style.textContent = "[data-deem-cancelling] { opacity: .5; pointer-events: none; cursor: default }" +
    "[data-deem-cancelling] p { font-size: 0 !important }" +
    "[data-deem-cancelling] p::after { content: 'Cancelling…'; font-size: .875rem }";
  document.head.append(style);
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("[class*='st-key-cancel_'] button");
    if (!button || button.disabled) return;
    setTimeout(() => button.setAttribute("data-deem-cancelling", ""), 0);
    setTimeout(() => button.removeAttribute("data-deem-cancelling"), 5000);
  }, true);
}

export default function ({ data, parentElement }) {
  hearCancel();
  const button = parentElement.querySelector("button");
  const draw = () => {
    const denied = window.Notification && Notification.permission === "denied";
    button.hidden = !data.active || !window.Notification;
    button.style.display = button.hidden ? "none" : "";
    button.textContent = denied ? "Notifications are blocked in this browser"
      : wanted() ? "Notification is on: turn off" : "Notify me when it ends";
  };
  button.onclick = async () => {
    if (wanted()) localStorage.setItem(KEY, "off");
    else if (await Notification.requestPermission() === "granted") localStorage.setItem(KEY, "on");
    draw();
  };
  draw();
  for (const run of data.ended) {
    const seen = "deem_told_" + run.id + run.at;
    if (!wanted() || sessionStorage.getItem(seen)) continue;
    sessionStorage.setItem(seen, "1");
    new Notification(run.title, { body: run.body, tag: run.id });
  }
}
"""

_COPY = """
async function copy(words) {
  if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(words);
  const area = document.createElement("textarea");  // over plain http there is no other way
  area.value = words;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

export default function ({ data, parentElement }) {
  const button = parentElement.querySelector("button");
  button.onclick = async () => {
    const base = location.pathname.slice(0, location.pathname.lastIndexOf("/") + 1);
    await copy(location.origin + base + data.address);
    button.textContent = "Link copied";
    setTimeout(() => { button.textContent = "Copy link"; }, 2000);
  };
}
"""

_notify = st.components.v2.component("deem_notify", html="<button type='button'></button>", css=_CSS, js=_NOTIFY)
_copy = st.components.v2.component("deem_copy", html="<button type='button'>Copy link</button>", css=_CSS, js=_COPY)


@dataclass(frozen=True)
class Ended:
    """End of a run that somebody waited for.

    Attributes
    ----------
    id, title, body : str
        The title is that of the page, too.
    at : float
        When it ended: a run may end twice.
    """

    id: str
    title: str
    body: str
    at: float


def show(states: Sequence[tuple[Run, State]]) -> None:
    """Set the title of the page, and tell the browser what ended."""
    before = state.value(WATCHED)
    moment = time.monotonic()
    seen = before if isinstance(before, dict) else {}
    watched = {each: last for each, last in seen.items() if moment - last < FRESH_SECONDS}
    active = [(run, now) for run, now in states if now.active]
    ended = [_ended(run, now) for run, now in states if run.id in watched and not now.active]
    state.set_value(WATCHED, watched | dict.fromkeys((run.id for run, _ in active), moment))
    st.set_page_config(page_title=title(active, ended))
    _notify(data={"active": bool(active), "ended": [asdict(one) for one in ended]}, key="deem_notify")


def title(active: Sequence[tuple[Run, State]], ended: Sequence[Ended]) -> str:
    """Return the title of the page: progress or result."""
    running = next((now for _, now in active if now.state == "running"), None)
    if running is not None:
        return f"{text.percent(running.share, 0)} · {APP}"
    if active:
        return f"Queued · {APP}"
    return ended[0].title if ended else APP


def _ended(run: Run, now: State) -> Ended:
    _, _, word = jobs.look(run, now)
    sign = "✓" if word == "Done" else "⚠"
    return Ended(
        run.id, f"{sign} {word} · {APP}", f"{jobs.title(run)} · {run.spec['inputs']['name']}", now.ended or 0.0
    )


def copy_link(run: Run) -> None:
    """Offer the address at which a colleague finds a run."""
    query = urlencode({state.DATA: run.dataset_id, jobs.ADDRESS_OF[run.kind]: run.id})
    _copy(data={"address": f"{jobs.PAGES[run.kind]}?{query}"}, key=f"copy_link_{run.id}")
