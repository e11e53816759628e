"""Several people on one server: each sees what is in the own space, and nothing else."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from deem_core import InputError
from deem_core.runs import Workspace, space_folder
from studio import background, sharing, state, widgets, workspace
from studio.data import datasets
from studio.serving import gate, policy, spaces
from tests.app.conftest import APP, WIDE, button, expect_calm, words
from tests.core.runs.helpers import until

ANN, BOB = "a" * 43, "b" * 43
OTHERS = "not in your private space"


class Context:
    """What Streamlit knows of a connection."""

    def __init__(self, cookies, url="http://deem.example:8501/data"):
        self.cookies, self.url = cookies, url
        self.theme = type("Theme", (), {"type": "light"})()


@pytest.fixture
def rules(monkeypatch):
    """Set the rules of the server."""

    def set_rules(**rules):
        for module in (workspace, sharing):
            monkeypatch.setattr(module, "policy", lambda: policy.Policy(**rules))

    monkeypatch.setattr(gate.Gate, "installed", True)
    set_rules(shared=True)
    return set_rules


@pytest.fixture
def visit(monkeypatch, rules):
    """Open a page as the browser with this key."""

    def open_page(key, page="home", **query):
        monkeypatch.setattr(st, "context", Context({} if key is None else {spaces.COOKIE: key}))
        app = AppTest.from_file(APP, default_timeout=120)
        for name, value in query.items():
            app.query_params[name] = value
        app.session_state[state.GO_TO] = page
        return app.run()

    return open_page


def space(key):
    """The workspace behind a key."""
    return Workspace(space_folder(Workspace().root, spaces.name_of(key)))


@pytest.fixture
def of_ann(rules):
    """A file and a run of Ann's."""
    kept = space(ANN)
    dataset = kept.add_dataset("secret votes.csv", WIDE.encode())
    return dataset, kept.new_run("train", dataset, {"method": "deem"}, title="Secret plan")


def test_lists_show_only_ones_own(visit, of_ann):
    ann, bob = visit(ANN), visit(BOB)
    expect_calm(ann)
    expect_calm(bob)
    assert "Secret plan" in words(ann)
    assert any("secret votes" in each.label for each in ann.button)
    assert "Secret plan" not in words(bob)
    assert not any("secret votes" in each.label for each in bob.button)


@pytest.mark.parametrize("page", ["data", "train", "learners", "rows", "compare", "review", "export", "learning_rate"])
def test_an_address_of_somebody_elses_gets_a_sentence(visit, of_ann, page):
    dataset, run = of_ann
    for query in ({"data": dataset.id}, {"data": dataset.id, "run": run.id}, {"run": run.id}):
        seen = visit(BOB, page, **query)
        assert not seen.exception
        assert not seen.error
        assert OTHERS in words(seen)
        assert "secret" not in words(seen).casefold()


def test_what_one_session_has_read_is_not_another_ones(visit, of_ann):
    """Ann's page fills every cache first; the id of a file is the same for whoever has it."""
    dataset, _ = of_ann
    seen = visit(ANN, "data", data=dataset.id)
    assert "secret votes.csv" in words(seen)
    assert OTHERS in words(visit(BOB, "data", data=dataset.id))


def test_nobody_cancels_or_deletes_what_is_somebody_elses(visit, of_ann, monkeypatch):
    dataset, run = of_ann
    monkeypatch.setattr(st, "context", Context({spaces.COOKIE: BOB}))
    monkeypatch.setattr(st, "session_state", {})
    theirs = workspace.workspace()
    for reach in (theirs.run, theirs.dataset):
        with pytest.raises(Exception, match=OTHERS):
            reach(run.id if reach == theirs.run else dataset.id)
    with pytest.raises(Exception, match=OTHERS):
        theirs.delete_dataset(dataset.id)
    assert space(ANN).run(run.id).state().state == "queued"
    assert space(ANN).datasets() == [dataset]


def test_a_session_stays_in_its_space_even_if_the_cookie_changes(monkeypatch, rules):
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(st, "context", Context({spaces.COOKIE: ANN}))
    first = workspace.workspace().root
    for cookies in ({}, {spaces.COOKIE: BOB}):  # the connection broke for a moment; another space was opened
        monkeypatch.setattr(st, "context", Context(cookies))
        assert workspace.workspace().root == first


