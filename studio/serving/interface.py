"""HTTP interface: describe, fuse and apply for programs, beside the app.

It is part of the app's own server, so the gate has looked at every request before: names, foreign pages, passphrase.
Work is done by other processes: a description by the command line, everything else by a run. docs/http.md is its
manual.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

import deem_core
from deem_core import DeemError, InputError, __version__
from deem_core.runs import Run, Workspace, space_folder
from studio.serving import spaces
from studio.serving.gate import API, Gate
from studio.serving.policy import policy
from studio.serving.received import FILE_PARTS, Folder, Refusal, bounded, most_bytes, received, safe_name

ROOT = f"{API}v1"
JSON = "json"
"""What an answer comes as where labels are not asked for."""
WAIT_SECONDS, MOST_WAIT = 10.0, 60.0
"""How long an answer is waited for before a run's address is told instead, and the longest wish."""
DESCRIBE_SECONDS = 180.0
AT_ONCE, MOST_WAITING = 2, 16
"""Descriptions and files that are made at the same time, and requests that may wait for their turn."""

_HOME = Path(str(deem_core.__file__)).parents[1]  # where Python finds the library
_LOOK_SECONDS = 0.2
_log = logging.getLogger(__name__)

Answer = Callable[[Request, Folder], Awaitable[Response]]


class Door:
    """ASGI application of one address: methods, errors as JSON.

    Parameters
    ----------
    **methods
        Method → what answers it.
    """

    def __init__(self, **methods: Answer) -> None:
        self.methods = methods

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        folder = Folder()
        try:
            answer = await self._answer(Request(scope, bounded(receive)), folder)
        finally:
            if not folder.kept:
                await run_in_threadpool(folder.remove)
        answer.headers["Cache-Control"] = "no-store"
        await answer(scope, receive, send)

    async def _answer(self, asked: Request, folder: Folder) -> Response:
        try:
            if not self.methods:
                raise Refusal(404, f"There is nothing at {asked.url.path[:200]}; docs/http.md lists the addresses.")
            method = self.methods.get("GET" if asked.method == "HEAD" else asked.method)
            if method is None:
                ways = ", ".join(self.methods)
                raise Refusal(405, f"{asked.method} is not possible here, only {ways}.", Allow=ways)
            if asked.headers.get("sec-fetch-site") in ("cross-site", "same-site"):
                raise Refusal(403, "This came from a page of another site, so it was refused.")
            return await method(asked, folder)
        except Refusal as refusal:
            return JSONResponse({"error": str(refusal)}, refusal.status, refusal.headers)
        except DeemError as error:
            return JSONResponse({"error": _sentence(error, folder)}, 422)
        except ClientDisconnect:
            return Response(status_code=499)
        except Exception:
            number = secrets.token_hex(4)
            _log.exception("Something broke, id %s", number)
            return JSONResponse({"error": f"Something broke, id {number}; the app's log has the details."}, 500)


def routes() -> list[Route]:
    """Return the addresses of the interface, for `st.App`."""
    root = f"{policy().base}{ROOT}"
    return [
        Route(root, Door(GET=_about)),
        Route(f"{root}/describe", Door(POST=_describe)),
        Route(f"{root}/fuse", Door(POST=_fuse)),
        Route(f"{root}/apply", Door(POST=_apply)),
        Route(f"{root}/runs/{{id}}", Door(GET=_run)),
        Route(f"{root}/runs/{{id}}/labels", Door(GET=_labels)),
        Route(f"{policy().base}{API}{{rest:path}}", Door()),
    ]


# ---------------------------------------------------------------------- answers


async def _about(asked: Request, _folder: Folder) -> Response:
    _space(asked)
    return JSONResponse({"version": __version__, "most_bytes": most_bytes(), "documentation": "docs/http.md"})


async def _describe(asked: Request, folder: Folder) -> Response:
    from deem_core import cli  # noqa: PLC0415  # the server starts without the library

    _space(asked)
    query = _query(asked)
    wish = await run_in_threadpool(_asked, cli.request, "describe", query)
    files = await received(asked, folder, ("file", "truth-file", "gold-file", "labels"))
    target = folder.path / "described.json"
    words = [*wish.words, *(f"--{name}={path}" for name, (path, _) in files.items() if name != "file")]
    line = [sys.executable, "-m", "deem_core", "describe", str(files["file"][0]), "--json", str(target), *words]
    async with _turn():
        done = await run_in_threadpool(_run_line, line)
    if done.returncode == 0:
        return Response(target.read_bytes(), media_type="application/json")
    if done.returncode == 2:
        raise InputError(done.stderr.strip())
    raise RuntimeError(f"describe ended with {done.returncode}: {done.stderr[-2000:]}")


