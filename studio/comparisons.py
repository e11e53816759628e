"""Comparisons on a page: settings, what is known so far, and tables of methods and disputed rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet
import streamlit as st
from numpy.typing import NDArray

from deem_core.comparing.registry import METHODS, Entry
from deem_core.comparing.result import Comparison
from deem_core.diagnostics.intervals import wilson
from deem_core.majority import majority_vote
from deem_core.runs import Run
from deem_core.votes import NO_VOTE
from studio import text
from studio.datasets import Opened

MOST_ROWS = 300
"""Disputed rows in the table."""

Labels = dict[str, NDArray[np.int32]]


def available(opened: Opened) -> dict[str, Entry]:
    """Return the methods that make sense for a dataset: pools need soft votes."""
    soft = opened.reading.votes.soft is not None
    return {name: entry for name, entry in METHODS.items() if soft or not entry.soft}


def config(opened: Opened, methods: Sequence[str], seeds: int, budget: float, experts: Sequence[Any]) -> dict[str, Any]:
    """Return the config of a compare run."""
    chosen: dict[str, Any] = {"methods": list(methods), "seeds": seeds, "budget": budget, "random_state": 0}
    if experts:
        chosen["expert_classes"] = [_plain(label) for label in experts]
    return chosen


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


# ---------------------------------------------------------------------- while it runs


def so_far(run: Run) -> pd.DataFrame:
    """Return the methods that are done, with their time and what they say of themselves."""
    lines, _ = run.progress()
    rows = {}
    for line in lines:
        result = line.get("result")
        if line.get("type") == "method" and result:
            rows[line["name"]] = {
                "method": line["title"],
                "seconds": result["seconds"],
                "state": "done" if result["seeds"] else "could not run",
                "note": result["note"],
            }
    return pd.DataFrame(list(rows.values()))


# ---------------------------------------------------------------------- when it is done


def comparison(run: Run) -> Comparison | None:
    """Return the result of a comparison; None unless it is done."""
    content = run.summary()
    return None if content is None else Comparison.from_dict(content)


def conclusion(run: Run) -> str:
    """Return the sentence of conclusion."""
    return str((run.summary() or {}).get("conclusion", ""))


def labels(run: Run) -> Labels:
    """Return method → class codes of all rows."""
    path = run.result("result.parquet")
    return {} if path is None else _labels(run.id, path)


@st.cache_resource(max_entries=3, show_spinner=False)
def _labels(run_id: str, _path: Any) -> Labels:
    table = pyarrow.parquet.read_table(_path)
    return {name: table[name].to_numpy().astype(np.int32) for name in table.column_names}


def ranked(found: Comparison, run: Run) -> pd.DataFrame:
    """Return a row for each method, the best first: scores where there is truth, else agreement with the others.

    Columns without any number, such as the spread over the seeds of a single run, are left out.
    """
    rows = []
    known = {} if found.n_truth else labels(run)
    consensus, intervals = agreement_with_consensus(known), consensus_intervals(known)
    for method in [*found.ranked(), *(one for one in found.methods if not one.ran)]:
        row: dict[str, Any] = {"method": method.title}
        if found.n_truth:
            interval = method.intervals.get("accuracy")
            row |= {
                "accuracy": method.accuracy,
                "95 % interval": _interval(interval),
                "balanced": method.balanced_accuracy,
                "macro-F1": method.macro_f1,
                "± seeds": method.std.get("accuracy"),
            }
            if found.expert_classes:
                row |= {"expert classes": method.expert_accuracy, "other classes": method.rest_accuracy}
        else:
            row |= {
                "same as most methods": consensus.get(method.name),
                "95 % interval": _interval(intervals.get(method.name)),
                "same for every seed": method.stability,
            }
        row |= {"seconds": method.seconds, "MB": _megabytes(method.memory_bytes), "note": method.note}
        rows.append(row)
    frame = pd.DataFrame(rows)
    frame = frame.loc[:, (frame.notna() & (frame != "")).any()]
    if "same as most methods" in frame:
        frame = frame.sort_values("same as most methods", ascending=False, na_position="last", kind="stable")
    return frame


def refusals(found: Comparison) -> dict[str, list[str]]:
    """Return why methods could not run → their titles."""
    said: dict[str, list[str]] = {}
    for method in found.methods:
        if not method.ran:
            said.setdefault(method.note, []).append(method.title)
    return said


def single_learners(found: Comparison) -> str:
    """Return a sentence about single learners, where there is truth."""
    if found.best_learner is None or found.best_learner_accuracy is None or found.average_learner_accuracy is None:
        return ""
    return (
        f"The best single learner, {found.best_learner}, is right on {text.percent(found.best_learner_accuracy)} of "
        f"the rows it voted on; the average one on {text.percent(found.average_learner_accuracy)}."
    )


def dots(found: Comparison, run: Run) -> tuple[list[str], list[float], list[float], list[float]]:
    """Return names, values and interval ends for the picture: accuracy, or agreement with most methods."""
    ran = [method for method in found.methods if method.ran]
    if found.n_truth:
        bounds = [method.intervals.get("accuracy", [np.nan, np.nan]) for method in ran]
        values = [float("nan") if method.accuracy is None else method.accuracy for method in ran]
        return [method.title for method in ran], values, [low for low, _ in bounds], [high for _, high in bounds]
    known = labels(run)
    share = agreement_with_consensus(known)
    ends = consensus_intervals(known)
    values = [share.get(method.name, float("nan")) for method in ran]
    bounds = [ends.get(method.name, [np.nan, np.nan]) for method in ran]
    return [method.title for method in ran], values, [low for low, _ in bounds], [high for _, high in bounds]


def agreement_with_consensus(found: Labels) -> dict[str, float]:
    """Return for each method the share of rows on which it says what most methods say."""
    if not found:
        return {}
    most = majority_vote(np.stack(list(found.values()), axis=1)).codes
    voted = most != NO_VOTE
    return {name: float((codes[voted] == most[voted]).mean()) if voted.any() else 1.0 for name, codes in found.items()}


def consensus_intervals(found: Labels) -> dict[str, list[float]]:
    """Return for each method the 95 % interval of `agreement_with_consensus`."""
    rows = max((int((codes != NO_VOTE).sum()) for codes in found.values()), default=0)
    return {name: wilson(share, rows).tolist() for name, share in agreement_with_consensus(found).items()}


def matrix(found: Comparison) -> tuple[NDArray[np.float64], list[str]]:
    """Return the agreement between methods and their titles."""
    return np.array(found.agreement.matrix), [found[name].title for name in found.agreement.names]


def class_differences(found: Comparison, one: str, other: str) -> dict[str, float]:
    """Return class → recall of one method minus that of another, or share of rows where there is no truth."""
    if found.n_truth:
        return found.recall_differences(one, other)
    mine, theirs = found[one].shares or [], found[other].shares or []
    return {label: x - y for label, x, y in zip(found.classes, mine, theirs, strict=False)}


def disputed(opened: Opened, found: Labels, one: str | None, other: str | None) -> tuple[int, pd.DataFrame]:
    """Return how many rows two methods (or any) label differently, and the most disputed with truth and all votes.

    Parameters
    ----------
    opened : Opened
    found : dict
        Method → codes.
    one, other : str, optional
        Two methods; without them rows on which not all agree.
    """
    votes = opened.reading.votes
    table = np.stack(list(found.values()), axis=1)
    most = majority_vote(table)
    if one and other:
        rows = np.flatnonzero(found[one] != found[other])
    else:
        rows = np.flatnonzero((table != table[:, :1]).any(axis=1))
    order = rows[np.argsort(most.support[rows], kind="stable")][:MOST_ROWS]
    names = np.array([*map(str, votes.classes), *map(str, votes.truth_only), ""], object)
    shown = [one, other] if one and other else list(found)
    columns: dict[str, Any] = {"row": order + 1, "id": [str(votes.ids[row]) for row in order]}
    columns["methods agreeing"] = [f"{support} of {len(found)}" for support in most.support[order]]
    if votes.truth is not None:
        columns["truth"] = names[votes.truth[order]]
    columns |= {METHODS[name].title: names[found[name][order]] for name in shown}
    columns |= {f"{learner} (vote)": names[votes.codes[order, at]] for at, learner in enumerate(votes.learners)}
    return len(rows), pd.DataFrame(columns)


def _interval(ends: Sequence[float] | None) -> str:
    return "" if not ends else f"{text.percent(ends[0])} to {text.percent(ends[1])}"


def _megabytes(size: int | None) -> float | None:
    return None if size is None else size / 1e6
