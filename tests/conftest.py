"""Fixtures for all tests."""

import os
from pathlib import Path

import pytest
import torch
from hypothesis import settings

# A change is judged by the same examples every time; elsewhere new ones are tried at every run.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")

torch.set_num_threads(1)  # the models of the tests are small: threads only get in each other's way
os.environ.setdefault("OMP_NUM_THREADS", "1")  # so it is in the processes that tests start


@pytest.fixture(scope="session")
def large_data() -> Path:
    """Return the folder of larger ensembles, named by the environment variable DEEM_DATA."""
    folder = os.environ.get("DEEM_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("DEEM_DATA names no folder of larger ensembles")
    return Path(folder)
