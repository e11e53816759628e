"""Choice between candidates by gold rows, switching only on paired evidence.

The start is the answer without gold, or the vote weighted by gold where the panel is split in two camps. The weighted
vote takes part from five rows on: by fewer, all learners may look worse than chance, which turns even unanimous votes.
Another candidate takes its place only if, on the gold rows where the two differ, it wins more often than it loses by at
least three rows and by z times the square root of all of them. Rows that `ask` chose are weighed by their stratum.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from deem_core.answers.verdict import Estimate, Kind, Rival, Verdict
from deem_core.gold import words
from deem_core.gold.estimates import Design
from deem_core.gold.field import CAMPS, LEARNER, START, Field
from deem_core.gold.weights import learner_weights, left_out_scores
from deem_core.methods import registry
from deem_core.typing import Codes, Floats
from deem_core.votes import NO_VOTE, Gold, Votes
from deem_core.votes.arrays import weighted_votes
from deem_core.votes.majority import fair_hits

LEAD = 3.0
"""Rows by which a candidate must be ahead at least."""
Z: Mapping[str, float] = {"learner": 1.5}
"""Standard errors by which it must be ahead; 1 unless named here. Of many learners, some are lucky."""
BEHIND = 1.645
"""Standard errors by which a candidate must be behind to be called worse."""
PSEUDO_ROWS: Mapping[str, float] = {"learner": 8.0}
"""Rows that a candidate's lead is shrunk by; 4 unless named here."""
WEIGHTS = "gold_vote"
"""Name of the vote weighted by gold."""


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A candidate's labels, (n,), and its labels of gold rows, (g,)."""

    name: str
    title: str
    kind: Kind
    on_gold: Codes
    codes: Codes  # (n,)


def choose(field: Field, gold: Gold, also: Mapping[str, Codes] | None = None) -> Verdict:
    """Choose who answers by gold rows.

    Parameters
    ----------
    field : Field
    gold : Gold
        Rows without votes play no part.
    also : mapping of str to (n,) codes, optional
        Further candidates by title, such as a trained DEEM.
    """
    gold = gold.without(np.flatnonzero(~field.voted))
    contest = _Contest(field, gold)
    everybody = list(_candidates(field, gold, also or {}))
    start = next(
        one for one in everybody if one.name == (WEIGHTS if words.starts_weighed(field, gold.n_rows) else START)
    )
    contest.start = start
    rivals = [contest.rival(one) for one in everybody if one is not start]
    taken, rival = start, None
    best = 0.0
    for one, told in zip((one for one in everybody if one is not start), rivals, strict=True):
        if told.ahead and (gain := contest.gain(one)) > best:
            taken, rival, best = one, told, gain
    others = [contest.rival(one, of=taken) for one in everybody if one is not taken]
    ranked = sorted(others, key=lambda told: -(told.estimate.share or 0.0))
    learners = learner_estimates(field.votes, gold, contest.design)
    covering = [learners[j] for j in field.covering if learners[j].share is not None]
    verdict = Verdict(
        n_gold=gold.n_rows,
        asked=gold.was_asked,
        unheard=int((gold.labels >= field.votes.n_classes).sum()),
        start=field.start,
        chosen=taken.name,
        chosen_title=taken.title,
        switched=taken.name != START,
        answer=contest.estimate(taken),
        majority=majority_estimate(field.votes, gold, contest.design),
        learners=learners,
        rivals=tuple(ranked),
        best_learner=max(covering, key=lambda each: each.share or 0.0, default=None),
        strong_camp=contest.strong_camp(),
        sentences=(),
        absent=gold.absent,
        n_asked=gold.n_asked,
    )
    return replace(verdict, sentences=words.sentences(verdict, field, rival))


def _candidates(field: Field, gold: Gold, also: Mapping[str, Codes]) -> Iterator[_Candidate]:
    """Yield all candidates, the start first."""
    rows = gold.rows

    def made(name: str, title: str, kind: Kind, codes: Codes) -> _Candidate:
        return _Candidate(name, title, kind, codes[rows], codes)

    yield made(START, field.title, "start", field.start_codes)
    if gold.n_rows >= words.WEIGHED:
        yield _weighted(field, gold)
    for name, codes in field.methods.items():
        yield made(name, registry.METHODS[name].title, "method", codes)
    for (name, codes), side in zip(field.camp_codes.items(), field.camps, strict=False):
        yield made(name, f"The majority of {words.names(side)}", "camp", codes)
    for title, codes in also.items():
        yield made(title, title, "given", codes)
    for j in field.covering:
        name = field.votes.learners[j]
        yield made(f"{LEARNER}{name}", name, "learner", field.learner_codes(j))


