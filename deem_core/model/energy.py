"""Energy of DEEM's model.

Multinomial layers under an iRBM with one hidden unit.

A vote is a multinomial unit with K states, a row of votes is d of them, and the label is one more. Tensors
carry R models side by side on their first axis and the units flattened as d·K, so that each layer is one product.
With x a row of one-hot votes, z = W·x + c and v = f(z) in each layer, and for the iRBM on top (docs/method.md)

    E(v, h) = −( a·v + b·h + v·U·h )                       energy (paper, FM-RBM appendix)
    F(v)    = −a·v − log Σ_m exp( b_m + (v·U)_m )          free energy
    p(h|v)  = softmax_m( b_m + (v·U)_m )                   posterior of the label

Codes are class indices; -1 is a vote that was not cast. It enters as a zero vector and silences its unit in
every layer, so that rows are compared on the votes they have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import torch
from torch import Generator, Tensor
from torch.nn import functional

from deem_core.errors import InputError
from deem_core.model.activations import ACTIVATIONS, few_operations

LAYER_NOISE = 0.005
"""Spread of the noise on identity layers (paper, initialisation scheme)."""

DENSE_CLASSES = 32
"""On a CPU: up to this many classes the gradient of a sum of rows is a product, beyond a scatter (measured)."""

IRBM_NOISE = 0.01
"""Spread of the noise on the majority-vote iRBM (paper, initialisation scheme)."""


@dataclass(frozen=True)
class Model:
    """The parameters of R models.

    Attributes
    ----------
    weights : (R, d·K, K)
        iRBM weights U: row (i, l) is vote l of learner i, column m is label m.
    visible_bias : (R, d·K)
    hidden_bias : (R, K)
    layer_weights : tuple of (R, d·K, d·K)
        Row (i, l) is the state of the unit below, column (j, m) that of the unit above.
    layer_biases : tuple of (R, d·K)
    activation : "sparsemax" or "softmax"
    fixed_state : int
        The visible and hidden state whose coefficients are the iRBM's constants (paper, Definition 1: the first).
    """

    weights: Tensor
    visible_bias: Tensor
    hidden_bias: Tensor
    layer_weights: tuple[Tensor, ...] = ()
    layer_biases: tuple[Tensor, ...] = ()
    activation: str = "sparsemax"
    fixed_state: int = 0

    @property
    def n_models(self) -> int:
        """R, the models side by side."""
        return self.weights.shape[0]

    @property
    def n_classes(self) -> int:
        """K, the states of every unit."""
        return self.weights.shape[2]

    @property
    def n_learners(self) -> int:
        """d, the units of every layer."""
        return self.weights.shape[1] // self.n_classes

    @property
    def n_layers(self) -> int:
        """Multinomial layers below the iRBM."""
        return len(self.layer_weights)

    def parameters(self) -> list[Tensor]:
        """Return all tensors: weights, visible bias, hidden bias, layer weights, layer biases."""
        return [self.weights, self.visible_bias, self.hidden_bias, *self.layer_weights, *self.layer_biases]

    def with_parameters(self, tensors: Sequence[Tensor]) -> Model:
        """Return the same model with other tensors, as `parameters` orders them."""
        weights, visible_bias, hidden_bias, *rest = tensors
        layers, biases = tuple(rest[: self.n_layers]), tuple(rest[self.n_layers :])
        return replace(
            self,
            weights=weights,
            visible_bias=visible_bias,
            hidden_bias=hidden_bias,
            layer_weights=layers,
            layer_biases=biases,
        )

    def single(self, which: int) -> Model:
        """Return one of the models, as R = 1."""
        return self.with_parameters([tensor[which : which + 1] for tensor in self.parameters()])

    def to(self, *where: torch.device | torch.dtype | str) -> Model:
        """Return the model on another device or in another precision."""
        return self.with_parameters([tensor.to(*where) for tensor in self.parameters()])  # type: ignore[call-overload]

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel as arrays of the CPU.

        A tensor that is a view would take all the memory along that it looks at.
        """
        arrays = [tensor.detach().cpu().contiguous().numpy() for tensor in self.parameters()]
        return _of_arrays, (arrays, self.n_layers, self.activation, self.fixed_state)

    def free_masks(self) -> list[Tensor]:
        """Return 0/1 masks over `parameters`, 0 for the iRBM's constants (Definition 1).

        Constants are a_i^1, b^1, and every weight from or to the fixed state.
        """
        free = torch.ones(self.n_classes, device=self.weights.device, dtype=self.weights.dtype)
        free[self.fixed_state] = 0
        per_unit = free.repeat(self.n_learners)  # (d·K,)
        masks = [per_unit[:, None] * free, per_unit, free]
        return masks + [torch.ones((), device=free.device, dtype=free.dtype)] * (2 * self.n_layers)


