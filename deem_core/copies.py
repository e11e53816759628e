"""Near-copy guard: find learners that vote alike for no good reason, and give each such clique one voice.

Training is captured by a few near-copies of one learner, even of a random one. `guard` finds cliques by the
conditional kappa of every pair, collapses the tight ones into their own majority vote, and offers a second
table in which the loose ones are collapsed too, for a hedge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from deem_core.errors import InputError
from deem_core.majority import NO_VOTE, majority_vote
from deem_core.soft_votes import hard_codes
from deem_core.votes import Votes

Float = NDArray[np.float64]
Mode = Literal["guard", "keep", "collapse"]

MAX_ROWS = 8_000
"""Rows on which κ is estimated."""
MIN_COMMON_ROWS = 30
"""A pair with fewer common rows has κ = 0: too little is known of it."""
CUT = 0.55
"""Mean κ at which two clusters of learners are still joined."""
TIGHT = 0.7
"""Mean κ from which a clique gets one voice without a hedge."""
MIN_LEARNERS = 4
"""A clique has three learners or more, so that fewer than four hold nothing else to compare it with."""
MIN_REMAINING = 3
"""Fewer voices than this identify nothing: then no clique is collapsed."""
_DENSE_CELLS = 1 << 14  # K² up to which tables of counts are cheaper than sorting


# ---------------------------------------------------------------------- conditional kappa


def conditional_kappa(votes: Votes, rng: np.random.Generator, max_rows: int = MAX_ROWS) -> Float:
    """Return how much each pair of learners agrees beyond what the other learners explain, (d, d).

    Given m, the majority vote of all learners but i and j (ties to the lowest class)::

        κ_ij = (g − e) / (1 − e)
        g = P(x_i = x_j)
        e = Σ_m p(m) Σ_k p(x_i = k | m) p(x_j = k | m)

    over the rows with both votes and at least one other. κ is 0 for a pair with fewer than
    `MIN_COMMON_ROWS` such rows, and where the others explain everything (e = 1); the diagonal is 1.
    At most ``max_rows`` rows are used, drawn by ``rng`` from those with three votes or more.
    """
    return _kappa_and_rows(votes, rng, max_rows)[0]


def _kappa_and_rows(votes: Votes, rng: np.random.Generator, max_rows: int) -> tuple[Float, NDArray[np.int64]]:
    """Return κ and the number of rows it rests on, both (d, d)."""
    d, K = votes.n_learners, votes.n_classes
    rows = np.flatnonzero(votes.votes_per_row >= 3)
    if len(rows) > max_rows:
        rows = np.sort(rng.choice(rows, max_rows, replace=False))
    codes = votes.codes[rows].astype(np.int64)  # (b, d)
    ranked = _Ranked.of(codes)
    cast = (codes != NO_VOTE).astype(np.float32)
    common = np.rint(cast.T @ cast).astype(np.int64)  # each such row holds a third vote, so that m is never missing
    columns = np.ascontiguousarray(codes.T)
    kappa = np.eye(d)
    complete = bool(cast.all())
    for i in range(d):
        without_i = ranked.scores - ranked.unit * (ranked.classes == columns[i])  # (3, b)
        for j in range(i + 1, d):
            if common[i, j] < MIN_COMMON_ROWS:
                continue
            x_i, x_j, top, scores = columns[i], columns[j], ranked.classes, without_i
            if not complete:
                both = np.flatnonzero((x_i != NO_VOTE) & (x_j != NO_VOTE))
                x_i, x_j, top, scores = x_i[both], x_j[both], top[:, both], scores[:, both]
            m = ranked.best(scores - ranked.unit * (top == x_j))
            kappa[i, j] = kappa[j, i] = _kappa_given(x_i, x_j, m, K)
    return kappa, common


@dataclass(frozen=True)
class _Ranked:
    """The three classes with most votes in every row, enough to know the winner after any two votes are removed.

    Only the classes of the removed votes lose one, so of the three at least one loses nothing and still beats
    all classes below. Count and class are packed into one number, ``count · unit + (unit − 1 − class)`` with
    ``unit`` a power of two above every class: the largest is the winner, the lower class among equals.
    """

    unit: int
    scores: NDArray[np.int64]  # (3, b)
    classes: NDArray[np.int64]  # (3, b), -2 where a row has fewer classes: equal to no vote, not even a missing one

    @classmethod
    def of(cls, codes: NDArray[np.int64]) -> _Ranked:
        """Rank (b, d) codes: sort every row and give the end of each run of equal votes its score."""
        b, d = codes.shape
        unit = 1 << int(codes.max(initial=1) + 1).bit_length()
        ordered = np.sort(codes, axis=1)
        starts, ends = np.ones((b, d), bool), np.ones((b, d), bool)
        starts[:, 1:] = ends[:, :-1] = ordered[:, 1:] != ordered[:, :-1]
        position = np.arange(d)
        length = position + 1 - np.maximum.accumulate(np.where(starts, position, 0), axis=1)
        scores = np.where(ends & (ordered != NO_VOTE), length * unit + (unit - 1 - ordered), 0)
        if d < 3:
            scores = np.pad(scores, ((0, 0), (0, 3 - d)))
        top = np.ascontiguousarray(np.partition(scores, -3, axis=1)[:, -3:].T)
        return cls(unit, top, np.where(top >= unit, unit - 1 - (top & (unit - 1)), -2))

    def best(self, scores: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the class with the best of (3, b) scores; some vote must be left in every row."""
        best: NDArray[np.int64] = self.unit - 1 - (scores.max(axis=0) & (self.unit - 1))
        return best


