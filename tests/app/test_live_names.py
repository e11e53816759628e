"""Names from a file stay names on every page: no formula, colour, icon, link or HTML comes of them.

Nor do they in what a page lets people download.
"""

import csv
import io
import json
import re
import shutil
from html.parser import HTMLParser

import pytest

from deem_core.runs import Workspace
from studio import state, widgets
from tests import nasty
from tests.app.conftest import expect_calm
from tests.in_process import QUICK, done, inspected

LIVE = re.compile(
    r"(?<!\\)\$[^$]*zq|:(?:red|green-badge)\[zq|(?<!\\)<(?:img|b|script)\b[^>]*(?:zq|>zq)|(?<!\\)\*\*zq\*\* (?<!\\)_"
    r"|\]\(http://zq|:smile:|(?<!\\):material/home:\s|(?<!\\)~~text~~|\u202e"
)
LITERAL = {  # kinds of elements → their fields that Streamlit shows as they are
    "selectbox": {"options", "raw_value", "placeholder", "set_value"},
    "multiselect": {"options", "raw_values", "default_values", "placeholder"},
    "text_input": {"value", "placeholder", "default", "set_value"},
    "text_area": {"value", "placeholder", "default"},
    "plotly_chart": {"spec", "config", "figure", "alt"},
    "dataframe": {"columns", "alt", "data"},
    "component": None,
    "bidi_component": None,
    "download_button": {"url", "file_name"},
    "code": {"code_text"},
}
NAMING = {"data", "train", "learners", "dependence", "review", "compare"}
"""Pages on which names stand outside tables and pictures, whatever the tab."""

DOWNLOADS = {
    "data": {".csv"},
    "learning_rate": set(),
    "train": {".csv"},
    "rows": {".csv"},
    "review": {".csv"},
    "compare": {".csv", ".parquet"},
    "export": {".csv", ".json", ".html"},
}
"""Pages that offer files, and of which kinds, all their tabs together."""
FORMULA = re.compile(r"^\s*[=+\-@＝＋－＠]|^[\t\r\n]")
NUMBER = re.compile(r"^\s*[+-]?[\d.,]+(?:[eE][+-]?\d+)?\s*%?\s*$|^[+-]$")

PAGES = {
    "home": [{}],
    "data": [{}],
    "learning_rate": [{}],
    "train": [{}],
    "learners": [
        {"learners_tabs": tab}
        for tab in (
            "Scorecard",
            "Influence",
            "Expert finder",
            "Trust",
            "Confusion",
            "Why this label?",
            "Certainty",
            "Groups",
        )
    ],
    "dependence": [{}],
    "rows": [{}],
    "review": [{}],
    "compare": [{}],
    "export": [{"export_tab": tab} for tab in ("Fused labels", "Review queue", "New data", "Model", "Report")],
}


@pytest.fixture(scope="module")
def workshop(tmp_path_factory):
    """A workspace with a run of every kind of a file of such names."""
    made = Workspace(tmp_path_factory.mktemp("workshop"))
    data = made.add_dataset(nasty.FILE, nasty.votes())
    train = done(made, "train", data, QUICK, f"{nasty.LEARNERS[1]} <b>zq</b>")
    inspected(made, train)
    compare = {"methods": ["mv", "ds", "onecoin"], "seeds": 1, "random_state": 0}
    runs = {
        "train": train,
        "compare": done(made, "compare", data, compare, "$zq$"),
        "ask": done(made, "ask", data, {"n": 20, "random_state": 0}),
        "fuse": done(made, "fuse", data, {"method": "auto", "random_state": 0}, "Automatic"),
    }
    return made.root, data.id, {name: run.id for name, run in runs.items()}


@pytest.fixture
def made(workshop, workspace):
    root, data, runs = workshop
    shutil.copytree(root, workspace.root, dirs_exist_ok=True)
    for run in runs.values():
        workspace.annotate(workspace.run(run), name="", note="**zq** $zq$ :red[zq]")
    return data, runs


def texts(message, allowed, path=""):
    """Yield (place, text) of a protobuf message that Streamlit shows as Markdown."""
    for field, value in message.ListFields():
        if allowed is not None and field.name in allowed:
            continue
        place = f"{path}.{field.name}"
        for each in value if field.is_repeated else [value]:
            if field.message_type is not None and hasattr(each, "ListFields"):
                yield from texts(each, allowed, place)
            elif isinstance(each, str):
                yield place, each


def alive(app):
    """Return (place, text) of everything alive on the page and in the sidebar."""
    found = []

    def walk(node):
        for child in getattr(node, "children", {}).values():
            walk(child)
        proto = getattr(node, "proto", None)
        kind = getattr(node, "type", "")
        allowed = LITERAL.get(kind, set())
        if proto is not None and allowed is not None:
            found.extend((f"{kind}{place}", text) for place, text in texts(proto, allowed | {"id", "form_id"}))

    walk(app._tree)
    return found


class Tags(HTMLParser):
    """Tags of a page by which a name would have come alive."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if any(name.startswith("on") or "zq.example" in (value or "") for name, value in attrs) or tag == "img":
            self.found.append((tag, attrs))


def harm(name, data):
    """Return what a downloaded file would do when it is opened."""
    if name.endswith(".csv"):
        cells = [cell for line in csv.reader(io.StringIO(data.decode("utf-8-sig"))) for cell in line]
        return [cell for cell in cells if FORMULA.match(cell) and not NUMBER.match(cell)]
    if name.endswith(".json"):
        return [] if json.loads(data) else ["empty"]
    return Tags(data.decode()).found if name.endswith(".html") else []


@pytest.fixture
def downloads(monkeypatch):
    """What pages offer to download: name and content."""
    offered, true = {}, widgets.download

    def download(label, data, file_name, key, **looks):
        offered[file_name] = data()
        true(label, data, file_name, key, **looks)

    monkeypatch.setattr(widgets, "download", download)
    return offered


SEEN = {}
"""Endings of files that the pages offered, by page."""


@pytest.mark.parametrize(("page", "kept"), [(page, kept) for page, states in PAGES.items() for kept in states])
def test_names_of_a_file_do_nothing_on_a_page(app, made, downloads, page, kept):
    data, runs = made
    for name, value in {
        state.DATA: data,
        state.RUN: runs["train"],
        state.COMPARISON: runs["compare"],
        state.ASK: runs["ask"],
        state.ROWS: "search=zq",
    }.items():
        app.query_params[name] = value
    app.run()
    for name, value in kept.items():
        app.session_state[name] = value
    app.switch_page(f"pages/{page}.py").run()
    expect_calm(app)
    everything = alive(app)
    assert page not in NAMING or any(nasty.MARK in text for _, text in everything), "no name is on this page"
    assert [(place, text[:300]) for place, text in everything if LIVE.search(text)] == []
    assert {name: found for name, data in downloads.items() if (found := harm(name, data))} == {}
    assert not any(re.search(r"[^\w.() -]", name) for name in downloads)
    SEEN.setdefault(page, set()).update(name[name.rindex(".") :] for name in downloads)


def test_files_of_every_kind_were_looked_at():
    if SEEN.keys() >= DOWNLOADS.keys():  # all of these tests have run
        assert {page: kinds - SEEN[page] for page, kinds in DOWNLOADS.items() if kinds - SEEN[page]} == {}
