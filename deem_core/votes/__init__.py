"""Votes: the table every other room works on, and its numbers."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from deem_core.votes.arrays import NO_VOTE
from deem_core.votes.coding import as_label_array, code_truth
from deem_core.votes.gold import Gold, as_gold
from deem_core.votes.labels import MissingRule, canonical_text
from deem_core.votes.majority import MajorityVote, majority_vote
from deem_core.votes.table import Votes

if TYPE_CHECKING:
    from deem_core.votes.agreement import PairAgreement, RowAgreement, pair_agreement, row_agreement
    from deem_core.votes.describe import Facts
    from deem_core.votes.intervals import exact, wilson

__all__ = [
    "NO_VOTE",
    "Facts",
    "Gold",
    "MajorityVote",
    "MissingRule",
    "PairAgreement",
    "RowAgreement",
    "Votes",
    "as_gold",
    "as_label_array",
    "canonical_text",
    "code_truth",
    "exact",
    "majority_vote",
    "pair_agreement",
    "row_agreement",
    "wilson",
]

_HOMES = {
    **dict.fromkeys(("PairAgreement", "RowAgreement", "pair_agreement", "row_agreement"), "agreement"),
    "Facts": "describe",
    "exact": "intervals",
    "wilson": "intervals",
}


def __getattr__(name: str) -> Any:
    """Import what needs SciPy when it is asked for."""
    if name in _HOMES:
        return getattr(import_module(f"deem_core.votes.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'deem_core.votes' has no attribute {name!r}")
