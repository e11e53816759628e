"""The samplers against full enumeration, and their step on other devices."""

import math

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten

from deem_core.model.energy import free_energy, initialise
from deem_core.model.sampler import Evaluation, draw, evaluate_at, log_acceptance, sample, step_size
from tests.oracles import (
    ALPHA,
    D,
    K,
    all_rows,
    boltzmann,
    distance,
    flip_law,
    langevin_law,
    potential,
    random_model,
    stationary,
    step_law,
    units,
)

N = K**D
LAYERS = [0, 1, 2]


def generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def masked_rows() -> torch.Tensor:
    return all_rows(lowest=-1)


def proposals(points, kind):
    """Return the sampler's q(x' | x) over all pairs of rows, (N, N), put together from its sites."""
    codes, log_q = points.codes[0], points.log_q[0]
    sites = torch.stack([log_q[:, site].index_select(1, codes[:, site]) for site in range(D)])  # [site, from, to]
    if kind != "gwg":
        return sites.sum(0).exp()
    differs = (codes[:, None] != codes[None]).permute(2, 0, 1)
    return torch.where(differs.sum(0) == 1, (sites.exp() * differs).nan_to_num().sum(0), 0)


@pytest.mark.parametrize("n_layers", LAYERS)
@pytest.mark.parametrize("activation", ["sparsemax", "softmax"])
@pytest.mark.parametrize("kind", ["dmala", "gwg"])
def test_proposals_and_their_acceptance_are_those_of_the_paper(n_layers, activation, kind):
    model = random_model(n_layers, seed=3, activation=activation)
    points = evaluate_at(model, all_rows(), kind, ALPHA)
    expected = flip_law(model) if kind == "gwg" else langevin_law(model)
    torch.testing.assert_close(proposals(points, kind), expected, atol=1e-12, rtol=1e-9)
    level = potential(model, units(all_rows()[0]))
    torch.testing.assert_close(points.potential[0], level)
    one, two = torch.nonzero(expected > 0).T  # every pair of rows, or those one flip apart
    fields = (points.codes, points.potential, points.log_q)
    here, there = (Evaluation(*(tensor[:, at] for tensor in fields)) for at in (one, two))
    plain = level[two] - level[one] + expected[two, one].log() - expected[one, two].log()
    torch.testing.assert_close(log_acceptance(here, there, kind)[0], plain)


@pytest.mark.parametrize("n_layers", LAYERS)
@pytest.mark.parametrize("activation", ["sparsemax", "softmax"])
def test_stationary_laws_by_full_enumeration(n_layers, activation):
    model = random_model(n_layers, seed=3, activation=activation)
    law = boltzmann(model)
    for kind in ("dmala", "gwg"):
        assert distance(stationary(step_law(model, kind)), law) < 1e-9
    assert distance(stationary(step_law(model, "dula")), law) > 0.01  # the same proposals without the test


@pytest.mark.parametrize("kind", ["dmala", "dula", "gwg"])
def test_one_step_of_the_sampler_follows_the_enumerated_matrix(kind):
    model, n_draws = random_model(1, seed=3), 40_000
    expected = step_law(model, kind)
    start = all_rows()[:, 40:41].expand(1, n_draws, D)
    chain = sample(model, start, 1, generator(0), kind=kind, alpha=ALPHA)
    place = (chain.codes[0] * K ** torch.arange(D - 1, -1, -1)).sum(-1)
    counts = torch.bincount(place, minlength=N).to(torch.float64)
    probable = expected[40] > 1e-4
    chi2 = ((counts - n_draws * expected[40]) ** 2 / (n_draws * expected[40]))[probable].sum().item()
    freedom = int(probable.sum()) - 1
    assert abs(chi2 - freedom) < 4 * math.sqrt(2 * freedom) + 4


@pytest.mark.parametrize("kind", ["dmala", "gwg"])
def test_long_chains_reach_the_law_of_the_model(kind):
    model = random_model(1, seed=3).to(torch.float32)
    law = boltzmann(model).to(torch.float64)
    chain = sample(model, all_rows().repeat(1, 400, 1), 150, generator(0), kind=kind, alpha=ALPHA)
    place = (chain.codes[0] * K ** torch.arange(D - 1, -1, -1)).sum(-1)
    found = torch.bincount(place, minlength=N).to(torch.float64) / len(place)
    assert distance(found, law) < 0.03


@pytest.mark.parametrize("kind", ["dmala", "dula", "gwg"])
@pytest.mark.parametrize("n_layers", LAYERS)
def test_votes_that_were_not_cast_never_move(kind, n_layers):
    model, start = random_model(n_layers), masked_rows()
    chain = sample(model, start, 20, generator(0), kind=kind, alpha=1.0)
    assert ((chain.codes < 0) == (start < 0)).all()
    assert (chain.codes != start).any()
    assert torch.isfinite(chain.acceptance).all()


def test_a_silent_learner_does_not_change_the_law_of_the_others():
    model = random_model(1)
    rows = masked_rows()
    rows = rows[:, (rows[0, :, 3] < 0) & (rows[0, :, :3] >= 0).all(-1)]
    chain = sample(model, rows.repeat(1, 2000, 1), 60, generator(0), alpha=ALPHA)
    law = (-free_energy(model, rows)[0]).softmax(0)
    place = (chain.codes[0, :, :3] * torch.tensor([9, 3, 1])).sum(-1)
    assert distance(torch.bincount(place, minlength=27) / len(place), law) < 0.03


