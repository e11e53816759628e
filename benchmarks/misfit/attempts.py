"""Attempts to answer a misfit better than the majority vote, each a function of votes and answers alone.

An attempt has a name that says all of it, and returns labels. None looks at the truth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.misfit.answers import Case
from deem_core.methods import dawid_skene
from deem_core.methods.safe_vote import Ballot
from deem_core.typing import Floats
from deem_core.votes.majority import vote_shares

Labels = NDArray[np.intp]
Attempt = Callable[[Case], Labels]

DEEM = "deem"
WITH_DEEM = (DEEM, "ebcc", "ds", "la2", "lsml")
WITHOUT = ("ebcc", "ds", "onecoin", "la2", "lsml")
ANY_MARGIN = 10**6


def attempts() -> dict[str, dict[str, Attempt]]:
    """Return kind → name → attempt."""
    return {
        "Mean of vote shares and tempered DEEM": {
            f"shares + {weight:g} · DEEM^(1/{heat:g})": partial(pooled, weight=weight, heat=heat)
            for heat in (1, 2, 4, 8)
            for weight in (0.2, 0.5, 1.0)
        },
        "One method decides among the classes near the top of the vote": {
            f"{_name(method)} among classes {margin} behind at most": partial(near_top, method=method, margin=margin)
            for method in (DEEM, "ebcc", "lsml", "ds")
            for margin in (0, 1, 2)
        },
        "Several methods must agree against the vote": {
            f"{least} of {_names(methods)}": partial(agreed, methods=methods, least=least)
            for methods in (WITH_DEEM, WITHOUT, ("ebcc", "ds", "la2"), ("ebcc", "ds", "lsml"), (DEEM, "ebcc", "lsml"))
            for least in range(max(2, len(methods) - 1), len(methods) + 1)
        },
        "The same, one vote behind at most": {
            f"{least} of {_names(methods)}, near ties": partial(agreed, methods=methods, least=least, margin=1)
            for methods in (WITH_DEEM, WITHOUT)
            for least in range(len(methods) - 1, len(methods) + 1)
        },
        "Ties broken by a mean of posteriors; elsewhere all of some methods must agree against the vote": {
            f"ties by {_names(ties)}; {f'all of {_names(methods)}' if methods else 'nothing else'}": partial(
                hedged, ties=ties, methods=methods
            )
            for ties in (("ds",), ("ebcc",), ("ebcc", "la2"), ("ebcc", "onecoin"), ("ds", "onecoin"))
            for methods in ((), ("ebcc", "ds", "la2"), ("ebcc", "ds", "onecoin", "la2"), WITHOUT)
        },
        "Averages and ballots of methods": {
            "ballots of vote, DS, one-coin, EBCC (the safe vote without its guards)": safe_vote,
            f"mean of vote shares, {_names(WITH_DEEM)}": partial(mean_of, methods=WITH_DEEM),
            f"mean of vote shares, {_names(WITHOUT)}": partial(mean_of, methods=WITHOUT),
        },
        "DEEM answers where a sign allows it, else the vote": {
            f"DEEM if {sign}": partial(allowed, sign=sign) for sign in SIGNS
        },
    }


# ---------------------------------------------------------------------- labels


def pooled(case: Case, *, weight: float, heat: float) -> Labels:
    """Return the labels of vote shares and DEEM's posterior to the power 1/heat, added."""
    tempered = np.maximum(case.posteriors[DEEM], 1e-12) ** (1 / heat)
    tempered /= tempered.sum(axis=1, keepdims=True)
    return np.asarray((case.shares + weight * tempered).argmax(axis=1))


def near_top(case: Case, *, method: str, margin: int) -> Labels:
    """Return a method's choice among the classes at most ``margin`` votes behind the first."""
    return _among(case, case.posteriors[method], margin) if method in case.posteriors else np.asarray(case.auto)


def agreed(case: Case, *, methods: Sequence[str], least: int, margin: int = ANY_MARGIN) -> Labels:
    """Return the label on which enough methods agree, else that of `auto`."""
    ballots = np.zeros(case.shares.shape)
    for method in methods:
        if method in case.posteriors:
            ballots[np.arange(len(ballots)), _among(case, case.posteriors[method], margin)] += 1
    return np.where(ballots.max(axis=1) >= least, ballots.argmax(axis=1), case.auto)


def hedged(case: Case, *, ties: Sequence[str], methods: Sequence[str]) -> Labels:
    """Return the vote, its ties broken by a mean of posteriors, unless all of some methods agree on another class."""
    pool = sum((case.posteriors[method] for method in ties if method in case.posteriors), 1e-9 * case.shares)
    vote = _among(case, pool, 0)
    said = np.array([case.posteriors[method].argmax(axis=1) for method in methods if method in case.posteriors])
    return np.where((said == said[0]).all(axis=0), said[0], vote) if len(said) else vote


