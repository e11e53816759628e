"""Scorecard: one line per learner with all that is known about it.

Nothing is computed here in a way of its own: the flags are those of `checkup` and of the experts, the accuracies those
of `reliability` and of gold rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from deem_core.answers import Answer
from deem_core.answers.verdict import Estimate, Verdict
from deem_core.diagnostics.checkup import Finding, checkup
from deem_core.diagnostics.experts import Expert, clearest_experts
from deem_core.diagnostics.inspection import Inspection
from deem_core.diagnostics.reliability import Reliability, estimated_reliability, real_reliability
from deem_core.errors import InputError
from deem_core.files.results import Result
from deem_core.text import listing
from deem_core.typing import Floats
from deem_core.votes import NO_VOTE, Votes
from deem_core.votes.describe import agreement_with

FlagKind = Literal["silent", "constant", "copy", "worse", "chance", "one_class", "few", "expert"]

FLAGS: dict[FlagKind, str] = {
    "silent": "silent",
    "constant": "constant",
    "copy": "copy",
    "worse": "agrees less than chance",
    "chance": "agrees no more than chance",
    "one_class": "one class only",
    "few": "few votes",
    "expert": "expert",
}
"""Flags and what people call them, the gravest first."""

GRAVE: frozenset[FlagKind] = frozenset(("silent", "constant", "copy", "worse", "chance"))
"""Flags that may spoil an answer."""

_OF_FINDINGS: Mapping[str, FlagKind] = {
    "silent_learners": "silent",
    "constant_learners": "constant",
    "identical_learners": "copy",
    "near_copies": "copy",
    "near_identical": "copy",
    "worse_than_chance": "worse",
    "chance_learners": "chance",
    "one_sided_learners": "one_class",
    "sparse_learners": "few",
}
_MOST_NAMED = 3


@dataclass(frozen=True)
class Flag(Result):
    """What stands out about a learner.

    Attributes
    ----------
    learner : str
    kind : str
        One of `FLAGS`.
    words : str
        "copy of annotator_4", "expert for ham".
    others : tuple of str
        Of a copy: whom it repeats, or who repeats it.
    classes : tuple of str
        Of a constant learner, a rule or an expert.
    """

    learner: str
    kind: FlagKind
    words: str
    others: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()

    @property
    def grave(self) -> bool:
        """Whether it may spoil an answer."""
        return self.kind in GRAVE


@dataclass(frozen=True)
class Scorecard(Result):
    """What is known about each of d learners.

    Attributes
    ----------
    learners : tuple of d str
    answered_by : str
        Method whose labels the learners are held against.
    n_rows : int
    votes : (d,) int64
        Votes cast.
    coverage : (d,) float64
        Share of the rows voted on.
    estimated : Reliability
        Without truth: the mean probability that the answer gives to a learner's votes. It tells how well a learner goes
        with the answer, and is no better than the answer is.
    gold : Reliability, optional
        On gold rows, with 90% intervals.
    real : Reliability, optional
        On rows with known truth. For evaluation only.
    with_fused, with_majority : (d,) float64
        Share of its votes that equal the fused label, and the majority vote.
    influence : (d,) float64, optional
        How much the fused labels hang on it; None where no model was looked into, NaN for those the model leaves out.
    flags : tuple of Flag
        In the order of the learners, the gravest first.
    """

    learners: tuple[str, ...]
    answered_by: str
    n_rows: int
    votes: NDArray[np.int64]
    coverage: Floats
    estimated: Reliability
    gold: Reliability | None
    real: Reliability | None
    with_fused: Floats
    with_majority: Floats
    influence: Floats | None
    flags: tuple[Flag, ...]

    def flags_of(self, learner: str) -> tuple[Flag, ...]:
        """Return the flags of a learner, the gravest first."""
        return tuple(flag for flag in self.flags if flag.learner == learner)

    def words(self) -> list[str]:
        """Return the flags of each learner as text, empty for none."""
        told: dict[str, list[str]] = {name: [] for name in self.learners}
        for flag in self.flags:
            told[flag.learner].append(flag.words)
        return ["; ".join(told[name]) for name in self.learners]

    def ranked(self) -> NDArray[np.intp]:
        """Return the learners by estimated accuracy, best first.

        Those without votes come last. The truth has no say.
        """
        return np.argsort(-np.nan_to_num(self.estimated.accuracy, nan=-1.0), kind="stable")

    def to_frame(self) -> pd.DataFrame:
        """Return a row per learner, in the order of the file."""
        columns: dict[str, Any] = {
            "learner": list(self.learners),
            "votes": self.votes,
            "coverage": self.coverage,
        }
        for name, each in (("estimated", self.estimated), ("gold", self.gold), ("real", self.real)):
            if each is not None:
                columns |= {f"{name}_accuracy": each.accuracy, f"{name}_low": each.low, f"{name}_high": each.high}
                columns |= {} if name == "estimated" else {f"{name}_rows": each.rows}
        columns |= {"agrees_with_fused": self.with_fused, "agrees_with_majority": self.with_majority}
        if self.influence is not None:
            columns["influence"] = self.influence
        return pd.DataFrame({**columns, "flags": self.words()})


def scorecard(
    answer: Answer,
    *,
    inspection: Inspection | None = None,
    findings: Iterable[Finding] | None = None,
    gold: Verdict | None = None,
    answered_by: str = "",
) -> Scorecard:
    """Return the scorecard of the learners behind an answer.

    Parameters
    ----------
    answer : Answer
        Of any method. Its truth and its gold rows, if any, make columns of their own and nothing else.
    inspection : Inspection, optional
        Of the model that answered; adds influence and experts.
    findings : iterable of Finding, optional
        What `checkup` says of these votes, if it is known already.
    gold : Verdict, optional
        What gold rows prove, where the answer does not carry it.
    answered_by : str
        Who answered, where the answer does not know it.

    Raises
    ------
    InputError
        If a cell holds several labels: a vote is then right in part.

    Examples
    --------
    >>> from deem_core import Votes, fuse, scorecard
    >>> votes = Votes.from_labels([["a", "a", "a"], ["b", "b", "a"], ["a", "a", "a"], ["b", "b", "a"]] * 10)
    >>> scorecard(fuse(votes, method="mv")).words()[2]
    'always “a”'
    """
    votes = answer.votes
    if votes.separator:
        raise InputError(
            "A scorecard is about one label per row, and these cells hold several: a vote may be right in part. "
            "Open one label as a question of its own: --one-label."
        )
    known = votes.truth is not None and bool((votes.truth != NO_VOTE).any())
    found = checkup(votes.without_truth()) if findings is None else tuple(findings)
    estimated = estimated_reliability(answer) if inspection is None else _of_model(inspection, votes.learners)
    experts = () if inspection is None else clearest_experts(inspection.influence.experts())
    return Scorecard(
        learners=votes.learners,
        answered_by=answered_by or answer.answered_by or answer.method,
        n_rows=votes.n_rows,
        votes=votes.class_counts.sum(axis=1),
        coverage=votes.learner_coverage,
        estimated=estimated,
        gold=_on_gold(gold or answer.gold, votes.learners),
        real=real_reliability(votes) if known else None,
        with_fused=agreement_with(votes, answer.codes),
        with_majority=agreement_with(votes, votes.majority_vote.codes),
        influence=None if inspection is None else _influence(inspection, votes.learners),
        flags=flags(votes, found, experts),
    )


def flags(votes: Votes, findings: Iterable[Finding], experts: Sequence[Expert] = ()) -> tuple[Flag, ...]:
    """Return what findings and experts say of single learners.

    Of learners that copy each other only the clearest is called an expert for a class.
    """
    raised: list[Flag] = []
    for finding in findings:
        kind = _OF_FINDINGS.get(finding.kind)
        if kind == "copy":
            raised += _copies(finding)
        elif kind is not None:
            raised += [_flag(votes, name, kind) for name in finding.learners]
    partners = {flag.learner: flag.others for flag in raised if flag.kind == "copy"}
    raised += _experts(experts, partners)
    place = {name: at for at, name in enumerate(votes.learners)}
    order = get_args(FlagKind)
    there = [flag for flag in dict.fromkeys(raised) if flag.learner in place]
    return tuple(sorted(there, key=lambda flag: (place[flag.learner], order.index(flag.kind))))


def _flag(votes: Votes, name: str, kind: FlagKind) -> Flag:
    """Return a flag that names at most the class of most votes."""
    if kind not in ("constant", "one_class"):
        return Flag(name, kind, FLAGS[kind])
    counts = votes.class_counts[votes.learners.index(name)]
    label = str(votes.classes[int(counts.argmax())])
    always = "always" if counts.max() == counts.sum() else "mostly"
    return Flag(name, kind, f"{always if kind == 'constant' else 'only'} “{label}”", classes=(label,))


def _copies(finding: Finding) -> list[Flag]:
    """Return a flag for each learner of each group or pair."""
    groups = finding.numbers.get("groups") or finding.numbers.get("pairs") or ()
    same = "same votes as" if finding.kind == "identical_learners" else "near-copy of"
    partners: dict[str, list[str]] = {}
    for group in groups:
        for name in group:
            partners.setdefault(name, []).extend(other for other in group if other != name)
    return [
        Flag(name, "copy", f"{same} {listing(unique, _MOST_NAMED)}", others=tuple(unique))
        for name, others in partners.items()
        if (unique := list(dict.fromkeys(others)))
    ]


def _experts(experts: Sequence[Expert], partners: Mapping[str, tuple[str, ...]]) -> list[Flag]:
    classes: dict[str, list[str]] = {}
    for one in experts:  # the clearest first
        if not any(one.class_name in classes.get(other, ()) for other in partners.get(one.learner, ())):
            classes.setdefault(one.learner, []).append(one.class_name)
    return [
        Flag(name, "expert", f"expert for {listing([f'“{each}”' for each in own], _MOST_NAMED)}", classes=tuple(own))
        for name, own in classes.items()
    ]


def _on_gold(verdict: Verdict | None, learners: Sequence[str]) -> Reliability | None:
    """Return what gold rows say of the learners, if there are any."""
    if verdict is None or not verdict.n_gold:
        return None
    by_name = {estimate.name: estimate for estimate in verdict.learners}
    each: list[Estimate | None] = [by_name.get(name) for name in learners]

    def column(name: str) -> Floats:
        values = [None if one is None else getattr(one, name) for one in each]
        return np.array([np.nan if value is None else value for value in values], np.float64)

    rows = np.array([0 if one is None else one.rows for one in each], np.int64)
    return Reliability("gold", tuple(learners), column("share"), column("low"), column("high"), rows)


def _of_model(inspection: Inspection, learners: Sequence[str]) -> Reliability:
    """Return the estimates of an inspection, (d,) each."""
    own = inspection.reliability
    at = [own.learners.index(name) if name in own.learners else -1 for name in learners]

    def column(values: Floats) -> Floats:
        return np.append(values, np.nan)[at]

    rows = np.append(own.rows, 0)[at]
    return Reliability(
        own.source, tuple(learners), column(own.accuracy), column(own.low), column(own.high), np.asarray(rows, np.int64)
    )


def _influence(inspection: Inspection, learners: Sequence[str]) -> Floats:
    own = dict(zip(inspection.influence.subjects, inspection.influence.overall.tolist(), strict=True))
    return np.array([own.get(name, np.nan) for name in learners], np.float64)
