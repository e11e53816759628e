"""Panel health: what the votes alone tell of a panel of learners."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from deem_core.groups.camps import Camps, camps
from deem_core.groups.effective_votes import EffectiveVotes, effective_votes, votes_per_row
from deem_core.groups.mistakes import PairSample, SharedMistakes, shared_mistakes
from deem_core.groups.one_class import OneClass, one_class_learners
from deem_core.text import count, listing, percent
from deem_core.votes import Votes
from deem_core.votes.arrays import chunks
from deem_core.votes.majority import vote_shares

FEW_LEARNERS = 3
"""Learners below which a class is said to rest on few."""
RULES_AGREE = "rules for the same class always agree"
"""Why nothing is said of dependence among rules."""
_BLOCK = 1 << 20  # (row, class) cells counted at once


@dataclass(frozen=True)
class ClassCoverage:
    """How well votes cover a class.

    Attributes
    ----------
    label : str
    vote_share : float
        Share of all votes that are for it.
    n_learners : int
        Learners that ever vote for it.
    row_share : float
        Share of the rows with at least one vote for it.
    """

    label: str
    vote_share: float
    n_learners: int
    row_share: float


@dataclass(frozen=True, eq=False)
class PanelHealth:
    """Dependence, sides, rules and classes of a panel, without truth.

    Attributes
    ----------
    effective : EffectiveVotes
    camps : Camps
    mistakes : SharedMistakes
    one_class : OneClass
    classes : tuple of K ClassCoverage
    rows_used, n_rows : int
        Rows with votes on which dependence was measured, and all rows.
    """

    effective: EffectiveVotes
    camps: Camps
    mistakes: SharedMistakes
    one_class: OneClass
    classes: tuple[ClassCoverage, ...]
    rows_used: int
    n_rows: int

    @property
    def sentences(self) -> tuple[str, ...]:
        """The findings in words, one each."""
        found = (self.effective, self.camps, self.mistakes, self.one_class)
        return (*(finding.sentence for finding in found), self.class_sentence)

    @property
    def class_sentence(self) -> str:
        """The class with the least support in words."""
        few = [each for each in self.classes if each.n_learners < min(FEW_LEARNERS, self.one_class.n_learners)]
        if few:
            least = min(few, key=lambda each: each.n_learners)
            same = [each.label for each in few if each.n_learners == least.n_learners]
            who = "No learner votes" if not least.n_learners else f"Only {count(least.n_learners, 'learner')} vote"
            return f"{who}{'s' if least.n_learners == 1 else ''} for {listing(same, 4)}."
        rarest = min(self.classes, key=lambda each: each.row_share)
        least_learners = min(each.n_learners for each in self.classes)
        return (
            f"Every class has votes of at least {count(least_learners, 'learner')}; the rarest, {rarest.label}, has "
            f"votes in {percent(rarest.row_share, careful=True)} of the rows."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the findings as plain values, None where one cannot be computed."""
        return {
            "effective_votes": {
                **asdict(self.effective),
                "n_eff": self.effective.n_eff,
                "sentence": self.effective.sentence,
            },
            "camps": {**asdict(self.camps), "sentence": self.camps.sentence},
            "shared_mistakes": {
                "mean": self.mistakes.mean,
                "n_pairs": self.mistakes.n_pairs,
                "pairs": [asdict(pair) for pair in self.mistakes.top()],
                "sentence": self.mistakes.sentence,
            },
            "one_class": {
                "learners": [asdict(rule) for rule in self.one_class.learners],
                "vote_share": self.one_class.vote_share,
                "made_of_rules": self.one_class.made_of_rules,
                "sentence": self.one_class.sentence,
            },
            "classes": [asdict(each) for each in self.classes],
            "rows_used": self.rows_used,
        }


def panel_health(votes: Votes, rng: np.random.Generator) -> PanelHealth:
    """Return what the votes alone tell of the panel.

    Seconds at most, whatever the size: `mistakes.MAX_VOTES` votes and `mistakes.MAX_PAIRS` pairs of learners are looked
    at, drawn by ``rng`` where there are more.

    Examples
    --------
    >>> import numpy as np
    >>> from deem_core import simulate
    >>> from deem_core.groups.panel import panel_health
    >>> panel_health(simulate("copies", 2000, seed=0).votes, np.random.default_rng(0)).effective.sentence
    '15 learners, worth about 2 independent ones.'
    """
    sample = PairSample.of(votes, rng)
    rules = one_class_learners(votes)
    if rules.made_of_rules:
        mistakes = SharedMistakes.unknown(votes.learners, RULES_AGREE)
        effective = EffectiveVotes(votes.n_learners, votes_per_row(votes), reason=RULES_AGREE)
        sides = Camps(None, reason=RULES_AGREE)
    else:
        mistakes = shared_mistakes(votes, sample)
        effective = effective_votes(votes, sample, mistakes)
        sides = camps(votes, sample)
    return PanelHealth(
        effective=effective,
        camps=sides,
        mistakes=mistakes,
        one_class=rules,
        classes=class_coverage(votes),
        rows_used=len(sample.rows),
        n_rows=votes.n_rows,
    )


def class_coverage(votes: Votes) -> tuple[ClassCoverage, ...]:
    """Return how well votes cover each class."""
    counts, K = votes.class_counts, votes.n_classes
    cast = counts.sum(axis=0)
    rows = np.zeros(K, np.int64)
    for part in chunks(votes.n_rows, _BLOCK // K):
        rows += (vote_shares(votes.codes[part], K) > 0).sum(axis=0)
    return tuple(
        ClassCoverage(
            str(label),
            int(cast[k]) / max(int(cast.sum()), 1),
            int((counts[:, k] > 0).sum()),
            int(rows[k]) / max(len(votes), 1),
        )
        for k, label in enumerate(votes.classes.tolist())
    )
