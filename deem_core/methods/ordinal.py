"""Ordinal Dawid-Skene: raters on a scale, then the confusions they really show.

The classes are steps 0 … K−1 of a scale with the middle c. Two models are fitted one after the other, each by EM.

**Raters.** A learner sees the step m of a row as a point on the scale and answers the nearest step, with a bias b, a
gain g (below 1 it keeps to the middle, at 0 it does not look), a noise s, and lapses e in which any step will do:

    z = c + g·(m − c) + b + s·ε,  ε ~ N(0, 1),    X = the step nearest to z, at either end the last one
    φ_lm = (1 − e)·(Φ((l + ½ − μ_m)/s) − Φ((l − ½ − μ_m)/s)) + e/K,    μ_m = c + g·(m − c) + b

Four numbers describe a learner, so that a few votes are enough; the priors in `SCALES` keep those who cast fewer near
a fair rater. The M-step maximises Σ N_lm log φ_lm + log prior by Fisher scoring, N the expected votes; steps that do
not raise it are halved, so that no iteration lowers the posterior density (generalised EM).

**Confusions.** No real panel is that regular: here two steps are mixed up by all, there one step is everybody's answer
when in doubt. So Dawid-Skene is fitted from vote shares with the prior psi_im ~ Dirichlet(1 + κ·γ_im), κ = 10 votes:
γ_im is φ_im times what all learners together said more or less often than φ says, made to sum to 1. Learners
with many votes get their own confusion matrix, the others that of a rater.

EM stops as Dawid-Skene's does. Measured against other ways: docs/scores.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import expit, ndtr

from deem_core.control import NO_CONTROL, Control
from deem_core.errors import InputError
from deem_core.methods import em
from deem_core.methods.contract import Aggregate
from deem_core.methods.dawid_skene import MAX_ITERATIONS, TOLERANCE, Steps, expected_accuracies, posterior_of
from deem_core.typing import Floats
from deem_core.votes import Votes
from deem_core.votes.majority import vote_shares
from deem_core.votes.patterns import Table

PSEUDO_VOTES = 10.0
"""κ, the votes that the model of raters counts for in each column of a confusion matrix."""

CLASS_PRIOR = 1.0
"""Rows added to each class, so that no step of the scale dies out in small files."""

MOST_CELLS = 5_000_000
"""d·K² cells at the most: fitting holds some fifteen tables of that size."""

SCORING_STEPS, HALVINGS, LONGEST_STEP = 2, 6, 1.0
_SMALLEST = 1e-12  # probability below which a vote a rater can hardly cast is not told from impossible

BIAS, GAIN, LOG_NOISE, LAPSE = range(4)


@dataclass(frozen=True)
class Scales:
    """Normal priors of a rater's numbers on a scale of five steps.

    Bias and noise grow with the scale. The lapses are log-odds: about one vote in thirteen.
    """

    mean: tuple[float, float, float, float] = (0.0, 1.0, float(np.log(0.7)), -2.5)
    deviation: tuple[float, float, float, float] = (0.5, 0.3, 0.5, 1.0)

    def of(self, n_classes: int) -> tuple[Floats, Floats]:
        """Return means (4,) and precisions (4,) for K steps."""
        mean, deviation = np.array(self.mean), np.array(self.deviation)
        mean[LOG_NOISE] += 0.5 * np.log(n_classes / 5)
        deviation[BIAS] *= n_classes / 5
        return mean, deviation**-2.0


SCALES = Scales()


@dataclass(frozen=True, eq=False)
class Raters:
    """What the first model says of each learner, and the steps.

    Attributes
    ----------
    numbers : (d, 4)
        Bias and gain, log noise, log-odds of a lapse.
    pi : (K,)
    posterior : (u, K)
        Of each row of the table.
    run : Iterations
    log_likelihood : float
        Mean over the rows with votes.
    """

    numbers: Floats
    pi: Floats
    posterior: Floats
    run: em.Iterations
    log_likelihood: float

    @property
    def bias(self) -> Floats:
        """Steps by which each learner answers too high, (d,)."""
        return self.numbers[:, BIAS]

    @property
    def gain(self) -> Floats:
        """Steps answered for each step of the truth, (d,)."""
        return self.numbers[:, GAIN]

    @property
    def noise(self) -> Floats:
        """Standard deviation of each learner's answers in steps, (d,)."""
        return np.exp(self.numbers[:, LOG_NOISE])

    @property
    def lapses(self) -> Floats:
        """Share of each learner's votes that are a guess, (d,)."""
        return np.asarray(expit(self.numbers[:, LAPSE]))

    @property
    def psi(self) -> Floats:
        """Confusion matrices φ of the raters, (d, K, K)."""
        return confusions(self.numbers, len(self.pi))


