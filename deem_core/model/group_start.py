"""Start of the energy model from groups of learners.

A latent tree (`deem_core.groups.latent_tree.GroupedModel`) written as parameters of the paper's model. With y the
label, z_g the latent of group g and p_g(z) = Σ_y A_g[z, y] π_y, the first layer works out each group's latent,

    unit j of group g:    z_j[m] = log p_g(m) + Σ_{i in g} log B_i[x_i, m]     (all units of a group alike)
    unit i of no group:   z_i[m] = 2 [m = x_i]                                 (the vote itself)

further layers are twice the identity, and the iRBM weighs latents and votes,

    U_j[z, y] = log A_g[z, y] / |g|,    U_i[l, y] = log B_i[l, y],    b[y] = log π_y

Sparsemax makes unit j one-hot, the most probable latent ẑ_g, wherever that one is at least e times as probable as the
next; there p(h | v) is the tree's posterior given the most probable latents, ∝ π_y Π_g A_g[ẑ_g, y] Π_i B_i[x_i, y].
Elsewhere v_j shares itself among the best latents, and Σ_z v_j[z] log A_g[z, y] takes the place of log A_g[ẑ_g, y].
Twice the identity leaves a vote a vote when noise and training move the weights; on the edge, with the identity
itself, training softens votes and leaves the start. (Softer logits of the groups begin nearer to the tree's own
posterior, but training leaves them sooner, too.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Generator, Tensor

from deem_core.groups.latent_tree import ROOT, SMALLEST, GroupedModel
from deem_core.model.energy import IRBM_NOISE, LAYER_NOISE, Model, stack
from deem_core.typing import Floats
from deem_core.votes.alignment import apply_map

DIAGONAL = {"sparsemax": 2.0, "softmax": 20.0}
"""Weight of a vote for itself; under softmax so large that it stays a vote to one part in 1e8."""


def initialise_from_groups(
    tree: GroupedModel, n_layers: int, generators: Sequence[Generator], *, activation: str = "sparsemax"
) -> Model:
    """Return one model per generator that starts as the latent tree.

    They differ by the noise of the paper's scheme: N(0, 0.005²) on layers and N(0, 0.01²) on what is not constant in
    the iRBM.
    """
    exact = group_parameters(tree, n_layers, activation=activation)
    masks = exact.free_masks()
    models = []
    for rng in generators:
        tensors = []
        for at, (tensor, free) in enumerate(zip(exact.parameters(), masks, strict=True)):
            spread = IRBM_NOISE if at < 3 else LAYER_NOISE
            noise = torch.randn(tensor.shape, generator=rng, device=rng.device).mul_(spread)
            tensors.append(tensor.to(rng.device) + noise * free.to(rng.device))
        models.append(exact.with_parameters(tensors))
    return stack(models) if len(models) > 1 else models[0]


def group_parameters(tree: GroupedModel, n_layers: int, *, activation: str = "sparsemax") -> Model:
    """Return the latent tree as a model (R = 1) without noise.

    A vote that was not cast silences its unit, so that a group speaks with the share of its members that voted:
    the message A_g[ẑ_g, y] has the exponent (members that voted) / |g|. Votes of learners outside groups drop out, as
    they do in the tree.

    The constants of Definition 1 are a_i^1 = 0, b^1 = 0 and U_i^{l1} = 0 as in the paper. The others, U_i^{1m}, keep
    their values: moved into b they would make a learner that did not vote count as a vote for the first class.

    Parameters
    ----------
    tree : GroupedModel
        Its label is the root; see `rooted`.
    n_layers : int
        Without layers there is no unit for a latent, and votes of a group's learners count as votes for it:
        U_i[l, y] = log Pr(X_i = l | Y = y) / |g|.
    activation : "sparsemax" or "softmax"
        Under softmax a unit is the latent's posterior given the group's votes.
    """
    if tree.label != ROOT or tree.class_map is not None:
        raise ValueError("the label is not the root of the tree; rooted() brings it there")
    irbm = _irbm(tree, _log(tree.B) if n_layers else _log(tree.confusion_given_root()), layered=bool(n_layers))
    diagonal, units = DIAGONAL[activation], tree.n_learners * tree.n_classes
    layers = [_latent_layer(tree, diagonal), *[(diagonal * np.eye(units), np.zeros(units))] * (n_layers - 1)][:n_layers]
    return replace(
        irbm,
        layer_weights=tuple(_tensor(weight) for weight, _ in layers),
        layer_biases=tuple(_tensor(bias) for _, bias in layers),
        activation=activation,
    )


def rooted(tree: GroupedModel) -> GroupedModel:
    """Return the tree with its label at the root, states being classes.

    Where the label is a group's latent Z, that group's learners hang on it directly, and all others become one group
    around the old root Y, with Pr(Y = y | Z = z) between: Y stays one voice. This is the same law if no other group
    exists; otherwise the learners of other groups count as independent given Y.
    """
    if tree.label != ROOT:
        own = set(tree.groups[tree.label])
        others = tuple(i for i in range(tree.n_learners) if i not in own)
        joint = tree.A[tree.label] * tree.pi  # (z, y), Pr(Z = z, Y = y)
        prior = joint.sum(axis=1)
        given = tree.confusion_given_root()
        given[list(own)] = tree.B[list(own)]
        between = joint.T / np.maximum(prior, SMALLEST)  # (y, z)
        lonely = len(others) < 2  # a single learner needs no latent of its own
        for i in others if lonely else ():
            given[i] = given[i] @ between
        groups, A = ((), tree.A[:0]) if lonely else ((others,), between[None])
        tree = GroupedModel(prior, groups, A, given, class_map=tree.class_map)
    if tree.class_map is None:
        return tree
    B = tree.B.copy()
    B[list(tree.singles)] = apply_map(B[list(tree.singles)], tree.class_map)
    return GroupedModel(apply_map(tree.pi, tree.class_map), tree.groups, apply_map(tree.A, tree.class_map), B)


def _irbm(tree: GroupedModel, scores: Floats, *, layered: bool) -> Model:
    """Return the model without layers.

    ``scores (d, K, K)`` are the logarithms of a vote given its latent.
    """
    d, K = tree.n_learners, tree.n_classes
    for group, between in zip(tree.groups, tree.A, strict=True):
        members = list(group)
        scores[members] = (_log(between) if layered else scores[members]) / len(members)
    own, hidden = scores[..., 0].copy(), _log(tree.pi)  # (d, K): what a unit adds to every label alike; (K,)
    weights = (scores - own[..., None]).reshape(d * K, K)
    return Model(_tensor(weights), _tensor((own - own[:, :1]).ravel()), _tensor(hidden - hidden[0]))


def _latent_layer(tree: GroupedModel, diagonal: float) -> tuple[Floats, Floats]:
    """Return weights (d·K, d·K) and biases (d·K,) of the layer that finds each group's latent."""
    d, K = tree.n_learners, tree.n_classes
    weight, bias = np.zeros((d, K, d, K)), np.zeros((d, K))
    for i in tree.singles:
        weight[i, :, i] = diagonal * np.eye(K)
    for group, between in zip(tree.groups, tree.A, strict=True):
        votes, prior = _centred(_log(tree.B[list(group)])), _centred(_log(between @ tree.pi))
        for j in group:
            weight[list(group), :, j] = votes
            bias[j] = prior
    return weight.reshape(d * K, d * K), bias.ravel()


def _centred(logs: Floats) -> Floats:
    """Return logarithms with mean zero over the latent's states.

    No activation sees the difference.
    """
    centred: Floats = logs - logs.mean(axis=-1, keepdims=True)
    return centred


def _log(probabilities: Floats) -> Floats:
    logs: Floats = np.log(np.maximum(probabilities, SMALLEST))
    return logs


def _tensor(values: Floats) -> Tensor:
    return torch.as_tensor(np.ascontiguousarray(values), dtype=torch.float32)[None]
