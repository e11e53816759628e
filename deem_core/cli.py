"""The command line: every capability of the library as a command.

Exit code 0, or one sentence on stderr and exit code 2.
"""

from __future__ import annotations

import argparse
import io
import math
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from deem_core import __version__, readers, simulate, tables
from deem_core.describe import Facts, accuracy, describe
from deem_core.errors import DeemError, InputError
from deem_core.files import check_target, write_json
from deem_core.readers import Reading
from deem_core.votes import Votes

ROWS_SHOWN = 20
"""Lines of a table of learners or classes before the rest is summed up."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal that cannot show a label shows a question mark
    try:
        options = _parser().parse_args(argv)
        command: Callable[[argparse.Namespace], None] = options.command
        command(options)
        sys.stdout.flush()
    except DeemError as error:
        print(" ".join(str(error).splitlines()), file=sys.stderr)
        return 2
    except MemoryError:
        print("There is not enough memory for this: try fewer rows, learners or classes.", file=sys.stderr)
        return 2
    except BrokenPipeError:  # whoever reads the output, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130
    return 0


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one sentence, like all others."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message[:1].upper()}{message[1:]}. Try: {self.prog} --help")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="python -m deem_core",
        description="Fuse many predictors' labels into one trustworthy label per row, without ground truth.",
    )
    parser.add_argument("--version", action="version", version=f"deem-studio {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=_Parser)
    _add_describe(commands)
    _add_simulate(commands)
    return parser


def _add_command(
    commands: Any, name: str, run: Callable[..., None], summary: str, more: str
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=f"{summary}\n\n{more}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(command=run)
    return parser


# ---------------------------------------------------------------------- reading options, the same for every command


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """Add the file argument and the options that say how to read it."""
    parser.add_argument("file", metavar="FILE", help="CSV, TSV, semicolon or pipe file, gzip of these, or Parquet")
    group = parser.add_argument_group(
        "reading", "all found from the file unless you say otherwise; see docs/formats.md"
    )
    group.add_argument(
        "--layout", choices=["auto", "wide", "long", "soft"], default="auto", help="how the file is laid out"
    )
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


def read_file(options: argparse.Namespace) -> Reading:
    """Read the file named on the command line."""
    return readers.read(
        options.file,
        layout=options.layout,
        id=options.id,
        truth=options.truth,
        truth_file=options.truth_file,
        learners=options.learner,
        ignore=options.ignore,
        missing=readers.DEFAULT if options.missing is None else options.missing,
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


# ---------------------------------------------------------------------- describe


def _add_describe(commands: Any) -> None:
    parser = _add_command(
        commands,
        "describe",
        _describe,
        "Say what is in a file of votes.",
        "Prints what was understood, changed and left out, then coverage, ties, learners and classes.\n\n"
        "examples:\n"
        "  python -m deem_core describe sample_data/experts_wide.csv\n"
        "  python -m deem_core describe sample_data/crowd_long.csv --truth-file sample_data/crowd_long_truth.csv\n"
        "  python -m deem_core describe predictions.csv --id image --truth gold --ignore comment --json facts.json",
    )
    add_reading_options(parser)
    parser.add_argument("--json", metavar="OUT", help="also write everything as JSON")


def _describe(options: argparse.Namespace) -> None:
    check_outputs([options.json], inputs=[options.file, options.truth_file])
    reading = read_file(options)
    facts = describe(reading.votes)
    if options.json:
        votes = reading.votes
        names = {"classes": votes.classes, "learners": votes.learners, "truth_only": votes.truth_only}
        write_json({**reading.report.to_dict(), **names, **facts.to_dict()}, options.json)
    for line in _description(reading, facts):
        print(line)


def _description(reading: Reading, facts: Facts) -> Iterable[str]:
    votes, report = reading.votes, reading.report
    yield f"{reading.source.name}: {_size(votes)}, {report.layout} layout"
    for kind, title in (
        ("understood", "Understood"),
        ("changed", "Changed"),
        ("left out", "Left out"),
        ("warning", "Mind"),
    ):
        sentences = report.sentences(kind)  # type: ignore[arg-type]
        if sentences:
            yield f"\n{title}"
            yield from (f"  · {sentence}" for sentence in sentences)
    yield "\nFacts"
    yield from _two_columns(_facts_lines(votes, facts, report.held_bytes, report.peak_bytes))
    yield "\nLearners"
    yield from _learner_table(votes, facts)
    yield "\nClasses"
    yield from _class_table(votes, facts)


def _facts_lines(votes: Votes, facts: Facts, held: int, peak: int | None) -> list[tuple[str, str]]:
    n = votes.n_rows
    lines = [
        ("votes cast", f"{facts.n_votes:,} of {n * votes.n_learners:,} ({_percent(facts.coverage)})"),
        ("votes per row", f"{votes.votes_per_row.min():,} to {votes.votes_per_row.max():,}"),
        ("unanimous rows", f"{facts.n_unanimous:,} ({_percent(facts.n_unanimous / n)})"),
        ("tied rows", f"{facts.n_tied:,} ({_percent(facts.n_tied / n)}); majority vote takes the first class"),
        ("rows without a vote", f"{facts.n_silent:,}"),
        ("constant learners", _shortened(facts.constant_learners)),
        ("identical learners", _shortened([" = ".join(group) for group in facts.identical_learners])),
        ("memory", f"{_megabytes(held)} held" + (f", process peak {_megabytes(peak)}" if peak else "")),
    ]
    if facts.majority_accuracy is not None:
        known = f"truth known for {facts.n_truth:,} rows; evaluation only"
        lines.append(("majority vote is right", f"{_percent(facts.majority_accuracy)} ({known})"))
    return lines


def _learner_table(votes: Votes, facts: Facts) -> Iterable[str]:
    header = ["learner", "votes on", "agrees with majority", "most voted class"]
    favourite = votes.class_counts.argmax(axis=1)
    rows = []
    for j, name in enumerate(votes.learners[:ROWS_SHOWN]):
        silent = not facts.learner_coverage[j]
        most = "–" if silent else str(votes.classes[favourite[j]])
        rows.append([name, _percent(facts.learner_coverage[j]), _percent(facts.learner_agreement[j]), most])
        if facts.learner_accuracy is not None:
            rows[-1].append(_percent(facts.learner_accuracy[j]))
    if facts.learner_accuracy is not None:
        header.append("right (evaluation)")
    yield from _table(header, rows, votes.n_learners)


def _class_table(votes: Votes, facts: Facts) -> Iterable[str]:
    total = max(facts.n_votes, 1)
    rows = [
        [str(label), f"{count:,}", _percent(count / total), f"{rows:,}"]
        for label, count, rows in zip(votes.classes[:ROWS_SHOWN], facts.class_votes, facts.class_rows, strict=False)
    ]
    yield from _table(["class", "votes", "share", "rows by majority vote"], rows, votes.n_classes)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], total: int) -> Iterable[str]:
    """Yield an aligned table: text to the left, numbers to the right."""
    clipped = [[_clipped(_on_one_line(cell)) for cell in row] for row in [header, *rows]]
    widths = [max(len(row[column]) for row in clipped) for column in range(len(header))]
    for row in clipped:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        yield f"  {'   '.join(cells)}".rstrip()
    if total > len(rows):
        yield f"  … and {total - len(rows):,} more (all of them with --json)"


def _two_columns(lines: Sequence[tuple[str, str]]) -> Iterable[str]:
    width = max(len(name) for name, _ in lines)
    return (f"  {name.ljust(width)}   {_on_one_line(value)}" for name, value in lines)


def _shortened(names: Sequence[str], most: int = 5) -> str:
    shown = "; ".join(_clipped(name, 60) for name in names[:most])
    return f"{shown}; … and {len(names) - most:,} more" if len(names) > most else shown or "none"


def _on_one_line(text: str) -> str:
    """Return text with line breaks and other control characters spelled out."""
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


def _clipped(text: str, most: int = 40) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _size(votes: Votes) -> str:
    return f"{votes.n_rows:,} rows × {votes.n_learners:,} learners × {votes.n_classes:,} classes"


def _percent(share: float) -> str:
    return "–" if math.isnan(share) else f"{100 * share:.1f} %"


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f} MB" if size >= 1e6 else f"{size / 1e3:,.0f} kB"


# ---------------------------------------------------------------------- simulate


def _add_simulate(commands: Any) -> None:
    parser = _add_command(
        commands,
        "simulate",
        _simulate,
        "Write an ensemble with known truth, as in the paper's experiments.",
        "ensembles:\n"
        "  condind   conditionally independent learners: a few good ones among guessers\n"
        "  tree      learners that depend on each other through hidden parents\n"
        "  ampdata   one expert on two classes that nobody else knows\n"
        "  copies    three families of five near-copies (like the paper's MnistE)\n"
        "  experts   copies, with one expert on the classes 4 and 7 in each family\n"
        "  crowd     many workers of varying skill, few answers per task\n\n"
        "examples:\n"
        "  python -m deem_core simulate tree --rows 10000 --seed 0 -o tree.csv\n"
        "  python -m deem_core simulate condind --rows 3000 --labels cat,dog,bird --missing 0.2 -o pets.parquet\n"
        "  python -m deem_core simulate crowd --rows 800 --seed 1 --layout long --truth-file truth.csv -o crowd.csv",
    )
    parser.add_argument("name", metavar="NAME", choices=list(simulate.MAKERS), help=", ".join(simulate.MAKERS))
    parser.add_argument("--rows", metavar="N", type=_whole, default=10_000, help="rows to draw (default 10,000)")
    parser.add_argument("--seed", metavar="S", type=_whole, default=0, help="the same seed makes the same file")
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="CSV, TSV, .csv.gz or Parquet by suffix")
    parser.add_argument("--learners", metavar="D", type=_whole, help="how many learners (default: as in the paper)")
    parser.add_argument("--classes", metavar="K", type=_whole, help="how many classes (default: as in the paper)")
    parser.add_argument("--labels", metavar="A,B,…", help="names of the classes instead of 0, 1, 2, …")
    parser.add_argument("--missing", metavar="SHARE", type=float, default=0.0, help="share of votes to blank out")
    parser.add_argument("--layout", choices=["wide", "long", "soft"], default="wide", help="layout of the file")
    parser.add_argument("--truth-file", metavar="FILE", help="write the truth into a file of its own")
    parser.add_argument("--json", metavar="OUT", help="write the true parameters (psi, pi) as JSON")


def _simulate(options: argparse.Namespace) -> None:
    for name in filter(None, [options.output, options.truth_file]):
        tables.check_name(name)
    check_outputs([options.output, options.truth_file, options.json])
    ensemble = simulate.build(
        options.name,
        options.rows,
        options.seed,
        options.learners,
        options.classes,
        labels=options.labels.split(",") if options.labels is not None else None,
        missing=options.missing,
        soft=options.layout == "soft",
    )
    votes = ensemble.votes
    if options.truth_file:
        tables.write(tables.truth_table(votes), options.truth_file)
    written = votes.without_truth() if options.truth_file else votes
    make = {"wide": tables.wide_table, "long": tables.long_table, "soft": tables.soft_table}[options.layout]
    tables.write(make(written), options.output)
    if options.json:
        keys = {"name": options.name, "rows": options.rows, "seed": options.seed, "learners": votes.learners}
        write_json({**keys, "classes": votes.classes, "pi": ensemble.pi, "psi": ensemble.psi}, options.json)
    right = accuracy(votes.majority_vote.codes, ensemble.truth)
    print(f"{Path(options.output).name}: {_size(votes)}; majority vote is right in {_percent(right)} of the rows.")
    if options.layout == "long" and not options.truth_file:
        print("A long file has no room for the truth; add --truth-file to keep it.")


def _whole(text: str) -> int:
    try:
        return int(text.replace(",", "").replace("_", ""))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None