def aggregate(votes: Votes, rng: np.random.Generator, *, control: Control = NO_CONTROL) -> Aggregate:
    """Fit raters, then confusions around them.

    ``rng`` is not used. ``skills`` are expected accuracies (d,), as Dawid-Skene's.

    Raises
    ------
    InputError
        If the labels of the votes have no order, or there are too many cells.
    """
    check(votes)
    table = Table.of_votes(votes)
    raters = fit_raters(table, control=control)
    fitted = fit(table, raters, control=control)
    return em.aggregate(
        votes,
        votes.distinct.spread(fitted.posterior),
        fitted.run,
        note=f"Stopped after {fitted.run.done:,} iterations on raters and confusions.",
        log_likelihood=fitted.log_likelihood,
        psi=fitted.psi,
        pi=fitted.pi,
        skills=expected_accuracies(votes, fitted.psi, fitted.pi),
        rule=partial(posterior_of, psi=fitted.psi, pi=fitted.pi),
    )


def check(votes: Votes) -> None:
    """Refuse votes without an order, and too many cells."""
    if not votes.ordered:
        raise InputError(
            "Ordinal Dawid-Skene needs labels that have an order, such as 1 to 5. Say so (--ordinal, or “Labels have "
            "an order” on the Data page), or choose another method."
        )
    cells = votes.n_learners * votes.n_classes**2
    if cells > MOST_CELLS:
        raise InputError(
            f"Ordinal Dawid-Skene needs d·K² = {cells:,} cells here, more than {MOST_CELLS:,}. Merge steps of the "
            "scale, or choose another method."
        )


# ---------------------------------------------------------------------- raters


def fit_raters(table: Table, *, control: Control = NO_CONTROL) -> Raters:
    """Fit the model of raters on distinct rows, from vote shares."""
    K, steps = table.n_classes, Steps(table)
    mean, precision = SCALES.of(K)
    numbers = np.tile(mean, (table.n_learners, 1))
    posterior, pi, likelihood = vote_shares(table.codes, K), np.empty(0), -np.inf

    def step(done: int) -> bool:
        nonlocal numbers, pi, likelihood
        pi = shares(table, posterior)
        numbers = improved(numbers, expected_votes(steps, posterior), mean, precision)
        before, likelihood = likelihood, steps.expect(confusions(numbers, K), pi, posterior)
        return done > 0 and em.likelihood_settled(before, likelihood, TOLERANCE)

    run = em.iterate(step, max_iterations=MAX_ITERATIONS, control=control)
    return Raters(numbers, pi, posterior, run, likelihood)


def confusions(numbers: Floats, n_classes: int) -> Floats:
    """Return φ = Pr(X = l | step m) of each learner, (d, K, K)."""
    lapse = expit(numbers[:, LAPSE])[:, None, None]
    edges, _ = _edges(numbers, n_classes)
    return np.asarray((1 - lapse) * _between(ndtr(edges), top=1.0) + lapse / n_classes + _SMALLEST)


def improved(numbers: Floats, votes: Floats, mean: Floats, precision: Floats) -> Floats:
    """Return numbers (d, 4) of a higher density, given expected votes (d, K, K)."""
    K = votes.shape[-1]

    def density(candidates: Floats) -> Floats:
        gain = (votes * np.log(confusions(candidates, K))).sum(axis=(1, 2))
        return np.asarray(gain - 0.5 * ((candidates - mean) ** 2 @ precision))

    now = density(numbers)
    for _ in range(SCORING_STEPS):
        towards, share = _direction(numbers, votes, mean, precision), np.ones(len(numbers))
        for _ in range(HALVINGS):
            wish = numbers + share[:, None] * towards
            then = density(wish)
            worse = ~(then >= now)
            if not worse.any():
                break
            share[worse] /= 2
        numbers, now = np.where(worse[:, None], numbers, wish), np.where(worse, now, then)
    return numbers


def gradient(numbers: Floats, votes: Floats, mean: Floats, precision: Floats) -> Floats:
    """Return the derivatives of the expected log density, (d, 4)."""
    ratio = votes / confusions(numbers, votes.shape[-1])
    pull = np.einsum("ilm,ilmk->ik", ratio, _slopes(numbers, votes.shape[-1]))
    return np.asarray(pull - precision * (numbers - mean))


