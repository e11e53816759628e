"""Row filters: conditions on rows that fit into an address.

A filter is a list of conditions that all hold. Each is a frozen dataclass that knows its rows, its words, and how it is
spelled in an address, so that a cell of a heatmap, a link and a form mean the same rows. Conditions on the truth are
for evaluation only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, cast, get_args
from urllib.parse import parse_qsl, quote, unquote, urlencode

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from deem_core.answers import gold_rows
from deem_core.errors import InputError
from deem_core.files.tables import row_names
from deem_core.text import percent
from deem_core.typing import Codes, Labels, Mask, Posterior
from deem_core.votes import NO_VOTE, Votes

ColumnKind = Literal["fused", "majority", "truth", "vote", "label"]
FlagName = Literal["overruled", "tied", "review", "silent", "gold"]
Order = Literal["row", "least confident", "most confident", "most disputed"]

FLAG_WORDS: dict[FlagName, str] = {
    "overruled": "unanimous vote overruled",
    "tied": "majority vote tied",
    "review": "needs review",
    "silent": "no votes",
    "gold": "gold label known",
}


@dataclass(frozen=True)
class Column:
    """A column of labels.

    Attributes
    ----------
    kind : str
        "fused", "majority", "truth" (evaluation only), "vote" of a learner, or "label" by a method of a comparison.
    name : str
        Of the learner or method; empty for the others.
    """

    kind: ColumnKind
    name: str = ""

    @property
    def key(self) -> str:
        """How an address spells it: ``fused``, ``vote.ann``."""
        return f"{self.kind}.{self.name}" if self.name else self.kind

    @classmethod
    def of(cls, key: str) -> Column:
        """Inverse of `key`."""
        kind, _, name = key.partition(".")
        if kind not in get_args(ColumnKind) or bool(name) != (kind in ("vote", "label")):
            raise InputError(f"This link filters rows by {key!r}, which is not known. Open the page without it.")
        return cls(cast(ColumnKind, kind), name)

    @property
    def words(self) -> str:
        """What people call it."""
        named = {"fused": "fused label", "majority": "majority vote", "truth": "true label"}
        if self.kind != "label":
            return named.get(self.kind, self.name)
        from deem_core.methods.registry import METHODS  # noqa: PLC0415  # only comparisons have methods

        return METHODS[self.name].title if self.name in METHODS else self.name


FUSED, MAJORITY, TRUTH = Column("fused"), Column("majority"), Column("truth")


@dataclass(frozen=True, eq=False)
class RowTable:
    """Rows with everything that filters look at.

    Attributes
    ----------
    votes : Votes
        Their truth is looked at by conditions on the truth alone.
    fused : (n,) int32, optional
        Fused labels, -1 without votes; None before anything was fused.
    settled : (n,) int32, optional
        Majority vote with ties broken by the answer (`Answer.majority`).
    confidence : (n,) float, optional
        Of the fused label, NaN without votes.
    needs_review : (n,) bool, optional
    methods : mapping
        Name of a method → its labels, (n,), where a comparison kept them.
    texts : tuple of (n,) Arrow arrays
        Columns of the file beside the votes, for searches.
    """

    votes: Votes
    fused: Codes | None = None
    settled: Codes | None = None
    confidence: Posterior | None = None
    needs_review: Mask | None = None
    methods: Mapping[str, Codes] = field(default_factory=dict)
    texts: tuple[pa.ChunkedArray | pa.Array, ...] = ()

    @property
    def majority(self) -> Codes:
        """Majority vote, (n,).

        Before fusing, ties go to the first of the tied classes.
        """
        return self.votes.majority_vote.codes if self.settled is None else self.settled

    @cached_property
    def names(self) -> Labels:
        """Labels as text by code: classes, the truth's own, "" for -1."""
        return np.array([*map(str, self.votes.classes), *map(str, self.votes.truth_only), ""], object)

    @cached_property
    def _code_of(self) -> dict[str, int]:
        return {name: code for code, name in enumerate(self.names[:-1].tolist())}

    @cached_property
    def ids(self) -> pa.Array:
        """Names of the rows as text: the file's ids, else numbers from 1."""
        return row_names(self.votes)

    def column(self, column: Column) -> Codes:
        """Return the codes of a column, (n,); -1 for no label.

        Raises
        ------
        InputError
            If these rows have no such column.
        """
        found: Codes | None = None
        if column.kind == "vote":
            if column.name not in self.votes.learners:
                raise InputError(f"There is no learner {column.name!r} in this file.")
            found = self.votes.codes[:, self.votes.learners.index(column.name)]
        elif column.kind == "label":
            found = self.methods.get(column.name)
        else:
            found = {"fused": self.fused, "majority": self.majority, "truth": self.votes.truth}[column.kind]
        if found is None:
            raise InputError(_MISSING[column.kind])
        return found

    def code(self, label: str) -> int:
        """Return the code of a label.

        Raises
        ------
        InputError
            If no class is called that.
        """
        if label not in self._code_of:
            raise InputError(f"There is no class {label[:60]!r} in this file.")
        return self._code_of[label]