async def _fuse(asked: Request, folder: Folder) -> Response:
    return await _start("fuse", asked, folder, ("file", "truth-file", "gold-file", "labels"))


async def _apply(asked: Request, folder: Folder) -> Response:
    parts = ("file", "truth-file", "labels", "model")
    return await _start("apply", asked, folder, parts, needed=("file", "model"))


async def _start(
    command: str, asked: Request, folder: Folder, parts: tuple[str, ...], needed: tuple[str, ...] = ("file",)
) -> Response:
    """Start a run, and answer with its result if that is soon there."""
    from deem_core import cli  # noqa: PLC0415  # the server starts without the library

    space, query = _space(asked), _query(asked)
    kind, wait = _output(query), _wait(query)
    trained = _taken(query, "run") if "model" in needed else None
    wish = await run_in_threadpool(_asked, cli.request, command, query, kind)
    if trained is not None:
        model = (await run_in_threadpool(_find, space, trained)).result("model.safetensors")
        if model is None:
            raise Refusal(409, "That run has no model: it trains none, or is not done.")
        sent = {**await received(asked, folder, ("file", "truth-file", "labels")), "model": (model, model.name)}
    else:
        sent = await received(asked, folder, parts, needed)
    files = {name: cli.Sent(*where) for name, where in sent.items()}
    run = await run_in_threadpool(cli.start, space, wish, files)
    until = time.monotonic() + wait
    while time.monotonic() < until and await run_in_threadpool(run.is_active):
        await asyncio.sleep(_LOOK_SECONDS)
    state = run.state()
    if state.state == "done" and kind != JSON:
        return await _file(space, run, kind, wish.export, folder)
    status = {"done": 200, "failed": 422}.get(state.state, 202)
    return await run_in_threadpool(_told, run, status)


async def _run(asked: Request, _folder: Folder) -> Response:
    space = _space(asked)
    run = await run_in_threadpool(_find, space, asked.path_params["id"])
    return await run_in_threadpool(_told, run, 200)


async def _labels(asked: Request, folder: Folder) -> Response:
    from deem_core import cli  # noqa: PLC0415  # the server starts without the library

    space, query = _space(asked), _query(asked)
    kind = _output(query, "csv")
    options = await run_in_threadpool(_asked, cli.export_options, query, kind)
    run = await run_in_threadpool(_find, space, asked.path_params["id"])
    state = run.state()
    if state.state != "done":
        why = f": {state.reason}" if state.reason else "."
        raise Refusal(409, f"The run is {state.state}, so it has no labels{why}")
    return await _file(space, run, kind, options, folder)


async def _file(space: Workspace, run: Run, kind: str, options: Mapping[str, Any], folder: Folder) -> Response:
    """Return the fused labels of a finished run as a file."""
    from deem_core import cli  # noqa: PLC0415  # the server starts without the library
    from deem_core.answers import DOWNLOADS  # noqa: PLC0415

    if kind == JSON:
        raise Refusal(400, f"Labels come as {', '.join(DOWNLOADS)}; the run itself is JSON.")
    labels = DOWNLOADS[kind]
    path = folder.path / f"fused{labels.ending}"
    async with _turn():
        await run_in_threadpool(cli.write_labels, space, run, path, kind, options)
    stem = safe_name(run.spec["inputs"]["name"].split(".")[0]) or "votes"
    folder.kept = True
    return FileResponse(
        path,
        media_type=labels.media_type,
        filename=f"{stem}_fused{labels.ending}",
        headers={"Content-Location": _address(run)},
        background=BackgroundTask(folder.remove),
    )


