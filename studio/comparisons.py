"""Comparisons on a page: config, progress, tables of methods and rows."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import streamlit as st

from deem_core import Alarm, InputError
from deem_core.answers import NOT_KEPT, Answer
from deem_core.comparison import FIRST_CLASS, METHODS, TIES_DRAWN, Comparison, Entry, MethodResult
from deem_core.files.tables import row_names
from deem_core.runs import Run
from deem_core.typing import Codes
from deem_core.votes import NO_VOTE, Votes, majority_vote, wilson
from studio import text
from studio.data.datasets import Opened
from studio.words import say

MOST_ROWS = 300
"""Disputed rows in the table."""

Labels = dict[str, Codes]


def available(opened: Opened) -> dict[str, Entry]:
    """Return the methods that suit a dataset.

    Pools need soft votes, and the ordinal method an order.
    """
    soft = opened.reading.votes.soft is not None
    ordered = opened.reading.votes.ordered
    return {
        name: entry for name, entry in METHODS.items() if (soft or not entry.soft) and (ordered or not entry.ordered)
    }


def config(methods: Sequence[str], *, seeds: int, budget: float, experts: Sequence[Any], device: str) -> dict[str, Any]:
    """Return the config of a compare run."""
    chosen: dict[str, Any] = {"methods": list(methods), "seeds": seeds, "budget": budget, "random_state": 0}
    if experts:
        chosen["expert_classes"] = [_plain(label) for label in experts]
    return chosen | {"device": device}


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


# ---------------------------------------------------------------------- while it runs


def so_far(run: Run) -> pd.DataFrame:
    """Return all methods asked for: state, time and note so far."""
    lines, _ = run.progress()
    asked = run.config.get("methods", "all")
    names = list(METHODS) if asked == "all" else [name for name in asked if name in METHODS]
    rows = {name: {"method": METHODS[name].title, "state": "–", "seconds": "–", "note": ""} for name in names}
    for line in lines:
        with suppress(KeyError, TypeError, ValueError):  # a damaged line
            result = line.get("result")
            if line.get("type") != "method" or line["name"] not in rows:
                continue
            row = rows[line["name"]]
            if result:
                seconds = "–" if result["seconds"] is None else f"{result['seconds']:.2f}"
                state = "done" if result["seeds"] else "could not run"
                row |= {"state": state, "seconds": seconds, "note": str(result["note"])}
            elif row["state"] == "–" and run.is_active():
                row["state"] = "running"
    return pd.DataFrame(list(rows.values()))


# ---------------------------------------------------------------------- when it is done


def comparison(run: Run) -> Comparison | None:
    """Return the result of a comparison; None unless it is done.

    Raises
    ------
    InputError
        If it is damaged.
    """
    content = run.summary()
    try:
        return None if content is None else Comparison.from_dict(content)
    except (KeyError, TypeError, ValueError, OverflowError):
        raise InputError("The results of this comparison are damaged. Compare again.") from None


def labels(run: Run) -> Labels:
    """Return method → class codes of all rows."""
    path = run.result("result.parquet")
    return {} if path is None else _labels(run.id, path)


@st.cache_resource(max_entries=3, show_spinner=False)
def _labels(run_id: str, _path: Any) -> Labels:
    try:
        table = pyarrow.parquet.read_table(_path)
        return {name: table[name].to_numpy().astype(np.int32) for name in table.column_names}
    except (OSError, ValueError, pa.ArrowException):
        raise InputError("The labels of this comparison are damaged. Compare again.") from None


def ranked(comparison: Comparison, run: Run) -> pd.DataFrame:
    """Return a table of methods, the best first.

    Scores where there is truth, else agreement with the others.

    Columns without any number, such as the spread over the seeds of a single run, are left out.
    """
    rows = []
    by_method = {} if comparison.n_truth else labels(run)
    consensus, intervals = agreement_with_consensus(by_method), consensus_intervals(by_method)
    for method in [*comparison.ranked(), *(one for one in comparison.methods if not one.ran)]:
        row: dict[str, Any] = {"method": method.title}
        if comparison.n_truth:
            interval = method.intervals.get("accuracy")
            row |= {
                "accuracy": method.accuracy,
                "95% interval": _interval(interval),
                "balanced": method.balanced_accuracy,
                "macro-F1": method.macro_f1,
                "± seeds": method.std.get("accuracy"),
            }
            if comparison.ordered:
                row |= {"off by": method.mean_absolute_error, "kappa": method.quadratic_kappa}
            if comparison.expert_classes:
                row |= {"expert classes": method.expert_accuracy, "other classes": method.rest_accuracy}
        else:
            row |= {
                "same as most methods": consensus.get(method.name),
                "95% interval": _interval(intervals.get(method.name)),
                "same for every seed": method.stability,
            }
        row |= {"alarms": len(method.alarms) or None}
        row |= {"seconds": method.seconds, "MB": _megabytes(method.memory_bytes), "note": method.note}
        rows.append(row)
        if method.ties_matter:
            row["method"] = f"{method.title}, {TIES_DRAWN}"
            rows.append(
                {
                    "method": f"{method.title}, {FIRST_CLASS}",
                    "accuracy": method.first_class_accuracy,
                    "note": "",
                }
            )
    frame = pd.DataFrame(rows)
    frame = frame.loc[:, (frame.notna() & (frame != "")).any()]
    if "same as most methods" in frame:
        frame = frame.sort_values("same as most methods", ascending=False, na_position="last", kind="stable")
    return frame


def refusals(comparison: Comparison) -> dict[str, list[str]]:
    """Return why methods could not run → their titles."""
    titles: dict[str, list[str]] = {}
    for method in comparison.methods:
        if not method.ran:
            titles.setdefault(method.note, []).append(method.title)
    return titles


def method_note(method: MethodResult) -> None:
    """Show what a method says of itself, such as who answered."""
    if method.note:
        st.caption(text.plain(say(method.note)))


def labels_words(answer: Answer) -> str:
    """Return in words what a method's fused file holds."""
    found = answer.summary()
    words = (
        f"{text.count(found.n_rows, 'row')} in the order of the file; {text.count(found.changed, 'label')} "
        f"{'differs' if found.changed == 1 else 'differ'} from the majority vote."
    )
    return words if answer.probabilities_known else f"{words} {NOT_KEPT} Labels and confidence are included."


