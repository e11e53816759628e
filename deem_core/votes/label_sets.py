"""Label sets: votes for several labels at once.

The classes of such votes are the sets that occur, joined by `Votes.separator`, so that all that counts and shows votes
goes on as it is. What is fused are K questions with two answers: does this label apply?
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deem_core.errors import InputError
from deem_core.text import quoted
from deem_core.typing import Codes, Mask
from deem_core.votes.arrays import NO_VOTE
from deem_core.votes.coding import as_label_array
from deem_core.votes.gold import Gold
from deem_core.votes.labels import natural_order
from deem_core.votes.sets import NONE, Sets
from deem_core.votes.table import Votes

NO, YES = "no", "yes"
"""The two answers to the question whether a label applies."""


@dataclass(frozen=True, eq=False)
class LabelSets:
    """The labels of votes, and which are in each set.

    Attributes
    ----------
    labels : tuple of K str
        In natural order.
    members : (C, K) bool
        Which labels are in each set: those of the classes, then of ``truth_only`` and of other known labels.
    separator : str
    """

    labels: tuple[str, ...]
    members: Mask
    separator: str

    @classmethod
    def of(cls, sets: Sequence[Any], separator: str, labels: Sequence[str] | None = None) -> LabelSets:
        """Take sets apart; labels by default those that occur."""
        apart = [Sets(separator).parts(str(each)) or [] for each in sets]
        names = natural_order({label for parts in apart for label in parts}) if labels is None else list(labels)
        members = np.zeros((len(apart), len(names)), bool)
        place = {name: k for k, name in enumerate(names)}
        for row, parts in enumerate(apart):
            for part in parts:
                if part in place:
                    members[row, place[part]] = True
        return cls(tuple(names), members, separator)

    def joined(self, chosen: Mask) -> list[str]:
        """Return sets (m, K) as cells, labels in class order."""
        labels = np.array(self.labels, object)
        return [self.separator.join(labels[row]) or NONE for row in np.asarray(chosen, bool)]


def label_sets(votes: Votes) -> LabelSets:
    """Return the labels that learners vote for, and the sets."""
    own = LabelSets.of(votes.classes.tolist(), votes.separator)
    gold_only = [] if votes.gold is None else votes.gold.only.tolist()
    return LabelSets.of([*votes.classes.tolist(), *votes.truth_only.tolist(), *gold_only], votes.separator, own.labels)


def as_label_sets(votes: Votes, separator: str = "|") -> Votes:
    """Return votes whose labels are sets, joined by a separator.

    Sets that differ in order or spaces are one class.

    Raises
    ------
    InputError
        If there are probabilities, or fewer than two labels.
    """
    if votes.soft is not None:
        raise InputError(
            "Several labels in a cell are read from labels, and this file holds probabilities. Use the labels alone."
        )
    sets = LabelSets.of(votes.classes.tolist(), separator)
    if len(sets.labels) < 2:
        raise InputError(
            f"There {'is one label' if sets.labels else 'is no label'} between {quoted([separator])} in these votes, "
            f"{quoted(sets.labels)}; several labels need two. Check the separator."
        )
    spelled = sets.joined(sets.members)
    classes = list(dict.fromkeys(spelled))
    place = {each: code for code, each in enumerate(classes)}
    known, only = _merged(votes.truth_only.tolist(), spelled, classes, separator)
    gold = votes.gold
    if gold is not None:
        of_gold, gold_only = _merged(gold.only.tolist(), spelled, classes, separator)
        gold = replace(gold, codes=of_gold[gold.codes], only=as_label_array(gold_only))
    lookup = np.array([*(place[each] for each in spelled), NO_VOTE], np.int32)
    return replace(
        votes,
        codes=lookup[votes.codes],
        classes=as_label_array(classes),
        truth=None if votes.truth is None else known[votes.truth],
        truth_only=as_label_array(only),
        gold=gold,
        ordered=False,
        separator=separator,
    )


def _merged(
    only: Sequence[Any], spelled: Sequence[str], classes: Sequence[str], separator: str
) -> tuple[Codes, list[str]]:
    """Return the new code of each known set, and the other sets.

    The last code is that of no vote.
    """
    others = [separator.join(natural_order(set(Sets(separator).parts(str(each)) or []))) or NONE for each in only]
    beyond = [name for name in dict.fromkeys(others) if name not in set(classes)]
    place = {name: code for code, name in enumerate([*classes, *beyond])}
    return np.array([*(place[name] for name in [*spelled, *others]), NO_VOTE], np.int32), beyond


def question(votes: Votes, label: str | int) -> Votes:
    """Return the votes on one label: whether it applies.

    A missing vote stays missing; truth and gold follow. The classes are no and yes.

    Parameters
    ----------
    votes : Votes
        Of label sets.
    label : str or int
        Or its position.
    """
    sets = label_sets(votes)
    if isinstance(label, str) and label not in sets.labels:
        raise InputError(f"There is no label {label!r} in these votes; there are {quoted(sets.labels)}.")
    k = sets.labels.index(label) if isinstance(label, str) else int(label)
    answer = np.append(sets.members[:, k].astype(np.int32), NO_VOTE)  # code of a set → no or yes
    C, T = votes.n_classes, len(votes.truth_only)
    gold = votes.gold
    if gold is not None:
        beyond = np.concatenate([answer[:C], answer[C + T : -1], [NO_VOTE]]).astype(np.int32)
        gold = Gold(beyond[gold.codes], asked=gold.asked, absent=gold.absent)
    return replace(
        votes,
        codes=answer[votes.codes].astype(np.int32),
        classes=as_label_array([NO, YES]),
        truth=None if votes.truth is None else answer[votes.truth].astype(np.int32),
        truth_only=np.empty(0, object),
        gold=gold,
        separator="",
    )


def refuse_sets(votes: Votes, doer: str) -> None:
    """Refuse votes for several labels where one is asked for."""
    if votes.separator:
        first = label_sets(votes).labels[0]
        raise InputError(
            f"These votes hold several labels at once, and {doer} takes one. Fuse them (fuse), or open one label as a "
            f"question of its own: --one-label {first!r}, or “Open one label” on the Data page."
        )
