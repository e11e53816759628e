"""Kinds of runs.

What each computes, from which config, and what it writes.

Each kind is a function of a `Job`; torch is imported inside, so that workers in the queue do not hold it. Configs:

    sweep    ``rates`` (list), ``n_layers`` (a number or a list), ``smoothing`` and any other settings of training, all
             optional. The summary is `deem_core.training.sweep.Sweep.to_dict`, the result its curves; while it runs,
             and if it is cancelled, what is known so far is in ``partial.json``, of the same form as the summary.
    train    ``method`` (one of `deem_core.methods.registry.TRAINED`) and the parameters of its estimator. Goes on from
             checkpoints, where the method keeps any.
    fuse     ``method`` ("auto", or a method that is asked once) alone. Keeps a model where a grouped one answered.
    compare  ``methods`` ("all" or a list), ``seeds``, ``budget`` (seconds for each method), ``expert_classes``,
             ``device``, all optional. The summary is `deem_core.comparison.Comparison.to_dict`, the result every
             method's class codes; ``labels_<method>.parquet`` is the answer of each (`deem_core.answers.stored`).
    apply    ``model``, the digest of a stored model file.
    inspect  ``model``, the same, and ``training``, the id of the run that trained it. The results are those of
             `deem_core.diagnostics.inspection.Inspection.save`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from deem_core.answers.answer import MAX_PROBABILITIES
from deem_core.diagnostics import restart_support
from deem_core.errors import InputError
from deem_core.estimators.verbs import load, make_model
from deem_core.model.config import TrainConfig
from deem_core.runs.job import Job, write_answer, write_labels, write_summary, write_table
from deem_core.runs.private import write_private_json
from deem_core.runs.run import LABELS, MODEL, PARTIAL

if TYPE_CHECKING:  # torch takes a second
    from deem_core.methods.contract import Aggregate
    from deem_core.training.sweep import Sweeper
    from deem_core.votes import Votes

COMPARISON_SETTINGS = ("methods", "seeds", "budget", "expert_classes", "device")

MOST_CELLS = 50_000_000
"""Probabilities that a comparison keeps, rows × classes × methods: 400 MB. Of more it keeps labels and confidence."""

PARTIAL_SECONDS = 2.0
"""Time between two writings of what a sweep knows so far.