def _told(run: Run, status: int) -> Response:
    """Return what is known of a run."""
    from deem_core import cli  # noqa: PLC0415  # the server starts without the library

    facts = cli.run_facts(run)
    has_labels = facts["state"] == "done" and run.result("result.parquet") is not None and run.kind != "compare"
    links = {"self": _address(run), "labels": f"{_address(run)}/labels" if has_labels else None}
    error = {"error": facts["reason"]} if status >= 400 else {}
    retry = {"Retry-After": "1"} if status == 202 else {}
    return JSONResponse({**error, **facts, "links": links}, status, {"Location": _address(run), **retry})


def _address(run: Run) -> str:
    return f"{policy().base}{ROOT}/runs/{run.id}"


# ---------------------------------------------------------------------- who asks


def _space(asked: Request) -> Workspace:
    """Return the workspace of whoever asks.

    Raises
    ------
    Refusal
        If the server has spaces and the request names none, or there is no gate.
    """
    rules = policy()
    if rules.guards and not Gate.installed:
        raise Refusal(503, "This server was started in a way that leaves out its protection, so it answers nothing.")
    around = Workspace(os.environ.get("DEEM_HOME"))
    if not rules.shared:
        return around
    scheme, _, told = asked.headers.get("authorization", "").partition(" ")
    key = told.strip() if scheme.casefold() == "bearer" else asked.cookies.get(spaces.COOKIE)
    if key is None or not spaces.is_key(key):
        raise Refusal(
            401,
            "This server keeps everybody's files apart: send the key of your private space, which your private link "
            "ends with, as “Authorization: Bearer KEY”.",
            WWW_Authenticate="Bearer",
        )
    return Workspace(space_folder(around.root, spaces.name_of(key)))


def _find(space: Workspace, id: str) -> Run:
    try:
        return space.run(id)
    except InputError:
        raise Refusal(404, "There is no such run in this workspace.") from None


# ---------------------------------------------------------------------- options and files


def _query(asked: Request) -> list[tuple[str, str]]:
    return asked.query_params.multi_items()


def _asked(read: Callable[..., Any], *given: Any) -> Any:
    """Read options; what is wrong with them is a bad request."""
    try:
        return read(*given)
    except InputError as error:
        raise Refusal(400, str(error)) from None


def _taken(query: list[tuple[str, str]], name: str) -> str | None:
    """Take an option of the interface itself out of the query."""
    found = [value for each, value in query if each == name]
    query[:] = [(each, value) for each, value in query if each != name]
    return found[-1] if found else None


def _output(query: list[tuple[str, str]], usual: str = JSON) -> str:
    """Return what the answer comes as: JSON, or a kind of file."""
    from deem_core.answers import DOWNLOADS  # noqa: PLC0415  # the server starts without the library

    kind = _taken(query, "as") or usual
    if kind != JSON and kind not in DOWNLOADS:
        raise Refusal(400, f"There is no output {kind[:40]!r}; there are {', '.join((JSON, *DOWNLOADS))}.")
    return kind


def _wait(query: list[tuple[str, str]]) -> float:
    told = _taken(query, "wait")
    try:
        seconds = WAIT_SECONDS if told is None else float(told)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= MOST_WAIT:
        raise Refusal(400, f"wait is a number of seconds from 0 to {MOST_WAIT:g}.")
    return seconds


# ---------------------------------------------------------------------- work


_slots = asyncio.Semaphore(AT_ONCE)
_waiting: set[object] = set()


@asynccontextmanager
async def _turn() -> AsyncIterator[None]:
    """Let few pieces of work go on at once.

    More wait, and too many are sent away.
    """
    me = object()
    if len(_waiting) >= MOST_WAITING:
        raise Refusal(503, "The server is busy. Try again in a moment.", Retry_After="5")
    _waiting.add(me)
    try:
        await _slots.acquire()
    finally:
        _waiting.discard(me)
    try:
        yield
    finally:
        _slots.release()


def _run_line(line: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a command of the library, wherever the server was started."""
    try:
        return subprocess.run(
            line,
            check=False,
            cwd=_HOME,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=DESCRIBE_SECONDS,
            text=True,
            errors="replace",
        )
    except subprocess.TimeoutExpired:
        raise InputError(
            f"This took more than {DESCRIBE_SECONDS:g} seconds: describe it on the command line."
        ) from None


def _sentence(error: Exception, folder: Folder) -> str:
    """Return an error without the folders of this machine."""
    told = " ".join(str(error).splitlines())
    for part in FILE_PARTS:
        told = told.replace(f"{folder.path / part}{os.sep}", "")
    return told
