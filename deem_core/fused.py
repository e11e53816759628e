"""Fused: what a posterior means for every row, as a compact table and as a summary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from deem_core.describe import accuracy
from deem_core.diagnostics import confidence as sure
from deem_core.export import MAX_PROBABILITIES
from deem_core.votes import NO_VOTE, Votes

if TYPE_CHECKING:  # imports torch
    from deem_core.estimator import DEEM

Posterior = NDArray[np.floating[Any]]

EVALUATED = {"fused": "Fused labels", "dawid_skene": "Dawid-Skene", "majority_vote": "Majority vote"}
"""What is evaluated where there is truth, and what people call it."""


def code_table(votes: Votes, posterior: Posterior, support: Posterior | None = None) -> pa.Table:
    """Return one row for each row of votes, in class codes; `deem_core.export` spells them out.

    Columns: ``fused`` and ``majority`` (int32, -1 for no label), ``confidence``, ``agreement`` and ``entropy``
    (float32, null without votes), ``needs_review`` (bool), and ``p_0`` … (float64, so that the most probable class
    stays the same) for up to `MAX_PROBABILITIES` classes. ``restarts_agreeing`` (float32), the share of restarts that
    give the label, where ``support`` tells it.
    """
    codes = sure.fused_codes(votes, posterior)
    silent = votes.votes_per_row == 0
    columns = {
        "fused": pa.array(codes, pa.int32()),
        "confidence": _floats(sure.confidence(posterior), silent),
        "majority": pa.array(votes.majority_vote.codes, pa.int32()),
        "agreement": _floats(sure.agreement(votes, codes), silent),
        "entropy": _floats(sure.entropy(posterior), silent),
        "needs_review": pa.array(sure.needs_review(votes, posterior)),
    }
    if support is not None:
        columns["restarts_agreeing"] = _floats(support, silent)
    if votes.n_classes <= MAX_PROBABILITIES:
        exact = np.asarray(posterior, np.float64)
        columns |= {f"p_{k}": pa.array(exact[:, k], mask=silent) for k in range(votes.n_classes)}
    return pa.table(columns)


def summarise(votes: Votes, posterior: Posterior) -> dict[str, Any]:
    """Return what fusing made of the votes, without their truth.

    Returns
    -------
    dict
        n_rows, n_learners, n_classes; class_shares and majority_shares (K,) over the rows with votes; changed and
        overruled, the rows that differ from the majority vote and from a unanimous one; mean_confidence, and
        agreement with the majority vote as a share.
    """
    fused, majority = sure.fused_codes(votes, posterior), votes.majority_vote.codes
    voted = fused != NO_VOTE
    differs = voted & (fused != majority)
    some = bool(voted.any())
    return {
        "n_rows": votes.n_rows,
        "n_learners": votes.n_learners,
        "n_classes": votes.n_classes,
        "class_shares": _shares(fused[voted], votes.n_classes),
        "majority_shares": _shares(majority[voted], votes.n_classes),
        "changed": int(differs.sum()),
        "overruled": int((differs & votes.unanimous).sum()),
        "mean_confidence": float(sure.confidence(posterior[voted]).mean()) if some else None,
        "agreement": float((fused == majority)[voted].mean()) if some else None,
    }


def evaluate(votes: Votes, posterior: Posterior) -> dict[str, Any] | None:
    """Return how right the labels, Dawid-Skene and the majority vote are; None without truth.

    For evaluation only: call it when training is over.

    Returns
    -------
    dict
        accuracy, majority_vote_accuracy, dawid_skene_accuracy; rows with known truth; methods, with accuracy, macro-F1
        and their 95 % bootstrap intervals over rows; gains, the accuracy of the labels minus that of the other two
        with its interval.
    """
    from deem_core.baselines import dawid_skene  # noqa: PLC0415  # only those with truth need these
    from deem_core.comparing.metrics import paired_difference, scores  # noqa: PLC0415

    if votes.truth is None or not (votes.truth != NO_VOTE).any():
        return None
    rng = np.random.default_rng(0)
    rival = dawid_skene.aggregate(votes.without_truth(), rng)
    labels = {
        "fused": sure.fused_codes(votes, posterior),
        "dawid_skene": sure.fused_codes(votes, rival.posterior),
        "majority_vote": votes.majority_vote.codes,
    }
    n_labels = votes.n_classes + len(votes.truth_only)
    methods = []
    for name, codes in labels.items():
        found = scores(codes[None], votes.truth, n_labels, rng)
        methods.append(
            {
                "name": name,
                "title": EVALUATED[name],
                **{metric: found.means[metric] for metric in ("accuracy", "macro_f1")},
                **{f"{metric}_interval": list(found.intervals[metric]) for metric in ("accuracy", "macro_f1")},
            }
        )
    gains = {
        name: list(paired_difference(labels["fused"][None], codes[None], votes.truth, rng))
        for name, codes in labels.items()
        if name != "fused"
    }
    return {
        "accuracy": accuracy(labels["fused"], votes.truth),
        "majority_vote_accuracy": accuracy(labels["majority_vote"], votes.truth),
        "dawid_skene_accuracy": accuracy(labels["dawid_skene"], votes.truth),
        "rows": int((votes.truth != NO_VOTE).sum()),
        "methods": methods,
        "gains": gains,
    }


def story_of(summary: Mapping[str, Any], method: str = "DEEM") -> str:
    """Return in plain words what fusing changed, and what is known about its worth.

    Parameters
    ----------
    summary : mapping
        As a run writes it: that of `summarise`, with ``evaluation`` of `evaluate` where there is truth.
    method : str
        What people call the method.
    """
    changed, n_rows = summary["changed"], summary["n_rows"]
    if summary.get("fallback"):
        begun = "Too few restarts survived, so the labels are those of the majority vote."
    elif changed:
        begun = f"{method} changed {changed:,} of {n_rows:,} labels against the majority vote."
    else:
        begun = f"{method} changed no label: the majority vote says the same on all {n_rows:,} rows."
    evaluation = summary.get("evaluation")
    if evaluation is None:
        return f"{begun} Without true labels nobody can know whether that is a gain."
    gain, low, high = evaluation["gains"]["majority_vote"]
    known = f"on the {evaluation['rows']:,} rows with known truth"
    interval = f"{100 * gain:+.1f} points, 95 % interval {100 * low:+.1f} to {100 * high:+.1f}"
    if low > 0:
        worth = f"That is a gain {known}: {interval}."
    elif high < 0:
        worth = f"That is a loss {known}: {interval}. Here the majority vote is the better answer."
    else:
        worth = f"That brings no clear gain {known}: {interval}."
    beside, below, above = evaluation["gains"]["dawid_skene"]
    if below > 0:
        rival = "Dawid-Skene is beaten as well."
    elif above < 0:
        rival = f"Dawid-Skene is better here, by {-100 * beside:.1f} points."
    else:
        rival = "Dawid-Skene does as well."
    return f"{begun} {worth} {rival}"


def in_terms_of(model: DEEM, votes: Votes) -> tuple[Votes, list[str]]:
    """Return new votes in the learners and classes of a trained model, and what was not as in training."""
    from deem_core.coding import code_truth  # noqa: PLC0415

    recoded = model.transform(votes)
    truth: NDArray[np.int32] | None = None
    only: NDArray[Any] = np.empty(0, object)
    if votes.truth is not None:
        labels = np.array([*votes.classes.tolist(), *votes.truth_only.tolist(), None], object)
        truth, only = code_truth(labels[votes.truth], model.classes_)
    made = Votes(recoded.codes, model.classes_, model.learners_, votes.ids, truth, truth_only=only)
    return made, recoded.sentences()


def _floats(values: Posterior, silent: NDArray[np.bool_]) -> pa.Array:
    return pa.array(np.asarray(values, np.float32), mask=silent)


def _shares(codes: NDArray[np.int32], n_classes: int) -> list[float]:
    counts = np.bincount(codes, minlength=n_classes)
    return [float(count) / max(len(codes), 1) for count in counts]
