"""Page of a report, rendered from templates.

It is one file that needs no network.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from deem_core.engine import place_in_words
from deem_core.figures import Picture, pictures, plotly_code
from deem_core.reporting.material import Material
from deem_core.text import interval, moment, number, percent, points
from deem_core.training.alarms import curves_judged
from deem_core.training.guidance import REJECTED

SECTIONS = {
    "glance": "At a glance",
    "data": "Data",
    "position_bias": "Position bias",
    "settings": "Settings",
    "learning_rate": "Learning rate",
    "answer": "Who answered and why",
    "training": "Training",
    "restarts": "Restarts",
    "near_copies": "Near-copies",
    "groups": "Groups of learners",
    "labels": "Labels",
    "learners": "Scorecard of the learners",
    "importance": "Importance of learners",
    "dependence": "Dependence",
    "comparison": "Comparison of methods",
    "gold": "Gold rows",
    "evaluation": "Evaluation",
    "limits": "Limits",
    "repeat": "Repeat this run",
}
"""Ids and titles of the sections, from top to bottom."""

OF_RESTARTS = ("learning_rate", "restarts", "near_copies")
"""Sections that say nothing about a model of groups; in its place they have one about the groups."""

OF_TRAINING = ("learning_rate", "training", "restarts", "near_copies")
"""Sections that need a training; an answer without one says who answered and why."""

OF_MODEL = ("importance", "dependence")
"""Sections that need a model."""

EVALUATION = "evaluation only, never used in training"

SMOOTHING = 0.5
"""Of the energy curves of restarts."""

MOST_UNITS = 40
"""Learners of a dependence heatmap, those that depend most."""

LARGE_RATIO = 100
"""Beyond this, how many times a learner matters as much as another is not told exactly."""


def sections_of(material: Material) -> dict[str, str]:
    """Return the sections that a report on this model has."""
    left_out: tuple[str, ...] = ("groups",) if material.summary.training.groups is None else OF_RESTARTS
    left_out += ("answer",) if material.trained else OF_TRAINING
    left_out += () if material.has_model else OF_MODEL
    left_out += ("learners",) if material.card is None else ()
    left_out += () if material.reading.report.position_bias else ("position_bias",)
    return {section: title for section, title in SECTIONS.items() if section not in left_out}


def page_of(material: Material, numbers: Mapping[str, Any]) -> str:
    """Return the whole page.

    Its policy forbids every fetch, and every script but the two of its own, told by their hashes. Text is escaped by
    the templates, so nothing of a user's file can run.

    Parameters
    ----------
    material : Material
    numbers : mapping
        What `deem_core.reporting.numbers.numbers_of` makes of it.
    """
    scripts = (plotly_code(), _file("report.js"))
    return (
        _templates()
        .get_template("report.html.j2")
        .render(
            **numbers,
            material=material,
            pictures=pictures_of(material, numbers),
            sections=sections_of(material),
            evaluation_only=EVALUATION,
            rejected=REJECTED,
            style=_file("report.css"),
            scripts=scripts,
            policy=_policy(scripts),
        )
    )


def pictures_of(material: Material, numbers: Mapping[str, Any]) -> dict[str, Picture]:
    """Return the pictures of a report by name.

    Those of what was not computed are missing.
    """
    labels, classes = numbers["labels"], material.classes
    by_name = {
        "class_shares": pictures.class_shares(labels["class_shares"], labels["majority_shares"], material.labels.names),
        "label_changes": pictures.label_changes(material.labels.changes, material.labels.classes),
        "confidence": pictures.confidence(material.labels.edges, material.labels.confidence),
    }
    biases = material.reading.report.position_bias
    if any(bias.both for bias in biases):
        by_name["position_bias"] = pictures.position_bias(biases, merged=material.one_voice)
    if material.card is not None:
        by_name["scorecard"] = pictures.scorecard(material.card)
    if material.records:
        by_name |= {
            "energies": pictures.energies(
                material.records,
                material.summary.training.restarts,
                smoothing=SMOOTHING,
                from_groups=material.summary.training.from_groups,
                judged=curves_judged(material.summary.training.method),
            ),
            "shares_over_time": pictures.shares_over_time(material.records, classes, labels["majority_shares"]),
            "sampler_health": pictures.sampler_health(material.records),
        }
    if material.swept is not None:
        sweep = material.swept.sweep
        chosen = sweep.recommendation.n_layers if sweep.by_depth else sweep.recommendation.learning_rate
        by_name["sweep"] = pictures.sweep_energies(sweep, selected=chosen, smoothing=sweep.smoothing, zoom=True)
    if material.inspection is not None:
        influence = material.inspection.influence
        by_name["influence"] = pictures.influence(influence)
        by_name["experts"] = pictures.experts(influence, influence.experts())
        if material.inspection.groups is not None:
            by_name["group_tree"] = pictures.group_tree(material.inspection.groups)
        by_name["dependence"] = pictures.dependence(material.inspection.dependence, most_units=MOST_UNITS)
    if material.comparison is not None:
        by_name["method_accuracy"] = pictures.method_accuracy(material.comparison)
    if material.evaluation is not None:
        by_name["evaluation"] = pictures.evaluation(material.evaluation.methods)
    return by_name


def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("deem_core.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    plain = (percent, number, grouped, moment, seconds, setting, listed, named, gain, between, times, estimated)
    for formatter in (*plain, accuracy_of, contradicted, place_in_words):
        environment.filters[formatter.__name__] = formatter
    return environment


def _file(name: str) -> str:
    return resources.files("deem_core.reporting").joinpath("templates", name).read_text(encoding="utf-8")


def _policy(scripts: Sequence[str]) -> str:
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in scripts
    )
    return f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'"


# ---------------------------------------------------------------------- numbers as text; filters of the templates


def grouped(value: int) -> str:
    """Return a whole number with its thousands apart."""
    return f"{value:,}"


def seconds(value: float | None) -> str:
    """Return a span of time in seconds; "–" for None."""
    return "–" if value is None else f"{value:.2f}"


def setting(value: Any) -> str:
    """Return the value of a setting."""
    return f"{value:.6g}" if isinstance(value, float) else "–" if value is None else str(value)


def listed(names: Sequence[str], most: int = 12) -> str:
    """Return the first names, and how many more there are."""
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most:,} more" if len(names) > most else shown


def named(texts: Mapping[str, str]) -> str:
    """Return names with their texts, such as packages with versions."""
    return ", ".join(f"{name} {text}" for name, text in texts.items())


def gain(ends: Sequence[float] | None) -> str:
    """Return a difference of accuracies with its interval, in points."""
    if ends is None:
        return "–"
    middle, low, high = ends
    return points(middle, low, high)


def between(ends: Sequence[float]) -> str:
    """Return the ends of an interval of shares."""
    return interval(ends[0], ends[1])


def estimated(estimate: Mapping[str, Any]) -> str:
    """Return an accuracy by gold rows with its 90% interval."""
    if estimate["share"] is None:
        return "–"
    share, low, high = (percent(estimate[name], 0) for name in ("share", "low", "high"))
    return f"{share} ({low.rstrip(' %')} to {high})"


def accuracy_of(learner: Mapping[str, Any], source: str) -> str:
    """Return the accuracy of a learner with its interval.

    ``source`` is "estimated", "gold" or "real".
    """
    share, low, high = (learner[f"{source}_{name}"] for name in ("accuracy", "low", "high"))
    return "–" if share is None else f"{percent(share)} ({percent(low).rstrip(' %')} to {percent(high)})"


def contradicted(judge: Mapping[str, Any]) -> str:
    """Return how often a judge contradicts itself, with its interval."""
    share, ends = judge["share"], (judge["low"], judge["high"])
    return "–" if share is None else f"{percent(share)} ({between(ends)})"


def times(ratio: float) -> str:
    """Return a ratio in words.

    To a median near zero any ratio is large, and its digits mean nothing.
    """
    return f"{ratio:.1f} times" if ratio < LARGE_RATIO else f"more than {LARGE_RATIO} times"
