"""The step size of the sampler, which settings follow without torch."""

from __future__ import annotations

import math

MOVED_SHARE = 0.03
"""Share of sites that a proposal moves where the energy is flat; 0.01 to 0.06 have worked."""


def step_size(n_classes: int, moved_share: float = MOVED_SHARE) -> float:
    """Return α such that a flat energy moves a given share ρ of the sites: 1/α = ln(K−1) + ln((1−ρ)/ρ)."""
    return 1 / (math.log(n_classes - 1) + math.log((1 - moved_share) / moved_share))