def test_a_download_made_in_a_thread_comes_from_the_space_of_its_session(monkeypatch, rules):
    made = []
    monkeypatch.setattr(st, "download_button", lambda label, data, **looks: made.append(data))
    for key in (ANN, BOB):
        monkeypatch.setattr(st, "session_state", {})
        monkeypatch.setattr(st, "context", Context({spaces.COOKIE: key}))
        widgets.download("Download", lambda: workspace.workspace().root, "votes.csv", "download")
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(st, "context", Context({}))
    with ThreadPoolExecutor(1) as threads:
        assert [threads.submit(each).result() for each in made] == [space(ANN).root, space(BOB).root]
        with pytest.raises(InputError, match="cookie"):
            threads.submit(workspace.workspace).result()


def test_no_download_goes_another_way():
    code = [*(APP.parent / "studio").rglob("*.py"), *(APP.parent / "pages").glob("*.py")]
    assert [path.name for path in code if "st.download_button(" in path.read_text()] == ["widgets.py"]


@pytest.mark.parametrize("key", [None, "", "../" + "a" * 40])
def test_a_browser_without_a_key_sees_nothing_but_why(visit, of_ann, key):
    seen = visit(key)
    assert "Allow cookies for this site" in words(seen)
    assert not seen.title
    assert not any(each.label == "Upload" for each in seen.button)


def test_without_the_gate_a_guarded_server_shows_nothing(visit, of_ann, rules, monkeypatch):
    monkeypatch.setattr(gate.Gate, "installed", False)
    for guarded in ({"shared": True}, {"password": "open sesame"}):
        rules(**guarded)
        seen = visit(ANN)
        assert "leaves out its protection" in words(seen)
        assert not seen.title
        assert "Secret plan" not in words(seen)


def test_the_banner_says_who_else_is_there_until_it_was_read(visit, rules):
    rules(shared=True, is_open=True)
    seen = visit(ANN)
    said = words(seen)
    assert "Other computers can reach this server." in said
    assert "Nothing is encrypted on its way" in said
    assert "Nothing leaves this server." in said
    button(seen, "Got it").click().run()
    assert "Other computers can reach this server." not in words(seen)
    assert "Private space of this browser" in words(seen)
    rules(is_open=True)
    assert "change and delete the same files" in words(visit(ANN))
    rules(shared=True)
    assert "Several people share this server." in words(visit(ANN))


@pytest.mark.parametrize(
    ("url", "warned"),
    [
        ("https://deem.example/data", False),
        ("http://localhost:8501/", False),
        ("http://deem.example/", True),
        (None, True),
    ],
)
def test_the_banner_warns_of_a_way_that_is_not_encrypted(monkeypatch, url, warned):
    monkeypatch.setattr(st, "context", Context({}, url))
    assert ("Nothing is encrypted" in sharing._words(shared=True, is_open=True)) == warned


def test_one_person_sees_no_sign_of_it(app):
    app.run()
    expect_calm(app)
    said = words(app)
    assert "server" not in said
    assert "Private space" not in said
    assert "Nothing leaves this machine." in said
    assert not any(each.label in ("Got it", "Use it in another browser") for each in app.button)
    assert not (Workspace().root / "spaces").exists()


def test_the_private_link_leads_to_this_space_alone(monkeypatch, rules):
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(st, "context", Context({spaces.COOKIE: ANN}))
    workspace.workspace()
    assert sharing._link() == f"http://deem.example:8501/_deem/space#{ANN}"
    monkeypatch.setattr(st, "context", Context({spaces.COOKIE: BOB}))
    assert sharing._link() is None  # the cookie of another space by now


def test_the_time_of_a_sweep_is_asked_for_each_space(monkeypatch, rules):
    asked = []
    monkeypatch.setattr(background, "_ask_sweep_seconds", lambda root, *_: asked.append(root) or 1.0)
    for key in (ANN, BOB, ANN):
        monkeypatch.setattr(st, "session_state", {})
        monkeypatch.setattr(st, "context", Context({spaces.COOKIE: key}))
        background.show_sweep_seconds("a" * 32, {})
        until(lambda key=key: str(space(key).root) in asked, 60)
    assert asked == [str(space(ANN).root), str(space(BOB).root)]


def test_opened_files_are_kept_apart_by_workspace(monkeypatch, rules):
    opened = []
    for key in (ANN, BOB):
        dataset = space(key).add_dataset("votes.csv", WIDE.encode())
        monkeypatch.setattr(st, "session_state", {})
        monkeypatch.setattr(st, "context", Context({spaces.COOKIE: key}))
        opened.append(datasets.open_dataset(dataset.id))
    assert opened[0].dataset.id == opened[1].dataset.id
    assert opened[0] is not opened[1]
    assert opened[0].mark != opened[1].mark
