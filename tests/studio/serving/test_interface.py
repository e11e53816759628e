"""The HTTP interface behind the gate, asked as a network asks it."""

import asyncio
import gzip
import io
import json
import os
import subprocess
import sys
import zipfile
from urllib.parse import urlencode

import pandas as pd
import pytest
from starlette.applications import Starlette

from deem_core import cli
from deem_core.answers.writers import DOWNLOADS
from deem_core.runs import Workspace, space_folder
from studio.serving import interface, received, spaces
from studio.serving.gate import ENTRY, Gate
from studio.serving.interface import ROOT
from studio.serving.passphrase import Passphrase, Tries
from studio.serving.policy import Policy
from tests.app.conftest import WIDE

ANN, BOB = "a" * 43, "b" * 43
VOTES = WIDE.encode()
NO_VOTES = b"id,text\n1,hello\n2,world\n"


@pytest.fixture
def serve(tmp_path, monkeypatch):
    """Return what starts an interface behind a gate, with its rules."""
    monkeypatch.setenv("DEEM_HOME", str(tmp_path / "home"))

    def start(**rules):
        wanted = Policy(**rules)
        monkeypatch.setattr(interface, "policy", lambda: wanted)
        return Server(Gate(Starlette(routes=interface.routes()), wanted, Tries()))

    return start


class Told:
    """What came back."""

    def __init__(self, sent):
        self.status = sent[0]["status"]
        self.headers = {name.decode(): value.decode("latin-1") for name, value in sent[0]["headers"]}
        self.body = b"".join(each.get("body", b"") for each in sent[1:])

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def error(self):
        assert self.status >= 400, self.body
        return self.json["error"]


class Server:
    def __init__(self, app):
        self.app = app

    def ask(self, path, method="POST", body=b"", host="localhost:8501", files=None, **headers):
        path, _, query = path.partition("?")
        if files is not None:
            body, headers["content_type"] = form(files)
        named = {"host": host, "content-length": str(len(body)), **{n.replace("_", "-"): v for n, v in headers.items()}}
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "path": path if path.startswith("/") else f"{ROOT}/{path}".rstrip("/"),
            "root_path": "",
            "query_string": query.encode(),
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in named.items()],
            "server": ("127.0.0.1", 8501),
            "client": ("10.0.0.1", 5000),
            "scheme": "http",
        }
        blocks = [body[at : at + 65_536] for at in range(0, len(body), 65_536)] or [b""]
        sent = []

        async def receive():
            if not blocks:
                await asyncio.sleep(3600)  # whoever asked waits for the answer
            block = blocks.pop(0)
            return {"type": "http.request", "body": block, "more_body": bool(blocks)}

        async def send(message):
            sent.append(message)

        asyncio.run(self.app(scope, receive, send))
        return Told(sent)

    def get(self, path, **headers):
        return self.ask(path, "GET", **headers)


def form(files):
    """Return a form as browsers and curl send it, and its type."""
    parts = b""
    for name, (called, content) in files.items():
        parts += f'--x\r\nContent-Disposition: form-data; name="{name}"; filename="{called}"\r\n\r\n'.encode()
        parts += content + b"\r\n"
    return parts + b"--x--\r\n", "multipart/form-data; boundary=x"


def test_describe_answers_with_the_json_of_the_command_line(serve, tmp_path):
    told = serve().ask("describe?truth=label&ignore=eve", body=VOTES)
    assert told.status == 200
    file = tmp_path / "votes.csv"
    file.write_bytes(VOTES)
    out = tmp_path / "out.json"
    words = ["describe", str(file), "--truth", "label", "--ignore", "eve", "--json", str(out)]
    subprocess.run([sys.executable, "-m", "deem_core", *words], check=True, capture_output=True)
    expected = json.loads(out.read_text())
    changing = {"peak_bytes", "held_bytes"}
    assert {k: v for k, v in told.json.items() if k not in changing} == {
        k: v for k, v in expected.items() if k not in changing
    }
    assert told.json["learners"] == ["ann", "bob"]


