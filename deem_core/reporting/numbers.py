"""Numbers of a report as plain values, for page and JSON."""

from __future__ import annotations

import shlex
from typing import Any

import numpy as np

from deem_core import __version__
from deem_core.alarm import with_alarms
from deem_core.comparison import Comparison, conclusion
from deem_core.diagnostics.inspection import Inspection
from deem_core.diagnostics.scorecards import Scorecard
from deem_core.files.plain import to_plain
from deem_core.methods.registry import METHODS
from deem_core.model.config import AUTO
from deem_core.model.records import by_restart
from deem_core.reporting.command import ask_command, compute_command, gold_name, has_two_golds, repeat_command
from deem_core.reporting.limits import limits_of
from deem_core.reporting.material import Material
from deem_core.reporting.render import EVALUATION
from deem_core.runs import Swept

FORMAT = 1
"""Version of the layout of ``report.json``."""

MOST_CHANGES = 100
"""Kinds of label changes that are listed, the most frequent."""

FEW_CLASSES = 20
"""Up to this many classes their shares while training are listed."""


def numbers_of(material: Material) -> dict[str, Any]:
    """Return all numbers and sentences as plain JSON values.

    Numbers that are not finite are None.
    """
    summary, training, run = material.summary, material.summary.training, material.run
    plain_training, title = training.to_dict(), METHODS[training.method].title
    state = run.state()
    content = {
        "format": FORMAT,
        "run": {
            "id": run.id,
            "kind": run.kind,
            "title": run.title,
            "annotations": run.annotations().to_dict(),
            "method": training.method,
            "method_title": title,
            "answered_by": training.answered_by,
            "answerer": summary.answerer,
            "created": run.created,
            "started": state.started,
            "ended": state.ended,
            "device": training.device,
            "seconds": training.seconds,
            "seed": run.spec.get("seed"),
            "versions": run.spec.get("versions", {}),
            "reported_by": f"deem-studio {__version__}",
        },
        "dataset": _dataset(material),
        "position_bias": [bias.to_dict() for bias in material.reading.report.position_bias],
        "story": summary.story(title),
        "why": material.why,
        "settings": plain_training["settings"],
        "learning_rate": None if material.swept is None else _learning_rate(material, material.swept),
        "training": _training(material),
        "alarms": [vars(alarm) for alarm in material.alarms],
        "warnings": with_alarms(plain_training["warnings"], summary.alarms),
        "restarts": plain_training["restarts"],
        "near_copies": plain_training["near_copies"],
        "groups": plain_training.get("groups"),
        "hedged": training.hedged,
        "fallback": training.fallback,
        "labels": _labels(material),
        "learners": _learners(material.card),
        "importance": None if material.inspection is None else _importance(material.inspection),
        "dependence": None if material.inspection is None else _dependence(material.inspection),
        "comparison": None if material.comparison is None else _comparison(material.comparison, material.compare_run),
        "gold": None if material.gold is None else material.gold.to_dict(),
        "evaluation": None if material.evaluation is None else {"note": EVALUATION, **material.evaluation.to_dict()},
        "limits": limits_of(material),
        "repeat": _repeat(material),
    }
    content["not_computed"] = not_computed(material)
    plain: dict[str, Any] = to_plain(content)
    return plain


