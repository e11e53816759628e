"""Outcome of fusing: what commands print and write as JSON."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from deem_core.alarm import with_alarms
from deem_core.answers.answer import Answer
from deem_core.answers.label_sets import SetAnswer
from deem_core.comparison.evaluation import Evaluation, by_dawid_skene, evaluate
from deem_core.engine import place_in_words
from deem_core.estimators.summary import TrainingSummary
from deem_core.files.atomic import write_json
from deem_core.files.plain import to_plain
from deem_core.methods import dawid_skene, pools
from deem_core.text import count, dimensions, interval, percent
from deem_core.typing import Codes
from deem_core.votes import Votes
from deem_core.votes.describe import accuracy

MAJORITY = "majority vote"


def story(summary: TrainingSummary) -> list[str]:
    """Say what training did, in a few readable lines."""
    values = summary.setting_values
    if summary.groups is not None:
        how = f"Fitted the grouped model exactly in {summary.groups.iterations} iterations, {summary.seconds:.1f} s."
        return [how, *summary.findings, *summary.warnings]
    if not summary.restarts:
        how = f"Fitted the iRBM exactly in {values['iterations']} iterations, {summary.seconds:.1f} s."
        return [how, *summary.warnings]
    layers = f"{values['n_layers']} layer{'s' if values['n_layers'] != 1 else ''}"
    choice = "" if summary.sweep is None else f" ({summary.settings['learning_rate'].reason.rstrip('.')})"
    how = (
        f"Trained {len(summary.restarts)} restarts on {place_in_words(summary.device)} in {summary.seconds:.1f} s and "
        f"kept {len(summary.kept_restarts)}: {layers} ({summary.settings['n_layers'].reason}), learning rate "
        f"{values['learning_rate']:g}{choice}, {values['updates']:,} updates.{_draws(values)}"
    )
    guarded = "near_copies" in summary.settings
    silent = ["No near-copies among the learners."] if guarded and not summary.near_copies else []
    return [how, *summary.findings, *silent, *summary.warnings]


def _draws(values: dict[str, Any]) -> str:
    draws = values.get("draws")
    return f" Labels are the mean of {count(draws, 'pass', 'passes')} with sampled layers." if draws else ""


def result_of(summary: TrainingSummary) -> dict[str, Any]:
    """Return what the JSON of a command tells of a training."""
    plain = summary.to_dict()
    names = ["settings", "restarts", "warnings", "near_copies", "device"]
    names += [] if summary.sweep is None else ["sweep"]
    names += [] if summary.groups is None else ["groups"]
    names += [] if summary.answered_by is None else ["answered_by"]
    return {name: plain[name] for name in names}


def tell(
    answer: Answer,
    options: argparse.Namespace,
    sentences: Sequence[str],
    result: dict[str, Any],
    *,
    n_rows: int | None = None,
    counts: tuple[int, int] | None = None,
) -> None:
    """Print the outcome; write it as JSON if asked.

    Parameters
    ----------
    answer : Answer
        For all rows, or for a sample of them.
    options : Namespace
    sentences : sequence of str
        What the method says.
    result : dict
        For the JSON, ``warnings`` among it.
    n_rows : int, optional
        Rows of the file, if the answer is for a sample.
    counts : (int, int), optional
        Labels of all rows that differ from the majority vote, and rows that need review; by default of the answer.
    """
    votes = answer.votes
    n_rows = votes.n_rows if n_rows is None else n_rows
    size = votes.dimensions if votes.separator else dimensions(n_rows, votes.n_learners, votes.n_classes)
    print(f"{Path(options.file).name}: {size}, fused by {options.method}.")
    for sentence in sentences:
        print(sentence)
    for alarm in answer.alarms:
        if alarm.sentence not in sentences and alarm.text not in sentences:
            print(f"Alarm. {alarm.title}: {alarm.text}")
    beside, labelled = _beside(answer), ~answer.silent
    content = {
        "method": options.method,
        "n_rows": n_rows,
        "n_learners": votes.n_learners,
        "n_classes": votes.n_classes,
        **result,
        "warnings": with_alarms(result["warnings"], answer.alarms),
        "alarms": to_plain(answer.alarms),
        "agreement": {name: float((codes == answer.codes)[labelled].mean()) for name, codes in beside.items()},
    }
    if isinstance(answer, SetAnswer):
        content |= {"n_classes": len(answer.label_names), "labels": list(answer.label_names), "n_sets": votes.n_classes}
    if votes.ordered:
        content |= {"ordered": True, **_scale(answer)}
    evaluation = evaluate(answer, beside["dawid skene"])
    if evaluation is None:
        agreements = ", ".join(f"{name} {percent(share)}" for name, share in content["agreement"].items())
        unknown = "" if votes.gold is not None else " Without truth there is no telling which is right."
        print(f"The same label as: {agreements}.{unknown}")
    else:
        content |= _scores(votes, beside, evaluation)
        print(_evaluation_line(options.method, content, beside, evaluation, tied=bool(votes.majority_vote.n_tied)))
        if line := _scale_line(evaluation) or _sets_line(evaluation):
            print(line)
    if options.json:
        write_json(content, options.json)
    if getattr(options, "scorecard", None):
        write_scorecard(answer, options.scorecard)
    below, share = (getattr(options, name, None) for name in ("review_below", "review_share"))  # not of train
    reviewed = answer if share is None else answer.reviewing(share)
    changed, review = counts or (answer.summary().changed, int(reviewed.review_rows(below).sum()))
    print(
        f"{count(changed, 'label')} {'differs' if changed == 1 else 'differ'} from the majority vote; "
        f"{count(review, 'row')} {'needs' if review == 1 else 'need'} review. Written: {options.output}"
    )


def _scale(answer: Answer) -> dict[str, Any]:
    """Return the scale of the labels and the expected score, in numbers."""
    scores = answer.votes.scores
    assert scores is not None  # noqa: S101  # asked by the caller
    summary = answer.summary()
    if summary.mean_score is not None:
        print(f"Mean expected score: {summary.mean_score:.2f} on a scale from {scores[0]:g} to {scores[-1]:g}.")
    return {"scores": scores.tolist(), "mean_expected_score": summary.mean_score}


def _scale_line(evaluation: Evaluation) -> str:
    """Say how far labels on a scale are off."""
    told = [
        f"{method.title} {method.mean_absolute_error:.2f} (kappa {method.quadratic_kappa:.2f})"
        for method in evaluation.methods
        if method.mean_absolute_error is not None and method.quadratic_kappa is not None
    ]
    return f"Mean absolute error, with quadratic weighted kappa: {', '.join(told)}. Evaluation only." if told else ""


def _sets_line(evaluation: Evaluation) -> str:
    """Say how right the labels of sets are one by one."""
    told = [
        f"{method.title} {percent(method.hamming_loss)} wrong, micro-F1 {percent(method.label_micro_f1)}, macro-F1 "
        f"{percent(method.label_macro_f1)}"
        for method in evaluation.methods
        if method.hamming_loss is not None
    ]
    return f"Label by label: {'; '.join(told)}. Evaluation only; the figures above are of whole sets." if told else ""


def add_scorecard(parser: argparse.ArgumentParser, answer: str) -> None:
    """Add the option that writes the scorecard of the learners."""
    parser.add_argument(
        "--scorecard",
        metavar="CSV",
        help=f"also write a row per learner, as {answer} sees it: votes, accuracy with interval, agreement, flags",
    )


def write_scorecard(answer: Answer, path: str) -> None:
    """Write the scorecard of the learners as CSV, and say so."""
    import pyarrow as pa  # noqa: PLC0415  # with what follows, a moment that only this option needs

    from deem_core.answers.export import write  # noqa: PLC0415
    from deem_core.diagnostics import scorecard  # noqa: PLC0415

    card = scorecard(answer)
    write(pa.Table.from_pandas(card.to_frame(), preserve_index=False), path)
    flagged = len({flag.learner for flag in card.flags})
    print(f"Scorecard of {count(len(card.learners), 'learner')}, {flagged:,} of them flagged: {path}")


def _scores(votes: Votes, beside: dict[str, Codes], evaluation: Evaluation) -> dict[str, Any]:
    """Return the accuracies of all methods, and the evaluation in full."""
    assert votes.truth is not None  # noqa: S101  # or there were no evaluation
    rates = {f"{name.replace(' ', '_')}_accuracy": accuracy(codes, votes.truth) for name, codes in beside.items()}
    rates["dawid_skene_accuracy"] = evaluation.dawid_skene_accuracy  # sets of several labels have codes of their own
    rates["majority_vote_accuracy"] = evaluation.majority_vote_accuracy  # a fair draw of ties, not what was fused
    return {
        "accuracy": evaluation.accuracy,
        **rates,
        "majority_vote_first_class_accuracy": evaluation.majority_vote_first_class_accuracy,
        "evaluation": evaluation.to_dict(),
        **_scale_errors(evaluation),
    }


def _scale_errors(evaluation: Evaluation) -> dict[str, Any]:
    """Return the errors on a scale, or label by label, if any."""
    own = evaluation.methods[0]
    if own.hamming_loss is not None:
        return {
            "subset_accuracy": own.accuracy,
            "hamming_loss": own.hamming_loss,
            "label_micro_f1": own.label_micro_f1,
            "label_macro_f1": own.label_macro_f1,
        }
    if own.mean_absolute_error is None:
        return {}
    return {"mean_absolute_error": own.mean_absolute_error, "quadratic_kappa": own.quadratic_kappa}


def _evaluation_line(
    method: str, content: dict[str, Any], beside: dict[str, Codes], evaluation: Evaluation, *, tied: bool
) -> str:
    """Say who is right how often, with the intervals that are known.

    ``tied`` tells whether the majority vote is a draw in some rows.
    """
    intervals = {score.name: score.accuracy_interval for score in evaluation.methods}

    def share(rate: float, ends: tuple[float, float] | None) -> str:
        between = "" if ends is None else f" ({interval(*ends)})"
        return f"{percent(rate)}{between}"

    shown = {name: name for name in beside} | ({MAJORITY: f"{MAJORITY} (ties drawn)"} if tied else {})
    others = ", ".join(
        f"{shown[name]} {share(content[f'{key}_accuracy'], intervals.get(key))}"
        for name, key in ((name, name.replace(" ", "_")) for name in beside)
    )
    own = share(evaluation.accuracy, intervals["fused"])
    return f"Right, with 95% intervals: {method} {own}, {others}. Evaluation only, never used in training."


def _beside(answer: Answer) -> dict[str, Codes]:
    """Return the labels of simpler methods, to see what fusing changed.

    Majority vote, Dawid-Skene, pools.
    """
    votes, rng = answer.votes, np.random.default_rng(0)
    labels = {
        MAJORITY: answer.majority,
        "dawid skene": answer.majority if votes.separator else dawid_skene.aggregate(votes, rng).codes,
    }
    if isinstance(answer, SetAnswer):
        labels["dawid skene"] = by_dawid_skene(answer)[1]
    if votes.soft is not None:
        for pool in (pools.mean_prob, pools.geo_pool, pools.log_pool, pools.cal_pool):
            labels[pool.__name__.replace("_", " ")] = pool(votes, rng).codes
    return labels
