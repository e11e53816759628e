"""Load: twenty people at one server while runs wait in line; pages' times, exceptions and memory.

Starts its own server on a workspace with a file, finished runs of each kind and a line of trainings. A session is what
a browser would be: a websocket that opens one page after the other, answers what the page asks to be drawn again, and
waits a while between clicks. First one session alone, with nothing in line (idle), then all at once. A page's time runs
from the click until its script has ended; drawing in the browser is not part of it, nor are widgets that people moved.
Seconds of the processor are those of the server alone: other work on the machine lengthens the times, but not these.

``--scripts`` measures instead what keeping drawings saves: the scripts of all pages in this process, their pictures
drawn anew (before) and kept (after), in turn.

Usage: python -m benchmarks.bench_load [--sessions 20] [--minutes 5] [--rows 60000] [--scripts]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import statistics
import tempfile
import time
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl

import numpy as np
import psutil
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.testing.v1 import AppTest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from deem_core import simulation
from deem_core.runs import Run, Workspace
from studio import drawings
from tests.browser.conftest import serve
from tests.in_process import QUICK, add_votes, done, inspected

PAGES = (
    *("home", "data", "learning_rate", "train", "learners", "dependence"),
    *("compare", "rows", "review", "export"),
)
PAUSE = (2.0, 8.0)
"""Seconds that somebody looks at a page, from and to."""
WAITING = 4
"""Trainings in line while the load lasts."""
IDLE_ROUNDS = 3
SCRIPT_ROUNDS = 5
APP = Path(__file__).resolve().parents[1] / "app.py"
PATIENCE = 120.0
"""Seconds after which a page counts as an exception."""
DRAWN = ForwardMsg.ScriptFinishedStatus.FINISHED_SUCCESSFULLY
"""The script of a page has ended: not one that was sent elsewhere, nor a part of a page."""
BROKEN = "Something broke"


@dataclass
class Measured:
    """What sessions met: seconds by page, and what went wrong."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    work: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """Seconds of the server's processor by page; of one session alone."""
    exceptions: list[str] = field(default_factory=list)
    bytes: int = 0

    def pages(self) -> int:
        """Return how many pages were opened."""
        return sum(map(len, self.seconds.values()))


class Session:
    """One browser: a websocket, the page it is on, and the parts of it that redraw themselves."""

    def __init__(
        self, socket: ClientConnection, query: str, measured: Measured, alone: psutil.Process | None = None
    ) -> None:
        self._socket = socket
        self._alone = alone  # the server, if nobody else is there
        self._query = query
        self._measured = measured
        self._page = ""
        self._clicked: float | None = None
        self._painted = asyncio.Event()
        self._redraws: dict[str, asyncio.Task[None]] = {}

    async def walk(self, pages: tuple[str, ...], until: float, pause: tuple[float, float], seed: int) -> None:
        """Open the pages in turn, each session in an order of its own, until a time or for one round."""
        rng = random.Random(seed)  # noqa: S311
        reader = asyncio.create_task(self._read())
        try:
            while True:
                for page in rng.sample(pages, len(pages)):
                    await self._open(page)
                    if reader.done() or (until and time.monotonic() > until):
                        return
                    await asyncio.sleep(rng.uniform(*pause))
                if not until:
                    return
        finally:
            for task in (reader, *self._redraws.values()):
                task.cancel()
                with suppress(asyncio.CancelledError, ConnectionClosed):
                    await task

    async def _open(self, page: str) -> None:
        for task in self._redraws.values():
            task.cancel()
        self._redraws.clear()
        before = 0.0 if self._alone is None else _worked(self._alone)
        self._page, self._clicked = page, time.monotonic()
        self._painted.clear()
        await self._rerun()
        try:
            await asyncio.wait_for(self._painted.wait(), PATIENCE)
        except TimeoutError:
            self._measured.exceptions.append(f"{page}: not drawn within {PATIENCE:g} seconds")
        if self._alone is not None:
            self._measured.work[page].append(_worked(self._alone) - before)

    async def _rerun(self, fragment: str = "") -> None:
        message = BackMsg()
        message.rerun_script.page_name = "" if self._page == "home" else self._page
        message.rerun_script.query_string = self._query
        message.rerun_script.fragment_id = fragment
        message.rerun_script.is_auto_rerun = bool(fragment)
        await self._socket.send(message.SerializeToString())

    async def _redraw(self, interval: float, fragment: str) -> None:
        while True:
            await asyncio.sleep(interval)
            await self._rerun(fragment)

    async def _read(self) -> None:
        try:
            await self._listen()
        except ConnectionClosed as closed:
            self._measured.exceptions.append(f"{self._page}: the connection was lost ({closed})")
            self._painted.set()

    async def _listen(self) -> None:
        async for data in self._socket:
            self._measured.bytes += len(data)
            message = ForwardMsg.FromString(bytes(data))  # type: ignore[arg-type]
            kind = message.WhichOneof("type")
            if kind == "delta" and message.delta.new_element.WhichOneof("type") == "exception":
                self._measured.exceptions.append(f"{self._page}: {message.delta.new_element.exception.message}")
            elif BROKEN.encode() in bytes(data):  # type: ignore[arg-type]
                self._measured.exceptions.append(f"{self._page}: {BROKEN}")
            elif kind == "auto_rerun":
                self._begin_redraw(message.auto_rerun.interval, message.auto_rerun.fragment_id)
            elif kind == "stop_auto_rerun":
                self._end_redraw(message.stop_auto_rerun.fragment_id)
            elif kind == "script_finished" and message.script_finished == DRAWN and self._clicked is not None:
                self._measured.seconds[self._page].append(time.monotonic() - self._clicked)
                self._clicked = None
                self._painted.set()

    def _begin_redraw(self, interval: float, fragment: str) -> None:
        self._end_redraw(fragment)
        self._redraws[fragment] = asyncio.create_task(self._redraw(interval, fragment))

    def _end_redraw(self, fragment: str) -> None:
        if (task := self._redraws.pop(fragment, None)) is not None:
            task.cancel()


