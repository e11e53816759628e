"""train, fuse and apply: from votes to labels."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from deem_core.answers.alarms import spelling_alarms
from deem_core.answers.answer import Answer
from deem_core.answers.writers import FORMATS, Names, check_output, format_name, write_answer
from deem_core.auto import AUTO, fuse_run
from deem_core.auto.judgement import judged
from deem_core.auto.verbs import further, left_here
from deem_core.cli import outcome, parts
from deem_core.cli.options import (
    add_command,
    add_engine_option,
    add_reading_options,
    add_stream_options,
    add_training_options,
    check_outputs,
    inputs_of,
    read_file,
    refuse_settings,
    training_settings,
)
from deem_core.cli.terminal import Bar
from deem_core.engine import stays_here
from deem_core.errors import InputError
from deem_core.estimators.verbs import load, train
from deem_core.large.exact import EXACT
from deem_core.methods.probabilities import reduction_note
from deem_core.methods.registry import METHODS, TRAINED
from deem_core.readers import Reading
from deem_core.votes import Votes

if TYPE_CHECKING:  # torch takes a second to import: only those who train wait for it
    from deem_core.estimators.base import Fuser


_FILES = [name for name, form in FORMATS.items() if form.endings]
_ENDINGS = "by suffix .csv, .tsv, .jsonl, any of them with .gz, .parquet, or .json for Label Studio; see --format"


def add(commands: Any) -> None:
    """Add the commands."""
    fuse = add_command(
        commands,
        "fuse",
        _fuse,
        "Fuse the votes in a file into one label per row.",
        "Lets the votes choose the method, without any truth, and writes the file again with the fused label, its\n"
        "confidence and more beside it.\n\n"
        "examples:\n"
        "  python -m deem_core fuse sample_data/experts_wide.csv -o fused.csv\n"
        "  python -m deem_core fuse answers.csv --truth-file truth.csv --method ds -o fused.parquet --json out.json\n"
        "  python -m deem_core fuse panel.csv --gold-file queue.csv -o fused.csv",
    )
    add_reading_options(fuse)
    add_stream_options(fuse)
    fuse.add_argument("-o", "--output", metavar="FUSED", required=True, help=_ENDINGS)
    fuse.add_argument(
        "--method",
        choices=list(METHODS),
        metavar="NAME",
        default=AUTO,
        help=f"how to fuse (default: {AUTO}, which lets the votes choose the method); one of {', '.join(METHODS)}",
    )
    fuse.add_argument(
        "--consider",
        metavar="NAME",
        action="append",
        default=[],
        choices=[name for name in METHODS if name != AUTO],
        help="a further method, such as deem, between which auto lets gold rows choose (repeatable)",
    )
    fuse.add_argument(
        "--exact",
        action="store_true",
        help=f"of a file read in parts: fit {', '.join(EXACT[:-1])} or {EXACT[-1]} on all rows, however many different "
        "ones there are, with a pass over them in every round (default: on the sample, where they are too many)",
    )
    _add_export_options(fuse)
    outcome.add_scorecard(fuse, "the answer")
    add_training_options(fuse)
    add_engine_option(fuse)
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
    add_stream_options(train)
    train.add_argument("-o", "--output", metavar="MODEL", required=True, help="where to save the model (.safetensors)")
    train.add_argument("--method", choices=list(TRAINED), default="deem", help="which model (default: deem)")
    add_training_options(train)
    add_engine_option(train)
    _add_json(train)
    apply = add_command(
        commands,
        "apply",
        _apply,
        "Label a file with a trained model.",
        "Learners are matched by name; those that are missing count as not having voted.\n\n"
        "examples:\n"
        "  python -m deem_core apply model.safetensors new.csv -o fused.csv",
    )
    apply.add_argument("model", metavar="MODEL", help="a model file written by train")
    add_reading_options(apply)
    add_stream_options(apply)
    apply.add_argument("-o", "--output", metavar="FUSED", required=True, help=_ENDINGS)
    add_engine_option(apply)
    _add_export_options(apply)
    apply.add_argument(
        "--draws",
        metavar="N",
        type=int,
        help="average the answer over this many passes with sampled layer outputs (default: as the model was trained)",
    )
    apply.add_argument("--json", metavar="OUT", help="also write the result as JSON")


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", metavar="OUT", help="also write settings, restarts, warnings and result as JSON")


def _add_export_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how the fused file is written."""
    parser.add_argument(
        "--unsafe", action="store_true", help=("do not protect cells that a spreadsheet would run as formulas")
    )
    parser.add_argument(
        "--review-below",
        metavar="X",
        type=_share,
        help="rows with a confidence below X need review, instead of the tenth with the least support from votes",
    )
    parser.add_argument(
        "--review-share",
        metavar="X",
        type=_share,
        help="this share of the rows, those with the least support from votes, needs review (default: 0.1)",
    )
    parser.add_argument("--blank", action="store_true", help="leave the label empty in rows chosen by either of these")
    group = parser.add_argument_group("format", "see docs/formats.md")
    group.add_argument(
        "--format",
        choices=list(FORMATS),
        metavar="NAME",
        help=f"how to write (default: what the suffix says); one of {', '.join(FORMATS)}, which makes a folder",
    )
    group.add_argument(
        "--from-name", metavar="NAME", help=f"Label Studio: name of the Choices (default: {Names.from_name})"
    )
    group.add_argument(
        "--to-name", metavar="NAME", help=f"Label Studio: name of what they are about (default: {Names.to_name})"
    )
    group.add_argument(
        "--model-version", metavar="TEXT", help="Label Studio: source of the predictions (default: version and method)"
    )


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
    check_export(options)
    check_outputs([_file(options), options.json, options.scorecard], inputs=inputs_of(options))
    if parts.fuse(options):
        return
    reading = read_file(options)
    start = time.perf_counter()
    if options.method in TRAINED:
        model = _fitted(options, reading.votes)
        answer = judged(model.fuse(reading.votes), options.method)
        sentences, result = outcome.story(model.summary_), outcome.result_of(model.summary_)
        sentences = [*_gold_sentences(answer), *sentences]
    else:
        settings = training_settings(options)
        seed = settings.pop("random_state")
        refuse_settings(options.method, settings)
        with Bar() as bar:
            also = further(reading.votes, options.method, options.consider, seed, bar, on=options.on)
            made = fuse_run(reading.votes, options.method, seed, also=also, control=bar)
        stays = left_here(options.method, options.consider, options.on)
        answer, sentences = made.answer, [*made.answer.notes, *filter(None, [stays])]
        result = {**outcome.result_of(made.summary), "warnings": sentences}
    seconds = time.perf_counter() - start
    _write(reading, answer, options)
    sentences = _with_note(options, reading.votes, sentences)
    outcome.tell(answer, options, sentences, {**result, "seconds": seconds, **_gold_result(answer)})


