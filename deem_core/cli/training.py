"""The options of training: one for every setting, with its bounds and default as `TrainConfig` has them."""

from __future__ import annotations

import argparse
from dataclasses import Field, fields
from typing import Any

from deem_core.config import AUTO, TrainConfig
from deem_core.flags import flag_of

SEED = 0
"""The seed where none is given: the same command gives the same labels."""

WHAT = {
    "n_layers": "multinomial layers",
    "learning_rate": "a number, or auto: what a sweep recommends",
    "updates": "updates per restart",
    "epochs": "passes over the rows, instead of updates",
    "batch_size": "rows per update",
    "restarts": "trainings to average",
    "sampler": "how the model's samples are drawn",
    "sampler_steps": "steps of the sampler per update",
    "step_size": "size of a sampler's step",
    "chain_start": "where the sampler's chains begin",
    "momentum": "share of the last update that goes on",
    "l1": "weight of the sum of absolute weights",
    "l2": "weight of the sum of squared weights",
    "init_scale": "weight of each vote at the start",
    "activation": "of the layers",
    "early_stop": "stop a restart whose energies have settled",
    "near_copies": "what to do about near-copies; irbm_cd keeps them unless told otherwise",
    "device": "where to train: auto, cpu, cuda, cuda:1, mps",
    "backend": "what computes",
    "random_state": "same seed, same labels",
    "allow_few_learners": "go on with fewer than three learners",
}
"""Setting → what it is, in a few words."""


def add_training_options(parser: argparse.ArgumentParser) -> None:
    """Add an option for every setting of training, and --json."""
    group = parser.add_argument_group("training", "all from the data unless you say otherwise; see docs/method.md")
    for item in fields(TrainConfig):
        group.add_argument(flag_of(item.name), dest=item.name, default=None, help=_help(item), **_kind(item))
    parser.add_argument("--json", metavar="OUT", help="also write settings, restarts, warnings and result as JSON")


def training_settings(options: argparse.Namespace) -> dict[str, Any]:
    """Return the settings that were given, by name; the seed is always among them."""
    given = {item.name: getattr(options, item.name) for item in fields(TrainConfig)}
    return {"random_state": SEED, **{name: value for name, value in given.items() if value is not None}}


def _kind(item: Field[Any]) -> dict[str, Any]:
    """Return what the parser must know to read a setting; its bounds are checked by `TrainConfig`."""
    kind = str(item.type)
    if item.name == "device":
        return {"metavar": "D"}  # one of several GPUs has a number, so that there is no list of all
    if item.metadata["choices"]:
        return {"choices": list(item.metadata["choices"])}
    if kind.startswith("bool"):
        return {"action": "store_true"}
    if AUTO in item.metadata["words"]:
        return {"metavar": f"X|{AUTO}", "type": _rate}
    return {"metavar": "N", "type": int} if kind.startswith("int") else {"metavar": "X", "type": float}


def _help(item: Field[Any]) -> str:
    default = SEED if item.name == "random_state" else item.default
    if default is False:
        return WHAT[item.name]
    words = "from the data" if default is None else f"{default}"
    return f"{WHAT[item.name]} (default: {words})"


def _rate(text: str) -> float | str:
    if text == AUTO:
        return text
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number nor {AUTO}") from None
