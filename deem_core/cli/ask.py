"""ask: the rows to label next, and whom to send them to."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from deem_core.answers.export import write
from deem_core.auto import fuse_run, make_field
from deem_core.cli.options import SEED, add_command, add_reading_options, check_outputs, inputs_of, read_file
from deem_core.cli.terminal import Bar
from deem_core.errors import InputError
from deem_core.files import tables
from deem_core.files.atomic import write_json
from deem_core.gold import next_order, questions
from deem_core.text import count

ROWS = 20


def add(commands: Any) -> None:
    """Add the command."""
    ask = add_command(
        commands,
        "ask",
        _ask,
        "Choose the rows of a file whose labels would tell most.",
        "Writes them as a queue with an empty column gold_label: fill it in and pass it to fuse as --gold-file.\n\n"
        "examples:\n"
        "  python -m deem_core ask sample_data/experts_wide.csv -o queue.csv\n"
        "  python -m deem_core ask answers.csv --gold-file known.csv -n 30 -o queue.csv --orders orders.csv",
    )
    add_reading_options(ask)
    ask.add_argument("-o", "--output", metavar="QUEUE", required=True, help="CSV, TSV, .csv.gz or Parquet by suffix")
    ask.add_argument("-n", metavar="N", type=int, default=ROWS, help=f"how many rows (default: {ROWS})")
    ask.add_argument(
        "--orders",
        metavar="FILE",
        help=("also write which rows to send to which learner next (as many as -n); for crowds"),
    )
    ask.add_argument("--seed", metavar="N", type=int, default=SEED, help=f"same number, same rows (default: {SEED})")
    ask.add_argument("--json", metavar="OUT", help="also write the queue as JSON")


def _ask(options: argparse.Namespace) -> None:
    inputs = inputs_of(options)
    check_outputs([options.output, options.orders, options.json], inputs=inputs)
    for name in filter(None, [options.output, options.orders]):
        tables.check_name(name)
    if options.n < 1:
        raise InputError(f"-n is {options.n}; ask for 1 row or more.")
    votes = read_file(options).votes
    known = 0 if votes.gold is None else votes.gold.n_rows
    with Bar() as bar:
        field = make_field(votes, random_state=options.seed, control=bar)
        asked = questions(field, options.n, gold=votes.gold, rng=np.random.default_rng([options.seed, known]))
        orders = None
        if options.orders:
            orders = next_order(fuse_run(votes, "auto", options.seed, control=bar).answer, options.n)
    _write(asked.to_frame(votes), options.output)
    print(f"{count(len(asked), 'row')} to label{f', besides {known:,} gold rows' if known else ''}. {asked.effect}")
    if orders is not None:
        _write(orders.to_frame(), options.orders)
        learners = count(len(set(orders.learners.tolist())), "learner")
        print(
            f"{count(len(orders), 'answer')} to order from {learners}, the most useful first. Written: {options.orders}"
        )
    if options.json:
        ids = [str(votes.ids[row]) for row in asked.rows]
        write_json({**asked.to_dict(), "ids": ids, "n_gold": known}, options.json)
    print(f"Fill in gold_label and pass the file to fuse as --gold-file. Written: {options.output}")


def _write(frame: pd.DataFrame, path: str) -> None:
    write(pa.Table.from_pandas(frame, preserve_index=False), path)