def _train(options: argparse.Namespace) -> None:
    check_outputs([options.output, options.json], inputs=inputs_of(options))
    if parts.train(options):
        return
    reading = read_file(options)
    model = _fitted(options, reading.votes)
    model.save(options.output)
    summary, answer = model.summary_, judged(model.fuse(reading.votes), options.method)
    outcome.tell(
        answer,
        options,
        _with_note(options, reading.votes, [*_gold_sentences(answer), *outcome.story(summary)]),
        {**outcome.result_of(summary), "seconds": summary.seconds, **_gold_result(answer)},
    )


def _apply(options: argparse.Namespace) -> None:
    check_export(options)
    check_outputs([_file(options), options.json], inputs=[options.model, *inputs_of(options)])
    model = load(options.model)
    if options.draws is not None:
        model.set_draws(options.draws)
    if parts.apply(options, model):
        return
    reading = read_file(options, model)
    recoded = model.recoded(reading.votes)
    answer, differences = model.fuse(recoded), recoded.sentences()
    _write(reading, answer, options)
    stays = stays_here("a file that is read whole", options.on)
    sentences = [f"The model was trained on {model.n_rows_:,} rows.", *differences, *filter(None, [stays])]
    options.method = "apply"
    outcome.tell(answer, options, sentences, {"warnings": differences, "settings": {}, "restarts": []})


def _gold_sentences(answer: Answer) -> tuple[str, ...]:
    return () if answer.gold is None else answer.gold.sentences


def _gold_result(answer: Answer) -> dict[str, Any]:
    return {} if answer.gold is None else {"gold": answer.gold.to_dict()}


def _fitted(options: argparse.Namespace, votes: Votes) -> Fuser:
    with Bar() as bar:
        return train(votes, options.method, control=bar, on=options.on, **training_settings(options))


# ---------------------------------------------------------------------- words and files


def _with_note(options: argparse.Namespace, votes: Votes, sentences: Sequence[str]) -> list[str]:
    """Return what is said, after what holds for the votes."""
    note = reduction_note(votes, options.method)
    return [*(alarm.text for alarm in spelling_alarms(votes)), *([note] if note else []), *sentences]


def _file(options: argparse.Namespace) -> str | None:
    """Return the file to write; None for a folder."""
    return None if format_name(options.output, options.format) not in _FILES else options.output


def check_export(options: argparse.Namespace) -> None:
    """Refuse a fused file that cannot be written, before any work."""
    chosen = check_output(options.output, options.format)
    given = [flag for flag in ("from_name", "to_name", "model_version") if getattr(options, flag) is not None]
    if given and chosen != "label-studio":
        raise InputError(f"--{given[0].replace('_', '-')} is for --format label-studio; leave it out, or write .json.")
    if options.review_below is not None and options.review_share is not None:
        raise InputError("Choose the rows to review by --review-below or by --review-share, not both.")
    if options.blank and options.review_below is None and options.review_share is None:
        raise InputError("--blank leaves doubtful labels empty: say which with --review-below or --review-share.")


def _write(reading: Reading, answer: Answer, options: argparse.Namespace) -> None:
    names = {name: value for name in ("from_name", "to_name", "model_version") if (value := getattr(options, name))}
    write_answer(
        reading,
        answer,
        options.output,
        format=options.format,
        names=Names(**names),
        spreadsheet_safe=not options.unsafe,
        review_below=options.review_below,
        review_share=options.review_share,
        blank=options.blank,
    )
