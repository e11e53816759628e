"""Problems of learners: few, silent, constant, guessing, sparse, separate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from deem_core.diagnostics.checkup.chance import ChanceTest, chance_test
from deem_core.diagnostics.checkup.findings import Finding, as_list, basis, may_leave
from deem_core.text import count
from deem_core.votes import Votes
from deem_core.votes.agreement import pair_agreement
from deem_core.votes.recode import MIN_LEARNERS

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
            f"{count(voting, 'learner votes', 'learners vote')}. Below three, nobody can tell from the votes alone "
            "who is right: the answer would be a guess.",
            "Bring at least one more learner; three that differ are the least, five to fifteen are comfortable.",
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
            f"Not a single vote of {as_list(names)} was read. A silent learner cannot help, and it makes the model "
            "larger.",
            "Check whether the file was read as meant (spelling of labels, missing values); otherwise leave them out.",
            learners=names,
            leave_out=may_leave(votes, names),
        )


def constant(votes: Votes) -> Iterator[Finding]:
    """Find learners that always vote for one class."""
    always = np.isin(votes.learners, votes.constant_learners)
    names = _names(votes, always & (votes.learner_coverage >= EVERYWHERE))
    if names:
        yield Finding(
            "constant_learners",
            "warning",
            f"{count(len(names), 'constant learner')}",
            f"{as_list(names)} gave the same label on every row. That says nothing about any row and "
            "pulls majority vote to one side.",
            "Leave them out, unless a fault in the file is the reason.",
            learners=names,
            leave_out=may_leave(votes, names),
            classes=_constant_classes(votes, names),
        )
    names = _names(votes, always & (votes.learner_coverage < EVERYWHERE))
    if names:
        yield Finding(
            "one_sided_learners",
            "note",
            f"{count(len(names), 'one-sided learner')}",
            f"{as_list(names)} voted for one class only and kept silent elsewhere. That is usual for labelling rules: "
            "where they speak is what they tell.",
            "Nothing to do if these are rules; if they are models, check how their missing votes came about.",
            learners=names,
            classes=_constant_classes(votes, names),
        )


def chance(votes: Votes) -> Iterator[Finding]:
    """Find learners that agree no more than chance, or less."""
    test = chance_test(votes)
    judged = ~np.isin(votes.learners, votes.constant_learners) & np.isfinite(test.kappa)
    if votes.n_learners < MIN_LEARNERS or not judged.any():
        return
    worse = judged & (test.high < 0) & (test.kappa < -NEGLIGIBLE)
    best = float(test.kappa[judged].max())
    # Not told from chance, and not for want of rows alone: the best learner is well above what this one could be.
    guessing = (
        judged & ~worse & (((test.low <= 0) & (test.high < best / 2)) | (np.abs(test.kappa) + test.high < NEGLIGIBLE))
    )
    if worse.any():
        names = _names(votes, worse)
        yield Finding(
            "worse_than_chance",
            "warning",
            f"{count(len(names), 'learner')} worse than chance",
            f"{as_list(names)} contradicted the majority of the others more often than guessing would"
            f"{basis(test.rows_used, votes.n_rows)}. Swapped or shifted labels are the likely reason.",
            "Check how the labels are coded (0/1 swapped? classes counted from 0 or 1?) and mend the file; otherwise "
            "leave them out.",
            learners=names,
            leave_out=may_leave(votes, names),
            numbers=_kappas(test, worse),
        )
    if guessing.any():
        names = _names(votes, guessing)
        yield Finding(
            "chance_learners",
            "warning",
            f"{count(len(names), 'learner')} at chance",
            f"{as_list(names)} agreed with the majority of the others no more than guessing would"
            f"{basis(test.rows_used, votes.n_rows)}. Noise blurs majority vote; DEEM learns to ignore "
            "some of it, not any amount.",
            "Leave them out, unless one is an expert on what the others do not know: that looks the same from here.",
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
            f"{as_list(names)} cast fewer than {FEW_VOTES} votes: too few to learn how far to trust them.",
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
            f"No row has votes from two of these groups: {text}{more}. Who is better cannot be compared "
            "across groups, and classes may be mixed up between them.",
            "Fuse each group by itself, or bring rows that both groups voted on.",
            learners=tuple(votes.learners[j] for j in voting.tolist()),
            numbers={"groups": tuple(groups)},
        )


def _names(votes: Votes, chosen: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> tuple[str, ...]:
    return tuple(votes.learners[j] for j in np.flatnonzero(chosen).tolist())


def _constant_classes(votes: Votes, names: Sequence[str]) -> tuple[object, ...]:
    """Return the classes of constant learners, in their order."""
    voted_for = votes.class_counts[np.isin(votes.learners, names)].sum(axis=0) > 0
    return tuple(votes.classes[voted_for].tolist())


def _kappas(test: ChanceTest, chosen: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> dict[str, object]:
    return {
        "kappa": tuple(test.kappa[chosen].tolist()),
        "low": tuple(test.low[chosen].tolist()),
        "high": tuple(test.high[chosen].tolist()),
        "agreement": tuple(test.observed[chosen].tolist()),
        "expected": tuple(test.expected[chosen].tolist()),
        "rows_used": test.rows_used,
    }
