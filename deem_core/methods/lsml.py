"""L-SML: dependent groups in the spectrum of the covariance (Jaffe et al., 2016).

For one class against the rest (`one_vs_rest`), with R the covariance of the votes z = ±1 and mu their means:

1. Learners independent given the label make R rank one off its diagonal: r_ij = v_i·v_j. Where they are not, the
   score s_ij = Σ_{k≠l} |r_ij r_kl − r_il r_kj| is large. Spectral clustering of s gives g groups, for g = 1, 3, 4, …
2. Between groups R is fitted by v vᵀ, inside each group of three or more by u uᵀ. The smallest g is taken whose squared
   residual is at most 3·Σ_{i≠j} (r_ii r_jj + r_ij²)/n_ij, which is sampling noise; else the g of least residual.
   (Least residual alone puts the few good learners among many guessers into one group, and nothing is left between.)
3. The class balance b maximises the likelihood over a grid from −0.95 to 0.95, with
   ψ_i = ½(1 + mu_i + v_i √((1−b)/(1+b))),  η_i = ½(1 − mu_i + v_i √((1+b)/(1−b))), clipped to [0.01, 0.99].
   With these limits, the reference's, a class of a thousand is best explained as one that everybody misses, and all
   labels collapse. So for a side y whose share s of the majority vote is small, balances that give it s/4 to 4s are
   tried too, and the other side may be mistaken for it as rarely as s.
4. A group of three or more hangs on y through its own hidden ±1, whose ψ, η come from the same fit inside the group;
   Pr(hidden = 1 | y = 1) and Pr(hidden = −1 | y = −1) by least squares. Others hang on y directly.
5. The log-odds are log((1+b)/(1−b)) + Σ_groups log Pr(z of the group | y = 1) − log Pr(… | y = −1).

Rank-one fits end when no entry moves by 1e-7, or after 200 rounds. Signs: Σ v ≥ 0, as skill outweighs ill will
(counting signs instead would let many guessers decide). Ties go to the lowest class. The scores cost d⁴: above
`MAX_GROUPED` learners no groups are looked for (that is SML). The log-odds of different classes are not calibrated
against each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from deem_core.control import NO_CONTROL, Control
from deem_core.methods.contract import Aggregate, fill_silent_rows, silence_notes
from deem_core.methods.one_vs_rest import Signs, one_vs_all
from deem_core.typing import Floats, Mask
from deem_core.votes import Votes

MIN_COMMON = 20
"""Rows that two learners must share for their covariance to count (fewer where nobody shares twice as many)."""

MAX_GROUPED = 48
MAX_GROUPS = 8
NOISE_FACTOR = 3.0
BALANCES = np.arange(-0.95, 0.951, 0.05)
RARE = np.array([0.25, 0.5, 1.0, 2.0, 4.0])
"""Shares tried for a side that is rarer than the grid of balances knows, in parts of its share of the majority vote."""
CLIP = 0.01
TOLERANCE, MAX_ITERATIONS = 1e-7, 200


@dataclass(frozen=True)
class Fit:
    """Fit of a group of learners, or of all.

    v, Pr(z = 1 | +) and Pr(z = −1 | −), each (d,), with the balance b.
    """

    v: Floats
    psi: Floats
    eta: Floats
    balance: float


def aggregate(votes: Votes, rng: np.random.Generator, *, control: Control = NO_CONTROL) -> Aggregate:
    """Fit every class against the rest.

    ``rng`` is not used. ``skills`` are mean (ψ + η)/2 over classes, (d,).
    """
    voted = votes.votes_per_row > 0
    skills: list[Floats] = []
    n_groups: list[int] = []

    def score(signs: Signs) -> Floats:
        groups = find_groups(signs)
        fit = _fit(signs, _between(groups))
        skills.append((fit.psi + fit.eta) / 2)
        n_groups.append(int(groups.max()) + 1)
        return _log_odds(signs, groups, fit)

    posterior = one_vs_all(votes, score, control, "L-SML")
    fill_silent_rows(posterior, voted)
    note = f"Dependent groups found in {sum(g > 1 for g in n_groups)} of {len(n_groups)} binary problems."
    if votes.n_learners > MAX_GROUPED:
        note = f"With more than {MAX_GROUPED} learners no dependent groups are looked for."
    return Aggregate(
        posterior=posterior,
        voted=voted,
        skills=np.where(votes.learner_coverage > 0, np.mean(skills, axis=0), np.nan),
        notes=(note, *silence_notes(voted)),
    )


# ---------------------------------------------------------------------- groups


def find_groups(signs: Signs) -> NDArray[np.intp]:
    """Return the group of every learner, (d,), numbered from 0."""
    R, common = signs.covariance(), signs.common
    d = len(R)
    alone = np.zeros(d, np.intp)
    off = ~np.eye(d, dtype=bool)
    spread = np.outer(np.diag(R), np.diag(R)) + R**2
    noise = NOISE_FACTOR * float((spread / np.maximum(common, 1))[off].sum())
    best, least = alone, _residual(R, common, alone)
    if least <= noise or d > MAX_GROUPED:
        return alone
    scores = _dependence(R)
    for g in range(3, min(d // 2, MAX_GROUPS) + 1):
        groups = _cluster(scores, g)
        residual = _residual(R, common, groups)
        if residual <= noise:
            return groups
        if residual < least:
            best, least = groups, residual
    return best


def _dependence(R: Floats) -> Floats:
    """Return the scores s (d, d), 0 on the diagonal.

    s_ij = Σ_{k≠l; k, l ∉ {i, j}} |r_ij r_kl − r_il r_kj|.
    """
    d = len(R)
    scores = np.zeros((d, d))
    for i in range(d):
        for j in range(i + 1, d):
            minors = np.abs(R[i, j] * R - np.outer(R[:, j], R[i]))  # (k, l)
            np.fill_diagonal(minors, 0)
            others = np.delete(np.arange(d), [i, j])
            scores[i, j] = scores[j, i] = minors[np.ix_(others, others)].sum()
    return scores


def _cluster(scores: Floats, n_groups: int) -> NDArray[np.intp]:
    """Return spectral clusters of the learners: normalised Laplacian, leading eigenvectors, k-means."""
    degree = np.maximum(scores.sum(axis=1), 1e-12)
    scaled = scores / np.sqrt(np.outer(degree, degree))
    vectors = np.linalg.eigh(scaled)[1][:, -n_groups:]
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    labels = KMeans(n_groups, n_init=10, random_state=0).fit_predict(vectors)
    return np.unique(labels, return_inverse=True)[1].astype(np.intp)


def _residual(R: Floats, common: Floats, groups: NDArray[np.intp]) -> float:
    """Return the squared misfit of v vᵀ between groups and u uᵀ inside.

    Groups of fewer than three have no inside.
    """
    seen = _enough(common)
    between = _between(groups) & seen
    v = rank_one(R, between)
    total = float(((np.outer(v, v) - R)[between] ** 2).sum())
    for group in range(groups.max() + 1 if groups.any() else 0):
        own = np.flatnonzero(groups == group)
        if len(own) >= 3:
            inside = ~np.eye(len(own), dtype=bool) & seen[np.ix_(own, own)]
            u = rank_one(R[np.ix_(own, own)], inside)
            total += float(((np.outer(u, u) - R[np.ix_(own, own)])[inside] ** 2).sum())
    return total


def _enough(common: Floats) -> Mask:
    """Return which pairs (d, d) share enough rows."""
    enough: Mask = common >= max(2.0, min(MIN_COMMON, common.max() / 2))
    return enough


def _between(groups: NDArray[np.intp]) -> Mask:
    """Return which pairs (d, d) say something about v.

    Those of two groups, or all pairs if there is one group.
    """
    if not groups.any():
        return ~np.eye(len(groups), dtype=bool)
    apart: Mask = groups[:, None] != groups[None]
    return apart


# ---------------------------------------------------------------------- rank one and the class balance


def rank_one(R: Floats, trusted: Mask) -> Floats:
    """Return v (d,) with v vᵀ near R on the trusted entries.

    Holes are filled by v vᵀ, over and over.
    """
    v = np.zeros(len(R))
    if not trusted.any():
        return v
    for _ in range(MAX_ITERATIONS):
        values, vectors = np.linalg.eigh(np.where(trusted, R, np.outer(v, v)))
        before, v = v, np.clip(vectors[:, -1] * np.sqrt(max(values[-1], 0.0)), -1, 1)
        if v @ before < 0:
            v = -v
        if np.abs(v - before).max() < TOLERANCE:
            break
    return -v if v.sum() < 0 else v


def _fit(signs: Signs, trusted: Mask) -> Fit:
    """Return v from trusted pairs, and the balance of greatest likelihood."""
    v = rank_one(signs.covariance(), trusted & _enough(signs.common))
    shares = _shares(signs)
    balances = _balances(shares)
    tilt = np.sqrt((1 - balances) / (1 + balances))
    psi, eta = _rates(signs.means[:, None], v[:, None], tilt, shares)  # (d, B)
    yes, no = _log_likelihoods(signs, psi, eta)
    both = np.logaddexp(yes + np.log((1 + balances) / 2), no + np.log((1 - balances) / 2))
    at = int((signs.counts @ both).argmax())
    return Fit(v, psi[:, at], eta[:, at], float(balances[at]))


def _shares(signs: Signs) -> tuple[float, float]:
    """Return the shares of y = 1 and y = −1 by majority vote.

    A side that wins no row may still hold one.
    """
    least = 1 / max(float(signs.counts.sum()), 1.0)
    return max(signs.prior, least), max(1 - signs.prior, least)


def _balances(shares: tuple[float, float]) -> Floats:
    """Return the balances to try, (B,).

    The grid, and beyond it those near the share of a rare side.
    """
    low, high = 2 * shares[0] * RARE - 1, 1 - 2 * shares[1] * RARE
    return np.concatenate([low[low < BALANCES[0]], BALANCES, high[high > BALANCES[-1]]])


def _rates(means: Floats, v: Floats, tilt: Floats, shares: tuple[float, float]) -> tuple[Floats, Floats]:
    psi, eta = (1 + means + v * tilt) / 2, (1 - means + v / tilt) / 2
    return np.clip(psi, CLIP, 1 - min(CLIP, shares[1])), np.clip(eta, CLIP, 1 - min(CLIP, shares[0]))


def _log_likelihoods(signs: Signs, psi: Floats, eta: Floats) -> tuple[Floats, Floats]:
    """Return log Pr(z | +) and log Pr(z | −) of each row.

    psi and eta are (d,) or (d, B).
    """
    yes, no = (signs.z > 0).astype(np.float64), (signs.z < 0).astype(np.float64)
    return yes @ np.log(psi) + no @ np.log1p(-psi), yes @ np.log1p(-eta) + no @ np.log(eta)


def _log_odds(signs: Signs, groups: NDArray[np.intp], fit: Fit) -> Floats:
    odds = np.full(len(signs.z), np.log((1 + fit.balance) / (1 - fit.balance)))
    for group in range(groups.max() + 1):
        own = np.flatnonzero(groups == group)
        part = Signs(signs.z[:, own], signs.cast[:, own], signs.counts, signs.prior)
        if not groups.any() or len(own) < 3:
            yes, no = _log_likelihoods(part, fit.psi[own], fit.eta[own])
            odds += yes - no
            continue
        hidden = _fit(part, ~np.eye(len(own), dtype=bool))
        up, down = _log_likelihoods(part, hidden.psi, hidden.eta)
        q = hidden.psi + hidden.eta - 1
        size = float(q @ q) or 1.0
        p = float(np.clip(q @ (fit.psi[own] + hidden.eta - 1) / size, CLIP, 1 - CLIP))
        e = float(np.clip(q @ (fit.eta[own] + hidden.psi - 1) / size, CLIP, 1 - CLIP))
        odds += np.logaddexp(np.log(p) + up, np.log1p(-p) + down)
        odds -= np.logaddexp(np.log1p(-e) + up, np.log(e) + down)
    return odds