_MISSING = {
    "fused": "These rows have no fused labels yet. Fuse the votes first.",
    "truth": "No true labels are known for these rows.",
    "label": "The labels of this method are not there. Choose the comparison that made them.",
}


# ---------------------------------------------------------------------- conditions


@dataclass(frozen=True)
class Is:
    """A column holds a label; any label if that is empty."""

    column: Column
    label: str = ""

    @property
    def item(self) -> tuple[str, str]:
        """Key and value in an address."""
        return self.column.key, self.label

    @property
    def words(self) -> str:
        """The condition for people."""
        if self.column.kind == "vote":
            return f"{self.column.name} says {self.label}" if self.label else f"{self.column.name} votes"
        return f"{self.column.words} {self.label or 'known'}"

    def mask(self, rows: RowTable) -> Mask:
        """Return the rows for which it holds, (n,)."""
        codes = rows.column(self.column)
        return np.asarray(codes == rows.code(self.label) if self.label else codes != NO_VOTE)


@dataclass(frozen=True)
class Pair:
    """Two columns hold the same label, or two different ones.

    Rows in which one of them is empty are neither.
    """

    first: Column
    second: Column
    same: bool = False

    @property
    def item(self) -> tuple[str, str]:
        """Key and value in an address."""
        both = "|".join(quote(column.key, safe=". ") for column in (self.first, self.second))
        return "same" if self.same else "differ", both

    @property
    def words(self) -> str:
        """The condition for people."""
        if (self.first, self.second, self.same) == (FUSED, TRUTH, False):
            return "fused label is wrong"
        verb = ("same as" if self.same else "differs from") if self.first.kind in ("fused", "majority") else ""
        if verb:
            return f"{self.first.words} {verb} {self.second.words}"
        return f"{self.first.words} and {self.second.words} {'agree' if self.same else 'differ'}"

    def mask(self, rows: RowTable) -> Mask:
        """Return the rows for which it holds, (n,)."""
        one, other = rows.column(self.first), rows.column(self.second)
        both = (one != NO_VOTE) & (other != NO_VOTE)
        return np.asarray(both & ((one == other) == self.same))


@dataclass(frozen=True)
class Flag:
    """A row has a property of `FLAG_WORDS`."""

    name: FlagName

    @property
    def item(self) -> tuple[str, str]:
        """Key and value in an address."""
        return "only", self.name

    @property
    def words(self) -> str:
        """The condition for people."""
        return FLAG_WORDS[self.name]

    def mask(self, rows: RowTable) -> Mask:
        """Return the rows for which it holds, (n,)."""
        votes = rows.votes
        if self.name == "tied":
            return votes.majority_vote.tied
        if self.name == "silent":
            return np.asarray(votes.votes_per_row == 0)
        if self.name == "gold":
            return np.zeros(votes.n_rows, bool) if votes.gold is None else votes.gold.known
        if self.name == "review":
            if rows.needs_review is None:
                raise InputError(_MISSING["fused"])
            return rows.needs_review
        return votes.unanimous & Pair(FUSED, MAJORITY).mask(rows) & ~gold_rows.settled(votes)


@dataclass(frozen=True)
class Between:
    """The confidence of the fused label lies in a range, ends included."""

    low: float = 0.0
    high: float = 1.0

    @property
    def item(self) -> tuple[str, str]:
        """Key and value in an address."""
        return "confidence", f"{self.low:g}..{self.high:g}"

    @property
    def words(self) -> str:
        """The condition for people."""
        return f"confidence {percent(self.low)} to {percent(self.high)}"

    def mask(self, rows: RowTable) -> Mask:
        """Return the rows for which it holds, (n,)."""
        if rows.confidence is None:
            raise InputError(_MISSING["fused"])
        tiny = 1e-6  # stored confidence has seven digits, and a slider's end must not lose the rows that lie on it
        confidence = np.asarray(rows.confidence)
        voted = rows.votes.votes_per_row > 0
        return np.asarray(voted & (confidence >= self.low - tiny) & (confidence <= self.high + tiny))


