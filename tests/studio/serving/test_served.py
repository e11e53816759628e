"""The promises on a server that was really started, by plain ``streamlit run app.py``, with forged requests."""

import http.client
import json
import os
import re
import socket
from urllib.parse import urlencode

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from deem_core.runs import Workspace, space_folder
from studio.serving import spaces
from studio.serving.passphrase import OWN
from tests.app.conftest import WIDE
from tests.browser.conftest import serve

WORDS = "open sesame, please"
PATIENCE = 60


class Server:
    """A started server that is asked byte by byte."""

    def __init__(self, url, home, log):
        self.port, self.home, self.log = int(url.rsplit(":", 1)[1]), home, log

    def ask(self, path, method="GET", host=None, body=None, content=None, **headers):
        """Return status, headers and body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.putrequest(method, path, skip_host=True)
        connection.putheader("Host", host or f"127.0.0.1:{self.port}")
        for name, value in headers.items():
            connection.putheader(name.replace("_", "-"), value)
        content = content if body is None else urlencode(body).encode()
        if content is not None:
            connection.putheader("Content-Length", str(len(content)))
        connection.endheaders(content)
        answer = connection.getresponse()
        text = answer.read().decode(errors="replace")
        connection.close()
        return answer.status, answer.headers, text

    def socket(self, host=None, origin=None, **headers):
        """Open the app's websocket, as a page under some name does."""
        host = host or f"127.0.0.1:{self.port}"
        return connect(
            f"ws://{host}/_stcore/stream",
            sock=socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE),
            origin=origin,
            subprotocols=["streamlit"],
            additional_headers={name.replace("_", "-"): value for name, value in headers.items()},
            proxy=None,
            max_size=None,
        )

    def see(self, page, query="", **headers):
        """Return all bytes that a session is sent of a page, as text."""
        asked = BackMsg()
        asked.rerun_script.query_string = query
        asked.rerun_script.page_name = page
        sent = b""
        with self.socket(**headers) as stream:
            stream.send(asked.SerializeToString())
            while True:
                content = stream.recv(PATIENCE)
                sent += content
                message = ForwardMsg()
                message.ParseFromString(content)
                # A deep link ends in another script: only a run that was not cut short is the end.
                if message.script_finished == ForwardMsg.ScriptFinishedStatus.FINISHED_SUCCESSFULLY and (
                    message.WhichOneof("type") == "script_finished"
                ):
                    return sent.decode(errors="replace").replace("\\", "")  # Markdown


def started(tmp_path_factory, *options, **environment):
    """Start a server, with nothing of the outer environment that would change it."""
    for name in ("DEEM_SHARED", "DEEM_HOSTS", "DEEM_PASSWORD"):
        assert name not in os.environ
    folder = tmp_path_factory.mktemp("served")
    with serve(folder / "home", folder / "log.txt", *options, **environment) as (url, _):
        yield Server(url, folder / "home", folder / "log.txt")


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    yield from started(tmp_path_factory)


@pytest.fixture(scope="module")
def locked(tmp_path_factory):
    """One with a passphrase and a name."""
    yield from started(tmp_path_factory, DEEM_PASSWORD=WORDS, DEEM_HOSTS="deem.example")


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """One that listens everywhere, and so is shared by itself."""
    yield from started(tmp_path_factory, "--server.address", "0.0.0.0")  # noqa: S104


def test_a_page_under_a_strangers_name_gets_no_websocket_and_no_answer(alone):
    evil = f"evil.example:{alone.port}"
    for origin in (f"http://{evil}", None):
        with pytest.raises(InvalidStatus) as refused:
            alone.socket(host=evil, origin=origin)
        assert refused.value.response.status_code == 403
        assert b"not known as evil.example" in refused.value.response.body
    for path in ("/", "/data", "/_stcore/health", "/media/x", "/_stcore/host-config", "/static/x.js"):
        status, _, text = alone.ask(path, host=evil)
        assert status == 403
        assert "DEEM_HOSTS=evil.example" in text
    assert alone.ask("/_stcore/upload_file/a/b", "PUT", host=evil, body={})[0] == 403


def test_our_own_names_get_what_they_ask_for(alone):
    for name in ("localhost", "127.0.0.1", "[::1]"):
        host = f"{name}:{alone.port}"
        assert alone.ask("/", host=host)[0] == 200
        with alone.socket(host=host, origin=f"http://{host}"):
            pass


@pytest.mark.parametrize("origin", ["http://evil.example", "http://localhost:3000", "null"])
def test_a_page_of_another_site_gets_no_websocket_and_uploads_nothing(alone, origin):
    with pytest.raises(InvalidStatus):
        alone.socket(origin=origin)
    status, _, text = alone.ask("/_stcore/upload_file/a/b", "PUT", body={}, Origin=origin)
    assert (status, "another site" in text) == (403, True)