def _kappa_given(x_i: NDArray[np.int64], x_j: NDArray[np.int64], m: NDArray[np.int64], K: int) -> float:
    """Return κ of two learners' votes given m, all (b,), with all votes cast."""
    offset = m * K
    if K * K <= _DENSE_CELLS:
        count_i = np.bincount(offset + x_i, minlength=K * K).reshape(K, K)  # [m, k]
        count_j = np.bincount(offset + x_j, minlength=K * K).reshape(K, K)
        matched = (count_i * count_j).sum(axis=1)
        e = float((matched / np.maximum(count_i.sum(axis=1), 1)).sum()) / len(m)
    else:  # the same sum row by row: Σ over rows of p(x_j = the row's x_i | m)
        ordered, wanted = np.sort(offset + x_j), np.sort(offset + x_i)
        matched = np.searchsorted(ordered, wanted, "right") - np.searchsorted(ordered, wanted, "left")
        e = float((matched / np.bincount(m)[wanted // K]).sum()) / len(m)
    g = float((x_i == x_j).mean())
    return (g - e) / (1 - e) if e < 1 - 1e-12 else 0.0


# ---------------------------------------------------------------------- cliques


@dataclass(frozen=True)
class Clique:
    """Learners taken as near-copies of one another.

    Attributes
    ----------
    learners : tuple of str
    kappa : float
        Mean conditional κ of its pairs.
    kind : "tight" or "loose"
        Tight from `TIGHT` on. A loose clique may as well be learners that are right together: where the others
        know little, independent good learners agree beyond them too.
    """

    learners: tuple[str, ...]
    kappa: float
    kind: Literal["tight", "loose"]


def find_cliques(kappa: Float, learners: Sequence[str], cut: float = CUT, tight: float = TIGHT) -> tuple[Clique, ...]:
    """Return the cliques among d learners, in the order of their first members.

    Average linkage on 1 − κ, cut where the mean κ between two clusters falls below ``cut``; a clique has at
    least max(3, d/6) learners and is tight if the mean κ inside is ``tight`` or more.

    Parameters
    ----------
    kappa : (d, d) array
        From `conditional_kappa`.
    learners : sequence of d str
    """
    d = len(learners)
    if kappa.shape != (d, d):
        raise InputError(f"{d} learners need κ of shape {(d, d)}; this has shape {kappa.shape}.")
    if d < 3:
        return ()
    distance = np.maximum(1 - kappa, 0)
    np.fill_diagonal(distance, 0)
    cluster = fcluster(linkage(squareform(distance, checks=False), "average"), 1 - cut, "distance")
    cliques = []
    for label in dict.fromkeys(cluster.tolist()):  # in the order of first members
        members = np.flatnonzero(cluster == label)
        if len(members) >= max(3, d / 6):
            inside = kappa[np.ix_(members, members)][np.triu_indices(len(members), 1)]
            mean = float(inside.mean())
            cliques.append(
                Clique(tuple(learners[i] for i in members.tolist()), mean, "tight" if mean >= tight else "loose")
            )
    return tuple(cliques)


# ---------------------------------------------------------------------- reductions


@dataclass(frozen=True)
class Reduction:
    """How a table of d learners becomes one of d' ≤ d, some of which speak for a whole clique.

    Attributes
    ----------
    members : tuple of d' tuples of int
        Positions of the original learners that each reduced learner stands for.
    learners : tuple of d' str
        Names of the reduced learners.
    """

    members: tuple[tuple[int, ...], ...]
    learners: tuple[str, ...]

    @classmethod
    def of(cls, learners: Sequence[str], cliques: Sequence[Clique] = ()) -> Reduction:
        """Plan to replace each clique by one learner, at the position of its first member."""
        position = {name: i for i, name in enumerate(learners)}
        clique_of: dict[int, tuple[int, ...]] = {}
        for clique in cliques:
            for name in clique.learners:
                if name not in position:
                    raise InputError(f"There is no learner {name!r}; the learners are {', '.join(learners)}.")
            group = tuple(sorted(position[name] for name in clique.learners))
            if any(i in clique_of for i in group):
                raise InputError(f"The clique of {listed(clique.learners)} shares a learner with another clique.")
            clique_of.update(dict.fromkeys(group, group))
        members = tuple(dict.fromkeys(clique_of.get(i, (i,)) for i in range(len(learners))))
        taken = set(learners)
        names = []
        for group in members:
            name = learners[group[0]] if len(group) == 1 else f"majority of {listed([learners[i] for i in group])}"
            while len(group) > 1 and name in taken:
                name += " (clique)"
            taken.add(name)
            names.append(name)
        return cls(members, tuple(names))

    @property
    def n_original(self) -> int:
        """Number of original learners, d."""
        return sum(map(len, self.members))

    @property
    def is_identity(self) -> bool:
        """Whether every learner speaks for itself."""
        return len(self.members) == self.n_original

    def apply(self, codes: NDArray[np.integer[Any]]) -> NDArray[np.int32]:
        """Return (n, d) codes of the original learners as (n, d') codes.

        A clique votes for the class most of its members vote for, the lowest among equals, and not at all
        where none of them does.
        """
        self._check(codes)
        reduced = np.empty((len(codes), len(self.members)), np.int32)
        for at, group in enumerate(self.members):
            reduced[:, at] = codes[:, group[0]] if len(group) == 1 else majority_vote(codes[:, group]).codes
        return reduced

    def apply_soft(self, soft: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
        """Return (n, d, K) soft votes as (n, d', K) ones that fit the codes of `apply`.

        A clique's probabilities are the mean of those of its members that vote for its class.
        """
        self._check(soft)
        reduced = np.zeros((len(soft), len(self.members), soft.shape[2]), np.float32)
        for at, group in enumerate(self.members):
            if len(group) == 1:
                reduced[:, at] = soft[:, group[0]]
                continue
            codes = hard_codes(np.asarray(soft[:, group], np.float32))  # (n, clique)
            label = majority_vote(codes).codes
            agrees = (codes == label[:, None]) & (label != NO_VOTE)[:, None]
            total = np.einsum("ng,ngk->nk", agrees, soft[:, group], dtype=np.float64)
            mean = (total / np.maximum(agrees.sum(axis=1), 1)[:, None]).astype(np.float32)
            # Rounding can turn a lead of the last digit into a tie with a lower class: then one member speaks.
            turned = np.flatnonzero(hard_codes(mean[:, None])[:, 0] != label)
            mean[turned] = soft[turned, np.asarray(group)[agrees[turned].argmax(axis=1)]]
            reduced[:, at] = mean
        return reduced

    def reduce(self, votes: Votes) -> Votes:
        """Return the reduced table of the same rows."""
        if self.is_identity:
            self._check(votes.codes)
            return votes
        soft = None if votes.soft is None else self.apply_soft(votes.soft)
        return replace(votes, codes=self.apply(votes.codes), learners=self.learners, soft=soft)

    def _check(self, array: NDArray[Any]) -> None:
        if array.ndim < 2 or array.shape[1] != self.n_original:
            raise InputError(f"These votes have shape {array.shape}; {self.n_original} learners were expected.")


def reduce(votes: Votes, cliques: Sequence[Clique]) -> Votes:
    """Return the votes with each clique replaced by its own majority vote; see `Reduction`."""
    return Reduction.of(votes.learners, cliques).reduce(votes)


# ---------------------------------------------------------------------- the guard


@dataclass(frozen=True)
class GuardPlan:
    """What the guard found and what to train on.

    Attributes
    ----------
    cliques : tuple of Clique
        Found, whatever was done about them.
    base : Reduction
        The table to train on, and whose majority vote is the reference for alignment, share check and fallback.
    hedge : Reduction, optional
        A second table, with the loose cliques collapsed as well: the answer is then the mean of both
        trainings' posteriors and the vote shares.
    sentences : tuple of str
        Which learners were taken as near-copies, with κ, and what was done.
    """

    cliques: tuple[Clique, ...]
    base: Reduction
    hedge: Reduction | None
    sentences: tuple[str, ...]


def guard(votes: Votes, mode: Mode, rng: np.random.Generator) -> GuardPlan:
    """Look for near-copies and plan what to do about them.

    Parameters
    ----------
    votes : Votes
    mode : "guard", "keep" or "collapse"
        Collapse tight cliques and hedge loose ones; report only; collapse all of them.
    rng : np.random.Generator
        Chooses the rows that κ is estimated on where there are more than `MAX_ROWS`.
    """
    if mode not in get_args(Mode):
        raise InputError(f"near_copies is {mode!r}; choose one of {', '.join(get_args(Mode))}.")
    everyone = Reduction.of(votes.learners)
    if votes.n_learners < MIN_LEARNERS:
        text = f"Near-copies were not looked for: that needs at least {MIN_LEARNERS} learners."
        return GuardPlan((), everyone, None, (text,))
    kappa, common = _kappa_and_rows(votes, rng, MAX_ROWS)
    cliques = find_cliques(kappa, votes.learners)
    tight = tuple(clique for clique in cliques if clique.kind == "tight")
    collapsed = {"guard": tight, "keep": (), "collapse": cliques}[mode]
    hedged = cliques if mode == "guard" and len(tight) < len(cliques) else ()
    least = min(len(Reduction.of(votes.learners, chosen).members) for chosen in (collapsed, hedged))
    if least < MIN_REMAINING:  # the hedge collapses more, so it is the first to go
        hedged = ()
    if len(Reduction.of(votes.learners, collapsed).members) < MIN_REMAINING:
        collapsed = ()
    return GuardPlan(
        cliques,
        base=Reduction.of(votes.learners, collapsed),
        hedge=Reduction.of(votes.learners, hedged) if hedged else None,
        sentences=(*_findings(cliques, collapsed, hedged, mode, least), *_sparse_note(common)),
    )


def _findings(
    cliques: Sequence[Clique], collapsed: Sequence[Clique], hedged: Sequence[Clique], mode: Mode, least: int
) -> list[str]:
    """Say who was taken as near-copies, with κ, and what was done; a sentence or two for each treatment."""
    if mode == "keep":
        kept = "Every learner kept its voice, as asked"
    else:
        kept = (
            f"Every learner kept its voice: one voice per group would leave {least} of them, and fewer than "
            f"{MIN_REMAINING} identify nothing"
        )
    treatments = [
        ("Near-copies", "Each group was given one voice, its own majority vote", collapsed),
        (
            "Possible near-copies",
            "Trained with all voices and again with one voice per group; the answer is the mean of both and the "
            "vote shares",
            [clique for clique in hedged if clique not in collapsed],
        ),
        ("Near-copies", kept, [clique for clique in cliques if clique not in collapsed and clique not in hedged]),
    ]
    return [
        f"{found}: {'; '.join(f'{listed(one.learners)} (mean κ {one.kappa:.2f})' for one in group)}. {done}."
        for found, done, group in treatments
        if group
    ]


def _sparse_note(common: NDArray[np.int64]) -> list[str]:
    """Say how many pairs were passed over for want of common rows."""
    pairs = common[np.triu_indices(len(common), 1)]
    rare = int((pairs < MIN_COMMON_ROWS).sum())
    if not rare:
        return []
    return [
        f"{rare:,} of {len(pairs):,} pairs of learners share fewer than {MIN_COMMON_ROWS} rows in which a third one "
        "voted; they count as independent (κ = 0) in the search for near-copies."
    ]


def listed(names: Sequence[str], most: int = 8) -> str:
    """Return ``a, b, c``, or ``a, b, … and 14 others`` where there are more than ``most``."""
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} others"