@dataclass(frozen=True)
class Contains:
    """The id or a text of the row contains these words."""

    words_sought: str

    @property
    def item(self) -> tuple[str, str]:
        """Key and value in an address."""
        return "search", self.words_sought

    @property
    def words(self) -> str:
        """The condition for people."""
        return f"contains “{self.words_sought}”"

    def mask(self, rows: RowTable) -> Mask:
        """Return the rows for which it holds, (n,)."""
        found = np.zeros(rows.votes.n_rows, bool)
        for texts in (rows.ids, *rows.texts):
            hits = pc.fill_null(pc.match_substring(texts.cast(pa.string()), self.words_sought, ignore_case=True), False)
            found |= hits.to_numpy() if isinstance(hits, pa.ChunkedArray) else hits.to_numpy(zero_copy_only=False)
        return found


Condition = Is | Pair | Flag | Between | Contains


# ---------------------------------------------------------------------- filters


@dataclass(frozen=True)
class RowFilter:
    """Conditions that all hold; without any, all rows.

    Examples
    --------
    >>> wanted = RowFilter((Is(FUSED, "cat"), Is(Column("vote", "ann"), "dog")))
    >>> wanted.text
    'fused=cat&vote.ann=dog'
    >>> RowFilter.of(wanted.text) == wanted
    True
    """

    conditions: tuple[Condition, ...] = ()

    @property
    def text(self) -> str:
        """The filter as it stands in an address."""
        return urlencode([condition.item for condition in self.conditions], quote_via=quote, safe=" |.")

    @classmethod
    def of(cls, text: str) -> RowFilter:
        """Inverse of `text`.

        Raises
        ------
        InputError
            If it is no filter.
        """
        return cls(tuple(_condition(key, value) for key, value in parse_qsl(text, keep_blank_values=True)))

    def mask(self, rows: RowTable) -> Mask:
        """Return the rows for which all conditions hold, (n,).

        Raises
        ------
        InputError
            If a condition names a learner, class or column that is not there.
        """
        chosen = np.ones(rows.votes.n_rows, bool)
        for condition in self.conditions:
            chosen &= condition.mask(rows)
        return chosen

    def having(self, *conditions: Condition) -> RowFilter:
        """Return the filter with more conditions, each at most once."""
        return RowFilter(tuple(dict.fromkeys((*self.conditions, *conditions))))

    def without(self, *conditions: Condition) -> RowFilter:
        """Return the filter without some conditions."""
        return RowFilter(tuple(one for one in self.conditions if one not in conditions))

    @property
    def asks_truth(self) -> bool:
        """Whether a condition looks at the truth, which is for evaluation only."""
        columns = [getattr(one, name, None) for one in self.conditions for name in ("column", "first", "second")]
        return TRUTH in columns


def _condition(key: str, value: str) -> Condition:
    if key in ("same", "differ"):
        first, _, second = value.partition("|")
        return Pair(Column.of(unquote(first)), Column.of(unquote(second)), key == "same")
    if key == "only" and value in FLAG_WORDS:
        return Flag(value)
    if key == "search":
        return Contains(value)
    if key == "confidence":
        low, _, high = value.partition("..")
        try:
            ends = float(low), float(high)
        except ValueError:
            ends = math.nan, math.nan
        if not all(map(math.isfinite, ends)):
            raise InputError(f"This link asks for a confidence of {value!r}. Two numbers are needed, such as 0.2..0.5.")
        return Between(*ends)
    return Is(Column.of(key), value)


def ordered(rows: RowTable, mask: Mask, order: Order = "row") -> NDArray[np.intp]:
    """Return the positions of the rows of a mask, in an order.

    Rows without votes come last in every order but the file's; the file's order decides among equals.

    Parameters
    ----------
    rows : RowTable
    mask : (n,) bool
    order : "row", "least confident", "most confident" or "most disputed"
        The last by the share of a row's votes that the majority has, the smallest first.
    """
    chosen = np.flatnonzero(mask)
    if order == "row":
        return chosen
    silent = rows.votes.votes_per_row[chosen] == 0
    value: NDArray[Any]
    if order == "most disputed":
        value = rows.votes.majority_vote.support[chosen] / np.maximum(rows.votes.votes_per_row[chosen], 1)
    elif rows.confidence is None:
        raise InputError(_MISSING["fused"])
    else:
        value = np.asarray(rows.confidence)[chosen] * (1 if order == "least confident" else -1)
    return chosen[np.argsort(np.where(silent, np.inf, value), kind="stable")]
