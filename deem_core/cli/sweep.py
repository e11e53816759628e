"""sweep: which learning rate, or how many layers, the data can bear."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from deem_core.cli.options import (
    add_command,
    add_engine_option,
    add_reading_options,
    add_training_options,
    check_outputs,
    inputs_of,
    read_file,
    training_settings,
)
from deem_core.cli.terminal import Bar
from deem_core.errors import InputError
from deem_core.files import tables
from deem_core.files.atomic import write_json
from deem_core.model.config import TrainConfig
from deem_core.votes import Votes

if TYPE_CHECKING:  # torch takes a second to import: only those who train wait for it
    from deem_core.training.sweep import Sweep, Sweeper

BLOCKS = "▁▂▃▄▅▆▇█"
SPARK_WIDTH = 24
"""Characters of a curve in the table."""

OWN = ("n_layers", "learning_rate", "restarts", "early_stop", "draws")
"""Settings of training that a sweep varies, or that mean nothing to it."""


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "sweep",
        _sweep,
        "Find a learning rate that is safe for training.",
        "Trains at several learning rates from the same start, looks at the energy curves as the paper advises, and\n"
        "says which rate to take and why. With --layers it compares depths at one rate instead.\n\n"
        "examples:\n"
        "  python -m deem_core sweep sample_data/experts_wide.csv\n"
        "  python -m deem_core sweep votes.csv --rates 0.1,0.3,1 --updates 600 --json sweep.json --csv curves.csv\n"
        "  python -m deem_core sweep votes.csv --rates 0.5 --layers 0,1,2",
    )
    add_reading_options(parser)
    group = add_training_options(parser, without=OWN)
    group.add_argument("--rates", metavar="X,Y", help="learning rates to try (default: nine around the usual one)")
    group.add_argument("--layers", metavar="N,M", help="multinomial layers; several are compared at one rate")
    group.add_argument("--smoothing", metavar="X", type=float, default=0.7, help="weight of the past (default 0.7)")
    add_engine_option(parser)
    parser.add_argument("--json", metavar="OUT", help="also write curves, verdicts and recommendation as JSON")
    parser.add_argument("--csv", metavar="CURVES", help="also write the curves as a table (CSV, TSV or Parquet)")


def _sweep(options: argparse.Namespace) -> None:
    rates, layers = _numbers(options.rates, "--rates"), _numbers(options.layers, "--layers", whole=True)
    if options.csv:
        tables.check_name(options.csv)
    check_outputs([options.json, options.csv], inputs=inputs_of(options))
    votes = read_file(options).votes
    from deem_core.training.sweep import Sweeper  # noqa: PLC0415  # see TYPE_CHECKING above

    config = TrainConfig.of(training_settings(options))
    with Bar() as bar:
        result = _run(
            Sweeper(
                *(votes, rates),
                n_layers=layers,
                config=config,
                control=bar,
                smoothing=options.smoothing,
                on=options.on,
            ),
            bar,
        )
    if options.json:
        write_json(result.to_dict(), options.json)
    if options.csv:
        tables.write(pa.Table.from_pandas(result.to_frame(), preserve_index=False), options.csv)
    for line in _told(Path(options.file).name, votes, result):
        print(line)
    written = " and ".join(name for name in (options.json, options.csv) if name)
    if written:
        print(f"Written: {written}")


def _run(sweeper: Sweeper, bar: Bar) -> Sweep:
    """Run to the end, or until somebody presses Ctrl-C.

    What was measured by then still tells something.
    """
    if bar.shown:
        print(f"About {sweeper.estimate_seconds():.0f} s for {len(sweeper.candidates)} trainings.", file=sys.stderr)
    try:
        for _ in sweeper:
            pass
    except KeyboardInterrupt:
        print("\nStopped; results so far:", file=sys.stderr)
    return sweeper.result()


def _numbers(text: str | None, option: str, *, whole: bool = False) -> list[Any] | None:
    """Return the numbers of a list such as ``0.1,0.3``."""
    if text is None:
        return None
    try:
        return [int(part) if whole else float(part) for part in text.split(",") if part.strip()]
    except ValueError:
        kind = "whole numbers such as 0,1,2" if whole else "numbers such as 0.1,0.3,1"
        raise InputError(f"{option} is {text!r}; give {kind}.") from None


# ---------------------------------------------------------------------- words


def _told(name: str, votes: Votes, result: Sweep) -> Iterable[str]:
    yield f"{name}: {votes.dimensions}."
    yield from result.notes
    yield ""
    yield from _table(result)
    yield ""
    chosen = result.recommendation
    if chosen.kind == "too early":
        yield chosen.why
    elif chosen.index is None:
        yield f"No {'depth' if result.by_depth else 'learning rate'} is safe. {chosen.why}"
    else:
        what = f"layers {chosen.n_layers}" if result.by_depth else f"learning rate {chosen.learning_rate:g}"
        yield f"{chosen.kind[:1].upper()}{chosen.kind[1:]}: {what}. {chosen.why}"
    if chosen.to_try:
        yield chosen.to_try
    unfinished = "" if result.complete else " It was stopped early."
    yield (
        f"{result.updates[-1]:,} updates each, measured {len(result.updates)} times on {result.rows_measured:,} of "
        f"{result.rows:,} rows; trained {result.how} in {result.seconds:.1f} s.{unfinished}"
    )


def _table(result: Sweep) -> Iterable[str]:
    first = "layers" if result.by_depth else "rate"
    names = [str(n) for n in result.n_layers] if result.by_depth else [f"{rate:g}" for rate in result.rates]
    wide, kinds = max(len(first), *map(len, names)), max(len(verdict.words) for verdict in result.verdicts)
    largest = np.nanmax(np.abs(result.difference), initial=0.0)
    yield f"    {first:>{wide}}   {'verdict':<{kinds}}   {'energy difference':<{SPARK_WIDTH}}   reason"
    for r, verdict in enumerate(result.verdicts):
        mark = "→" if r == result.recommendation.index else " "
        curve = sparkline(result.difference[r], float(largest))
        yield f"  {mark} {names[r]:>{wide}}   {verdict.words:<{kinds}}   {curve:<{SPARK_WIDTH}}   {verdict.reason}"


def sparkline(curve: Sequence[float] | np.ndarray[Any, Any], largest: float, width: int = SPARK_WIDTH) -> str:
    """Return a curve as blocks, from −``largest`` to ``largest``.

    Records that were not taken are left out.
    """
    known = [value for value in np.asarray(curve, np.float64).tolist() if math.isfinite(value)]
    if not known:
        return ""
    parts = np.array_split(np.array(known), min(width, len(known)))
    heights = [(float(part.mean()) / largest + 1) / 2 if largest else 0.5 for part in parts]
    return "".join(BLOCKS[min(int(height * len(BLOCKS)), len(BLOCKS) - 1)] for height in heights)
