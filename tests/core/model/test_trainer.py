import numpy as np
import pytest
import torch

from deem_core import Votes, simulation
from deem_core.model.config import Shape, TrainConfig, resolve
from deem_core.model.energy import free_energy
from deem_core.model.records import Record
from deem_core.model.trainer import Batches, Trainer, stack_size

CPU = torch.device("cpu")


def votes(missing=0.0, n=400):
    rng = np.random.default_rng(0)
    ensemble = simulation.tree(n, rng=rng)
    return (simulation.drop_votes(ensemble, missing, rng=rng) if missing else ensemble).votes


def trainer(seeds=(1,), data=None, **settings):
    data = votes() if data is None else data
    config = resolve(TrainConfig(**{"updates": 40, "batch_size": 64, **settings}), Shape.of(data)).config
    return Trainer(data.codes, data.n_classes, config, seeds, device=CPU)


def parameters(trained):
    return [tensor.detach() for tensor in trained.model.parameters()]


def same(one, other):
    return all(torch.equal(a, b) for a, b in zip(parameters(one), parameters(other), strict=True))


def test_batches_cover_every_row_once_per_epoch():
    batches = Batches(10, 5, seed=0)
    first = torch.cat([batches.next(), batches.next()])
    assert sorted(first.tolist()) == list(range(10))
    assert len(Batches(3, 100, seed=0).next()) == 3


def test_records_are_spread_evenly_and_end_with_the_last_update():
    updates = [records[0].update for records in trainer(updates=640)]
    assert len(updates) >= 60
    assert updates[0] == 1
    assert updates[-1] == 640
    assert set(np.diff(updates[1:])) == {10}


def test_records_tell_energies_sampler_health_and_shares():
    for record in (records[0] for records in trainer()):
        assert record.difference == pytest.approx(record.positive - record.negative, abs=1e-5)
        assert record.energy_difference == pytest.approx(record.energy_positive - record.energy_negative, abs=1e-5)
        assert 0 <= record.acceptance <= 1
        assert 0 <= record.moved <= 1
        assert record.shares.sum() == pytest.approx(1)
        assert set(record.to_dict()) == set(Record.__dataclass_fields__)


def test_training_raises_the_likelihood_of_data_against_noise():
    data = votes(n=2000)
    trained = trainer(data=data, updates=150, batch_size=256, n_layers=1)
    codes = torch.as_tensor(np.array(data.codes)).to(torch.int64)[None]
    noise = torch.randint(3, codes.shape, generator=torch.Generator().manual_seed(0))

    def gap():
        with torch.no_grad():
            return (free_energy(trained.model, noise).mean() - free_energy(trained.model, codes).mean()).item()

    before = gap()
    list(trained)
    assert gap() > before + 0.3


def test_the_constants_of_the_irbm_never_move():
    trained = trainer(momentum=0.5, l1=0.01, l2=0.01)
    before = [tensor.clone() for tensor in parameters(trained)[:3]]
    list(trained)
    for start, now, free in zip(before, parameters(trained)[:3], trained.masks, strict=True):
        assert torch.equal((start * (1 - free)), now * (1 - free))
        assert not torch.equal(start, now)


@pytest.mark.parametrize(
    "settings",
    [{}, {"momentum": 0.5}, {"chain_start": "persistent"}, {"n_layers": 0}, {"n_layers": 2, "sampler": "gwg"}],
)
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_a_resumed_run_equals_an_uninterrupted_one(settings, missing):
    data = votes(missing)
    whole = trainer(data=data, seeds=(1, 2), **settings)
    list(whole)
    first = trainer(data=data, seeds=(1, 2), **settings)
    for records in first:
        if records[0].update >= 17:
            break
    second = trainer(data=data, seeds=(1, 2), **settings)
    second.restore(first.state())
    assert second.update == first.update
    list(second)
    assert same(whole, second)


def test_a_run_goes_on_though_the_rng_of_its_device_cannot_be_taken_over():
    first = trainer()
    for _ in range(5):
        first.step()
    state = first.state() | {"generator": torch.zeros(16, dtype=torch.uint8)}  # the size of a state of CUDA's
    resumed = [trainer(), trainer()]
    for one in resumed:
        one.restore(state)
        list(one)
        assert one.update == one.n_updates
    assert same(*resumed)


def test_the_same_seed_gives_the_same_model_and_another_another():
    one, two, three = (trainer(seeds=(seed,)) for seed in (1, 1, 2))
    for trained in (one, two, three):
        list(trained)
    assert same(one, two)
    assert not same(one, three)


def test_every_seed_has_its_own_order_of_rows():
    trained = trainer(seeds=(1, 2))
    data, _, _ = trained.step()
    assert not torch.equal(data[0], data[1])
    assert torch.equal(data[1], trainer(seeds=(2,)).step()[0][0])


def test_energies_that_are_not_finite_stop_that_restart_with_a_reason():
    data = votes()
    config = resolve(TrainConfig(updates=30, batch_size=64, learning_rate=0.5), Shape.of(data)).config
    trained = Trainer(data.codes, 3, config, [1, 2], device=CPU, learning_rates=[0.5, float("inf")])
    list(trained)
    assert trained.failures[0] is None
    assert "no longer finite at update" in trained.failures[1]
    assert all(torch.isfinite(tensor[0]).all() for tensor in parameters(trained))


