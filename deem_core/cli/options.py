"""What commands share: their parser, the options for reading votes, and the check of output names."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from deem_core import readers
from deem_core.errors import InputError
from deem_core.files import check_target
from deem_core.readers import Reading


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one sentence, like all others."""

    def error(self, message: str) -> NoReturn:
        """Raise the message as an InputError."""
        raise InputError(f"{message[:1].upper()}{message[1:]}. Try: {self.prog} --help")


def add_command(commands: Any, name: str, run: Callable[..., None], summary: str, more: str) -> argparse.ArgumentParser:
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
    """Add the file argument and the options that say how to read it."""
    parser.add_argument("file", metavar="FILE", help="CSV, TSV, semicolon or pipe file, gzip of these, or Parquet")
    group = parser.add_argument_group(
        "reading", "all found from the file unless you say otherwise; see docs/formats.md"
    )
    group.add_argument(
        "--layout", choices=["auto", "wide", "long", "soft"], default="auto", help="how the file is laid out"
    )
    group.add_argument(
        "--delimiter", choices=["comma", "tab", "semicolon", "pipe"], help="between cells of a text file"
    )
    group.add_argument("--encoding", metavar="NAME", help="of a text file, such as utf-8 or cp1252")
    group.add_argument("--worker", metavar="COL", help="column of a long file that says who answered")
    group.add_argument("--label", metavar="COL", help="column of a long file that holds the answer")
    group.add_argument("--id", metavar="COL", help="column that names the rows")
    group.add_argument("--truth", metavar="COL", help="column of true labels; for evaluation only")
    group.add_argument("--truth-file", metavar="FILE", help="second file of task and true label; for evaluation only")
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


def read_file(options: argparse.Namespace, classes: Sequence[str] = ()) -> Reading:
    """Read the file named on the command line; ``classes`` are those of a model it is read for."""
    return readers.read(
        options.file,
        layout=options.layout,
        id=options.id,
        truth=options.truth,
        truth_file=options.truth_file,
        learners=options.learner,
        ignore=options.ignore,
        missing=readers.DEFAULT if options.missing is None else options.missing,
        worker=options.worker,
        label=options.label,
        delimiter=options.delimiter,
        encoding=options.encoding,
        classes=classes,
    )


def check_outputs(outputs: Iterable[str | None], inputs: Iterable[str | None] = ()) -> None:
    """Refuse, before any work is done, outputs that cannot be written or would overwrite an input or each other."""
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
