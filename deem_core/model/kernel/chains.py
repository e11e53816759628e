"""Chains of the kernel: the samplers of `deem_core.model.sampler`, row by row.

Same laws, other draws. Proposals that change nothing are accepted by definition, and one number decides whether that is
the case before anything else is drawn. Each row has random numbers of its own, counted from a key and the row's
position: results depend neither on the other rows nor on who computes them.
"""

from __future__ import annotations

import numpy as np

from deem_core.model.kernel.arithmetic import GOLDEN, exponential, mixed, uniform
from deem_core.model.kernel.compilation import Counter, Ints, Number, Reals, Spans, compiled, inlined
from deem_core.model.kernel.descent import Notes
from deem_core.model.kernel.evaluation import Parameters, Rows, differentiate, evaluate, first_logits, moved_logits

DMALA, DULA, GWG = 0, 1, 2
"""Samplers, as the kernel knows them."""

_HALF, _ZERO = np.float32(0.5), np.float32(0)
_MANY = 1e200
_FAR = np.float32(30)  # half the differences of gradients up to which float32 holds all odds on one scale


@inlined
def _langevin_odds(rows: Rows, at: int, bonus: Number) -> Number:
    """Find the proposal q_i(k | x) ∝ exp(½ g_ik + [k = x_i]/α) of a row; return the chance that nothing changes."""
    d, K = rows.codes.shape[1], rows.label.shape[1]
    gradient, odds = rows.gradient[at].reshape(d * K), rows.odds[at].reshape(d * K)
    lowest, highest = gradient[0], gradient[0]
    for n in range(d * K):
        lowest = min(lowest, gradient[n])
        highest = max(highest, gradient[n])
    shift = _HALF * highest
    one_scale = _HALF * (highest - lowest) < _FAR and bonus < _FAR
    if one_scale:  # one pass of vector instructions over all sites
        for n in range(d * K):
            odds[n] = exponential(_HALF * gradient[n] - shift)
    extra = exponential(bonus)
    stay: Number = 1.0
    logs: Number = 0.0
    product: Number = 1.0
    for i in range(d):
        here = rows.codes[at, i]
        if here < 0:
            continue
        total = _ZERO
        own_shift: Number = shift
        if not one_scale:
            own_shift = _site_odds(rows.gradient[at, i], rows.odds[at, i], here, bonus)
        else:
            rows.odds[at, i, here] *= extra
        for k in range(K):
            total += rows.odds[at, i, k]
        rows.totals[at, i] = total
        stay *= rows.odds[at, i, here] / total
        product *= total
        logs += own_shift
        if product > _MANY or product < 1 / _MANY:
            logs += np.log(product)
            product = 1.0
    rows.total[at] = logs + np.log(product)
    return stay


@inlined
def _site_odds(gradient: Reals, odds: Reals, here: int, bonus: Number) -> Number:
    """Find one site's proposal, where sites are too far apart for one scale; return what was taken off the logs."""
    highest = _HALF * gradient[here] + bonus
    for k in range(len(gradient)):
        highest = max(highest, _HALF * gradient[k])
    for k in range(len(gradient)):
        odds[k] = exponential(_HALF * gradient[k] - highest)
    odds[here] = exponential(_HALF * gradient[here] + bonus - highest)
    return highest


@inlined
def _flip_odds(rows: Rows, at: int) -> Number:
    """Find the flips q(i, k | x) ∝ exp(½ (g_ik − g_i,x_i)) of a row."""
    d, K = rows.codes.shape[1], rows.label.shape[1]
    highest = np.float32(-np.inf)
    for i in range(d):
        here = rows.codes[at, i]
        if here >= 0:
            for k in range(K):
                if k != here:
                    highest = max(highest, _HALF * (rows.gradient[at, i, k] - rows.gradient[at, i, here]))
    whole = 0.0
    for i in range(d):
        here, total = rows.codes[at, i], 0.0
        if here >= 0:
            gradient, odds = rows.gradient[at, i], rows.odds[at, i]
            for k in range(K):
                odds[k] = exponential(_HALF * (gradient[k] - gradient[here]) - highest)
            odds[here] = _ZERO
            for k in range(K):
                total += odds[k]
        rows.totals[at, i] = total
        whole += total
    rows.total[at] = highest + np.log(whole)
    return whole


