"""EBCC: classes with hidden subtypes, on which learners err together (Li, Rubinstein and Cohn, 2019), by mean field.

    tau ~ Dir(α·1_K),  y_n ~ Cat(tau);  pi_k ~ Dir((a/M)·1_M),  g_n | y_n = k ~ Cat(pi_k)
    v_ikm ~ Dir(β_k),  β_kl = a_v if l = k else b_v;  x_ni | y_n = k, g_n = m ~ Cat(v_ikm)

with M = 10 subtypes, a = 0.1, α = 1, a_v = 4, b_v = 1. The posterior is approximated by q(y_n = k, g_n = m) = rho_nkm
times Dirichlets. From rho_nkm = (share of votes for k) · (a draw of Dir(1_M)), repeat

    ν_k = α + Σ_nm rho_nkm,    η_km = a/M + Σ_n rho_nkm,    μ_ikml = β_kl + Σ_n 1[x_ni = l] rho_nkm
    rho_nkm ∝ exp( E log tau_k + E log pi_km + Σ_{i ∈ V_n} E log v_{ikm, x_ni} ),  E log of a Dirichlet by digammas

until no Σ_m rho_nkm moves by 1e-3 or more, or 500 times. Each round raises the ELBO, a lower bound of log Pr(votes);
of several restarts the one with the highest ELBO answers. Ties go to the lowest class. After the first round equal
rows have equal rho, so they are computed once.

Memory: n·K·M + d·K²·M cells, of which about three copies live at once; refused above `MAX_CELLS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.special import digamma, gammaln, xlogy

from deem_core.baselines.contract import Aggregate, Float, Stop, cut_notes, never, silence_notes
from deem_core.baselines.majority import vote_shares
from deem_core.distinct import distinct_rows
from deem_core.errors import InputError
from deem_core.one_hot import sparse_one_hot
from deem_core.votes import Votes

SUBTYPES, RESTARTS = 10, 3
CLASS_PRIOR, SUBTYPE_PRIOR, RIGHT_PRIOR, WRONG_PRIOR = 1.0, 0.1, 4.0, 1.0
TOLERANCE, MAX_ITERATIONS = 1e-3, 500

MAX_CELLS = 10**8
"""Most cells of n·K·M + d·K²·M: three copies of so many doubles are 2.4 GB."""


@dataclass(frozen=True)
class State:
    """Where mean field stands: rho (u, K·M) of the distinct rows, μ (d·K, K·M), ν (K,), η (K, M) and its ELBO."""

    rho: Float
    mu: Float
    nu: Float
    eta: Float
    elbo: float
    iterations: int = 0
    converged: bool = False
    cut: bool = False


def aggregate(
    votes: Votes,
    rng: np.random.Generator,
    *,
    stop: Stop = never,
    restarts: int = RESTARTS,
    subtypes: int = SUBTYPES,
    max_iterations: int = MAX_ITERATIONS,
) -> Aggregate:
    """Fit by mean field from random starts; ``skills`` are the expected accuracies under the estimated classes.

    psi and pi are posterior means, subtypes summed out. The notes tell the ELBO of every restart.
    """
    _check_size(votes, subtypes)
    voted = votes.votes_per_row > 0
    if not voted.any():
        raise InputError("There is no vote to learn from: every vote is missing.")
    field = _Field(votes, subtypes)
    best: State | None = None
    elbos: list[float] = []
    while len(elbos) < restarts and not (best and (best.cut or stop())):
        state = field.climb(rng, stop, max_iterations)
        elbos.append(state.elbo)
        best = state if best is None or state.elbo > best.elbo else best
    assert best is not None  # noqa: S101  # at least one restart was made
    posterior, psi, pi = field.answer(best)
    cut = best.cut or len(elbos) < restarts
    told = (
        f"ELBO of {len(elbos)} restart{'s' if len(elbos) > 1 else ''}: {', '.join(f'{elbo:,.1f}' for elbo in elbos)}."
    )
    return Aggregate(
        posterior=posterior,
        voted=voted,
        iterations=best.iterations,
        converged=best.converged,
        cut=cut,
        psi=psi,
        pi=pi,
        skills=np.where(votes.learner_coverage > 0, np.einsum("imm,m->i", psi, pi), np.nan),
        notes=(told, *cut_notes(cut, f"{best.iterations} iterations of restart {len(elbos)}"), *silence_notes(voted)),
    )


class _Field:
    """The votes as mean field needs them: distinct rows, how often each occurs, and the priors."""

    def __init__(self, votes: Votes, subtypes: int) -> None:
        self.votes, self.K, self.M = votes, votes.n_classes, subtypes
        self.rows = distinct_rows(votes.codes)
        self.counts = self.rows.counts.astype(np.float64)
        self.ballots: Any = sparse_one_hot(self.rows.codes, self.K)  # (u, d·K)
        self.voted = (self.rows.codes >= 0).any(axis=1)
        self.counts[~self.voted] = 0  # rows without votes would only repeat the prior
        self.beta = np.full((self.K, self.K), WRONG_PRIOR)  # (l, k)
        np.fill_diagonal(self.beta, RIGHT_PRIOR)

    def climb(self, rng: np.random.Generator, stop: Stop, max_iterations: int) -> State:
        """Return the end of one restart."""
        state, shares = self.begin(rng), np.full((1, self.K), np.inf)
        while not state.converged and not state.cut and state.iterations < max_iterations:
            rho = self.e_step(state)
            before, shares = shares, rho.reshape(-1, self.K, self.M).sum(axis=2)
            made = state.iterations + 1
            converged = bool(np.abs(shares - before).max() < TOLERANCE)
            counted = self.counts[:, None] * rho
            cut = not converged and made < max_iterations and stop()
            state = self.m_step(counted, rho, iterations=made, converged=converged, cut=cut)
        return state

    def begin(self, rng: np.random.Generator) -> State:
        """Return the state after the first M-step, whose rho is a draw for each row and class."""
        n, K, M = self.votes.n_rows, self.K, self.M
        shares = vote_shares(self.rows.codes, K)
        drawn = np.zeros((len(shares), K * M))
        step = max(1, (1 << 20) // (K * M))
        entropy = 0.0
        for start in range(0, n, step):
            of_row = self.rows.of_row[start : start + step]
            own = np.repeat(shares[of_row], M, axis=1) * rng.dirichlet(np.ones(M), (len(of_row), K)).reshape(-1, K * M)
            entropy -= float(xlogy(own, own).sum())
            gather = csr_array(
                (np.ones(len(of_row)), (of_row, np.arange(len(of_row)))), shape=(len(shares), len(of_row))
            )
            drawn += gather @ own
        return self.m_step(drawn, None, entropy=entropy)

    def m_step(self, counted: Float, rho: Float | None, *, entropy: float | None = None, **progress: Any) -> State:
        """Return the Dirichlets for rho, given counted = (rows alike)·rho (u, K·M), and the ELBO of both together."""
        K, M, d = self.K, self.M, self.votes.n_learners
        mass = counted.sum(axis=0).reshape(K, M)
        nu, eta = CLASS_PRIOR + mass.sum(axis=1), SUBTYPE_PRIOR / M + mass
        mu = self.ballots.T @ counted + np.tile(np.repeat(self.beta, M, axis=1), (d, 1))  # (d·K, K·M)
        if entropy is None:
            entropy = -float(xlogy(counted, counted if rho is None else rho).sum())
        elbo = entropy + _evidence(nu, np.full(K, CLASS_PRIOR)) + _evidence(eta, np.full((K, M), SUBTYPE_PRIOR / M))
        priors = np.broadcast_to(np.repeat(self.beta, M, axis=1), (d, K, K * M))
        elbo += _evidence(np.moveaxis(mu.reshape(d, K, K * M), 1, 2), np.moveaxis(priors, 1, 2))
        return State(counted if rho is None else rho, mu, nu, eta, elbo, **progress)

    def e_step(self, state: State) -> Float:
        """Return rho (u, K·M) for the Dirichlets of a state."""
        d, K, M = self.votes.n_learners, self.K, self.M
        mu = state.mu.reshape(d, K, K * M)
        logs = (digamma(mu) - digamma(mu.sum(axis=1, keepdims=True))).reshape(d * K, K * M)
        scores: Float = self.ballots @ logs
        prior = digamma(state.nu)[:, None] + digamma(state.eta) - digamma(state.eta.sum(axis=1, keepdims=True))
        scores += prior.reshape(-1)
        scores -= scores.max(axis=1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=1, keepdims=True)
        return scores

    def answer(self, state: State) -> tuple[Float, Float, Float]:
        """Return the posterior (n, K), psi (d, K, K) and pi (K,)."""
        d, K, M = self.votes.n_learners, self.K, self.M
        pi = state.nu / state.nu.sum()
        found = state.rho.reshape(-1, K, M).sum(axis=2)
        found[~self.voted] = pi
        found /= found.sum(axis=1, keepdims=True)
        means = state.mu.reshape(d, K, K, M)
        means = means / means.sum(axis=1, keepdims=True)
        psi = np.einsum("ilkm,km->ilk", means, state.eta / state.eta.sum(axis=1, keepdims=True))
        return found[self.rows.of_row], psi / psi.sum(axis=1, keepdims=True), pi


def _evidence(posterior: Float, prior: Float) -> float:
    """Return Σ log B(posterior) − log B(prior) over Dirichlets, whose parameters lie along the last axis.

    With the Dirichlets at their best for rho, E log p − E log q is this plus the entropy of rho.
    """
    ours = gammaln(posterior).sum(axis=-1) - gammaln(posterior.sum(axis=-1))
    theirs = gammaln(prior).sum(axis=-1) - gammaln(prior.sum(axis=-1))
    return float((ours - theirs).sum())


def _check_size(votes: Votes, subtypes: int) -> None:
    n, d, K = votes.n_rows, votes.n_learners, votes.n_classes
    cells = n * K * subtypes + d * K * K * subtypes
    if cells > MAX_CELLS:
        raise InputError(
            f"EBCC needs n·K·M + d·K²·M = {cells:,} cells, about {24 * cells / 1e9:.1f} GB in all: refused above "
            f"{MAX_CELLS:,} cells ({24 * MAX_CELLS / 1e9:.1f} GB). Try ds or hds."
        )