def test_no_page_of_the_app_may_be_framed(alone):
    for path in ("/", "/data", "/_stcore/health"):
        _, headers, _ = alone.ask(path)
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert headers["X-Frame-Options"] == "DENY"
        assert headers["X-Content-Type-Options"] == "nosniff"


def test_one_person_gets_no_cookie_and_no_space(alone):
    _, headers, _ = alone.ask("/", Accept="text/html")
    assert headers["Set-Cookie"] is None
    seen = alone.see("data")
    assert "Private space" not in seen
    assert not (alone.home / "spaces").exists()


def test_without_the_passphrase_nothing_comes_but_its_page(locked):
    for path in ("/", "/data", "/media/x", "/_stcore/host-config", "/_stcore/metrics"):
        assert locked.ask(path)[0] == 401
    assert 'type="password"' in locked.ask("/data", Accept="text/html")[2]
    assert locked.ask("/_stcore/upload_file/a/b", "PUT", body={})[0] == 401
    with pytest.raises(InvalidStatus) as refused:
        locked.socket()
    assert refused.value.response.status_code == 401


def test_the_passphrase_opens_the_app_and_is_never_logged(locked):
    form = {"words": WORDS, "target": "/data?x=1"}
    status, headers, _ = locked.ask("/_deem/enter", "POST", body=form)
    assert (status, headers["Location"]) == (303, "/data?x=1")
    entry = headers["Set-Cookie"].split(";")[0]
    space = f"{spaces.COOKIE}={'k' * 43}"
    assert "What did I upload?" in locked.see("data", Cookie=f"{entry}; {space}")
    assert locked.ask("/", host="deem.example", Cookie=entry)[0] == 200
    assert locked.ask("/", Cookie="deem_entry=9999999999." + "0" * 64)[0] == 401
    assert WORDS not in locked.log.read_text()


def test_wrong_words_run_into_a_limit_that_keeps_nobody_out_who_is_in(locked):
    entry = locked.ask("/_deem/enter", "POST", body={"words": WORDS})[1]["Set-Cookie"].split(";")[0]
    tried = [locked.ask("/_deem/enter", "POST", body={"words": f"guess {n}"})[0] for n in range(OWN + 1)]
    assert tried == [401] * OWN + [429]
    assert locked.ask("/_deem/enter", "POST", body={"words": WORDS})[0] == 429
    assert locked.ask("/", Cookie=entry)[0] == 200
    assert "guess" not in locked.log.read_text()


def test_a_server_for_others_gives_each_browser_a_space_and_says_so(shared):
    keys = []
    for _ in range(2):
        _, headers, _ = shared.ask("/", Accept="text/html")
        keys.append(re.match(f"{spaces.COOKIE}=([^;]+); HttpOnly; Max-Age=", headers["Set-Cookie"])[1])
    ann, bob = keys
    kept = Workspace(space_folder(Workspace(shared.home).root, spaces.name_of(ann)))
    dataset = kept.add_dataset("secret votes.csv", WIDE.encode())
    seen = {key: shared.see("data", f"data={dataset.id}", Cookie=f"{spaces.COOKIE}={key}") for key in keys}
    assert "secret votes.csv" in seen[ann]
    assert "not in your private space" in seen[bob]
    assert "secret" not in seen[bob]
    assert "Other computers can reach this server." in seen[bob]
    assert "Allow cookies for this site" in shared.see("data", f"data={dataset.id}")
    assert ann not in "".join(str(path) for path in shared.home.rglob("*"))
    assert "Other computers may reach this server" in shared.log.read_text()


def test_a_server_that_listens_everywhere_still_knows_its_names_only(shared):
    assert shared.ask("/", host=f"evil.example:{shared.port}")[0] == 403
    assert shared.ask("/", host=f"10.1.2.3:{shared.port}")[0] == 403
    assert shared.ask("/", host=f"localhost:{shared.port}")[0] == 200


def test_programs_ask_the_same_server_under_the_same_rules(alone, locked, shared):
    address, votes = "/api/v1/describe?truth=label", WIDE.encode()
    status, headers, text = alone.ask(address, "POST", content=votes)
    assert (status, json.loads(text)["n_rows"], headers["Content-Type"]) == (200, 40, "application/json")
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert alone.ask(address, "POST", content=votes, Origin="http://evil.example")[0] == 403
    assert alone.ask(address, "POST", host="evil.example", content=votes)[0] == 403
    assert alone.ask("/api/nowhere")[0] == 404
    status, headers, text = alone.ask("/api/v1/fuse?method=mv&wait=60", "POST", content=votes)
    assert status == 200
    assert json.loads(text)["result"]["n_rows"] == 40
    assert b"fused_label" in alone.ask(f"{headers['Location']}/labels")[2].encode()
    assert "passphrase" in json.loads(locked.ask(address, "POST", content=votes)[2])["error"]
    assert shared.ask(address, "POST", content=votes)[0] == 401
    assert shared.ask("/api/v1", Authorization=f"Bearer {'k' * 43}")[0] == 200