Pages draw everything from one writing. They look every second, but a figure that has not changed is not drawn again,
and one that is drawn anew is empty for a moment."""

_TRAINED = 0.95  # share of a training run that is training; the rest is fusing and writing
_COMPUTED = 0.98  # share of a sweep or comparison that is not writing
_INSPECTED = 0.97  # the same of an inspection


# ---------------------------------------------------------------------- sweep


def sweep(job: Job) -> None:
    """Do the work of a sweep."""
    votes = job.votes.without_truth()
    job.set_threads()
    sweeper = make_sweeper(votes, job.config | {"random_state": job.seed}, control=job.control.part(0.0, _COMPUTED))
    for sentence in sweeper.sentences:
        job.note(sentence)
    written = -PARTIAL_SECONDS
    for _ in sweeper:
        if time.monotonic() - written >= PARTIAL_SECONDS:
            write_private_json(sweeper.result().to_dict(), job.folder / PARTIAL)
            written = time.monotonic()
    result = sweeper.result()
    write_private_json(result.to_dict(), job.folder / PARTIAL)
    job.control.check()
    write_table(job, pa.Table.from_pandas(result.to_frame(), preserve_index=False))
    write_summary(job, result.to_dict())


def make_sweeper(votes: Votes, config: dict[str, Any], **more: Any) -> Sweeper:
    """Return the sweep that a config describes, ready to run.

    Raises
    ------
    InputError
        If a setting is unknown or out of its bounds.
    """
    from deem_core.training.sweep import Sweeper  # noqa: PLC0415

    settings = {name: value for name, value in config.items() if value is not None}
    own = {name: settings.pop(name) for name in ("rates", "n_layers", "smoothing") if name in settings}
    return Sweeper(votes, **own, config=TrainConfig.of(settings), **more)


# ---------------------------------------------------------------------- train


def train(job: Job) -> None:
    """Do the work of a train run."""
    votes = job.votes
    settings: dict[str, Any] = {"method": "deem", **job.config, "random_state": job.seed}
    model = make_model(**settings)
    job.set_threads()
    job.control.tell("Training", job.share)
    model.fit(votes.without_truth(), control=job.control.part(0.0, _TRAINED))
    job.set_device(model.device_)
    for sentence in [*model.findings_, *model.warnings_]:
        job.note(sentence)
    job.control.check()
    job.control.tell("Fusing the votes", _TRAINED)
    answer = model.fuse(votes)
    job.control.check()
    model.save(job.folder / MODEL)
    write_answer(job, answer.supported(restart_support(model, answer.votes, answer.codes)), model.summary_)


# ---------------------------------------------------------------------- fuse


def fuse(job: Job) -> None:
    """Do the work of a fuse run.

    An answer in seconds, by ``auto`` unless another method is named.
    """
    from deem_core.auto import fuse_run  # noqa: PLC0415  # the rooms behind it take a moment

    settings = {name: value for name, value in job.config.items() if name not in ("device", "random_state")}
    method = settings.pop("method", "auto")
    if settings:
        raise InputError(f"A fuse run has no setting {sorted(settings)[0]!r}; it has method.")
    start = time.perf_counter()
    made = fuse_run(job.votes, method, job.seed, control=job.control.part(0.0, _TRAINED))
    for sentence in made.answer.notes:
        job.note(sentence)
    job.control.check()
    if made.model is not None:
        made.model.save(job.folder / MODEL)
    write_answer(job, made.answer, replace(made.summary, seconds=time.perf_counter() - start))


# ---------------------------------------------------------------------- compare


def compare(job: Job) -> None:
    """Do the work of a comparison.

    The truth is looked at by `compare` alone, after all labels exist.
    """
    votes = job.votes
    from deem_core import comparison  # noqa: PLC0415  # imports torch

    settings = {name: value for name, value in job.config.items() if name != "random_state"}
    settings["device"] = settings.get("device") or "auto"
    if unknown := sorted(set(settings) - set(COMPARISON_SETTINGS)):
        raise InputError(f"A comparison has no setting {unknown[0]!r}; it has {', '.join(COMPARISON_SETTINGS)}.")
    job.set_threads()
    control = job.control.part(0.0, _COMPUTED)
    asked = settings.get("methods", "all")
    n_methods = len(asked) if isinstance(asked, list) else len(comparison.METHODS)
    cells = votes.n_rows * votes.n_classes * n_methods
    probabilities = cells <= MOST_CELLS and votes.n_classes <= MAX_PROBABILITIES
    bare = votes.without_truth()

    def keep(method: str, aggregate: Aggregate) -> None:
        job.control.check()
        write_labels(job, aggregate.answer(bare, method), LABELS.format(method), probabilities=probabilities)

    result = comparison.compare(votes, **settings, random_state=job.seed, keep=keep, control=control)
    job.control.check()
    write_table(job, pa.table({name: pa.array(codes, pa.int32()) for name, codes in result.labels.items()}))
    write_summary(job, result.to_dict())


# ---------------------------------------------------------------------- a trained model


def apply(job: Job) -> None:
    """Do the work of an apply run."""
    start = time.perf_counter()
    model = load(job.input(job.config.get("model", "")))
    votes = job.votes
    job.set_threads()
    job.control.tell("Fusing the votes", 0.3)
    recoded = model.transform(votes)
    differences = tuple(recoded.sentences())
    for sentence in differences:
        job.note(sentence)
    answer = model.fuse(recoded)
    job.control.check()
    training = replace(
        model.summary_,
        method="apply",
        warnings=differences,
        device="cpu",
        seconds=time.perf_counter() - start,
        sweep=None,
        trained_rows=model.n_rows_,
        learners=model.learners_,
        classes=model.classes_.tolist(),
    )
    answer = answer.supported(restart_support(model, answer.votes, answer.codes))
    job.control.check()
    write_answer(job, answer, training)


def inspect(job: Job) -> None:
    """Do the work of an inspection; the truth serves its evaluation alone."""
    votes = job.votes
    from deem_core.diagnostics import inspection  # noqa: PLC0415  # imports torch

    digest = job.config.get("model")
    if not isinstance(digest, str):
        raise InputError("An inspection needs a model: the digest of a stored model file.")
    model = load(job.input(digest))
    job.set_threads()
    control = job.control.part(0.0, _INSPECTED)
    result = inspection.inspect(model, votes, rng=np.random.default_rng(job.seed), control=control)
    job.control.check()
    result.save(job.folder)
    write_summary(job, {"rows_used": result.rows_used, "n_rows": result.n_rows, "training": job.config.get("training")})


KINDS: dict[str, Callable[[Job], None]] = {
    "sweep": sweep,
    "train": train,
    "fuse": fuse,
    "compare": compare,
    "apply": apply,
    "inspect": inspect,
}
"""Kind → who does the work."""
