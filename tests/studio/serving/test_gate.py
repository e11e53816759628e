"""The gate before the app, asked as a network asks it."""

import asyncio
import os
import re
from dataclasses import dataclass
from http.cookies import SimpleCookie
from urllib.parse import urlencode

import pytest

from studio.serving import gate, spaces
from studio.serving.gate import ENTER, ENTRY, SPACE, Gate
from studio.serving.passphrase import OWN, Tries
from studio.serving.policy import Policy, policy

WORDS = "open sesame"
PAGE = {"accept": "text/html"}
KEY = "k" * 43


@dataclass
class Answer:
    """What came back; a websocket that was let in has the status 101, one that was closed the reason."""

    status: int
    headers: list[tuple[str, str]]
    body: str = ""

    def __getitem__(self, name):
        return next((value for key, value in self.headers if key == name), None)

    @property
    def cookies(self):
        found = SimpleCookie()
        for name, value in self.headers:
            if name == "set-cookie":
                found.load(value)
        return found


async def _app(scope, receive, send):
    """Stands for Streamlit."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html")]})
    await send({"type": "http.response.body", "body": b"the app"})


def ask(rules, path="/", *, method="GET", kind="http", secure=False, host="localhost:8501", **more):
    """Send one request through a gate, or through one that is there already (``to``)."""
    headers, cookies, form, to = (more.get(name) for name in ("headers", "cookies", "form", "to"))
    names = host if isinstance(host, tuple) else (host,)
    asked = [*(("host", name) for name in names if name is not None), *(headers or {}).items()]
    if cookies:
        asked.append(("cookie", "; ".join(f"{name}={value}" for name, value in cookies.items())))
    path, _, query = path.partition("?")
    scope = {
        "type": kind,
        "method": method,
        "path": path,
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in asked],
        "server": ("127.0.0.1", 8501),
        "client": ("10.0.0.1", 5000),
        "scheme": ("ws" if kind == "websocket" else "http") + "s" * secure,
        "extensions": {"websocket.http.response": {}} if more.get("explains", True) else {},
    }
    body = form if isinstance(form, bytes) else urlencode(form or {}).encode()
    sent = []

    async def receive():
        return {"type": "http.request", "body": body} if kind == "http" else {"type": "websocket.connect"}

    async def send(message):
        sent.append(message)

    asyncio.run((to or Gate(_app, rules, Tries()))(scope, receive, send))
    first = sent[0]
    if first["type"] in ("websocket.accept", "websocket.close"):
        return Answer(first.get("code", 101), [])
    told = [(name.decode(), value.decode("latin-1")) for name, value in first["headers"]]
    return Answer(first["status"], told, b"".join(each.get("body", b"") for each in sent[1:]).decode())


ALONE, SHARED, LOCKED = Policy(), Policy(shared=True), Policy(password=WORDS)


# ---------------------------------------------------------------------- names

EVERYTHING = [
    *[("http", "GET", path) for path in ("/", "/data", "/_stcore/health", "/media/x.csv", "/static/js/index.js")],
    *[("http", method, "/_stcore/upload_file/session/file") for method in ("PUT", "DELETE", "OPTIONS")],
    ("websocket", "GET", "/_stcore/stream"),
]


@pytest.mark.parametrize(("kind", "method", "path"), EVERYTHING)
def test_nothing_is_served_under_a_strangers_name(kind, method, path):
    answer = ask(ALONE, path, method=method, kind=kind, host="evil.example:8501")
    assert answer.status == 403
    assert "not known as evil.example" in answer.body
    assert "DEEM_HOSTS=evil.example" in answer.body
    assert "the app" not in answer.body


@pytest.mark.parametrize(("kind", "method", "path"), EVERYTHING)
def test_everything_is_served_under_our_own(kind, method, path):
    for host in ("localhost:8501", "127.0.0.1:8501", "[::1]:8501"):
        answer = ask(ALONE, path, method=method, kind=kind, host=host, headers={"origin": f"http://{host}"})
        assert answer.status == (101 if kind == "websocket" else 200)


@pytest.mark.parametrize(
    "host", [None, "", "localhost@evil.example", "localhost, evil.example", ("localhost", "evil.example")]
)
def test_a_request_without_one_clear_name_is_refused(host):
    assert ask(ALONE, host=host).status == 403


def test_a_person_reads_the_refusal_as_a_page_without_anything_coming_alive():
    answer = ask(ALONE, headers=PAGE, host="evil.example")
    assert "<h1>Unknown name</h1>" in answer.body
    assert "default-src 'none'" in answer["content-security-policy"]
    assert "<script" not in ask(ALONE, headers=PAGE, host="<script>").body


@pytest.mark.parametrize("origin", ["http://evil.example", "http://localhost:3000", "null", "http://127.0.0.1:8501"])
@pytest.mark.parametrize(
    ("kind", "method"), [("websocket", "GET"), ("http", "PUT"), ("http", "DELETE"), ("http", "POST")]
)
def test_pages_of_others_open_no_websocket_and_upload_nothing(origin, kind, method):
    answer = ask(ALONE, "/_stcore/stream", method=method, kind=kind, headers={"origin": origin})
    assert answer.status == 403
    assert "another site" in answer.body


def test_a_program_that_sends_no_origin_may_connect():
    assert ask(ALONE, "/_stcore/stream", kind="websocket").status == 101


def test_a_server_that_cannot_refuse_with_a_sentence_closes():
    assert ask(ALONE, "/_stcore/stream", kind="websocket", host="evil.example", explains=False).status == 1008


def test_strangers_do_not_fill_the_log(caplog):
    there = Gate(_app, ALONE)
    for n in range(200):
        ask(ALONE, host=f"evil{n}.example", to=there)
        ask(ALONE, host="evil.example", to=there)
    assert len(caplog.records) == 50


# ---------------------------------------------------------------------- headers


@pytest.mark.parametrize(("rules", "host"), [(ALONE, "localhost"), (ALONE, "evil.example"), (LOCKED, "localhost")])
@pytest.mark.parametrize("path", ["/", "/media/x.html", "/_stcore/health"])
def test_no_answer_may_be_framed_or_guessed_at(rules, host, path):
    answer = ask(rules, path, host=host, headers=PAGE)
    assert answer["x-frame-options"] == "DENY"
    assert "frame-ancestors 'none'" in answer["content-security-policy"]
    assert answer["x-content-type-options"] == "nosniff"
    assert answer["referrer-policy"] == "same-origin"
    assert answer["cross-origin-resource-policy"] == "same-origin"


# ---------------------------------------------------------------------- passphrase


@pytest.mark.parametrize(("kind", "method", "path"), [each for each in EVERYTHING if "health" not in each[2]])
def test_without_the_passphrase_there_is_nothing(kind, method, path):
    for headers in ({}, PAGE):
        answer = ask(LOCKED, path, method=method, kind=kind, headers=headers)
        assert answer.status == 401
        assert "the app" not in answer.body
        assert WORDS not in answer.body


def test_only_the_health_check_answers_everybody():
    assert ask(LOCKED, "/_stcore/health").status == 200
    assert ask(LOCKED, "/_stcore/health/x").status == 401
    assert ask(LOCKED, "/_stcore/metrics").status == 401


def test_the_right_words_open_everything_that_was_asked_for():
    there = Gate(_app, LOCKED)
    asked = ask(LOCKED, "/data?data=abc&x=%3Cb%3E", headers=PAGE, to=there)
    target = re.search('name="target" value="([^"]*)"', asked.body)[1].replace("&amp;", "&")
    answer = ask(LOCKED, ENTER, method="POST", form={"words": WORDS, "target": target}, to=there)
    assert (answer.status, answer["location"]) == (303, "/data?data=abc&x=%3Cb%3E")
    cookie = answer.cookies[ENTRY]
    assert cookie["httponly"]
    assert cookie["samesite"] == "lax"
    assert not cookie["secure"]
    assert WORDS not in cookie.value
    for kind, method, path in EVERYTHING:
        later = ask(LOCKED, path, method=method, kind=kind, cookies={ENTRY: cookie.value}, to=there)
        assert later.status in (200, 101)


def test_wrong_words_open_nothing_and_are_not_told_or_logged(caplog):
    answer = ask(LOCKED, ENTER, method="POST", form={"words": "a wrong guess", "target": "/"})
    assert answer.status == 401
    assert "That is not the passphrase." in answer.body
    assert ENTRY not in answer.cookies
    assert "wrong passphrase from 10.0.0.1" in caplog.text
    assert "guess" not in answer.body + caplog.text
    assert WORDS not in answer.body + caplog.text


def test_after_a_few_tries_even_the_right_words_must_wait():
    there = Gate(_app, LOCKED)
    tried = [ask(LOCKED, ENTER, method="POST", form={"words": str(n)}, to=there).status for n in range(OWN)]
    assert tried == [401] * OWN
    answer = ask(LOCKED, ENTER, method="POST", form={"words": WORDS}, to=there)
    assert answer.status == 429
    assert int(answer["retry-after"]) > 0
    assert f"Wait {answer['retry-after']} seconds" in answer.body
    assert ENTRY not in answer.cookies


@pytest.mark.parametrize(
    "target",
    ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:x", "", "/a\r\nSet-Cookie: x=y", "/ä"],
)
def test_the_way_on_leads_nowhere_else(target):
    answer = ask(LOCKED, ENTER, method="POST", form={"words": WORDS, "target": target})
    assert (answer.status, answer["location"]) == (303, "/")


def test_a_passphrase_from_a_page_of_others_or_of_too_many_bytes_is_none():
    form = {"words": WORDS}
    foreign = ask(LOCKED, ENTER, method="POST", form=form, headers={"origin": "http://evil.example"})
    assert foreign.status == 403
    assert ask(LOCKED, ENTER, method="POST", form=form | {"x": "y" * 5000}).status == 401


def test_over_https_cookies_stay_there():
    own = {"origin": "https://localhost:8501"}
    answer = ask(LOCKED, ENTER, method="POST", secure=True, headers=own, form={"words": WORDS})
    assert answer.cookies[ENTRY]["secure"]
    assert ask(SHARED, headers=PAGE, secure=True).cookies[spaces.COOKIE]["secure"]


# ---------------------------------------------------------------------- spaces


def test_one_person_gets_no_cookie():
    assert ask(ALONE, headers=PAGE)["set-cookie"] is None
    assert ask(ALONE, SPACE, headers=PAGE).body == "the app"
    assert ask(ALONE, ENTER, headers=PAGE).body == "the app"


def test_on_a_shared_server_a_page_brings_a_key_that_nobody_guesses():
    answers = [ask(SHARED, path, headers=PAGE) for path in ("/", "/data")]
    keys = [answer.cookies[spaces.COOKIE] for answer in answers]
    assert len({key.value for key in keys}) == 2
    for key in keys:
        assert spaces.is_key(key.value)
        assert key["httponly"]
        assert key["samesite"] == "lax"
        assert key["path"] == "/"


def test_a_browser_keeps_its_key_and_nothing_else_counts_as_one():
    kept = ask(SHARED, headers=PAGE, cookies={spaces.COOKIE: KEY}).cookies[spaces.COOKIE].value
    assert kept == KEY
    for bad in ("", "short", "k" * 44, "../" + "k" * 40):
        assert ask(SHARED, headers=PAGE, cookies={spaces.COOKIE: bad}).cookies[spaces.COOKIE].value != bad


@pytest.mark.parametrize("path", ["/_stcore/health", "/static/js/index.js", "/media/x"])
def test_parts_of_pages_bring_no_key(path):
    assert ask(SHARED, path, headers=PAGE)["set-cookie"] is None
    assert ask(SHARED, "/", headers={"accept": "text/html", "sec-fetch-dest": "iframe"})["set-cookie"] is None


def test_the_name_of_a_space_does_not_tell_its_key():
    assert KEY not in spaces.name_of(KEY)
    assert b"kk" not in bytes.fromhex(spaces.name_of(KEY))
    assert re.fullmatch("[0-9a-f]{64}", spaces.name_of(KEY))
    assert spaces.name_of(KEY) != spaces.name_of("l" * 43)


def test_a_private_link_takes_its_key_only_after_a_click_of_our_own():
    shown = ask(SHARED, SPACE, headers=PAGE)
    assert "Open this private space?" in shown.body
    assert spaces.COOKIE not in shown.cookies
    opened = ask(SHARED, SPACE, method="POST", form={"key": KEY}, headers={"origin": "http://localhost:8501"})
    assert (opened.status, opened["location"]) == (303, "/")
    assert opened.cookies[spaces.COOKIE].value == KEY
    forced = ask(SHARED, SPACE, method="POST", form={"key": KEY}, headers={"origin": "http://evil.example"})
    assert forced.status == 403
    assert ask(SHARED, SPACE, method="POST", form={"key": "x"}).status == 400


def test_a_private_link_asks_for_the_passphrase_first():
    both = Policy(shared=True, password=WORDS)
    assert ask(both, SPACE, headers=PAGE).status == 401
    refused = ask(both, SPACE, method="POST", form={"key": KEY})
    assert refused.status == 401
    assert spaces.COOKIE not in refused.cookies


# ---------------------------------------------------------------------- under another path


def test_below_a_path_everything_stays_below_it():
    rules = Policy(shared=True, password=WORDS, base="/deem")
    there = Gate(_app, rules)
    page = ask(rules, "/deem/data", headers=PAGE, to=there)
    assert 'action="/deem/_deem/enter"' in page.body
    answer = ask(rules, f"/deem{ENTER}", method="POST", form={"words": WORDS, "target": "/other"}, to=there)
    assert answer["location"] == "/deem/"
    assert answer.cookies[ENTRY]["path"] == "/deem/"
    assert ask(rules, "/deem/_stcore/health", to=there).status == 200


@pytest.fixture
def decided_anew():
    policy.cache_clear()
    yield
    policy.cache_clear()


@pytest.mark.usefixtures("decided_anew")
def test_a_start_that_cannot_be_understood_ends_with_a_sentence(monkeypatch):
    monkeypatch.setenv("DEEM_SHARED", "perhaps")
    with pytest.raises(SystemExit, match="DEEM_SHARED is 'perhaps'"):
        gate.middleware()


@pytest.mark.usefixtures("decided_anew")
def test_workers_do_not_inherit_the_passphrase(monkeypatch):
    monkeypatch.setenv("DEEM_PASSWORD", WORDS)
    (made,) = gate.middleware()
    assert made.kwargs["rules"].password == WORDS
    assert "DEEM_PASSWORD" not in os.environ
