"""Labels: the rules that turn cells of text into classes.

Labels are text at heart. ``1``, ``1.0`` and ``" 1 "`` are one label, ``01`` and ``1`` are two, case is
kept. Every rule works on the distinct spellings of a column, never cell by cell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from deem_core.errors import InputError
from deem_core.typing import Codes
from deem_core.votes.arrays import chunks

if TYPE_CHECKING:  # which knows the rules here
    from deem_core.votes.label_map import LabelMap

MAX_CLASSES = 5_000
"""More classes than this are refused: it is an id or text column, not a label."""

MAX_SPELLINGS = 4 * MAX_CLASSES
"""A column with more distinct cells than this is not looked at as labels at all."""

_CHUNK = 1 << 14
_INTEGER = r"^\+?(-?(?:0|[1-9][0-9]*))(?:\.0*)?$"
_DECIMAL = r"^\+?(-?(?:0|[1-9][0-9]*)?\.[0-9]*[1-9])0*$"
_SCIENTIFIC = r"^[+-]?(?:0|[1-9][0-9]*)?(?:\.[0-9]*)?[eE][+-]?[0-9]{1,2}$"
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
_DIGITS = re.compile(r"[0-9]+")


@dataclass(frozen=True)
class MissingRule:
    """Which cells count as "no vote".

    Attributes
    ----------
    tokens : frozenset of str
        Canonical spellings that are missing, in lower case. The empty cell always is.
    minus_one : bool
        Whether ``-1`` is missing where the other labels are all non-negative integers or all words (see
        `minus_one_is_missing`; a file of -1 and +1 keeps its two classes).
    """

    tokens: frozenset[str]
    minus_one: bool

    @classmethod
    def of(cls, missing: MissingRule | Collection[str] | None) -> MissingRule:
        """Return a rule; None is the default, spellings are taken literally."""
        if missing is None:
            return DEFAULT
        if isinstance(missing, MissingRule):
            return missing
        if isinstance(missing, (str, int, float)):
            missing = [str(missing)]
        return cls(frozenset({"", *(canonical_text(str(token)).casefold() for token in missing)}), minus_one=False)

    def is_missing(self, key: str) -> bool:
        """Tell whether a canonical label is one of the tokens."""
        return key.casefold() in self.tokens


ABSTENTIONS = frozenset({"abstain", "abstained", "abstention", "no vote", "no_vote"})
"""Spellings by which a learner says that it does not vote; labelling rules write them."""

DEFAULT = MissingRule(frozenset({"", "na", "n/a", "nan", "null", "none", "?", "-"}) | ABSTENTIONS, minus_one=True)
"""Empty, NA, N/A, NaN, null, None, ?, - and `ABSTENTIONS` in any case, and -1 by its rule."""


def canonical(texts: pa.Array) -> pa.Array:
    """Return the key of each text: trimmed, numbers in shortest spelling.

    ``" 1 "``, ``1.0``, ``+1`` and ``1.000e+00`` become ``1``; ``01`` stays ``01`` because leading
    zeros are part of codes that only look like numbers.
    """
    texts = trim(texts)
    texts = pc.replace_substring_regex(texts, _INTEGER, r"\1")
    texts = pc.replace_substring_regex(texts, _DECIMAL, r"\1")
    texts = pc.replace_substring_regex(texts, r"^(-?)\.([0-9]+)$", r"\10.\2")  # RE2: \1, then a zero
    texts = pc.replace_substring_regex(texts, r"^-0$", "0")
    scientific = pc.match_substring_regex(texts, _SCIENTIFIC)
    if pc.any(scientific).as_py():
        spelled = [_plain(text) for text in texts.filter(scientific).to_pylist()]
        texts = pc.replace_with_mask(texts, scientific, pa.array(spelled, texts.type))
    return texts


def trim(texts: pa.Array) -> pa.Array:
    """Return texts without surrounding white space or byte order mark."""
    texts = pc.utf8_trim_whitespace(texts)
    if pc.any(pc.starts_with(texts, "\ufeff")).as_py():
        texts = pc.utf8_trim_whitespace(pc.utf8_ltrim(texts, "\ufeff"))
    return texts


def canonical_name(texts: pa.Array) -> pa.Array:
    """Return the key of each id or learner name, trimmed.

    ``1.0`` becomes ``1``.

    Names are less of a number than labels are: ``1.10`` and ``1e1`` are not respelled.
    """
    texts = trim(texts)
    if pc.any(pc.ends_with(texts, ".0")).as_py():
        texts = pc.replace_substring_regex(texts, r"^(-?(?:0|[1-9][0-9]*))\.0+$", r"\1")
    return texts


def _plain(scientific: str) -> str:
    """Spell a number in scientific notation without exponent.

    numpy.savetxt writes such labels.
    """
    try:
        value = Decimal(scientific)
    except ArithmeticError:  # "e5" has no digits: a word, not a number
        return scientific
    return format(value.normalize(), "f") if value else "0"


def canonical_text(text: str) -> str:
    """Return the key of one text; see `canonical`."""
    return str(canonical(pa.array([text], pa.string()))[0].as_py())


def natural_order(labels: Iterable[str]) -> list[str]:
    """Sort labels: numbers by value, then text by the alphabet."""
    return sorted(labels, key=_natural_key)


def _natural_key(label: str) -> tuple[int, Decimal, str, str]:
    if _NUMBER.fullmatch(label):
        return (0, Decimal(label), "", label)
    return (1, Decimal(0), label.casefold(), label)


def is_whole_number(key: str) -> bool:
    """Tell whether a label is a non-negative integer, leading zeros allowed."""
    return _DIGITS.fullmatch(key) is not None


def encode(texts: pa.ChunkedArray) -> pa.DictionaryArray:
    """Return a column of text as indices into its distinct cells."""
    texts = texts.unify_dictionaries() if pa.types.is_dictionary(texts.type) else texts.dictionary_encode()
    chunks = texts.chunks or [pa.array([], texts.type)]
    return pa.DictionaryArray.from_arrays(pa.concat_arrays([chunk.indices for chunk in chunks]), chunks[0].dictionary)


@dataclass(frozen=True)
class LabelColumn:
    """A column of text as indices into its distinct spellings.

    Attributes
    ----------
    name : str
    indices : (n,) int32
        Position of each cell in ``spellings``.
    spellings : tuple of str
        Distinct cells, trimmed of nothing yet; empty when there are more than `MAX_SPELLINGS`.
    keys : tuple of str
        Canonical label of each spelling.
    counts : (len(spellings),) int64
        Cells per spelling.
    n_spellings : int
        Distinct cells, also where they are too many to be listed.
    counted_on : bool
        Whether counting went on above `MAX_SPELLINGS`, so that ``n_spellings`` is exact.
    """

    name: str
    indices: Codes
    spellings: tuple[str, ...]
    keys: tuple[str, ...]
    counts: NDArray[np.int64]
    n_spellings: int
    counted_on: bool = True

    @classmethod
    def from_text(cls, name: str, texts: pa.ChunkedArray) -> LabelColumn:
        """Encode a column of text, dictionary-encoded or not."""
        encoded = encode(texts)
        indices = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
        dictionary = encoded.dictionary
        if len(dictionary) > MAX_SPELLINGS:
            return cls(name, indices, (), (), np.zeros(0, np.int64), len(dictionary))
        counts = np.bincount(indices, minlength=len(dictionary)).astype(np.int64)
        keys = tuple(canonical(dictionary).to_pylist())
        return cls(name, indices, tuple(dictionary.to_pylist()), keys, counts, len(dictionary))

    @classmethod
    def from_counts(cls, name: str, counts: Mapping[str, int] | None) -> LabelColumn:
        """Make a column without indices from its cells per spelling.

        ``counts`` are None where there were more than `MAX_SPELLINGS`.
        """
        nothing = np.empty(0, np.int32)
        if counts is None:
            return cls(name, nothing, (), (), np.zeros(0, np.int64), MAX_SPELLINGS + 1, counted_on=False)
        keys = tuple(canonical(pa.array(list(counts), pa.string())).to_pylist())
        return cls(name, nothing, tuple(counts), keys, np.array(list(counts.values()), np.int64), len(counts))

    @property
    def too_many(self) -> bool:
        """Whether the column has too many distinct cells to be labels."""
        return self.n_spellings > MAX_SPELLINGS

    @property
    def variety(self) -> str:
        """How many different cells there are, in words."""
        return f"{self.n_spellings:,}" if self.counted_on else f"more than {MAX_SPELLINGS:,}"

    def label_counts(self, rule: MissingRule) -> dict[str, int]:
        """Return cells per label; missing tokens left out, -1 still in."""
        counts: dict[str, int] = {}
        for key, count in zip(self.keys, self.counts, strict=True):
            if not rule.is_missing(key):
                counts[key] = counts.get(key, 0) + int(count)
        return counts

    def never_votes(self, rule: MissingRule) -> bool:
        """Tell whether no cell is a vote and some say so.

        An empty column may be anything; one that holds "ABSTAIN" is a learner.
        """
        return not self.label_counts(rule) and any(key.casefold() in ABSTENTIONS for key in self.keys)


def is_number(text: str) -> bool:
    """Tell whether a text is a number in any usual spelling."""
    return _NUMBER.fullmatch(text) is not None


@dataclass(frozen=True)
class Coding:
    """Label columns turned into class codes.

    Attributes
    ----------
    codes : (n, d) int32
        Class index of every vote, -1 where there is none.
    classes : tuple
        One value per class, text in its most frequent spelling, in natural order.
    keys : tuple of str
        Canonical label of each class.
    missing : dict
        Missing spelling → number of cells, ``-1`` among them when the rule took it as missing.
    merged : dict
        Class → its other spellings, where a label was spelled in several ways.
    minus_one_is_missing : bool
    """

    codes: Codes
    classes: tuple[Any, ...]
    keys: tuple[str, ...]
    missing: dict[str, int]
    merged: dict[str, tuple[str, ...]]
    minus_one_is_missing: bool

    @property
    def missing_minus_one(self) -> dict[str, int]:
        """The part of ``missing`` that the -1 rule accounts for."""
        if not self.minus_one_is_missing:
            return {}
        return {spelling: count for spelling, count in self.missing.items() if canonical_text(spelling) == "-1"}


def code_columns(
    columns: Sequence[LabelColumn],
    missing: MissingRule | Collection[str] = DEFAULT,
    extra: Sequence[str] = (),
    labels: LabelMap | None = None,
) -> Coding:
    """Code label columns over one shared set of classes.

    Parameters
    ----------
    columns : sequence of LabelColumn, all with n rows
    missing : MissingRule or spellings
    extra : sequence of str
        Labels that are classes even if no cell holds them (class names of soft columns).
    labels : LabelMap, optional
        By which the columns were mapped: it names its classes, and puts them first.
    """
    rule = MissingRule.of(missing)
    n = len(columns[0].indices) if columns else 0
    key_of = canonical_text if labels is None else labels.key
    spellings = _spellings_by_key(columns, extra, key_of)
    named = {key_of(label) for label in extra} - {""}  # a class that the header names is never "missing"
    missing_keys = {key for key in spellings if rule.is_missing(key) and key not in named}
    known = set(spellings) - missing_keys
    minus_one = rule.minus_one and "-1" not in named and minus_one_is_missing(known)
    if minus_one:
        known.discard("-1")
        missing_keys.add("-1")
    first = [] if labels is None else [key for key in labels.order if key in known]
    keys = (*first, *natural_order(known.difference(first)))
    if len(keys) > MAX_CLASSES:
        widest = max(columns, key=lambda column: len(set(column.keys)))
        raise InputError(
            f"The learners use {len(keys):,} different labels, more than the {MAX_CLASSES:,} that can be classes: "
            f"column {widest.name!r} alone has {len(set(widest.keys)):,}. It is probably an id or a text: leave it out."
        )
    lookups = [codes_of_spellings(column, keys) for column in columns]
    codes = np.empty((n, len(columns)), np.int32)
    for rows in chunks(n, _CHUNK):  # blocks of rows keep the strided writes in the cache
        for j, column in enumerate(columns):
            codes[rows, j] = lookups[j][column.indices[rows]]
    preferred = {key: (None if labels is None else labels.name(key)) or _preferred(spellings[key]) for key in keys}
    return Coding(
        codes=codes,
        classes=tuple(preferred[key] for key in keys),
        keys=keys,
        missing=_count_missing(columns, missing_keys),
        merged={
            preferred[key]: tuple(sorted(set(spellings[key]) - {preferred[key]}))
            for key in keys
            if set(spellings[key]) != {preferred[key]}
        },
        minus_one_is_missing=minus_one,
    )


def codes_of_spellings(column: LabelColumn, keys: Sequence[str]) -> Codes:
    """Return the class code of each spelling of a column.

    -1 for one that is no class.
    """
    index = {key: code for code, key in enumerate(keys)}
    return np.array([index.get(key, -1) for key in column.keys], np.int32)


def match_truth(
    truth: Coding, class_keys: Sequence[str], missing: MissingRule | Collection[str] = DEFAULT
) -> tuple[Codes, list[Any]]:
    """Return the codes of truth over the classes of the votes.

    The classes of the votes never depend on the truth: a label that only the truth knows gets a code
    from K on, and is returned.

    Returns
    -------
    codes : (n,) int32
    truth_only : list
    """
    lookup, only = truth_codes(truth, class_keys, missing)
    return lookup[truth.codes[:, 0]], only


def truth_codes(
    truth: Coding, class_keys: Sequence[str], missing: MissingRule | Collection[str] = DEFAULT
) -> tuple[Codes, list[Any]]:
    """Return the code of each true label, and last -1.

    Over the classes of the votes; see `match_truth`.
    """
    index = {key: code for code, key in enumerate(class_keys)}
    if MissingRule.of(missing).minus_one and "-1" not in index and _all_codes_or_all_words(index):
        index["-1"] = -1
    only = [code for code, key in enumerate(truth.keys) if key not in index]
    index.update({truth.keys[code]: len(class_keys) + j for j, code in enumerate(only)})
    lookup = np.array([*(index[key] for key in truth.keys), -1], np.int32)
    return lookup, [truth.classes[code] for code in only]


def _spellings_by_key(
    columns: Sequence[LabelColumn], extra: Sequence[str], key_of: Callable[[str], str]
) -> dict[str, dict[str, int]]:
    """Return key → trimmed spelling → number of cells."""
    spellings: dict[str, dict[str, int]] = {}
    for column in columns:
        for key, spelling, count in zip(column.keys, column.spellings, column.counts, strict=True):
            tally = spellings.setdefault(key, {})
            tally[spelling.strip()] = tally.get(spelling.strip(), 0) + int(count)
    for label in extra:
        spellings.setdefault(key_of(label), {}).setdefault(label.strip(), 0)
    return spellings


def minus_one_is_missing(labels: set[str]) -> bool:
    """Apply the rule for -1.

    It means "no vote" beside other labels that are all non-negative integers or all words. Beside 1 alone it is a
    class: many classifiers spell two classes as -1 and +1.
    """
    others = labels - {"-1"}
    return "-1" in labels and bool(others) and others != {"1"} and _all_codes_or_all_words(others)


def _all_codes_or_all_words(keys: Iterable[str]) -> bool:
    """Tell whether labels are all non-negative integers, or none a number."""
    return {kind_of(key) for key in keys} in ({"code"}, {"word"})


def kind_of(key: str) -> Literal["code", "word", "number"]:
    """Tell non-negative integers, words, and other numbers apart."""
    if is_whole_number(key):
        return "code"
    return "number" if is_number(key) else "word"


def _preferred(tally: dict[str, int]) -> str:
    """Return the most frequent spelling.

    Among equals the shortest, then the first by the alphabet.
    """
    return min(tally, key=lambda spelling: (-tally[spelling], len(spelling), spelling))


def _count_missing(columns: Sequence[LabelColumn], missing_keys: set[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for column in columns:
        for key, spelling, count in zip(column.keys, column.spellings, column.counts, strict=True):
            if key in missing_keys and count:
                counts[spelling.strip()] = counts.get(spelling.strip(), 0) + int(count)
    return counts
