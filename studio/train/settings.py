"""Titles and values of training settings in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from deem_core.comparison import METHODS
from deem_core.model import AUTO
from studio import cluster

TITLES: Mapping[str, str] = {
    "method": "Method",
    "learning_rate": "Learning rate",
    "n_layers": "Layers",
    "restarts": "Restarts",
    "epochs": "Epochs",
    "updates": "Updates",
    "batch_size": "Batch (rows)",
    "device": "Device",
    "backend": "Computed by",
    "random_state": "Seed",
    "on": "Where to run",
    "sampler": "Sampler",
    "sampler_steps": "Sampler steps",
    "step_size": "Step size",
    "chain_start": "Chains start at",
    "momentum": "Momentum",
    "l1": "L1",
    "l2": "L2",
    "init_scale": "Initial scale",
    "start": "Start",
    "near_copies": "Near-copies",
    "activation": "Activation",
    "draws": "Draws of layers",
    "early_stop": "Stop when settled",
    "allow_few_learners": "Allow few learners",
}

STARTS = {AUTO: "Automatic", "majority": "Majority vote", "groups": "Grouped model"}

VALUES: Mapping[str, Mapping[Any, str]] = {
    "start": STARTS,
    "learning_rate": {AUTO: "From a sweep"},
    "sampler": {
        "dmala": "Discrete Langevin, corrected (dmala)",
        "dula": "Discrete Langevin (dula)",
        "gwg": "Gibbs with gradients (gwg)",
    },
    "chain_start": {"data": "The rows", "persistent": "Where they ended"},
    "near_copies": {"guard": "Guard", "keep": "Keep", "collapse": "Merge"},
    "activation": {"sparsemax": "Sparsemax", "softmax": "Softmax"},
    "device": {AUTO: "Automatic", "cpu": "CPU", "cuda": "GPU (CUDA)", "mps": "Apple GPU"},
    "backend": {AUTO: "Automatic", "torch": "PyTorch", "numba": "Compiled kernel"},
}
"""Words for values that are names."""


def title(name: str) -> str:
    """Return what people call a setting."""
    return TITLES.get(name) or name.replace("_", " ").capitalize()


def method_title(name: str) -> str:
    """Return what people call a method."""
    return METHODS[name].title if name in METHODS else name


_NAMED: Mapping[str, Callable[[str], str]] = {"method": method_title, "on": cluster.title}


def value(name: str, value: Any) -> str:
    """Return a setting's value in words; a dash for none."""
    if value is None:
        return "–"
    if name in _NAMED:
        return _NAMED[name](str(value))
    if isinstance(value, str) and value in VALUES.get(name, {}):
        return VALUES[name][value]
    if isinstance(value, bool):
        return "Yes" if value else "No"
    if isinstance(value, (int, float)):
        return f"{value:,}" if isinstance(value, int) else f"{value:g}"
    return str(value)
