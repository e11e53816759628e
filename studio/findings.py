"""What a training found, in words, cards and small tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from deem_core.fused import story_of
from deem_core.runs import Run
from studio import jobs, text, trainings
from studio.datasets import Opened
from studio.numbers import Number


def story(opened: Opened, summary: Mapping[str, Any]) -> str:
    """Return in plain words what fusing changed and what is known about its worth."""
    return story_of(summary, trainings.METHODS.get(summary["method"], summary["method"]))


def cards(opened: Opened, summary: Mapping[str, Any]) -> list[Number]:
    """Return the numbers to look at first."""
    shares = np.array(summary["class_shares"])
    kept = sum(restart["kept"] for restart in summary["restarts"])
    dropped = [restart["reason"] for restart in summary["restarts"] if not restart["kept"]]
    agreement, confidence = summary["agreement"], summary["mean_confidence"]
    found = [
        Number(
            "Fused classes",
            f"{text.count(int((shares > 0).sum()))} of {text.count(summary['n_classes'])}",
            f"majority vote {text.count(int((np.array(summary['majority_shares']) > 0).sum()))}",
            "Classes that at least one row was given.",
        ),
        Number(
            "Same as majority",
            "–" if agreement is None else text.percent(agreement),
            f"{text.count(summary['changed'])} changed",
            "Share of the rows whose fused label is that of the majority vote.",
        ),
        Number(
            "Unanimous overruled",
            text.count(summary["overruled"]),
            f"of {text.count(opened.facts.n_unanimous)} unanimous",
            "Rows on which all votes agree and the model says otherwise. Fewer is safer.",
        ),
        Number(
            "Mean confidence",
            "–" if confidence is None else text.percent(confidence),
            "usually optimistic",
            "Mean probability of the fused labels.",
        ),
    ]
    if summary["restarts"]:
        found.append(
            Number(
                "Restarts kept",
                f"{kept} of {len(summary['restarts'])}",
                f"{text.duration(summary['seconds'])} on {summary['device']}",
                "Trainings that take part in the answer. " + (" ".join(dict.fromkeys(dropped)) or "None was left out."),
            )
        )
    return found


def majority_shares(opened: Opened) -> NDArray[np.float64]:
    """Return the share of each class by majority vote, (K,)."""
    rows = opened.facts.class_rows
    return np.asarray(rows / max(rows.sum(), 1), np.float64)


def restarts(summary: Mapping[str, Any]) -> pd.DataFrame:
    """Return a row for each restart: whether it counts, and why not."""
    rows = [
        {
            "restart": number,
            "in the answer": "yes" if restart["kept"] else "no",
            "agreement": restart.get("agreement"),
            "smallest class": restart.get("share_ratio"),
            "reason": restart.get("reason") or "–",
        }
        for number, restart in enumerate(summary["restarts"], start=1)
    ]
    return pd.DataFrame(rows)


def spread(summary: Mapping[str, Any]) -> str:
    """Return in a sentence how far trainings that differ only by their seed agree."""
    kept = [restart["agreement"] for restart in summary["restarts"] if restart["kept"] and restart.get("agreement")]
    if len(kept) < 2:
        return "**Training:** with fewer than two restarts, how far another training would differ is not known."
    low, high = text.percent(min(kept)), text.percent(max(kept))
    between = f"{low} to {high}" if low != high else low
    return f"**Training:** the {len(kept)} restarts that were kept agree with each other on {between} of the rows."


# ---------------------------------------------------------------------- near-copies


def guard_acted(summary: Mapping[str, Any]) -> bool:
    """Return whether near-copies were found."""
    return bool(summary["hedged"]) or any("ear-copies:" in sentence for sentence in summary["near_copies"])


def twin(run: Run, opened: Opened) -> Run | None:
    """Return the finished run that differs from this one only in keeping every voice, or the other way round."""

    def rest(config: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in config.items() if name != "near_copies"}

    for other in jobs.of_dataset(opened.dataset.id, "train"):
        differs = other.config.get("near_copies", "guard") != run.config.get("near_copies", "guard")
        if differs and rest(other.config) == rest(run.config) and other.state().state == "done":
            return other
    return None


def side_by_side(run: Run, other: Run, opened: Opened) -> pd.DataFrame:
    """Return what two runs found, beside each other."""
    columns = {}
    for each in (run, other):
        summary = each.summary() or {}
        evaluation = summary.get("evaluation")
        columns[f"near-copies: {each.config.get('near_copies', 'guard')}"] = [
            text.count(summary.get("changed", 0)),
            text.count(summary.get("overruled", 0)),
            text.percent(summary.get("mean_confidence") or float("nan")),
            text.percent(evaluation["accuracy"]) if evaluation else "–",
        ]
    same = trainings.same_labels(run, other, opened)
    names = ["labels changed", "unanimous rows overruled", "mean confidence", "accuracy (evaluation)"]
    frame = pd.DataFrame({"": names, **columns})
    if same is not None:
        frame.loc[len(frame)] = ["rows with the same label", *[text.percent(same[0])] * len(columns)]
    return frame


def two_trainings(restarts: Sequence[Mapping[str, Any]]) -> str:
    """Return which restarts were trained with one voice per group, where both ways were trained; else nothing."""
    second = [number for number, restart in enumerate(restarts, start=1) if restart.get("training")]
    if not second:
        return ""
    return (
        f"Restarts from {second[0]} on were trained with one voice for each group of near-copies: another model, so "
        "their energies lie elsewhere."
    )


# ---------------------------------------------------------------------- evaluation


def intervals(evaluation: Mapping[str, Any]) -> tuple[list[str], list[float], list[float], list[float]]:
    """Return names, accuracies and the ends of their intervals."""
    methods = evaluation["methods"]
    bounds = [method["accuracy_interval"] for method in methods]
    return (
        [method["title"] for method in methods],
        [method["accuracy"] for method in methods],
        [low for low, _ in bounds],
        [high for _, high in bounds],
    )


def scores(evaluation: Mapping[str, Any]) -> pd.DataFrame:
    """Return accuracy and macro-F1 with their intervals as text."""

    def cell(method: Mapping[str, Any], name: str) -> str:
        low, high = method[f"{name}_interval"]
        return f"{text.percent(method[name])} ({text.percent(low)} to {text.percent(high)})"

    return pd.DataFrame(
        {
            "": [method["title"] for method in evaluation["methods"]],
            "accuracy": [cell(method, "accuracy") for method in evaluation["methods"]],
            "macro-F1": [cell(method, "macro_f1") for method in evaluation["methods"]],
        }
    )