each_backend = pytest.mark.parametrize("backend", ["torch", "numba"])


def copied(trained):
    return [tensor.clone() for tensor in parameters(trained)]


def assert_close(found, expected):
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs, atol=3e-6, rtol=1e-5)


@each_backend
@pytest.mark.parametrize("n_layers", [0, 1])
def test_l1_and_l2_pull_every_parameter_that_is_free(backend, n_layers):
    plain, one, two = (trainer(backend=backend, n_layers=n_layers, **own) for own in ({}, {"l1": 0.2}, {"l2": 0.3}))
    before = copied(plain)
    for trained in (plain, one, two):
        trained.step()
    rate, free = plain.rates.item(), plain.model.free_masks()
    after = list(zip(before, parameters(plain), free, strict=True))
    assert_close(parameters(one), [new - rate * 0.2 * old.sign() * mask for old, new, mask in after])
    assert_close(parameters(two), [new - rate * 0.3 * old * mask for old, new, mask in after])


@each_backend
def test_momentum_carries_on_its_share_of_the_last_step(backend):
    pushed, plain = trainer(backend=backend, momentum=0.6), trainer(backend=backend)
    before = copied(pushed)
    pushed.step()
    first = copied(pushed)
    plain.restore(pushed.state())
    pushed.step()
    plain.step()
    moves = [0.6 * (new - old) for old, new in zip(before, first, strict=True)]
    assert max(move.abs().max() for move in moves) > 1e-3
    assert_close(parameters(pushed), [new + move for new, move in zip(parameters(plain), moves, strict=True)])


@each_backend
def test_persistent_chains_begin_where_they_ended(backend):
    data = torch.as_tensor(np.array(votes().codes)).to(torch.int64)
    elsewhere = (data + 1) % 3
    still = trainer(backend=backend, chain_start="persistent", step_size=1e-3)  # a step that hardly moves
    still.chains.copy_(elsewhere)
    batch, chain, _ = still.step()
    assert torch.equal(chain.codes, (batch + 1) % 3)
    lively = trainer(backend=backend, chain_start="persistent", step_size=1.0)
    lively.chains.copy_(elsewhere)
    _, chain, _ = lively.step()
    seen = lively.batches[0].order[:64]
    assert torch.equal(lively.chains[0, seen].long(), chain.codes[0])
    assert not torch.equal(chain.codes[0], elsewhere[seen])
    others = torch.ones(len(data), dtype=torch.bool).index_fill(0, seen, False)
    assert torch.equal(lively.chains[0, others].long(), elsewhere[others])


@each_backend
def test_without_layers_rare_voters_take_longer_steps_and_are_pulled_to_the_start(backend):
    """A learner with 1% of the votes steps 50 times as far, not 100; the pull is 1/n of the way back."""
    full = votes()
    codes, rng = np.array(full.codes), np.random.default_rng(1)
    cast = np.ones(codes.shape[1])
    cast[:3] = 0.01, 0.25, 0.5
    for learner, share in enumerate(cast):
        codes[rng.permutation(400)[round(400 * share) :], learner] = -1
    data = Votes(codes, full.classes, full.learners)
    helped, bare = (trainer(data=data, backend=backend, n_layers=0, batch_size=400) for _ in range(2))
    bare.boost, bare.decay = None, 0.0
    start = copied(bare)
    for trained in (helped, bare):
        with torch.no_grad():
            for tensor, free in zip(trained.model.parameters(), trained.masks, strict=True):
                tensor.add_(2.0 * free)  # away from the start
        if trained.engine is not None:
            trained.engine.refresh()
    before = copied(bare)
    helped.step()
    bare.step()
    boost = torch.tensor(np.repeat(np.minimum(1 / cast, 50), 3), dtype=torch.float32)
    factors = [boost[:, None], boost, torch.ones(())]
    gradients = [old - new for old, new in zip(before, parameters(bare), strict=True)]  # times the rate
    assert gradients[0][0, :3].abs().max() > 0
    pull = bare.rates.item() / 400
    expected = [
        old - factor * own - pull * (old - begin)
        for old, factor, own, begin in zip(before, factors, gradients, start, strict=True)
    ]
    for ours, theirs in zip(parameters(helped), expected, strict=True):
        torch.testing.assert_close(ours, theirs, atol=2e-5, rtol=1e-5)


def test_rare_voters_get_larger_steps_only_without_layers():
    assert trainer(data=votes(0.5), n_layers=0).boost is not None
    assert trainer(data=votes(0.5), n_layers=1).boost is None
    assert trainer(n_layers=0).boost is None


def test_a_gpu_trains_all_restarts_side_by_side_and_a_cpu_a_few():
    assert stack_size(5, CPU, "torch") == 3
    assert stack_size(5, CPU, "numba") == 1
    assert stack_size(5, torch.device("cuda"), "torch") == 5
    assert stack_size(2, CPU, "torch") == 2
