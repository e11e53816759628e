"""Gold rows: what 5 to 100 known labels gain, drawn at random or chosen by `questions`, and what they prove.

Usage: DEEM_DATA=folder python -m benchmarks.bench_gold [NAME ...] [--draws 20] [--cached]

Sets are all under DEEM_DATA with truth, of at most 3,000 rows each (a draw with seed 0; rows with truth come first),
and simulated panels of eight weak and four strong judges in two camps. The field of a set is made once, without any
label; each draw of g gold rows, at most a fifth of the rows with truth, is one call of `choose`; sets that have fewer
to give than g count only where that is said. Figures are on the
remaining rows that have votes and truth: gold rows are never among them. Without names, what was counted is written to
benchmarks/results/gold.json and the tables to gold.md beside it; --cached writes the tables from what was counted.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bench_accuracy import load as load_stored
from benchmarks.paper.data import stored_soft
from deem_core import Votes
from deem_core.auto.decision import make_field
from deem_core.gold import Estimate, Field, choose, questions
from deem_core.gold.choice import WEIGHTS
from deem_core.gold.field import LEARNER, START
from deem_core.gold.weights import learner_weights
from deem_core.typing import Codes, Mask
from deem_core.votes import NO_VOTE, Gold
from deem_core.votes.arrays import weighted_votes
from deem_core.votes.majority import fair_hits

SIZES = (5, 10, 20, 50, 100)
"""Gold rows, beside none."""
ROWS = 3_000
"""Rows of a set, at most."""
RANDOM, CHOSEN = "random", "chosen"
WEAK, STRONG = 8, 4
"""Judges of the two camps."""
WEAK_RIGHT, STRONG_RIGHT = 0.55, 0.90
"""Chance that the opinion of a camp is right, and that of each judge who does not follow it."""
FOLLOW = 0.7
"""Chance that a judge follows the opinion of the camp."""
PANEL_ROWS, PANEL_CLASSES, PANEL_SEEDS = 1_000, (2, 4), (100, 101, 102)
RESULTS = Path(__file__).parent / "results"
STORE, PAGE = RESULTS / "gold.json", RESULTS / "gold.md"
PANEL = "llmjudge_llmbar"
GAINS = {20: 1.0, 100: 2.0}
"""Goal: mean gain over no gold in points, by gold rows."""
BELOW = 0.8
"""Goal: no set is further below no gold than this, in points."""
PANEL_RIGHT = {20: 80.0, 50: 83.5}
"""Goal: accuracy on the panel of judges with random rows."""
COVERAGE = 87.0
"""Goal: per cent of all draws whose 90% interval holds the accuracy."""
NAMED, NEAR = 90.0, 2.0
"""A panel is settled if its strong camp is named in so many per cent of the draws, and accuracy is so near to it."""

Cell = dict[str, Any]
"""Means over the draws of one set, one g and one way to draw."""


def main() -> None:
    """Run all draws, print the page, and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="sets (default: all)")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--cached", action="store_true", help="run nothing; use what was counted")
    options = parser.parse_args()
    known = sets()
    unknown = [name for name in options.names if name not in known]
    if unknown:
        parser.error(f"There is no {', '.join(unknown)} here; sets: {', '.join(known)}.")
    cells: list[Cell] = json.loads(STORE.read_text(encoding="utf-8")) if options.cached else []
    for name in [] if options.cached else options.names or list(known):
        begun = time.perf_counter()
        cells += of_set(name, known[name](), options.draws)
        print(f"{name}: {time.perf_counter() - begun:.0f} s", flush=True)
    text = page(cells)
    print(text)
    if not options.names:
        STORE.write_text("[\n" + ",\n".join(json.dumps(cell) for cell in cells) + "\n]\n", encoding="utf-8")
        PAGE.write_text(text, encoding="utf-8")


# ---------------------------------------------------------------------- sets


def sets() -> dict[str, Callable[[], Votes]]:
    """Return name → how to get its votes with truth, for every set that is here and every simulated panel."""
    known: dict[str, Callable[[], Votes]] = {}
    data = os.environ.get("DEEM_DATA")
    if data:
        folder = Path(data)
        names = [file.stem for file in folder.glob("*.npz")]
        names += [file.name.removesuffix(".truth.csv") for file in (folder / "crowd").glob("*.truth.csv")]
        known |= {name: partial(_stored, folder, name) for name in sorted(names)}
    else:
        print("DEEM_DATA names no folder of ensembles: simulated panels only.")
    for K in PANEL_CLASSES:
        known |= {f"camps-{K}-{seed}": partial(two_camps, K, seed) for seed in PANEL_SEEDS}
    return known