@pytest.mark.parametrize("n_layers", LAYERS)
def test_a_vote_that_was_not_cast_plays_no_part_in_the_acceptance(n_layers):
    model, rows = random_model(n_layers), masked_rows()
    rows = rows[:, (rows[0, :, 1] < 0) & (rows[0, :, 0] >= 0)]
    here = evaluate_at(model, rows, "dmala", ALPHA)
    there = evaluate_at(model, torch.where(rows < 0, rows, (rows + 1) % K), "dmala", ALPHA)
    plain = (there.potential - here.potential)[0]
    for at, (one, two) in enumerate(zip(here.codes[0], there.codes[0], strict=True)):
        for site in torch.nonzero(one >= 0)[:, 0]:
            plain[at] += there.log_q[0, at, site, one[site]] - here.log_q[0, at, site, two[site]]
    torch.testing.assert_close(log_acceptance(here, there, "dmala")[0], plain)


def test_acceptance_and_movement_are_told_per_model():
    model = initialise(6, 4, 1, [generator(0), generator(1)])
    start = torch.randint(4, (2, 500, 6), generator=generator(2))
    still = sample(model, start, 3, generator(0), alpha=1e-3)
    assert still.moved.tolist() == [0, 0]
    assert still.acceptance.tolist() == [1, 1]
    lively = sample(model, start, 3, generator(0), alpha=2.0)
    assert lively.moved.shape == lively.acceptance.shape == (2,)
    assert (lively.moved > 0.02).all()
    assert (lively.acceptance < 1).all()
    assert sample(model, start, 3, generator(0), kind="dula", alpha=2.0).acceptance.tolist() == [1, 1]


def test_equal_generators_give_equal_chains():
    model, start = random_model(1), all_rows()
    one, other = (sample(model, start, 5, generator(7)).codes for _ in range(2))
    assert torch.equal(one, other)
    assert not torch.equal(one, sample(model, start, 5, generator(8)).codes)


def test_a_chain_continued_is_a_persistent_chain():
    model, start = random_model(1), all_rows()
    rng = generator(0)
    halfway = sample(model, start, 3, rng).codes
    continued = sample(model, halfway, 3, rng).codes
    assert torch.equal(continued, sample(model, start, 6, generator(0)).codes)


@pytest.mark.parametrize("n_classes", [2, 3, 10, 100, 1000])
@pytest.mark.parametrize("share", [0.01, 0.06])
def test_the_step_size_moves_the_wished_share_of_sites_where_the_energy_is_flat(n_classes, share):
    flat = initialise(3, n_classes, 0, [generator(0)], scale=0.0)
    flat = flat.with_parameters([torch.zeros_like(tensor) for tensor in flat.parameters()])
    start = torch.zeros(1, 1, 3, dtype=torch.long)
    stays = evaluate_at(flat, start, "dmala", step_size(n_classes, share)).log_q[0, 0, 0, 0].exp().item()
    assert 1 - stays == pytest.approx(share, rel=1e-3)


class OnlyOn(TorchDispatchMode):
    """Fails when an operation touches a tensor that is not on the device meant."""

    def __init__(self, device: str):
        super().__init__()
        self.device = torch.device(device)
        self.n_operations = 0

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        result = operation(*args, **(kwargs or {}))
        for tensor in tree_flatten((args, kwargs, result))[0]:
            if isinstance(tensor, torch.Tensor):
                assert tensor.device.type == self.device.type, f"{operation} touches {tensor.device}"
        self.n_operations += 1
        return result


def contrastive_step(device: str, n_layers: int, kind: str) -> int:
    """Run one sampler chain and the gradient of the contrastive loss; return the number of operations seen."""
    rng = torch.Generator("cpu" if device == "meta" else device).manual_seed(0)
    model = initialise(4, 3, n_layers, [generator(0), generator(1)]).to(device)
    model = model.with_parameters([tensor.detach().requires_grad_() for tensor in model.parameters()])
    data = torch.zeros(2, 8, 4, dtype=torch.long, device=device)
    with OnlyOn(device) as watch:
        chain = sample(model, data, 2, rng, kind=kind)  # type: ignore[arg-type]
        loss = (free_energy(model, data) - free_energy(model, chain.codes)).mean()
        gradients = torch.autograd.grad(loss, model.parameters())
        masks = model.free_masks()
        _ = [gradient * mask for gradient, mask in zip(gradients, masks, strict=True)]
    return watch.n_operations


@pytest.mark.parametrize("n_layers", LAYERS)
@pytest.mark.parametrize("kind", ["dmala", "dula", "gwg"])
def test_nothing_of_a_step_is_left_behind_on_the_cpu(n_layers, kind):
    assert contrastive_step("meta", n_layers, kind) > 50


def test_draws_follow_their_law_and_the_impossible_never_comes():
    weights = torch.tensor([[0.1, 0.0, 0.6, 0.3, 0.0], [0.0, 2.0, 0.0, 0.0, 0.0]])
    drawn = draw(weights, torch.Generator().manual_seed(0), 40_000)
    shares = torch.stack([torch.bincount(own, minlength=5) / 40_000 for own in drawn])
    torch.testing.assert_close(shares, weights / weights.sum(-1, keepdim=True), atol=0.01, rtol=0)
    assert shares[0, 1] == shares[0, 4] == 0
    assert shares[1, 1] == 1