def alarms(comparison: Comparison) -> dict[str, list[Alarm]]:
    """Return what raised an alarm → its alarms: the file first, then methods."""
    raised = {"These votes": list(comparison.alarms)} | {one.title: list(one.alarms) for one in comparison.methods}
    return {title: own for title, own in raised.items() if own}


def single_learners(comparison: Comparison) -> str:
    """Return a sentence about single learners, where there is truth."""
    if (
        comparison.best_learner is None
        or comparison.best_learner_accuracy is None
        or comparison.average_learner_accuracy is None
    ):
        return ""
    best, average = text.percent(comparison.best_learner_accuracy), text.percent(comparison.average_learner_accuracy)
    return (
        f"The best single learner, {comparison.best_learner}, is right on {best} of the rows it voted on; the average "
        f"one on {average}."
    )


def consensus(comparison: Comparison, run: Run) -> tuple[list[str], list[float], list[list[float]]]:
    """Return titles, agreement with most methods and its intervals."""
    ran, by_method = [method for method in comparison.methods if method.ran], labels(run)
    share, ends = agreement_with_consensus(by_method), consensus_intervals(by_method)
    return (
        [method.title for method in ran],
        [share.get(method.name, float("nan")) for method in ran],
        [ends.get(method.name, [float("nan")] * 2) for method in ran],
    )


def agreement_with_consensus(by_method: Labels) -> dict[str, float]:
    """Return each method's share of rows in agreement with most methods."""
    if not by_method:
        return {}
    most = majority_vote(np.stack(list(by_method.values()), axis=1)).codes
    voted = most != NO_VOTE
    return {
        name: float((codes[voted] == most[voted]).mean()) if voted.any() else 1.0 for name, codes in by_method.items()
    }


def consensus_intervals(by_method: Labels) -> dict[str, list[float]]:
    """Return for each method the 95% interval of `agreement_with_consensus`."""
    rows = max((int((codes != NO_VOTE).sum()) for codes in by_method.values()), default=0)
    return {name: wilson(share, rows).tolist() for name, share in agreement_with_consensus(by_method).items()}


def class_differences(comparison: Comparison, one: str, other: str) -> dict[str, float]:
    """Return the difference of two methods in every class.

    Of recalls with truth, else of the shares of rows.
    """
    if comparison.n_truth:
        return comparison.recall_differences(one, other)
    mine, theirs = comparison[one].shares or [], comparison[other].shares or []
    return {label: x - y for label, x, y in zip(comparison.classes, mine, theirs, strict=False)}


def disputed(votes: Votes, by_method: Labels, one: str | None, other: str | None) -> tuple[int, pd.DataFrame]:
    """Return the number of disputed rows, and the most disputed ones.

    Parameters
    ----------
    votes : Votes
        As the comparison used them.
    by_method : dict
        Method → codes.
    one, other : str, optional
        Two methods; without them rows on which not all agree.
    """
    table = np.stack(list(by_method.values()), axis=1)
    most = majority_vote(table)
    if one and other:
        rows = np.flatnonzero(by_method[one] != by_method[other])
    else:
        rows = np.flatnonzero((table != table[:, :1]).any(axis=1))
    order = rows[np.argsort(most.support[rows], kind="stable")][:MOST_ROWS]
    names = np.array([*map(str, votes.classes), *map(str, votes.truth_only), ""], object)
    names_shown = [one, other] if one and other else list(by_method)
    columns: dict[str, Any] = {"row": order + 1}
    if votes.has_ids:
        columns["id"] = row_names(votes, order).to_pylist()
    columns["methods agreeing"] = [f"{support} of {len(by_method)}" for support in most.support[order]]
    if votes.truth is not None:
        columns["truth"] = names[votes.truth[order]]
    columns |= {METHODS[name].title: names[by_method[name][order]] for name in names_shown}
    columns |= {f"{learner} (vote)": names[votes.codes[order, at]] for at, learner in enumerate(votes.learners)}
    return len(rows), pd.DataFrame(columns)


def _interval(ends: Sequence[float] | None) -> str:
    return "" if not ends else text.interval(ends[0], ends[1])


def _megabytes(size: int | None) -> float | None:
    return None if size is None else size / 1e6
