"""Candidates of a sweep.

Learning rates at one depth, or depths at one rate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from deem_core.errors import InputError
from deem_core.model.config import AUTO, Settings, Shape, TrainConfig, resolve

if TYPE_CHECKING:
    import torch

DOUBLINGS = range(-4, 5)
"""The default grid is the recipe's rate times 2 to these powers: nine rates over a factor of 256."""

MOST_CANDIDATES = 50
"""More curves than this nobody can read."""

STACK = 3
"""Candidates that train side by side on a CPU where that is quicker."""

SIDE_BY_SIDE_CELLS = 80_000
"""Batch × learners × classes up to which that is so (measured: 26 → 18 ms at 37,000 cells, 45 → 52 ms at 150,000)."""


@dataclass(frozen=True)
class Candidate:
    """One training of a sweep.

    Attributes
    ----------
    learning_rate : float
    n_layers : int
    config : TrainConfig
        Resolved.
    """

    learning_rate: float
    n_layers: int
    config: TrainConfig


def default_rates(shape: Shape, config: TrainConfig | None = None) -> list[float]:
    """Return nine rates around the default one, each twice the one before."""
    wished = replace(config or TrainConfig(), learning_rate=None)
    centre = float(resolve(wished, shape).config.learning_rate or 0)
    return [float(f"{centre * 2.0**power:.3g}") for power in DOUBLINGS]


def check_rates(rates: Sequence[float]) -> list[float]:
    """Return the rates in ascending order.

    Raises
    ------
    InputError
        If there are none, too many, equal ones, or one that is not a positive number.
    """
    if np.ndim(rates) != 1:
        raise InputError(f"rates is {rates!r}; give a list of numbers such as [0.1, 0.3, 1].")
    rates = list(rates)
    if not rates:
        raise InputError("There is no learning rate to try; give at least one, such as 0.3.")
    if len(rates) > MOST_CANDIDATES:
        raise InputError(f"{len(rates)} learning rates are too many; give at most {MOST_CANDIDATES}.")
    checked = []
    for rate in rates:
        TrainConfig(learning_rate=_number(rate))  # its bounds
        checked.append(_number(rate))
    if len(set(checked)) < len(checked):
        twice = next(rate for rate in checked if checked.count(rate) > 1)
        raise InputError(f"The learning rate {twice:g} is given twice; give each once.")
    return sorted(checked)


def _number(rate: object) -> float:
    if isinstance(rate, (bool, np.bool_)) or not isinstance(rate, (int, float, np.integer, np.floating)):
        raise InputError(f"The learning rate {rate!r} is not a number.")
    if not (math.isfinite(rate) and rate > 0):
        raise InputError(f"The learning rate {float(rate):g} is not a positive number; give one such as 0.3.")
    return float(rate)


def check_depths(n_layers: int | Sequence[int] | None) -> list[int] | None:
    """Return the depths to try in ascending order.

    None if the data are to decide.
    """
    if n_layers is None:
        return None
    depths = [n_layers] if isinstance(n_layers, (int, np.integer)) else list(n_layers)
    if not depths:
        raise InputError("There is no number of layers to try; give at least one, such as 1.")
    for depth in depths:
        TrainConfig(n_layers=depth)  # its bounds
    if len(set(depths)) < len(depths):
        raise InputError("A number of layers is given twice; give each once.")
    return sorted(int(depth) for depth in depths)


def plan_candidates(
    shape: Shape, config: TrainConfig, rates: Sequence[float] | None, n_layers: int | Sequence[int] | None
) -> tuple[list[Candidate], Settings]:
    """Return the candidates, all of the same length, and their common settings.

    Raises
    ------
    InputError
        If both several rates and several depths are asked for.
    """
    if config.learning_rate is not None and config.learning_rate != AUTO and rates is None:
        rates = [float(config.learning_rate)]
    config = replace(config, learning_rate=None)
    depths = check_depths(n_layers if n_layers is not None else config.n_layers)
    chosen = check_rates(rates) if rates is not None else None
    if depths is not None and len(depths) > 1:
        if chosen is not None and len(chosen) > 1:
            raise InputError("Sweep either learning rates or numbers of layers, not both: give one learning rate.")
        middle = resolve(replace(config, n_layers=max(depths)), shape).config.learning_rate
        chosen = chosen or [float(middle or 0)]
    depths = depths or [int(resolve(config, shape).config.n_layers or 0)]
    chosen = chosen or default_rates(shape, replace(config, n_layers=depths[0]))
    settings = resolve(_length(config, shape, depths), shape)
    candidates = []
    for depth in depths:
        for rate in chosen:
            own = replace(config, n_layers=depth, learning_rate=rate, updates=settings.config.updates, epochs=None)
            candidates.append(Candidate(rate, depth, resolve(own, shape).config))
    return candidates, settings


def _length(config: TrainConfig, shape: Shape, depths: Sequence[int]) -> TrainConfig:
    """Return the configuration at the default rate, which sets the sweep's length."""
    return replace(config, n_layers=depths[-1], learning_rate=None)


def stacks_of(candidates: Sequence[Candidate], shape: Shape, device: torch.device) -> list[list[int]]:
    """Return which candidates train side by side, as lists of their positions.

    Only candidates of one depth can. The rule looks at sizes alone, so that the same seed gives the same curves on
    every CPU.
    """
    groups: dict[int, list[int]] = {}
    for at, candidate in enumerate(candidates):
        groups.setdefault(candidate.n_layers, []).append(at)
    cells = int(candidates[0].config.batch_size or 1) * shape.n_learners * shape.n_classes
    by_kernel = candidates[0].config.backend == "numba"
    small = cells <= SIDE_BY_SIDE_CELLS and not by_kernel
    most = len(candidates) if device.type != "cpu" else STACK if small else 1
    return [part.tolist() for group in groups.values() for part in np.array_split(group, math.ceil(len(group) / most))]


def in_words(stacks: Sequence[Sequence[int]], where: str, at_once: int) -> str:
    """Return how the candidates train, for people."""
    size = max(map(len, stacks))
    together = f"side by side in stacks of {size}" if size > 1 else "one by one"
    at_once = min(at_once, len(stacks))
    return f"{together}, {at_once} at a time on {where}" if at_once > 1 else f"{together} on {where}"
