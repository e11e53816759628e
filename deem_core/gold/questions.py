"""Questions: which rows to label next, and what that would tell.

Below twenty gold rows, and in crowds, rows are drawn at random: nothing else gained anything there. In panels, from
twenty on, three of every five rows are drawn from those on which the candidates differ and two from all others, at
random within both, so that frequent patterns of votes come up as often as they weigh; estimates undo the difference
(`estimates.Design`). Every five rows are such a draw, the disputed ones first, so that whoever stops early loses
nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from deem_core.errors import InputError
from deem_core.files.plain import from_plain, to_plain
from deem_core.files.tables import id_texts
from deem_core.gold.estimates import LEVEL
from deem_core.gold.field import CAMPS, START, Field
from deem_core.gold.words import ADVISED
from deem_core.methods import registry
from deem_core.readers.gold import ANSWER, ASKED, ROW
from deem_core.text import count, listing, percent
from deem_core.typing import Integers
from deem_core.votes import NO_VOTE, Gold, Votes, as_gold
from deem_core.votes.intervals import wilson

BLOCK, DISPUTED_OF_BLOCK = 5, 3
"""Rows of a block, and how many of them are disputed ones."""
DISPUTED, CHECK = "disputed", "check"
"""Why a row is asked: candidates differ, or to see how often they are wrong together."""
CROWD_COVERAGE = 0.95
"""Share of the votes cast below which rows are drawn at random."""


@dataclass(frozen=True)
class Questions:
    """Rows to label next, in order.

    Attributes
    ----------
    rows : tuple of int
        Positions from 0.
    kinds : tuple of str
        "disputed" or "check" for each.
    reasons : tuple of str
        Why each row is asked.
    likeliest : tuple of (int, int)
        The two likeliest class codes of each row, -1 if there is no second.
    fair : bool
        Whether the rows are a fair draw of all rows, so that they need no weights.
    effect : str
        What labelling them would tell, in words.
    """

    rows: tuple[int, ...]
    kinds: tuple[str, ...]
    reasons: tuple[str, ...]
    likeliest: tuple[tuple[int, int], ...]
    fair: bool
    effect: str

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        plain: dict[str, Any] = to_plain(self)
        return plain

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Questions:
        """Inverse of `to_dict`; KeyError or TypeError for damage."""
        return from_plain(cls, values)

    def to_frame(self, votes: Votes) -> pd.DataFrame:
        """Return the queue with all votes and an empty answer column."""
        rows = np.array(self.rows, np.int64)
        names = np.array([*map(str, votes.classes.tolist()), ""], object)
        pairs = np.array(self.likeliest, np.int64).reshape(-1, 2)
        columns: dict[str, Any] = {ROW: rows + 1}
        if not isinstance(votes.ids, pd.RangeIndex):
            columns["id"] = pd.Series(id_texts(votes.ids[rows]).to_pylist(), dtype=object)
        columns |= {
            ANSWER: pd.Series([""] * len(rows), dtype=object),
            ASKED: pd.Series(["" if self.fair else kind for kind in self.kinds], dtype=object),
            "why": pd.Series(self.reasons, dtype=object),
            "likeliest": names[pairs[:, 0]],
            "second": names[pairs[:, 1]],
        }
        taken = set(columns)
        for j, learner in enumerate(votes.learners):
            columns[f"vote {learner}" if learner in taken else learner] = names[votes.codes[rows, j]]
        return pd.DataFrame(columns)

    def gold(self, labels: Sequence[Any], votes: Votes) -> Gold:
        """Return answers as gold that remembers how its rows were chosen.

        Parameters
        ----------
        labels : sequence
            A label for each of ``rows``, None where there is none.
        votes : Votes
        """
        if len(labels) != len(self):
            raise InputError(
                f"{len(labels):,} labels cannot answer {len(self):,} questions; give None for a row without one."
            )
        told = np.full(votes.n_rows, None, object)
        told[list(self.rows)] = list(labels)
        asked = np.zeros(votes.n_rows, bool)
        asked[list(self.rows)] = not self.fair
        return replace(as_gold(told, votes.ids, votes.classes), asked=asked)


def questions(field: Field, n: int, *, gold: Gold | None = None, rng: np.random.Generator) -> Questions:
    """Choose the next rows to label.

    Parameters
    ----------
    field : Field
    n : int
        How many; fewer if there are no more rows with votes.
    gold : Gold, optional
        Rows that have a label already.
    rng : Generator

    Raises
    ------
    InputError
        If n is below 1, or every row is labelled already.
    """
    if n < 1:
        raise InputError(f"{n} rows cannot be asked for; give 1 or more.")
    open_rows = field.voted.copy()
    if gold is not None:
        open_rows &= ~gold.known
    if not open_rows.any():
        raise InputError("Every row with votes has a gold label already; there is nothing to ask.")
    known = 0 if gold is None else gold.n_rows
    fair = field.votes.coverage < CROWD_COVERAGE or known + n < ADVISED or not field.disputed.any()
    free = rng.permutation(np.flatnonzero(open_rows))
    disputed = field.disputed[free]
    rows = free[:n] if fair else _blocks(free[disputed], free[~disputed], n)
    kinds = tuple(DISPUTED if field.disputed[row] else CHECK for row in rows)
    told = [_reason(field, int(row)) for row in rows]
    return Questions(
        rows=tuple(int(row) for row in rows),
        kinds=kinds,
        reasons=tuple(told),
        likeliest=tuple(_likeliest(field, int(row)) for row in rows),
        fair=bool(fair),
        effect=_effect(field, kinds, known),
    )


def _blocks(disputed: Integers, others: Integers, n: int) -> NDArray[np.intp]:
    """Return n rows in blocks of five, three of them disputed."""
    rows: list[int] = []
    first, second = list(disputed), list(others)
    while len(rows) < n and (first or second):
        block = [first.pop() for _ in range(min(DISPUTED_OF_BLOCK, len(first)))]
        block += [second.pop() for _ in range(min(BLOCK - len(block), len(second)))]
        block += [first.pop() for _ in range(min(BLOCK - len(block), len(first)))]
        rows += block
    return np.array(rows[:n], np.intp)


def _reason(field: Field, row: int) -> str:
    """Say why a row is asked."""
    classes = field.votes.classes
    said: dict[int, list[str]] = {}
    for name, codes in field.shared.items():
        if name not in CAMPS:
            title = field.title if name == START else registry.METHODS[name].title
            said.setdefault(int(codes[row]), []).append(title)
    camps = [int(codes[row]) for codes in field.camp_codes.values()]
    sides = ""
    if len(set(camps)) > 1:
        sides = f" The two sides of the panel differ: {classes[camps[0]]} against {classes[camps[1]]}."
    if len(said) == 1:
        only = next(iter(said))
        return sides.strip() or f"All methods say {classes[only]}: a check of how often they are all wrong."
    views = [f"{listing(dict.fromkeys(titles), 6)}: {classes[code]}" for code, titles in said.items()]
    return f"Methods differ. {'; '.join(views)}.{sides}"


def _likeliest(field: Field, row: int) -> tuple[int, int]:
    """Return the two classes that candidates, then learners, name most."""
    tally: Counter[int] = Counter()
    for codes in field.shared.values():
        tally[int(codes[row])] += field.votes.n_learners + 1  # candidates first
    for code in field.votes.codes[row].tolist():
        if code != NO_VOTE:
            tally[code] += 1
    start = int(field.start_codes[row])
    second = max((code for code in tally if code != start), key=lambda code: (tally[code], -code), default=NO_VOTE)
    return start, second


def _effect(field: Field, kinds: tuple[str, ...], known: int) -> str:
    """Say what the answers would tell."""
    n, disputed = len(kinds), sum(kind == DISPUTED for kind in kinds)
    share = int(field.disputed.sum()) / max(int(field.voted.sum()), 1)
    low, high = wilson(0.8, known + n, LEVEL)
    width = round(50 * float(high - low))
    lead = max(3, int(np.ceil(np.sqrt(max(disputed, 1)))))
    settle = "The learners of the two camps are then weighted by what they get right. " if field.split else ""
    switch = (
        f"{disputed} of the {n} rows are disputed: another method takes over if it wins at least {lead} more of "
        "them than it loses."
        if disputed >= 3
        else "They show how accurate the answer is, but hardly whether another one is better."
    )
    differ = f"The methods differ on {percent(share, careful=True)} of all rows."
    rows = count(known + n, "gold row")
    return (
        f"{differ} {settle}With {rows} the accuracy of the fused labels will be known to within about ±{width} points. "
        f"{switch}"
    )