def not_computed(material: Material) -> dict[str, dict[str, str | None]]:
    """Return the missing parts: why, and the command to compute each."""
    spec = material.run.spec
    page = "Open the Learners page for this run: it inspects the model, and the next report shows it."
    missing_parts: dict[str, tuple[str, list[str] | None]] = {}
    if material.trained and material.swept is None and material.summary.training.groups is None:
        missing_parts["learning_rate"] = (
            "There is no sweep of learning rates on this dataset to show. The Learning rate page keeps one "
            "for reports; this command prints one:",
            compute_command("sweep", spec),
        )
    if material.inspection is None and material.has_model:
        missing_parts["importance"] = (page, None)
        missing_parts["dependence"] = (page, None)
    if material.comparison is None:
        missing_parts["comparison"] = (
            "There is no comparison of methods on this dataset to show. The Compare page keeps one for "
            "reports; this command prints one:",
            compute_command("compare", spec),
        )
    if material.gold is None:
        words = ask_command(spec)
        missing_parts["gold"] = (
            "No known labels were provided to be used. This command writes 20 rows whose labels would tell most, "
            f"with an empty column gold_label. Fill it in, then repeat the run with --gold-file {words[-1]}.",
            words,
        )
    if material.evaluation is None:
        here = "There are no true labels" if material.gold is None else "There are no true labels besides the gold rows"
        missing_parts["evaluation"] = (
            f"{here}, so nothing could be evaluated. With a file of some true labels, this command evaluates the same "
            "labels:",
            [*repeat_command(spec), "--truth-file", "truth.csv"],
        )
    return {
        name: {"why": why, "command": None if words is None else shlex.join(words)}
        for name, (why, words) in missing_parts.items()
    }


def _dataset(material: Material) -> dict[str, Any]:
    reading, facts, inputs = material.reading, material.facts, material.run.spec["inputs"]
    report, votes = reading.report, reading.votes
    return {
        "name": inputs["name"],
        "sha256": inputs["data"],
        "truth_name": inputs.get("truth_name"),
        "reading": inputs["reading"],
        "n_rows": votes.n_rows,
        "n_learners": votes.n_learners,
        "n_classes": votes.n_classes,
        "classes": material.classes,
        "learners": list(votes.learners),
        "coverage": facts.coverage,
        "n_votes": facts.n_votes,
        "n_unanimous": facts.n_unanimous,
        "n_tied": facts.n_tied,
        "n_silent": facts.n_silent,
        "n_truth": facts.n_truth,
        "agreement": material.agreed.to_dict(),
        "layout": report.layout,
        "encoding": report.encoding,
        "delimiter": report.delimiter,
        "understood": report.sentences("understood"),
        "changed": report.sentences("changed"),
        "left_out": report.sentences("left out"),
        "reading_warnings": report.sentences("warning"),
        "panel": material.health.to_dict(),
        "checkup": [
            {"kind": one.kind, "severity": one.severity, "title": one.title}
            | {"sentence": one.sentence, "advice": one.advice}
            for one in material.findings
        ],
    }


def _learning_rate(material: Material, swept: Swept) -> dict[str, Any]:
    content = swept.sweep.to_dict()
    rates = [{name: value for name, value in rate.items() if name != "shares"} for rate in content["rates"]]
    left_out = ("rates", "majority_shares", "settings")
    others = {name: value for name, value in content.items() if name not in left_out}
    return {"source": _source(material, swept), "run": swept.run, **others, "rates": rates}


def _source(material: Material, swept: Swept) -> str:
    if swept.run is None:
        return "This is the sweep by which the run itself chose its learning rate."
    used, chosen = material.settings.get("learning_rate"), swept.sweep.recommendation.learning_rate
    same = used is not None and chosen is not None and bool(np.isclose(used, chosen))
    fate = "; this run used the rate that it recommends" if same else "; this run used a different learning rate"
    if used is None:  # a method without one
        fate = ""
    settings = "the settings of this run" if swept.holds else "settings other than those of this run"
    return f"This is the latest finished sweep of the same dataset with {settings} (run {swept.run[:12]}){fate}."


def _training(material: Material) -> dict[str, Any]:
    curves = []
    for number, own in enumerate(by_restart(material.records), start=1):
        records = [record.to_dict() for record in own]
        names = ["update", "epoch", "positive", "negative", "difference", "acceptance", "moved"]
        names += ["shares"] if len(material.classes) <= FEW_CLASSES else []
        curves.append({"restart": number, **{name: [record[name] for record in records] for name in names}})
    training = material.summary.training
    return {
        "start": training.start_sentence,
        "curves": curves,
        "restarts_shown": len(curves),
        "restarts": len(training.restarts),
    }


