"""Evaluation of the energy at one row of votes, and its gradient in the votes.

The formulas are those of `deem_core.model.energy`. What makes it quick: a vote is one row of a table, not a product; a
layer's output is kept as its support, the few states that sparsemax leaves above zero, and everything above it looks
at these alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from deem_core.model.kernel.arithmetic import exponential
from deem_core.model.kernel.compilation import Ints, Number, Reals, inlined

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
    packed, factors : (m, N) int32, float32
        Those of the first layer's support whose gradient is not zero.
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
    packed: Any
    factors: Any
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
        np.empty((m, N), np.int32),
        np.empty((m, N), np.float32),
        np.empty((m, K), np.float32),
        np.empty((m, d, K), np.float32),
        np.empty((m, d, K), np.float32),
        np.empty((m, d), np.float32),
        np.empty(m, np.float32),
        np.empty(m, np.float32),
        np.empty(m, np.float64),
    )


@inlined
def _add_one(total: Reals, one: Reals, by: Number) -> None:
    """Add a multiple of a row to a total."""
    for n in range(len(total)):
        total[n] += by * one[n]


@inlined
def _add_two(total: Reals, one: Reals, two: Reals, by: Number, also: Number) -> None:
    """Add multiples of two rows to a total in one pass over it."""
    for n in range(len(total)):
        total[n] += by * one[n] + also * two[n]


@inlined
def _add_four(total: Reals, table: Any, states: Ints, factors: Reals) -> None:
    """Add multiples of four rows of a table to a total in one pass over it."""
    one, two, three, four = table[states[0]], table[states[1]], table[states[2]], table[states[3]]
    a, b, c, d = factors[0], factors[1], factors[2], factors[3]
    for n in range(len(total)):
        total[n] += a * one[n] + b * two[n] + c * three[n] + d * four[n]


@inlined
def _add_rows(total: Reals, table: Any, states: Ints, factors: Reals, count: int) -> None:
    """Add multiples of rows of a table to a total.

    Four at a time; the lists of states and factors are packed, those with factor 0 having been left out.
    """
    at = 0
    while at + 4 <= count:
        _add_four(total, table, states[at:], factors[at:])
        at += 4
    if at + 2 <= count:
        _add_two(total, table[states[at]], table[states[at + 1]], factors[at], factors[at + 1])
        at += 2
    if at < count:
        _add_one(total, table[states[at]], factors[at])


@inlined
def first_logits(model: Parameters, rows: Rows, at: int) -> None:
    """Sum the first layer's logits of a row from its votes."""
    d, K = rows.codes.shape[1], rows.label.shape[1]
    logits = rows.logits[at, 0].reshape(d * K)
    biases = model.layer_biases[0]
    for n in range(d * K):
        logits[n] = biases[n]
    waiting, one = 0, 0
    for i in range(d):
        if rows.codes[at, i] >= 0:
            row = i * K + rows.codes[at, i]
            if waiting:
                _add_two(logits, model.layers[0, one], model.layers[0, row], _ONE, _ONE)
            waiting, one = 1 - waiting, row
    if waiting:
        _add_one(logits, model.layers[0, one], _ONE)


@inlined
def moved_logits(model: Parameters, rows: Rows, at: int, before: int) -> None:
    """Take over the first layer's logits of another row, but for the votes that differ."""
    d, K = rows.codes.shape[1], rows.label.shape[1]
    logits, old = rows.logits[at, 0].reshape(d * K), rows.logits[before, 0].reshape(d * K)
    for n in range(d * K):
        logits[n] = old[n]
    for i in range(d):
        if rows.codes[at, i] != rows.codes[before, i]:
            here, there = i * K + rows.codes[at, i], i * K + rows.codes[before, i]
            _add_two(logits, model.layers[0, here], model.layers[0, there], _ONE, -_ONE)


@inlined
def _sparsemax(logits: Reals, states: Ints, values: Reals, first: int, offset: int, K: int) -> int:
    """Write the support of a unit's sparsemax from position ``first`` on, and return its end.

    Michelot's algorithm among the states less than 1 below the highest, the only ones that can be in the support.
    """
    highest = logits[0]
    for k in range(1, K):
        highest = max(highest, logits[k])
    threshold = highest - _ONE
    count, total = 0, _ZERO
    for k in range(K):  # states move up without a branch: which ones do is hard to foretell
        states[first + count] = offset + k
        values[first + count] = logits[k] - highest
        inside = not logits[k] <= threshold  # NaN is let in, so that it is seen
        total += logits[k] - highest if inside else _ZERO
        count += inside
    while count > 1:
        level = (total - _ONE) / np.float32(count)
        kept, total = 0, _ZERO
        for j in range(first, first + count):
            value = values[j]
            states[first + kept] = states[j]
            values[first + kept] = value
            inside = value > level
            total += value if inside else _ZERO
            kept += inside
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


@inlined
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


@inlined
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


@inlined
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
                below, values = rows.states[at, layer - 1], rows.values[at, layer - 1]
                _add_rows(logits, model.layers[layer], below, values, rows.ends[at, layer - 1, d])
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


@inlined
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


@inlined
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
    packed, factors, count = rows.packed[at], rows.factors[at], 0
    for j in range(rows.ends[at, 0, d]):
        packed[count] = states[j]
        factors[count] = pulled[j]
        count += pulled[j] != _ZERO
    _add_rows(gradient, model.transposed[0], packed, factors, count)