@inlined
def _other_state(odds: Reals, here: int, point: Number) -> int:
    """Return the state other than ``here`` that a point in its odds falls on."""
    last = -1
    for k in range(len(odds)):
        if k != here:
            last = k
            point -= odds[k]
            if point < 0:
                break
    return last


@inlined
def _propose(rows: Rows, at: int, to: int, stay: Number, counter: Counter) -> bool:
    """Draw every vote anew into another row; return whether any changed.

    One number says where the first change is, if there is one; the votes after it are drawn one by one.
    """
    d = rows.codes.shape[1]
    point = uniform(counter)
    if point < stay:
        return False
    level, first = 1.0, True
    changed = False
    for i in range(d):
        here = rows.codes[at, i]
        rows.codes[to, i] = here
        if here < 0:
            continue
        own, total = np.float64(rows.odds[at, i, here]), np.float64(rows.totals[at, i])
        if first:
            level *= own / total
            if point < level:
                continue
            first = False
            rows.codes[to, i] = _other_state(rows.odds[at, i], here, uniform(counter) * (total - own))
            changed = True
        else:
            place = uniform(counter) * total - own
            if place >= 0:
                rows.codes[to, i] = _other_state(rows.odds[at, i], here, place)
    return changed


@inlined
def _flip(rows: Rows, at: int, to: int, whole: Number, counter: Counter) -> bool:
    """Draw one flip into another row; return whether there is a vote to flip."""
    d = rows.codes.shape[1]
    point, site = uniform(counter) * whole, -1
    for i in range(d):
        rows.codes[to, i] = rows.codes[at, i]
    for i in range(d):
        if rows.codes[at, i] >= 0:
            site = i
            point -= rows.totals[at, i]
            if point < 0:
                break
    if site < 0:
        return False
    here = rows.codes[at, site]
    rows.codes[to, site] = _other_state(rows.odds[at, site], here, uniform(counter) * rows.totals[at, site])
    return True


@inlined
def _log_chance(rows: Rows, at: int, to: int, bonus: Number, kind: int) -> Number:
    """Return log q(to | at), both rows being evaluated."""
    d, total = rows.codes.shape[1], -rows.total[at]
    for i in range(d):
        here, there = rows.codes[at, i], rows.codes[to, i]
        if here < 0:
            continue
        if kind == GWG:
            if here != there:
                total += _HALF * (rows.gradient[at, i, there] - rows.gradient[at, i, here])
        else:
            total += _HALF * rows.gradient[at, i, there]
            if here == there:
                total += bonus
    return total


@inlined
def _look(model: Parameters, rows: Rows, at: int, activation: int, kind: int, bonus: Number) -> Number:
    """Evaluate a row and its proposal; return the chance to stay, or what flips sum to."""
    evaluate(model, rows, at, activation)
    differentiate(model, rows, at, activation)
    return _flip_odds(rows, at) if kind == GWG else _langevin_odds(rows, at, bonus)


@inlined
def _load(model: Parameters, rows: Rows, at: int, codes: Ints) -> None:
    """Put votes into a row."""
    for i in range(len(codes)):
        rows.codes[at, i] = codes[i]
    if model.layers.shape[0]:
        first_logits(model, rows, at)


@inlined
def _write(rows: Rows, at: int, notes: Notes, to: int) -> None:
    """Note what the gradient in the parameters needs of an evaluated row."""
    d, K, L = rows.codes.shape[1], rows.label.shape[1], rows.ends.shape[1]
    for i in range(d):
        notes.codes[to, i] = rows.codes[at, i]
    for k in range(K):
        notes.label[to, k] = rows.label[at, k]
    for layer in range(L):
        for i in range(d + 1):
            notes.ends[to, layer, i] = rows.ends[at, layer, i]
        for j in range(rows.ends[at, layer, d]):
            notes.states[to, layer, j] = rows.states[at, layer, j]
            notes.values[to, layer, j] = rows.values[at, layer, j]
            notes.pulled[to, layer, j] = rows.pulled[at, layer, j]


