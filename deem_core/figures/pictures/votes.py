"""Pictures of votes before anything is fused."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from deem_core.diagnostics.rows import Pair
from deem_core.diagnostics.rules import RuleTable
from deem_core.figures import agreement as draw_agreement
from deem_core.figures import learner_bars as draw_learners
from deem_core.figures import position_bias as draw_bias
from deem_core.figures import rules as draw_rules
from deem_core.figures import votes as draw_votes
from deem_core.figures.class_ranks import MOST_SHOWN
from deem_core.figures.picture import Picture
from deem_core.figures.pictures._pairs import pairs_of_learners
from deem_core.votes import Votes
from deem_core.votes.agreement import PairAgreement, RowAgreement
from deem_core.votes.describe import Facts
from deem_core.votes.label_sets import label_sets
from deem_core.votes.orders import PositionBias

_BY_CLASS = (
    "**Good:** bars of similar length with a similar mix of colours. **Bad:** a bar of a single colour, from a learner "
    "that always votes the same, or one so short that the learner hardly votes. **Worth a look:** a mix unlike all the "
    "others; it may be an expert or a broken learner."
)
_BY_RANK = (
    "Too many classes for bars: each line adds up a learner's votes, from the class it names most to the one it names "
    "least. **Good:** lines close together. **Bad:** a line far above the others, from a learner that gives most of "
    "its votes to few classes; one at 100% long before the right end never names the classes after that. Point at a "
    "line to see the class at each rank; the same rank can be another class for another learner."
)


def votes_per_class(votes: Votes) -> Picture:
    """Return how often each learner votes for each class."""
    counts, learners, classes = votes.class_counts, votes.learners, list(votes.classes)
    many = len(classes) > MOST_SHOWN
    return Picture(
        question="What does each learner vote for?",
        draw=lambda theme: draw_votes.votes_per_class(counts, learners, classes, theme=theme),
        alt=(
            "Lines: the share of each learner's votes in its most frequent classes."
            if many
            else "Stacked bars: how many votes each learner cast for each class."
        ),
        caption=_BY_RANK if many else _BY_CLASS,
    )


def votes_per_label(votes: Votes) -> Picture:
    """Return how often each learner gives each of several labels."""
    sets = label_sets(votes)
    counts = votes.class_counts @ sets.members[: votes.n_classes]
    return Picture(
        question="Which labels does each learner give?",
        draw=lambda theme: draw_votes.votes_per_class(
            counts, votes.learners, list(sets.labels), theme=theme, word="label"
        ),
        alt="Stacked bars: how many times each learner gave each label.",
        caption=(
            "A vote counts once for each of its labels. **Good:** a similar mix of colours. **Worth a look:** a much "
            "longer bar, of a learner that gives many labels, or a shorter one, of a learner that overlooks some."
        ),
    )


def pair_agreement(found: PairAgreement, learners: Sequence[str]) -> Picture:
    """Return how often each pair of learners agrees."""
    sampled = f" From {found.rows_used:,} of {found.n_rows:,} rows, evenly spread." if found.sampled else ""
    return Picture(
        question="Who agrees with whom?",
        draw=lambda theme: draw_agreement.agreement_heatmap(found.share, learners, order=found.order, theme=theme),
        alt="Heatmap: how often each pair of learners votes the same.",
        caption=(
            "Learners that agree stand side by side. **Good:** an even, middling colour. **Bad:** a block much "
            "stronger than the rest (they copy each other or were trained alike, so their votes tell less than they "
            f"seem to) or a faint stripe (a learner that agrees with no other).{sampled}"
        ),
        cells=pairs_of_learners(learners, lambda one, other: (Pair(one, other),)),
    )


def row_agreement(rows: RowAgreement) -> Picture:
    """Return on how many rows how many learners agree."""
    return Picture(
        question="How often do the learners agree?",
        draw=lambda theme: draw_agreement.agreement_histogram(rows, theme=theme),
        alt="Bars: rows by the number of learners that agree.",
        caption=(
            "How many learners share the most frequent answer of a row. **Easy:** most rows at the right end, where "
            "nearly all agree. **Hard:** many rows at the left, where fusing well matters most."
        ),
    )


def coverage(facts: Facts, learners: Sequence[str]) -> Picture:
    """Return the share of the rows that each learner votes on."""
    return Picture(
        question="Who votes on how many rows?",
        draw=lambda theme: draw_learners.coverage_bars(facts.learner_coverage, learners, theme=theme),
        alt="Bars: the share of rows each learner voted on.",
        caption=(
            "Missing votes are no problem in themselves. **Worth a look:** a learner with too few votes to tell how "
            "good it is."
        ),
    )


def learner_accuracy(facts: Facts, learners: Sequence[str], counts: ArrayLike) -> Picture:
    """Return how often each learner is right (evaluation only).

    Parameters
    ----------
    facts : Facts
    learners : sequence of d str
    counts : (d,) array of int
        Votes of each learner on rows with known truth.
    """
    accuracy = np.full(len(learners), np.nan) if facts.learner_accuracy is None else facts.learner_accuracy
    return Picture(
        question="How accurate is each learner really?",
        draw=lambda theme: draw_learners.accuracy_bars(
            learners, accuracy, counts, facts.majority_accuracy, theme=theme
        ),
        alt="Bars: the accuracy of each learner where the truth is known.",
        caption=(
            "Share of right votes where the truth is known, with 95% intervals. The dashed line is the majority "
            "vote: good fusing beats it."
        ),
    )


def position_bias(biases: Sequence[PositionBias], *, merged: bool = False) -> Picture:
    """Return how often the order of two answers decides.

    ``merged`` says that the two answers of a judge are one vote.
    """
    known = [bias for bias in biases if bias.both]
    counted = "On these rows the judge has no vote." if merged else "Both answers count as votes."
    return Picture(
        question="Does the order of the answers decide?",
        draw=lambda theme: draw_bias.bias_bars(known, theme=theme),
        alt="Stacked bars: the share of rows on which each judge contradicts itself when the answers change places.",
        caption=(
            "Each judge saw both answers in both orders. The bar is the share of rows on which its two answers "
            "contradict each other, with a 95% interval; the colours say which place they lean to. **Good:** a short "
            "bar. **Bad:** a long one, mostly of one colour: what is shown first, or second, wins. "
            f"{counted}"
        ),
    )


def rules(table: RuleTable) -> Picture:
    """Return how often each labelling rule votes, alone or with others."""
    each = table.rules
    coverage, overlap, conflict = (
        np.array([getattr(rule, name) for rule in each], np.float64) for name in ("coverage", "overlap", "conflict")
    )
    return Picture(
        question="How often do rules fire, and which ones conflict?",
        draw=lambda theme: draw_rules.rule_bars(
            [rule.learner for rule in each],
            [rule.polarity for rule in each],
            coverage,
            overlap,
            conflict,
            theme=theme,
        ),
        alt="Stacked bars: on which share of rows each rule votes alone, with others who agree, and against others.",
        caption=(
            "The whole bar is a rule's coverage. **Good:** rules that overlap and mostly agree. **Worth a look:** a "
            "rule that votes mostly against others: one side is wrong there, and the votes do not show which. Where a "
            "rule votes **alone**, nothing checks it."
        ),
    )
