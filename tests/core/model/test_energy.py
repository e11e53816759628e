"""The model against float64 autograd, full enumeration and its own symmetries."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from deem_core import InputError, Votes
from deem_core.model.energy import (
    Model,
    energy,
    free_energy,
    from_dawid_skene,
    initialise,
    layer_outputs,
    log_likelihood,
    log_partition,
    posterior,
    potential_and_gradient,
    stack,
    to_dawid_skene,
)
from tests.oracles import D, K, all_rows, energies, prior_errors, random_model

LAYERS = [0, 1, 2]


def generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def masked_rows() -> torch.Tensor:
    return all_rows(lowest=-1)


def textbook_potential(model: Model, x: torch.Tensor, present: torch.Tensor) -> torch.Tensor:
    """−F of dense votes x (R, B, d, K), written as in the paper: no gather, no stacking tricks."""
    from deem_core.model.activations import ACTIVATIONS

    v = x
    d, K = x.shape[2:]
    for weight, bias in zip(model.layer_weights, model.layer_biases, strict=True):
        tensor = weight.reshape(-1, d, K, d, K)
        z = torch.einsum("rbil,riljm->rbjm", v, tensor) + bias.reshape(-1, 1, d, K)
        v = ACTIVATIONS[model.activation].forward(z) * present.unsqueeze(-1)
    visible = torch.einsum("rbil,ril->rb", v, model.visible_bias.reshape(-1, d, K))
    hidden = torch.einsum("rbil,rilm->rbm", v, model.weights.reshape(-1, d, K, K)) + model.hidden_bias.unsqueeze(1)
    return visible + hidden.exp().sum(-1).log()


def dense(codes: torch.Tensor, K: int = K) -> torch.Tensor:
    hot = torch.nn.functional.one_hot(codes.clamp_min(0), K).to(torch.float64)
    return hot * (codes >= 0).unsqueeze(-1)


@pytest.mark.parametrize("n_layers", LAYERS)
@pytest.mark.parametrize("activation", ["sparsemax", "softmax"])
@pytest.mark.parametrize("rows", [all_rows, masked_rows])
def test_free_energy_and_its_input_gradient_equal_autograd(n_layers, activation, rows):
    model, codes = random_model(n_layers, activation=activation), rows()
    x, present = dense(codes).requires_grad_(), codes >= 0
    expected = textbook_potential(model, x, present)
    (expected_gradient,) = torch.autograd.grad(expected.sum(), x)
    potential, gradient = potential_and_gradient(model, codes)
    assert torch.allclose(potential, expected, atol=1e-12)
    assert torch.allclose(gradient, expected_gradient, atol=1e-12)
    assert torch.allclose(free_energy(model, codes), -expected, atol=1e-12)


@pytest.mark.parametrize("n_layers", LAYERS)
def test_free_energy_is_the_energy_summed_over_labels(n_layers):
    model, codes = random_model(n_layers), masked_rows()
    labels = torch.eye(K, dtype=torch.float64)
    table = torch.stack([energy(model, codes, label.expand(*codes.shape[:2], K)) for label in labels], dim=-1)
    assert torch.allclose(free_energy(model, codes), -(-table).logsumexp(-1), atol=1e-12)
    assert torch.allclose(posterior(model, codes), (-table).softmax(-1), atol=1e-12)


@pytest.mark.parametrize("n_layers", LAYERS)
def test_parameter_gradients_of_free_energy_equal_those_of_the_energy_at_the_posterior(n_layers):
    model, codes = random_model(n_layers), masked_rows()
    model = model.with_parameters([tensor.requires_grad_() for tensor in model.parameters()])
    of_free = torch.autograd.grad(free_energy(model, codes).sum(), model.parameters())
    label = posterior(model, codes).detach()
    of_energy = torch.autograd.grad(energy(model, codes, label).sum(), model.parameters())
    for one, other in zip(of_free, of_energy, strict=True):
        assert torch.allclose(one, other, atol=1e-10)


@pytest.mark.parametrize("n_layers", [1, 2])
def test_a_vote_that_was_not_cast_silences_its_unit_in_every_layer(n_layers):
    model, codes = random_model(n_layers), masked_rows()
    for output in layer_outputs(model, codes):
        assert (output[codes < 0] == 0).all()
        assert torch.allclose(output.sum(-1), (codes >= 0).to(torch.float64), atol=1e-12)


def test_exact_partition_function_equals_brute_force():
    model = random_model(0)
    assert torch.allclose(log_partition(model), (-free_energy(model, all_rows())).logsumexp(-1), atol=1e-12)


def test_exact_likelihood_sums_to_one_and_sums_out_missing_votes():
    model = random_model(0)
    complete = log_likelihood(model, all_rows())
    assert complete.exp().sum().item() == pytest.approx(1, abs=1e-12)
    partial = torch.tensor([[[0, -1, 2, -1]]])
    rows = all_rows()
    fits = (rows[0, :, 0] == 0) & (rows[0, :, 2] == 2)
    assert log_likelihood(model, partial).item() == pytest.approx(complete[0, fits].logsumexp(0).item(), abs=1e-12)


def test_exact_likelihood_gradient_is_the_data_term_minus_the_model_term():
    model, data = random_model(0), all_rows()[:, [3, 17, 17, 80]]
    model = model.with_parameters([tensor.requires_grad_() for tensor in model.parameters()])
    exact = torch.autograd.grad(log_likelihood(model, data).mean(), model.parameters())
    law = log_likelihood(model, all_rows()).exp().detach()
    contrast = -free_energy(model, data).mean() + (law * free_energy(model, all_rows())).sum()
    for one, other in zip(exact, torch.autograd.grad(contrast, model.parameters()), strict=True):
        assert torch.allclose(one, other, atol=1e-12)


def test_exact_quantities_are_refused_with_layers():
    with pytest.raises(InputError, match="only for the iRBM without layers"):
        log_partition(random_model(1))


class TestLemma1:
    def test_dawid_skene_parameters_give_the_same_joint_law(self):
        model = random_model(0)
        psi, pi = (tensor.squeeze(0) for tensor in to_dawid_skene(model))
        assert torch.allclose(psi.sum(1), torch.ones(D, K, dtype=torch.float64))
        joint = -energies(model) - log_partition(model)
        for label in range(K):
            theirs = pi[label].log() + sum(psi[i, all_rows()[0, :, i], label].log() for i in range(D))
            assert torch.allclose(joint[:, label], theirs, atol=1e-12)

    def test_the_map_goes_both_ways(self):
        model = random_model(0)
        back = from_dawid_skene(*to_dawid_skene(model), corner=1.0)
        for one, other in zip(model.parameters(), back.parameters(), strict=True):
            assert torch.allclose(one, other, atol=1e-12)
        rng = generator(5)
        psi = torch.rand(2, D, K, K, generator=rng, dtype=torch.float64).softmax(2)
        pi = torch.rand(2, K, generator=rng, dtype=torch.float64).softmax(1)
        found = to_dawid_skene(from_dawid_skene(psi, pi))
        assert torch.allclose(found[0], psi, atol=1e-12)
        assert torch.allclose(found[1], pi, atol=1e-12)

    def test_the_constants_are_in_place_after_the_way_back(self):
        model = from_dawid_skene(*to_dawid_skene(random_model(0)), corner=1.0)
        weights = model.weights.view(D, K, K)
        assert (weights[:, 0, 1:] == 0).all()
        assert (weights[:, 1:, 0] == 0).all()
        assert (weights[:, 0, 0] == 1).all()
        assert (model.visible_bias.view(D, K)[:, 0] == 0).all()
        assert (model.hidden_bias[:, 0] == 0).all()

    def test_the_printed_prior_is_wrong(self):
        ours, printed = prior_errors(random_model(0))
        assert ours < 1e-12
        assert printed > 0.05

    def test_free_parameters_count_as_the_lemma_says(self):
        masks = random_model(0).free_masks()
        assert sum(int(mask.sum()) for mask in masks) == (D * K + 1) * (K - 1)


class TestInitialisation:
    @pytest.mark.parametrize("n_layers", LAYERS)
    @pytest.mark.parametrize("scale", [1.0, 2.0])
    def test_the_label_is_the_majority_vote_on_every_untied_row(self, n_layers, scale):
        codes = np.random.default_rng(0).integers(-1, 5, (2000, 9))
        majority = Votes(codes, np.arange(5), [f"m{j}" for j in range(9)]).majority_vote
        model = initialise(9, 5, n_layers, [generator(seed) for seed in range(3)], scale=scale)
        labels = posterior(model, torch.from_numpy(codes).expand(3, -1, -1)).argmax(-1)
        decided = torch.from_numpy(~majority.tied & (majority.codes >= 0))
        assert (labels[:, decided] == torch.from_numpy(majority.codes)[decided]).all()

    def test_constants_are_exact_and_noise_has_its_spread(self):
        model = initialise(20, 10, 1, [generator(0)], scale=2.0)
        weights = model.weights.view(20, 10, 10)
        assert (weights.diagonal(dim1=1, dim2=2) == 2).all()
        assert (weights[:, 0, 1:] == 0).all()
        assert (model.visible_bias.view(20, 10)[:, 0] == 0).all()
        inside = weights[:, 1:, 1:][:, ~torch.eye(9, dtype=torch.bool)]
        assert inside.std().item() == pytest.approx(0.01, rel=0.1)
        off = model.layer_weights[0][0] - torch.eye(200)
        assert off.std().item() == pytest.approx(0.005, rel=0.02)

    def test_equal_generators_make_equal_models_and_stacks_equal_their_twins(self):
        stacked = initialise(4, 3, 1, [generator(1), generator(2)])
        for which, seed in enumerate((1, 2)):
            twin = initialise(4, 3, 1, [generator(seed)])
            for one, other in zip(stacked.single(which).parameters(), twin.parameters(), strict=True):
                assert torch.equal(one, other)

    def test_an_unknown_activation_is_refused(self):
        with pytest.raises(InputError, match="no activation 'relu'"):
            initialise(3, 3, 1, [generator(0)], activation="relu")


@pytest.mark.parametrize("n_layers", LAYERS)
def test_stacked_models_equal_their_single_twins(n_layers):
    twins = [random_model(n_layers, seed) for seed in (0, 10, 20)]
    codes = torch.cat([masked_rows(), masked_rows().flip(1), masked_rows().roll(7, 1)])
    stacked = stack(twins)
    potential, gradient = potential_and_gradient(stacked, codes)
    for which, twin in enumerate(twins):
        alone = codes[which : which + 1]
        assert torch.allclose(potential[which : which + 1], potential_and_gradient(twin, alone)[0], atol=1e-12)
        assert torch.allclose(gradient[which : which + 1], potential_and_gradient(twin, alone)[1], atol=1e-12)
        assert torch.allclose(posterior(stacked, codes)[which], posterior(twin, alone)[0], atol=1e-12)


def permuted(model: Model, learners: torch.Tensor, classes: torch.Tensor) -> Model:
    """Return the model whose learner j and class k are learner ``learners[j]`` and class ``classes[k]`` here."""
    d, K = model.n_learners, model.n_classes
    index = (learners[:, None] * K + classes).flatten()
    tensors = [model.weights[:, index][..., classes], model.visible_bias[:, index], model.hidden_bias[:, classes]]
    tensors += [weight[:, index][..., index] for weight in model.layer_weights]
    tensors += [bias[:, index] for bias in model.layer_biases]
    fixed = int((classes == model.fixed_state).nonzero().squeeze())
    assert len(index) == d * K
    return replace(model.with_parameters(tensors), fixed_state=fixed)


@pytest.mark.parametrize("n_layers", LAYERS)
def test_permuting_learners_and_classes_permutes_nothing_but_names(n_layers):
    model, codes = random_model(n_layers), masked_rows()
    learners, classes = torch.tensor([2, 0, 3, 1]), torch.tensor([2, 0, 1])
    renamed = permuted(model, learners, classes)
    new_code = torch.empty(K + 1, dtype=torch.long)
    new_code[classes], new_code[-1] = torch.arange(K), -1
    recoded = new_code[codes[..., learners]]
    assert torch.allclose(free_energy(renamed, recoded), free_energy(model, codes), atol=1e-12)
    assert torch.allclose(posterior(renamed, recoded), posterior(model, codes)[..., classes], atol=1e-12)
    ours, theirs = potential_and_gradient(renamed, recoded)[1], potential_and_gradient(model, codes)[1]
    assert torch.allclose(ours, theirs[:, :, learners][..., classes], atol=1e-12)
    for mask, other in zip(renamed.free_masks(), permuted_masks(model, learners, classes), strict=True):
        assert torch.equal(mask, other)


def permuted_masks(model: Model, learners: torch.Tensor, classes: torch.Tensor) -> list[torch.Tensor]:
    as_parameters = [
        mask.expand(tensor.shape) for mask, tensor in zip(model.free_masks(), model.parameters(), strict=True)
    ]
    moved = permuted(model.with_parameters(as_parameters), learners, classes).parameters()
    return [mask[0] if mask.dim() > 1 and at < 3 else mask.new_ones(()) for at, mask in enumerate(moved)]