def test_fuse_is_a_run_whose_state_and_labels_can_be_asked_for(serve):
    server = serve()
    begun = server.ask("fuse?wait=0&method=ds&truth=label", files={"file": ("my votes.csv", VOTES)})
    assert begun.status == 202
    place = begun.headers["location"]
    assert place == f"{ROOT}/runs/{begun.json['id']}"
    early = server.get(f"{place}/labels")
    if early.status != 200:  # it may be done already
        assert (early.status, "no labels" in early.error) == (409, True)
    run = Workspace().run(begun.json["id"])
    while run.is_active():
        pass
    told = server.get(place).json
    assert (told["state"], told["kind"], told["links"]["labels"]) == ("done", "fuse", f"{place}/labels")
    assert {"method", "n_rows", "n_learners", "n_classes", "warnings", "accuracy", "majority_vote_accuracy"} <= set(
        told["result"]
    )
    assert told["result"]["n_rows"] == 40
    file = server.get(f"{place}/labels")
    assert file.headers["content-disposition"] == "attachment; filename*=utf-8''my%20votes_fused.csv"
    frame = pd.read_csv(io.BytesIO(file.body))
    assert list(frame["fused_label"]) == list(frame["label"])
    short = server.get(f"{place}/labels?as=parquet&review-share=0.5&blank=1")
    assert pd.read_parquet(io.BytesIO(short.body))["fused_label"].isna().sum() == 20


def begin(server):
    done = server.ask("fuse?wait=60&method=ds&truth=label", files={"file": ("my votes.csv", VOTES)})
    assert done.status == 200, done.body
    return done.headers["location"]


def test_labels_come_in_every_format_that_is_written(serve):
    server = serve()
    place = begin(server)
    fused = pd.read_csv(io.BytesIO(server.get(f"{place}/labels").body))["fused_label"].tolist()
    for kind, form in DOWNLOADS.items():
        told = server.get(f"{place}/labels?as={kind}")
        assert told.status == 200, told.body
        assert told.headers["content-type"].partition(";")[0] == form.media_type
        assert told.headers["content-disposition"].endswith(f"my%20votes_fused{form.ending}")
        body = gzip.decompress(told.body) if form.ending.endswith(".gz") else told.body
        if form.format == "huggingface":
            with zipfile.ZipFile(io.BytesIO(body)) as packed:
                assert packed.namelist() == ["README.md", "data/train-00000-of-00001.parquet"]
                frame = pd.read_parquet(io.BytesIO(packed.read("data/train-00000-of-00001.parquet")))
            assert frame["fused_label"].tolist() == fused  # class codes, here as the labels are
        elif form.format == "label-studio":
            labels = [task["predictions"][0]["result"][0]["value"]["choices"] for task in json.loads(body)]
            assert labels == [[str(label)] for label in fused]
        elif form.format == "parquet":
            assert pd.read_parquet(io.BytesIO(body))["fused_label"].tolist() == list(map(str, fused))
        elif form.format == "jsonl":
            assert [json.loads(line)["fused_label"] for line in body.splitlines()] == list(map(str, fused))
        else:
            frame = pd.read_csv(io.BytesIO(body), sep="\t" if form.format == "tsv" else ",")
            assert frame["fused_label"].tolist() == fused
    assert server.get(f"{place}/labels?as=json").error == (
        "Labels come as csv, csv.gz, tsv, tsv.gz, parquet, jsonl, jsonl.gz, label-studio, huggingface; "
        "the run itself is JSON."
    )


def test_predictions_have_the_names_of_a_labelling_interface(serve):
    server = serve()
    place = begin(server)
    names = "from-name=kind&to-name=picture&model-version=mine"
    (task, *_) = server.get(f"{place}/labels?as=label-studio&{names}&review-below=1&blank=0").json
    (prediction,) = task["predictions"]
    assert prediction["model_version"] == "mine"
    assert (prediction["result"][0]["from_name"], prediction["result"][0]["to_name"]) == ("kind", "picture")
    for path in (f"{place}/labels?as=csv&{names}", f"{place}/labels?{names}"):
        told = server.get(path)
        assert (told.status, told.error) == (400, "The option from-name is for as=label-studio; leave it out.")
    assert server.ask(f"fuse?{names}", body=VOTES).status == 400
    told = server.get(f"{place}/labels?as=label-studio&from-name=%20")
    assert (told.status, "may not be empty" in told.error) == (400, True)
    answer = server.ask(f"fuse?wait=60&as=label-studio&{names}", body=VOTES).json
    assert answer[0]["predictions"][0]["result"][0]["from_name"] == "kind"


def test_the_fused_file_can_be_the_answer_and_truth_and_gold_come_as_files(serve):
    truth = b"id,label\n" + b"".join(f"r{i},{i % 3}\n".encode() for i in range(40))
    files = {
        "file": ("votes.csv", VOTES),
        "truth-file": ("t.csv", truth),
        "gold-file": ("g.csv", b"\n".join(truth.splitlines()[:12])),
    }
    server = serve()
    told = server.ask("fuse?as=csv&wait=60&ignore=label", files=files)
    assert told.status == 200, told.body
    assert told.headers["content-type"].startswith("text/csv")
    assert b"fused_label" in told.body.splitlines()[0]
    run = server.get(told.headers["content-location"]).json
    assert run["result"]["evaluation"]["rows"] > 20
    assert run["result"]["gold"]


