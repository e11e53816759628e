"""Methods of fusing votes: one contract, one registry, one file per family.

Each method is a function ``(votes, rng) -> Aggregate`` (see `contract`). None of them reads the truth. All of them by
name: `deem_core.methods.registry`.
"""

from deem_core.methods.contract import Aggregate, Method

__all__ = ["Aggregate", "Method", "dawid_skene", "majority", "pools"]
