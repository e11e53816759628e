from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from deem_core.control import NO_CONTROL, Stopped, StopWhen
from deem_core.methods.soft_deem import inference
from deem_core.methods.soft_deem.inference import answers, log_joint, soft_posterior
from deem_core.methods.soft_deem.weighing import SoftRows, weigh
from deem_core.model.energy import energy, posterior
from tests.core.methods.soft_deem.helpers import hidden_votes, random_evidence, small_model, soft_ensemble

MISSING = [(1, 0), (2, 1), (2, 2)]


def enumerated(model, evidence, row):
    """log Σ_z Π_i Q_i(z_i) exp(−E(z, h)) of a row, for all labels (K,)."""
    codes, log_q = hidden_votes(evidence, row)
    labels = torch.eye(model.n_classes, dtype=torch.float64)
    each = [log_q - energy(model, codes[None], label.expand(1, len(codes), -1))[0] for label in labels]
    return torch.stack(each, dim=1).logsumexp(0)


def rng(seed=0):
    return torch.Generator().manual_seed(seed)


def test_without_layers_the_answer_is_exact():
    model, found = small_model(n_layers=0), random_evidence(3, missing=MISSING)
    made = log_joint(model, found, rng())
    for row in range(3):
        torch.testing.assert_close(made[row], enumerated(model, found, row), rtol=0, atol=1e-12)


@pytest.mark.parametrize("n_layers", [1, 2])
def test_with_layers_the_estimate_is_unbiased(n_layers):
    model, found = small_model(n_layers=n_layers, spread=0.4), random_evidence(3, missing=MISSING)
    runs = log_joint(model, found.select([0, 1, 2] * 2_000), rng()).exp().view(2_000, 3, 3)
    error = runs.std(0) / len(runs) ** 0.5
    plain = torch.stack([enumerated(model, found, row) for row in range(3)]).exp()
    assert ((runs.mean(0) - plain).abs() < 4 * error).all()
    assert (error < 0.03 * plain).all()


def test_more_draws_come_nearer():
    model, found = small_model(spread=0.4), random_evidence(30)
    plain = torch.stack([enumerated(model, found, row) for row in range(30)]).softmax(-1)
    errors = [(soft_posterior(model, found, rng(), n) - plain).abs().mean() for n in (1, 12, 5_000)]
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 0.005


@pytest.mark.parametrize("n_layers", [0, 1, 2])
def test_one_hot_votes_get_the_posterior_of_deem(n_layers):
    codes = torch.tensor(np.random.default_rng(0).integers(-1, 4, size=(200, 5)))
    hot = torch.eye(4, dtype=torch.float64)[codes.clamp_min(0)] * (codes >= 0).unsqueeze(-1)
    model = small_model(5, 4, n_layers, spread=1.0)
    made = soft_posterior(model, weigh(hot, torch.linspace(0.1, 3, 5, dtype=torch.float64)), rng())
    torch.testing.assert_close(made, posterior(model, codes[None])[0], rtol=0, atol=1e-12)


def test_labels_out_of_the_question_keep_their_share(monkeypatch):
    model, found = small_model(spread=0.3), random_evidence(50)
    drawn = soft_posterior(model, found, rng(), 4_000)
    monkeypatch.setattr(inference, "NEGLIGIBLE", 0.05)
    cut = soft_posterior(model, found, rng(), 4_000)
    assert torch.isfinite(cut).all()
    assert (cut - drawn).abs().max() < 0.1
    monkeypatch.setattr(inference, "NEGLIGIBLE", 1e-6)
    torch.testing.assert_close(soft_posterior(model, found, rng(), 4_000), drawn, rtol=0, atol=0)


def rows_and_models(n_layers=1):
    votes, _ = soft_ensemble(n=90, d=4, coverage=0.8)
    models = [small_model(4, 3, n_layers, seed, spread=0.3).to(torch.float32) for seed in (0, 1)]
    return SoftRows(votes.soft, np.arange(90), torch.ones(4)), models


def asked(rows, models, threads=1, seed=5):
    made = np.empty((len(models), len(rows.where), 3))
    with ThreadPoolExecutor(threads) as pool:
        for part, each in answers(models, rows, seed, pool=pool, control=NO_CONTROL):
            made[:, part] = each
    return made


def test_chunks_change_nothing_where_nothing_is_drawn(monkeypatch):
    rows, models = rows_and_models(n_layers=0)
    whole = asked(rows, models)
    monkeypatch.setattr(inference, "_CHUNK_CELLS", 12 * 7)
    np.testing.assert_allclose(asked(rows, models), whole, atol=1e-6)


def test_the_seed_decides_on_the_answer_and_the_number_of_threads_does_not(monkeypatch):
    rows, models = rows_and_models()
    monkeypatch.setattr(inference, "_CHUNK_CELLS", 12 * 7)  # seven rows at a time
    monkeypatch.setattr(inference, "_DRAWN_CELLS", 12 * 12 * 2)
    one = asked(rows, models)
    np.testing.assert_allclose(one.sum(-1), 1, atol=1e-6)
    np.testing.assert_array_equal(one, asked(rows, models, threads=3))
    assert np.abs(one - asked(rows, models, seed=6)).max() > 0


def test_answering_can_be_stopped():
    rows, models = rows_and_models()
    with ThreadPoolExecutor(1) as pool, pytest.raises(Stopped):
        list(answers(models, rows, 0, pool=pool, control=StopWhen(lambda: True)))
