"""Gate: looks at every request before the app does.

Streamlit lets an app put itself between network and server (`st.App`), so this sees pages, uploads, downloads, health
checks and websockets alike. In turn it asks: is this a name of ours, does the request come from our own page, does
whoever asks know the passphrase, and whose space is it.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Awaitable, Callable
from urllib.parse import parse_qs, quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from deem_core import InputError
from studio.serving import hosts, screens, spaces
from studio.serving.passphrase import KEEP_SECONDS, Passphrase, Tries
from studio.serving.policy import HOSTS, PASSWORD, Policy, policy

ENTER = "/_deem/enter"
"""Where the passphrase is sent."""
SPACE = "/_deem/space"
"""Where private links lead."""
API = "/api/"
"""Where programs ask; what they are told is JSON."""
ENTRY = "deem_entry"
"""The cookie of those who knew the passphrase."""

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
RULES = "frame-ancestors 'none'; base-uri 'self'; form-action 'self'; object-src 'none'"
"""What a browser is told of the app's own pages."""

_MOST_BYTES = 4096  # of a form
_MOST_LOGGED = 50
_PARTS = ("/_stcore/", "/static/", "/media/", "/component/", "/app/static/", API)
_SAFE = ("GET", "HEAD", "OPTIONS")
_TARGET = re.compile(r"/(?![/\\])[\x21-\x7e]*")
_log = logging.getLogger(__name__)


class Gate:
    """Middleware that lets in what the policy allows.

    Parameters
    ----------
    app : ASGI application
    rules : Policy
    tries : Tries, optional
    """

    installed = False
    """Whether requests of this process pass through a gate."""

    def __init__(self, app: ASGIApp, rules: Policy, tries: Tries | None = None) -> None:
        self.app = app
        self.policy = rules
        self.passphrase = Passphrase(rules.password) if rules.password else None
        self.tries = tries or Tries()
        self._logged: set[str] = set()
        Gate.installed = True

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        asked = HTTPConnection(scope)
        answer = self._refused(scope, asked) or await self._own(scope, receive, asked) or self._stranger(scope, asked)
        if answer is None:
            await self.app(scope, receive, self._sender(scope, asked, send))
        elif scope["type"] == "websocket":
            await _deny(WebSocket(scope, receive, send), _armed(answer))
        else:
            await _armed(answer)(scope, receive, send)

    # ------------------------------------------------------------------ names

    def _refused(self, scope: Scope, asked: HTTPConnection) -> Response | None:
        """Refuse names that are not ours, and pages that are not ours."""
        given = asked.headers.getlist("host")
        host = hosts.Host.of(given[0]) if len(given) == 1 else None
        here = (scope.get("server") or ("",))[0]
        if host is None or not hosts.is_known(host.name, self.policy.names, here):
            name = "this name" if host is None else host.name[:100]
            said = f"{HOSTS}={'the.name' if host is None else host.name[:100]}"
            self._log_once(f"Refused: the name {name} is not known here. {said} in the environment makes it known.")
            return _told(
                scope,
                403,
                "Unknown name",
                f"This server is not known as {name}, so it does not answer. If it is yours, start it with {said} in "
                "its environment, or open it by the address that it printed when it started.",
            )
        origin = asked.headers.get("origin")
        changes = scope["type"] == "websocket" or scope["method"] not in _SAFE
        if changes and origin is not None and not hosts.agrees(origin, host):
            self._log_once(f"Refused: a page of {origin[:100]!r} asked {host.name[:100]!r}.")
            return _told(
                scope,
                403,
                "Refused",
                "This came from a page of another site, so it was refused. A proxy in front of the server must hand on "
                "the Host header as it got it.",
            )
        return None

    def _log_once(self, sentence: str) -> None:
        """Log for whoever sets up a proxy.

        Strangers shall not fill the log.
        """
        if len(self._logged) < _MOST_LOGGED and sentence not in self._logged:
            self._logged.add(sentence)
            _log.warning(sentence)

    # ------------------------------------------------------------------ pages of the gate itself

    async def _own(self, scope: Scope, receive: Receive, asked: HTTPConnection) -> Response | None:
        """Answer what is asked of the gate itself."""
        path = scope["path"].removeprefix(self.policy.base)
        if scope["type"] != "http":
            return None
        if path == ENTER and self.passphrase is not None:
            if scope["method"] != "POST":
                return RedirectResponse(f"{self.policy.base}/", 303)
            return await self._enter(Request(scope, receive), self.passphrase)
        if path == SPACE and self.policy.shared:
            stranger = self._stranger(scope, asked)
            if stranger is not None:
                return stranger
            return await self._open_space(Request(scope, receive))
        return None

    async def _enter(self, asked: Request, passphrase: Passphrase) -> Response:
        """Take a passphrase, if there are tries left."""
        form = await _form(asked)
        target = _inside(form.get("target", ""), self.policy.base)
        address = "" if asked.client is None else asked.client.host
        wait = self.tries.take(address)
        if wait > 0:
            seconds = int(wait) + 1
            sentence = f"There were too many tries. Wait {seconds} seconds, then try again."
            answer = self._ask(target, 429, sentence)
            answer.headers["Retry-After"] = str(seconds)
            return answer
        if not passphrase.is_right(form.get("words", "")):
            _log.warning("A wrong passphrase from %s", address)
            return self._ask(target, 401, "That is not the passphrase.")
        self.tries.succeeded(address)
        answer = RedirectResponse(target, 303)
        self._remember(answer, asked, ENTRY, passphrase.token(), KEEP_SECONDS)
        return answer

    async def _open_space(self, asked: Request) -> Response:
        """Ask whether to open the space of a private link, then do it."""
        if asked.method != "POST":
            return _page(screens.private_link(f"{self.policy.base}{SPACE}"), 200)
        key = (await _form(asked)).get("key", "")
        if not spaces.is_key(key):
            return _told(asked.scope, 400, "Not a private link", "Copy the whole link and open it again.")
        answer = RedirectResponse(f"{self.policy.base}/", 303)
        self._remember(answer, asked, spaces.COOKIE, key, spaces.KEEP_SECONDS)
        return answer

    # ------------------------------------------------------------------ who asks

    def _stranger(self, scope: Scope, asked: HTTPConnection) -> Response | None:
        """Refuse who has not given the passphrase."""
        if self.passphrase is None or self.passphrase.remembers(asked.cookies.get(ENTRY)):
            return None
        path = scope["path"].removeprefix(self.policy.base)
        if scope["type"] == "http" and path == "/_stcore/health":
            return None  # says "ok", to whoever watches over the server
        if _is_page(scope, path, asked.headers):
            query = scope["query_string"].decode("latin-1")
            target = quote(scope["path"]) + (f"?{query}" if query else "")
            return self._ask(_inside(target, self.policy.base), 401)
        return _plain(path, 401, "The passphrase of this server is needed: open its first page to give it.")

    def _ask(self, target: str, status: int, complaint: str = "") -> Response:
        return _page(screens.passphrase(f"{self.policy.base}{ENTER}", target, complaint), status)

    def _sender(self, scope: Scope, asked: HTTPConnection, send: Send) -> Callable[[Message], Awaitable[None]]:
        """Return what sends the app's answer, with headers and key."""
        path = scope["path"].removeprefix(self.policy.base)
        key = asked.cookies.get(spaces.COOKIE)
        tells_key = self.policy.shared and _is_page(scope, path, asked.headers)

        async def sender(message: Message) -> None:
            if message["type"] == "http.response.start":
                answer = Response()
                if tells_key:  # each visit renews it
                    new = key if key is not None and spaces.is_key(key) else spaces.new_key()
                    self._remember(answer, asked, spaces.COOKIE, new, spaces.KEEP_SECONDS)
                headers = MutableHeaders(raw=list(message["headers"]))
                for cookie in answer.headers.getlist("set-cookie"):
                    headers.append("set-cookie", cookie)
                _arm(headers)
                message = {**message, "headers": headers.raw}
            await send(message)

        return sender

    def _remember(self, answer: Response, asked: HTTPConnection, name: str, value: str, seconds: int) -> None:
        """Set a cookie that scripts cannot read and other sites cannot use."""
        secure = asked.url.scheme in ("https", "wss")
        answer.set_cookie(
            name, value, seconds, path=f"{self.policy.base}/", secure=secure, httponly=True, samesite="lax"
        )