def _of_arrays(arrays: Sequence[Any], n_layers: int, activation: str, fixed_state: int) -> Model:
    weights, visible_bias, hidden_bias, *rest = (torch.tensor(array) for array in arrays)
    layers = (tuple(rest[:n_layers]), tuple(rest[n_layers:]))
    return Model(weights, visible_bias, hidden_bias, *layers, activation=activation, fixed_state=fixed_state)


def stack(models: Sequence[Model]) -> Model:
    """Return models of equal shape side by side."""
    columns = zip(*(model.parameters() for model in models), strict=True)
    return models[0].with_parameters([torch.cat(column) for column in columns])


# ---------------------------------------------------------------------- initialisation


def initialise(
    n_learners: int,
    n_classes: int,
    n_layers: int,
    generators: Sequence[Generator],
    *,
    scale: float = 2.0,
    activation: str = "sparsemax",
) -> Model:
    """Return one model per generator that starts as the majority vote (paper, initialisation scheme).

    Layers are the identity plus N(0, 0.005²); the iRBM's weights have ``scale`` on the diagonal, and what is
    not constant among its other weights and biases is N(0, 0.01²).
    """
    if activation not in ACTIVATIONS:
        raise InputError(f"There is no activation {activation!r}; it is one of {', '.join(ACTIVATIONS)}.")
    models = [_initialise(n_learners, n_classes, n_layers, rng, scale) for rng in generators]
    return replace(stack(models) if len(models) > 1 else models[0], activation=activation)


def _initialise(d: int, K: int, n_layers: int, rng: Generator, scale: float) -> Model:
    def noise(spread: float, *shape: int) -> Tensor:
        return torch.randn(1, *shape, generator=rng, device=rng.device).mul_(spread)

    def identity_layer() -> Tensor:
        weight = noise(LAYER_NOISE, d * K, d * K)
        weight.diagonal(dim1=1, dim2=2).add_(1)
        return weight

    irbm = Model(noise(IRBM_NOISE, d * K, K), noise(IRBM_NOISE, d * K), noise(IRBM_NOISE, K))
    for tensor, free in zip(irbm.parameters(), irbm.free_masks(), strict=True):
        tensor.mul_(free)
    irbm.weights.view(d, K, K).diagonal(dim1=1, dim2=2).fill_(scale)
    layers = tuple(identity_layer() for _ in range(n_layers))
    biases = tuple(noise(LAYER_NOISE, d * K) for _ in range(n_layers))
    return replace(irbm, layer_weights=layers, layer_biases=biases)


# ---------------------------------------------------------------------- energies


def layer_outputs(model: Model, codes: Tensor) -> list[Tensor]:
    """Return the units (R, B, d, K) after each layer for votes ``codes (R, B, d)``.

    The unit of a vote that was not cast is a zero vector.
    """
    present = (codes >= 0).unsqueeze(-1).to(model.weights.dtype)
    outputs: list[Tensor] = []
    for weight, bias in zip(model.layer_weights, model.layer_biases, strict=True):
        if outputs:
            logits = torch.baddbmm(bias.unsqueeze(1), outputs[-1].flatten(2), weight)
        else:
            logits = _sum_rows(weight, codes) + bias.unsqueeze(1)
        logits = logits.view(*codes.shape, model.n_classes)
        outputs.append(ACTIVATIONS[model.activation].forward(logits) * present)
    return outputs


def _sum_rows(table: Tensor, codes: Tensor) -> Tensor:
    """Return x·table for one-hot votes.

    d rows of ``table (R, d·K, C)`` are summed, nothing is multiplied.
    """
    return cast(Tensor, _SumRows.apply(table, codes))  # type: ignore[no-untyped-call]