def safe_vote(case: Case) -> Labels:
    """Return the ballots of the safe vote, whose guards are for crowds."""
    voters = [case.posteriors[method] for method in ("ds", "onecoin", "ebcc") if method in case.posteriors]
    return np.asarray(Ballot(case.votes.n_classes, 1, None).posterior(case.votes.codes, voters)[0].argmax(axis=1))


def mean_of(case: Case, *, methods: Sequence[str]) -> Labels:
    """Return the labels of the mean of vote shares and posteriors."""
    return np.asarray(
        sum((case.posteriors[method] for method in methods if method in case.posteriors), case.shares).argmax(axis=1)
    )


def allowed(case: Case, *, sign: str) -> Labels:
    """Return DEEM's labels if a sign allows it, else those of `auto`."""
    measure, low, high = SIGNS[sign]
    return case.posteriors[DEEM].argmax(axis=1) if low <= measure(case) <= high else np.asarray(case.auto)


def _among(case: Case, posterior: Floats, margin: int) -> Labels:
    counts = np.rint(case.shares * case.votes.votes_per_row[:, None])
    near = counts >= counts.max(axis=1, keepdims=True) - margin
    return np.asarray(np.where(near, posterior, -1.0).argmax(axis=1))


# ---------------------------------------------------------------------- signs


def captured(case: Case) -> float:
    """Return how much DEEM's label says of each learner, against the vote's: the geometric mean over learners."""
    label, vote = case.posteriors[DEEM].argmax(axis=1), case.auto
    ratios = []
    for votes in case.votes.codes.T:
        own, ours = (_information(each, votes, case.votes.n_classes) for each in (vote, label))
        if own > 0.01:
            ratios.append(np.log((ours + 1e-4) / (own + 1e-4)))
    return float(np.exp(np.mean(ratios)))


def moved(case: Case) -> float:
    """Return the share of rows that DEEM labels otherwise than `auto`."""
    return float((case.posteriors[DEEM].argmax(axis=1) != case.auto).mean())


def excess(case: Case) -> float:
    """Return what the grouped model leaves unexplained."""
    return case.excess


def held_out(case: Case, splits: int = 6) -> float:
    """Return how much more Dawid-Skene's label of half the learners says of the other half than their vote does."""
    rng, K = np.random.default_rng(0), case.votes.n_classes
    gains = []
    for _ in range(splits):
        order = rng.permutation(case.votes.n_learners)
        first, second = np.array_split(order, 2)
        some = case.votes.without_truth().select_learners(sorted(first.tolist()))
        shares = vote_shares(some.codes, K)
        vote = (shares + 1e-6 * rng.random(shares.shape)).argmax(axis=1)  # ties drawn
        label = dawid_skene.aggregate(some, rng).codes
        theirs, ours = (
            np.mean([_information(each, case.votes.codes[:, j], K) for j in second]) for each in (vote, label)
        )
        gains.append(ours / theirs - 1)
    return float(np.mean(gains))


SIGNS: dict[str, tuple[Callable[[Case], float], float, float]] = {
    "its label says as much of the learners as the vote does (0.99 to 1.05)": (captured, 0.99, 1.05),
    "its label says more of the learners than the vote does": (captured, 1.0, np.inf),
    "it moves less than 5% of the rows": (moved, 0.0, 0.05),
    "it moves less than 10% of the rows": (moved, 0.0, 0.10),
    "the excess is below 0.05": (excess, 0.0, 0.05),
    "Dawid-Skene of half the learners says more of the others than their vote": (held_out, 0.0, np.inf),
    "the same, but less than 5% more": (held_out, 0.0, 0.05),
}
"""Sign → measure, and its least and largest value that allow DEEM."""


def measures(case: Case) -> Iterator[tuple[str, float]]:
    """Yield each sign's measure once."""
    for measure in dict.fromkeys(measure for measure, _, _ in SIGNS.values()):
        yield measure.__name__, measure(case)


def _information(one: NDArray[np.integer], other: NDArray[np.integer], n_classes: int) -> float:
    """Return the mutual information of two labellings in nats."""
    cells = np.bincount(one.astype(np.int64) * n_classes + other, minlength=n_classes**2)
    joint = cells.reshape(n_classes, n_classes) / len(one)
    seen = joint > 0
    return float((joint[seen] * np.log(joint[seen] / np.outer(joint.sum(axis=1), joint.sum(axis=0))[seen])).sum())


def _name(method: str) -> str:
    return {DEEM: "DEEM", "ebcc": "EBCC", "ds": "DS", "la2": "LA", "lsml": "L-SML", "onecoin": "one-coin"}[method]


def _names(methods: Sequence[str]) -> str:
    return ", ".join(map(_name, methods))
