"""Which backend trains, and the kernel's training beside torch's."""

import time
from threading import Event

import numpy as np
import pytest
import torch

from deem_core import DEEM, simulation
from deem_core.control import Control, Saved, Stopped, StopWhen
from deem_core.errors import InputError
from deem_core.model import backend as backends
from deem_core.model.backend import STEP, prepare, with_backend
from deem_core.model.config import Shape, TrainConfig, resolve
from deem_core.model.trainer import Trainer

CPU = torch.device("cpu")
LARGE = Shape(10_000, 12, 3, 12.0, 1.0)


def votes(missing=0.0, n=600):
    rng = np.random.default_rng(0)
    ensemble = simulation.tree(n, rng=rng)
    return (simulation.drop_votes(ensemble, missing, rng=rng) if missing else ensemble).votes


def trainer(backend="numba", seeds=(1, 2), data=None, **settings):
    data = votes() if data is None else data
    wish = TrainConfig(**{"updates": 30, "batch_size": 64, "backend": backend, **settings})
    return Trainer(data.codes, data.n_classes, resolve(wish, Shape.of(data)).config, seeds, device=CPU)


def parameters(trained):
    return [tensor.detach().clone() for tensor in trained.model.parameters()]


def choice(shape=LARGE, device="cpu", **settings):
    settings = with_backend(resolve(TrainConfig(**settings), shape), shape, device)
    return settings.config.backend, settings.reasons["backend"]


# ---------------------------------------------------------------------- choice


@pytest.mark.parametrize(
    ("backend", "changes"),
    [
        ("numba", {}),
        ("torch", {"device": "cuda"}),
        ("torch", {"updates": 20, "restarts": 1}),
        ("torch", {"backend": "torch"}),
        ("torch", {"activation": "softmax", "shape": Shape(100_000, 30, 20, 20.0, 1.0)}),
        ("torch", {"n_layers": 0, "shape": Shape(100_000, 5, 1000, 5.0, 1.0)}),
        ("numba", {"n_layers": 1, "shape": Shape(100_000, 5, 1000, 5.0, 1.0)}),
    ],
)
def test_the_backend_follows_device_and_size(backend, changes):
    found, reason = choice(**changes)
    assert found == backend
    assert reason


def test_without_numba_torch_trains_and_says_why(monkeypatch):
    monkeypatch.setattr(backends.compilation, "available", lambda: False)
    assert choice() == ("torch", "numba is not installed")
    with pytest.raises(InputError, match=r"pip install numba.*torch"):
        choice(backend="numba")


def test_the_kernel_is_refused_on_a_gpu():
    with pytest.raises(InputError, match="device cpu"):
        choice(backend="numba", device="cuda")


def test_the_backend_stands_in_the_record_of_a_training():
    model = DEEM(restarts=2, updates=20, random_state=0, start="majority", backend="numba").fit(votes())
    assert model.settings_["backend"]["value"] == "numba"
    model = DEEM(restarts=2, updates=20, random_state=0, start="majority").fit(votes())
    assert model.settings_["backend"] == {"value": "torch", "reason": backends.TOO_SMALL}


class Listener(Control):
    def __init__(self):
        super().__init__()
        self.steps = []

    def tell(self, step, share, progress=None):
        self.steps.append(step)


def test_the_first_compilation_is_announced_and_later_ones_are_not(monkeypatch):
    listener = Listener()
    monkeypatch.setattr(backends.compilation, "compiled_before", lambda: False)
    wishes = {
        name: with_backend(resolve(TrainConfig(backend=name), LARGE), LARGE, "cpu") for name in ("torch", "numba")
    }
    prepare(wishes["torch"], listener)
    assert listener.steps == []
    assert prepare(wishes["numba"], listener) == wishes["numba"]
    assert listener.steps == [STEP]
    monkeypatch.setattr(backends.compilation, "compiled_before", lambda: True)
    prepare(wishes["numba"], listener)
    assert listener.steps == [STEP]


def test_where_the_kernel_cannot_be_compiled_torch_trains_unless_it_was_asked_for(monkeypatch):
    def fail():
        raise OSError("no such processor")

    monkeypatch.setattr("deem_core.model.kernel.engine.warm_up", fail)
    settings = prepare(with_backend(resolve(TrainConfig(), LARGE), LARGE, "cpu"))
    assert settings.config.backend == "torch"
    assert "OSError" in settings.reasons["backend"]
    with pytest.raises(InputError, match=r"could not be compiled here \(OSError\): choose the backend torch"):
        prepare(with_backend(resolve(TrainConfig(backend="numba"), LARGE), LARGE, "cpu"))


def test_a_wish_to_stop_is_heard_while_the_kernel_is_compiled(monkeypatch):
    over = Event()
    monkeypatch.setattr("deem_core.model.kernel.engine.warm_up", lambda: over.wait(300))
    begun = time.perf_counter()
    with pytest.raises(Stopped):
        prepare(with_backend(resolve(TrainConfig(), LARGE), LARGE, "cpu"), StopWhen(lambda: True))
    over.set()
    assert time.perf_counter() - begun < 250  # it did not wait for the compiler


