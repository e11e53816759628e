"""Spellings: labels that differ in writing only, and those that may.

`folded` makes one text of spellings that can be merged without asking: case, white space, hyphens and underscores
between words, full stops after a label, quotes around it, and Unicode's ways to write one letter. `loosely_folded` goes
further (accents, joined words, leading zeros): what it makes one may be two classes, so it is suggested and never done.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from deem_core.text import listing

_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")  # soft hyphens, zero widths, byte order marks
_DASHES = re.compile("[\u2010-\u2015\u2212]")
_QUOTED = re.compile(r"""(["'`“”‘’«»„]+|\*{1,2}|_{1,2})(?=\w)(.*\w[.,;:!]*)["'`“”‘’«»„*_]+""", re.DOTALL)
_STOPPED = re.compile(r"(.*[^\W\d_])[.,;:!]+", re.DOTALL)
_JOINED = re.compile(r"(?<=\w)[\s_-]+(?=\w)")
_NOT_WORD = re.compile(r"[\W_]+")
_ZEROS = re.compile(r"^0+(?=[0-9])")

SHOWN = 4
"""Groups of spellings that a sentence lists."""


@lru_cache(maxsize=1 << 16)
def folded(text: str) -> str:
    """Return what all spellings of a label that are safely one share.

    Signs that carry meaning stay: ``-1``, ``A-``, ``C++``, ``spam?`` and ``!spam`` are labels of their own, and so are
    ``01`` and ``1``, ``café`` and ``cafe``.

    Examples
    --------
    >>> [folded(text) for text in ("SPAM", " Not_Spam ", "not-spam", "'spam.'", "A-", "-1")]
    ['spam', 'not spam', 'not spam', 'spam', 'a-', '-1']
    """
    text = _UNSEEN.sub("", unicodedata.normalize("NFKC", text)).strip()
    text = _DASHES.sub("-", text)
    while True:
        bare = text
        if found := _QUOTED.fullmatch(bare):
            bare = found.group(2)
        if found := _STOPPED.fullmatch(bare):
            bare = found.group(1)
        bare = bare.strip()
        if bare == text:
            break
        text = bare
    text = " ".join(_JOINED.sub(" ", text).split())
    return unicodedata.normalize("NFKC", text.lower())  # not casefold: Maße and Masse are two words


def loosely_folded(text: str) -> str:
    """Return what spellings share that may be one label."""
    letters = unicodedata.normalize("NFKD", folded(text))
    letters = "".join(letter for letter in letters if not unicodedata.combining(letter)).casefold()
    if not any(letter.isalpha() for letter in letters):
        return _ZEROS.sub("", letters, count=1) if letters.isdecimal() else letters
    return _NOT_WORD.sub("", letters)


@dataclass(frozen=True)
class Alike:
    """Labels that look like one.

    Attributes
    ----------
    name : str
        The commonest of them.
    labels : tuple of str
        All of them, the commonest first.
    """

    name: str
    labels: tuple[str, ...]


def alike(votes: Mapping[str, int], fold: Callable[[str], str] = folded) -> list[Alike]:
    """Return groups of labels that are the same after folding.

    Parameters
    ----------
    votes : mapping
        Label → votes for it.
    fold : callable
        `folded` or `loosely_folded`.

    Returns
    -------
    list of Alike
        Those with two labels or more, the group with most votes first.
    """
    groups: dict[str, list[str]] = {}
    for label in votes:
        groups.setdefault(fold(label), []).append(label)
    found = [tuple(sorted(group, key=lambda label: rank(label, votes))) for group in groups.values() if len(group) > 1]
    found.sort(key=lambda group: -sum(votes[label] for label in group))
    return [Alike(group[0], group) for group in found]


def rank(label: str, votes: Mapping[str, int]) -> tuple[int, int, str]:
    """Return where a spelling stands: the commonest, shortest, first one."""
    return (-votes[label], len(label), label)


def n_spellings(groups: Iterable[Alike]) -> int:
    """Return how many labels the groups have together."""
    return sum(len(group.labels) for group in groups)


def headline(groups: Sequence[Alike], labels: Collection[str]) -> str:
    """Return "12 spellings look like 4 classes"."""
    beside = "" if n_spellings(groups) == len(labels) else f" (of {len(labels):,} labels)"
    one = "one class" if len(groups) == 1 else f"{len(groups):,} classes"
    return f"{n_spellings(groups):,} spellings look like {one}{beside}"


def examples(groups: Sequence[Alike]) -> str:
    """Return the first groups: "spam, Spam and SPAM"."""
    texts = [listing([repr(label) for label in group.labels], 5, rest="more") for group in groups[:SHOWN]]
    more = f"; and {len(groups) - SHOWN:,} more" if len(groups) > SHOWN else ""
    return "; ".join(texts) + more
