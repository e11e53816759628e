"""EBCC: hidden subtypes of classes, by mean field (Li, Rubinstein and Cohn, 2019).

Learners err together on a subtype.

    tau ~ Dir(α·1_K),  y_n ~ Cat(tau);  pi_k ~ Dir((a/M)·1_M),  g_n | y_n = k ~ Cat(pi_k)
    v_ikm ~ Dir(β_k),  β_kl = a_v if l = k else b_v;  x_ni | y_n = k, g_n = m ~ Cat(v_ikm)

with M = 10 subtypes, a = 0.1, α = 1, a_v = 4, b_v = 1. The posterior is approximated by q(y_n = k, g_n = m) = rho_nkm
times Dirichlets. From rho_nkm = (share of votes for k) · (a draw of Dir(1_M)), repeat

    ν_k = α + Σ_nm rho_nkm,    η_km = a/M + Σ_n rho_nkm,    μ_ikml = β_kl + Σ_n 1[x_ni = l] rho_nkm
    rho_nkm ∝ exp( E log tau_k + E log pi_km + Σ_{i ∈ V_n} E log v_{ikm, x_ni} ),  E log of a Dirichlet by digammas

until no Σ_m rho_nkm moves by 1e-3 or more, or 500 times. Each round raises the ELBO, a lower bound of log Pr(votes);
of several restarts the one with the highest ELBO answers. Ties go to the lowest class. After the first round equal
rows have equal rho, so they are computed once.

Memory: u·K·M + d·K²·M cells for u distinct rows, of which about three copies live at once; refused above `MAX_CELLS`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array
from scipy.special import digamma, gammaln, xlogy

from deem_core.control import NO_CONTROL, Control
from deem_core.errors import InputError
from deem_core.methods import em
from deem_core.methods.contract import Aggregate
from deem_core.methods.dawid_skene import expected_accuracies
from deem_core.text import count
from deem_core.typing import Floats, Integers
from deem_core.votes import Votes
from deem_core.votes.arrays import chunks
from deem_core.votes.majority import vote_shares
from deem_core.votes.patterns import Table

SUBTYPES, RESTARTS = 10, 3
CLASS_PRIOR, SUBTYPE_PRIOR, RIGHT_PRIOR, WRONG_PRIOR = 1.0, 0.1, 4.0, 1.0
TOLERANCE, MAX_ITERATIONS = 1e-3, 500

MAX_CELLS = 10**8
"""Most cells of u·K·M + d·K²·M: three copies of so many doubles are 2.4 GB."""


@dataclass(frozen=True)
class State:
    """State of mean field.

    rho (u, K·M) of the distinct rows, μ (d·K, K·M), ν (K,), η (K, M) and the ELBO.
    """

    rho: Floats
    mu: Floats
    nu: Floats
    eta: Floats
    elbo: float


def aggregate(
    votes: Votes,
    rng: np.random.Generator,
    *,
    control: Control = NO_CONTROL,
    restarts: int = RESTARTS,
    subtypes: int = SUBTYPES,
    max_iterations: int = MAX_ITERATIONS,
) -> Aggregate:
    """Fit by mean field from random starts.

    ``skills`` are the expected accuracies under the estimated classes.

    psi and pi are posterior means, subtypes summed out. The notes tell the ELBO of every restart.
    """
    fitted, elbos = fit(
        Table.of_votes(votes),
        rng,
        of_row=votes.distinct.of_row,
        control=control,
        restarts=restarts,
        subtypes=subtypes,
        max_iterations=max_iterations,
    )
    summary = (
        f"ELBO of {len(elbos)} restart{'s' if len(elbos) > 1 else ''}: {', '.join(f'{elbo:,.1f}' for elbo in elbos)}."
    )
    return em.aggregate(
        votes,
        votes.distinct.spread(fitted.posterior),
        fitted.run,
        lead=(summary,),
        reached=f"{fitted.run.done} iterations of restart {len(elbos)}",
        psi=fitted.psi,
        pi=fitted.pi,
        skills=expected_accuracies(votes, fitted.psi, fitted.pi),
    )


def fit(
    table: Table,
    rng: np.random.Generator,
    *,
    of_row: Integers | None = None,
    control: Control = NO_CONTROL,
    restarts: int = RESTARTS,
    subtypes: int = SUBTYPES,
    max_iterations: int = MAX_ITERATIONS,
) -> tuple[em.Fit, list[float]]:
    """Fit on distinct rows with their counts.

    Beside the fit it returns the ELBO of each restart. Parameters are those of `aggregate`, and ``of_row``, the
    distinct row of each row (n,) in the order in which the rows draw their starts; by default those of the first
    distinct row come first.
    """
    _check_size(table, subtypes)
    if not table.n_rows:
        raise InputError("There is no vote to learn from: every vote is missing.")
    field = _Field(table, subtypes, of_row)
    best, run = field.climb(rng, control, max_iterations)
    elbos = [best.elbo]
    while len(elbos) < restarts and not run.cut and not control.stopped():
        state, own = field.climb(rng, control, max_iterations)
        elbos.append(state.elbo)
        if state.elbo > best.elbo:
            best, run = state, own
    posterior, psi, pi = field.answer(best)
    return em.Fit(posterior, psi, pi, replace(run, cut=run.cut or len(elbos) < restarts)), elbos


class _Field:
    """A table as mean field needs it: distinct rows, counts, priors."""

    def __init__(self, table: Table, subtypes: int, of_row: Integers | None = None) -> None:
        self.table, self.K, self.M = table, table.n_classes, subtypes
        self.of_row = np.repeat(np.arange(len(table.codes)), table.counts.astype(np.intp)) if of_row is None else of_row
        self.counts = table.counts
        self.ballots = table.ballots()  # (u, d·K)
        self.beta = np.full((self.K, self.K), WRONG_PRIOR)  # (l, k)
        np.fill_diagonal(self.beta, RIGHT_PRIOR)

    def climb(self, rng: np.random.Generator, control: Control, max_iterations: int) -> tuple[State, em.Iterations]:
        """Return where one restart ended, and how."""
        state, shares = self.begin(rng), np.full((1, self.K), np.inf)

        def step(done: int) -> bool:
            nonlocal state, shares
            rho = self.e_step(state)
            before, shares = shares, rho.reshape(-1, self.K, self.M).sum(axis=2)
            state = self.m_step(self.counts[:, None] * rho, rho)
            return bool(np.abs(shares - before).max() < TOLERANCE)

        run = em.iterate(step, max_iterations=max_iterations, control=control)
        return state, run

    def begin(self, rng: np.random.Generator) -> State:
        """Return the state after the first M-step.

        Its rho is a draw for each row and class.
        """
        n, K, M = len(self.of_row), self.K, self.M
        shares = vote_shares(self.table.codes, K)
        drawn = np.zeros((len(shares), K * M))
        entropy = 0.0
        for part in chunks(n, (1 << 20) // (K * M)):
            of_row = self.of_row[part]
            own = np.repeat(shares[of_row], M, axis=1) * rng.dirichlet(np.ones(M), (len(of_row), K)).reshape(-1, K * M)
            entropy -= float(xlogy(own, own).sum())
            gather = csr_array(
                (np.ones(len(of_row)), (of_row, np.arange(len(of_row)))), shape=(len(shares), len(of_row))
            )
            drawn += gather @ own
        return self.m_step(drawn, None, entropy=entropy)

    def m_step(self, counted: Floats, rho: Floats | None, *, entropy: float | None = None) -> State:
        """Return the Dirichlets for rho, and the ELBO of both.

        ``counted`` is rho (u, K·M) times the number of equal rows.
        """
        K, M, d = self.K, self.M, self.table.n_learners
        mass = counted.sum(axis=0).reshape(K, M)
        nu, eta = CLASS_PRIOR + mass.sum(axis=1), SUBTYPE_PRIOR / M + mass
        mu = self.ballots.T @ counted + np.tile(np.repeat(self.beta, M, axis=1), (d, 1))  # (d·K, K·M)
        if entropy is None:
            entropy = -float(xlogy(counted, counted if rho is None else rho).sum())
        elbo = entropy + _evidence(nu, np.full(K, CLASS_PRIOR)) + _evidence(eta, np.full((K, M), SUBTYPE_PRIOR / M))
        priors = np.broadcast_to(np.repeat(self.beta, M, axis=1), (d, K, K * M))
        elbo += _evidence(np.moveaxis(mu.reshape(d, K, K * M), 1, 2), np.moveaxis(priors, 1, 2))
        return State(counted if rho is None else rho, mu, nu, eta, elbo)

    def e_step(self, state: State) -> Floats:
        """Return rho (u, K·M) for the Dirichlets of a state."""
        d, K, M = self.table.n_learners, self.K, self.M
        mu = state.mu.reshape(d, K, K * M)
        logs = (digamma(mu) - digamma(mu.sum(axis=1, keepdims=True))).reshape(d * K, K * M)
        scores: Floats = self.ballots @ logs
        prior = digamma(state.nu)[:, None] + digamma(state.eta) - digamma(state.eta.sum(axis=1, keepdims=True))
        scores += prior.reshape(-1)
        scores -= scores.max(axis=1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=1, keepdims=True)
        return scores

    def answer(self, state: State) -> tuple[Floats, Floats, Floats]:
        """Return the posterior (u, K), psi (d, K, K) and pi (K,)."""
        d, K, M = self.table.n_learners, self.K, self.M
        pi = state.nu / state.nu.sum()
        posterior = state.rho.reshape(-1, K, M).sum(axis=2)
        posterior[self.counts == 0] = pi
        posterior /= posterior.sum(axis=1, keepdims=True)
        means = state.mu.reshape(d, K, K, M)
        means = means / means.sum(axis=1, keepdims=True)
        psi = np.einsum("ilkm,km->ilk", means, state.eta / state.eta.sum(axis=1, keepdims=True))
        return posterior, psi / psi.sum(axis=1, keepdims=True), pi


def _evidence(posterior: Floats, prior: Floats) -> float:
    """Return Σ log B(posterior) − log B(prior) over Dirichlets.

    Their parameters lie along the last axis.

    With the Dirichlets at their best for rho, E log p − E log q is this plus the entropy of rho.
    """
    ours = gammaln(posterior).sum(axis=-1) - gammaln(posterior.sum(axis=-1))
    theirs = gammaln(prior).sum(axis=-1) - gammaln(prior.sum(axis=-1))
    return float((ours - theirs).sum())


def _check_size(table: Table, subtypes: int) -> None:
    u, d, K = len(table.codes), table.n_learners, table.n_classes
    cells = u * K * subtypes + d * K * K * subtypes
    if cells > MAX_CELLS:
        raise InputError(
            f"EBCC needs u·K·M + d·K²·M = {cells:,} cells for {count(u, 'different row')}, about "
            f"{24 * cells / 1e9:.1f} GB in all: refused above {MAX_CELLS:,} cells "
            f"({24 * MAX_CELLS / 1e9:.1f} GB). Try Dawid-Skene or its hybrid (ds, hds)."
        )
