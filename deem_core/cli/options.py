"""Options that commands share: reading, training, outputs."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import Field, fields
from typing import TYPE_CHECKING, Any, NoReturn

from deem_core import readers
from deem_core.engine import ENGINE_VARIABLE
from deem_core.errors import InputError
from deem_core.files.atomic import check_target
from deem_core.large.extract import SAMPLE_ROWS
from deem_core.model.config import AUTO, TrainConfig, flag_of, setting_types
from deem_core.readers import Reading

if TYPE_CHECKING:  # scikit-learn takes a moment
    from deem_core.estimators.base import Fuser

SEED = 0
"""The seed where none is given: the same command gives the same labels."""


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one sentence, like all others."""

    def error(self, message: str) -> NoReturn:
        """Raise the message as an InputError."""
        raise InputError(f"{message[:1].upper()}{message[1:]}. Try: {self.prog} --help")


def add_command(
    commands: Any, name: str, run: Callable[..., int | None], summary: str, more: str
) -> argparse.ArgumentParser:
    """Add a command with its summary and a longer text for --help."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=f"{summary}\n\n{more}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(command=run)
    return parser


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """Add the file argument and the options for reading it."""
    parser.add_argument("file", metavar="FILE", help="CSV, TSV, JSON, Parquet, XLSX, …; see docs/formats.md")
    group = parser.add_argument_group("reading", "all detected from the file unless set here; see docs/formats.md")
    group.add_argument(
        "--layout", choices=["auto", "wide", "long", "soft"], default="auto", help="how the file is laid out"
    )
    group.add_argument(
        "--delimiter", choices=["comma", "tab", "semicolon", "pipe"], help="between cells of a text file"
    )
    group.add_argument("--encoding", metavar="NAME", help="of a text file, such as utf-8 or cp1252")
    group.add_argument(
        "--sheet",
        metavar="NAME",
        help="sheet of a workbook, or array of an .npz, by name or number (default: the first sheet)",
    )
    group.add_argument("--worker", metavar="COL", help="column of a long file that names the worker")
    group.add_argument("--label", metavar="COL", help="column of a long file that holds the answer")
    group.add_argument("--id", metavar="COL", help="column that names the rows")
    group.add_argument("--truth", metavar="COL", help="column of true labels; for evaluation only")
    group.add_argument("--truth-file", metavar="FILE", help="second file of task and true label; for evaluation only")
    group.add_argument("--gold", metavar="COL", help="column of known labels to be used; never detected automatically")
    group.add_argument(
        "--gold-file", metavar="FILE", help="second file of known labels to be used, or a queue from ask"
    )
    group.add_argument("--learner", metavar="COL", action="append", help="use just these learners (repeatable)")
    group.add_argument(
        "--ignore", metavar="COL", action="append", default=[], help="leave this column out (repeatable)"
    )
    group.add_argument(
        "--missing",
        metavar="TEXT",
        action="append",
        help="cell that means 'no vote' (repeatable); replaces the usual ones (NA, ?, -, … and the rule for -1)",
    )
    group.add_argument(
        "--swap-ba",
        action="store_true",
        help="in columns of judges asked in the order BA (judge/ba), A means what was shown first: swap A and B there",
    )
    group.add_argument(
        "--one-voice",
        action="store_true",
        help="the two answers of a judge asked in both orders are one vote, and none where they contradict each other",
    )
    group.add_argument(
        "--merge-spellings",
        action="store_true",
        help="take labels that differ only in spelling (spam, Spam, SPAM) as one class",
    )
    group.add_argument(
        "--labels",
        metavar="FILE",
        help=(
            "names of labels: CSV or JSON with the columns label and name, or JSON itself; an empty name means no "
            "vote, and the order is that of the classes (describe --labels-out writes such a file)"
        ),
    )
    group.add_argument(
        "--ordinal",
        action="store_true",
        help="the labels are steps of a scale: numbers by value, words by a known scale or the order of --labels",
    )
    group.add_argument(
        "--order", metavar="A,B,C", help="the same, and name the steps, lowest first: --order poor,fair,good"
    )
    group.add_argument("--multilabel", action="store_true", help="a cell holds several labels, as in cat|dog")
    group.add_argument("--separator", metavar="SIGN", help="the same, and name the sign between them: | ; or a comma")
    group.add_argument(
        "--empty-means-none",
        action="store_true",
        help="an empty cell of several labels says that none applies (default: it is no vote)",
    )
    group.add_argument("--one-label", metavar="LABEL", help="read one of several labels as a yes or no question")


def read_file(options: argparse.Namespace, model: Fuser | None = None) -> Reading:
    """Read the file named on the command line, perhaps for a model."""
    return readers.read(options.file, **reading_options(options), **known_terms(model))


def known_terms(model: Fuser | None) -> dict[str, Any]:
    """Return the reading options that follow from a fitted model."""
    if model is None:
        return {}
    return {"classes": [str(label) for label in model.classes_.tolist()], "known_learners": list(model.learners_)}


def reading_options(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options for reading by the names that `deem_core.read` gives them."""
    return {
        "layout": options.layout,
        "id": options.id,
        "truth": options.truth,
        "truth_file": options.truth_file,
        "learners": options.learner,
        "ignore": options.ignore,
        "missing": readers.DEFAULT if options.missing is None else options.missing,
        "worker": options.worker,
        "label": options.label,
        "delimiter": options.delimiter,
        "encoding": options.encoding,
        "sheet": options.sheet,
        "swap_ba": options.swap_ba,
        "one_voice": options.one_voice,
        "gold": options.gold,
        "gold_file": options.gold_file,
        "merge_spellings": options.merge_spellings,
        "labels": None if options.labels is None else readers.read_labels(options.labels),
        "ordered": _order(options),
        "multilabel": options.separator or bool(options.multilabel),
        "empty_is_none": options.empty_means_none,
        "one_label": options.one_label,
    }


