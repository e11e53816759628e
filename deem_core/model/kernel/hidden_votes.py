"""Hidden votes drawn for soft ones: `deem_core.methods.soft_deem.proposal`, row by row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deem_core.model.kernel.arithmetic import GOLDEN, mixed, uniform
from deem_core.model.kernel.compilation import Counter, Flags, Ints, Number, Reals, Spans, compiled, inlined
from deem_core.model.kernel.evaluation import Parameters, Rows, evaluate, first_logits

_TINY = np.float32(np.finfo(np.float32).tiny)


def score_tables(model: Parameters, d: int, K: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return exp(s_ilm − highest_im) as (d, m, l), and highest (d, m).

    s_ilm = a_il + U_ilm is the score of vote l of learner i for label m, as in `vote_scores`.
    """
    scores = (model.visible_bias[:, None] + model.weights).reshape(d, K, K)
    highest = scores.max(axis=1)
    return np.ascontiguousarray(np.exp(scores - highest[:, None]).transpose(0, 2, 1)), highest


@inlined
def _pick(weights: Reals, total: Number, counter: Counter) -> int:
    """Return a position drawn in proportion to weights."""
    point, last = uniform(counter) * total, 0
    for k in range(len(weights)):
        if weights[k] > 0:
            last = k
            point -= weights[k]
            if point < 0:
                break
    return last


@inlined
def _bare_free_energy(model: Parameters, codes: Ints, label: Reals, K: int) -> Number:
    """Return F of a row without layers."""
    visible = 0.0
    for k in range(K):
        label[k] = model.hidden_bias[k]
    for i in range(len(codes)):
        if codes[i] >= 0:
            n = i * K + codes[i]
            visible += model.visible_bias[n]
            for k in range(K):
                label[k] += model.weights[n, k]
    highest = label[0]
    for k in range(1, K):
        highest = max(highest, label[k])
    total = 0.0
    for k in range(K):
        total += np.exp(np.float64(label[k] - highest))
    return -(visible + highest + np.log(total))


@compiled
def draw_hidden(
    model: Parameters,
    log_q: Reals,
    cast: Flags,
    scores: Reals,
    highest: Reals,
    n_draws: int,
    activation: int,
    key: np.uint64,
    span: Spans,
    rows: Rows,
    counter: Counter,
    votes: Ints,
) -> None:
    """Draw hidden votes for some rows of evidence.

    Of ``n_draws`` rows from the proposal one is kept with probability ∝ exp(F0 − F), by passing over them once: the
    s-th takes the place of the one kept so far with its share in the weights up to it.

    Parameters
    ----------
    model : Parameters
    log_q : (B, d, K) float32
    cast : (B, d) bool
    scores, highest : (d, K, K), (d, K) float32
        From `score_tables`.
    n_draws, activation : int
    key : uint64
    span : (2,) int64
    rows, counter
        Room to work in.
    votes : (B, d) int32
        Where the drawn votes go.
    """
    d, K = cast.shape[1], model.weights.shape[1]
    likely, label, own, odds = rows.odds[0], rows.label[0], rows.gradient[0, 0], rows.gradient[0, 1]
    for row in range(span[0], span[1]):
        counter[0] = mixed(key + np.uint64(row + 1) * GOLDEN)
        for m in range(K):
            label[m] = model.hidden_bias[m]
        for i in range(d):
            if cast[row, i]:
                for k in range(K):
                    likely[i, k] = np.exp(log_q[row, i, k])
                for m in range(K):
                    mass = np.float32(0)
                    for k in range(K):
                        mass += likely[i, k] * scores[i, m, k]
                    label[m] += np.log(max(mass, _TINY)) + highest[i, m]
        best = label[0]
        for m in range(1, K):
            best = max(best, label[m])
        whole = 0.0
        for m in range(K):
            odds[m] = np.exp(label[m] - best)
            whole += odds[m]
        reference, total = 0.0, 0.0
        for draw in range(n_draws):
            m = _pick(odds, whole, counter)
            for i in range(d):
                rows.codes[0, i] = -1
                if cast[row, i]:
                    sum_own = 0.0
                    for k in range(K):
                        own[k] = likely[i, k] * scores[i, m, k]
                        sum_own += own[k]
                    rows.codes[0, i] = _pick(own, sum_own, counter)
            keep = draw == 0
            if n_draws > 1:
                bare = _bare_free_energy(model, rows.codes[0], label, K)
                first_logits(model, rows, 0)
                evaluate(model, rows, 0, activation)
                gain = bare - rows.free[0]
                if draw == 0:
                    reference, total = gain, 1.0
                else:
                    if gain > reference:
                        total *= np.exp(reference - gain)
                        reference = gain
                    weight = np.exp(gain - reference)
                    total += weight
                    keep = uniform(counter) * total < weight
            if keep:
                for i in range(d):
                    votes[row, i] = rows.codes[0, i]