def middleware() -> list[Middleware]:
    """Return the gate of this process, for `st.App`."""
    try:
        rules = policy()
    except InputError as error:
        raise SystemExit(str(error)) from None
    os.environ.pop(PASSWORD, None)  # workers and other processes need not know it
    return [Middleware(Gate, rules=rules)]


# ---------------------------------------------------------------------- requests and answers


def _is_page(scope: Scope, path: str, headers: Headers) -> bool:
    """Tell whether a person opens a page; parts of pages are none."""
    if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD") or path.startswith(_PARTS):
        return False
    return headers.get("sec-fetch-dest", "document") == "document" and "text/html" in headers.get("accept", "")


async def _deny(asked: WebSocket, answer: Response) -> None:
    """Refuse a websocket, with a sentence where the server can send one."""
    if "websocket.http.response" in asked.scope.get("extensions", {}):
        await asked.send_denial_response(answer)
    else:
        await asked.close(1008)


async def _form(asked: Request) -> dict[str, str]:
    """Return the fields of a small form; of a large one none."""
    body = b""
    async for chunk in asked.stream():
        body += chunk
        if len(body) > _MOST_BYTES:
            return {}
    fields = parse_qs(body.decode(errors="replace"), keep_blank_values=True, max_num_fields=8)
    return {name: values[0] for name, values in fields.items()}


def _inside(target: str, base: str) -> str:
    """Return an address of this server; its first page for any other."""
    return target if _TARGET.fullmatch(target) and target.startswith(f"{base}/") else f"{base}/"


def _told(scope: Scope, status: int, title: str, sentence: str) -> Response:
    """Return a sentence, as a page where a person reads it."""
    if _is_page(scope, scope["path"], Headers(scope=scope)):
        return _page(screens.refusal(title, sentence), status)
    return _plain(scope["path"], status, sentence)


def _plain(path: str, status: int, sentence: str) -> Response:
    """Return a sentence for programs."""
    return JSONResponse({"error": sentence}, status) if API in path else PlainTextResponse(f"{sentence}\n", status)


def _page(screen: screens.Screen, status: int) -> Response:
    return HTMLResponse(screen.text, status, {"Content-Security-Policy": screen.rules})


def _armed(answer: Response) -> Response:
    answer.headers["Cache-Control"] = "no-store"
    _arm(answer.headers)
    return answer


def _arm(headers: MutableHeaders) -> None:
    """Add what tells browsers to keep others out."""
    for name, value in HEADERS.items():
        headers[name] = value
    headers.setdefault("Content-Security-Policy", RULES)