@compiled
def run_chains(
    model: Parameters,
    data: Ints,
    start: Ints,
    steps: int,
    kind: int,
    activation: int,
    bonus: Number,
    key: np.uint64,
    span: Spans,
    rows: Rows,
    counter: Counter,
    notes: Notes,
    energies: Reals,
    ended: Ints,
    tally: Ints,
) -> None:
    """Run the chains of some rows, and note what an update needs.

    Parameters
    ----------
    model : Parameters
    data, start : (B, d) int32
        Rows of data, and where chains begin; both may be one array.
    steps, kind, activation : int
    bonus : float32
        1/α.
    key : uint64
        Of the random numbers.
    span : (2,) int64
        First row and the one after the last.
    notes : Notes
        Of 2B rows, data first; of none if there is no update to come.
    energies : (4, B) float32
        F of data and of chains, E of both.
    ended : (B, d) int32
        Where chains end.
    tally : (3, B) int32
        Proposals accepted; votes that differ from the start; most probable label of the data.
    """
    d, K = data.shape[1], model.weights.shape[1]
    B = len(data)
    for row in range(span[0], span[1]):
        counter[0] = mixed(key + np.uint64(row + 1) * GOLDEN)
        here = 0
        _load(model, rows, here, data[row])
        chance = _look(model, rows, here, activation, kind, bonus)
        energies[0, row] = rows.free[here]
        energies[2, row] = rows.expected[here]
        best = 0
        for k in range(1, K):
            if rows.label[here, k] > rows.label[here, best]:
                best = k
        tally[2, row] = best
        for i in range(d):
            if start[row, i] != data[row, i]:
                here = 1
                _load(model, rows, here, start[row])
                chance = _look(model, rows, here, activation, kind, bonus)
                break
        accepted = 0
        for _ in range(steps):
            there = 2 if here == 1 else 1  # the first row stays with the data
            if kind == GWG:
                changed = _flip(rows, here, there, chance, counter)
            else:
                changed = _propose(rows, here, there, chance, counter)
            if not changed:
                accepted += 1
                continue
            if model.layers.shape[0]:
                moved_logits(model, rows, there, here)
            other = _look(model, rows, there, activation, kind, bonus)
            ratio = 0.0
            if kind != DULA:
                ratio = np.float64(rows.free[here]) - np.float64(rows.free[there])
                ratio += _log_chance(rows, there, here, bonus, kind) - _log_chance(rows, here, there, bonus, kind)
            if kind == DULA or ratio >= 0 or uniform(counter) < np.exp(ratio):
                accepted += 1
                here = there
                chance = other
        moved, apart = 0, 0
        for i in range(d):
            ended[row, i] = rows.codes[here, i]
            moved += rows.codes[here, i] != start[row, i]
            apart += rows.codes[here, i] != data[row, i]
        tally[0, row] = accepted
        tally[1, row] = moved
        energies[1, row] = rows.free[here]
        energies[3, row] = rows.expected[here]
        if len(notes.codes):
            notes.apart[row] = apart > 0
            if apart:
                _write(rows, 0, notes, row)
                _write(rows, here, notes, B + row)


@compiled
def evaluate_rows(
    model: Parameters, codes: Ints, activation: int, span: Spans, rows: Rows, energies: Reals, labels: Reals
) -> None:
    """Evaluate some rows.

    Parameters
    ----------
    model : Parameters
    codes : (B, d) int32
    activation : int
    span : (2,) int64
    energies : (2, B) float32
        F, and E at the expected label.
    labels : (B, K) float32
        p(h | v).
    """
    for row in range(span[0], span[1]):
        _load(model, rows, 0, codes[row])
        evaluate(model, rows, 0, activation)
        energies[0, row] = rows.free[0]
        energies[1, row] = rows.expected[0]
        for k in range(labels.shape[1]):
            labels[row, k] = rows.label[0, k]
