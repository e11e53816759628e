"""Stacked binary RBMs, one class against the rest (Shaham et al., 2016).

For class k the votes are v_ni = 1[x_ni = k]. An RBM p(v, h) ∝ exp(aᵀv + bᵀh + vᵀWh) is trained by CD-10 with rate 0.05,
weights from 0.01·N(0, 1), and momentum 0.9 in the last 40% of the epochs; in the last 20% the rate falls tenfold,
then tenfold again. A layer is made in three steps:

1. train d → d with an L2 penalty of 0.01 on W;
2. its width h is the least number of singular values of W whose sum exceeds 95% of all, and less than d;
3. retrain d → h without penalty; what it says about h is the next layer's input.

A class ends at its own h = 1, after at most 4 layers (the fourth is forced to 1), whatever the other classes still
need: a further layer on a single unit could only forget. The unit at the top may mean "yes" or "no": it is flipped
where it agrees with the majority vote on fewer than half of the rows. Shortened against the paper, as the votes
of an ensemble are learnt in far fewer updates: 60 epochs of 20 batches of at most 500 rows (150 epochs of batches of
100 there). It stops after the last epoch; if it is cut, each RBM ends where it stands.

At the end rows pass the stack with hidden probabilities rounded to 0 or 1 (deterministic), or 100 times with hidden
units drawn (stochastic). p_nk is the top unit's probability for class k, or its mean over the passes; the posterior is
p_nk / Σ_l p_nl, ties to the lowest class. If it is cut, fewer passes are drawn, but at least one.

A missing vote would be read as "no", so missing votes are refused.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from deem_core.control import NO_CONTROL, Control, StopWhen
from deem_core.errors import InputError
from deem_core.methods.contract import Aggregate, cut_notes
from deem_core.typing import Floats, Mask
from deem_core.votes import NO_VOTE, Votes

EPOCHS, BATCHES, BATCH = 60, 20, 500
CD_STEPS = 10
RATE, MOMENTUM, PENALTY = 0.05, 0.9, 0.01
ENERGY_KEPT, MAX_LAYERS = 0.95, 4
MAX_CLASSES = 64
PASSES = 100

F32 = NDArray[np.float32]


def deterministic(votes: Votes, rng: np.random.Generator, *, control: Control = NO_CONTROL) -> Aggregate:
    """Train the stacks and pass every row once.

    ``rng`` draws weights, batches and chains.
    """
    stack = train(votes, rng, control)
    return finish(votes, stack, forward(stack, None))


def stochastic(votes: Votes, rng: np.random.Generator, *, control: Control = NO_CONTROL) -> Aggregate:
    """Train the stacks and average 100 drawn passes.

    ``rng`` draws weights, batches, chains and passes.
    """
    stack = train(votes, rng, control)
    top, passes = forward(stack, rng), 1
    while passes < PASSES and len(stack.layers) > 1 and not control.stopped():
        top += forward(stack, rng)
        passes += 1
    return finish(votes, stack, top / passes)


# ---------------------------------------------------------------------- training


@dataclass
class Layer:
    """K' RBMs side by side.

    Weights (K', d, h), biases (K', 1, d) and (K', 1, h), and which hidden units exist.

    K' counts the classes of this layer, which are fewer than all where some have come to one unit below it.
    """

    weights: F32
    visible: F32
    hidden: F32
    alive: F32  # (K', 1, h): 1 for the units that a class uses

    @property
    def widths(self) -> NDArray[np.int_]:
        """Hidden units of each class, (K',)."""
        widths: NDArray[np.int_] = self.alive.sum(axis=(1, 2)).astype(int)
        return widths

    @property
    def ends(self) -> Mask:
        """Classes that come to their single top unit here, (K',)."""
        ends: Mask = self.widths == 1
        return ends

    def up(self, v: F32) -> F32:
        """Return Pr(h = 1 | v), (K', b, h)."""
        p: F32 = expit(v @ self.weights + self.hidden) * self.alive
        return p

    def down(self, h: F32) -> F32:
        """Return Pr(v = 1 | h), (K', b, d)."""
        p: F32 = expit(h @ self.weights.transpose(0, 2, 1) + self.visible)
        return p


@dataclass(frozen=True)
class Stack:
    """Trained layers, the inputs (K', n, d) as bits, and whether training was cut."""

    layers: list[Layer]
    inputs: Mask
    cut: bool


def train(votes: Votes, rng: np.random.Generator, control: Control) -> Stack:
    """Train the stacks of all classes (of class 1 alone if there are two)."""
    _check(votes)
    classes = np.array([1]) if votes.n_classes == 2 else np.arange(votes.n_classes)
    bits = votes.codes[None] == classes[:, None, None]
    inputs = bits.astype(np.float32)
    alive = np.ones((len(classes), 1, votes.n_learners), np.float32)
    layers: list[Layer] = []
    cut = False
    while not cut and len(inputs):
        wide, cut = _train_rbm(inputs, alive, alive, PENALTY, rng, control=control)
        forced = cut or len(layers) == MAX_LAYERS - 1
        widths = np.ones(len(inputs), int) if forced else _widths(wide.weights, alive)
        units = (np.arange(widths.max()) < widths[:, None])[:, None].astype(np.float32)
        layer, late = _train_rbm(inputs, alive, units, 0.0, rng, control=control)
        layers.append(layer)
        cut = cut or late
        inputs, alive = _draw(layer, inputs, rng)[~layer.ends], units[~layer.ends]
    if len(inputs):  # it was cut, and something has to stand at the top
        units = np.ones((len(inputs), 1, 1), np.float32)
        layers.append(_train_rbm(inputs, alive, units, 0.0, rng, control=StopWhen(lambda: True))[0])
    return Stack(layers, bits, cut)


def finish(votes: Votes, stack: Stack, top: Floats) -> Aggregate:
    """Return the answer from the top units' probabilities (K', n).

    They are flipped where needed and normalised over classes.
    """
    K = votes.n_classes
    majority = votes.majority_vote.codes
    classes = np.array([1]) if K == 2 else np.arange(K)
    agreement = ((top > 0.5) == (majority[None] == classes[:, None])).mean(axis=1)
    top = np.where(agreement[:, None] < 0.5, 1 - top, top)
    posterior = np.stack([1 - top[0], top[0]], axis=1) if K == 2 else np.maximum(top.T, 1e-12)
    posterior = posterior / posterior.sum(axis=1, keepdims=True)
    summary = f"Widths of the layers: {'; '.join(dict.fromkeys(_widths_in_words(stack)))}."
    return Aggregate(
        posterior=posterior,
        voted=votes.votes_per_row > 0,
        iterations=2 * EPOCHS * len(stack.layers),
        converged=not stack.cut,
        cut=stack.cut,
        notes=(summary, *cut_notes(stack.cut, f"{len(stack.layers)} layers")),
    )


def forward(stack: Stack, rng: np.random.Generator | None) -> Floats:
    """Return the top units' probabilities (K', n).

    Bits between layers are rounded, or drawn if ``rng`` is given.
    """
    values = stack.inputs.astype(np.float32)
    top, still = np.empty(values.shape[:2]), np.arange(len(values))
    for layer in stack.layers:
        p = layer.up(values)  # (classes still here, n, h)
        top[still[layer.ends]] = p[layer.ends, :, 0]
        p, still = p[~layer.ends], still[~layer.ends]
        bits = p > 0.5 if rng is None else rng.random(p.shape, np.float32) < p  # units that do not exist have p = 0
        values = bits.astype(np.float32)
    return top


def _widths_in_words(stack: Stack) -> list[str]:
    """Return the widths of each class's layers, bottom first."""
    by_class: list[list[str]] = [[] for _ in stack.inputs]
    still = np.arange(len(by_class))
    for layer in stack.layers:
        for k, width in zip(still, layer.widths, strict=True):
            by_class[k].append(str(width))
        still = still[~layer.ends]
    return [" → ".join(widths) for widths in by_class]


def _draw(layer: Layer, v: F32, rng: np.random.Generator) -> F32:
    """Return hidden bits (K', n, h) drawn for visible ones."""
    p = layer.up(v)
    return (rng.random(p.shape, np.float32) < p).astype(np.float32)


def _widths(weights: F32, alive: F32) -> NDArray[np.int_]:
    """Return the width of each class's next layer, (K',).

    Enough singular values for 95%, but fewer than now.
    """
    singular = np.linalg.svd(weights, compute_uv=False)
    share = np.cumsum(singular, axis=1) / np.maximum(singular.sum(axis=1, keepdims=True), 1e-12)
    enough = (share <= ENERGY_KEPT).sum(axis=1) + 1
    now = alive.sum(axis=(1, 2)).astype(int)
    widths: NDArray[np.int_] = np.maximum(np.minimum(enough, now - 1), 1)
    return widths


def _train_rbm(
    data: F32, alive_below: F32, alive: F32, penalty: float, rng: np.random.Generator, *, control: Control
) -> tuple[Layer, bool]:
    """Return K' RBMs trained on (K', n, d) bits by CD-10, and whether it was cut."""
    n_classes, n, d = data.shape
    shape = (n_classes, d, alive.shape[2])
    layer = Layer(
        (0.01 * rng.standard_normal(shape, np.float32)) * alive_below.transpose(0, 2, 1) * alive,
        np.zeros((n_classes, 1, d), np.float32),
        np.zeros((n_classes, 1, alive.shape[2]), np.float32),
        alive.astype(np.float32),
    )
    speed = [np.zeros_like(layer.weights), np.zeros_like(layer.visible), np.zeros_like(layer.hidden)]
    batch = min(BATCH, -(-n // BATCHES))
    per_epoch = min(BATCHES, n // batch)
    for epoch in range(EPOCHS):
        if epoch and control.stopped():
            return layer, True
        late = max(0, int(np.ceil((epoch - 0.8 * EPOCHS) / (0.1 * EPOCHS))))
        rate = np.float32(RATE * 0.1**late)
        momentum = np.float32(MOMENTUM if epoch >= 0.6 * EPOCHS else 0.0)
        order = rng.permutation(n)[: per_epoch * batch].reshape(per_epoch, batch)
        for rows in order:
            steps = _gradient(layer, data[:, rows], alive_below, rng)
            steps[0] -= np.float32(penalty) * layer.weights
            speed = [momentum * old + rate * step for old, step in zip(speed, steps, strict=True)]
            layer.weights += speed[0]
            layer.visible += speed[1]
            layer.hidden += speed[2]
    return layer, False


def _gradient(layer: Layer, v: F32, alive_below: F32, rng: np.random.Generator) -> list[F32]:
    """Return the CD-10 direction from a batch (K', b, d).

    For weights, visible and hidden biases.
    """
    first = layer.up(v)
    p, w = first, v
    for _ in range(CD_STEPS):  # every draw goes back to float32: half the time
        h = (rng.random(p.shape, np.float32) < p).astype(np.float32)
        below = layer.down(h)
        w = ((rng.random(below.shape, np.float32) < below) * alive_below).astype(np.float32)
        p = layer.up(w)
    weights: F32 = np.matmul(v.transpose(0, 2, 1), first) - np.matmul(w.transpose(0, 2, 1), p)
    return [
        weights / np.float32(v.shape[1]),
        (v - w).mean(axis=1, keepdims=True),
        (first - p).mean(axis=1, keepdims=True),
    ]


def _check(votes: Votes) -> None:
    if (votes.codes == NO_VOTE).any():
        raise InputError(
            "Stacked RBMs read every vote as yes or no, and a missing vote would count as no: they need votes from "
            "every learner on every row. Try Dawid-Skene or DEEM (ds, deem)."
        )
    if votes.n_classes > MAX_CLASSES:
        raise InputError(
            f"Stacked RBMs train a network for every class: refused above {MAX_CLASSES} classes; "
            f"there are {votes.n_classes:,}."
        )
