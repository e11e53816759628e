"""train, fuse and apply: from votes to labels."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from deem_core.alarm import with_alarms
from deem_core.answers.answer import Answer
from deem_core.answers.export import write_fused
from deem_core.auto import AUTO, fuse_run
from deem_core.cli.options import (
    add_command,
    add_reading_options,
    add_training_options,
    check_outputs,
    read_file,
    training_settings,
)
from deem_core.cli.terminal import Bar
from deem_core.comparison.evaluation import Evaluation, evaluate
from deem_core.errors import InputError
from deem_core.estimators.summary import TrainingSummary
from deem_core.estimators.verbs import load, train
from deem_core.files import tables
from deem_core.files.atomic import write_json
from deem_core.files.plain import to_plain
from deem_core.methods import dawid_skene, pools
from deem_core.methods.registry import METHODS, TRAINED
from deem_core.model.config import flag_of
from deem_core.readers import Reading
from deem_core.text import count, percent
from deem_core.typing import Codes
from deem_core.votes import Votes
from deem_core.votes.describe import accuracy

if TYPE_CHECKING:  # torch takes a second to import: only those who train wait for it
    from deem_core.estimators.base import Fuser


MAJORITY = "majority vote"


def add(commands: Any) -> None:
    """Add the commands."""
    fuse = add_command(
        commands,
        "fuse",
        _fuse,
        "Fuse the votes in a file into one label per row.",
        "Asks the votes who should answer, without any truth, and writes the file again with the fused label, its\n"
        "confidence and more beside it.\n\n"
        "examples:\n"
        "  python -m deem_core fuse sample_data/experts_wide.csv -o fused.csv\n"
        "  python -m deem_core fuse answers.csv --truth-file gold.csv --method ds -o fused.parquet --json result.json",
    )
    add_reading_options(fuse)
    fuse.add_argument("-o", "--output", metavar="FUSED", required=True, help="CSV, TSV, .csv.gz or Parquet by suffix")
    fuse.add_argument(
        "--method",
        choices=list(METHODS),
        metavar="NAME",
        default=AUTO,
        help=f"how to fuse (default: {AUTO}, which asks the votes who should answer); one of {', '.join(METHODS)}",
    )
    _add_export_options(fuse)
    add_training_options(fuse)
    _add_json(fuse)
    train = add_command(
        commands,
        "train",
        _train,
        "Train a model on the votes in a file and save it.",
        "The model can label other files with the same learners: see apply.\n\n"
        "examples:\n"
        "  python -m deem_core train sample_data/experts_wide.csv -o model.safetensors --seed 0",
    )
    add_reading_options(train)
    train.add_argument("-o", "--output", metavar="MODEL", required=True, help="where to save the model (.safetensors)")
    train.add_argument("--method", choices=list(TRAINED), default="deem", help="which model (default: deem)")
    add_training_options(train)
    _add_json(train)
    apply = add_command(
        commands,
        "apply",
        _apply,
        "Label a file with a model that was trained before.",
        "Learners are matched by name; those that are missing count as not having voted.\n\n"
        "examples:\n"
        "  python -m deem_core apply model.safetensors new.csv -o fused.csv",
    )
    apply.add_argument("model", metavar="MODEL", help="a file that train has written")
    add_reading_options(apply)
    apply.add_argument("-o", "--output", metavar="FUSED", required=True, help="CSV, TSV, .csv.gz or Parquet by suffix")
    _add_export_options(apply)
    apply.add_argument("--json", metavar="OUT", help="also write the result as JSON")


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", metavar="OUT", help="also write settings, restarts, warnings and result as JSON")


def _add_export_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how the fused file is written."""
    parser.add_argument("--unsafe", action="store_true", help="leave cells that a spreadsheet would run as they are")
    parser.add_argument(
        "--review-below",
        metavar="X",
        type=_share,
        help="rows with a confidence below X need review, instead of the tenth that their votes back least",
    )
    parser.add_argument("--blank", action="store_true", help="leave labels below --review-below empty")


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = float("nan")
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number between 0 and 1")
    return share


