"""Names from a file stay names on every page: no formula, colour, icon, link or HTML comes of them."""

import re
import shutil

import pytest

from deem_core.runs import Workspace
from studio import state
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


@pytest.mark.parametrize(("page", "kept"), [(page, kept) for page, states in PAGES.items() for kept in states])
def test_names_of_a_file_do_nothing_on_a_page(app, made, page, kept):
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