def _stored(folder: Path, name: str) -> Votes:
    votes = stored_soft(name.removesuffix("_soft")) if name.endswith("_soft") else load_stored(folder, name)
    assert votes is not None  # noqa: S101  # the folder was asked
    return capped(votes)


def capped(votes: Votes, most: int = ROWS) -> Votes:
    """Return at most so many rows, drawn with seed 0; rows without truth only where those with it are too few."""
    if votes.n_rows <= most:
        return votes
    order = np.random.default_rng(0).permutation(votes.n_rows)
    unknown = np.asarray(votes.truth)[order] == NO_VOTE
    return votes.select_rows(np.sort(order[np.argsort(unknown, kind="stable")][:most]))


def two_camps(K: int, seed: int, n: int = PANEL_ROWS) -> Votes:
    """Return a panel of eight weak and four strong judges, with truth.

    Each camp has an opinion of every row, right with its chance and else any other class. A judge follows it with
    chance FOLLOW and has an opinion of the same quality otherwise, so that mistakes are shared inside a camp and,
    given the truth, nothing between camps.
    """
    rng = np.random.default_rng(seed)
    truth = rng.integers(K, size=n).astype(np.int32)

    def opinions(d: int, right: float) -> Codes:
        wrong = (truth[:, None] + rng.integers(1, K, size=(n, d))) % K
        return np.where(rng.random((n, d)) < right, truth[:, None], wrong).astype(np.int32)

    sides = []
    for d, right in ((WEAK, WEAK_RIGHT), (STRONG, STRONG_RIGHT)):
        common, own = opinions(1, right), opinions(d, right)
        sides.append(np.where(rng.random((n, d)) < FOLLOW, common, own))
    names = (*(f"weak_{j + 1}" for j in range(WEAK)), *(f"strong_{j + 1}" for j in range(STRONG)))
    return Votes(np.hstack(sides), np.arange(K), names, truth=truth)


# ---------------------------------------------------------------------- draws


@dataclass(frozen=True)
class Outcome:
    """One draw of gold rows, judged on the remaining rows."""

    right: dict[str, float]  # accuracy in per cent of the procedure and its rivals
    held: bool  # whether the 90% interval of the answer holds its accuracy
    held_majority: bool  # the same for the majority vote
    width: float  # of the interval of the answer, in points
    kind: str  # what was chosen: start, weights, method, camp or learner
    fair: bool  # whether the rows are a fair draw
    strong_camp: tuple[str, ...]


def of_set(name: str, votes: Votes, draws: int, sizes: Sequence[int] = SIZES) -> Iterator[Cell]:
    """Yield what the draws of a set give, without gold first."""
    truth = np.asarray(votes.truth)
    field = make_field(votes)
    known = field.voted & (truth != NO_VOTE)
    about: Cell = {"set": name, "shape": f"{votes.n_rows:,} × {votes.n_learners} × {votes.n_classes:,}"}
    about |= {"start_by": field.start, "split": field.split}
    if name.startswith("camps-"):
        strong = tuple(judge for judge in votes.learners if judge.startswith("strong"))
        about["strong_right"] = _percent(field.majority_of(strong), truth, known)
        about["sides_found"] = set(map(frozenset, field.camps)) == {frozenset(strong), _others(votes, strong)}
    bare = outcome(field, truth, Gold(np.full(votes.n_rows, NO_VOTE, np.int32)))
    yield cell([bare]) | about | {"g": 0, "how": RANDOM, "used": 0}
    most = int(known.sum()) // 5
    for g in sizes:
        used = min(g, most)
        for at, how in enumerate((RANDOM, CHOSEN)):
            rngs = [np.random.default_rng([zlib.crc32(name.encode()), at, draw, at * g]) for draw in range(draws)]
            told = [outcome(field, truth, drawn(field, truth, used, how, rng)) for rng in rngs]
            yield cell(told) | about | {"g": g, "how": how, "used": used}


def _others(votes: Votes, some: Sequence[str]) -> frozenset[str]:
    return frozenset(votes.learners) - frozenset(some)