# ---------------------------------------------------------------------- commands


def _fuse(options: argparse.Namespace) -> None:
    _check_export(options)
    check_outputs([options.output, options.json], inputs=[options.file, options.truth_file])
    reading = read_file(options)
    start = time.perf_counter()
    if options.method in TRAINED:
        model = _fitted(options, reading.votes)
        answer = model.fuse(reading.votes)
        sentences, result = _story(model.summary_), _result(model.summary_)
    else:
        settings = training_settings(options)
        seed = settings.pop("random_state")
        if settings:
            raise InputError(_not_of(options.method, next(iter(settings))))
        with Bar() as bar:
            made = fuse_run(reading.votes, options.method, seed, control=bar)
        answer, sentences = made.answer, list(made.answer.notes)
        result = {**_result(made.summary), "warnings": sentences}
    seconds = time.perf_counter() - start
    _write(reading, answer, options)
    _report(answer, options, sentences, {**result, "seconds": seconds})


def _not_of(method: str, setting: str) -> str:
    """Say that a method which trains nothing has no such setting."""
    doer = "auto trains nothing" if method == AUTO else f"the method {method} has no settings"
    return f"{flag_of(setting)} is a setting of training, and {doer}. Use --method deem, or leave it out."


def _train(options: argparse.Namespace) -> None:
    check_outputs([options.output, options.json], inputs=[options.file, options.truth_file])
    reading = read_file(options)
    model = _fitted(options, reading.votes)
    model.save(options.output)
    summary = model.summary_
    _report(model.fuse(reading.votes), options, _story(summary), {**_result(summary), "seconds": summary.seconds})


def _apply(options: argparse.Namespace) -> None:
    _check_export(options)
    check_outputs([options.output, options.json], inputs=[options.model, options.file, options.truth_file])
    model = load(options.model)
    reading = read_file(options, [str(label) for label in model.classes_.tolist()])
    recoded = model.transform(reading.votes)
    answer, differences = model.fuse(recoded), recoded.sentences()
    _write(reading, answer, options)
    sentences = [f"The model was trained on {model.n_rows_:,} rows.", *differences]
    options.method = "apply"
    _report(answer, options, sentences, {"warnings": differences, "settings": {}, "restarts": []})


def _fitted(options: argparse.Namespace, votes: Votes) -> Fuser:
    with Bar() as bar:
        return train(votes, options.method, control=bar, **training_settings(options))


# ---------------------------------------------------------------------- words and files


def _check_export(options: argparse.Namespace) -> None:
    """Refuse a fused file that cannot be written, before any work."""
    tables.check_name(options.output)
    if options.blank and options.review_below is None:
        raise InputError("--blank leaves doubtful labels empty: say below which confidence with --review-below.")


def _write(reading: Reading, answer: Answer, options: argparse.Namespace) -> None:
    write_fused(
        reading,
        answer,
        options.output,
        spreadsheet_safe=not options.unsafe,
        review_below=options.review_below,
        blank=options.blank,
    )


def _story(summary: TrainingSummary) -> list[str]:
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
        f"Trained {len(summary.restarts)} restarts on {summary.device} in {summary.seconds:.1f} s and kept "
        f"{len(summary.kept_restarts)}: {layers} ({summary.settings['n_layers'].reason}), learning rate "
        f"{values['learning_rate']:g}{choice}, {values['updates']:,} updates."
    )
    silent = [] if summary.near_copies else ["No near-copies among the learners."]
    return [how, *summary.findings, *silent, *summary.warnings]


def _result(summary: TrainingSummary) -> dict[str, Any]:
    """Return what the JSON of a command tells of a training."""
    plain = summary.to_dict()
    names = ["settings", "restarts", "warnings", "near_copies", "device"]
    names += [] if summary.sweep is None else ["sweep"]
    names += [] if summary.groups is None else ["groups"]
    names += [] if summary.answered_by is None else ["answered_by"]
    return {name: plain[name] for name in names}


