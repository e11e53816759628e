"""Merging: classes of votes that look like one label, as one class."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from deem_core.votes.arrays import NO_VOTE
from deem_core.votes.checks import hard_codes
from deem_core.votes.spelling import Alike, alike, folded
from deem_core.votes.table import Votes


def alike_classes(votes: Votes, fold: Callable[[str], str] = folded) -> list[Alike]:
    """Return classes that are one label in several spellings.

    Those with most votes first; see `deem_core.votes.spelling.alike`.
    """
    return alike(_votes_per_label(votes), fold)


def merge_spellings(votes: Votes) -> Votes:
    """Return the votes with all spellings of a label as one class.

    It has the name of the commonest spelling. Truth and gold are left out.
    """
    tally = _votes_per_label(votes)
    return votes if not tally else merge_classes(votes, [folded(label) for label in tally], list(tally.values()))


def _votes_per_label(votes: Votes) -> dict[str, int]:
    if votes.classes.dtype.kind != "O":  # numbers are spelled in one way
        return {}
    return dict(zip(map(str, votes.classes.tolist()), votes.class_counts.sum(axis=0).tolist(), strict=True))


def merge_classes(votes: Votes, keys: Sequence[str], weights: Sequence[int]) -> Votes:
    """Return votes in which classes that share a key are one.

    Parameters
    ----------
    votes : Votes
    keys : sequence of K str
        What classes are merged by.
    weights : sequence of K int
        The heaviest class gives its name.

    Returns
    -------
    Votes
        In the order of the first class of each key, without truth and gold.
    """
    order = list(dict.fromkeys(keys))
    new_code = np.array([order.index(key) for key in keys], np.int32)  # (K,)
    heaviest = [max((code for code, key in enumerate(keys) if key == own), key=weights.__getitem__) for own in order]
    soft = None
    if votes.soft is not None:
        soft = np.zeros((*votes.codes.shape, len(order)), np.float32)
        for code, new in enumerate(new_code.tolist()):
            soft[:, :, new] += votes.soft[:, :, code]
    codes = np.array([*new_code, NO_VOTE], np.int32)[votes.codes] if soft is None else hard_codes(soft)
    return Votes(codes, votes.classes[heaviest], votes.learners, votes.ids, soft=soft)
