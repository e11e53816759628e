"""Gold: known labels of some rows, handed over to be used.

Truth is for evaluation and is never used; gold is used, and so it is never evaluated on: `Votes` forget the truth of
rows that have a gold label.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from deem_core.errors import InputError
from deem_core.text import quoted
from deem_core.typing import Codes, Integers, Mask
from deem_core.votes.arrays import NO_VOTE
from deem_core.votes.checks import as_truth, read_only
from deem_core.votes.coding import as_label_array, code_truth


@dataclass(frozen=True, eq=False)
class Gold:
    """Known labels of some of n rows.

    Parameters
    ----------
    codes : (n,) array of int
        Class of each row, -1 where it is not known. K + j is the j-th label of ``only``.
    only : array
        Labels that no learner votes for; every answer is wrong there.
    asked : (n,) array of bool, optional
        Rows that `deem_core.ask` chose. The others count as a fair draw.
    absent : int
        Rows of the file of gold labels that are not among the votes.

    Examples
    --------
    >>> from deem_core import Votes
    >>> votes = Votes.from_labels([["cat", "dog"], ["dog", "dog"]], ids=["a", "b"]).with_gold({"a": "dog"})
    >>> votes.gold.n_rows, votes.gold.rows.tolist()
    (1, [0])
    """

    codes: Codes
    only: NDArray[Any] = field(default_factory=lambda: np.empty(0, object))
    asked: Mask | None = None
    absent: int = 0

    def __post_init__(self) -> None:
        """Freeze the arrays."""
        codes = np.asarray(self.codes, np.int32)
        asked = np.zeros(len(codes), bool) if self.asked is None else np.asarray(self.asked, bool)
        object.__setattr__(self, "codes", read_only(codes))
        object.__setattr__(self, "only", as_label_array(self.only))
        object.__setattr__(self, "asked", read_only(asked & (codes != NO_VOTE)))

    @property
    def known(self) -> Mask:
        """Rows with a gold label, (n,)."""
        return np.asarray(self.codes != NO_VOTE)

    @property
    def rows(self) -> NDArray[np.intp]:
        """Positions of the rows with a gold label, ascending, (g,)."""
        return np.flatnonzero(self.known)

    @property
    def n_rows(self) -> int:
        """Rows with a gold label, g."""
        return int(self.known.sum())

    @property
    def labels(self) -> Codes:
        """Codes of the rows with a gold label, (g,)."""
        return self.codes[self.rows]

    @property
    def n_asked(self) -> int:
        """Rows with a gold label that `ask` chose."""
        return 0 if self.asked is None else int(np.count_nonzero(self.asked))

    @property
    def was_asked(self) -> bool:
        """Whether some of the rows were chosen by `ask`."""
        return self.n_asked > 0

    def select(self, rows: Any) -> Gold:
        """Return the gold of some rows: a slice, positions or a mask."""
        assert self.asked is not None  # noqa: S101  # filled in by __post_init__
        return replace(self, codes=self.codes[rows], asked=self.asked[rows])

    def without(self, rows: Integers) -> Gold:
        """Return the same gold but for some positions."""
        codes = self.codes.copy()
        codes[rows] = NO_VOTE
        return replace(self, codes=codes)

    def checked(self, n_rows: int, n_classes: int) -> Gold:
        """Return it if it fits n rows and K classes; refuse it otherwise."""
        as_truth(self.codes, n_rows, n_classes + len(self.only))
        return self


def as_gold(gold: Any, ids: pd.Index, classes: NDArray[Any]) -> Gold:
    """Return gold labels in any form over the classes of votes.

    Parameters
    ----------
    gold : Gold, mapping, Series or (n,) array of labels
        A mapping or a Series names rows by id (by position, from 0, where rows have no ids); an array has a label or
        None for each row.
    ids : (n,) Index
    classes : (K,) array

    Raises
    ------
    InputError
        If a row is not there, or a name stands for several rows.
    """
    if isinstance(gold, Gold):
        return gold.checked(len(ids), len(classes))
    if isinstance(gold, (Mapping, pd.Series)):
        gold = _of_rows(gold, ids)
    labels = np.asarray(gold, object)
    if labels.shape != (len(ids),):
        raise InputError(
            f"Gold labels need an entry for each of the {len(ids):,} rows, None where there is none; "
            f"these have shape {labels.shape}. Or name the rows: {{id: label}}."
        )
    codes, only = code_truth(labels, classes)
    return Gold(codes, only)


def _of_rows(gold: Mapping[Any, Any] | pd.Series, ids: pd.Index) -> NDArray[np.object_]:
    """Return named labels as one for each row, None elsewhere."""
    labels = np.full(len(ids), None, object)
    by_text = {} if isinstance(ids, pd.RangeIndex) else {str(name): row for row, name in enumerate(ids)}
    repeated = set() if ids.is_unique else set(ids[ids.duplicated()].astype(str))
    absent, named = [], set[int]()
    for name, label in gold.items():
        at = name if isinstance(ids, pd.RangeIndex) else by_text.get(str(name))
        if not isinstance(at, (int, np.integer)) or not 0 <= at < len(ids):
            absent.append(str(name))
            continue
        if str(name) in repeated:
            raise InputError(f"Several rows have the id {str(name)!r}, so a gold label for it means none of them.")
        if at in named and labels[at] != label:
            raise InputError(f"The row {str(name)!r} has two different gold labels. Keep one of them.")
        labels[at] = label
        named.add(int(at))
    if absent:
        raise InputError(f"There is no row {quoted(absent, 3)} among the votes, but a gold label for it. Leave it out.")
    return labels
