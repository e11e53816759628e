"""Model of the paper: settings, energy, sampler, training loop.

Importing the package loads no torch.
"""

from deem_core.errors import missing_torch
from deem_core.model.config import AUTO, GROUPS_RATE, Settings, Shape, TrainConfig, resolve
from deem_core.model.devices import Device, cpu
from deem_core.model.records import Record

__all__ = [
    "AUTO",
    "GROUPS_RATE",
    "Device",
    "Record",
    "Settings",
    "Shape",
    "TrainConfig",
    "cpu",
    "missing_torch",
    "resolve",
]
