import numpy as np
import pytest
import torch

from deem_core.methods.soft_deem.proposal import (
    draw_positives,
    draw_votes,
    evidence_logits,
    invert_votes,
    seeded_generator,
    vote_logits,
)
from deem_core.methods.soft_deem.weighing import weigh
from deem_core.model.energy import energy, free_energy, posterior, stack
from tests.core.methods.soft_deem.helpers import batched, hidden_votes, random_evidence, small_model

CPU = torch.device("cpu")
MISSING = [(1, 0), (2, 1), (2, 2)]


def bare_energies(model, codes):
    """E of the model without its layers for all labels, (Z, K)."""
    bare = model.with_parameters(model.parameters())
    object.__setattr__(bare, "layer_weights", ())
    object.__setattr__(bare, "layer_biases", ())
    labels = torch.eye(model.n_classes, dtype=torch.float64)
    each = [energy(bare, codes[None], label.expand(1, len(codes), -1))[0] for label in labels]
    return torch.stack(each, dim=1)


@pytest.mark.parametrize("n_layers", [0, 1])
def test_the_law_of_the_label_is_the_sum_over_all_hidden_votes(n_layers):
    model, found = small_model(n_layers=n_layers), random_evidence(3, missing=MISSING)
    made = evidence_logits(model, batched(found))[0]
    for row in range(3):
        codes, log_q = hidden_votes(found, row)
        plain = (log_q[:, None] - bare_energies(model, codes)).logsumexp(0)
        torch.testing.assert_close(made[row], plain, rtol=0, atol=1e-12)


def test_the_law_of_hidden_votes_given_the_label_is_that_of_enumeration():
    model, found = small_model(), random_evidence(3)
    for label in range(3):
        logits = vote_logits(model, batched(found), torch.full((1, 3), label))[0].log_softmax(-1)
        for row in range(3):
            codes, log_q = hidden_votes(found, row)
            plain = (log_q - bare_energies(model, codes)[:, label]).softmax(0)
            product = logits[row].gather(1, codes.T).sum(0).exp()
            torch.testing.assert_close(product, plain, rtol=0, atol=1e-12)


def test_hidden_votes_are_drawn_only_where_votes_were_cast():
    model, found = small_model(), random_evidence(3, missing=MISSING)
    labels = torch.tensor([[0, 1, 2]])
    drawn = draw_votes(model, batched(found), labels, torch.Generator().manual_seed(0))
    assert drawn.shape == (1, 3, 3)
    assert ((drawn[0] >= 0) == found.cast).all()
    inverted = invert_votes(model, batched(found), labels, torch.rand(3, 5))
    assert inverted.shape == (1, 3, 5, 3)
    assert ((inverted[0] >= 0) == found.cast[:, None]).all()


def test_inverted_votes_follow_the_law_of_hidden_votes():
    model, found = small_model(), random_evidence(2)
    labels = torch.tensor([[2, 0]])
    law = vote_logits(model, batched(found), labels)[0].softmax(-1)  # (2, 3, 3)
    votes = invert_votes(model, batched(found), labels, (torch.arange(3_000) + 0.5).expand(3, -1) / 3_000)[0]
    shares = torch.nn.functional.one_hot(votes, 3).double().mean(1)
    assert (shares - law).abs().max() < 1e-3


def test_without_layers_positives_follow_the_exact_law():
    model, found = small_model(n_layers=0), random_evidence(1)
    many = batched(found.select([0] * 60_000))
    drawn = draw_positives(model, many, torch.Generator().manual_seed(0))[0]
    codes, log_q = hidden_votes(found, 0)
    law = (log_q - free_energy(model, codes[None])[0]).softmax(0)
    place = torch.tensor([9, 3, 1])
    shares = torch.bincount((drawn * place).sum(1), minlength=27) / len(drawn)
    assert 0.5 * (shares - law).abs().sum() < 0.015


def test_more_draws_bring_positives_nearer_to_the_law_with_layers():
    model, found = small_model(spread=0.4), random_evidence(1)
    codes, log_q = hidden_votes(found, 0)
    law = (log_q - free_energy(model, codes[None])[0]).softmax(0)
    distance = []
    for n_draws in (1, 4, 40):
        many = batched(found.select([0] * 20_000))
        drawn = draw_positives(model, many, torch.Generator().manual_seed(0), n_draws)[0]
        shares = torch.bincount((drawn * torch.tensor([9, 3, 1])).sum(1), minlength=27) / len(drawn)
        distance.append(float(0.5 * (shares - law).abs().sum()))
    assert distance[0] > 2 * distance[2]
    assert distance[0] > distance[1] > distance[2]
    assert distance[2] < 0.03


@pytest.mark.parametrize("n_layers", [0, 1, 2])
def test_one_hot_votes_are_their_own_positives(n_layers):
    rng = np.random.default_rng(0)
    codes = torch.tensor(rng.integers(-1, 4, size=(2, 50, 5)))
    hot = torch.eye(4)[codes.clamp_min(0)] * (codes >= 0).unsqueeze(-1)
    model = stack([small_model(5, 4, n_layers, seed, spread=2.0).to(torch.float32) for seed in (0, 1)])
    found = weigh(hot, torch.linspace(0.1, 3, 5))
    assert torch.equal(draw_positives(model, found, torch.Generator().manual_seed(0)), codes)


def test_models_side_by_side_have_their_own_laws():
    models, found = [small_model(seed=seed) for seed in (0, 1)], random_evidence(4)
    both = batched(found)
    both = type(both)(both.log_q.expand(2, -1, -1, -1), both.cast.expand(2, -1, -1))
    made = evidence_logits(stack(models), both)
    for model, own in zip(models, made, strict=True):
        torch.testing.assert_close(own, evidence_logits(model, batched(found))[0])


def test_a_silent_row_has_the_label_of_a_silent_row():
    model, found = small_model(), random_evidence(1, missing=[(0, 0), (0, 1), (0, 2)])
    made = evidence_logits(model, batched(found)).softmax(-1)
    torch.testing.assert_close(made, posterior(model, torch.full((1, 1, 3), -1)))


def test_new_names_for_the_classes_only_permute_the_law():
    model, found = small_model(), random_evidence(4)
    new = torch.tensor([2, 0, 1])  # column k of the new model is class new[k] of the old one
    weights = model.weights.view(1, 3, 3, 3)[:, :, new][..., new].reshape(1, 9, 3)
    bias = model.visible_bias.view(1, 3, 3)[..., new].reshape(1, 9)
    other = type(model)(weights, bias, model.hidden_bias[:, new])
    made = evidence_logits(other, batched(type(found)(found.log_q[..., new], found.cast)))
    torch.testing.assert_close(made, evidence_logits(model, batched(found))[..., new])


def test_generators_with_another_key_differ_and_with_the_same_one_do_not():
    made = [torch.rand(3, generator=seeded_generator(CPU, *key)) for key in ((1, 2), (2, 1), (1, 2))]
    assert torch.equal(made[0], made[2])
    assert not torch.equal(made[0], made[1])
