"""simulate: an ensemble with known truth, as in the paper's experiments."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from deem_core import simulation
from deem_core.cli.options import add_command, check_outputs
from deem_core.files import tables
from deem_core.files.atomic import write_json
from deem_core.text import percent
from deem_core.votes.describe import majority_accuracy


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "simulate",
        _simulate,
        "Write an ensemble with known truth, as in the paper's experiments.",
        "ensembles:\n"
        "  condind   conditionally independent learners: a few good ones among guessers\n"
        "  tree      learners that depend on each other through hidden parents\n"
        "  ampdata   one expert on two classes that no other learner knows\n"
        "  copies    three families of five near-copies (like the paper's MnistE)\n"
        "  experts   copies, with one expert on the classes 4 and 7 in each family\n"
        "  crowd     many workers of varying skill, few answers per task\n"
        "  rules     labelling rules that know one class each and abstain elsewhere\n\n"
        "examples:\n"
        "  python -m deem_core simulate tree --rows 10000 --seed 0 -o tree.csv\n"
        "  python -m deem_core simulate condind --rows 3000 --labels cat,dog,bird --missing 0.2 -o pets.parquet\n"
        "  python -m deem_core simulate crowd --rows 800 --seed 1 --layout long --truth-file truth.csv -o crowd.csv",
    )
    parser.add_argument("name", metavar="NAME", choices=list(simulation.MAKERS), help=", ".join(simulation.MAKERS))
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
    ensemble = simulation.simulate(
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
    right = majority_accuracy(votes)
    print(f"{Path(options.output).name}: {votes.dimensions}; majority vote is right in {percent(right)} of the rows.")
    if options.layout == "long" and not options.truth_file:
        print("A long file has no room for the truth; add --truth-file to keep it.")


def _whole(text: str) -> int:
    try:
        return int(text.replace(",", "").replace("_", ""))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None
