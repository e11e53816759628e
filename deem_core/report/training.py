"""Sections of a report about learning: the learning rate, the curves, the restarts and the near-copies."""

from __future__ import annotations

from typing import Any

from deem_core import figures
from deem_core.guidance import REJECTED
from deem_core.report.markup import Html, bullets, element, joined, paragraph, table
from deem_core.report.material import Material
from deem_core.report.pictures import picture
from deem_core.report.sections import Numbers, Section, absent
from deem_core.report.words import percent

PANELS = 860
"""Pixels that three panels side by side need."""


def learning_rate(material: Material, numbers: Numbers) -> Section:
    """Return the curves of all rates that were tried, with their verdicts."""
    title, swept, told = "Learning rate", material.swept, numbers["learning_rate"]
    if swept is None:
        return absent("learning_rate", title, numbers)
    sweep = swept.sweep
    chosen = sweep.recommendation
    key = chosen.n_layers if sweep.by_depth else chosen.learning_rate
    what = "layers" if sweep.by_depth else "learning rate"
    said = f"{chosen.kind[:1].upper()}{chosen.kind[1:]}"
    said += f": {what} {key:g}. " if key is not None else ". "
    curves = picture(
        lambda theme: figures.energy_panels(
            figures.curves_of_sweep(sweep), selected=key, smoothing=sweep.smoothing, zoom=True, theme=theme
        ),
        "Three panels: positive energy, negative energy and their difference for every candidate.",
        "Good: the difference dips, comes back towards zero and stays there while neither energy rises. Dotted curves "
        "were rejected and may leave the picture.",
        width=PANELS,
    )
    rows = [
        (
            f"{rate['n_layers']}" if sweep.by_depth else f"{rate['learning_rate']:g}",
            element("span", rate["verdict"], class_=_badge(rate["verdict"])),
            rate["reason"],
        )
        for rate in told["rates"]
    ]
    body = joined(
        paragraph(told["source"]),
        paragraph(element("strong", said), f"{chosen.why} {chosen.to_try}"),
        curves,
        table((what, "verdict", "reason"), rows),
        bullets(told["notes"]),
    )
    return Section("learning_rate", title, body)


def training(material: Material, numbers: Numbers) -> Section:
    """Return energies, class shares and the sampler while training, with the alarms."""
    parts: list[Any] = [_alarms(numbers), bullets(numbers["warnings"])]
    known, told = material.records, numbers["training"]
    if not known:
        parts.append(paragraph("The model was fitted exactly, without sampling: there are no curves."))
        return Section("training", "Training", joined(*parts))
    if told["restarts_shown"] < told["restarts"]:
        parts.append(paragraph(f"The first {told['restarts_shown']} of {told['restarts']:,} restarts are drawn."))
    parts += [
        picture(
            lambda theme: figures.energy_panels(
                figures.curves_of_records(known, restarts=numbers["restarts"]), smoothing=0.5, theme=theme
            ),
            "Three panels: positive energy, negative energy and their difference for every restart.",
            "Good: all restarts fall together and their difference comes back towards zero. Dotted: left out of the "
            "answer." + _two_trainings(numbers["restarts"]),
            width=PANELS,
        ),
        picture(
            lambda theme: figures.shares_over_time(
                known, material.classes, numbers["labels"]["majority_shares"], theme=theme
            ),
            "Lines: the predicted share of each class while training, against its majority-vote share.",
            "A class whose line falls to zero has died.",
            width=560,
        ),
        picture(
            lambda theme: figures.sampler_health(known, theme=theme),
            "Lines: how many proposals the sampler accepted and how many votes it moved.",
            "Good: both within the shaded bands.",
            width=640,
        ),
    ]
    return Section("training", "Training", joined(*parts))


def restarts(material: Material, numbers: Numbers) -> Section:
    """Return which restarts count, and why the others do not."""
    told = numbers["restarts"]
    if not told:
        body = paragraph("The model was fitted exactly; there are no restarts.")
        return Section("restarts", "Restarts", body)
    two = any(one.get("training") for one in told)
    rows = [
        (
            f"{number}{' (near-copies merged)' if one.get('training') else ''}" if two else number,
            one["seed"],
            element("span", "kept" if one["kept"] else "dropped", class_=f"badge {'good' if one['kept'] else 'bad'}"),
            percent(one.get("agreement")),
            "–" if one.get("share_ratio") is None else f"{one['share_ratio']:.2f}",
            one.get("reason") or "–",
        )
        for number, one in enumerate(told, start=1)
    ]
    kept = sum(bool(one["kept"]) for one in told)
    lead = paragraph(f"{kept} of {len(told)} restarts were kept. {_answer(numbers)}")
    header = ("restart", "seed", "", "agrees with the others", "worst class keeps", "reason")
    note = paragraph(
        "The worst class keeps this share of what it has by majority vote: near 0, it died.", class_="faint"
    )
    return Section("restarts", "Restarts", joined(lead, table(header, rows, numbers=(1, 3, 4)), note))


def near_copies(material: Material, numbers: Numbers) -> Section:
    """Return what was found about learners that are nearly copies, and what was done about them."""
    found = numbers["near_copies"]
    if not found and material.settings.get("near_copies") == "keep":
        body = paragraph("Near-copies were not looked for: every learner kept its voice.")
    elif not found:
        body = paragraph("No near-copies among the learners.")
    else:
        body = bullets(found)
    return Section("near_copies", "Near-copies", body)


def _alarms(numbers: Numbers) -> Html:
    found = [
        element("div", element("strong", f"{one['title']}. "), one["sentence"], " ", one["advice"], class_="alarm")
        for one in numbers["alarms"]
    ]
    return joined(*found) if found else paragraph("No alarm was raised.")


def _answer(numbers: Numbers) -> str:
    if numbers["fallback"]:
        return "Half or fewer are too few, so the answer is the majority vote."
    if numbers["hedged"]:
        return "The answer is the mean of both trainings and of the vote shares."
    return "The answer is the mean of their probabilities."


def _badge(verdict: str) -> str:
    look = "good" if verdict == "recommended" else "bad" if verdict in REJECTED else ""
    return f"badge {look}".strip()


def _two_trainings(told: list[dict[str, Any]]) -> str:
    second = [number for number, one in enumerate(told, start=1) if one.get("training")]
    if not second:
        return ""
    return (
        f" Restarts from {second[0]} on have one voice for each group of near-copies, so their energies lie elsewhere."
    )
