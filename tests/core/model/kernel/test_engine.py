"""The kernel against autograd in float64 and against full enumeration."""

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from deem_core.model.backend import number_key
from deem_core.model.energy import free_and_expected_energy, free_energy, posterior, potential_and_gradient, stack
from deem_core.model.kernel.engine import Engine
from deem_core.model.kernel.evaluation import differentiate, evaluate, first_logits
from deem_core.model.sampler import Sampler
from tests.oracles import ALPHA, D, K, all_rows, boltzmann, distance, random_model, step_law

N = K**D
LAYERS = [0, 1, 2, 3]
KINDS = ["dmala", "dula", "gwg"]


def engine_of(model, crew=None):
    return Engine(model.to(torch.float32), crew)


def as_rows(codes):
    return np.ascontiguousarray(codes[0].numpy(), np.int32)


def places(codes):
    return torch.as_tensor(codes).long() @ (K ** torch.arange(D - 1, -1, -1))


def mixed_rows(n=150, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.integers(-1, K, (n, D)).astype(np.int32)
    rows[:, 0] = np.maximum(rows[:, 0], 0)
    return rows


@pytest.mark.parametrize("n_layers", LAYERS)
@pytest.mark.parametrize("activation", ["sparsemax", "softmax"])
def test_energies_and_labels_are_those_of_float64(n_layers, activation):
    model = random_model(n_layers, seed=3, activation=activation)
    rows = all_rows(lowest=-1)
    free, expected, label = engine_of(model).evaluate(0, as_rows(rows))
    exact_free, exact_expected = free_and_expected_energy(model, rows)
    np.testing.assert_allclose(free, exact_free[0], atol=3e-6)
    np.testing.assert_allclose(expected, exact_expected[0], atol=3e-6)
    np.testing.assert_allclose(label, posterior(model, rows)[0], atol=3e-6)


@pytest.mark.parametrize("n_layers", LAYERS)
@pytest.mark.parametrize("activation", ["sparsemax", "softmax"])
def test_gradients_in_the_votes_are_those_of_float64(n_layers, activation):
    model = random_model(n_layers, seed=3, activation=activation)
    data = mixed_rows(20)
    engine = engine_of(model)
    _, exact = potential_and_gradient(model, torch.as_tensor(data).long()[None])
    rows = engine._rows(1)
    for codes, wanted in zip(data, exact[0], strict=True):
        rows.codes[0] = codes
        if n_layers:
            first_logits(engine.models[0], rows, 0)
        evaluate(engine.models[0], rows, 0, engine.activation)
        differentiate(engine.models[0], rows, 0, engine.activation)
        np.testing.assert_allclose(rows.gradient[0], wanted.view(D, K), atol=5e-6)


@pytest.mark.parametrize("n_layers", LAYERS)
@pytest.mark.parametrize("activation", ["sparsemax", "softmax"])
@pytest.mark.parametrize("persistent", [False, True])
def test_parameter_gradients_are_those_of_autograd(n_layers, activation, persistent):
    model = random_model(n_layers, seed=3, activation=activation)
    data = mixed_rows()
    start = np.where(data >= 0, (data + 1) % K, -1).astype(np.int32) if persistent else data
    walk, made = engine_of(model).gradients(0, data, start, Sampler("dmala", 3, ALPHA), 5)
    tensors = [tensor.detach().clone().requires_grad_() for tensor in model.parameters()]
    own = model.with_parameters(tensors)
    up, down = (free_energy(own, torch.as_tensor(rows).long()[None]) for rows in (data, walk.codes))
    for found, exact in zip(made, torch.autograd.grad(up.mean() - down.mean(), tensors), strict=True):
        torch.testing.assert_close(found.double(), exact, atol=2e-6, rtol=1e-4)
    np.testing.assert_allclose(walk.free[0], up[0].detach(), atol=3e-6)
    np.testing.assert_allclose(walk.free[1], down[0].detach(), atol=3e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_layers", [0, 1, 2])
def test_one_step_follows_the_enumerated_matrix(kind, n_layers):
    model, n_draws = random_model(n_layers, seed=3), 20_000
    expected = step_law(model, kind)[40]
    start = np.repeat(as_rows(all_rows())[40:41], n_draws, axis=0)
    walk = engine_of(model).walk(0, start, Sampler(kind, 1, ALPHA), 0)
    counts = torch.bincount(places(walk.codes), minlength=N).to(torch.float64)
    probable = expected > 1e-4
    chi2 = ((counts - n_draws * expected) ** 2 / (n_draws * expected))[probable].sum().item()
    freedom = int(probable.sum()) - 1
    assert abs(chi2 - freedom) < 4 * math.sqrt(2 * freedom) + 4


def test_one_step_is_right_where_one_vote_is_far_more_certain_than_the_others():
    """No scale of float32 holds the odds of all sites, so that each has its own."""
    model, n_draws = random_model(0, seed=3), 20_000
    bias = model.visible_bias.clone()
    bias[0, 1] += 90
    model = model.with_parameters([model.weights, bias, model.hidden_bias])
    expected = step_law(model, "dmala")[40]
    start = np.repeat(as_rows(all_rows())[40:41], n_draws, axis=0)
    walk = engine_of(model).walk(0, start, Sampler("dmala", 1, ALPHA), 0)
    found = torch.bincount(places(walk.codes), minlength=N).to(torch.float64) / n_draws
    assert distance(found, expected) < 0.03
    assert (walk.codes != start).mean() > 0.1


@pytest.mark.parametrize("kind", ["dmala", "gwg"])
def test_long_chains_reach_the_law_of_the_model(kind):
    """A hundred steps, each from logits that the step before left behind."""
    model = random_model(2, seed=3)
    start = np.tile(as_rows(all_rows()), (600, 1))
    walk = engine_of(model).walk(0, start, Sampler(kind, 100, ALPHA), 1)
    found = torch.bincount(places(walk.codes), minlength=N).to(torch.float64) / len(start)
    assert distance(found, boltzmann(model)) < 0.02
    again = engine_of(model).evaluate(0, walk.codes)[0]
    np.testing.assert_allclose(walk.free[1], again, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_votes_that_were_not_cast_never_move(kind):
    data = mixed_rows()
    walk = engine_of(random_model(1)).walk(0, data, Sampler(kind, 20, 1.0), 0)
    np.testing.assert_array_equal(walk.codes < 0, data < 0)
    assert (walk.codes != data).any()
    assert walk.moved == pytest.approx((walk.codes != data).sum() / (data >= 0).sum())


@pytest.mark.parametrize("kind", KINDS)
def test_the_number_of_threads_does_not_change_a_bit(kind):
    data, sampler = mixed_rows(700), Sampler(kind, 5, ALPHA)
    results = []
    for threads in (0, 1, 3):
        with ThreadPoolExecutor(max(threads, 1)) as crew:
            engine = engine_of(random_model(1, seed=3), crew if threads else None)
            for update in range(3):
                walk = engine.learn(0, data, data, sampler, update, rate=0.5)
            results.append((walk.codes, *(tensor.numpy() for tensor in engine.model.parameters())))
    for other in results[1:]:
        for one, two in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("n_layers", LAYERS)
def test_an_update_in_place_is_a_step_down_the_gradient_but_for_the_constants(n_layers):
    model, data, sampler = random_model(n_layers, seed=3), mixed_rows(), Sampler("dmala", 5, ALPHA)
    engine = engine_of(model)
    _, gradients = engine.gradients(0, data, data, sampler, 9)
    before = [tensor.clone() for tensor in engine.model.parameters()]
    engine.learn(0, data, data, sampler, 9, rate=0.4)
    for old, new, gradient, free in zip(before, engine.model.parameters(), gradients, model.free_masks(), strict=True):
        torch.testing.assert_close(new, old - 0.4 * gradient * free.float(), atol=1e-6, rtol=1e-5)
    for layer, transposed in zip(engine.models[0].layers, engine.models[0].transposed, strict=True):
        np.testing.assert_array_equal(transposed, layer.T)


def test_wide_layers_keep_their_transposed_entry_by_entry(monkeypatch):
    monkeypatch.setattr("deem_core.model.kernel.engine.WIDE_UNITS", 1)
    engine, data = engine_of(random_model(2, seed=3)), mixed_rows()
    engine.learn(0, data, data, Sampler("dmala", 5, ALPHA), 9, rate=0.4)
    for layer, transposed in zip(engine.models[0].layers, engine.models[0].transposed, strict=True):
        np.testing.assert_allclose(transposed, layer.T, atol=1e-7)


def test_models_side_by_side_do_not_see_each_other():
    models, data, sampler = [random_model(1, seed=seed) for seed in (3, 4)], mixed_rows(), Sampler("dmala", 3, ALPHA)
    both, alone = engine_of(stack(models)), engine_of(models[1])
    for engine, which in ((both, 1), (alone, 0)):
        engine.learn(which, data, data, sampler, 2, rate=0.5)
    for one, two in zip(both.model.single(1).parameters(), alone.model.parameters(), strict=True):
        assert torch.equal(one, two)
    torch.testing.assert_close(both.model.single(0).weights, models[0].weights.float())
    both.keep([1])
    np.testing.assert_array_equal(both.evaluate(0, data)[0], alone.evaluate(0, data)[0])


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize("n_layers", [0, 1])
def test_numbers_that_are_not_finite_are_told_and_end_no_chain(value, n_layers):
    model = random_model(n_layers).to(torch.float32)
    broken = model.parameters()[-1].clone()
    broken[0, 0] = value
    engine = engine_of(model.with_parameters([*model.parameters()[:-1], broken]))
    walk = engine.walk(0, mixed_rows(), Sampler("dmala", 5, ALPHA), 0)
    assert not np.isfinite(walk.free).all()


def test_keys_differ_with_every_number():
    keys = {number_key(seed, update) for seed in range(20) for update in range(20)}
    assert len(keys) == 400
    data, sampler, engine = mixed_rows(), Sampler("dmala", 5, 1.0), engine_of(random_model(1))
    one, same, other = (engine.walk(0, data, sampler, key).codes for key in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()


def test_chains_begin_where_they_are_told_and_not_at_the_data():
    data = mixed_rows()
    start = np.where(data >= 0, (data + 1) % K, -1).astype(np.int32)
    both = [torch.as_tensor(rows).long()[None] for rows in (data, start)]
    found = engine_of(random_model(1)).contrast(*both, Sampler("dmala", 3, 1e-3), [0])  # a step that hardly moves
    assert torch.equal(found.chain.codes, both[1])
