"""Material of a report, gathered from the workspace once.

It serves the page and the JSON alike. Nothing is trained or fused here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deem_core.alarm import Alarm, cause_first
from deem_core.answers import Answer, StoredAnswer
from deem_core.answers.alarms import file_health
from deem_core.comparison import Comparison, Evaluation
from deem_core.diagnostics.checkup import Finding, checkup
from deem_core.diagnostics.inspection import Inspection
from deem_core.diagnostics.scorecards import Scorecard, scorecard
from deem_core.errors import InputError
from deem_core.gold import Verdict
from deem_core.groups.panel import PanelHealth
from deem_core.model.records import Record, by_restart
from deem_core.readers import Reading
from deem_core.runs import FusionSummary, Run, Swept, Workspace, sweep_beside
from deem_core.runs.run import MODEL, RESULT
from deem_core.training.failure import alarms_of
from deem_core.typing import Floats
from deem_core.votes import Votes
from deem_core.votes.concordance import Concordance, concordance
from deem_core.votes.describe import Facts, describe

BINS = 40
"""Bins of the histogram of confidence."""

MOST_RECORDS = 120
"""Records of a restart that a report keeps at most; curves look the same."""

KINDS = ("train", "fuse")
"""Kinds of runs that have a report."""

MOST_RESTARTS = 20
"""Restarts whose curves a report keeps."""


@dataclass(frozen=True)
class Labels:
    """The labels of a run in numbers.

    Attributes
    ----------
    names : tuple of str
        Of the shares in the summary: the classes, or the labels where rows have several.
    classes : tuple of K str
        What a row can get as a whole: the classes, or sets of labels.
    changes : (K, K) int64
        Rows by majority vote (first) and fused label (second).
    edges : (B + 1,) float64
    confidence : (B,) int64
        Rows by the confidence of their label.
    to_review : int
        Rows that deserve a look.
    """

    names: tuple[str, ...]
    classes: tuple[str, ...]
    changes: NDArray[np.int64]
    edges: Floats
    confidence: NDArray[np.int64]
    to_review: int


@dataclass(frozen=True)
class Material:
    """What a report rests on; what was not computed is None.

    Attributes
    ----------
    run : Run
        A finished one of `KINDS`.
    summary : FusionSummary
    reading : Reading
    facts : Facts
    agreed : Concordance
        Agreement figures of the learners.
    findings : tuple of Finding
    health : PanelHealth
        Of the learners as a panel.
    records : tuple of Record
        Of at most `MOST_RESTARTS` restarts, at most `MOST_RECORDS` each.
    labels : Labels
    alarms : tuple of Alarm
        Of the training, its labels and the file.
    why : tuple of str
        Who answered and why, or what the method had to say.
    swept : Swept, optional
    inspection : Inspection, optional
    card : Scorecard, optional
        Of the learners, by the labels of the run; None where a row may have several labels.
    comparison : Comparison, optional
    compare_run : str, optional
        Id of the run that compared.
    """

    run: Run
    summary: FusionSummary
    reading: Reading
    facts: Facts
    agreed: Concordance
    findings: tuple[Finding, ...]
    health: PanelHealth
    records: tuple[Record, ...]
    labels: Labels
    alarms: tuple[Alarm, ...]
    why: tuple[str, ...]
    swept: Swept | None
    inspection: Inspection | None
    card: Scorecard | None
    comparison: Comparison | None
    compare_run: str | None

    @property
    def trained(self) -> bool:
        """Whether a training stands behind the labels."""
        return self.run.kind == "train"

    @property
    def has_model(self) -> bool:
        """Whether there is a model that can be inspected."""
        return self.trained or self.inspection is not None or self.run.result(MODEL) is not None

    @property
    def classes(self) -> list[str]:
        """The classes as text."""
        return [str(label) for label in self.reading.votes.classes]

    @property
    def one_voice(self) -> bool:
        """Whether two answers of a judge were read as one vote."""
        return bool((self.run.spec["inputs"].get("reading") or {}).get("one_voice"))

    @property
    def settings(self) -> dict[str, Any]:
        """Setting → value."""
        return self.summary.training.setting_values

    @property
    def evaluation(self) -> Evaluation | None:
        """What truth says about the labels; None without truth."""
        return self.summary.evaluation

    @property
    def gold(self) -> Verdict | None:
        """What gold rows were used for and prove; None without gold."""
        return self.summary.gold


def gather(workspace: Workspace, run: Run, reading: Reading | None = None) -> Material:
    """Return what there is about a run; see `deem_core.reporting.build.report`."""
    summary = _summary(run)
    _check_inputs(workspace, run)
    reading = reading or workspace.read_inputs(run.spec["inputs"])
    facts = describe(reading.votes)
    records, _ = run.records()
    comparison, compare_run = _comparison(workspace, run)
    swept = sweep_beside(workspace, run, summary) if run.kind == "train" else None
    votes = reading.votes.without_truth()
    findings, inspection = checkup(votes), _inspection(workspace, run)
    answer = _answer(run, workspace.with_gold(reading.votes, run.spec))
    return Material(
        run=run,
        summary=summary,
        reading=reading,
        facts=facts,
        agreed=concordance(votes),
        findings=findings,
        health=file_health(votes.without_gold()),
        records=tuple(_thinned(records)),
        labels=_labels(run, answer),
        alarms=tuple(_alarms(run, summary, votes, records, swept)),
        why=summary.training.why or tuple(_notes(run)),
        swept=swept,
        inspection=inspection,
        card=_card(answer, summary, findings, inspection),
        comparison=comparison,
        compare_run=compare_run,
    )


# ---------------------------------------------------------------------- the run itself


def _summary(run: Run) -> FusionSummary:
    name = f"Run {run.id[:12]}"
    if run.kind not in KINDS:
        raise InputError(f"{name} is of the kind {run.kind}; a report needs a run of the kind {' or '.join(KINDS)}.")
    state = run.state()
    if state.state != "done":
        share = f" ({state.share:.0%} done)" if state.active else ""
        why = f" {state.reason}" if state.reason else ""
        todo = "Wait until it is done" if state.active else f"Resume it: python -m deem_core runs resume {run.id[:12]}"
        raise InputError(f"{name} is {state.state}{share}, and a report needs a finished run.{why} {todo}.")
    summary = FusionSummary.of(run)
    if summary is None:
        raise InputError(f"The results of {name} are damaged or of an earlier version; {_again(run)} once more.")
    return summary


def _again(run: Run) -> str:
    return "train" if run.kind == "train" else "fuse"


def _alarms(run: Run, summary: FusionSummary, votes: Votes, records: list[Record], swept: Swept | None) -> list[Alarm]:
    """Return the alarms of the labels, and of the training behind them."""
    if run.kind != "train":
        return cause_first(summary.alarms)
    training, sweep = summary.training, None if swept is None else swept.sweep
    settings = {**training.setting_values, "method": training.method}
    return alarms_of(
        votes, records, settings, training.restarts, sweep=sweep, instead=summary.instead, labels=summary.alarms
    )


def _notes(run: Run) -> list[str]:
    """Return what the method said while it answered."""
    if run.kind == "train":  # which its summary has, too
        return []
    lines, _ = run.progress()
    texts = (line.get("text") for line in lines if line.get("type") == "note")
    return list(dict.fromkeys(text for text in texts if isinstance(text, str)))


def _check_inputs(workspace: Workspace, run: Run) -> None:
    """Raise if a file of the run is gone."""
    inputs = run.spec["inputs"]
    for name, digest in ((inputs.get("name"), inputs.get("data")), (inputs.get("truth_name"), inputs.get("truth"))):
        if digest is None:
            continue
        try:
            workspace.input(digest)
        except InputError:
            raise InputError(
                f"The file {str(name)!r} of run {run.id[:12]} was deleted from the workspace, and a report needs it. "
                "Upload the same file again."
            ) from None


def _thinned(records: list[Record]) -> list[Record]:
    """Return every n-th record of the first restarts.

    The same ones of all restarts, so that they can be averaged.
    """
    groups = by_restart(records)
    stride = -(-max(map(len, groups), default=1) // MOST_RECORDS)
    return [record for own in groups[:MOST_RESTARTS] for record in own[::stride]]


def _answer(run: Run, votes: Votes) -> Answer:
    path = run.result(RESULT)
    if path is None:
        raise InputError(f"The labels of run {run.id[:12]} are gone; {_again(run)} once more.")
    try:
        return StoredAnswer(path, votes.n_classes).answer(votes)
    except (OSError, ValueError, KeyError):  # Arrow's own errors are of these kinds
        raise _damaged(run) from None


def _damaged(run: Run) -> InputError:
    return InputError(f"The labels of run {run.id[:12]} are damaged; {_again(run)} once more.")


def _labels(run: Run, answer: Answer) -> Labels:
    stored = StoredAnswer(run.path / RESULT, answer.votes.n_classes)
    try:
        changes, confidence, to_review = stored.changes, stored.confidence, int(stored.needs_review.sum())
    except (OSError, ValueError, KeyError):  # Arrow's own errors are of these kinds
        raise _damaged(run) from None
    known = confidence[np.isfinite(confidence)].astype(np.float64)
    counts, edges = np.histogram(known.clip(0, 1), bins=BINS, range=(0.0, 1.0))
    names, classes = map(str, answer.probability_names), map(str, answer.votes.classes.tolist())
    return Labels(tuple(names), tuple(classes), changes, edges, counts, to_review)


def _card(
    answer: Answer, summary: FusionSummary, findings: tuple[Finding, ...], inspection: Inspection | None
) -> Scorecard | None:
    """Return the scorecard of the learners.

    Where the training failed, its model says nothing about anybody.
    """
    if answer.votes.separator:  # a vote is then right in part
        return None
    return scorecard(
        answer,
        inspection=None if summary.training.fallback else inspection,
        findings=findings,
        gold=summary.gold,
        answered_by=summary.training.answered_by or summary.training.method,
    )


# ---------------------------------------------------------------------- runs beside it


def _done(workspace: Workspace, run: Run, kind: str) -> list[tuple[Run, dict[str, Any]]]:
    """Return finished runs on the dataset with summaries, newest first."""
    others = workspace.runs(dataset=run.dataset_id, kind=kind)
    return [(other, summary) for other in others if (summary := other.summary()) is not None]


def _inspection(workspace: Workspace, run: Run) -> Inspection | None:
    for other, _ in _done(workspace, run, "inspect"):
        if other.config.get("training") == run.id:
            try:
                return Inspection.load(other.path)
            except InputError:
                continue
    return None


def _comparison(workspace: Workspace, run: Run) -> tuple[Comparison | None, str | None]:
    for other, content in _done(workspace, run, "compare"):
        try:
            return Comparison.from_dict(content), other.id
        except (KeyError, TypeError, ValueError):  # damaged, or of an earlier version
            continue
    return None, None
