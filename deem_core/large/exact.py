"""Exact fits beyond memory, by EM.

Expected counts are added up over parts. Each round reads the distinct rows of every part once, from the files in which
they are kept, and adds up what the next M-step needs, in the order of the parts: the numbers are the same on one
machine and on a cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass

from deem_core.control import NO_CONTROL, Control
from deem_core.engine import Engine, cores, engine_of
from deem_core.engine.contract import Crew
from deem_core.engine.sight import run_seeing
from deem_core.errors import InputError
from deem_core.large.patterns import Kept, KeptPart
from deem_core.methods import dawid_skene, em, fast_dawid_skene, one_coin
from deem_core.methods.contract import Aggregate
from deem_core.text import count
from deem_core.typing import Floats
from deem_core.votes import Votes
from deem_core.votes.patterns import Table

EXACT = ("ds", "fds", "hds", "onecoin")
"""Methods that can be fitted on parts."""

ROUND_SECONDS = 60e-9
"""Time of a round for each vote, on one core (benchmarks/bench_large.py --exact)."""

MOST_AT_ONCE = 8
"""Parts in memory at once on this machine, some 100 MB each."""

Summing = Callable[[Table, tuple[Floats, ...], bool], em.Expected]


@dataclass(frozen=True, eq=False)
class _Round:
    """What the pieces of a round share."""

    expected: Summing
    n_classes: int
    parameters: tuple[Floats, ...]
    harden: bool


def check_exact(method: str) -> None:
    """Refuse a method that cannot be fitted on parts."""
    if method not in EXACT:
        raise InputError(
            f"--exact fits {', '.join(EXACT[:-1])} or {EXACT[-1]} on all rows, and the method {method} is none of "
            "these. Leave it out, or name one of them with --method."
        )


class PartRows:
    """Rows in parts, as EM asks for them (`em.Rows`).

    Parameters
    ----------
    expected : function
        Sums over the rows of a part.
    kept : Kept
    n_classes : int
    crew : Crew
        Those who go through the parts.
    harden : bool
        Whether the first count is of the most probable classes alone.
    control : Control
        Asked after each part whether to go on.
    """

    def __init__(
        self, expected: Summing, kept: Kept, n_classes: int, crew: Crew, *, harden: bool, control: Control
    ) -> None:
        self.expected, self.kept, self.n_classes, self.crew, self.control = expected, kept, n_classes, crew, control
        self.rounds = 0
        self.found = self._pass((), harden)

    @property
    def n_rows(self) -> float:
        """Rows with votes."""
        return self.found.n_rows

    def count(self) -> tuple[Floats, ...]:
        """Return what the M-step needs."""
        return self.found.counts

    def expect(self, *parameters: Floats, harden: bool = False) -> float:
        """Go through all parts; see `em.Rows`."""
        self.rounds += 1
        self.found = self._pass(parameters, harden)
        return self.found.log_likelihood / max(self.n_rows, 1.0)

    def _pass(self, parameters: tuple[Floats, ...], harden: bool) -> em.Expected:
        """Add up all parts, in their order."""
        shared = _Round(self.expected, self.n_classes, parameters, harden)
        parts, waiting, total, following = self.kept.parts, dict[int, em.Expected](), None, 0
        found = run_seeing(
            self.crew,
            _sums,
            parts,
            shared,
            loaded=lambda part: part.loaded(),
            control=self.control,
            live=min(cores(), MOST_AT_ONCE),
        )
        for done, (part, sums) in enumerate(found, 1):
            waiting[part.at] = sums
            while following < len(parts) and parts[following].at in waiting:
                own = waiting.pop(parts[following].at)
                total, following = own if total is None else total + own, following + 1
            self.control.check()
            self.control.tell(f"Fitting, round {self.rounds}: {done:,} of {count(len(parts), 'part')}", 0.0)
        self.control.check()
        assert total is not None  # noqa: S101  # a file has one part at least
        return total


def _sums(shared: _Round, part: KeptPart, control: Control) -> Generator[None, None, em.Expected | None]:
    """Return the sums over a part."""
    yield from ()  # there is no news
    found = part.patterns()
    if found is None:
        return None
    return shared.expected(found.table(shared.n_classes), shared.parameters, shared.harden)


def fit_parts(
    votes: Votes, method: str, kept: Kept, *, control: Control = NO_CONTROL, on: str | Engine | None = None
) -> tuple[Aggregate, int]:
    """Fit a method on the rows of all parts.

    Returns its answer for some rows, whose rule is for any, and how many rounds were made.

    Parameters
    ----------
    votes : Votes
        Rows to answer for.
    method : str
        One of `EXACT`.
    kept : Kept
        Distinct rows of every part.
    control : Control
    on : str or Engine, optional
        Where parts are gone through.
    """
    hard = method == "fds"
    expected: Summing = one_coin.expected if method == "onecoin" else dawid_skene.expected
    with engine_of(on).crew() as crew:
        rows = PartRows(expected, kept, votes.n_classes, crew, harden=hard, control=control)
        if method == "onecoin":
            accuracy, pi, run, _ = one_coin.estimate(rows, control=control)
            return one_coin.answer_by(votes, accuracy, pi, run), rows.rounds
        if method == "ds":
            psi, pi, run, _ = dawid_skene.estimate(rows, control=control)
            return dawid_skene.answer_by(votes, psi, pi, run), rows.rounds
        until = float("inf") if hard else fast_dawid_skene.SWITCH
        psi, pi, run, _, hard_from = fast_dawid_skene.estimate(rows, control=control, soft_until=until)
        return fast_dawid_skene.answer_by(votes, psi, pi, run, hard_from), rows.rounds