def _report(answer: Answer, options: argparse.Namespace, sentences: Sequence[str], result: dict[str, Any]) -> None:
    votes, summary = answer.votes, answer.summary()
    print(f"{Path(options.file).name}: {votes.dimensions}, fused by {options.method}.")
    for sentence in sentences:
        print(sentence)
    for alarm in answer.alarms:
        if alarm.sentence not in sentences:
            print(f"Alarm. {alarm.title}: {alarm.text}")
    beside, labelled = _beside(answer), ~answer.silent
    content = {
        "method": options.method,
        "n_rows": votes.n_rows,
        "n_learners": votes.n_learners,
        "n_classes": votes.n_classes,
        **result,
        "warnings": with_alarms(result["warnings"], answer.alarms),
        "alarms": to_plain(answer.alarms),
        "agreement": {name: float((codes == answer.codes)[labelled].mean()) for name, codes in beside.items()},
    }
    evaluation = evaluate(answer, beside["dawid skene"])
    if evaluation is None:
        agreements = ", ".join(f"{name} {percent(share)}" for name, share in content["agreement"].items())
        print(f"The same label as: {agreements}. Without truth nobody can say who is right.")
    else:
        content |= _scores(votes, beside, evaluation)
        print(_evaluation_line(options.method, content, beside, evaluation, tied=bool(votes.majority_vote.n_tied)))
    if options.json:
        write_json(content, options.json)
    review = int(answer.review_rows(getattr(options, "review_below", None)).sum())  # train writes no fused file
    print(
        f"{count(summary.changed, 'label')} {'differs' if summary.changed == 1 else 'differ'} from the majority vote; "
        f"{count(review, 'row')} {'is' if review == 1 else 'are'} worth a look. "
        f"Written: {options.output}"
    )


def _scores(votes: Votes, beside: dict[str, Codes], evaluation: Evaluation) -> dict[str, Any]:
    """Return the accuracies of all methods, and the evaluation in full."""
    assert votes.truth is not None  # noqa: S101  # or there were no evaluation
    rates = {f"{name.replace(' ', '_')}_accuracy": accuracy(codes, votes.truth) for name, codes in beside.items()}
    rates["majority_vote_accuracy"] = evaluation.majority_vote_accuracy  # a fair draw of ties, not what was fused
    return {
        "accuracy": evaluation.accuracy,
        **rates,
        "majority_vote_first_class_accuracy": evaluation.majority_vote_first_class_accuracy,
        "evaluation": evaluation.to_dict(),
    }


def _evaluation_line(
    method: str, content: dict[str, Any], beside: dict[str, Codes], evaluation: Evaluation, *, tied: bool
) -> str:
    """Say who is right how often, with the intervals that are known.

    ``tied`` tells whether the majority vote is a draw in some rows.
    """
    intervals = {score.name: score.accuracy_interval for score in evaluation.methods}

    def share(rate: float, interval: tuple[float, float] | None) -> str:
        between = "" if interval is None else f" ({100 * interval[0]:.1f} to {100 * interval[1]:.1f})"
        return f"{percent(rate)}{between}"

    shown = {name: name for name in beside} | ({MAJORITY: f"{MAJORITY} (ties drawn)"} if tied else {})
    others = ", ".join(
        f"{shown[name]} {share(content[f'{key}_accuracy'], intervals.get(key))}"
        for name, key in ((name, name.replace(" ", "_")) for name in beside)
    )
    own = share(evaluation.accuracy, intervals["fused"])
    return f"Right, with 95 % intervals: {method} {own}, {others}. Evaluation only, never used in training."


def _beside(answer: Answer) -> dict[str, Codes]:
    """Return the labels of simpler methods, to see what fusing changed.

    Majority vote, Dawid-Skene, pools.
    """
    votes, rng = answer.votes, np.random.default_rng(0)
    labels = {
        MAJORITY: answer.majority,
        "dawid skene": dawid_skene.aggregate(votes, rng).codes,
    }
    if votes.soft is not None:
        for pool in (pools.mean_prob, pools.geo_pool, pools.log_pool):
            labels[pool.__name__.replace("_", " ")] = pool(votes, rng).codes
    return labels
