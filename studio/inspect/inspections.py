"""Inspections on a page: the job, its result, reasons for rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from deem_core import InputError
from deem_core.diagnostics import (
    Confusion,
    Expert,
    GroupTree,
    Importance,
    Inspection,
    Why,
    clearest_experts,
    real_confusion,
    why,
)
from deem_core.figures import Picture, bar_names, pictures
from deem_core.runs import Run
from deem_core.typing import Floats, Mask
from studio import jobs
from studio.data.datasets import Opened
from studio.train import trainings
from studio.workspace import workspace

MANY_CLASSES = 30
"""Classes up to which the expert finder shows all, however few rows they have."""

_STARTING = Lock()  # held while an inspection is looked for and started
_PREFERRED = ("done", "running", "queued", "failed", "cancelled")


def of_training(run: Run) -> Run:
    """Return the inspection of a training; start it if missing.

    Raises
    ------
    InputError
        If the training has no model.
    """
    with _STARTING:  # two tabs must not start the same one
        others = [one for one in jobs.of_dataset(run.dataset_id, "inspect") if one.config.get("training") == run.id]
        if others:
            return min(others, key=lambda one: _PREFERRED.index(one.state().state))
        model = run.result("model.safetensors")
        if model is None:
            raise InputError("Training is not finished, so there is nothing to inspect yet.")
        space = workspace()
        gold = {"gold": run.config["gold"]} if "gold" in run.config else {}
        config = {"model": space.store(model), "training": run.id, "random_state": 0, **gold}
        return space.start_run("inspect", space.dataset(run.dataset_id), config, f"Inspection of {jobs.title(run)}")


def result(run: Run) -> Inspection | None:
    """Return what an inspection found; None unless it is done."""
    return None if run.result("inspection.json") is None else _load(run.id, str(run.path))


@st.cache_resource(max_entries=6, show_spinner=False)
def _load(run_id: str, path: str) -> Inspection:
    return Inspection.load(path)


# ---------------------------------------------------------------------- importance of subsets


def of_classes(importance: Importance, classes: Sequence[str]) -> tuple[Floats, Floats]:
    """Return mean importance (S,) inside and outside some classes.

    NaN without rows.
    """
    chosen = np.isin(np.array(importance.classes, object), list(classes))
    return _mean(importance, chosen), _mean(importance, ~chosen)


def _mean(importance: Importance, chosen: Mask) -> Floats:
    there = chosen & (importance.class_rows > 0)
    if not there.any():
        return np.full(len(importance.subjects), np.nan)
    return np.asarray(np.average(importance.by_class[:, there], axis=1, weights=importance.class_share[there]))


def clicked_learner(selection: Mapping[str, Any], importance: Importance) -> str | None:
    """Return the learner whose bar was clicked, if any.

    None also for a group of learners.
    """
    names = dict(zip(bar_names(importance.subjects), importance.subjects, strict=True))
    points = selection.get("selection", {}).get("points", [])
    return names.get(points[0].get("y")) if points else None


def clearest(importance: Importance) -> list[Expert]:
    """Return the experts worth naming, strongest first."""
    return clearest_experts(importance.experts())


def expert_classes(importance: Importance, most: int = 4) -> list[str]:
    """Return the classes with the clearest experts, else the first."""
    names = dict.fromkeys(one.class_name for one in clearest(importance))
    return sorted(list(names)[:most], key=importance.classes.index) or list(importance.classes[:1])


def classes_with_rows(importance: Importance) -> NDArray[np.intp]:
    """Return the classes with enough rows; all if there are few."""
    if len(importance.classes) <= MANY_CLASSES or not importance.enough.any():
        most = np.argsort(-importance.class_rows, kind="stable")[:MANY_CLASSES]
        return np.sort(most)
    return np.flatnonzero(importance.enough)


def experts_in_words(experts: Sequence[Expert], classes: Sequence[str]) -> list[str]:
    """Return a line per expert, the clearest first."""
    of_learner: dict[str, list[Expert]] = {}
    for one in experts:
        of_learner.setdefault(one.learner, []).append(one)
    lines = []
    for learner, own in of_learner.items():
        cells = sorted(own, key=lambda one: classes.index(one.class_name))
        names = _and([f"“{one.class_name}”" for one in cells])
        times = _and([f"{one.ratio:.1f}" for one in cells])
        each = "class" if len(cells) == 1 else "classes"
        lines.append(f"“{learner}” for {each} {names}: {times} times as much influence as the median learner")
    return lines


def _and(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


# ---------------------------------------------------------------------- confusion


def confusion_of(
    inspection: Inspection, training: Run, opened: Opened, learner: str
) -> tuple[Confusion, Confusion | None]:
    """Return a learner's confusion (d = 1), estimated and real.

    The real one is None without truth.

    With too many classes for all matrices to be kept, votes are counted against the fused labels here.
    """
    truth = inspection.evaluation is not None
    if inspection.confusion is not None:
        real = None if inspection.evaluation is None else inspection.evaluation.confusion
        return _one(inspection.confusion, learner), None if real is None else _one(real, learner)
    labels = trainings.outcome(training, opened)
    if labels is None:
        raise InputError("The labels of this run are gone.")
    votes = opened.reading.votes
    counted = real_confusion(replace(votes, truth=labels.codes, truth_only=np.empty(0, object)), [learner])
    return replace(counted, source="estimated"), real_confusion(opened.votes_of(training), [learner]) if truth else None


def cells_used(confusion: Confusion) -> pd.DataFrame:
    """Return the table of a confusion without its empty cells.

    With many classes nearly all are empty.
    """
    frame = confusion.to_frame()
    used: pd.DataFrame = frame[frame["probability"] > 0].reset_index(drop=True)
    return used


def picture_of_branch(tree: GroupTree, at: int) -> Picture:
    """Return what a branch of the tree says for what it follows."""
    groups = len(tree.names)
    return pictures.group_opinion(tree, at) if at < groups else pictures.learner_in_group(tree, at - groups)


def _one(kept: Confusion, learner: str) -> Confusion:
    at = [kept.learners.index(learner)]
    return replace(kept, learners=(learner,), psi=kept.psi[at], support=kept.support[at])


# ---------------------------------------------------------------------- why this label?


def row_of(opened: Opened, name: str) -> int:
    """Return the position of a row by id or number.

    Numbers count from 1.

    Raises
    ------
    InputError
        If there is none.
    """
    votes = opened.reading.votes
    wanted = name.strip()
    if votes.has_ids:
        at = np.flatnonzero(np.asarray(votes.ids.astype(str) == wanted))
        if len(at):
            return int(at[0])
    if wanted.isascii() and wanted.isdigit() and len(wanted) < 19 and 1 <= int(wanted) <= votes.n_rows:
        return int(wanted) - 1
    raise InputError(f"There is no row {name[:60]!r}. Give the id of a row, or its number from 1 to {votes.n_rows:,}.")


def reasons(training: Run, opened: Opened, row: int) -> Why:
    """Return why a row got its label, by asking the model.

    Loading the model takes a moment the first time.
    """
    path = training.result("model.safetensors")
    if path is None:
        raise InputError("The model of this run is gone.")
    return why(_model(training.id, str(path)), opened.reading.votes.without_truth(), [row])


@st.cache_resource(max_entries=3, show_spinner="Loading the model…")
def _model(run_id: str, path: str) -> Any:
    from deem_core import load  # noqa: PLC0415  # most models import torch, which only this needs

    return load(path)


@dataclass(frozen=True)
class Reason:
    """Why one row got its label.

    Attributes
    ----------
    id, fused, runner_up : str
    confidence, runner_up_probability : float
    learners : tuple of str
    votes : list
        Label of each vote, None for none.
    contributions : (d,) float64
    voices : tuple of (str, float)
        What groups of learners do together, where one of them voted.
    """

    id: str
    fused: str
    runner_up: str
    confidence: float
    runner_up_probability: float
    learners: tuple[str, ...]
    votes: list[str | None]
    contributions: Floats
    voices: tuple[tuple[str, float], ...]


def reason(of: Why, at: int) -> Reason:
    """Return why the row at a position got its label."""
    names = [*of.classes, None]
    return Reason(
        id=of.ids[at],
        fused=of.classes[of.fused[at]],
        runner_up=of.classes[of.runner_up[at]],
        confidence=float(of.confidence[at]),
        runner_up_probability=float(of.runner_up_probability[at]),
        learners=of.learners,
        votes=[names[vote] for vote in of.votes[at].tolist()],
        contributions=of.contributions[at],
        voices=tuple(
            (name, float(value))
            for name, value in zip(of.voices, of.voice_contributions[at], strict=True)
            if np.isfinite(value)
        ),
    )


def review_table(inspection: Inspection) -> pd.DataFrame:
    """Return the most doubtful rows with label, runner-up and confidence."""
    review = inspection.review
    names = np.array([*review.classes, ""], object)
    numbers = review.rows + 1
    counted = list(review.ids) == [str(row) for row in numbers.tolist()]  # no ids of their own: one number is enough
    return pd.DataFrame(
        {
            "row": numbers,
            **({} if counted else {"id": list(review.ids)}),
            "fused label": names[review.fused],
            "runner-up": names[review.runner_up],
            "confidence": 100 * review.confidence,
        }
    )