def _labels(material: Material) -> dict[str, Any]:
    names = (
        *("class_shares", "majority_shares", "changed", "overruled", "agreement", "mean_confidence"),
        *("n_rows", "n_learners", "n_classes"),
    )
    changes, classes = material.labels.changes.copy(), material.labels.classes
    np.fill_diagonal(changes, 0)
    most = np.argsort(-changes, axis=None, kind="stable")[:MOST_CHANGES]
    pairs = zip(*np.unravel_index(most, changes.shape), strict=True)
    return {
        **{name: getattr(material.summary.answer, name) for name in names},
        "largest_changes": [
            {"majority": classes[i], "fused": classes[j], "rows": int(changes[i, j])} for i, j in pairs if changes[i, j]
        ],
        "to_review": material.labels.to_review,
        "confidence": {"edges": material.labels.edges, "rows": material.labels.confidence},
    }


def _learners(card: Scorecard | None) -> list[dict[str, Any]]:
    """Return a row per learner, the most accurate first."""
    if card is None:
        return []
    rows = card.to_frame().iloc[card.ranked()].to_dict(orient="records")
    return [{str(name): value for name, value in row.items()} for row in rows]


def _importance(inspection: Inspection) -> dict[str, Any]:
    own = inspection.influence
    return {
        "learners": list(own.subjects),
        "classes": list(own.classes),
        "influence": own.overall,
        "error": own.error,
        "restart_spread": own.restart_spread,
        "noise": own.noise,
        "withheld": inspection.withheld.overall,
        "estimated_accuracy": inspection.reliability.accuracy,
        "by_class": own.by_class,
        "experts": [vars(one) for one in own.experts()],
        "rows_used": own.rows_used,
        "n_rows": own.n_rows,
    }


def _dependence(inspection: Inspection) -> dict[str, Any]:
    given = inspection.dependence
    return {
        "reading": given.reading,
        "given": given.given,
        "rows_used": given.rows_used,
        "n_rows": given.n_rows,
        "layers": [{"name": layer.name, "units": list(layer.units), **layer.summary()} for layer in given.layers],
        "pairs": [vars(pair) for pair in given.layers[0].pairs(20)],
    }


def _comparison(comparison: Comparison, run: str | None) -> dict[str, Any]:
    content = comparison.to_dict()
    names = (
        *("n_truth", "best_learner", "best_learner_accuracy", "average_learner_accuracy"),
        *("dependence", "agreement", "n_disputed"),
    )
    methods = [
        {name: value for name, value in method.items() if name not in ("recalls", "shares")}
        for method in content["methods"]
    ]
    return {
        "run": run,
        "conclusion": conclusion(comparison),
        **{name: content[name] for name in names},
        "methods": methods,
    }


def _repeat(material: Material) -> dict[str, Any]:
    words = repeat_command(material.run.spec)
    content = {"command": words, "line": shlex.join(words), "sha256": material.run.spec["inputs"]["data"], "hint": ""}
    spec = material.run.spec
    content["gold_sha256"] = spec["config"].get("gold")
    content["gold_name"] = gold_name(spec) if content["gold_sha256"] else None
    if has_two_golds(spec):
        content["hint"] = (
            f"The run also used the column {spec['inputs']['reading']['gold']!r} of the file, and a command takes gold "
            f"labels from one place: add the column's labels to {content['gold_name']} first."
        )
    if spec["config"].get("consider"):
        content["hint"] += (
            f"{' ' * bool(content['hint'])}The gold rows also chose between earlier trainings, which this command does "
            "not know; so its labels may differ."
        )
    rate = material.settings.get("learning_rate")
    if material.run.config.get("learning_rate") == AUTO and isinstance(rate, (int, float)):
        content["hint"] += (
            f"{' ' * bool(content['hint'])}The sweep chose {rate:g}; with --learning-rate {rate!r} instead of {AUTO} "
            "the labels are the same, and no sweep is needed."
        )
    return content
