"""Baselines: the rivals that DEEM is compared with, one module per method and one contract for all.

Each method is a function ``(votes, rng) -> Aggregate`` (see `contract`). None of them reads the truth. All of them by
name: `deem_core.comparing.registry`.
"""

from deem_core.baselines import dawid_skene, majority, pools
from deem_core.baselines.contract import Aggregate, Method

__all__ = ["Aggregate", "Method", "dawid_skene", "majority", "pools"]