def _order(options: argparse.Namespace) -> bool | list[str]:
    """Return the order of the labels.

    Steps are separated by commas, or by another sign where labels have commas.
    """
    if options.order is None:
        return bool(options.ordinal)
    sign = next((sign for sign in ("<", "|", ";") if sign in options.order), ",")
    steps = [step.strip() for step in options.order.split(sign) if step.strip()]
    if len(steps) < 2:
        raise InputError(f"--order {options.order!r} names fewer than two steps. Name all, lowest first: A,B,C.")
    return steps


def inputs_of(options: argparse.Namespace) -> list[str | None]:
    """Return the files that the options for reading name."""
    return [options.file, options.truth_file, options.gold_file, options.labels]


def add_stream_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for files larger than memory."""
    group = parser.add_argument_group("large files", "see docs/formats.md")
    group.add_argument(
        "--stream",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="read the file in parts, or whole (default: in parts if whole it would take more than 4 GB or half of "
        "the free memory)",
    )
    group.add_argument(
        "--sample",
        metavar="N",
        type=int,
        default=SAMPLE_ROWS,
        help=f"rows to learn from if the file is read in parts, evenly spread (default: {SAMPLE_ROWS:,})",
    )


def add_engine_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that says where to run."""
    parser.add_argument(
        "--on",
        metavar="WHERE",
        help=(
            "where to run: local (this machine), ray (the Ray cluster it belongs to) or ray://HOST:PORT; see "
            f"docs/scale.md (default: ${ENGINE_VARIABLE}, else local)"
        ),
    )


def check_outputs(outputs: Iterable[str | None], inputs: Iterable[str | None] = ()) -> None:
    """Refuse outputs that cannot be written, before any work.

    Nor may they overwrite an input or each other.
    """
    read = {os.path.realpath(name) for name in inputs if name}
    written = set[str]()
    for name in (name for name in outputs if name):
        check_target(name)
        place = os.path.realpath(name)
        if place in read:
            raise InputError(f"{name!r} is the file to read; write to another one.")
        if place in written:
            raise InputError(f"{name!r} is named for two outputs; give each its own file.")
        written.add(place)


# ---------------------------------------------------------------------- training


def add_training_options(parser: argparse.ArgumentParser, without: Collection[str] = ()) -> Any:
    """Add an option for every setting of training but some.

    Parameters
    ----------
    parser : ArgumentParser
    without : collection of str
        Settings that the command gives in a way of its own, or that mean nothing to it.

    Returns
    -------
    argument group
        For further options.
    """
    group = parser.add_argument_group("training", "all set from the data unless given; see docs/method.md")
    for item in fields(TrainConfig):
        if item.name not in without:
            group.add_argument(flag_of(item.name), dest=item.name, default=None, help=_help(item), **_kind(item))
    return group


def training_settings(options: argparse.Namespace) -> dict[str, Any]:
    """Return the settings that were given, by name.

    The seed is always among them.
    """
    given = {item.name: getattr(options, item.name, None) for item in fields(TrainConfig)}
    return {"random_state": SEED, **{name: value for name, value in given.items() if value is not None}}


def refuse_settings(method: str, settings: Mapping[str, Any]) -> None:
    """Refuse settings of training for a method that trains nothing."""
    for setting in settings:
        doer = "auto trains nothing" if method == "auto" else f"the method {method} has no settings"
        raise InputError(
            f"{flag_of(setting)} is a setting of training, and {doer}. Use --method deem, or leave it out."
        )


def _kind(item: Field[Any]) -> dict[str, Any]:
    """Return what the parser must know to read a setting.

    Its bounds are checked by `TrainConfig`.
    """
    types = setting_types(item.name)
    if item.name == "device":
        return {"metavar": "D"}  # one of several GPUs has a number, so that there is no list of all
    if item.metadata["choices"]:
        return {"choices": list(item.metadata["choices"])}
    if bool in types:
        return {"action": "store_true"}
    if AUTO in item.metadata["words"]:
        return {"metavar": f"X|{AUTO}", "type": _rate}
    return {"metavar": "N", "type": int} if int in types else {"metavar": "X", "type": float}


def _help(item: Field[Any]) -> str:
    default = SEED if item.name == "random_state" else item.default
    if default is False:
        return str(item.metadata["what"])
    words = "from the data" if default is None else f"{default}"
    return f"{item.metadata['what']} (default: {words})"


def _rate(text: str) -> float | str:
    if text == AUTO:
        return text
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number nor {AUTO}") from None
