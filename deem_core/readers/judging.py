"""Judging: verdicts of judges, and answers they gave in both orders."""

from __future__ import annotations

import re
from collections.abc import Sequence

from deem_core.errors import InputError
from deem_core.readers.notes import Notebook
from deem_core.text import interval, listing, percent
from deem_core.votes import Votes
from deem_core.votes.orders import (
    TIES,
    Pair,
    PositionBias,
    one_voice,
    pairs_known_as_one,
    position_bias,
    positions,
    swapped,
)
from deem_core.votes.spelling import folded

FEWEST = 20
"""Rows answered in both orders from which a share is judged."""

MOSTLY = 0.5
"""Share of contradictions beyond which labels may name positions rather than answers."""

NAMED = 5
"""Judges that a note tells the figures of."""

_UNSURE = frozenset({"unsure", "maybe", "unclear", "unknown", "partly", "partially", "cannot tell", "can't tell"})
_JUDGES = re.compile(r"judge|rater|grader|evaluator|gpt|claude|gemini|llama|mistral|qwen|deepseek", re.IGNORECASE)
_RUBRIC = {str(mark) for mark in range(1, 6)}


def read_orders(
    votes: Votes, notebook: Notebook, *, swap: bool = False, merge: bool = False, known: Sequence[str] = ()
) -> tuple[Votes, tuple[PositionBias, ...]]:
    """Return votes and the bias of judges asked in both orders.

    Parameters
    ----------
    votes : Votes
    notebook : Notebook
        Takes what was found.
    swap : bool
        Whether labels in the order BA name what was shown first or second.
    merge : bool
        Whether the two answers of a judge are one vote, and none where they contradict each other.
    known : sequence of str
        Learners of the model that is to label the votes.

    Raises
    ------
    InputError
        If there is nothing to swap or merge, or a single judge is left.
    """
    votes = swapped(votes) if swap else votes
    biases = position_bias(votes)
    if swap:
        notebook.add("changed", "In the order BA, A and B were swapped: labels there name what was shown first.")
    if not biases:
        if merge:
            raise InputError(
                "No judge was asked in both orders (columns judge/ab and judge/ba), so there are no answers to make "
                "one vote of. Leave --one-voice out."
            )
        return votes, ()
    note_orders([Pair(bias.judge, bias.ab, bias.ba) for bias in biases], notebook, merge=merge, known=known)
    total = sum(bias.contradicted for bias in biases)
    notebook.add(
        "understood",
        f"The two answers of a judge contradict each other{', so it has no vote' if merge else ''}: "
        f"{_figures(biases)}.",
        count=total,
    )
    both = sum(bias.both for bias in biases)
    if not swap and both >= FEWEST and total > MOSTLY * both and positions(votes.classes.tolist()) is not None:
        notebook.add(
            "warning",
            f"The answers in the two orders contradict each other on {percent(total / both)} of the rows. If A in the "
            "order BA means what was shown first, swap the answers there: --swap-ba, or under “Columns and reading”.",
        )
    made = one_voice(votes) if merge else votes
    if made.n_learners < 2:
        raise InputError(
            f"All votes are those of one judge, {biases[0].judge!r}, asked in both orders ({_figures(biases)}); fusing "
            "needs at least two. Add another judge, or leave --one-voice out: then both answers count."
        )
    return made, biases


def note_orders(pairs: Sequence[Pair], notebook: Notebook, *, merge: bool = False, known: Sequence[str] = ()) -> None:
    """Note which judges were asked in both orders, and what counts."""
    names = listing([f"{pair.judge!r} ({pair.ab!r}, {pair.ba!r})" for pair in pairs], NAMED)
    names_known = [name for pair in pairs for name in (pair.ab, pair.ba)]
    merge = merge or len(pairs_known_as_one(names_known, known)) == len(pairs)
    done = (
        "The two answers of each are one vote where they agree or there is only one, and none where they contradict "
        "each other."
        if merge
        else "Both answers count as votes; --one-voice (or the box under “Columns and reading”) makes them one vote, "
        "and none where they contradict each other."
    )
    notebook.add("understood", f"Asked in both orders: {names}. {done}", count=len(pairs))


def _figures(biases: Sequence[PositionBias]) -> str:
    texts = []
    for bias in biases[:NAMED]:
        ends = f" (95% interval {interval(*bias.interval)})" if bias.both else ""
        leaning = bias.towards_first + bias.towards_second
        to_first = f", {bias.towards_first:,} of {leaning:,} towards the first" if leaning else ""
        texts.append(f"{bias.judge!r} on {percent(bias.share)} of {bias.both:,} rows{ends}{to_first}")
    more = "" if len(biases) <= NAMED else f"; and {len(biases) - NAMED} more"
    return "; ".join(texts) + more


def note_verdicts(votes: Votes, notebook: Notebook) -> None:
    """Note what kind of verdicts the labels are."""
    spelled = [str(label) for label in votes.classes.tolist()]
    keys = {folded(label) for label in spelled}
    pair, told = positions(spelled), listing(spelled)
    named = any(_JUDGES.search(name) for name in votes.learners)
    if pair is not None and keys - {folded(spelled[at]) for at in pair} <= TIES and (len(keys) > 2 or named):
        tie = "; a tie is a class like the others" if len(keys) > 2 else ""
        notebook.add("understood", f"The labels say which of two answers is better: {told}{tie}.")
    elif {"yes", "no"} <= keys and keys - {"yes", "no"} <= _UNSURE | TIES:
        notebook.add("understood", f"The labels answer a yes-or-no question: {told}.")
    elif named and len(keys) > 2 and keys <= _RUBRIC:
        notebook.add("understood", f"The labels are marks of a rubric, in the order of the numbers: {told}.")
