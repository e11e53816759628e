"""Problems of learners: few, silent, constant, guessing, sparse, separate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from deem_core.diagnostics.checkup.chance import ChanceTest, chance_test
from deem_core.diagnostics.checkup.findings import Finding, as_list, basis, may_leave
from deem_core.groups.one_class import ANYWHERE, one_class_learners, share_elsewhere
from deem_core.text import count, percent
from deem_core.typing import Floats, Mask
from deem_core.votes import NO_VOTE, Votes
from deem_core.votes.agreement import pair_agreement
from deem_core.votes.recode import MIN_LEARNERS

MOSTLY, FAR = 0.75, 1.5
"""Share of its votes for one class from which a learner that guesses is called constant, and times the class's share of
the rows that this must be."""

MOST_HABITS = 3
"""Constant learners of whom a sentence tells what they say."""

EVERYWHERE = 0.95
"""Coverage from which a constant learner says nothing: where it votes carries no news either."""

NEGLIGIBLE = 0.02
"""Kappa with the others that is as good as none."""

FEW_VOTES = 20
"""Votes below which little can be learnt about a learner."""


def number(votes: Votes) -> Iterator[Finding]:
    """Find fewer than three learners that vote."""
    voting = int((votes.learner_coverage > 0).sum())
    if voting < MIN_LEARNERS:
        yield Finding(
            "few_learners",
            "warning",
            f"Only {count(voting, 'learner')}",
            f"{count(voting, 'learner votes', 'learners vote')}. With fewer than three, the votes alone cannot tell "
            "who is right: the answer would be a guess.",
            "Add at least one more learner: three different ones are the minimum, five to fifteen are comfortable.",
            numbers={"voting_learners": voting},
        )


def silent(votes: Votes) -> Iterator[Finding]:
    """Find learners without a single vote."""
    names = _names(votes, votes.learner_coverage == 0)
    if names:
        yield Finding(
            "silent_learners",
            "warning",
            f"{count(len(names), 'silent learner')}",
            f"No votes from {as_list(names)} were read. A silent learner adds nothing and makes the model larger.",
            "Check whether the file was read as intended (spelling of labels, missing values); otherwise leave them "
            "out.",
            learners=names,
            leave_out=may_leave(votes, names),
        )


def habits(votes: Votes) -> Iterator[Finding]:
    """Find learners that say the same whatever the row, guess, or contradict."""
    test = chance_test(votes)
    only = np.isin(votes.learners, votes.constant_learners)
    judged = ~only & np.isfinite(test.kappa)
    if votes.n_learners < MIN_LEARNERS:
        judged[:] = False
    worse = judged & (test.high < 0) & (test.kappa < -NEGLIGIBLE)
    best = float(test.kappa[judged].max(initial=0))
    # Not told from chance, and not for want of rows alone: the best learner is well above what this one could be.
    guessing = (
        judged & ~worse & (((test.low <= 0) & (test.high < best / 2)) | (np.abs(test.kappa) + test.high < NEGLIGIBLE))
    )
    favourites = _Favourites.of(votes)
    mostly = guessing & (favourites.of_votes >= MOSTLY) & (favourites.of_votes >= FAR * favourites.of_rows)
    yield from _one_class(votes, only, mostly, favourites)
    yield from _chance(votes, test, worse, guessing & ~mostly)


@dataclass(frozen=True)
class _Favourites:
    """The class that each learner votes for most, (d,) each."""

    codes: NDArray[np.int64]
    of_votes: Floats  # its share of the learner's votes
    of_rows: Floats  # its share of the rows by the majority vote

    @classmethod
    def of(cls, votes: Votes) -> _Favourites:
        counts, majority = votes.class_counts, votes.majority_vote.codes  # (d, K)
        codes = counts.argmax(axis=1)
        rows = np.bincount(majority[majority != NO_VOTE], minlength=votes.n_classes)
        of_votes = counts.max(axis=1, initial=0) / np.maximum(counts.sum(axis=1), 1)
        return cls(codes, of_votes, rows[codes] / max(int(rows.sum()), 1))


def _one_class(votes: Votes, only: Mask, mostly: Mask, favourites: _Favourites) -> Iterator[Finding]:
    """Tell constant learners, of one class only or mostly, from one-class rules."""
    elsewhere = np.zeros(votes.n_learners)
    if not one_class_learners(votes).made_of_rules:
        elsewhere[only] = share_elsewhere(votes, np.flatnonzero(only).tolist())
    constant = mostly | (only & ((elsewhere >= ANYWHERE) | (votes.learner_coverage >= EVERYWHERE)))
    if constant.any():
        names = _names(votes, constant)
        yield Finding(
            "constant_learners",
            "warning",
            f"{count(len(names), 'constant learner')}",
            f"{_said(votes, constant, favourites)}. Votes that are the same for every row say nothing about it, and "
            "pull the majority vote to one side.",
            f"Leave {'it' if len(names) == 1 else 'them'} out, unless an error in the file is the reason.",
            learners=names,
            leave_out=may_leave(votes, names),
            classes=tuple(votes.classes[sorted(set(favourites.codes[constant].tolist()))].tolist()),
            numbers={
                "coverage": tuple(votes.learner_coverage[constant].tolist()),
                "elsewhere": tuple(elsewhere[constant].tolist()),
                "share_of_votes": tuple(favourites.of_votes[constant].tolist()),
                "share_of_rows": tuple(favourites.of_rows[constant].tolist()),
            },
        )
    rules = only & ~constant
    if rules.any():
        names = _names(votes, rules)
        yield Finding(
            "one_sided_learners",
            "note",
            f"{count(len(names), 'one-class learner')}",
            f"{as_list(names)} voted for one class only, and rarely where the others vote for another class. "
            "Labelling rules do this: what matters is where they vote.",
            "Nothing to do if these are rules; if they are models, find out why their votes are missing.",
            learners=names,
            classes=tuple(votes.classes[sorted(set(favourites.codes[rules].tolist()))].tolist()),
            numbers={
                "coverage": tuple(votes.learner_coverage[rules].tolist()),
                "elsewhere": tuple(elsewhere[rules].tolist()),
            },
        )


def _said(votes: Votes, constant: Mask, favourites: _Favourites) -> str:
    """Say what constant learners vote for, and how often."""
    learners, said = np.flatnonzero(constant), []
    for j in learners[:MOST_HABITS].tolist():
        how = percent(float(favourites.of_votes[j]), 0, careful=True)
        how = "all its votes" if favourites.of_votes[j] == 1 else f"{how} of its votes"
        covered = percent(float(votes.learner_coverage[j]), 0, careful=True)
        common = percent(float(favourites.of_rows[j]), 0, careful=True)
        said.append(
            f"{votes.learners[j]} voted on {covered} of the rows and said {votes.classes[favourites.codes[j]]} in "
            f"{how}, though that is the majority on {common} of the rows"
        )
    more = len(learners) - MOST_HABITS
    return "; ".join(said) + (f"; and {more:,} more like {'this' if more == 1 else 'these'}" if more > 0 else "")


def _chance(votes: Votes, test: ChanceTest, worse: Mask, guessing: Mask) -> Iterator[Finding]:
    """Describe learners that agree no more than chance, or less."""
    if worse.any():
        names = _names(votes, worse)
        yield Finding(
            "worse_than_chance",
            "warning",
            f"{count(len(names), 'learner')} worse than chance",
            f"{as_list(names)} contradicted the majority of the others more often than guessing would"
            f"{basis(test.rows_used, votes.n_rows)}. Swapped or shifted labels are the likely reason.",
            "Check how the labels are coded (0/1 swapped? classes counted from 0 or 1?) and correct the file; "
            "otherwise leave them out.",
            learners=names,
            leave_out=may_leave(votes, names),
            numbers=_kappas(test, worse),
        )
    if guessing.any():
        names = _names(votes, guessing)
        yield Finding(
            "chance_learners",
            "warning",
            f"{count(len(names), 'learner')} no better than guessing",
            f"{as_list(names)} agreed with the majority of the others no more than guessing would"
            f"{basis(test.rows_used, votes.n_rows)}. Noise weakens the majority vote; DEEM tolerates some, but not "
            "any amount.",
            "Leave them out, unless one is an expert on what the others do not know: the votes alone cannot tell the "
            "two apart.",
            learners=names,
            leave_out=may_leave(votes, names),
            numbers=_kappas(test, guessing),
        )


def sparse(votes: Votes) -> Iterator[Finding]:
    """Find learners with too few votes to learn from."""
    cast = votes.class_counts.sum(axis=1)
    names = _names(votes, (cast > 0) & (cast < FEW_VOTES))
    if names and votes.n_rows >= FEW_VOTES:
        yield Finding(
            "sparse_learners",
            "note",
            f"{count(len(names), 'learner')} with few votes",
            f"{as_list(names)} cast fewer than {FEW_VOTES} votes: too few to learn how reliable they are.",
            "They do little harm. Leave them out if there are many, to train faster.",
            learners=names,
            leave_out=may_leave(votes, names),
            numbers={"votes": tuple(cast[np.isin(votes.learners, names)].tolist())},
        )


def separate(votes: Votes) -> Iterator[Finding]:
    """Find groups of learners that share no row."""
    voting = np.flatnonzero(votes.learner_coverage > 0)
    if len(voting) < 2 or (votes.learner_coverage == 1).any():
        return  # someone meets everybody
    common = pair_agreement(votes).common[np.ix_(voting, voting)]
    n_groups, group = connected_components(csr_array(common > 0), directed=False)
    if n_groups > 1:
        groups = [tuple(votes.learners[j] for j in voting[group == g].tolist()) for g in range(n_groups)]
        text = "; ".join(as_list(names, 5) for names in groups[:5])
        more = f"; and {n_groups - 5:,} more" if n_groups > 5 else ""
        yield Finding(
            "separate_learners",
            "warning",
            f"{n_groups:,} groups of learners never meet",
            f"No row has votes from two of these groups: {text}{more}. Learners cannot be compared across groups, "
            "and classes may be mixed up between them.",
            "Fuse each group separately, or add rows that both groups voted on.",
            learners=tuple(votes.learners[j] for j in voting.tolist()),
            numbers={"groups": tuple(groups)},
        )


def _names(votes: Votes, chosen: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> tuple[str, ...]:
    return tuple(votes.learners[j] for j in np.flatnonzero(chosen).tolist())


def _kappas(test: ChanceTest, chosen: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> dict[str, object]:
    return {
        "kappa": tuple(test.kappa[chosen].tolist()),
        "low": tuple(test.low[chosen].tolist()),
        "high": tuple(test.high[chosen].tolist()),
        "agreement": tuple(test.observed[chosen].tolist()),
        "expected": tuple(test.expected[chosen].tolist()),
        "rows_used": test.rows_used,
    }