def drawn(field: Field, truth: Codes, g: int, how: str, rng: np.random.Generator) -> Gold:
    """Return g gold rows, all of them with votes and truth.

    Random rows of the same draw are nested: those of a smaller g are among those of a larger one. Rows that were
    asked for and have no truth are skipped, as a person would.
    """
    known = field.voted & (truth != NO_VOTE)
    codes = np.full(len(truth), NO_VOTE, np.int32)
    if how == RANDOM:
        rows = rng.permutation(np.flatnonzero(known))[:g]
        codes[rows] = truth[rows]
        return Gold(codes)
    asked = questions(field, g if known[field.voted].all() else int(field.voted.sum()), rng=rng)
    rows = np.array([row for row in asked.rows if known[row]][:g])
    codes[rows] = truth[rows]
    return Gold(codes, asked=np.full(len(truth), not asked.fair))


def outcome(field: Field, truth: Codes, gold: Gold) -> Outcome:
    """Return what gold rows choose, judged on the remaining rows."""
    verdict = choose(field, gold)
    rest = remaining(field, truth, gold)
    majority = fair_hits(field.votes.codes, field.votes.majority_vote, truth)[rest]
    right = {
        "procedure": _percent(labels_of(field, gold, verdict.chosen), truth, rest),
        "start": _percent(field.start_codes, truth, rest),
        "majority": 100 * float(majority.mean()),
    }
    if gold.n_rows:
        right["weights"] = _percent(labels_of(field, gold, WEIGHTS), truth, rest)
    if verdict.best_learner is not None:
        right["learner"] = _percent(labels_of(field, gold, LEARNER + verdict.best_learner.name), truth, rest)
    return Outcome(
        right=right,
        held=_holds(verdict.answer, right["procedure"]),
        held_majority=_holds(verdict.majority, right["majority"]),
        width=100 * ((verdict.answer.high or 1.0) - (verdict.answer.low or 0.0)),
        kind=kind_of(verdict.chosen),
        fair=not gold.was_asked,
        strong_camp=verdict.strong_camp,
    )


def remaining(field: Field, truth: Codes, gold: Gold) -> Mask:
    """Return the rows to judge on, (n,): with votes, with truth, and not gold."""
    return np.asarray(field.voted & (truth != NO_VOTE) & ~gold.known)


def labels_of(field: Field, gold: Gold, name: str) -> Codes:
    """Return the labels of a candidate by its name, (n,)."""
    if name == WEIGHTS:
        votes = field.votes
        return field.tilted(weighted_votes(votes.codes, learner_weights(votes, gold), votes.n_classes))
    if name.startswith(LEARNER):
        return field.learner_codes(field.votes.learners.index(name.removeprefix(LEARNER)))
    return field.shared[name]


def kind_of(name: str) -> str:
    """Return what a candidate is, by its name."""
    if name.startswith(LEARNER):
        return "learner"
    return {START: "start", WEIGHTS: "weights"}.get(name, "camp" if name.startswith("camp_") else "method")


def _percent(codes: Codes, truth: Codes, rows: Mask) -> float:
    return 100 * float((codes == truth)[rows].mean())


def _holds(told: Estimate, right: float) -> bool:
    return told.low is not None and told.high is not None and 100 * told.low <= right <= 100 * told.high


def cell(told: Sequence[Outcome]) -> Cell:
    """Return the means of some draws."""
    gains = np.array([one.right["procedure"] - one.right["start"] for one in told])
    names = dict.fromkeys(name for one in told for name in one.right)
    rights = {name: [one.right[name] for one in told if name in one.right] for name in names}  # a learner may be silent
    return {
        "draws": len(told),
        **{name: round(float(np.mean(each)), 3) for name, each in rights.items()},
        "sd": round(float(np.std([one.right["procedure"] for one in told])), 3),
        "gain": round(float(gains.mean()), 3),
        "gain_sd": round(float(gains.std()), 3),
        "worst_draw": round(float(gains.min()), 3),
        "held": sum(one.held for one in told),
        "held_majority": sum(one.held_majority for one in told),
        "width": round(float(np.mean([one.width for one in told])), 2),
        "kinds": dict(Counter(one.kind for one in told).most_common()),
        "fair": sum(one.fair for one in told),
        "strong_named": sum(
            len(one.strong_camp) == STRONG and all(name.startswith("strong_") for name in one.strong_camp)
            for one in told
        ),
    }


# ---------------------------------------------------------------------- page


