"""Where no model fits: attempts to do better than the majority vote, chosen on one half of the sets, judged on another.

Usage: [DEEM_DATA=folder] python -m benchmarks.misfit [--half choose]

Ensembles are made of scikit-learn's bundled tables and generators (`tables`, `ensembles`), voted out of fold; those for
which `auto` has a model that fits are left out. Votes and answers are kept in benchmarks/results/misfit (votes are made
in five minutes, answers in twenty), so that a stopped run goes on. With DEEM_DATA the misfits there follow as sets that
earlier work has seen. With --half choose nothing of the other half is looked at, and nothing is written; without it the
page is written to benchmarks/results/misfit.md.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from benchmarks.bench_accuracy import load
from benchmarks.misfit.answers import METHODS, Case, case_of
from benchmarks.misfit.attempts import DEEM, attempts, measures
from benchmarks.misfit.ensembles import STORE, ensemble
from benchmarks.misfit.tables import SOURCES, half
from deem_core.typing import Floats
from deem_core.votes.majority import fair_hits

SEEN = ("ens_digits", "uci_gesture", "uci_artchars")
"""Misfits under DEEM_DATA; not ens_letter, on whose 26 classes EBCC takes too long."""
GOAL, WORST = 0.3, -0.5
"""Points over the majority vote that the mean must exceed, and below it that no set may lie."""
CAUTION = -0.25
"""Worst of an attempt on the sets to choose from, at least: fresh sets are worse than those a choice was made on."""


def main() -> None:
    """Print the page, and write it if it is whole."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=["choose"], help="look at the sets to choose from alone")
    options = parser.parse_args()
    folder = os.environ.get("DEEM_DATA")
    groups = {"choose": drawn("choose")}
    if options.half is None:
        groups["judge"] = drawn("judge")
        if folder:
            cases = [case_of(name, load(Path(folder), name)) for name in SEEN]
            groups["seen"] = [case for case in cases if case is not None]
    text = "\n".join([*page(groups), ""])
    print(text)
    if options.half is None:
        (STORE.parent / "misfit.md").write_text(text, encoding="utf-8")


def drawn(which: str) -> list[Case]:
    """Return the misfits of one half."""
    cases = [case_of(source.name, ensemble(source)) for source in SOURCES if half(source) == which]
    return [case for case in cases if case is not None]


TITLES = {"choose": "Sets to choose from", "judge": "Sets to judge on", "seen": "Sets seen in earlier work"}


def page(groups: dict[str, list[Case]]) -> Iterator[str]:
    """Yield the page."""
    yield "# Where no model fits"
    yield ""
    yield (
        "Made by `python -m benchmarks.misfit`, which explains what runs. Points over the majority vote, whose ties "
        "are a fair draw; one run with seed 0. No attempt looks at the truth."
    )
    for which, cases in groups.items():
        yield from ["", f"## {TITLES[which]}: {len(cases)}", ""]
        yield from methods_table(cases)
    yield from ["", beaten([case for cases in groups.values() for case in cases])]
    found = {which: {name: gains(cases, name) for name in names()} for which, cases in groups.items()}
    chosen = choice(found["choose"])
    yield from ["", "## Attempts", ""]
    yield from attempts_table(found)
    yield from ["", f"Chosen on the sets to choose from: {chosen or 'none'}.", ""]
    if chosen and "judge" in found:
        yield from verdict(chosen, groups, found)
    yield from ["", "## Signs that might tell where DEEM gains", ""]
    yield from signs_table(groups)


def names() -> dict[str, str]:
    """Return attempt → kind."""
    return {name: kind for kind, own in attempts().items() for name in own}


def gains(cases: Sequence[Case], name: str) -> Floats:
    """Return what an attempt gains on each set, in points."""
    attempt = attempts()[names()[name]][name]
    return np.array([gain(case, attempt(case)) for case in cases])


def gain(case: Case, labels: np.ndarray) -> float:
    """Return points over the majority vote with its ties drawn."""
    truth = case.votes.truth
    assert truth is not None  # noqa: S101  # every set here has one
    fair = fair_hits(case.votes.codes, case.votes.majority_vote, truth)
    return 100 * float(((labels == truth) - fair).mean())


def choice(found: dict[str, Floats]) -> str:
    """Return the attempt of the highest mean among those that lose little on any set; empty if there is none."""
    safe = [name for name, own in found.items() if own.min() >= CAUTION and own.mean() > GOAL]
    return max(safe, key=lambda name: found[name].mean(), default="")


