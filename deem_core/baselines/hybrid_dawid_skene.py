"""Hybrid Dawid-Skene: soft EM until it slows down, then hard EM (Sinha, Rao and Balasubramanian, 2018).

The steps of `dawid_skene` from vote shares until Σ_m |Δpi_m| ≤ 0.005, then those of `fast_dawid_skene` until
Σ_m |Δpi_m| < 1e-4, or 100 iterations in all: nearly the answer of soft EM in fewer iterations. Ties go to the
lowest class.
"""

from __future__ import annotations

import numpy as np

from deem_core.baselines.contract import Aggregate, Stop, never
from deem_core.baselines.fast_dawid_skene import hardened_em
from deem_core.votes import Votes

SWITCH = 0.005


def aggregate(votes: Votes, rng: np.random.Generator, *, stop: Stop = never) -> Aggregate:
    """Fit by soft, then hard EM from vote shares; ``rng`` is not used. ``skills`` are Σ_m pi_m psi_imm."""
    return hardened_em(votes, stop=stop, soft_until=SWITCH)
