"""Orders: a judge asked twice, with two answers shown in both orders.

Columns ``judge/ab`` and ``judge/ba`` are one judge. How often its two answers contradict each other is its position
bias. They stay two votes unless they are to be one: then their vote is what they agree on, and where they contradict
each other there is none, since no opinion is not the opinion that the answers are equally good.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deem_core.errors import InputError
from deem_core.text import quoted
from deem_core.typing import Codes
from deem_core.votes.arrays import NO_VOTE
from deem_core.votes.checks import hard_codes
from deem_core.votes.intervals import exact
from deem_core.votes.spelling import folded
from deem_core.votes.table import Votes

POSITIONS = (
    *(("a", "b"), ("1", "2"), ("first", "second"), ("left", "right"), ("one", "two")),
    *(
        (f"{word}{sign}{one}", f"{word}{sign}{two}")
        for word in ("answer", "assistant", "model", "option", "response", "output")
        for sign in (" ", "_", "-", "")
        for one, two in (("a", "b"), ("1", "2"))
    ),
)
"""Pairs of labels, folded, for the two answers that are compared."""

TIES = frozenset({"tie", "tied", "draw", "equal", "same", "both", "neither", "c", "tie (bothbad)", "tie bothbad"})
"""Labels that prefer neither answer, folded."""

_ORDER = re.compile(r"(?P<judge>.*?\S)\s*(?:[/|:._\-]|\s|(?=[(\[]))\s*[(\[]?(?P<order>ab|ba)[)\]]?\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Pair:
    """A judge and the names of its two answers.

    Attributes
    ----------
    judge : str
    ab, ba : str
        The learner that saw A first, and the one that saw B first.
    """

    judge: str
    ab: str
    ba: str


@dataclass(frozen=True)
class PositionBias:
    """How far the order of two answers decides what a judge says.

    Attributes
    ----------
    judge, ab, ba : str
    both : int
        Rows with an answer in both orders.
    contradicted : int
        Rows among them on which the two answers differ.
    towards_first, towards_second : int
        Rows among those on which both lean to what was shown first, or second; 0 where labels name no position.
    single : int
        Rows with an answer in one order only.
    """

    judge: str
    ab: str
    ba: str
    both: int
    contradicted: int
    towards_first: int
    towards_second: int
    single: int

    @property
    def share(self) -> float:
        """Share of the rows on which the two answers differ."""
        return self.contradicted / self.both if self.both else float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        """95% interval of the share."""
        low, high = exact(self.contradicted, self.both)
        return float(low), float(high)

    @property
    def first_share(self) -> float:
        """Share of the contradictions that lean to what was shown first."""
        leaning = self.towards_first + self.towards_second
        return self.towards_first / leaning if leaning else float("nan")

    @property
    def first_interval(self) -> tuple[float, float]:
        """95% interval of that share."""
        low, high = exact(self.towards_first, self.towards_first + self.towards_second)
        return float(low), float(high)

    @property
    def direction(self) -> str:
        """What the contradictions lean to: "first", "second" or "neither".

        The latter unless the interval excludes one half.
        """
        low, high = self.first_interval
        return "first" if low > 0.5 else "second" if high < 0.5 else "neither"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; shares that rest on nothing are None."""
        known = {name: getattr(self, name) for name in ("judge", "ab", "ba", "both", "contradicted")}
        known |= {name: getattr(self, name) for name in ("towards_first", "towards_second", "single")}
        shares = {"share": self.share, "low": self.interval[0], "high": self.interval[1]}
        shares |= {"first_share": self.first_share, "first_low": self.first_interval[0]}
        shares |= {"first_high": self.first_interval[1]}
        return known | {name: _known(share) for name, share in shares.items()} | {"direction": self.direction}


def _known(share: float) -> float | None:
    return None if np.isnan(share) else share


def find_pairs(names: Iterable[str]) -> tuple[Pair, ...]:
    """Return the judges that have an answer for both orders."""
    found: dict[str, dict[str, str]] = {}
    everything = list(names)
    for name in everything:
        match = _ORDER.fullmatch(name)
        if match is not None:
            found.setdefault(match["judge"], {}).setdefault(match["order"].casefold(), name)
    return tuple(
        Pair(judge, both["ab"], both["ba"])
        for judge, both in found.items()
        if len(both) == 2 and judge not in everything
    )


def spread(wished: Collection[str], names: Sequence[str]) -> list[str]:
    """Return names, those of judges as the names of their answers."""
    answers = {pair.judge: (pair.ab, pair.ba) for pair in find_pairs(names)}
    return [each for name in wished for each in (answers.get(name, (name,)) if name not in names else (name,))]


def spread_wishes(
    learners: Sequence[str] | None, ignore: Sequence[str], names: Sequence[str]
) -> tuple[Sequence[str] | None, list[str]]:
    """Return learners and names to ignore, with judges as their answers.

    A judge that is ignored takes its answers along.
    """
    ignored = spread(ignore, names)
    if learners is None:
        return None, ignored
    gone = set(ignored) - set(ignore)
    return [name for name in spread(learners, names) if name not in gone], ignored