def _weighted(field: Field, gold: Gold) -> _Candidate:
    """Return the vote weighted by gold, leave-one-out on gold rows."""
    votes = field.votes
    codes = field.tilted(weighted_votes(votes.codes, learner_weights(votes, gold), votes.n_classes))
    scores = left_out_scores(votes, gold)
    scores[np.arange(len(scores)), field.start_codes[gold.rows]] += 1e-6
    return _Candidate(
        WEIGHTS, registry.METHODS[WEIGHTS].title, "weights", scores.argmax(axis=1).astype(np.int32), codes
    )


class _Contest:
    """Candidates held against each other on gold rows."""

    start: _Candidate

    def __init__(self, field: Field, gold: Gold) -> None:
        self.field, self.gold = field, gold
        self.n_voted = max(int(field.voted.sum()), 1)
        self.design = Design.of(field.voted, field.disputed, gold)

    def estimate(self, one: _Candidate) -> Estimate:
        """Return the accuracy of a candidate."""
        return self.design.estimate(one.name, one.title, (one.on_gold == self.gold.labels).astype(float))

    def rival(self, one: _Candidate, of: _Candidate | None = None) -> Rival:
        """Return a candidate against the start, or against another one."""
        other = self.start if of is None else of
        balance = self._balance(one, other)
        lead, error = _lead(balance, self.design.weights)
        return Rival(
            one.name,
            one.title,
            one.kind,
            self.estimate(one),
            int((balance > 0).sum()),
            int((balance < 0).sum()),
            self._changed(one, other),
            bool(lead >= LEAD and lead >= Z.get(one.kind, 1.0) * error),
            bool(-lead >= LEAD and -lead >= BEHIND * error),
        )

    def gain(self, one: _Candidate) -> float:
        """Return the expected gain of a candidate over the start, shrunk."""
        differs = one.on_gold != self.start.on_gold
        lead, _ = _lead(self._balance(one, self.start), self.design.weights)
        weights = self.design.weights[differs]
        rows = float(weights.sum() ** 2 / max(float((weights**2).sum()), 1e-12))
        return self._changed(one, self.start) * lead / (rows + PSEUDO_ROWS.get(one.kind, 4.0))

    def strong_camp(self) -> tuple[str, ...]:
        """Return the side that gold favours by enough, if one does."""
        codes = self.field.camp_codes
        if not codes:
            return ()
        first, second = (_Candidate(name, "", "camp", codes[name][self.gold.rows], codes[name]) for name in CAMPS)
        lead, error = _lead(self._balance(first, second), self.design.weights)
        if abs(lead) < max(LEAD, error):
            return ()
        side = self.field.camps[0] if lead > 0 else self.field.camps[1]
        right = {each.name: each.share or 0.0 for each in learner_estimates(self.field.votes, self.gold, self.design)}
        return tuple(sorted(side, key=lambda name: -right[name]))

    def _balance(self, one: _Candidate, other: _Candidate) -> Floats:
        """Return +1, 0 or −1 on each gold row, (g,): who of two is right."""
        labels = self.gold.labels
        return np.asarray((one.on_gold == labels).astype(float) - (other.on_gold == labels).astype(float))

    def _changed(self, one: _Candidate, other: _Candidate) -> float:
        return int(((one.codes != other.codes) & self.field.voted).sum()) / self.n_voted


def majority_estimate(votes: Votes, gold: Gold, design: Design) -> Estimate:
    """Return the accuracy of the majority vote, ties as a fair draw."""
    own = votes.select_rows(gold.rows)
    hits = fair_hits(own.codes, own.majority_vote, gold.labels)
    return design.estimate("mv", registry.METHODS["mv"].title, hits)


def learner_estimates(votes: Votes, gold: Gold, design: Design) -> tuple[Estimate, ...]:
    """Return the accuracy of each learner where it voted."""
    codes, labels = votes.codes[gold.rows], gold.labels
    return tuple(
        design.estimate(name, name, (codes[:, j] == labels).astype(float), codes[:, j] != NO_VOTE)
        for j, name in enumerate(votes.learners)
    )


def _lead(balance: Floats, weights: Floats) -> tuple[float, float]:
    """Return wins minus losses and their standard error, in rows.

    Weights count relative to each other: where they are all alike, these are plain counts.
    """
    decided = balance != 0
    own = weights[decided]
    if not len(own) or not own.sum():
        return 0.0, 0.0
    own = own * own.sum() / float((own**2).sum())
    return float(own @ balance[decided]), float(np.sqrt((own**2).sum()))