def _direction(numbers: Floats, votes: Floats, mean: Floats, precision: Floats) -> Floats:
    """Return the step of Fisher scoring, (d, 4), clipped."""
    slopes, phi = _slopes(numbers, votes.shape[-1]), confusions(numbers, votes.shape[-1])
    information = np.einsum("im,ilmk,ilmj->ikj", votes.sum(axis=1), slopes / phi[..., None], slopes, optimize=True)
    information += np.diag(precision)
    step = np.linalg.solve(information, gradient(numbers, votes, mean, precision)[..., None])[..., 0]
    return np.clip(step, -LONGEST_STEP, LONGEST_STEP)


def _slopes(numbers: Floats, n_classes: int) -> Floats:
    """Return the derivatives of φ by each number, (d, K, K, 4)."""
    lapse = expit(numbers[:, LAPSE])[:, None, None]
    edges, noise = _edges(numbers, n_classes)
    density = np.exp(-0.5 * edges**2) / np.sqrt(2 * np.pi)
    up = -(1 - lapse) * _between(density) / noise
    wide = -(1 - lapse) * _between(edges * density)
    guess = lapse * (1 - lapse) * (1 / n_classes - _between(ndtr(edges), top=1.0))
    return np.asarray(np.stack([up, up * _offsets(n_classes), wide, guess], axis=-1), np.float64)


def _edges(numbers: Floats, n_classes: int) -> tuple[Floats, Floats]:
    """Return the inner edges of the steps in deviations, (d, K−1, K), and the noise (d, 1, 1)."""
    noise = np.exp(numbers[:, LOG_NOISE])[:, None, None]
    seen = numbers[:, BIAS, None] + numbers[:, GAIN, None] * _offsets(n_classes)  # (d, K), from the middle
    inner = (np.arange(n_classes - 1) + 0.5 - (n_classes - 1) / 2)[None, :, None]
    return np.asarray((inner - seen[:, None, :]) / noise, np.float64), noise


def _offsets(n_classes: int) -> Floats:
    return np.asarray(np.arange(n_classes) - (n_classes - 1) / 2, np.float64)


def _between(values: Floats, top: float = 0.0) -> Floats:
    """Return the differences of values at edges, (d, K, K).

    Below the lowest edge the values are 0, above the highest ``top``.
    """
    return np.asarray(np.diff(values, axis=1, prepend=0.0, append=top), np.float64)


# ---------------------------------------------------------------------- confusions


def fit(table: Table, raters: Raters, *, control: Control = NO_CONTROL) -> em.Fit:
    """Fit confusions around raters on distinct rows, from vote shares."""
    K, steps = table.n_classes, Steps(table)
    centre = expected_confusions(raters, expected_votes(steps, raters.posterior))
    posterior, psi, pi, likelihood = vote_shares(table.codes, K), np.empty(0), np.empty(0), -np.inf

    def step(done: int) -> bool:
        nonlocal psi, pi, likelihood
        pi, psi = shares(table, posterior), smoothed(expected_votes(steps, posterior), centre)
        before, likelihood = likelihood, steps.expect(psi, pi, posterior)
        return done > 0 and em.likelihood_settled(before, likelihood, TOLERANCE)

    run = em.iterate(step, max_iterations=MAX_ITERATIONS, control=control)
    both = em.Iterations(raters.run.done + run.done, raters.run.converged and run.converged, raters.run.cut or run.cut)
    return em.Fit(posterior, psi, pi, both, likelihood if table.n_rows else None)


def expected_confusions(raters: Raters, votes: Floats) -> Floats:
    """Return γ, the raters' φ corrected by what all say together, (d, K, K)."""
    phi = raters.psi
    K = phi.shape[-1]
    said, expected = votes.sum(axis=0), (phi * votes.sum(axis=1, keepdims=True)).sum(axis=0)
    centre = phi * (said + K) / (expected + K)
    return np.asarray(centre / centre.sum(axis=1, keepdims=True))


def smoothed(votes: Floats, centre: Floats) -> Floats:
    """Return psi of highest density, given expected votes (d, K, K)."""
    return np.asarray((votes + PSEUDO_VOTES * centre) / (votes.sum(axis=1, keepdims=True) + PSEUDO_VOTES))


def expected_votes(steps: Steps, posterior: Floats) -> Floats:
    """Return Σ_n q_nm [x_ni = l], (d, K, K), indexed learner, vote, step."""
    d, K = steps.table.n_learners, steps.table.n_classes
    return np.asarray((steps.counted.T @ posterior).reshape(d, K, K))


def shares(table: Table, posterior: Floats) -> Floats:
    """Return pi (K,) with `CLASS_PRIOR` rows added to each class."""
    mass = table.counts @ posterior + CLASS_PRIOR
    return np.asarray(mass / mass.sum())
