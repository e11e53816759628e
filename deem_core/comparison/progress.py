"""Progress of a comparison: what is running, and what is done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from deem_core.comparison.piece import RunShare
from deem_core.comparison.result import MethodResult
from deem_core.control import Control, ProgressRecord
from deem_core.files.plain import to_plain
from deem_core.methods import registry
from deem_core.text import listing

_NAMED = 2  # methods at work that a step names


@dataclass(frozen=True)
class MethodProgress:
    """How far a comparison has come.

    Attributes
    ----------
    name, title : str
        The method at work.
    at, total : int
        Its place among all methods, from 0.
    seed, seeds : int
        Runs of it that are done, and runs planned.
    result : MethodResult, optional
        Once the method is done; scores come at the end of the comparison, after all labels exist.
    low, width : float
        Share of the whole before the method in their order, and its own, by expected times.
    share : float
        How much of the whole is done, by expected times and seeds.
    running : tuple of str
        Names of all methods at work; on a cluster they may be several.
    """

    kind: ClassVar[str] = "method"

    name: str
    title: str
    at: int
    total: int
    seed: int
    seeds: int
    result: MethodResult | None = None
    low: float = 0.0
    width: float = 1.0
    share: float = 0.0
    running: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        plain: dict[str, Any] = to_plain(self)
        return plain


Watcher = Callable[[MethodProgress], None]


@dataclass
class Line:
    """One method on the board.

    Attributes
    ----------
    item : Entry
    width : float
        Its share of the whole, by expected times.
    seeds : int
    shares : dict
        Number of a run → how far it is.
    running : set of int
        Runs that have begun and are not done.
    over : bool
        Whether no more of its runs are waited for.
    """

    item: registry.Entry
    width: float
    seeds: int
    shares: dict[int, float] = field(default_factory=dict)
    running: set[int] = field(default_factory=set)
    over: bool = False

    @property
    def share(self) -> float:
        """How much of it is done."""
        return 1.0 if self.over else sum(self.shares.values()) / self.seeds


class Board(Control):
    """Control of all runs of a comparison.

    It adds up what they tell, whichever of them work at the same time, and keeps no checkpoints of theirs.

    Parameters
    ----------
    whole : Control
    lines : sequence of Line
        In the order of the methods.
    watch : callable, optional
    """

    def __init__(self, whole: Control, lines: Sequence[Line], watch: Watcher | None) -> None:
        self.whole, self.watch = whole, watch
        self.lines = {line.item.name: line for line in lines}

    def stopped(self) -> bool:
        """Return whether to stop."""
        return self.whole.stopped()

    def note(self, sentence: str) -> None:
        """Pass on a sentence."""
        self.whole.note(sentence)

    def mishap(self, sentence: str) -> None:
        """Pass on a sentence."""
        self.whole.mishap(sentence)

    def tell(self, step: str, share: float, record: ProgressRecord | None = None) -> None:
        """Take how far a run is."""
        if isinstance(record, RunShare):
            self.lines[record.name].shares[record.number] = record.share
            self.whole.tell(self.words, self.share)

    def begun(self, name: str, number: int) -> None:
        """Tell that a run has begun, once where it is begun again."""
        line = self.lines[name]
        if line.over:  # it was on its way when the result was known
            return
        line.shares[number] = 0.0
        if number not in line.running:
            line.running.add(number)
            self._announce(line)

    def done(self, name: str, number: int) -> None:
        """Take that a run is done."""
        line = self.lines[name]
        line.running.discard(number)
        line.shares[number] = 1.0

    def over(self, result: MethodResult) -> None:
        """Tell a method's result."""
        line = self.lines[result.name]
        line.over = True
        line.running.clear()  # the rest is not waited for
        self._announce(line, result)

    @property
    def share(self) -> float:
        """How much of the whole is done."""
        return min(sum(line.width * line.share for line in self.lines.values()), 1.0)

    @property
    def running(self) -> tuple[str, ...]:
        """Names of the methods at work."""
        return tuple(name for name, line in self.lines.items() if line.running)

    @property
    def words(self) -> str:
        """What is running, for people."""
        titles = [self.lines[name].item.title for name in self.running]
        return f"Running {listing(titles, _NAMED)}" if titles else "Comparing"

    def _announce(self, line: Line, result: MethodResult | None = None) -> None:
        names = list(self.lines)
        at = names.index(line.item.name)
        done = sum(share == 1.0 for number, share in line.shares.items() if number not in line.running)
        progress = MethodProgress(
            *(line.item.name, line.item.title, at, len(names)),
            *(done if result is None else result.seeds, line.seeds),
            result=result,
            low=sum(self.lines[name].width for name in names[:at]),
            width=line.width,
            share=self.share,
            running=self.running,
        )
        if self.watch is not None:
            self.watch(progress)
        step = self.words if self.running else f"Running {line.item.title}"
        self.whole.tell(step, progress.share, progress)