# ---------------------------------------------------------------------- tables


def methods_table(cases: Sequence[Case]) -> Iterator[str]:
    """Yield what each method gains on each set."""
    heads = ("set", "rows × learners × classes", "excess", "majority vote", "auto", *METHODS)
    yield f"| {' | '.join(heads)} | CPU s of DEEM |"
    yield f"|{'---|' * (len(heads) + 1)}"
    columns: list[list[float]] = []
    for case in cases:
        truth = case.votes.truth
        assert truth is not None  # noqa: S101
        majority = 100 * float(fair_hits(case.votes.codes, case.votes.majority_vote, truth).mean())
        own = [gain(case, case.auto)]
        own += [gain(case, case.posteriors[m].argmax(axis=1)) if m in case.posteriors else np.nan for m in METHODS]
        columns.append(own)
        shape = f"{case.votes.n_rows:,} × {case.votes.n_learners} × {case.votes.n_classes}"
        cells = [case.name, shape, f"{case.excess:.3f}", f"{majority:.1f}", *(f"{value:+.1f}" for value in own)]
        yield f"| {' | '.join(cells)} | {case.seconds[DEEM]:.0f} |"
    for title, of in (("mean", np.nanmean), ("worst", np.nanmin)):
        yield f"| {title} | | | | {' | '.join(f'{value:+.2f}' for value in of(np.array(columns), axis=0))} | |"


def beaten(cases: Sequence[Case]) -> str:
    """Say on which sets every other method is above `auto`."""
    names = [
        case.name
        for case in cases
        if all(gain(case, made.argmax(axis=1)) > gain(case, case.auto) for made in case.posteriors.values())
    ]
    which = f": {', '.join(names)}" if names else ""
    return f"Every other method is above `auto` on {len(names)} of {len(cases)} sets{which}."


def attempts_table(found: dict[str, dict[str, Floats]]) -> Iterator[str]:
    """Yield mean and worst of every attempt on every group of sets."""
    heads = [f"{which}: {what}" for which in found for what in ("mean", "worst")]
    yield f"| attempt | {' | '.join(heads)} |"
    yield f"|---|{'---|' * len(heads)}"
    for kind, own in attempts().items():
        yield f"| **{kind}** |{' |' * len(heads)}"
        for name in own:
            cells = [f"{of(gained[name]):+.2f}" for gained in found.values() for of in (np.mean, np.min)]
            yield f"| {name} | {' | '.join(cells)} |"


def verdict(chosen: str, groups: dict[str, list[Case]], found: dict[str, dict[str, Floats]]) -> Iterator[str]:
    """Yield the chosen attempt on the sets to judge on."""
    own = found["judge"][chosen]
    holds = own.mean() > GOAL and own.min() >= WORST
    yield (
        f"On the sets to judge on it gains {own.mean():+.2f} on average and {own.min():+.2f} at worst; asked for were "
        f"more than {GOAL:+.1f} and no less than {WORST:+.1f}: it {'holds' if holds else 'does not hold'}."
    )
    yield from ["", "| set | " + " | ".join(case.name for case in groups["judge"]) + " |"]
    yield f"|---|{'---|' * len(own)}"
    yield f"| gain | {' | '.join(f'{value:+.2f}' for value in own)} |"


def signs_table(groups: dict[str, list[Case]]) -> Iterator[str]:
    """Yield each sign beside what DEEM gains over `auto`, and their rank correlations."""
    rows = []
    for cases in groups.values():
        for case in cases:
            told = dict(measures(case))
            over = gain(case, case.posteriors[DEEM].argmax(axis=1)) - gain(case, case.auto)
            rows.append((case.name, over, told))
    heads = list(rows[0][2])
    yield f"| set | DEEM − auto | {' | '.join(heads)} |"
    yield f"|---|---|{'---|' * len(heads)}"
    for name, over, told in rows:
        yield f"| {name} | {over:+.2f} | {' | '.join(f'{told[head]:.3f}' for head in heads)} |"
    overs = [over for _, over, _ in rows]
    ranks = [spearmanr(overs, [told[head] for _, _, told in rows]).statistic for head in heads]
    yield f"| rank correlation | | {' | '.join(f'{rank:+.2f}' for rank in ranks)} |"


if __name__ == "__main__":
    main()
