"""Evaluation of the energy at one row of votes, and its gradient in the votes.

The formulas are those of `deem_core.model.energy`. What makes it quick: a vote is one row of a table, not a product; a
layer's output is kept as its support, the few states that sparsemax leaves above zero, and everything above it looks
at these alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from deem_core.model.kernel.arithmetic import exponential
from deem_core.model.kernel.compilation import Ints, Reals, compiled

SPARSEMAX, SOFTMAX = 0, 1
"""Activations, as the kernel knows them."""

_ONE, _ZERO = np.float32(1), np.float32(0)
_NAN = np.float32(np.nan)


class Parameters(NamedTuple):
    """Parameters of one model, float32; N = d·K units, L layers.

    Attributes
    ----------
    layers : (L, N, N)
        Row: unit below, column: unit above.
    transposed : (L, N, N)
        The same with rows and columns exchanged.
    layer_biases : (L, N)
    weights : (N, K)
    visible_bias : (N,)
    hidden_bias : (K,)
    """

    layers: Any
    transposed: Any
    layer_biases: Any
    weights: Any
    visible_bias: Any
    hidden_bias: Any


class Rows(NamedTuple):
    """Rows of votes with what the model makes of them; m rows.

    Attributes
    ----------
    codes : (m, d) int32
    logits : (m, L, d, K)
        Before each layer's activation.
    ends : (m, L, d + 1) int32
        Where in the support each unit's states begin and end.
    states, values, pulled : (m, L, N) int32, float32, float32
        Units of each layer's support, their values, and the gradient of −F in their logits.
    label : (m, K)
        p(h | v).
    gradient, odds : (m, d, K)
        Gradient of −F in the votes; unnormalised probabilities of the proposal.
    totals : (m, d)
        Sums of ``odds`` by learner.
    free, expected, total : (m,)
        F, E at the expected label, and the sum of the logarithms of what ``odds`` sum to.
    """

    codes: Any
    logits: Any
    ends: Any
    states: Any
    values: Any
    pulled: Any
    label: Any
    gradient: Any
    odds: Any
    totals: Any
    free: Any
    expected: Any
    total: Any


def empty_rows(m: int, L: int, d: int, K: int) -> Rows:
    """Return m rows to be filled."""
    N = d * K
    return Rows(
        np.empty((m, d), np.int32),
        np.empty((m, L, d, K), np.float32),
        np.empty((m, L, d + 1), np.int32),
        np.empty((m, L, N), np.int32),
        np.empty((m, L, N), np.float32),
        np.empty((m, L, N), np.float32),
        np.empty((m, K), np.float32),
        np.empty((m, d, K), np.float32),
        np.empty((m, d, K), np.float32),
        np.empty((m, d), np.float32),
        np.empty(m, np.float32),
        np.empty(m, np.float32),
        np.empty(m, np.float64),
    )


@compiled
def first_logits(model: Parameters, rows: Rows, at: int) -> None:
    """Sum the first layer's logits of a row from its votes."""
    d, K = rows.codes.shape[1], rows.label.shape[1]
    logits = rows.logits[at, 0].reshape(d * K)
    biases = model.layer_biases[0]
    for n in range(d * K):
        logits[n] = biases[n]
    for i in range(d):
        if rows.codes[at, i] >= 0:
            own = model.layers[0, i * K + rows.codes[at, i]]
            for n in range(d * K):
                logits[n] += own[n]


@compiled
def moved_logits(model: Parameters, rows: Rows, at: int, before: int) -> None:
    """Take over the first layer's logits of another row, but for the votes that differ."""
    d, K = rows.codes.shape[1], rows.label.shape[1]
    logits, old = rows.logits[at, 0].reshape(d * K), rows.logits[before, 0].reshape(d * K)
    for n in range(d * K):
        logits[n] = old[n]
    for i in range(d):
        if rows.codes[at, i] != rows.codes[before, i]:
            here = model.layers[0, i * K + rows.codes[at, i]]
            there = model.layers[0, i * K + rows.codes[before, i]]
            for n in range(d * K):
                logits[n] += here[n] - there[n]


@compiled
def _sparsemax(logits: Reals, states: Ints, values: Reals, first: int, offset: int, K: int) -> int:
    """Write the support of a unit's sparsemax from position ``first`` on, and return its end.

    Michelot's algorithm among the states less than 1 below the highest, the only ones that can be in the support.
    """
    highest = logits[0]
    for k in range(1, K):
        highest = max(highest, logits[k])
    threshold = highest - _ONE
    count, total = 0, _ZERO
    for k in range(K):
        if not logits[k] <= threshold:  # NaN is let in, so that it is seen
            states[first + count] = offset + k
            values[first + count] = logits[k] - highest
            total += logits[k] - highest
            count += 1
    while count > 1:
        level = (total - _ONE) / np.float32(count)
        kept, total = 0, _ZERO
        for j in range(first, first + count):
            if values[j] > level:
                states[first + kept] = states[j]
                values[first + kept] = values[j]
                total += values[j]
                kept += 1
        if kept == count:
            break
        count = kept
    if count == 0:  # infinite or not a number: it shall spoil the energy
        states[first] = offset
        values[first] = _NAN
        return first + 1
    level = (total - _ONE) / np.float32(count)
    for j in range(first, first + count):
        values[j] -= level
    return first + count


@compiled
def _softmax(logits: Reals, states: Ints, values: Reals, first: int, offset: int, K: int) -> int:
    """Write all states of a unit's softmax, as `_sparsemax` does."""
    highest = logits[0]
    for k in range(1, K):
        highest = max(highest, logits[k])
    total = _ZERO
    for k in range(K):
        value = exponential(logits[k] - highest)
        states[first + k] = offset + k
        values[first + k] = value
        total += value
    for k in range(K):
        values[first + k] /= total
    return first + K