def test_apply_takes_a_model_file_or_a_finished_run(serve, tmp_path):
    server = serve()
    trained = server.ask("fuse?method=gds&wait=60", body=VOTES)
    assert (trained.status, trained.json["kind"]) == (200, "train")
    new = b"id,ann,bob,eve\nx,1,1,0\ny,2,2,2\n"
    by_run = server.ask(f"apply?run={trained.json['id']}&wait=60&as=csv", body=new)
    assert by_run.status == 200, by_run.body
    assert list(pd.read_csv(io.BytesIO(by_run.body))["fused_label"]) == [1, 2]
    model = Workspace().run(trained.json["id"]).result("model.safetensors").read_bytes()
    by_file = server.ask("apply?wait=60&as=csv", files={"file": ("n.csv", new), "model": ("m.safetensors", model)})
    assert by_file.body == by_run.body
    no_model = server.ask("apply", files={"file": ("n.csv", new), "model": ("m.safetensors", b"no model")})
    assert no_model.status == 422
    assert "m.safetensors" in no_model.error
    assert server.ask("apply", body=new).status == 400


@pytest.mark.parametrize(
    ("asked", "status", "words"),
    [
        ("describe?layout=diagonal", 400, "layout"),
        ("fuse?method=magic", 400, "magic"),
        ("fuse?restarts=3", 400, "auto trains nothing"),
        ("fuse?truth-file=/etc/passwd", 400, "as a file, in a form"),
        ("fuse?output=/tmp/x.csv", 400, "no option 'output'"),
        ("fuse?json=/tmp/x.json", 400, "no option 'json'"),
        ("describe?labels=/etc/passwd", 400, "as a file, in a form"),
        ("describe?labels-out=x.csv", 400, "no option 'labels-out'"),
        ("describe?scorecard=x.csv", 400, "no option 'scorecard'"),
        ("describe?help=1", 400, "no option 'help'"),
        ("describe?stream=1", 400, "no option 'stream'"),
        ("describe?-o=x", 400, "no option '-o'"),
        ("fuse?wait=soon", 400, "wait"),
        ("fuse?as=xlsx", 400, "xlsx"),
        ("fuse?blank=perhaps", 400, "blank"),
        ("fuse?review-below=2", 400, "between 0 and 1"),
        ("fuse?on=ray://elsewhere:10001", 400, "no option 'on' of fuse"),
        ("apply?on=ray", 400, "no option 'on' of apply"),
        ("fuse?exact=1", 400, "no option 'exact' of fuse"),
        ("nowhere", 404, "nothing at"),
        ("/api/v9/fuse", 404, "nothing at"),
    ],
)
def test_what_cannot_be_asked_gets_a_sentence_and_starts_nothing(serve, asked, status, words):
    told = serve().ask(asked, body=VOTES)
    assert (told.status, words in told.error) == (status, True), told.error
    assert "\n" not in told.error
    assert not Workspace().runs()


def test_no_option_of_a_request_names_a_file_of_the_machine():
    for command in ("describe", "fuse", "apply"):
        for name, action in cli.requests._options(command).items():
            assert action.metavar not in ("FILE", "OUT", "CSV", "MODEL", "FUSED"), (command, name)


@pytest.mark.parametrize("command", ["describe", "fuse", "apply"])
def test_an_address_names_no_cluster(command):
    """Else whoever reaches the app could make it call any machine."""
    assert "on" not in cli.requests._options(command)


def test_methods_and_bodies_that_do_not_fit_get_a_sentence(serve):
    server = serve()
    assert server.get("fuse").status == 405
    assert server.get("fuse").headers["allow"] == "POST"
    assert server.ask("describe").status == 400
    odd = server.ask("fuse", files={"file": ("a.csv", VOTES), "else": ("b.csv", VOTES)})
    assert (odd.status, "once each" in odd.error) == (400, True)
    torn = server.ask("fuse", body=b"no form", content_type="multipart/form-data")
    assert torn.status == 400


def test_a_file_without_votes_gets_the_sentence_of_the_reader_without_a_folder(serve, tmp_path):
    server = serve()
    described = server.ask("describe", files={"file": ("../../evil name.csv", NO_VOTES)})
    assert described.status == 422
    fused = server.ask("fuse?wait=60", files={"file": ("evil name.csv", NO_VOTES)})
    assert (fused.status, fused.json["state"]) == (422, "failed")
    for told in (described, fused):
        assert "evil name.csv" in told.error
        assert os.sep not in told.error


