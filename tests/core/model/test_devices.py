"""Which device a setting means, with torch and without."""

import subprocess
import sys

import pytest
import torch

from deem_core.errors import InputError
from deem_core.model import devices, passport
from deem_core.model.devices import expected_device, likely_device, pick_device
from deem_core.training.places import Place


def test_a_device_is_picked():
    assert pick_device("cpu") == torch.device("cpu")
    assert pick_device("auto").type in ("cpu", "cuda", "mps")


def test_a_device_that_is_not_there_is_refused():
    with pytest.raises(InputError, match="There is no device 'cuda:63' on this machine"):
        pick_device("cuda:63")


def test_auto_takes_the_first_and_there_is_always_a_processor():
    names = [device.name for device in devices.devices()]
    assert "cpu" in names
    assert names[0].split(":")[0] == pick_device("auto").type


@pytest.fixture
def apple(monkeypatch, tmp_path):
    """A machine with an Apple GPU, and a user's folder of its own."""
    monkeypatch.setenv("DEEM_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    monkeypatch.setattr(torch.backends.mps, "get_name", lambda: "Apple M9", raising=False)
    monkeypatch.setattr(torch.mps, "recommended_max_memory", lambda: 8_000)
    monkeypatch.setattr(torch.mps, "driver_allocated_memory", lambda: 3_000)
    monkeypatch.setattr(torch.mps, "current_allocated_memory", lambda: 1_000)
    monkeypatch.setattr(devices.platform, "system", lambda: "Darwin")
    monkeypatch.setattr(devices.platform, "machine", lambda: "arm64")


@pytest.mark.usefixtures("apple")
def test_auto_takes_an_apple_gpu_only_once_it_has_passed_the_check(monkeypatch):
    assert [device.name for device in devices.devices()] == ["cpu", "mps"]
    assert devices.devices()[1].title == "Apple M9, not checked yet"
    assert pick_device("auto").type == likely_device() == "cpu"
    assert pick_device("mps").type == "mps"
    passport.issue("mps", "Apple M9")
    assert [device.title for device in devices.devices()] == ["Apple M9", "Processor"]
    assert pick_device("auto").type == likely_device() == "mps"
    monkeypatch.setattr(torch.backends.mps, "get_name", lambda: "Apple M10")
    assert pick_device("auto").type == "cpu"


@pytest.mark.usefixtures("apple")
def test_a_passport_is_for_one_version_and_a_damaged_file_for_none(monkeypatch):
    passport.issue("mps", "Apple M9")
    passport.issue("mps", "Apple M9")
    assert len(passport.passports()) == 1
    monkeypatch.setattr(passport, "torch_version", lambda: "99.0")
    assert not passport.has_passed("mps")
    (passport.home() / passport.FILE).write_text("{", encoding="utf-8")
    assert passport.passports() == []


@pytest.mark.usefixtures("apple")
def test_memory_is_asked_of_the_gpu_and_given_back(monkeypatch):
    assert devices.free_bytes(torch.device("mps")) == 7_000
    assert devices.free_bytes(torch.device("cpu")) is None
    emptied = []
    monkeypatch.setattr(torch.mps, "empty_cache", lambda: emptied.append("mps"))
    with Place.of("mps").crew():
        assert not emptied
    assert emptied == ["mps"]
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (5_000, 9_000))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda device: 700)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda device: 200)
    assert devices.free_bytes(torch.device("cuda:0")) == 5_500


def test_what_torch_will_choose_is_guessed_without_it(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert likely_device() in ("cpu", "mps")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    monkeypatch.setattr(devices.platform, "system", lambda: "Linux")
    monkeypatch.setattr(devices.shutil, "which", lambda name: "/usr/bin/nvidia-smi")
    monkeypatch.setattr(devices, "torch_version", lambda: "2.13.0")
    assert likely_device() == "cuda"
    assert expected_device("auto") == expected_device("cuda:0") == "cuda"
    monkeypatch.setattr(devices, "torch_version", lambda: "2.13.0+cpu")
    assert likely_device() == "cpu"


def test_only_names_of_devices_are_expected():
    assert expected_device("cuda:1") == "cuda:1"
    with pytest.raises(InputError, match="There is no device 'gpu'"):
        expected_device("gpu")


def test_guessing_does_not_import_torch():
    code = "import sys; from deem_core.model.devices import expected_device; expected_device('auto')"
    subprocess.run([sys.executable, "-c", f"{code}; assert 'torch' not in sys.modules"], check=True)