def main() -> None:
    """Print a line for each page, and what the server took."""
    parser = argparse.ArgumentParser(description="Open all pages in many sessions at once.")
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--rows", type=int, default=60_000)
    parser.add_argument("--scripts", action="store_true", help="measure the scripts of pages, without a server")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(Path(folder) / "home")
        query = _work(workspace, options.rows)
        if options.scripts:
            _scripts(workspace, query)
            return
        with serve(workspace.root, Path(folder) / "log.txt") as (url, server):
            process = psutil.Process(server.pid)
            asyncio.run(_rounds(url, query, Measured(), 1, process))  # imports and caches
            idle, loaded = Measured(), Measured()
            asyncio.run(_rounds(url, query, idle, IDLE_ROUNDS, process))
            dataset = next(iter(workspace.runs())).dataset_id
            line = [
                workspace.start_run("train", workspace.dataset(dataset), {"method": "deem", "epochs": 5_000})
                for _ in range(WAITING)
            ]
            crowd = _crowd(url, query, loaded, server=process, sessions=options.sessions, seconds=60 * options.minutes)
            before = _worked(process)
            memory = asyncio.run(crowd)
            worked = _worked(process) - before
            active = sum(run.is_active() for run in line)
            _cancel(workspace, line)
    print(
        f"{options.rows:,} rows; {options.sessions} sessions for {options.minutes:g} minutes beside {len(line)} "
        f"trainings, of which {active} were still active at the end"
    )
    print(f"load of the machine at the end: {os.getloadavg()[1]:.0f} on {os.cpu_count()} cores")
    _report(idle, loaded, memory, worked)


def _scripts(workspace: Workspace, query: str) -> None:
    """Print the seconds of each page's script, with pictures drawn anew and kept."""
    os.environ["DEEM_HOME"] = str(workspace.root)
    app, most = AppTest.from_file(str(APP), default_timeout=300), drawings.MOST_BYTES
    for name, value in parse_qsl(query):
        app.query_params[name] = value
    app.run()
    seconds: dict[tuple[str, int], list[float]] = defaultdict(list)
    for number in range(2 * SCRIPT_ROUNDS):
        drawings.MOST_BYTES = bound = (-1, most)[number % 2]
        for page in PAGES:
            start = time.process_time()
            app.switch_page(f"pages/{page}.py").run()
            if number >= 2:  # the first ones import and read
                seconds[page, bound].append(time.process_time() - start)
    print(f"{'script of':<16}{'before':>8}{'after':>8}{'ratio':>8}   seconds of the processor, medians")
    for page in PAGES:
        before, after = (statistics.median(seconds[page, bound]) for bound in (-1, most))
        print(f"{page:<16}{before:>8.3f}{after:>8.3f}{before / after:>8.1f}")