def test_more_bytes_than_an_upload_may_have_are_refused(serve, monkeypatch):
    monkeypatch.setattr(received, "most_bytes", lambda: 1000)
    server = serve()
    assert server.ask("describe", body=b"x" * 100_000).status == 413
    lying = server.ask("describe", body=b"x" * 300_000, content_length="10")
    assert lying.status == 413
    assert server.ask("fuse", files={"file": ("v.csv", b"x" * 300_000)}, transfer_encoding="chunked").status == 413
    assert not Workspace().runs()


def test_pages_of_others_get_nothing(serve):
    server = serve()
    assert server.ask("fuse", body=VOTES, origin="http://evil.example").status == 403
    assert server.ask("fuse", body=VOTES, sec_fetch_site="cross-site").status == 403
    assert server.get("", sec_fetch_site="same-site").status == 403
    stranger = server.ask("fuse", body=VOTES, host="evil.example")
    assert (stranger.status, "DEEM_HOSTS" in stranger.error) == (403, True)
    own = server.ask("describe", body=VOTES, origin="http://localhost:8501", sec_fetch_site="same-origin")
    assert own.status == 200
    assert "access-control-allow-origin" not in own.headers
    assert own.headers["cache-control"] == "no-store"
    assert own.headers["x-content-type-options"] == "nosniff"


def test_on_a_shared_server_a_key_opens_its_own_space_only(serve):
    server = serve(shared=True)
    nobody = server.ask("fuse", body=VOTES)
    assert (nobody.status, nobody.headers["www-authenticate"]) == (401, "Bearer")
    assert server.ask("describe", body=VOTES, authorization="Bearer short").status == 401
    begun = server.ask("fuse?wait=60&method=mv", body=VOTES, authorization=f"Bearer {ANN}")
    assert begun.status == 200
    place = begun.headers["location"]
    assert server.get(place, cookie=f"{spaces.COOKIE}={ANN}").status == 200
    assert server.get(f"{place}/labels", authorization=f"Bearer {ANN}").status == 200
    for other in ({"authorization": f"Bearer {BOB}"}, {"cookie": f"{spaces.COOKIE}={BOB}"}):
        assert server.get(place, **other).status == 404
        assert server.get(f"{place}/labels", **other).status == 404
    both = server.get(place, authorization=f"Bearer {BOB}", cookie=f"{spaces.COOKIE}={ANN}")
    assert both.status == 404
    assert not Workspace().runs()
    assert Workspace(space_folder(Workspace().root, spaces.name_of(ANN))).runs()
    assert server.get(f"runs/{'0' * 32}/labels?as=csv", authorization=f"Bearer {ANN}").status == 404


def test_without_the_passphrase_there_is_nothing(serve, monkeypatch):
    server = serve(password="open sesame")
    for told in (server.ask("fuse", body=VOTES), server.get(""), server.get("", accept="text/html")):
        assert (told.status, "passphrase" in told.error) == (401, True)
    entry = server.app.passphrase.token()
    assert isinstance(server.app.passphrase, Passphrase)
    assert server.ask("describe", body=VOTES, cookie=f"{ENTRY}={entry}").status == 200
    assert server.ask("fuse", body=VOTES, authorization="Bearer open sesame").status == 401


def test_below_a_path_everything_stays_below_it(serve):
    server = serve(base="/deem")
    assert server.get(f"/deem{ROOT}").json["most_bytes"] > 1_000_000
    begun = server.ask(f"/deem{ROOT}/fuse?method=mv&wait=60", body=VOTES)
    assert begun.headers["location"].startswith(f"/deem{ROOT}/runs/")
    assert server.get(begun.headers["location"]).status == 200


def test_a_server_without_its_gate_answers_nothing_that_it_should_keep(serve, monkeypatch):
    server = serve(shared=True)
    monkeypatch.setattr(Gate, "installed", False)
    assert server.ask("fuse", body=VOTES, authorization=f"Bearer {ANN}").status == 503


def test_too_many_at_once_are_sent_away(serve, monkeypatch):
    monkeypatch.setattr(interface, "MOST_WAITING", 0)
    told = serve().ask("describe", body=VOTES)
    assert (told.status, told.headers["retry-after"]) == (503, "5")


def test_a_fault_of_ours_is_an_id_in_the_log(serve, monkeypatch, caplog):
    monkeypatch.setattr(interface, "_run_line", lambda _: 1 / 0)
    told = serve().ask(f"describe?{urlencode({'truth': 'label'})}", body=VOTES)
    assert told.status == 500
    number = told.error.split("id ")[1][:8]
    assert number in caplog.text
    assert "ZeroDivisionError" not in told.error
