"""Comparison of methods on the same votes.

Labels come first, without the truth; scores after, where there is one.
"""

from __future__ import annotations

import logging
import time
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from deem_core.answers.alarms import file_alarms, file_health, label_alarms
from deem_core.comparison.cost import Size, expected_seconds
from deem_core.comparison.dependence import measure
from deem_core.comparison.gauge import Gauge
from deem_core.comparison.result import Comparison, MethodResult
from deem_core.comparison.scoring import evaluate, summarise
from deem_core.control import Control, ProgressRecord, Stopped, StopWhen
from deem_core.errors import DeemError, InputError, missing_torch
from deem_core.files.plain import to_plain
from deem_core.groups.panel import PanelHealth
from deem_core.methods import registry
from deem_core.methods.contract import Aggregate
from deem_core.methods.registry import BUDGET
from deem_core.model.devices import expected_device, pick_device
from deem_core.typing import Codes
from deem_core.votes import Votes
from deem_core.votes.checks import check_seed
from deem_core.votes.label_sets import refuse_sets
from deem_core.votes.recode import as_votes

_log = logging.getLogger(__name__)


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
    low, width : float
        Share of the whole before it, and its own, by expected times.
    result : MethodResult, optional
        Once the method is done; scores come at the end of the comparison, after all labels exist.
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

    @property
    def share(self) -> float:
        """How much of the whole is done, by expected times and seeds."""
        return self.low + self.width * (1.0 if self.result else self.seed / max(self.seeds, 1))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, with the share."""
        return {**to_plain(self), "share": self.share}


Watcher = Callable[[MethodProgress], None]

Keeper = Callable[[str, Aggregate], None]


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
    control: Control | None = None,
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
        Where DEEM, soft DEEM and the contrastive iRBM train; see `deem_core.devices`.
    watch : callable, optional
        Called with a `MethodProgress` before and after each run, and with the result of each method.
    keep : callable, optional
        Called with the name of each method that ran and what its first run made, the one whose labels are told; the
        probabilities are not held any longer.
    control : Control, optional
        Asked whether to stop between methods, seeds and iterations, and told the same `MethodProgress`.

    Raises
    ------
    InputError
        If a method, an expert class or the device is not known, or a number makes no sense.
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
    if any(item.on_gpu for item in chosen):  # before any work is done
        if missing_torch():  # which each of them says in its place
            expected_device(device)
        else:
            pick_device(device)
    experts = _expert_codes(votes, expert_classes)
    bare, control = votes.without_truth(), control or Control()
    health = file_health(bare)
    results: list[MethodResult] = []
    labels: dict[str, Codes] = {}
    times = [expected_seconds(item.name, Size.of(bare), seeds=seeds, budget=budget) for item in chosen]
    begins = np.cumsum([0.0, *times]) / sum(times)
    for at, item in enumerate(chosen):
        runner = _Runner(
            item,
            at=at,
            total=len(chosen),
            span=(float(begins[at]), float(begins[at + 1] - begins[at])),
            seeds=seeds if item.stochastic else 1,
            budget=budget,
            device=device,
            watch=watch,
            control=control,
            health=health,
        )
        result, answers = runner.run(bare, random_state)
        results.append(result)
        if answers:
            labels[item.name] = np.stack([answer.codes for answer in answers])  # (S, n)
            if keep is not None:
                keep(item.name, answers[0])
        del answers  # the next method needs the memory
    results = [summarise(result, labels[result.name], bare) if result.ran else result for result in results]
    found = evaluate(votes, results, labels, experts, budget=budget, random_state=random_state)
    dependence = measure(votes, health, np.random.default_rng(random_state))
    return replace(found, alarms=file_alarms(bare, health), dependence=dependence)


class _Runner:
    """One method's runs."""

    def __init__(
        self,
        item: registry.Entry,
        *,
        at: int,
        total: int,
        span: tuple[float, float],
        seeds: int,
        budget: float | None,
        device: str,
        watch: Watcher | None,
        control: Control,
        health: PanelHealth,
    ) -> None:
        self.health = health
        self.where = {"device": device} if item.on_gpu else {}
        self.item, self.at, self.total, self.seeds = item, at, total, seeds
        self.low, self.width = span
        self.budget, self.watch, self.control = np.inf if budget is None else budget, watch, control

    def run(self, votes: Votes, random_state: int) -> tuple[MethodResult, list[Aggregate]]:
        """Return the result without scores, and what each run made."""
        blank = MethodResult(name=self.item.name, title=self.item.title, stochastic=self.item.stochastic)
        answers: list[Aggregate] = []
        gauges: list[Gauge] = []
        trouble = ""
        self.begun = time.perf_counter()
        key = [random_state, zlib.crc32(self.item.name.encode())]
        for sequence in np.random.SeedSequence(key).spawn(self.seeds):
            self.control.check()
            if gauges and self._spent() + max(gauge.seconds for gauge in gauges) > self.budget:
                break
            self._tell(len(answers))
            answer, gauge, trouble = self._once(votes, np.random.default_rng(sequence), len(answers))
            if answer is None or (answers and answer.cut):  # a run cut short is kept only if there is no other
                break
            answers.append(answer)
            gauges.append(gauge)
            if answer.cut:
                break
        result = self._result(blank, answers, gauges, trouble)
        if answers:
            result = replace(result, alarms=label_alarms(answers[0].answer(votes, self.item.name), self.health))
        self._tell(len(answers), result)
        return result, answers

    def _once(self, votes: Votes, rng: np.random.Generator, done: int) -> tuple[Aggregate | None, Gauge, str]:
        """Run once after ``done`` runs; return the answer or the trouble."""
        gauge = Gauge()
        limited = not (done == 0 and self.item.whole)
        each = self.width / max(self.seeds, 1)
        low = self.low + done * each
        part = self.control.part(low, low + each, f"Running {self.item.title}")
        try:
            method = self.item.load()  # imports take time of their own
            with gauge:
                return method(votes, rng, control=_Limited(part, lambda: self._over(limited)), **self.where), gauge, ""
        except Stopped as error:
            self.control.check()
            return None, gauge, f"Not finished within {self.budget:g} s. {error}"
        except DeemError as error:
            return None, gauge, str(error)
        except MemoryError:
            return None, gauge, "There is not enough memory for it here."
        except Exception as error:  # one method's fault must not cost the others' results
            _log.exception("%s failed", self.item.name)
            return None, gauge, f"It failed: {type(error).__name__}: {error}"

    def _spent(self) -> float:
        return time.perf_counter() - self.begun

    def _over(self, limited: bool) -> bool:
        """Return whether to end now.

        Out of time, or the comparison is stopped.
        """
        return self.control.stopped() or (limited and self._spent() > self.budget)

    def _tell(self, done: int, result: MethodResult | None = None) -> None:
        item = self.item
        progress = MethodProgress(
            *(item.name, item.title, self.at, self.total, done, self.seeds),
            result=result,
            low=self.low,
            width=self.width,
        )
        if self.watch is not None:
            self.watch(progress)
        self.control.tell(f"Running {progress.title}", progress.share, progress)

    def _result(
        self, blank: MethodResult, answers: Sequence[Aggregate], gauges: Sequence[Gauge], trouble: str
    ) -> MethodResult:
        self.control.check()
        if not answers:
            return replace(blank, note=trouble)
        first = answers[0]
        notes = list(first.notes)
        if len(answers) < self.seeds:
            notes.append(f"{len(answers)} of {self.seeds} seeds within {self.budget:g} s. {trouble}".rstrip())
        if gauges[0].seconds > self.budget and not first.cut:
            notes.append(f"A run takes longer than the budget of {self.budget:g} s; the first one was finished.")
        return replace(
            blank,
            seeds=len(answers),
            seconds=float(np.mean([gauge.seconds for gauge in gauges])),
            memory_bytes=max(gauge.added_bytes for gauge in gauges),
            iterations=first.iterations,
            converged=first.converged,
            cut=first.cut or len(answers) < self.seeds,
            note=" ".join(notes),
        )


class _Limited(StopWhen):
    """Control of one run of a method; its records are its own."""

    def __init__(self, part: Control, stop: Callable[[], bool]) -> None:
        super().__init__(stop)
        self.part_of_all = part

    def tell(self, step: str, share: float, record: ProgressRecord | None = None) -> None:
        """Tell how far the run is."""
        self.part_of_all.tell(step, share)


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
