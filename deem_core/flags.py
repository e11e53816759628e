"""Flags: how the settings of training are spelled on the command line."""

from __future__ import annotations

_SHORT = {"n_layers": "--layers", "batch_size": "--batch", "random_state": "--seed"}


def flag_of(setting: str) -> str:
    """Return the option that gives a setting of `deem_core.config.TrainConfig`."""
    return _SHORT.get(setting) or f"--{setting.replace('_', '-')}"
