"""The page of a report: one file that fetches nothing and in which nothing foreign runs."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import defaultdict
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from deem_core import figures
from deem_core.figures import Picture
from deem_core.reporting import render
from deem_core.reporting.render import SECTIONS as SECTIONS_OF_PAGE
from tests.core.reporting.helpers import EVIL, Page

ROOT = Path(__file__).resolve().parents[3]
SECTIONS = [
    *("glance", "data", "settings", "learning_rate", "training", "restarts", "near_copies"),
    *("labels", "learners", "importance", "dependence", "comparison", "gold", "evaluation", "limits", "repeat"),
]


def test_a_page_has_every_section_and_links_to_each(page):
    assert page.sections() == SECTIONS
    links = [attributes["href"] for tag, attributes in page.elements if tag == "a" and "href" in attributes]
    assert links[: len(SECTIONS)] == [f"#{name}" for name in SECTIONS]
    assert set(links) == {f"#{name}" for name in SECTIONS}
    assert "Not computed" not in page.text


def test_a_page_fetches_nothing(page, full):
    for _, attributes in page.elements:
        assert not {"src", "srcset", "action", "data", "poster"} & set(attributes)
        assert (attributes.get("href") or "#").startswith("#")
    assert not {tag for tag, _ in page.elements} & {"link", "img", "iframe", "object", "embed", "base", "form"}
    style = re.search(r"<style>(.*?)</style>", full[1].html(), re.DOTALL)
    assert style is not None
    assert "@import" not in style[1]
    assert "url(" not in style[1]
    data = [text for kind, text in page.scripts if kind == "application/json"]
    assert data
    assert not any("http" in text for text in data)


def test_the_policy_allows_the_two_scripts_of_the_page_and_no_other(page):
    policy = next(a["content"] for tag, a in page.elements if tag == "meta" and a.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    code = [text for kind, text in page.scripts if kind == "code"]
    assert len(code) == 2
    own = {f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in code}
    assert set(re.findall(r"'sha256-[^']+'", policy)) == own
    assert "unsafe-inline" not in policy.split("style-src")[0]


def test_text_of_files_is_never_markup(page, full):
    assert EVIL in page.text  # as letters
    assert "<b>zero" in page.text
    html = full[1].html()
    assert EVIL not in html
    assert "<b>zero" not in html
    assert not any("<" in text for kind, text in page.scripts if kind == "application/json")


def test_every_picture_comes_for_light_and_dark_pages(page):
    figures = sum(tag == "figure" for tag, _ in page.elements)
    themes = [a["class"] for tag, a in page.elements if tag == "script" and a.get("class")]
    assert themes == ["light", "dark"] * figures
    assert all(a.get("aria-label") for tag, a in page.elements if a.get("class") == "plot")


def test_plotly_is_in_the_page_once_and_the_rest_is_small(full, page):
    html = full[1].html()
    code = max(len(text) for _, text in page.scripts)
    assert code > 1_000_000
    assert len(html) - code < 1_500_000


def test_what_was_not_computed_is_named_with_what_would_compute_it(bare):
    _, report = bare
    told = report.to_dict()
    lacking = ["learning_rate", "importance", "dependence", "comparison", "gold", "evaluation"]
    assert list(told["not_computed"]) == lacking
    assert all(told[name] is None for name in lacking)
    assert told["not_computed"]["comparison"]["command"] == "python -m deem_core compare bare.csv --ignore label"
    assert "Learners page" in told["not_computed"]["importance"]["why"]
    page = Page(report.html())
    assert page.sections() == SECTIONS
    assert page.text.count("Not computed.") == len(lacking)
    assert "python -m deem_core sweep bare.csv --ignore label" in page.text
    assert "fitted exactly" in page.text


def test_truth_is_marked_as_evaluation_only(page, bare):
    assert page.text.count("evaluation only, never used in training") == 3  # scorecard, comparison and evaluation
    assert "never used in training" not in Page(bare[1].html()).text


def test_the_page_takes_all_that_it_needs_from_the_package(page):
    assert page.sections() == [name for name in SECTIONS_OF_PAGE if name not in ("groups", "answer", "position_bias")]
    folder = resources.files("deem_core.reporting") / "templates"
    assert {path.name for path in folder.iterdir()} == {"report.html.j2", "report.css", "report.js"}
    pattern = re.search(r'"deem_core.reporting" = \["(.+)"\]', (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert pattern is not None
    assert pattern[1] == "templates/*"  # what a wheel holds


# ---------------------------------------------------------------------- text that enters the page

MARKS = "\"'><i>"
"""What would end an attribute, a text or a script, and begin an element."""

SHOWN = (
    *("story", "warnings.0", "near_copies.0", "limits.0", "restarts.0.reason", "alarms.0.title", "alarms.0.sentence"),
    *(
        "alarms.0.advice",
        "run.method_title",
        "run.title",
        "run.annotations.name",
        "run.annotations.note",
        "run.annotations.tags.0",
        "run.device",
        "run.versions.torch",
        "run.reported_by",
    ),
    *("dataset.name", "dataset.truth_name", "dataset.layout", "dataset.encoding", "dataset.classes.0"),
    *("dataset.learners.0", "dataset.sha256", "dataset.understood.0", "dataset.changed.0", "dataset.left_out.0"),
    *("dataset.reading_warnings.0", "dataset.checkup.0.severity", "dataset.checkup.0.title"),
    *("dataset.checkup.0.sentence", "dataset.checkup.0.advice", "settings.sampler.value", "settings.sampler.reason"),
    *("learning_rate.source", "learning_rate.rates.0.verdict", "learning_rate.rates.0.reason", "learning_rate.notes.0"),
    *("labels.largest_changes.0.majority", "labels.largest_changes.0.fused", "importance.learners.0"),
    *("importance.experts.0.learner", "importance.experts.0.class_name", "dependence.reading"),
    *(
        "dependence.layers.0.name",
        "dependence.pairs.0.first",
        "dependence.pairs.0.second",
        "dependence.pairs.0.reading",
    ),
    *("comparison.conclusion", "evaluation.methods.0.title", "repeat.sha256", "repeat.line", "repeat.hint"),
    *("gold.sentences.0", "gold.answer.title", "gold.majority.title", "gold.learners.0.title", "gold.rivals.0.title"),
    *("repeat.gold_name", "repeat.gold_sha256"),
    *("not_computed.limits.why", "not_computed.limits.command"),
    *("material.sweep.kind", "material.sweep.why", "material.sweep.to_try"),
    *("material.method.title", "material.method.note", "picture.question", "picture.alt", "picture.caption"),
)
"""Every place where text enters the templates."""


def marked(value: Any, path: str) -> Any:
    """Return plain values in which every text is its own path behind marks."""
    if isinstance(value, dict):
        return {name: marked(each, f"{path}.{name}") for name, each in value.items()}
    if isinstance(value, list):
        return [marked(each, f"{path}.{at}") for at, each in enumerate(value)]
    return f"{MARKS}{path};" if isinstance(value, str) else value


@pytest.fixture(scope="module")
def marked_page(full) -> tuple[str, Page]:
    """Return the page of a report in which every text is hostile, section by section, and some more of them."""
    material, numbers = full[1].material, full[1].to_dict()
    told: dict[str, Any] = {name: marked(each, name) for name, each in numbers.items()}
    for place in (told, told["dataset"]):
        for name, value in place.items():
            if value == []:
                place[name] = [f"{MARKS}{name if place is told else f'dataset.{name}'}.0;"]
    told["alarms"] = [{name: f"{MARKS}alarms.0.{name};" for name in ("title", "sentence", "advice")}]
    told["dataset"]["checkup"] = [
        {name: f"{MARKS}dataset.checkup.0.{name};" for name in ("severity", "title", "sentence", "advice")}
    ]
    told["run"]["annotations"] |= {"tags": [f"{MARKS}run.annotations.tags.0;"]}
    told["dataset"]["truth_name"] = f"{MARKS}dataset.truth_name;"
    told["learning_rate"]["notes"] = [f"{MARKS}learning_rate.notes.0;"]
    names = ("learner", "class_name")
    told["importance"]["experts"] = [{name: f"{MARKS}importance.experts.0.{name};" for name in names} | {"ratio": 2.0}]
    told["restarts"][0]["reason"] = f"{MARKS}restarts.0.reason;"
    change = {name: f"{MARKS}labels.largest_changes.0.{name};" for name in ("majority", "fused")}
    told["labels"]["largest_changes"] = [change | {"rows": 1}]
    for name in ("hint", "gold_name", "gold_sha256"):
        told["repeat"][name] = f"{MARKS}repeat.{name};"
    told["not_computed"] = {"limits": {name: f"{MARKS}not_computed.limits.{name};" for name in ("why", "command")}}
    shown, lacking = told["limits"], told.pop("not_computed")
    assert material.swept is not None
    assert material.comparison is not None
    said = {name: f"{MARKS}material.sweep.{name};" for name in ("kind", "why", "to_try")}
    sweep = replace(material.swept.sweep, recommendation=replace(material.swept.sweep.recommendation, **said))
    ran, *others = material.comparison.methods
    ran = replace(ran, title=f"{MARKS}material.method.title;")
    failed = replace(ran, seeds=0, note=f"{MARKS}material.method.note;")
    hostile = replace(
        material,
        swept=replace(material.swept, sweep=sweep),
        comparison=replace(material.comparison, methods=(ran, failed, *others)),
    )
    picture = Picture(
        f"{MARKS}picture.question;",
        lambda theme: figures.shapes(theme=theme).update_layout(title=f"</script>{MARKS}"),
        f"{MARKS}picture.alt;",
        f"{MARKS}picture.caption;",
    )
    html = ""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(render, "pictures_of", lambda *_: defaultdict(lambda: picture))
        for absent in ({}, lacking):
            html += render.page_of(hostile, {**told, "limits": shown, "not_computed": absent})
    return html, Page(html)


@pytest.mark.parametrize("place", SHOWN)
def test_text_enters_the_page_as_letters(marked_page, place):
    _, page = marked_page
    attributes = " ".join(value or "" for _, each in page.elements for value in each.values())
    assert f"{MARKS}{place};" in page.text + attributes or f"{MARKS}{place};".capitalize() in page.text


def test_no_text_becomes_an_element_or_leaves_its_attribute(marked_page):
    html, page = marked_page
    assert MARKS not in html
    assert "i" not in {tag for tag, _ in page.elements}
    assert {name for _, each in page.elements for name in each} <= {
        *("aria-label", "charset", "class", "content", "href", "http-equiv", "id", "lang", "name", "role", "type"),
    }
    assert sum(kind == "code" for kind, _ in page.scripts) == 4  # two pages with two of their own


def test_templates_take_only_their_own_text_as_markup():
    text = (resources.files("deem_core.reporting") / "templates" / "report.html.j2").read_text(encoding="utf-8")
    trusted = ["shown.json(theme)", "shown.caption_html()", "style", "script"]
    assert re.findall(r"\{\{ (\S+)\|safe \}\}", text) == trusted
    assert text.count("safe }}") == len(trusted)
    assert "autoescape" not in text
