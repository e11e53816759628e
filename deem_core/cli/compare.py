"""compare: all methods on the same votes."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deem_core.cli.options import (
    add_command,
    add_engine_option,
    add_reading_options,
    check_outputs,
    inputs_of,
    read_file,
)
from deem_core.cli.terminal import Bar, table
from deem_core.comparison.result import CLUSTER_SECONDS, FIRST_CLASS, TIES_DRAWN
from deem_core.engine import wish_of
from deem_core.errors import InputError
from deem_core.files.atomic import write_json
from deem_core.methods.registry import BUDGET
from deem_core.text import count, interval, percent, size

if TYPE_CHECKING:
    from deem_core.comparison import Comparison, MethodResult


def add(commands: Any) -> None:
    """Add the command."""
    compare = add_command(
        commands,
        "compare",
        _compare,
        "Compare all methods on the votes in a file.",
        "With truth: accuracy, balanced accuracy and macro-F1 with 95% intervals. Without: which methods agree, and "
        "how many\nrows are disputed. A method that cannot run is listed with its reason.\n\n"
        "examples:\n"
        "  python -m deem_core compare sample_data/experts_wide.csv --methods mv,ds,lsml,deem --seeds 2\n"
        "  python -m deem_core compare sample_data/experts_wide.csv --expert-classes 4,7 --json compared.json\n"
        "  python -m deem_core compare answers.csv --truth-file gold.csv --budget 30",
    )
    add_reading_options(compare)
    compare.add_argument("--methods", metavar="A,B", default="all", help="methods to compare (default: all)")
    compare.add_argument(
        "--expert-classes", metavar="X,Y", help=("also score these true classes separately from the rest")
    )
    compare.add_argument("--seeds", metavar="N", type=int, default=5, help="runs of each random method (default 5)")
    compare.add_argument(
        "--budget",
        metavar="SECONDS",
        type=float,
        default=BUDGET,
        help=f"time for each method in seconds (default {BUDGET:g})",
    )
    compare.add_argument(
        "--device", metavar="D", default="auto", help="where to train: auto, cpu, cuda, cuda:1, mps (default auto)"
    )
    add_engine_option(compare)
    compare.add_argument("--seed", metavar="S", type=int, default=0, help="same seed, same labels (default 0)")
    compare.add_argument("--json", metavar="OUT", help="also write everything as JSON")


def _compare(options: argparse.Namespace) -> None:
    from deem_core.comparison import compare, entry  # noqa: PLC0415  # only those who compare wait for the imports

    check_outputs([options.json], inputs=inputs_of(options))
    names = _listed(options.methods)
    for name in names if names != ["all"] else []:
        entry(name)  # before the file is read
    if options.seed < 0:
        raise InputError(f"The seed is {options.seed}; it must be 0 or more.")
    wish_of(options.on)  # likewise
    votes = read_file(options).votes
    with Bar() as bar:
        found = compare(
            votes,
            names,
            options.seeds,
            expert_classes=_listed(options.expert_classes),
            budget=options.budget,
            random_state=options.seed,
            device=options.device,
            control=bar,
            on=options.on,
        )
    print(f"{Path(options.file).name}: {votes.dimensions}, {sum(method.ran for method in found.methods)} methods.")
    if votes.gold is not None:
        print(f"Methods that take gold use {count(votes.gold.n_rows, 'gold row')}; accuracies leave them out.")
    for line in report(found):
        print(line)
    if options.json:
        write_json(found.to_dict(), options.json)


def _listed(text: str | None) -> list[str]:
    return [part.strip() for part in (text or "").split(",") if part.strip()]


# ---------------------------------------------------------------------- words


def report(found: Comparison) -> Iterable[str]:
    """Yield the ranked table, the agreement matrix, notes and the conclusion."""
    from deem_core.comparison import conclusion  # noqa: PLC0415

    ranked = found.ranked()
    if ranked:
        yield ""
        yield from table(*_scores(found, ranked) if found.n_truth else _shares(found, ranked), total=len(ranked))
        if found.on_cluster:
            yield f"  {CLUSTER_SECONDS}"
    if found.n_truth and found.best_learner is not None:
        best, average = found.best_learner_accuracy, found.average_learner_accuracy
        yield f"  best single learner {found.best_learner} {percent(best)}, average learner {percent(average)}"
    if len(ranked) > 1:
        yield ""
        yield f"Same label, % of rows ({found.n_disputed:,} rows disputed)"
        yield from table(*_matrix(found, [method.name for method in ranked]), total=len(ranked))
    alarms = [("these votes", found.alarms), *((method.name, method.alarms) for method in found.methods)]
    if any(raised for _, raised in alarms):
        yield ""
        yield "Alarms"
        yield from (f"  {name}: {alarm.text}" for name, raised in alarms for alarm in raised)
    short = [method for method in found.methods if not method.ran or method.cut]
    if short:
        yield ""
        yield "Not run, or stopped early"
        yield from (f"  {method.name}: {method.note}" for method in short)
    notes: dict[str, list[str]] = {}
    for method in ranked:
        if method.note and not method.cut:
            notes.setdefault(method.note, []).append(method.name)
    if notes:
        yield ""
        yield "Notes of the methods"
        yield from (f"  {', '.join(names)}: {note}" for note, names in notes.items())
    yield ""
    yield conclusion(found)


def _scores(found: Comparison, ranked: Sequence[MethodResult]) -> tuple[list[str], list[list[str]]]:
    experts = bool(found.expert_classes)
    header = ["method", "right", "95% interval", "± seeds", "balanced", "macro-F1"]
    header += ["off by", "kappa"] if found.ordered else []
    header += ["experts", "rest"] if experts else []
    rows = []
    for method in ranked:
        low, high = method.intervals["accuracy"]
        spread = f"{100 * method.std['accuracy']:.2f}" if method.std else ""
        row = [method.name, percent(method.accuracy), interval(low, high), spread]
        row += [percent(method.balanced_accuracy), percent(method.macro_f1)]
        row += [_number(method.mean_absolute_error), _number(method.quadratic_kappa)] if found.ordered else []
        row += [percent(method.expert_accuracy), percent(method.rest_accuracy)] if experts else []
        rows.append([*row, *_cost(method), _mark(method)])
        if method.ties_matter:
            rows[-1][0] = f"{method.name}, {TIES_DRAWN}"
            other = [f"{method.name}, {FIRST_CLASS}", percent(method.first_class_accuracy)]
            rows.append([*other, *[""] * (len(rows[-1]) - len(other))])
    return [*header, "s", "memory", ""], rows


def _shares(found: Comparison, ranked: Sequence[MethodResult]) -> tuple[list[str], list[list[str]]]:
    shown = found.classes[: min(found.n_classes, 5)]
    rows = []
    for method in ranked:
        shares = [percent(share) for share in (method.shares or [])[: len(shown)]]
        rows.append([method.name, *shares, percent(method.stability), *_cost(method), _mark(method)])
    return ["method", *(f"says {label}" for label in shown), "seeds agree", "s", "memory", ""], rows


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _mark(method: MethodResult) -> str:
    """Return a mark for a method with alarms, which are told below."""
    return "alarm" if method.alarms else ""


def _cost(method: MethodResult) -> list[str]:
    seconds = "" if method.seconds is None else f"{method.seconds:.2f}"
    return [seconds, "" if method.memory_bytes is None else f"+{size(method.memory_bytes)}"]


def _matrix(found: Comparison, names: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    place = {name: at for at, name in enumerate(found.agreement.names)}
    matrix = found.agreement.matrix
    rows = [[a, *(f"{100 * matrix[place[a]][place[b]]:.0f}" for b in names)] for a in names]
    return ["", *(name[:6] for name in names)], rows
