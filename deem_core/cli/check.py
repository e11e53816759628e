"""check: named conditions on fused labels, for pipelines.

Exit code 0 if all hold, 1 if one fails, 2 for bad input.
"""

from __future__ import annotations

import argparse
import os
import re
from pathlib import Path
from typing import Any

from deem_core.answers import StoredAnswer
from deem_core.answers.conditions import CONDITIONS, DEFAULT, REVIEW_CONFIDENCE, Check, Evidence, look, wishes_of
from deem_core.auto import AUTO
from deem_core.auto.verbs import check
from deem_core.cli.options import (
    add_command,
    add_reading_options,
    add_stream_options,
    add_training_options,
    check_outputs,
    inputs_of,
    read_file,
    refuse_settings,
    training_settings,
)
from deem_core.cli.parts import in_parts
from deem_core.cli.terminal import Bar, on_one_line
from deem_core.errors import InputError
from deem_core.files.atomic import write_json
from deem_core.large import fuse_extract
from deem_core.methods.registry import METHODS, TRAINED
from deem_core.text import count

FAILED = 1
"""Exit code where a condition fails."""

_RUN = r"[0-9a-f]{4,32}"


def add(commands: Any) -> None:
    """Add the command."""
    width = max(len(condition.spelled) for condition in CONDITIONS.values())
    listed = "\n".join(f"  {condition.spelled:<{width}}  {condition.what}" for condition in CONDITIONS.values())
    parser = add_command(
        commands,
        "check",
        _check,
        "Check fused labels against conditions, for pipelines.",
        "Fuses the votes of a file, or takes the labels of a finished run, and looks at the conditions of --fail-on.\n"
        "The exit code is 0 if all hold, 1 if one fails, and 2 for bad input. Silence is no proof that labels are\n"
        "right: conditions rest on the votes alone, unless they ask for gold rows or true labels.\n\n"
        f"conditions:\n{listed}\n\n"
        f"Without --fail-on: {','.join(DEFAULT)}\n\n"
        "examples:\n"
        "  python -m deem_core check sample_data/experts_wide.csv\n"
        "  python -m deem_core check answers.csv --fail-on collapse,captured,below-review=0.2 --json check.json\n"
        "  python -m deem_core check 0123456789ab --fail-on fallback,instability",
    )
    add_reading_options(parser)
    add_stream_options(parser)
    next(
        action for action in parser._actions if action.dest == "file"
    ).help = "votes, as fuse reads them, or the id of a finished run (its first four digits or more)"
    parser.add_argument(
        "--fail-on",
        metavar="NAME[=X],…",
        action="append",
        help="conditions, with commas between them (repeatable); those above are all there are",
    )
    parser.add_argument(
        "--method",
        choices=list(METHODS),
        metavar="NAME",
        default=AUTO,
        help=f"how to fuse (default: {AUTO}); one of {', '.join(METHODS)}",
    )
    parser.add_argument(
        "--review-below",
        metavar="X",
        type=float,
        default=REVIEW_CONFIDENCE,
        help=f"confidence below which below-review counts a row (default: {REVIEW_CONFIDENCE:g})",
    )
    add_training_options(parser)
    parser.add_argument("--json", metavar="OUT", help="also write conditions, figures and alarms as JSON")


def _check(options: argparse.Namespace) -> int:
    wishes = wishes_of(options.fail_on)
    if not 0 <= options.review_below <= 1:
        raise InputError(f"--review-below is {options.review_below:g}; it must be between 0 and 1.")
    is_run = not os.path.exists(options.file) and re.fullmatch(_RUN, options.file) is not None
    check_outputs([options.json], inputs=[] if is_run else inputs_of(options))
    found, rest = _of_run(options) if is_run else _of_file(options)
    name = f"Run {options.file[:12]}" if is_run else Path(options.file).name
    print(on_one_line(f"{name}: {found.answer.votes.dimensions}, fused by {found.answer.method}. {rest}".rstrip()))
    width = max(len(result.condition) for result in found.results)
    for result in found.results:
        said = f"{result.sentence} {result.advice if result.failed else ''}".rstrip()
        print(on_one_line(f"  {'FAILED' if result.failed else 'passed'}  {result.condition:<{width}}  {said}"))
    asked = {alarm.sentence for alarm in found.alarms for result in found.results if alarm.sentence in result.sentence}
    for alarm in found.alarms:
        if alarm.sentence not in asked:
            print(on_one_line(f"  note    {alarm.title}: {alarm.sentence}"))
    total = count(len(wishes), "condition")
    print(f"All of {total} hold." if found.passed else f"{len(found.failed):,} of {total} failed.")
    if options.json:
        write_json({"name": name, **found.to_dict()}, options.json)
    return 0 if found.passed else FAILED


def _of_file(options: argparse.Namespace) -> tuple[Check, str]:
    """Fuse a file and look at the conditions.

    Of a large file those of a sample.
    """
    settings = training_settings(options)
    seed = settings.pop("random_state")
    if options.method not in TRAINED:
        refuse_settings(options.method, settings)
    more = {"method": options.method, "review_below": options.review_below, "random_state": seed}
    found = in_parts(options)
    with Bar() as bar:
        if found is None:
            votes = read_file(options).votes
            return check(votes, options.fail_on, control=bar, **more, **settings), ""
        made = fuse_extract(found.extract, options.method, {"random_state": seed, **settings}, control=bar)
    rest = "" if found.extract.whole else f"The conditions rest on {found.extract.sample_words}."
    return check(made.sample, options.fail_on, review_below=options.review_below), rest


def _of_run(options: argparse.Namespace) -> tuple[Check, str]:
    """Look at the conditions on the labels of a finished run."""
    from deem_core.cli.runs import find_run  # noqa: PLC0415  # only those who name a run wait for the workspace
    from deem_core.runs import FusionSummary, Workspace  # noqa: PLC0415
    from deem_core.runs.run import RESULT  # noqa: PLC0415
    from deem_core.training.failure import alarms_of  # noqa: PLC0415

    workspace = Workspace()
    run = find_run(workspace, options.file)
    summary, path = FusionSummary.of(run), run.result(RESULT)
    if summary is None or path is None or run.kind not in ("fuse", "train"):
        raise InputError(f"Run {run.id[:12]} is no finished run of the kind train or fuse; it has no labels to check.")
    votes = workspace.with_gold(workspace.read_inputs(run.spec["inputs"]).votes, run.spec)
    answer = StoredAnswer(path, votes.n_classes).answer(votes)
    settings = {**summary.training.setting_values, "method": summary.training.method}
    alarms = summary.alarms
    if run.kind == "train":
        alarms = tuple(
            alarms_of(
                votes.without_truth(),
                run.records()[0],
                settings,
                summary.training.restarts,
                instead=summary.instead,
                labels=summary.alarms,
            )
        )
    return look(Evidence(answer, alarms, options.review_below, summary.gold), wishes_of(options.fail_on)), ""
