"""FlyingSquid: accuracies in closed form from triplets of learners (Fu et al., 2020).

For one class against the rest (`one_vs_rest`), with M_ij = E[z_i z_j] over the rows both voted on, mu_i = E[z_i], and
the class balance e = E[Y] = 2·(share of the majority vote) − 1, the model says M_ij = a_i·a_j for a_i = E[z_i Y], so

    |a_i| = median over pairs {j, k} of sqrt| M_ij M_ik / M_jk |,  taken as positive: better than chance
    Pr(z_i = s | Y = t) = (1 + s·mu_i + t·e + s·t·a_i) / (2·(1 + t·e)),  clipped to [0.01, 0.99]

and naive Bayes gives the log-odds. Pairs with |M_jk| < 2/√(rows in common), which is sampling noise, are left out;
a learner without any pair takes its mean product with the majority vote. Nothing iterates. Ties go to the lowest
class. M_ij = a_i·a_j needs symmetric errors and balanced classes: one class against many breaks it, and guessers then
look skilled, as the paper finds too. d³ triplets: refused above 200 learners.
"""

from __future__ import annotations

import numpy as np

from deem_core.control import NO_CONTROL, Control
from deem_core.errors import InputError
from deem_core.methods.contract import Aggregate, fill_silent_rows, silence_notes
from deem_core.methods.one_vs_rest import Signs, one_vs_all
from deem_core.typing import Floats
from deem_core.votes import Votes

MAX_LEARNERS = 200
CLIP = 0.01


def aggregate(votes: Votes, rng: np.random.Generator, *, control: Control = NO_CONTROL) -> Aggregate:
    """Solve triplets for every class.

    ``rng`` is not used. ``skills`` are mean E[z Y] over classes, (d,).
    """
    if votes.n_learners > MAX_LEARNERS:
        raise InputError(
            f"FlyingSquid looks at d³ triplets of learners for every class: refused above {MAX_LEARNERS} learners; "
            f"there are {votes.n_learners:,}."
        )
    voted = votes.votes_per_row > 0
    skills: list[Floats] = []

    def score(signs: Signs) -> Floats:
        balance = float(np.clip(2 * signs.prior - 1, -0.98, 0.98))
        skill = triplet_skills(signs)
        skills.append(skill)
        return log_odds(signs, skill, balance)

    posterior = one_vs_all(votes, score, control, "FlyingSquid")
    fill_silent_rows(posterior, voted)
    return Aggregate(
        posterior=posterior,
        voted=voted,
        skills=np.where(votes.learner_coverage > 0, np.mean(skills, axis=0), np.nan),
        notes=silence_notes(voted),
    )


def triplet_skills(signs: Signs) -> Floats:
    """Return the a (d,) of one class against the rest."""
    d = signs.z.shape[1]
    common, product = signs.common, np.abs(signs.products(signs.z))
    usable = product >= 2 / np.sqrt(np.maximum(common, 1))
    np.fill_diagonal(usable, False)
    upper = np.triu(usable, 1)
    majority = np.sign(signs.z.sum(axis=1))
    fallback = (signs.counts * majority) @ signs.z / np.maximum(signs.counts @ signs.cast, 1)
    skill: Floats = np.clip(fallback, 0, 1)
    seen = common > 0
    for i in range(d):
        pairs = upper & seen[i][:, None] & seen[i][None]
        pairs[i], pairs[:, i] = False, False
        j, k = np.nonzero(pairs)
        if len(j):
            skill[i] = min(1.0, float(np.median(np.sqrt(product[i, j] * product[i, k] / product[j, k]))))
    return skill


def log_odds(signs: Signs, skill: Floats, balance: float) -> Floats:
    """Return log Pr(Y = 1 | z) − log Pr(Y = −1 | z) of each row, (u,)."""
    means = signs.means
    odds = np.full(len(signs.z), np.log((1 + balance) / (1 - balance)))
    for vote, marks in ((1, signs.z > 0), (-1, signs.z < 0)):
        yes = (1 + vote * means + balance + vote * skill) / (2 * (1 + balance))
        no = (1 + vote * means - balance - vote * skill) / (2 * (1 - balance))
        odds += marks @ (np.log(np.clip(yes, CLIP, 1 - CLIP)) - np.log(np.clip(no, CLIP, 1 - CLIP)))
    return odds
