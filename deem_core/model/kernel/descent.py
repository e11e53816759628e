"""Descent: the gradient of a batch, added to parameters or to a table of its own.

With r over rows of data (sign −) and of chains (sign +), and all sums over supports alone,

    ∂ loss / ∂ layer_l[s, t] = Σ_r ± v_{l−1,s} · (gradient in logit t) / B      and so on for biases and the top.

The work is shared out by learners, never by rows: whoever computes, every number is the same sum in the same order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from deem_core.model.kernel.compilation import Number, Reals, Spans, compiled, inlined
from deem_core.model.kernel.evaluation import Parameters

_ZERO = np.float32(0)


class Notes(NamedTuple):
    """What the gradient needs of the rows of data and of chains.

    Attributes
    ----------
    apart : (m / 2,) bool
        Whether the chain ended elsewhere; otherwise both gradients cancel, and there is nothing else of the row.
    codes, ends, states, values, pulled, label
        See `Rows`.
    """

    apart: Any
    codes: Any
    ends: Any
    states: Any
    values: Any
    pulled: Any
    label: Any


def empty_notes(m: int, L: int, d: int, K: int) -> Notes:
    """Return notes of m rows, to be filled; memory is taken as they are."""
    N = d * K
    return Notes(
        np.empty(m // 2, np.bool_),
        np.empty((m, d), np.int32),
        np.empty((m, L, d + 1), np.int32),
        np.empty((m, L, N), np.int32),
        np.empty((m, L, N), np.float32),
        np.empty((m, L, N), np.float32),
        np.empty((m, K), np.float32),
    )


@inlined
def _add_top(target: Parameters, n: int, value: Number, label: Reals, fixed: int, K: int, state: int) -> None:
    """Add a unit's part of the gradient at the top, the iRBM's constants apart."""
    if state == fixed:
        return
    target.visible_bias[n] += value
    own = target.weights[n]
    constant = own[max(fixed, 0)]
    for k in range(K):
        own[k] += value * label[k]
    if fixed >= 0:
        own[fixed] = constant


@compiled
def add_gradient(target: Parameters, notes: Notes, learners: Spans, step: Number, fixed: int, both_ways: bool) -> None:
    """Add ``step`` times the gradient of −F (data) and of F (chains) to parameters.

    Parameters
    ----------
    target : Parameters
    notes : Notes
        Of 2B rows.
    learners : (2,) int64
        First learner whose parameters are added to, and the one after the last; the first of all also adds the
        hidden bias.
    step : float32
        Learning rate / B for descent in place.
    fixed : int
        State whose coefficients are constants; -1 for none.
    both_ways : bool
        Whether the transposed layers are added to as well.
    """
    d, K, L = notes.codes.shape[1], notes.label.shape[1], notes.ends.shape[1]
    B = len(notes.codes) // 2
    first, last = learners[0], learners[1]
    for row in range(B):
        if not notes.apart[row]:
            continue
        for side in range(2):
            at = row + side * B
            signed = step if side == 0 else -step
            label = notes.label[at]
            if first == 0:
                for k in range(K):
                    if k != fixed:
                        target.hidden_bias[k] += signed * label[k]
            if L == 0:
                for i in range(first, last):
                    state = notes.codes[at, i]
                    if state >= 0:
                        _add_top(target, i * K + state, signed, label, fixed, K, state)
                continue
            for i in range(first, last):
                for j in range(notes.ends[at, L - 1, i], notes.ends[at, L - 1, i + 1]):
                    n = notes.states[at, L - 1, j]
                    _add_top(target, n, signed * notes.values[at, L - 1, j], label, fixed, K, n - i * K)
            for layer in range(L):
                states, pulled = notes.states[at, layer], notes.pulled[at, layer]
                biases, end = target.layer_biases[layer], notes.ends[at, layer, d]
                for j in range(notes.ends[at, layer, first], notes.ends[at, layer, last]):
                    biases[states[j]] += signed * pulled[j]
                if layer == 0:
                    for i in range(first, last):
                        code = notes.codes[at, i]
                        if code >= 0:
                            n = i * K + code
                            own = target.layers[0, n]
                            for j in range(end):
                                own[states[j]] += signed * pulled[j]
                            if both_ways:
                                for j in range(end):
                                    if pulled[j] != _ZERO:
                                        target.transposed[0, states[j], n] += signed * pulled[j]
                    continue
                for s in range(notes.ends[at, layer - 1, first], notes.ends[at, layer - 1, last]):
                    n, value = notes.states[at, layer - 1, s], signed * notes.values[at, layer - 1, s]
                    own = target.layers[layer, n]
                    for j in range(end):
                        own[states[j]] += value * pulled[j]
