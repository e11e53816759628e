"""Questions that another process answers: devices and expected times.

Torch stays out of the app, and pages show what is known and never wait.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from threading import Lock, Thread
from typing import Any, Generic, TypeVar

import streamlit as st

from deem_core.engine import LOCAL
from deem_core.model import Device, TrainConfig, cpu, missing_torch
from studio import cluster, text
from studio.workspace import workspace

Answer = TypeVar("Answer")

TIMEOUT_SECONDS = 180.0
PATIENCE_SECONDS = 10.0
"""A question that waits is dropped when nobody has repeated it for so long; pages repeat theirs every second."""
MOST_KEPT = 200
POLL_SECONDS = 1.0
_SHARED = {"auto": "Automatic", "cpu": "No GPUs"}
DEVICES_FRESH_SECONDS = 60.0
"""How long an answer about free memory is believed."""
PROCESSOR_FRESH_SECONDS = 3600.0
"""How long it is believed that there is only the processor: to ask loads torch, seconds of that very processor."""


class Questions(Generic[Answer]):
    """Answers by key, computed one after the other in threads.

    A question that nobody repeats while it waits for its turn is dropped: people who try settings leave many behind.

    Parameters
    ----------
    fresh_seconds : callable, optional
        How long an answer is believed; for ever by default.
    """

    def __init__(self, fresh_seconds: Callable[[Answer | None], float] = lambda answer: float("inf")) -> None:
        self.fresh_seconds = fresh_seconds
        self._lock, self._turn = Lock(), Lock()
        self._wanted: dict[str, float] = {}
        self._answers: OrderedDict[str, tuple[Answer | None, float]] = OrderedDict()
        self._asking: set[str] = set()

    def get(self, key: str, ask: Callable[[], Answer | None]) -> tuple[Answer | None, bool]:
        """Return the answer so far, and whether another is on its way."""
        with self._lock:
            answer, when = self._answers.get(key, (None, -float("inf")))
            if key not in self._asking and time.monotonic() - when >= self.fresh_seconds(answer):
                self._asking.add(key)
                self._wanted[key] = time.monotonic()
                Thread(target=self._ask, args=(key, ask), daemon=True).start()
            elif key in self._wanted:
                self._wanted[key] = time.monotonic()
            return answer, key in self._asking

    def forget(self, key: str) -> None:
        """Ask again at the next look; until then the last answer stays."""
        with self._lock:
            if key in self._answers:
                self._answers[key] = (self._answers[key][0], -float("inf"))

    def _ask(self, key: str, ask: Callable[[], Answer | None]) -> None:
        with self._turn:
            with self._lock:
                if time.monotonic() - self._wanted.pop(key) > PATIENCE_SECONDS:
                    self._asking.discard(key)
                    return
            answer = None
            try:
                answer = ask()
            finally:
                self._keep(key, answer)

    def _keep(self, key: str, answer: Answer | None) -> None:
        with self._lock:
            self._asking.discard(key)
            before, _ = self._answers.pop(key, (None, 0.0))
            self._answers[key] = (before if answer is None else answer, time.monotonic())
            while len(self._answers) > MOST_KEPT:
                self._answers.popitem(last=False)


def command(
    arguments: Sequence[str], *, timeout: float = TIMEOUT_SECONDS, failed: bool = False
) -> dict[str, Any] | None:
    """Run a command of ``deem_core`` and return its JSON.

    It runs in a process of its own. None if it fails; with ``failed`` what it has written all the same.
    """
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        line = [sys.executable, "-m", "deem_core", *arguments, "--json", str(answer)]
        try:
            subprocess.run(line, check=not failed, capture_output=True, stdin=subprocess.DEVNULL, timeout=timeout)
            content = json.loads(answer.read_text(encoding="utf-8"))
        except (OSError, subprocess.SubprocessError, ValueError):
            return None
    return content if isinstance(content, dict) else None


# ---------------------------------------------------------------------- devices


def devices() -> list[Device]:
    """Return the devices for training, the best first.

    Just the processor until torch has answered.
    """
    answer, _ = _device_questions().get("devices", _ask_devices)
    return answer or [cpu()]


def choose_device(place: Any, key: Mapping[str, Any]) -> str:
    """Show the choice of a device and return its name.

    On a cluster each machine has its own; there a run may only leave all GPUs alone.

    Parameters
    ----------
    place
        Where the widget goes.
    key : mapping
        What `widgets.keep` returns.
    """
    if cluster.is_chosen():
        shared: str = place.selectbox(
            "Device",
            list(_SHARED),
            format_func=_SHARED.__getitem__,
            **{**key, "key": f"{key['key']}_shared"},
            help="Which processors of the cluster's machines to use.",
        )
        return shared
    known = {device.name: device_words(device) for device in devices()}
    why = next(item.metadata["why"] for item in fields(TrainConfig) if item.name == "device")
    chosen: str = place.selectbox(
        "Device",
        ["auto", *known],
        format_func=lambda name: "Automatic" if name == "auto" else text.plain(str(known.get(name, name))),
        **key,
        help=f"Where models train; automatic is {why}.",
    )
    return chosen


def device_words(device: Device) -> str:
    """Return a device with its threads or memory.

    "cpu · 2 threads", "NVIDIA A100 · 35 GB of 40 GB free".
    """
    if device.threads is not None:
        return f"{device.name} · {text.count(device.threads, 'thread')}"
    if device.memory is None or device.free_memory is None:
        return f"{device.name} · {device.title}"
    return f"{device.name} · {device.title} · {text.size(device.free_memory)} of {text.size(device.memory)} free"


@st.cache_resource(show_spinner=False)
def _device_questions() -> Questions[list[Device]]:
    return Questions(_devices_fresh_seconds)


def _devices_fresh_seconds(known: Sequence[Device] | None) -> float:
    alone = known is not None and all(device.name == "cpu" for device in known)
    return PROCESSOR_FRESH_SECONDS if alone else DEVICES_FRESH_SECONDS


def _ask_devices() -> list[Device] | None:
    content = None if missing_torch() else command(["devices", "--on", LOCAL])
    try:
        return None if content is None else [Device(**each) for each in content["devices"]]
    except (KeyError, TypeError):
        return None


# ---------------------------------------------------------------------- expected times


def show_sweep_seconds(dataset_id: str, config: Mapping[str, Any]) -> None:
    """Show the expected time of a sweep.

    It is worked out in the background, from a few real updates on this machine.
    """
    root = str(workspace().root)  # here, as threads belong to no session
    key = json.dumps([root, dataset_id, dict(config)], sort_keys=True)
    _, asking = _sweep_questions().get(key, lambda: _ask_sweep_seconds(root, dataset_id, config))

    @st.fragment(run_every=POLL_SECONDS if asking else None)
    def fragment() -> None:
        seconds, still = _sweep_questions().get(key, lambda: _ask_sweep_seconds(root, dataset_id, config))
        if seconds is not None:
            st.caption(f":material/timer: About {text.duration(seconds)} on this machine", width="content")
        elif still:
            st.caption(":material/timer: Estimating how long it takes…", width="content")
        else:
            st.caption(":material/timer: How long it takes could not be estimated", width="content")
        if asking and not still:
            st.rerun()

    fragment()


@st.cache_resource(show_spinner=False)
def _sweep_questions() -> Questions[float]:
    return Questions()


def _ask_sweep_seconds(root: str, dataset_id: str, config: Mapping[str, Any]) -> float | None:
    content = command(["estimate", dataset_id, "--workspace", root, "--config", json.dumps(dict(config))])
    seconds = None if content is None else content.get("seconds")
    return float(seconds) if isinstance(seconds, (int, float)) else None
