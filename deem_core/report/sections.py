"""Sections of a report about its data, its settings and its end; `training` and `answers` hold the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from deem_core.report.markup import Html, bullets, command, element, facts, joined, paragraph, table
from deem_core.report.material import Material
from deem_core.report.words import moment, percent

Numbers = dict[str, Any]
"""What `deem_core.report.data.numbers_of` returns."""


@dataclass(frozen=True)
class Section:
    """A part of the page.

    Attributes
    ----------
    id : str
        What links lead to.
    title : str
    body : Html
    computed : bool
        Whether there is something to show.
    """

    id: str
    title: str
    body: Html
    computed: bool = True


def absent(id: str, title: str, numbers: Numbers) -> Section:
    """Return a section that says what was not computed, and how it would be."""
    lacking = numbers["not_computed"][id]
    said = paragraph(element("strong", "Not computed. "), lacking["why"], class_="absent")
    return Section(id, title, joined(said, command(lacking["command"]) if lacking["command"] else ""), computed=False)


# ---------------------------------------------------------------------- sections


def glance(material: Material, numbers: Numbers) -> Section:
    """Return the numbers to look at first."""
    labels, data, restarts = numbers["labels"], numbers["dataset"], numbers["restarts"]
    cards = [
        ("Rows", f"{data['n_rows']:,}", f"× {data['n_learners']:,} learners × {data['n_classes']:,} classes"),
        ("Labels changed", f"{labels['changed']:,}", f"{percent(labels['agreement'])} as by majority vote"),
        ("Unanimous overruled", f"{labels['overruled']:,}", f"of {data['n_unanimous']:,} unanimous rows"),
        ("Mean confidence", percent(labels["mean_confidence"]), "usually optimistic"),
    ]
    if restarts:
        kept = sum(bool(one["kept"]) for one in restarts)
        cards.append(("Restarts kept", f"{kept} of {len(restarts)}", f"{numbers['run']['seconds']:.0f} s"))
    if numbers["evaluation"]:
        right = numbers["evaluation"]
        beside = f"majority vote {percent(right['majority_vote_accuracy'])} · evaluation only"
        cards.append(("Right", percent(right["accuracy"]), beside))
    boxes = [
        element("div", element("span", name), element("b", value), element("small", note), class_="card")
        for name, value, note in cards
    ]
    titles = [element("strong", f"{one['title']}. ") for one in numbers["alarms"]]
    alarms = element("div", *titles, element("a", "See Training.", href="#training"), class_="alarm") if titles else ""
    lead = paragraph(numbers["story"], class_="lead")
    return Section("glance", "At a glance", joined(lead, element("div", *boxes, class_="cards"), alarms))


def dataset(material: Material, numbers: Numbers) -> Section:
    """Return what was brought, and what was understood of it."""
    data = numbers["dataset"]
    cast = f"{percent(data['coverage'])} ({data['n_votes']:,} of {data['n_rows'] * data['n_learners']:,} votes)"
    rows = f"{data['n_unanimous']:,} unanimous, {data['n_tied']:,} tied, {data['n_silent']:,} without votes"
    truth = f"{data['n_truth']:,} rows; for evaluation only" if data["n_truth"] else "none"
    size = f"{data['n_rows']:,} rows × {data['n_learners']:,} learners × {data['n_classes']:,} classes"
    pairs = [
        ("File", data["name"]),
        ("Size", size),
        ("Coverage", cast),
        ("Layout", f"{data['layout']}, {data['encoding']}"),
        ("Rows", rows),
        ("Truth", f"{truth}{', from ' + data['truth_name'] if data['truth_name'] else ''}"),
        ("Classes", _listed(data["classes"])),
        ("Learners", _listed(data["learners"])),
        ("SHA-256", element("code", data["sha256"], class_="long")),
    ]
    parts = [facts(pairs)]
    titles = {
        "understood": "Understood",
        "changed": "Changed while reading",
        "left_out": "Left out",
        "reading_warnings": "Mind",
    }
    for name, title in titles.items():
        if data[name]:
            parts += [element("h3", title), bullets(data[name])]
    parts.append(element("h3", "Checkup before training"))
    found = [
        joined(
            element("span", one["severity"], class_=f"badge {one['severity']}"),
            element("strong", f" {one['title']}. "),
            f"{one['sentence']} {one['advice']}",
        )
        for one in data["checkup"]
    ]
    parts.append(bullets(found) if found else paragraph("Nothing about these votes stands out."))
    return Section("data", "Data", joined(*parts))


def settings(material: Material, numbers: Numbers) -> Section:
    """Return every setting with its reason, versions and seed."""
    run = numbers["run"]
    versions = ", ".join(f"{name} {text}" for name, text in run["versions"].items())
    pairs = [
        ("Method", run["method_title"]),
        ("Run", element("code", run["id"], class_="long")),
        ("Title", run["title"] or "–"),
        ("Seed", run["seed"]),
        ("Device", run["device"]),
        ("Took", f"{run['seconds']:.1f} s"),
        ("Started", moment(run["started"] or run["created"])),
        ("Versions", versions or "–"),
    ]
    rows = [(name, _value(item["value"]), item["reason"]) for name, item in numbers["settings"].items()]
    return Section("settings", "Settings", joined(facts(pairs), table(("setting", "value", "reason"), rows)))


def limits(material: Material, numbers: Numbers) -> Section:
    """Return what the labels cannot promise."""
    return Section("limits", "Limits", bullets(numbers["limits"]))


def repeat(material: Material, numbers: Numbers) -> Section:
    """Return the command that gives the same labels again."""
    told = numbers["repeat"]
    how = paragraph(
        "In the folder of the file, with the versions above and on the same kind of device, this command gives the "
        "same labels. The file is the one whose SHA-256 is ",
        element("code", told["sha256"], class_="long"),
        ".",
    )
    hint = paragraph(told["hint"]) if told["hint"] else ""
    return Section("repeat", "Repeat this run", joined(how, command(told["line"]), hint))


def _listed(names: list[str], most: int = 12) -> str:
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most:,} more" if len(names) > most else shown


def _value(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else "–" if value is None else str(value)