class _SumRows(torch.autograd.Function):
    """Sum of rows; its gradient is quicker than `embedding_bag`'s for few classes."""

    @staticmethod
    def forward(ctx: Any, table: Tensor, codes: Tensor) -> Tensor:
        ctx.save_for_backward(codes)
        ctx.n_units = table.shape[1]
        if few_operations(table.device):
            return torch.bmm(one_hot(codes, table.shape[1] // codes.shape[2], table.dtype), table)
        rows, present = _rows_of(codes, table.shape[1]), (codes >= 0).to(table.dtype)
        flat = functional.embedding_bag(
            rows.flatten(0, 1), table.flatten(0, 1), mode="sum", per_sample_weights=present.flatten(0, 1)
        )
        return flat.view(*codes.shape[:2], -1)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (codes,) = ctx.saved_tensors
        n_models, _, d = codes.shape
        if ctx.n_units // d <= DENSE_CLASSES or few_operations(gradient.device):
            return torch.bmm(one_hot(codes, ctx.n_units // d, gradient.dtype).mT, gradient), None
        present = (codes >= 0).to(gradient.dtype).unsqueeze(-1)
        spread = (gradient.unsqueeze(2) * present).flatten(0, 2)  # (R·B·d, C)
        total = gradient.new_zeros(n_models * ctx.n_units, gradient.shape[-1])
        return total.index_add_(0, _rows_of(codes, ctx.n_units).flatten(), spread).view(n_models, ctx.n_units, -1), None


def one_hot(codes: Tensor, n_classes: int, dtype: torch.dtype) -> Tensor:
    """Return votes (R, B, d) as units (R, B, d·K), zeros where no vote was cast."""
    hot = torch.zeros(*codes.shape, n_classes, device=codes.device, dtype=dtype)
    return hot.scatter_(-1, codes.clamp_min(0).unsqueeze(-1), (codes >= 0).to(dtype).unsqueeze(-1)).flatten(2)


def _rows_of(codes: Tensor, n_units: int) -> Tensor:
    """Return the row of each vote (R, B, d) in stacked tables.

    The tables of all models are laid end to end; missing votes count as state 0.
    """
    n_models, _, d = codes.shape
    first = (n_units // d) * torch.arange(d, device=codes.device)
    return codes.clamp_min(0) + first + n_units * torch.arange(n_models, device=codes.device)[:, None, None]


class LabelLogits(NamedTuple):
    """Terms of the energy at the top.

    E = −(visible + the label's logit).

    Attributes
    ----------
    visible : (R, B)
        a·v.
    logits : (R, B, K)
        b + v·U of every label.
    """

    visible: Tensor
    logits: Tensor

    @property
    def potential(self) -> Tensor:
        """−F = a·v + log Σ_m exp(logits), (R, B)."""
        return self.visible + self.logits.logsumexp(-1)


def label_logits(model: Model, codes: Tensor, outputs: list[Tensor] | None = None) -> LabelLogits:
    """Return a·v and the label's logits for votes ``codes (R, B, d)``.

    ``outputs`` are the layers' if they are known already; an empty list leaves the layers out.
    """
    outputs = layer_outputs(model, codes) if outputs is None else outputs
    if not outputs:
        visible = _sum_rows(model.visible_bias.unsqueeze(-1), codes).squeeze(-1)
        return LabelLogits(visible, _sum_rows(model.weights, codes) + model.hidden_bias.unsqueeze(1))
    v = outputs[-1].flatten(2)
    visible = torch.bmm(v, model.visible_bias.unsqueeze(-1)).squeeze(-1)
    return LabelLogits(visible, torch.baddbmm(model.hidden_bias.unsqueeze(1), v, model.weights))


def free_energy(model: Model, codes: Tensor) -> Tensor:
    """Return F (R, B) of votes ``codes (R, B, d)``.

    Differentiable in the parameters.
    """
    return -label_logits(model, codes).potential


def energy(model: Model, codes: Tensor, label: Tensor) -> Tensor:
    """Return E (R, B) of votes and a label ``(R, B, K)``, one-hot or a distribution."""
    visible, logits = label_logits(model, codes)
    return -(visible + (logits * label).sum(-1))


def free_and_expected_energy(model: Model, codes: Tensor) -> tuple[Tensor, Tensor]:
    """Return F and E at the expected label, both (R, B), from one evaluation."""
    terms = label_logits(model, codes)
    return -terms.potential, -(terms.visible + (terms.logits * terms.logits.softmax(-1)).sum(-1))


def posterior(model: Model, codes: Tensor) -> Tensor:
    """Return p(h|x) as (R, B, K)."""
    return label_logits(model, codes).logits.softmax(-1)


@torch.no_grad()
def potential_and_gradient(model: Model, codes: Tensor) -> tuple[Tensor, Tensor]:
    """Return −F (R, B) and its gradient (R, B, d, K) in the one-hot votes.

    Without autograd.

    From the top down: ∂(−F)/∂v = a + U·p(h|v), then through each activation's Jacobian and weight.
    """
    outputs = layer_outputs(model, codes)
    terms = label_logits(model, codes, outputs)
    gradient = torch.baddbmm(model.visible_bias.unsqueeze(1), terms.logits.softmax(-1), model.weights.mT)
    for weight, output in zip(reversed(model.layer_weights), reversed(outputs), strict=True):
        pulled = ACTIVATIONS[model.activation].pullback(output, gradient.view_as(output))
        gradient = torch.bmm(pulled.flatten(2), weight.mT)
    return terms.potential, gradient.view(*codes.shape, model.n_classes)


# ---------------------------------------------------------------------- exact quantities of the iRBM without layers


def log_normalisers(model: Model) -> Tensor:
    """Return log Σ_l exp(a_il + U_ilm) as (R, d, K).

    What each vote contributes given the label m.
    """
    if model.n_layers:
        raise InputError("Exact likelihoods exist only for the iRBM without layers.")
    return vote_scores(model).logsumexp(2)


def vote_scores(model: Model) -> Tensor:
    """Return s_ilm = a_il + U_ilm as (R, d, K, K).

    It is the score of vote l of learner i for label m, without layers.
    """
    scores = model.visible_bias.unsqueeze(-1) + model.weights
    return scores.view(model.n_models, model.n_learners, model.n_classes, model.n_classes)


def log_partition(model: Model) -> Tensor:
    """Return log Z (R,).

    Given the label the votes are independent, so Z is a sum over labels of d factors.
    """
    return (model.hidden_bias + log_normalisers(model).sum(1)).logsumexp(-1)


def log_likelihood(model: Model, codes: Tensor) -> Tensor:
    """Return log p(x) (R, B) of the votes that were cast.

    Votes that were not are summed out.
    """
    visible, logits = label_logits(model, codes, [])
    absent = (codes < 0).to(logits.dtype)
    logits = logits + torch.bmm(absent, log_normalisers(model))
    return visible + logits.logsumexp(-1) - log_partition(model).unsqueeze(-1)


def marginal_posterior(model: Model, codes: Tensor) -> Tensor:
    """Return p(h | votes cast) (R, B, K) of the iRBM without layers.

    Votes that were not cast are summed out, as Dawid-Skene does.
    """
    absent = (codes < 0).to(model.weights.dtype)
    _, logits = label_logits(model, codes, [])
    return (logits + torch.bmm(absent, log_normalisers(model))).softmax(-1)


def to_dawid_skene(model: Model) -> tuple[Tensor, Tensor]:
    """Return ψ (R, d, K, K) and π (R, K) of the equivalent Dawid-Skene model (Lemma 1, prior corrected).

    ψ_ilm = softmax_l(a_il + U_ilm); π_m ∝ exp(b_m) Π_i Σ_l exp(a_il + U_ilm). The paper's prior leaves out a.
    """
    prior = model.hidden_bias + log_normalisers(model).sum(1)
    return vote_scores(model).softmax(2), prior.softmax(-1)


def from_dawid_skene(psi: Tensor, pi: Tensor, corner: float = 1.0) -> Model:
    """Return the iRBM with these ψ (R, d, K, K) and π (R, K): the inverse of `to_dawid_skene`.

    ``corner`` is the constant weight between the fixed states (the paper's 1). Probabilities must be positive.
    """
    odds = psi.log() - psi[:, :, :1].log()  # log ψ_ilm / ψ_i1m, which is a_il + U_ilm but for the corner
    visible_bias = odds[..., 0] + corner
    visible_bias[:, :, 0] = 0
    weights = odds - visible_bias.unsqueeze(-1)
    weights[:, :, 0], weights[..., 0] = 0, 0
    weights[:, :, 0, 0] = corner
    model = Model(weights.flatten(1, 2), visible_bias.flatten(1), torch.zeros_like(pi))
    hidden_bias = pi.log() - log_normalisers(model).sum(1)
    return replace(model, hidden_bias=hidden_bias - hidden_bias[:, :1])
