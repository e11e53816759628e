"""What a training found, in words, cards and small tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from deem_core.comparison import Evaluation
from deem_core.engine import place_in_words
from deem_core.runs import FusionSummary, LearnerGroups, Run
from deem_core.training import Restart
from deem_core.typing import Floats
from studio import jobs, text
from studio.data.datasets import Opened
from studio.data.numbers import Number
from studio.train import trainings
from studio.train.settings import method_title


def story(summary: FusionSummary) -> str:
    """Return what fusing changed, in plain words.

    Of a training that failed the alarm says the rest.
    """
    if summary.training.fallback:
        return summary.after_failure()
    return summary.story(method_title(summary.training.method))


def cards(opened: Opened, summary: FusionSummary) -> list[Number]:
    """Return the numbers to look at first."""
    answer, training = summary.answer, summary.training
    shares, by_majority = (sum(share > 0 for share in each) for each in (answer.class_shares, answer.majority_shares))
    reasons = dict.fromkeys(restart.reason for restart in training.restarts if not restart.kept)
    numbers = [
        Number(
            "Fused classes",
            f"{text.count(shares)} of {text.count(answer.n_classes)}",
            f"majority vote {text.count(by_majority)}",
            "Classes given to at least one row.",
        ),
        Number(
            "Same as majority",
            "–" if answer.agreement is None else text.percent(answer.agreement),
            f"{text.count(answer.changed)} changed",
            "Share of the rows whose fused label equals the majority vote.",
        ),
        Number(
            "Unanimous overruled",
            text.count(answer.overruled),
            f"of {text.count(opened.facts.n_unanimous)} unanimous",
            "Rows on which all votes agree and the model says otherwise. Fewer is safer.",
        ),
        Number(
            "Mean confidence",
            "–" if answer.mean_confidence is None else text.percent(answer.mean_confidence),
            "usually optimistic",
            "Mean probability of the fused labels.",
        ),
    ]
    if training.restarts:
        numbers.append(
            Number(
                "Restarts kept",
                f"{len(training.kept_restarts)} of {len(training.restarts)}",
                f"{text.duration(training.seconds)} on {place_in_words(training.device)}",
                "Restarts that count in the answer. " + (" ".join(reasons) or "None were left out."),
            )
        )
    if training.groups is not None:
        numbers.append(_group_card(training.groups))
    return numbers


def _group_card(groups: LearnerGroups) -> Number:
    return Number(
        "Groups",
        text.count(len(groups.groups)),
        "the model fits" if groups.fits else "the model does not fit",
        f"Groups of learners that make the same mistakes. {groups.reason}",
    )


def likelihood(groups: LearnerGroups) -> str:
    """Return how probable the model finds the votes, in a sentence."""
    return (
        f"Log-likelihood {groups.log_likelihood:.2f} nats a row after {text.count(groups.iterations, 'round')} of EM; "
        "it can be compared only between models of the same votes."
    )


def groups_table(groups: LearnerGroups) -> pd.DataFrame:
    """Return a row for each group, and where it was placed otherwise."""
    names = [f"group {at}" for at in range(1, len(groups.groups) + 1)]
    sizes = [len(group) for group in groups.groups]
    learners = [", ".join(group) for group in groups.groups]
    return pd.DataFrame({"group": names, "size": sizes, "learners": learners})


def other_groups_table(groups: LearnerGroups) -> pd.DataFrame:
    """Return a row for each placement that explains the votes as well."""
    return pd.DataFrame(
        {
            "groups": ["; ".join(", ".join(group) for group in other.groups) or "none" for other in groups.runners_up],
            "nats behind": [other.behind for other in groups.runners_up],
            "other labels": [other.changed for other in groups.runners_up],
        }
    )


def majority_shares(opened: Opened) -> Floats:
    """Return the share of each class by majority vote, (K,)."""
    rows = opened.facts.class_rows
    return np.asarray(rows / max(rows.sum(), 1), np.float64)


def restarts(trained: Sequence[Restart]) -> pd.DataFrame:
    """Return a row for each restart: whether it counts, and why not."""
    rows = [
        {
            "restart": number,
            "in the answer": "yes" if restart.kept else "no",
            "agreement": restart.agreement,
            "smallest class": restart.share_ratio,
            "reason": restart.reason or "–",
        }
        for number, restart in enumerate(trained, start=1)
    ]
    return pd.DataFrame(rows)


def spread(trained: Sequence[Restart]) -> str:
    """Return how far restarts agree, in a sentence."""
    if not trained:
        return "**Training:** fitted exactly, so there is no other run to compare with."
    agreements = [restart.agreement for restart in trained if restart.kept and restart.agreement]
    if len(agreements) < 2:
        return "**Training:** with fewer than two restarts, there is no telling how much another run would differ."
    low, high = text.percent(min(agreements)), text.percent(max(agreements))
    between = f"{low} to {high}" if low != high else low
    return (
        f"**Training:** the {len(agreements)} restarts that were kept agree with each other on {between} of the rows."
    )


# ---------------------------------------------------------------------- near-copies


def twin(run: Run, opened: Opened) -> Run | None:
    """Return the finished run that differs only in near-copies."""

    def rest(config: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in config.items() if name not in ("near_copies", "on")}

    for other in jobs.of_dataset(opened.dataset.id, "train"):
        differs = other.config.get("near_copies", "guard") != run.config.get("near_copies", "guard")
        if differs and rest(other.config) == rest(run.config) and other.state().state == "done":
            return other
    return None


def side_by_side(run: Run, other: Run, opened: Opened) -> pd.DataFrame:
    """Return what two runs found, beside each other."""
    columns = {}
    for each in (run, other):
        summary = trainings.summary(each)
        columns[f"near-copies: {each.config.get('near_copies', 'guard')}"] = (
            ["–"] * 4
            if summary is None
            else [
                text.count(summary.answer.changed),
                text.count(summary.answer.overruled),
                text.percent(summary.answer.mean_confidence or float("nan")),
                text.percent(summary.evaluation.accuracy) if summary.evaluation else "–",
            ]
        )
    same = trainings.same_labels(run, other, opened)
    names = ["labels changed", "unanimous rows overruled", "mean confidence", "accuracy (evaluation)"]
    frame = pd.DataFrame({"": names, **columns})
    if same is not None:
        frame.loc[len(frame)] = ["rows with the same label", *[text.percent(same[0])] * len(columns)]
    return frame


# ---------------------------------------------------------------------- evaluation


def scores(evaluation: Evaluation) -> pd.DataFrame:
    """Return accuracy and macro-F1 with their intervals as text."""

    def cell(value: float, ends: tuple[float, float]) -> str:
        return f"{text.percent(value)} ({text.interval(*ends)})"

    return pd.DataFrame(
        {
            "": [method.title for method in evaluation.methods],
            "accuracy": [cell(method.accuracy, method.accuracy_interval) for method in evaluation.methods],
            "macro-F1": [cell(method.macro_f1, method.macro_f1_interval) for method in evaluation.methods],
        }
    )
