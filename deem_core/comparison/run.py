"""Comparison of methods on the same votes.

Labels come first, without the truth; scores after, where there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deem_core.answers.alarms import file_alarms, file_health
from deem_core.answers.answer import Answer
from deem_core.comparison.cost import Size, expected_seconds
from deem_core.comparison.dependence import measure
from deem_core.comparison.piece import Kept, Outcome, Piece, Shared, run_method
from deem_core.comparison.progress import Board, Line, Watcher
from deem_core.comparison.result import Comparison, MethodResult
from deem_core.comparison.scoring import evaluate, summarise
from deem_core.control import Control
from deem_core.engine import Crew, Engine, Told, engine_of
from deem_core.errors import InputError, missing_torch
from deem_core.methods import registry
from deem_core.methods.registry import BUDGET
from deem_core.model.devices import expected_device, pick_device
from deem_core.typing import Codes
from deem_core.votes import Votes
from deem_core.votes.checks import check_seed
from deem_core.votes.label_sets import refuse_sets
from deem_core.votes.recode import as_votes

Keeper = Callable[[str, Answer], None]


def compare(
    votes: Any,
    methods: str | Sequence[str] = "all",
    seeds: int = 5,
    *,
    expert_classes: Iterable[Any] | None = None,
    budget: float | None = BUDGET,
    random_state: int = 0,
    device: str = "auto",
    watch: Watcher | None = None,
    keep: Keeper | None = None,
    probabilities: bool = True,
    control: Control | None = None,
    on: str | Engine | None = None,
) -> Comparison:
    """Run methods on the same votes and compare their labels.

    Parameters
    ----------
    votes : Votes, frame or array
        As in `DEEM.fit`. Their truth is used for scoring only, after all labels exist.
    methods : "all", or names of the registry
        A method that cannot run is listed with a note and without numbers.
    seeds : int
        Runs of each stochastic method; their mean and spread are told.
    expert_classes : labels, optional
        Accuracy is also told on the rows of these true classes and on the rest.
    budget : float, optional
        Seconds for each method. One that iterates ends where it stands, others run in fewer seeds; DEEM, soft DEEM
        and the contrastive iRBM always finish their first run. None is no limit.
    random_state : int
        Same number, same labels (unless the budget cuts).
    device : str
        Where DEEM, soft DEEM and the contrastive iRBM train; see `deem_core.devices`. On a cluster "auto" is the
        processor, and a GPU by its name gives each run a share of one.
    watch : callable, optional
        Called with a `MethodProgress` before and after each run, and with the result of each method.
    keep : callable, optional
        Called with the name of each method that ran and the `Answer` of its first run, the one whose labels are told,
        in the order of the methods; it is not held any longer.
    probabilities : bool
        Whether these answers have probabilities. Without them they take 20 bytes a row (`LabelsOnly`).
    control : Control, optional
        Asked whether to stop between methods, seeds and iterations, and told the same `MethodProgress`. If it keeps
        checkpoints, runs that are done are not done again.
    on : str or Engine, optional
        Where to run: "local", "ray" or "ray://HOST:PORT"; $DEEM_ENGINE by default, else here. Here runs come one
        after the other, on a cluster side by side. The labels are the same; seconds are those of the machines.

    Raises
    ------
    InputError
        If a method, an expert class, the device or the engine is not known, or a number makes no sense.
    Stopped
        If ``control`` says so.

    Examples
    --------
    >>> from deem_core import compare, simulate
    >>> comparison = compare(simulate("condind", 200, seed=0).votes, ["mv", "ds"])
    >>> sorted(method.name for method in comparison.methods if method.accuracy > 0.5)
    ['ds', 'mv']
    """
    check_seed(random_state)
    votes = as_votes(votes)
    refuse_sets(votes, "a comparison")
    chosen = _chosen(methods)
    if seeds < 1:
        raise InputError(f"seeds is {seeds}; it must be at least 1.")
    if budget is not None and not budget > 0:
        raise InputError(f"The budget is {budget} seconds; it must be more than 0.")
    experts = _expert_codes(votes, expert_classes)
    engine, control = engine_of(on), control or Control()
    kept: Kept = "codes" if keep is None else "probabilities" if probabilities else "labels"
    bare = votes.without_truth()
    shared = Shared(
        votes=bare,
        health=file_health(bare),
        budget=np.inf if budget is None else budget,
        device=_device(device, chosen, engine),
        kept=kept,
    )
    board = Board(control, _lines(shared, chosen, seeds), watch)
    plan = _Plan(shared, board, random_state, control=control, keep=keep)
    plan.restore()
    gpu = engine.remote and shared.device != "cpu" and any(item.on_gpu for item in chosen)
    with engine.crew(gpu=gpu) as crew:
        plan.carry_out(crew, longest_first=engine.remote)
    results = [summarise(one, plan.labels[one.name], bare) if one.ran else one for one in plan.results]
    found = evaluate(votes, results, plan.labels, experts, budget=budget, random_state=random_state)
    dependence = measure(votes, shared.health, np.random.default_rng(random_state))
    return replace(found, alarms=file_alarms(bare, shared.health), dependence=dependence, on_cluster=engine.remote)


def _device(wish: str, chosen: Sequence[registry.Entry], engine: Engine) -> str:
    """Return where models train.

    A name that makes no sense is refused before any work is done.
    """
    if any(item.on_gpu for item in chosen):
        if engine.remote or missing_torch():  # which each of them says in its place
            expected_device(wish)
        else:
            pick_device(wish)
    return "cpu" if engine.remote and wish == "auto" else wish


def _lines(shared: Shared, chosen: Sequence[registry.Entry], seeds: int) -> list[Line]:
    """Return a line of the board for each method.

    It is as wide as the time that the method is expected to take.
    """
    size, budget = Size.of(shared.votes), None if np.isinf(shared.budget) else shared.budget
    times = [expected_seconds(item.name, size, seeds=seeds, budget=budget) for item in chosen]
    return [
        Line(item, seconds / sum(times), seeds if item.stochastic else 1)
        for item, seconds in zip(chosen, times, strict=True)
    ]


@dataclass(frozen=True)
class _Accepted:
    """What counts of a method's runs.

    Attributes
    ----------
    runs : list of Outcome
    trouble : str
        Of the run after them.
    spent : float
        Seconds that they took.
    settled : bool
        Whether no other run can change this any more.
    """

    runs: list[Outcome]
    trouble: str
    spent: float
    settled: bool

    @classmethod
    def of(cls, outcomes: Mapping[int, Outcome], seeds: int, budget: float) -> _Accepted:
        """Accept runs in the order of their seeds while they fit.

        They must fit into the budget, whichever was done first. A run that probably would not fit is not begun, so it
        does not count either; the first one always does, and one that was cut short only if there is no other.
        """
        runs: list[Outcome] = []
        spent, trouble, settled = 0.0, "", True
        for number in range(seeds):
            if runs and spent + max(run.seconds for run in runs) > budget:
                break
            run = outcomes.get(number)
            if run is None:
                settled = False
                break
            if not run.ran:
                trouble = run.trouble
                break
            if runs and (run.cut or spent + run.seconds > budget):
                break
            runs.append(run)
            spent += run.seconds
            if run.cut:
                break
        return cls(runs, trouble, spent, settled)


class _Plan:
    """All runs of a comparison, and what has come of them.

    Parameters
    ----------
    shared : Shared
    board : Board
    random_state : int
    control : Control
        Keeper of the runs that are done.
    keep : callable, optional

    Attributes
    ----------
    labels : dict
        Method → (S, n) class codes of its runs, in the order of the methods.
    """

    def __init__(
        self, shared: Shared, board: Board, random_state: int, *, control: Control, keep: Keeper | None
    ) -> None:
        self.shared, self.board, self.random_state = shared, board, random_state
        self.control, self.keep = control, keep
        self.lines = board.lines
        self.outcomes: dict[str, dict[int, Outcome]] = {name: {} for name in self.lines}
        self.made: dict[str, MethodResult] = {}
        self.labels: dict[str, Codes] = {}
        self.waiting = list(self.lines)  # methods whose answers are not handed over yet

    @property
    def results(self) -> list[MethodResult]:
        """What came of each method, without scores, in their order."""
        return [self.made[name] for name in self.lines]

    def restore(self) -> None:
        """Take the runs that an earlier attempt has kept."""
        for piece in self._pieces() if self.control.keeps else ():
            outcome = Outcome.from_saved(self.control.load(piece.key), self.shared, piece)
            if outcome is not None:
                self._arrived(piece, outcome)

    def carry_out(self, crew: Crew, *, longest_first: bool) -> None:
        """Do all runs that are wanted.

        Where they come side by side, nobody should wait for a long one that was begun last.
        """
        pieces = list(self._pieces())
        if longest_first:
            pieces.sort(key=lambda piece: -self.lines[piece.name].width / self.lines[piece.name].seeds)
        arrivals = crew.run(
            run_method,
            (replace(piece, left=self._left(piece)) for piece in pieces),  # what is left is known when its turn comes
            self.shared,
            control=self.board,
            live=1,
            wanted=lambda at: self._is_wanted(pieces[at]),
        )
        for arrival in arrivals:
            piece = pieces[arrival.at]
            if isinstance(arrival, Told):
                self.board.begun(piece.name, piece.number)
            elif arrival.value is not None:
                if arrival.value.lasting and self.control.keeps:
                    self.control.save(piece.key, arrival.value.to_saved(self.shared, piece))
                self._arrived(piece, arrival.value)
            del arrival  # the next method needs the memory
            self.control.check()
        self.control.check()

    def _pieces(self) -> Iterator[Piece]:
        for name, line in self.lines.items():
            yield from (Piece(name, number, self.random_state) for number in range(line.seeds))

    def _is_wanted(self, piece: Piece) -> bool:
        return piece.name not in self.made and piece.number not in self.outcomes[piece.name]

    def _left(self, piece: Piece) -> float:
        """Return the seconds that a run may take.

        Of the budget what the runs before it have left, as far as they are done: one that takes longer would not count
        in any case.
        """
        first_is_whole = piece.number == 0 and self.lines[piece.name].item.whole
        return np.inf if first_is_whole else self.shared.budget - self._accepted(piece.name).spent

    def _accepted(self, name: str) -> _Accepted:
        return _Accepted.of(self.outcomes[name], self.lines[name].seeds, self.shared.budget)

    def _arrived(self, piece: Piece, outcome: Outcome) -> None:
        """Take what came of a run.

        Tell the method's result if no other run is waited for.
        """
        name = piece.name
        if name in self.made:  # it came too late to count
            return
        self.outcomes[name][piece.number] = outcome
        self.board.done(name, piece.number)
        accepted = self._accepted(name)
        if not accepted.settled:
            return
        self.made[name] = result_of(self.lines[name].item, accepted, self.lines[name].seeds, self.shared.budget)
        self.board.over(self.made[name])
        self._hand_over()

    def _hand_over(self) -> None:
        """Hand over the answers of methods that are done, in their order."""
        while self.waiting and self.waiting[0] in self.made:
            name = self.waiting.pop(0)
            runs = self._accepted(name).runs
            if runs:
                self.labels[name] = np.stack([run.codes for run in runs])  # (S, n)
                if self.keep is not None:
                    self.keep(name, runs[0].answer(self.shared.votes, name))
            self.outcomes[name] = {}


def result_of(item: registry.Entry, accepted: _Accepted, seeds: int, budget: float) -> MethodResult:
    """Return the result of a method's runs, without scores."""
    blank = MethodResult(name=item.name, title=item.title, stochastic=item.stochastic)
    runs = accepted.runs
    if not runs:
        return replace(blank, note=accepted.trouble)
    first = runs[0]
    notes = list(first.notes)
    if len(runs) < seeds:
        notes.append(f"{len(runs)} of {seeds} seeds within {budget:g} s. {accepted.trouble}".rstrip())
    if first.seconds > budget and not first.cut:
        notes.append(f"A run takes longer than the budget of {budget:g} s; the first one was finished.")
    return replace(
        blank,
        seeds=len(runs),
        seconds=float(np.mean([run.seconds for run in runs])),
        memory_bytes=max(run.memory_bytes for run in runs),
        iterations=first.iterations,
        converged=first.converged,
        cut=first.cut or len(runs) < seeds,
        note=" ".join(notes),
        alarms=first.alarms,
    )


def _chosen(methods: str | Sequence[str]) -> list[registry.Entry]:
    names = [methods] if isinstance(methods, str) else list(methods)
    names = list(registry.METHODS) if names == ["all"] else list(dict.fromkeys(names))
    if not names:
        raise InputError(f"No method was named; choose from {', '.join(registry.METHODS)}.")
    return [registry.entry(name) for name in names]


def _expert_codes(votes: Votes, wished: Iterable[Any] | None) -> list[int]:
    """Return the codes of the expert classes, by their labels as text."""
    labels = {str(label): code for code, label in enumerate([*votes.classes.tolist(), *votes.truth_only.tolist()])}
    codes = []
    for label in [] if wished is None else wished:
        if str(label) not in labels:
            shown = ", ".join(list(labels)[:20])
            raise InputError(f"There is no class {str(label)!r} to look at; the classes are {shown}.")
        codes.append(labels[str(label)])
    return codes
