"""Judging: verdicts of judges, and answers they gave in both orders."""

from __future__ import annotations

import re
from collections.abc import Sequence

from deem_core.errors import InputError
from deem_core.readers.notes import Notebook
from deem_core.text import interval, listing, percent
from deem_core.votes import Votes
from deem_core.votes.orders import TIES, PositionBias, one_voice, positions, swapped
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


def read_orders(votes: Votes, notebook: Notebook, *, swap: bool) -> tuple[Votes, tuple[PositionBias, ...]]:
    """Return votes with judges asked in both orders as one voice each.

    Parameters
    ----------
    votes : Votes
    notebook : Notebook
        Takes what was found.
    swap : bool
        Whether labels in the order BA name what was shown first or second.

    Raises
    ------
    InputError
        If labels cannot be swapped, or a single judge is left.
    """
    made, biases = one_voice(swapped(votes) if swap else votes)
    if swap:
        notebook.add("changed", "In the order BA, A and B were swapped: labels there name what was shown first.")
    if not biases:
        return made, ()
    names = listing([f"{bias.judge!r} ({bias.ab!r}, {bias.ba!r})" for bias in biases], NAMED)
    notebook.add(
        "understood",
        f"Asked in both orders: {names}. Each is one voice, which votes where both of its answers agree or there is "
        "only one.",
        count=len(biases),
    )
    total = sum(bias.contradicted for bias in biases)
    notebook.add(
        "understood",
        f"Where the two answers of a judge contradict each other, it has no vote: {_figures(biases)}.",
        count=total,
    )
    both = sum(bias.both for bias in biases)
    if not swap and both >= FEWEST and total > MOSTLY * both and positions(votes.classes.tolist()) is not None:
        notebook.add(
            "warning",
            f"The answers in the two orders contradict each other on {percent(total / both)} of the rows. If A in the "
            "order BA means what was shown first, swap the answers there: --swap-ba, or under “Columns and reading”.",
        )
    if made.n_learners < 2:
        raise InputError(
            f"All votes are those of one judge, {biases[0].judge!r}, asked in both orders ({_figures(biases)}); fusing "
            "needs at least two. Add another judge."
        )
    return made, biases


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
