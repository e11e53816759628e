import numpy as np
import pytest
import torch

from deem_core.methods.soft_deem import inference
from deem_core.methods.soft_deem.inference import draw_numbers, log_joint, soft_logits
from deem_core.methods.soft_deem.weighing import weigh
from deem_core.model.energy import energy, posterior
from tests.core.methods.soft_deem.helpers import hidden_votes, random_evidence, small_model

MISSING = [(1, 0), (2, 1), (2, 2)]


def enumerated(model, evidence, row):
    """log Σ_z Π_i Q_i(z_i) exp(−E(z, h)) of a row, for all labels (K,)."""
    codes, log_q = hidden_votes(evidence, row)
    labels = torch.eye(model.n_classes, dtype=torch.float64)
    each = [log_q - energy(model, codes[None], label.expand(1, len(codes), -1))[0] for label in labels]
    return torch.stack(each, dim=1).logsumexp(0)


def numbers(n=12, d=3, seed=0):
    return draw_numbers(d, seed, n_draws=n)


def soft_posterior(model, evidence, numbers):
    return soft_logits(model, evidence, numbers).softmax(-1)


def test_without_layers_the_answer_is_exact():
    model, found = small_model(n_layers=0), random_evidence(3, missing=MISSING)
    made = log_joint(model, found, numbers())
    for row in range(3):
        torch.testing.assert_close(made[row], enumerated(model, found, row), rtol=0, atol=1e-12)


@pytest.mark.parametrize("n_layers", [1, 2])
def test_with_layers_the_estimate_is_unbiased(n_layers):
    model, found = small_model(n_layers=n_layers, spread=0.4), random_evidence(3, missing=MISSING)
    runs = torch.stack([log_joint(model, found, numbers(seed=seed)) for seed in range(2_000)]).exp()
    error = runs.std(0) / len(runs) ** 0.5
    plain = torch.stack([enumerated(model, found, row) for row in range(3)]).exp()
    assert ((runs.mean(0) - plain).abs() < 4 * error).all()
    assert (error < 0.03 * plain).all()


def test_more_draws_come_nearer():
    model, found = small_model(spread=0.4), random_evidence(30)
    plain = torch.stack([enumerated(model, found, row) for row in range(30)]).softmax(-1)
    errors = [(soft_posterior(model, found, numbers(n)) - plain).abs().mean() for n in (1, 12, 5_000)]
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 0.005


@pytest.mark.parametrize("n_layers", [0, 1, 2])
def test_one_hot_votes_get_the_posterior_of_deem(n_layers):
    codes = torch.tensor(np.random.default_rng(0).integers(-1, 4, size=(200, 5)))
    hot = torch.eye(4, dtype=torch.float64)[codes.clamp_min(0)] * (codes >= 0).unsqueeze(-1)
    model = small_model(5, 4, n_layers, spread=1.0)
    made = soft_posterior(model, weigh(hot, torch.linspace(0.1, 3, 5, dtype=torch.float64)), numbers(d=5))
    torch.testing.assert_close(made, posterior(model, codes[None])[0], rtol=0, atol=1e-12)


def test_labels_out_of_the_question_keep_their_share(monkeypatch):
    model, found = small_model(spread=0.3), random_evidence(50)
    drawn = soft_posterior(model, found, numbers(4_000))
    monkeypatch.setattr(inference, "NEGLIGIBLE", 0.05)
    cut = soft_posterior(model, found, numbers(4_000))
    assert torch.isfinite(cut).all()
    assert (cut - drawn).abs().max() < 0.1
    monkeypatch.setattr(inference, "NEGLIGIBLE", 1e-6)
    torch.testing.assert_close(soft_posterior(model, found, numbers(4_000)), drawn, rtol=0, atol=0)


def test_numbers_are_uniform_and_one_falls_into_each_part():
    made = draw_numbers(4, 1, 2, n_draws=12)
    assert made.shape == (4, 12)
    assert ((made * 12).floor().sort(dim=1).values == torch.arange(12)).all()
    assert not torch.equal((made[0] * 12).floor(), (made[1] * 12).floor())
    assert torch.equal(made, draw_numbers(4, 1, 2, n_draws=12))
    assert not torch.equal(made, draw_numbers(4, 2, 1, n_draws=12))


def test_a_row_is_answered_alike_whatever_rows_come_with_it(monkeypatch):
    model, found = small_model(spread=0.4), random_evidence(40, missing=MISSING)
    whole = soft_logits(model, found, numbers())
    monkeypatch.setattr(inference, "_DRAWN_CELLS", 12 * 9 * 2)  # two rows and labels at a time
    alone = torch.cat([soft_logits(model, found.select([row]), numbers()) for row in range(40)])
    torch.testing.assert_close(alone, whole, rtol=0, atol=1e-12)