def page(cells: Sequence[Cell]) -> str:
    """Return goals, pooled tables and every set."""
    stored = [one for one in cells if not one["set"].startswith("camps-")]
    panels = [one for one in cells if one["set"].startswith("camps-")]
    draws = max((one["draws"] for one in cells), default=0)
    return "\n".join(
        [
            "# Gold rows",
            "",
            "Made by `DEEM_DATA=folder python -m benchmarks.bench_gold`, which explains what runs. "
            f"{draws} draws of gold rows for each set and size; accuracy in per cent on the remaining rows with votes "
            "and truth; ± is the standard deviation over draws. Every field was made with seed 0, and draws have seeds "
            "from the name of the set. Chosen rows are a fair draw like random ones below 20 and in crowds: there the "
            "two columns differ by luck alone.",
            "",
            "## Goals",
            "",
            *(f"- {line}" for line in goals(stored, panels)),
            "",
            *_pooled("Sets with truth", stored),
            *_pooled("Sets where rows are chosen, not drawn", _where_chosen(stored)),
            *_pooled("Simulated panels of two camps", panels),
            *_camps(panels),
            *_every(cells),
        ]
    )


def goals(stored: Sequence[Cell], panels: Sequence[Cell]) -> Iterator[str]:
    """Yield each goal, met or missed, with its figures."""
    for how in (RANDOM, CHOSEN):
        for g, goal in GAINS.items():
            some = _of(stored, g, how)
            every = [one for one in stored if one["g"] == g and one["how"] == how]
            if len(every) > len(some):
                gain = float(np.mean([one["gain"] for one in every]))
                told = (
                    f"{how}, {g}, or a fifth of the rows if that is fewer: mean gain {gain:+.2f} on {len(every)} sets"
                )
                yield _met(gain >= goal, f"{told} (goal {goal:+.0f})")
            if some:
                gain = float(np.mean([one["gain"] for one in some]))
                low = min(some, key=lambda one: float(one["gain"]))
                yield _met(gain >= goal, f"{how}, {g}: mean gain {gain:+.2f} on {len(some)} sets (goal {goal:+.0f})")
                told = f"{how}, {g}: worst set {low['set']} {low['gain']:+.2f} (goal −{BELOW} or more)"
                yield _met(low["gain"] >= -BELOW, told)
    for g, goal in PANEL_RIGHT.items():
        pair = [one for how in (RANDOM, CHOSEN) for one in _of(stored, g, how) if one["set"] == PANEL]
        if pair:
            random, chosen = pair
            right = float(random["procedure"])
            yield _met(right >= goal, f"{PANEL}, random, {g}: {right:.1f} ± {random['sd']:.1f} (goal {goal})")
            noise = 2 * float(np.sqrt((random["sd"] ** 2 + chosen["sd"] ** 2) / random["draws"]))
            less = float(chosen["procedure"]) - right
            yield _met(less >= -noise, f"{PANEL}, chosen − random, {g}: {less:+.1f} (two standard errors {noise:.1f})")
    for one in _of(panels, 20, RANDOM) + _of(panels, 20, CHOSEN):
        named, gap = 100 * one["strong_named"] / one["draws"], float(one["procedure"] - one["strong_right"])
        told = f"{one['set']}, {one['how']}, 20: strong camp named in {named:.0f}%, {gap:+.1f} against its majority"
        yield _met(named >= NAMED and gap >= -NEAR, f"{told} (goal {NAMED:.0f}%, −{NEAR:.0f})")
    for how in (RANDOM, CHOSEN):
        for g in SIZES:
            some = _of([*stored, *panels], g, how)
            if some:
                share = _share(some, "held")
                yield _met(share >= COVERAGE, f"{how}, {g}: intervals hold in {share:.1f}% (goal {COVERAGE:.0f})")


def _met(met: bool, told: str) -> str:
    return f"{'met' if met else '**missed**'}: {told}"


def _of(cells: Sequence[Cell], g: int, how: str) -> list[Cell]:
    """Return the cells with g gold rows; sets that have fewer to give are left out."""
    return [one for one in cells if one["g"] == g and one["how"] == how and one["used"] == g]


def _share(cells: Sequence[Cell], name: str) -> float:
    return 100 * float(sum(one[name] for one in cells) / sum(one["draws"] for one in cells))