def test_a_number_of_threads_that_is_none_is_refused(monkeypatch):
    monkeypatch.setenv("DEEM_THREADS", "two")
    with pytest.raises(InputError, match=r"DEEM_THREADS is 'two'; it must be a whole number"):
        backends.crew(1)


# ---------------------------------------------------------------------- training


@pytest.mark.parametrize(
    "settings",
    [
        {"momentum": 0.5},
        {"l1": 0.01, "l2": 0.02},
        {"chain_start": "persistent"},
        {"sampler": "gwg", "n_layers": 2},
        {"n_layers": 0, "data": votes(missing=0.4)},
        {"data": votes(missing=0.4)},
    ],
)
def test_every_setting_trains_by_the_kernel_and_goes_on_from_a_saved_state(settings):
    whole, half, rest = (trainer(**settings) for _ in range(3))
    for _ in whole:
        pass
    while half.update < 15:
        half.step()
    rest.restore(half.state())
    while rest.update < 30:
        rest.step()
    for one, two, begun in zip(parameters(whole), parameters(rest), parameters(trainer(**settings)), strict=True):
        assert torch.equal(one, two)
        assert torch.isfinite(one).all()
        assert not torch.equal(one, begun)


def test_the_step_in_place_is_the_step_of_the_reference(monkeypatch):
    quick, slow = trainer(learning_rate=0.3), trainer(learning_rate=0.3)
    monkeypatch.setattr(type(slow), "_plain", property(lambda own: own is quick))
    for _ in range(3):
        quick.step()
        slow.step()
    for one, two in zip(parameters(quick), parameters(slow), strict=True):
        torch.testing.assert_close(one, two, atol=2e-6, rtol=1e-5)


def test_records_of_both_backends_agree_at_the_start():
    records = {name: next(iter(trainer(name, seeds=(1,), batch_size=600)))[0] for name in ("torch", "numba")}
    assert records["torch"].positive == pytest.approx(records["numba"].positive, abs=1e-4)  # the same rows and start
    assert records["torch"].energy_positive == pytest.approx(records["numba"].energy_positive, abs=0.1)
    np.testing.assert_allclose(records["torch"].shares, records["numba"].shares, atol=0.01)
    assert records["torch"].acceptance == pytest.approx(records["numba"].acceptance, abs=0.05)


def test_both_backends_learn_the_same_energies():
    data = votes(n=2000)
    ends = {}
    for name in ("torch", "numba"):
        runs = [list(trainer(name, data=data, seeds=(1, 2, 3), updates=80, batch_size=512))[-8:]]
        ends[name] = np.mean([[one.positive, one.negative] for late in runs for own in late for one in own], axis=0)
    np.testing.assert_allclose(ends["torch"], ends["numba"], atol=0.15)


class Memory(Control):
    def __init__(self):
        super().__init__()
        self.kept = {}

    def load(self, key):
        return self.kept.get(key)

    def save(self, key, saved):
        self.kept[key] = saved


def test_a_run_that_torch_began_goes_on_by_torch():
    data, control = votes(), Memory()
    control.kept["training-0-stacks"] = Saved({}, {"stack_size": 2})  # of a version without backends
    model = DEEM(restarts=2, updates=500, batch_size=64, random_state=0, start="majority", near_copies="keep")
    model.fit(data, control=control)
    assert model.settings_["backend"] == {"value": "torch", "reason": "as when this training began"}
    fresh = Memory()
    model.fit(data, control=fresh)
    assert fresh.kept["training-0-stacks"].notes == {"stack_size": 1, "backend": "numba"}


def test_rows_are_shared_out_only_where_trainings_leave_cores_idle(monkeypatch):
    monkeypatch.setattr("deem_core.engine.local.cores", lambda: 4)
    monkeypatch.delenv("DEEM_THREADS", raising=False)
    assert backends.crew(4) is None
    assert backends.crew(3) is not None
    monkeypatch.setenv("DEEM_THREADS", "1")
    assert backends.crew(1) is None


def test_a_run_that_the_kernel_began_goes_on_by_torch_where_the_kernel_cannot_be_compiled(monkeypatch):
    def fail():
        raise OSError("no such processor")

    control = Memory()
    control.kept["training-0-stacks"] = Saved({}, {"stack_size": 1, "backend": "numba"})
    monkeypatch.setattr("deem_core.model.kernel.engine.warm_up", fail)
    monkeypatch.setattr("deem_core.model.trainer.make_engine", None)
    model = DEEM(restarts=2, updates=20, random_state=0, start="majority", near_copies="keep")
    model.fit(votes(), control=control)
    assert model.settings_["backend"]["value"] == "torch"
    assert "OSError" in model.settings_["backend"]["reason"]
