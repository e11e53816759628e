"""Makers of ensembles, each from an rng and a few numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from deem_core.errors import InputError
from deem_core.simulation.ensemble import (
    Ensemble,
    check_class_indices,
    check_classes,
    check_count,
    check_learners,
    check_share,
    draw_votes,
    with_codes,
)
from deem_core.typing import Codes, Floats
from deem_core.votes import NO_VOTE, Votes


def condind(
    n: int,
    *,
    rng: np.random.Generator,
    n_learners: int = 15,
    n_classes: int = 3,
    n_informative: int = 4,
    prior: ArrayLike | None = None,
) -> Ensemble:
    """Draw conditionally independent learners, a few good and the others pure noise (CondInd, Datasets appendix).

    A good learner is right on class m with a probability of its own from U[(K-1)/K, 1] and otherwise votes
    for any wrong class alike; a noise learner votes for each class with 1/K. ``prior`` is uniform by default.
    """
    d, K = check_learners(n_learners), check_classes(n_classes)
    good = check_count(n_informative, "n_informative", least=0)
    if good > d:
        raise InputError(f"{good} informative learners cannot be among {d}: n_informative is at most n_learners.")
    pi = _uniform(K) if prior is None else _prior(prior, K)
    psi = np.full((d, K, K), 1 / K)
    psi[:good] = _even_rest(rng.uniform((K - 1) / K, 1, (good, K)))
    names = [f"good_{j + 1}" for j in range(good)] + [f"noise_{j + 1}" for j in range(d - good)]
    return _independent(n, rng, psi, pi, names)


def tree(n: int, *, rng: np.random.Generator, n_classes: int = 3, n_groups: int = 3, n_leaves: int = 4) -> Ensemble:
    """Draw a tree Y → intermediate nodes → learners (Tree3K, Datasets appendix).

    Only the leaves vote.

    Every node repeats its parent with one probability from U[0.7, 1] and divides the rest over the other
    classes at random, per class of the parent. Leaves of one node are dependent given Y.
    """
    K, G, L = check_classes(n_classes), check_count(n_groups, "n_groups"), check_count(n_leaves, "n_leaves")
    truth = _draw_classes(n, rng, _uniform(K))
    parent_psi = _random_rest(rng, np.repeat(rng.uniform(0.7, 1, (G, 1)), K, axis=1))  # (G, K, K)
    leaf_psi = _random_rest(rng, np.repeat(rng.uniform(0.7, 1, (G * L, 1)), K, axis=1))  # (G·L, K, K)
    groups = np.repeat(np.arange(G), L)
    nodes = draw_votes(rng, parent_psi, truth[:, None])  # (n, G)
    codes = draw_votes(rng, leaf_psi, nodes[:, groups])
    names = [f"group{g + 1}_leaf{leaf + 1}" for g in range(G) for leaf in range(L)]
    votes = Votes(codes, np.arange(K), tuple(names), truth=truth)
    return Ensemble(
        votes, leaf_psi @ parent_psi[groups], _uniform(K), groups=groups, parent_psi=parent_psi, leaf_psi=leaf_psi
    )


def ampdata(
    n: int, *, rng: np.random.Generator, n_common: int = 5, n_classes: int = 5, expert_classes: Sequence[int] = (0, 1)
) -> Ensemble:
    """Draw one expert among generalists (AmpData, MoE appendix).

    Only the expert knows some of the classes.

    The common learners are right with 90–92% on the other classes and guess on the expert classes; the
    last learner is an oracle on the expert classes and guesses elsewhere.
    """
    K, common = check_classes(n_classes), check_count(n_common, "n_common")
    known = check_class_indices(expert_classes, K)
    if len(known) == K:
        raise InputError(f"The expert classes must leave at least one of the {K} classes to the common learners.")
    psi = np.full((common + 1, K, K), 1 / K)
    others = np.setdiff1d(np.arange(K), known)
    psi[:common, :, others] = _even_rest(rng.uniform(0.90, 0.92, (common, K)))[:, :, others]
    psi[-1][:, known] = np.eye(K)[:, known]
    ensemble = _independent(n, rng, psi, _uniform(K), [*(f"common_{j + 1}" for j in range(common)), "expert"])
    return replace(ensemble, experts={"expert": known})


def families(
    n: int, *, rng: np.random.Generator, n_classes: int = 10, accuracies: Sequence[float] = (0.66, 0.53, 0.89)
) -> Ensemble:
    """Draw independent classifiers that confuse some classes more than others.

    A base for `copies_with_noise`.

    Five noisy copies of each make an ensemble like MnistE (Datasets appendix): three families of five.
    ``accuracies`` are the exact means over the classes; accuracy per class varies around them.
    """
    K = check_classes(n_classes)
    mean = np.array([check_share(accuracy, "An accuracy") for accuracy in accuracies])[:, None]
    swing = rng.uniform(-1, 1, (len(mean), K))
    swing -= swing.mean(axis=1, keepdims=True)
    swing *= 0.6 * np.minimum(mean, 1 - mean) / np.abs(swing).max(axis=1, keepdims=True)  # stays within (0, 1)
    psi = _random_rest(rng, mean + swing, power=3)  # cubes: a few confusions dominate, as with real classifiers
    return _independent(n, rng, psi, _uniform(K), [f"family{j + 1}" for j in range(len(mean))])


def crowd(
    n: int, *, rng: np.random.Generator, n_workers: int = 40, votes_per_task: int = 5, n_classes: int = 4
) -> Ensemble:
    """Draw a sparse crowd.

    Each task is answered by a few workers of varying skill and diligence.

    One worker in five is a spammer who guesses; the others lie 30–90% of the way from guessing (1/K) to
    always right, with small differences by class. Busy workers answer many times more tasks than idle ones.
    """
    W, K = check_count(n_workers, "n_workers"), check_classes(n_classes)
    k = check_count(votes_per_task, "votes_per_task")
    if k > W:
        raise InputError(f"{k} votes per task need at least {k} workers; there are {W}.")
    psi = np.full((W, K, K), 1 / K)
    skilled = rng.random(W).argsort()[W // 5 :]
    skill = rng.uniform(0.3, 0.9, (len(skilled), 1)) + rng.uniform(-0.05, 0.05, (len(skilled), K))
    psi[skilled] = _random_rest(rng, 1 / K + (1 - 1 / K) * skill)
    crowd = _independent(n, rng, psi, _uniform(K), [f"worker_{j + 1:0{len(str(W))}}" for j in range(W)])
    diligence = 0.2 + rng.exponential(size=W)
    arrival = rng.exponential(size=(n, W)) / diligence  # the k first to arrive take the task
    absent = arrival > np.partition(arrival, k - 1, axis=1)[:, k - 1, None]
    return with_codes(crowd, np.where(absent, NO_VOTE, crowd.votes.codes))


def rules(
    n: int,
    *,
    rng: np.random.Generator,
    n_rules: int = 8,
    n_classes: int = 2,
    precision: tuple[float, float] = (0.6, 0.95),
    reach: tuple[float, float] = (0.15, 0.7),
) -> Ensemble:
    """Draw labelling rules that know one class each and abstain elsewhere.

    Rule i stands for class c = i mod K. With its precision p and its reach r, each drawn from a range, it fires for
    r·π_c of the rows: Pr(fires | Y = c) = r·p and Pr(fires | Y ≠ c) = r·(1 − p)·π_c / (1 − π_c), given Y independently
    of the others. Some rows are left without a vote.
    """
    d, K = check_count(n_rules, "The number of rules", least=2), check_classes(n_classes)
    p = rng.uniform(check_share(precision[0], "A precision"), check_share(precision[1], "A precision"), d)
    r = rng.uniform(check_share(reach[0], "A reach"), check_share(reach[1], "A reach"), d)
    pi, known = _uniform(K), np.arange(d) % K
    truth = _draw_classes(n, rng, pi)
    hit = truth[:, None] == known
    fires = rng.random((n, d)) < np.where(hit, r * p, r * (1 - p) * pi[known] / (1 - pi[known]))
    psi = np.zeros((d, K, K))
    psi[np.arange(d), known] = 1  # a vote that was cast is for the rule's class, whatever the truth
    votes = Votes(
        np.where(fires, known, NO_VOTE).astype(np.int32),
        np.arange(K),
        tuple(f"rule_{j + 1:0{len(str(d))}}" for j in range(d)),
        truth=truth,
    )
    return Ensemble(votes, psi, pi)


# ---------------------------------------------------------------------- probabilities and draws


def _uniform(K: int) -> Floats:
    return np.full(K, 1 / K)


def _even_rest(diagonal: Floats) -> Floats:
    """Return (d, K, K) confusion matrices with this (d, K) diagonal.

    The rest is even over the wrong classes.
    """
    K = diagonal.shape[1]
    rest = (1 - diagonal) / (K - 1)
    matrices: Floats = np.where(np.eye(K, dtype=bool), diagonal[:, None, :], rest[:, None, :])
    return matrices


def _random_rest(rng: np.random.Generator, diagonal: Floats, power: float = 1) -> Floats:
    """Return (d, K, K) confusion matrices whose columns divide 1 - diagonal by normalised uniform draws."""
    K = diagonal.shape[1]
    share = (1 - rng.random((len(diagonal), K, K))) ** power * (1 - np.eye(K))  # 1 - draw is never 0
    share /= share.sum(axis=1, keepdims=True)
    return share * (1 - diagonal)[:, None, :] + np.eye(K) * diagonal[:, None, :]


def _draw_classes(n: int, rng: np.random.Generator, pi: Floats) -> Codes:
    return draw_votes(rng, pi[None, :, None], np.zeros((check_count(n, "The number of rows"), 1), np.int32))[:, 0]


def _independent(n: int, rng: np.random.Generator, psi: Floats, pi: Floats, names: Sequence[str]) -> Ensemble:
    truth = _draw_classes(n, rng, pi)
    codes = draw_votes(rng, psi, truth[:, None])
    return Ensemble(Votes(codes, np.arange(len(pi)), tuple(names), truth=truth), psi, pi)


def _prior(prior: ArrayLike, K: int) -> Floats:
    pi: Floats = np.asarray(prior, np.float64)
    if pi.shape != (K,) or not (pi >= 0).all() or not np.isclose(pi.sum(), 1):
        raise InputError(f"The prior must be {K} probabilities, one per class, that sum to 1.")
    return np.asarray(pi / pi.sum())