def _where_chosen(cells: Sequence[Cell]) -> list[Cell]:
    """Return sizes and sets at which chosen rows are no fair draw, with the random rows beside them."""
    there = {(one["set"], one["g"]) for one in cells if one["fair"] < one["draws"]}
    return [one for one in cells if (one["set"], one["g"]) in there]


def _pooled(title: str, cells: Sequence[Cell]) -> Iterator[str]:
    """Yield the table over sets of each size and way to draw."""
    yield f"## {title}"
    yield ""
    yield (
        "| g | rows | sets | gain over no gold | worst set | worst draw | majority vote | best learner on gold (worst) "
        "| weighted vote (worst) | 90% intervals hold | of the majority vote | width |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|---|---|"
    for g in SIZES:
        for how in (RANDOM, CHOSEN):
            some = _of(cells, g, how)
            if some:
                low = min(some, key=lambda one: float(one["gain"]))
                cut = min(some, key=lambda one: float(one["worst_draw"]))
                figures = [
                    f"{np.mean([one['gain'] for one in some]):+.2f}",
                    f"{low['gain']:+.2f} {low['set']}",
                    f"{cut['worst_draw']:+.1f} {cut['set']}",
                    _rival(some, "majority", worst=False),
                    _rival(some, "learner"),
                    _rival(some, "weights"),
                    f"{_share(some, 'held'):.1f}%",
                    f"{_share(some, 'held_majority'):.1f}%",
                    f"{np.mean([one['width'] for one in some]):.0f}",
                ]
                yield f"| {g} | {how} | {len(some)} | {' | '.join(figures)} |"
    yield ""


def _rival(cells: Sequence[Cell], name: str, *, worst: bool = True) -> str:
    gains = [one[name] - one["start"] for one in cells if name in one]
    if not gains:
        return "–"
    return f"{np.mean(gains):+.2f}" + (f" ({min(gains):+.1f})" if worst else "")


def _camps(panels: Sequence[Cell]) -> Iterator[str]:
    """Yield what was found of the camps of simulated panels."""
    yield "Whether both sides were found and the split was seen without gold; then, for each g of random rows, the per"
    yield "cent of draws that name the strong camp, and the accuracy."
    yield ""
    yield f"| panel | sides found | split seen | no gold | strong camp | {' | '.join(map(str, SIZES))} |"
    yield f"|---|---|---|---|---|{'---|' * len(SIZES)}"
    for bare in _of(panels, 0, RANDOM):
        seen = ["yes" if bare[key] else "no" for key in ("sides_found", "split")]
        figures = [f"{bare['start']:.1f}", f"{bare['strong_right']:.1f}"]
        for g in SIZES:
            own = [one for one in _of(panels, g, RANDOM) if one["set"] == bare["set"]]
            figures.append(f"{_share(own, 'strong_named'):.0f}, {own[0]['procedure']:.1f}" if own else "–")
        yield f"| {bare['set']} | {' | '.join([*seen, *figures])} |"
    yield ""


def _every(cells: Sequence[Cell]) -> Iterator[str]:
    """Yield a line for each set and size: random / chosen rows."""
    yield "## Every set, random / chosen rows"
    yield ""
    yield (
        "| set | g | procedure | no gold | majority vote | best learner on gold | weighted vote | draws held "
        "| of the majority vote | width | worst draw | answered by, random rows |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|---|---|"
    for name, g in dict.fromkeys((one["set"], one["g"]) for one in cells):
        pair = [one for one in cells if (one["set"], one["g"]) == (name, g)]
        first = pair[0]
        title = name if g else f"{name}: {first['shape']}, {first['start_by']}{', split' if first['split'] else ''}"
        columns = [[f"{one['procedure']:.1f} ± {one['sd']:.1f}" for one in pair]]
        columns += [[f"{first[key]:.1f}"] for key in ("start", "majority")]
        columns += [[f"{one[key]:.1f}" if key in one else "–" for one in pair] for key in ("learner", "weights")]
        if g:
            columns += [[str(one[key]) for one in pair] for key in ("held", "held_majority")]
            columns += [[f"{one['width']:.0f}" for one in pair], [f"{one['worst_draw']:+.1f}" for one in pair]]
            columns += [[", ".join(f"{kind} {count}" for kind, count in first["kinds"].items())]]
        yield f"| {title} | {g} | {' | '.join(' / '.join(each) for each in columns)} |{'' if g else ' |' * 5}"
    yield ""


if __name__ == "__main__":
    main()