@compiled
def _activate(rows: Rows, at: int, layer: int, activation: int) -> None:
    """Find the support of a layer from its logits."""
    d, K = rows.codes.shape[1], rows.label.shape[1]
    states, values, end = rows.states[at, layer], rows.values[at, layer], 0
    rows.ends[at, layer, 0] = 0
    for i in range(d):
        if rows.codes[at, i] >= 0:
            logits = rows.logits[at, layer, i]
            if activation == SPARSEMAX:
                end = _sparsemax(logits, states, values, end, i * K, K)
            else:
                end = _softmax(logits, states, values, end, i * K, K)
        rows.ends[at, layer, i + 1] = end


@compiled
def evaluate(model: Parameters, rows: Rows, at: int, activation: int) -> None:
    """Find the layers' supports, the label and both energies of a row.

    Its votes, and with layers its first logits, are there already.
    """
    d, K = rows.codes.shape[1], rows.label.shape[1]
    L, N = model.layers.shape[0], d * K
    label = rows.label[at]
    for k in range(K):
        label[k] = model.hidden_bias[k]
    visible = _ZERO
    if L == 0:
        for i in range(d):
            if rows.codes[at, i] >= 0:
                n = i * K + rows.codes[at, i]
                visible += model.visible_bias[n]
                own = model.weights[n]
                for k in range(K):
                    label[k] += own[k]
    else:
        for layer in range(L):
            if layer:
                logits = rows.logits[at, layer].reshape(N)
                for n in range(N):
                    logits[n] = model.layer_biases[layer, n]
                for j in range(rows.ends[at, layer - 1, d]):
                    value, own = rows.values[at, layer - 1, j], model.layers[layer, rows.states[at, layer - 1, j]]
                    for n in range(N):
                        logits[n] += value * own[n]
            _activate(rows, at, layer, activation)
        for j in range(rows.ends[at, L - 1, d]):
            n, value = rows.states[at, L - 1, j], rows.values[at, L - 1, j]
            visible += value * model.visible_bias[n]
            own = model.weights[n]
            for k in range(K):
                label[k] += value * own[k]
    highest = label[0]
    for k in range(1, K):
        highest = max(highest, label[k])
    total, weighted, check = _ZERO, _ZERO, visible
    for k in range(K):
        check += label[k]
        rest = label[k] - highest
        label[k] = exponential(rest)
        total += label[k]
        weighted += label[k] * rest
    for k in range(K):
        label[k] /= total
    rows.free[at] = -(visible + highest + np.log(total))
    rows.expected[at] = -(visible + highest + weighted / total)
    if not np.isfinite(check):
        rows.free[at] = _NAN
        rows.expected[at] = _NAN


@compiled
def _pull(rows: Rows, at: int, layer: int, activation: int) -> None:
    """Turn the gradient in a layer's values into that in its logits, on the support."""
    d = rows.codes.shape[1]
    values, pulled = rows.values[at, layer], rows.pulled[at, layer]
    for i in range(d):
        begin, end = rows.ends[at, layer, i], rows.ends[at, layer, i + 1]
        if end - begin == 1 and activation == SPARSEMAX:
            pulled[begin] = _ZERO
        elif end > begin:
            mean = _ZERO
            for j in range(begin, end):
                mean += pulled[j] if activation == SPARSEMAX else pulled[j] * values[j]
            if activation == SPARSEMAX:
                mean /= np.float32(end - begin)
                for j in range(begin, end):
                    pulled[j] -= mean
            else:
                for j in range(begin, end):
                    pulled[j] = values[j] * (pulled[j] - mean)


@compiled
def differentiate(model: Parameters, rows: Rows, at: int, activation: int) -> None:
    """Find the gradient of −F in a row's votes, after `evaluate`."""
    d, K = rows.codes.shape[1], rows.label.shape[1]
    L, N = model.layers.shape[0], d * K
    gradient, label = rows.gradient[at].reshape(N), rows.label[at]
    if L == 0:
        for n in range(N):
            own, total = model.weights[n], model.visible_bias[n]
            for k in range(K):
                total += own[k] * label[k]
            gradient[n] = total
        return
    pulled, states = rows.pulled[at, L - 1], rows.states[at, L - 1]
    for i in range(d):
        begin, end = rows.ends[at, L - 1, i], rows.ends[at, L - 1, i + 1]
        if end - begin > 1 or activation != SPARSEMAX:
            for j in range(begin, end):
                own, total = model.weights[states[j]], model.visible_bias[states[j]]
                for k in range(K):
                    total += own[k] * label[k]
                pulled[j] = total
    _pull(rows, at, L - 1, activation)
    for layer in range(L - 1, 0, -1):
        above, above_states = rows.pulled[at, layer], rows.states[at, layer]
        below, below_states = rows.pulled[at, layer - 1], rows.states[at, layer - 1]
        n_above = rows.ends[at, layer, d]
        for j in range(rows.ends[at, layer - 1, d]):
            own, total = model.layers[layer, below_states[j]], _ZERO
            for k in range(n_above):
                total += own[above_states[k]] * above[k]
            below[j] = total
        _pull(rows, at, layer - 1, activation)
    for n in range(N):
        gradient[n] = _ZERO
    pulled, states = rows.pulled[at, 0], rows.states[at, 0]
    for j in range(rows.ends[at, 0, d]):
        value = pulled[j]
        if value != _ZERO:
            own = model.transposed[0, states[j]]
            for n in range(N):
                gradient[n] += value * own[n]
