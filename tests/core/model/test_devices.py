"""Which device a setting means, with torch and without."""

import subprocess
import sys

import pytest
import torch

from deem_core.errors import InputError
from deem_core.model import devices
from deem_core.model.devices import expected_device, likely_device, pick_device


def test_a_device_is_picked():
    assert pick_device("cpu") == torch.device("cpu")
    assert pick_device("auto").type in ("cpu", "cuda", "mps")


def test_a_device_that_is_not_there_is_refused():
    with pytest.raises(InputError, match="There is no device 'cuda:63' on this machine"):
        pick_device("cuda:63")


def test_the_processor_comes_last_and_auto_takes_the_first():
    names = [device.name for device in devices.devices()]
    assert names[-1] == "cpu"
    assert names[0].split(":")[0] == pick_device("auto").type


def test_what_torch_will_choose_is_guessed_without_it(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert likely_device() in ("cpu", "mps")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    monkeypatch.setattr(devices.platform, "system", lambda: "Linux")
    monkeypatch.setattr(devices.shutil, "which", lambda name: "/usr/bin/nvidia-smi")
    monkeypatch.setattr(devices.importlib.metadata, "version", lambda name: "2.13.0")
    assert likely_device() == "cuda"
    assert expected_device("auto") == expected_device("cuda:0") == "cuda"
    monkeypatch.setattr(devices.importlib.metadata, "version", lambda name: "2.13.0+cpu")
    assert likely_device() == "cpu"


def test_only_names_of_devices_are_expected():
    assert expected_device("cuda:1") == "cuda:1"
    with pytest.raises(InputError, match="There is no device 'gpu'"):
        expected_device("gpu")


def test_guessing_does_not_import_torch():
    code = "import sys; from deem_core.model.devices import expected_device; expected_device('auto')"
    subprocess.run([sys.executable, "-c", f"{code}; assert 'torch' not in sys.modules"], check=True)