def _work(workspace: Workspace, rows: int) -> str:
    """Fill a workspace, and return the address of its runs."""
    dataset = add_votes(workspace, simulation.make("condind", rows, seed=0).votes)
    training = done(workspace, "train", dataset, QUICK)
    inspected(workspace, training)
    done(workspace, "fuse", dataset, {"method": "auto", "random_state": 0})
    sweep = done(workspace, "sweep", dataset, {"rates": [0.1, 0.5, 16.0], "updates": 32, "device": "cpu"})
    comparison = done(workspace, "compare", dataset, {"methods": ["mv", "ds", "lsml"], "random_state": 0})
    parts = {"data": dataset.id, "run": training.id, "sweep": sweep.id, "comparison": comparison.id}
    return "&".join(f"{name}={value}" for name, value in parts.items())


def _socket(url: str) -> connect:
    return connect(
        url.replace("http://", "ws://") + "/_stcore/stream",
        origin=url,  # type: ignore[arg-type]
        subprotocols=["streamlit"],  # type: ignore[list-item]
        max_size=None,
        open_timeout=PATIENCE,
        ping_interval=None,  # browsers send none; they answer those of the server
    )


def _worked(server: psutil.Process) -> float:
    times = server.cpu_times()
    return float(times.user + times.system)


async def _rounds(url: str, query: str, measured: Measured, rounds: int, server: psutil.Process) -> None:
    async with _socket(url) as socket:
        for seed in range(rounds):
            await Session(socket, query, measured, server).walk(PAGES, 0.0, (0.2, 0.2), seed)


async def _crowd(
    url: str, query: str, measured: Measured, *, server: psutil.Process, sessions: int, seconds: float
) -> list[float]:
    """Let all sessions work; return the server's memory in MB, before and every ten seconds."""
    memory = [server.memory_info().rss / 1e6]
    until = time.monotonic() + seconds

    async def one(seed: int) -> None:
        await asyncio.sleep(seed * 0.5)  # people do not come in the same second
        async with _socket(url) as socket:
            await Session(socket, query, measured).walk(PAGES, until, PAUSE, seed)

    async def watch() -> None:
        while True:
            await asyncio.sleep(10)
            memory.append(server.memory_info().rss / 1e6)

    watcher = asyncio.create_task(watch())
    await asyncio.gather(*(one(seed) for seed in range(sessions)))
    watcher.cancel()
    return memory


def _cancel(workspace: Workspace, runs: list[Run]) -> None:
    for run in reversed(runs):
        if run.is_active():
            workspace.cancel(run)
    while any(run.is_active() for run in runs):
        time.sleep(0.1)


def _report(idle: Measured, loaded: Measured, memory: list[float], worked: float) -> None:
    print(f"{'':<16}{'one session alone':>20}{'all at once':>32}")
    print(
        f"{'page':<16}{'processor':>10}{'p50':>10}{'p50':>8}{'p95':>8}{'ratio':>8}{'opened':>8}   seconds; ratio of p50"
    )
    for page in sorted(loaded.seconds, key=lambda name: -statistics.median(loaded.seconds[name])):
        many = loaded.seconds[page]
        alone, middle, high = statistics.median(idle.seconds[page]), statistics.median(many), _high(many)
        work = statistics.median(idle.work[page])
        print(f"{page:<16}{work:>10.2f}{alone:>10.2f}{middle:>8.2f}{high:>8.2f}{middle / alone:>8.1f}{len(many):>8}")
    everything = [each for many in loaded.seconds.values() for each in many]
    print(
        f"all pages: p50 {statistics.median(everything):.2f} s, p95 {_high(everything):.2f} s, "
        f"{loaded.pages():,} pages, {loaded.bytes / 1e6:,.0f} MB sent, "
        f"{worked / loaded.pages():.2f} s of the processor for each page"
    )
    print(f"exceptions: {len(idle.exceptions) + len(loaded.exceptions)}")
    for text in sorted(set(idle.exceptions + loaded.exceptions)):
        print(f"  {text}")
    print(
        f"memory of the server: {memory[0]:,.0f} MB before, {memory[len(memory) // 2]:,.0f} half-way, "
        f"{memory[-1]:,.0f} at the end, {max(memory):,.0f} at most"
    )


def _high(seconds: list[float]) -> float:
    return float(np.quantile(seconds, 0.95))


if __name__ == "__main__":
    main()
