"""describe: what is in a file of votes."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from deem_core.cli import outcome
from deem_core.cli.options import (
    SEED,
    add_command,
    add_reading_options,
    add_stream_options,
    check_outputs,
    inputs_of,
    read_file,
)
from deem_core.cli.parts import in_parts
from deem_core.cli.terminal import shortened, table, two_columns
from deem_core.diagnostics.checkup import spellings
from deem_core.diagnostics.panel import true_effective_votes
from deem_core.diagnostics.rules import RuleTable, find_rules
from deem_core.files.atomic import write_json
from deem_core.groups.effective_votes import worth
from deem_core.groups.panel import PanelHealth, panel_health
from deem_core.readers import LabelRow, Note, Report, label_table, write_labels
from deem_core.readers.notes import peak_bytes
from deem_core.text import DASH, dimensions, interval, listing, percent, size
from deem_core.votes import Votes
from deem_core.votes.concordance import Concordance, concordance
from deem_core.votes.describe import Facts, describe

ROWS_SHOWN = 20
"""Lines of a table of learners or classes before the rest is summed up."""


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "describe",
        _describe,
        "Show what is in a file of votes.",
        "Prints what was read, changed and left out, then coverage, ties, the health of the panel (how many\n"
        "independent votes there are, camps, rules), learners and classes; where learners know one class each, how\n"
        "often these rules fire and contradict each other.\n\n"
        "examples:\n"
        "  python -m deem_core describe sample_data/experts_wide.csv\n"
        "  python -m deem_core describe sample_data/crowd_long.csv --truth-file sample_data/crowd_long_truth.csv\n"
        "  python -m deem_core describe predictions.csv --id image --truth gold --ignore comment --json facts.json",
    )
    add_reading_options(parser)
    add_stream_options(parser)
    outcome.add_scorecard(parser, "the answer of auto")
    parser.add_argument("--json", metavar="OUT", help="also write everything as JSON")
    parser.add_argument(
        "--labels-out",
        metavar="OUT",
        help="write the labels and their names as CSV or JSON, to edit and give to --labels",
    )


def _describe(options: argparse.Namespace) -> None:
    check_outputs([options.json, options.labels_out, options.scorecard], inputs=inputs_of(options))
    found = in_parts(options)
    if found is None:
        reading = read_file(options)
        _write_labels(label_table(reading.source, reading.report, reading.votes, reading.labels), options)
        _tell(reading.report, reading.votes, describe(reading.votes), options)
        return
    file = found.file
    _write_labels(label_table(file.digest, file.report, found.extract.sample, file.labels), options)
    how = f"Read in parts; panel and rules rest on {found.extract.sample_words}."
    report = replace(
        found.file.report, notes=(*found.file.report.notes, Note("understood", how)), peak_bytes=peak_bytes()
    )
    _tell(report, found.extract.sample, found.extract.facts, options)


def _write_labels(rows: Sequence[LabelRow], options: argparse.Namespace) -> None:
    if options.labels_out:
        write_labels(rows, options.labels_out)


def _tell(report: Report, votes: Votes, facts: Facts, options: argparse.Namespace) -> None:
    """Print what is known of a file.

    ``votes`` may be a sample of its rows.
    """
    rules = find_rules(votes)
    rng = np.random.default_rng(0)
    health = panel_health(votes, rng)
    true_votes = true_effective_votes(votes, rng)
    agreed = concordance(votes)
    if options.json:
        names = {"classes": votes.classes, "learners": votes.learners, "truth_only": votes.truth_only}
        rows = [] if rules is None else rules.to_dict()["rules"]
        panel = {**health.to_dict(), "true_effective_votes": true_votes}
        found = {**report.to_dict(), **names, **facts.to_dict(), "panel": panel, "rules": rows}
        found["agreement"] = agreed.to_dict()
        write_json(found, options.json)
    for line in _description(report, votes, facts, Panel(health, true_votes, rules, agreed), Path(options.file).name):
        print(line)
    if options.scorecard:
        from deem_core.auto import fuse_run  # noqa: PLC0415  # only this option asks for an answer

        outcome.write_scorecard(fuse_run(votes, "auto", SEED).answer, options.scorecard)


@dataclass(frozen=True)
class Panel:
    """The learners as a panel: health, rules and agreement."""

    health: PanelHealth
    true_votes: float | None
    rules: RuleTable | None
    agreed: Concordance


def _description(report: Report, votes: Votes, facts: Facts, panel: Panel, name: str) -> Iterable[str]:
    yield f"{name}: {dimensions(report.n_rows, votes.n_learners, votes.n_classes)}, {report.layout} layout"
    found = spellings(votes)
    if found is not None:
        yield f"\n{found.title}"
        yield f"  · {found.sentence}"
        yield "  · Merge them: --merge-spellings. Or name the labels yourself: --labels-out, then --labels."
    for kind, title in (
        ("understood", "Read as"),
        ("changed", "Changed"),
        ("left out", "Left out"),
        ("warning", "Warnings"),
    ):
        sentences = report.sentences(kind)  # type: ignore[arg-type]
        if found is not None:  # said above
            sentences = [sentence for sentence in sentences if not sentence.startswith(found.title)]
        if sentences:
            yield f"\n{title}"
            yield from (f"  · {sentence}" for sentence in sentences)
    yield "\nFacts"
    yield from two_columns(_facts_lines(report, facts))
    yield "\nPanel"
    yield from (f"  · {sentence}" for sentence in panel.health.sentences)
    if panel.true_votes is not None:
        yield f"  · From the true labels, worth {worth(panel.true_votes)} (evaluation only)."
    yield f"\nAgreement: 1 is perfect, 0 is chance. {panel.agreed.sentence}"
    yield from two_columns([(each.title, each.text) for each in panel.agreed.coefficients])
    if report.position_bias:
        yield "\nPosition bias: judges asked in both orders"
        yield from _bias_lines(report)
    if panel.rules is not None:
        yield "\nRules: shares of all rows on which each votes, votes beside others, and votes against others"
        yield from _rule_lines(panel.rules)
    yield "\nLearners"
    yield from _learner_table(votes, facts)
    yield "\nClasses"
    yield from _class_table(votes, facts)


def _facts_lines(report: Report, facts: Facts) -> list[tuple[str, str]]:
    n, peak = report.n_rows, report.peak_bytes
    held = f"{size(report.held_bytes)} held" if report.held_bytes else "read in parts"
    lines = [
        ("votes cast", f"{facts.n_votes:,} of {n * report.n_learners:,} ({percent(facts.coverage)})"),
        ("votes per row", f"{facts.fewest_votes:,} to {facts.most_votes:,}"),
        ("unanimous rows", f"{facts.n_unanimous:,} ({percent(facts.n_unanimous / n)})"),
        ("tied rows", f"{facts.n_tied:,} ({percent(facts.n_tied / n)}); their majority vote is a draw"),
        ("rows without a vote", f"{facts.n_silent:,}"),
        ("constant learners", shortened(facts.constant_learners)),
        ("identical learners", shortened([" = ".join(group) for group in facts.identical_learners])),
        ("memory", held + (f", process peak {size(peak)}" if peak else "")),
    ]
    if facts.majority_accuracy is not None:
        known = f"truth known for {facts.n_truth:,} rows; evaluation only"
        lines.append(("majority vote is right", f"{percent(facts.majority_accuracy)} ({known})"))
        if facts.n_tied:
            first = percent(facts.majority_first_class_accuracy)
            lines.append(("", f"with ties broken at random; {first} with ties given to the first class"))
    return lines


def _rule_lines(rules: RuleTable) -> Iterable[str]:
    header = ["rule", "votes for", "coverage", "overlap", "conflict"]
    judged = any(rule.precision is not None for rule in rules.rules)
    rows = []
    for rule in rules.rules[:ROWS_SHOWN]:
        shares = [percent(share) for share in (rule.coverage, rule.overlap, rule.conflict)]
        rows.append([rule.learner, listing(rule.polarity, 3) or DASH, *shares])
        if judged:
            rows[-1].append(percent(rule.precision))
    yield from table([*header, "right (evaluation)"] if judged else header, rows, len(rules.rules))


def _bias_lines(report: Report) -> Iterable[str]:
    header = ["judge", "rows in both orders", "contradicts itself", "95% interval", "towards the first", "second"]
    rows = [
        [
            *(bias.judge, f"{bias.both:,}", percent(bias.share), interval(*bias.interval)),
            *(f"{bias.towards_first:,}", f"{bias.towards_second:,}"),
        ]
        for bias in report.position_bias[:ROWS_SHOWN]
    ]
    yield from table(header, rows, len(report.position_bias))


def _learner_table(votes: Votes, facts: Facts) -> Iterable[str]:
    header = ["learner", "votes on", "agrees with majority", "most voted class"]
    rows = []
    for j, name in enumerate(votes.learners[:ROWS_SHOWN]):
        silent = not facts.learner_coverage[j]
        most = "–" if silent else str(votes.classes[facts.learner_class[j]])
        rows.append([name, percent(facts.learner_coverage[j]), percent(facts.learner_agreement[j]), most])
        if facts.learner_accuracy is not None:
            rows[-1].append(percent(facts.learner_accuracy[j]))
    if facts.learner_accuracy is not None:
        header.append("right (evaluation)")
    yield from table(header, rows, votes.n_learners)


def _class_table(votes: Votes, facts: Facts) -> Iterable[str]:
    total = max(facts.n_votes, 1)
    rows = [
        [str(label), f"{count:,}", percent(count / total), f"{rows:,}"]
        for label, count, rows in zip(votes.classes[:ROWS_SHOWN], facts.class_votes, facts.class_rows, strict=False)
    ]
    yield from table(["class", "votes", "share", "rows by majority vote"], rows, votes.n_classes)