def positions(classes: Iterable[Any]) -> tuple[int, int] | None:
    """Return the codes of the classes for two answers."""
    keys = [folded(str(label)) for label in classes]
    return next(((keys.index(one), keys.index(two)) for one, two in POSITIONS if one in keys and two in keys), None)


def swapped(votes: Votes) -> Votes:
    """Return votes whose labels in the order BA name answers, not positions.

    Raises
    ------
    InputError
        If no learner was asked in that order, or the labels name no positions.
    """
    turned = [j for j, name in enumerate(votes.learners) if _is_ba(name)]
    if not turned:
        raise InputError("No column is named as asked in the order BA (judge/ba), so there is nothing to swap.")
    pair = positions(votes.classes.tolist())
    if pair is None:
        raise InputError(
            "Labels can be swapped if two of them name the answers, such as A and B; they are "
            f"{quoted(map(str, votes.classes))}."
        )
    new = np.arange(votes.n_classes + 1, dtype=np.int32)
    new[-1], new[pair[0]], new[pair[1]] = NO_VOTE, pair[1], pair[0]
    codes = votes.codes.copy()
    codes[:, turned] = new[codes[:, turned]]
    soft = None if votes.soft is None else votes.soft.copy()
    if soft is not None:
        for j in turned:
            soft[:, j] = soft[:, j][:, new[:-1]]
    return replace(votes, codes=codes, soft=soft)


def position_bias(votes: Votes) -> tuple[PositionBias, ...]:
    """Return the bias of each judge that was asked in both orders."""
    place = {name: j for j, name in enumerate(votes.learners)}
    answers = positions(votes.classes.tolist())
    return tuple(
        _bias(pair, votes.codes[:, place[pair.ab]], votes.codes[:, place[pair.ba]], answers)
        for pair in find_pairs(votes.learners)
    )


def one_voice(votes: Votes) -> Votes:
    """Return votes with the two answers of a judge as one learner."""
    pairs = find_pairs(votes.learners)
    if not pairs:
        return votes
    place = {name: j for j, name in enumerate(votes.learners)}
    judge_of = {pair.ab: pair for pair in pairs}
    dropped = {pair.ba for pair in pairs}
    codes, learners, soft = votes.codes.copy(), [], None if votes.soft is None else votes.soft.copy()
    for name in votes.learners:
        pair = judge_of.get(name)
        learners.append(pair.judge if pair is not None else name)
        if pair is not None:
            ab, ba = place[pair.ab], place[pair.ba]
            if soft is not None:
                soft[:, ab] = _together(votes.codes[:, ab], votes.codes[:, ba], votes.soft[:, ab], votes.soft[:, ba])  # type: ignore[index]
            codes[:, ab] = _agreed(votes.codes[:, ab], votes.codes[:, ba])
    kept = [j for j, name in enumerate(votes.learners) if name not in dropped]
    names = tuple(learners[j] for j in kept)
    if soft is not None:
        soft = soft[:, kept]
        return replace(votes, codes=hard_codes(soft), learners=names, soft=soft)
    return replace(votes, codes=codes[:, kept], learners=names)


def _agreed(ab: Codes, ba: Codes) -> Codes:
    """Return the vote of two answers, (n,)."""
    vote: Codes = np.where(ab == NO_VOTE, ba, np.where((ba == NO_VOTE) | (ab == ba), ab, NO_VOTE)).astype(np.int32)
    return vote


def _together(ab: Codes, ba: Codes, one: NDArray[np.float32], two: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the probabilities of two answers, (n, K): their mean where they agree."""
    mean = (one + two) / np.maximum((ab != NO_VOTE).astype(np.float32) + (ba != NO_VOTE), 1)[:, None]
    made: NDArray[np.float32] = np.where((_agreed(ab, ba) == NO_VOTE)[:, None], 0, mean).astype(np.float32)
    return made


def _bias(pair: Pair, ab: Codes, ba: Codes, answers: tuple[int, int] | None) -> PositionBias:
    both = (ab != NO_VOTE) & (ba != NO_VOTE)
    differ = both & (ab != ba)
    leaning = np.zeros(len(ab), np.int64)
    if answers is not None:
        a, b = answers  # A is shown first in the order AB, B in the order BA
        leaning = np.where(differ, _towards(ab, a, b) - _towards(ba, a, b), 0)
    return PositionBias(
        pair.judge,
        pair.ab,
        pair.ba,
        int(both.sum()),
        int(differ.sum()),
        int((leaning > 0).sum()),
        int((leaning < 0).sum()),
        int(((ab != NO_VOTE) ^ (ba != NO_VOTE)).sum()),
    )


def _towards(codes: Codes, a: int, b: int) -> NDArray[np.int64]:
    """Return 1 for A, -1 for B, and 0 for neither, (n,)."""
    towards: NDArray[np.int64] = (codes == a).astype(np.int64) - (codes == b)
    return towards


def _is_ba(name: str) -> bool:
    match = _ORDER.fullmatch(name)
    return match is not None and match["order"].casefold() == "ba"
