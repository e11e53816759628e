"""Kinds of runs.

What each computes, from which config, and what it writes.

Each kind is a function of a `Job`; torch is imported inside, so that workers in the queue do not hold it. Configs:

    sweep    ``rates`` (list), ``n_layers`` (a number or a list), ``smoothing`` and any other settings of training, all
             optional. The summary is `deem_core.training.sweep.Sweep.to_dict`, the result its curves; while it runs,
             and if it is cancelled, what is known so far is in ``partial.json``, of the same form as the summary. One
             that is asked to finish ends early and is done, with what it has (`Workspace.finish`). A resumed one goes
             on from the stacks of candidates that were finished.
    train    ``method`` (one of `deem_core.methods.registry.TRAINED`) and the parameters of its estimator. Goes on from
             checkpoints, where the method keeps any.
    fuse     ``method`` ("auto", or a method that is asked once); ``consider``, ids of finished trainings between which
             gold rows choose, too. Keeps a model where a grouped one answered.
    compare  ``methods`` ("all" or a list), ``seeds``, ``budget`` (seconds for each method), ``expert_classes``,
             ``device``, ``on`` (where to run), all optional. Goes on from the methods' runs that are done. The summary
             is `deem_core.comparison.Comparison.to_dict`, the result every method's class codes;
             ``labels_<method>.parquet`` is the answer of each (`deem_core.answers.stored`).
    apply    ``model``, the digest of a stored model file. Many rows are shared out (`deem_core.runs.sharing`).
    inspect  ``model``, the same, and ``training``, the id of the run that trained it. The results are those of
             `deem_core.diagnostics.inspection.Inspection.save`.
    ask      ``n``, how many rows to label next. The queue is ``queue.json`` (`deem_core.gold.Questions.to_dict`); the
             candidates between which answers choose are ``field.parquet`` and ``field.json`` (`deem_core.gold.Field`).

Every config may have ``on``, where to share out the work (`deem_core.engine`); it is heard by kinds that share it out.

fuse, train, compare and ask also take ``gold``, the digest of stored known labels that are to be used (see
`deem_core.runs.answer_book.Ledger.snapshot`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from deem_core.answers import StoredAnswer
from deem_core.answers.answer import MAX_PROBABILITIES, Answer
from deem_core.diagnostics import restart_support
from deem_core.engine import CLUSTER
from deem_core.errors import InputError
from deem_core.estimators.verbs import load, make_model
from deem_core.methods.registry import METHODS
from deem_core.model.config import TrainConfig
from deem_core.runs.job import Job, write_answer, write_labels, write_summary, write_table
from deem_core.runs.private import write_private_json
from deem_core.runs.run import LABELS, MODEL, PARTIAL, QUEUE, RESULT
from deem_core.runs.sharing import SHARED_ROWS, shared_answer

if TYPE_CHECKING:  # torch takes a second
    from deem_core.gold import Field
    from deem_core.training.sweep import Sweeper
    from deem_core.votes import Votes

COMPARISON_SETTINGS = ("methods", "seeds", "budget", "expert_classes", "device")

MOST_CELLS = 50_000_000
"""Probabilities that a comparison keeps, rows × classes × methods: 400 MB. Of more it keeps labels and confidence."""

PARTIAL_SECONDS = 2.0
"""Time between two writings of what a sweep knows so far.

Pages draw everything from one writing. They look every second, but a figure that has not changed is not drawn again,
and one that is drawn anew is empty for a moment."""

ROWS_ASKED = 20
"""Rows of a queue, unless a config says otherwise."""

_SAME_FIELD = ("seed", "versions")  # what candidates depend on, beside the votes
_TRAINED = 0.95  # share of a training run that is training; the rest is fusing and writing
_COMPUTED = 0.98  # share of a sweep or comparison that is not writing
_INSPECTED = 0.97  # the same of an inspection


# ---------------------------------------------------------------------- sweep


def sweep(job: Job) -> None:
    """Do the work of a sweep."""
    votes = job.votes.without_truth()
    job.set_threads()
    again = job.share > 0
    control = job.control.part(0.0, _COMPUTED)
    sweeper = make_sweeper(votes, job.settings | {"random_state": job.seed}, control=control, on=job.engine)
    for sentence in () if again else sweeper.sentences:
        job.note(sentence)
    written = -PARTIAL_SECONDS
    for progress in sweeper:
        if progress.share < 1 and job.asked_to_finish():
            sweeper.end()
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
    own = {name: settings.pop(name) for name in ("rates", "n_layers", "smoothing", "on") if name in settings}
    return Sweeper(votes, **(own | more), config=TrainConfig.of(settings))


# ---------------------------------------------------------------------- train


def train(job: Job) -> None:
    """Do the work of a train run."""
    votes = job.votes
    settings: dict[str, Any] = {"method": "deem", **job.settings, "random_state": job.seed}
    model = make_model(**settings)
    job.set_threads()
    job.control.tell("Training", job.share)
    model.fit(votes.without_truth(), control=job.control.part(0.0, _TRAINED), on=job.engine)
    job.set_device(model.device_)
    for sentence in [*model.findings_, *model.warnings_]:
        job.note(sentence)
    job.control.check()
    job.control.tell("Fusing the votes", _TRAINED)
    answer = model.fuse(votes)
    job.control.check()
    model.save(job.folder / MODEL)
    supported = answer.supported(restart_support(model, answer.votes, answer.codes))
    if votes.gold is not None:
        from deem_core.auto.judgement import judged  # noqa: PLC0415  # the rooms behind it take a moment

        supported = judged(supported, str(settings["method"]))
    summary = model.summary_
    write_answer(job, supported, replace(summary, seconds=job.worked + summary.seconds))


# ---------------------------------------------------------------------- fuse


def fuse(job: Job) -> None:
    """Do the work of a fuse run.

    An answer in seconds, by ``auto`` unless another method is named.
    """
    from deem_core.auto import fuse_run  # noqa: PLC0415  # the rooms behind it take a moment

    settings = {name: value for name, value in job.settings.items() if name not in ("device", "random_state")}
    method = settings.pop("method", "auto")
    trainings = settings.pop("consider", [])
    if settings:
        raise InputError(f"A fuse run has no setting {sorted(settings)[0]!r}; it has method and consider.")
    start = time.perf_counter()
    votes = job.votes
    also = _trained_answers(job, votes, trainings) if votes.gold is not None and method == "auto" else {}
    made = fuse_run(votes, method, job.seed, also=also, control=job.control.part(0.0, _TRAINED))
    for sentence in made.answer.notes:
        job.note(sentence)
    job.control.check()
    if made.model is not None:
        made.model.save(job.folder / MODEL)
    write_answer(job, made.answer, replace(made.summary, seconds=time.perf_counter() - start))


def _trained_answers(job: Job, votes: Votes, trainings: list[str]) -> dict[str, Answer]:
    """Return the answers of finished trainings on the same dataset, by title.

    Gold rows choose between them and others; a training that used gold itself would be judged by what it knows.
    """
    blind = votes.without_truth().without_gold()
    column = job.reading.votes.gold is not None  # of the file, which its trainings have used
    answers: dict[str, Answer] = {}
    for each in trainings:
        run = job.workspace.run(each)
        path = run.result(RESULT)
        used = column or run.config.get("gold") is not None
        if path is None or run.dataset_id != job.run.dataset_id or used:
            raise InputError(
                f"Run {each[:12]} is not a finished training of these votes without gold, so it is not considered."
            )
        posterior = StoredAnswer(path, votes.n_classes).posterior
        if posterior is not None:
            answers[f"{METHODS[str(run.config.get('method', 'deem'))].title} (training {each[:6]})"] = Answer(
                blind, posterior
            )
    return answers


# ---------------------------------------------------------------------- ask


def ask(job: Job) -> None:
    """Do the work of a run that asks for rows."""
    from deem_core.auto import make_field  # noqa: PLC0415  # the rooms behind it take a moment
    from deem_core.gold import questions  # noqa: PLC0415

    settings = {name: value for name, value in job.settings.items() if name != "random_state"}
    n = settings.pop("n", ROWS_ASKED)
    if settings:
        raise InputError(f"A run that asks for rows has no setting {sorted(settings)[0]!r}; it has n.")
    if not isinstance(n, int) or n < 1:
        raise InputError(f"{n!r} rows cannot be asked for; give 1 or more.")
    votes, start = job.votes, time.perf_counter()
    bare = votes.without_truth().without_gold()
    candidates = _earlier_field(job, bare)
    if candidates is None:
        candidates = make_field(bare, random_state=job.seed, control=job.control.part(0.0, _TRAINED))
    job.control.tell("Choosing the rows", _TRAINED)
    known = 0 if votes.gold is None else votes.gold.n_rows
    queue = questions(candidates, n, gold=votes.gold, rng=np.random.default_rng([job.seed, known]))
    job.note(queue.effect)
    job.control.check()
    candidates.save(job.folder)
    write_private_json(queue.to_dict(), job.folder / QUEUE, durable=True)
    write_summary(
        job,
        {
            "rows": len(queue),
            "disputed": sum(kind == "disputed" for kind in queue.kinds),
            "gold_rows": known,
            "effect": queue.effect,
            "start": candidates.start,
            "split": candidates.split,
            "seconds": time.perf_counter() - start,
        },
    )


def _earlier_field(job: Job, votes: Votes) -> Field | None:
    """Return the candidates of an earlier run on the same votes.

    They know no gold label, so more answers change nothing about them.
    """
    from deem_core.gold import Field  # noqa: PLC0415

    own = job.run.spec
    for run in job.workspace.runs(dataset=job.run.dataset_id, kind="ask"):
        same = run.spec["inputs"] == own["inputs"] and all(run.spec.get(name) == own[name] for name in _SAME_FIELD)
        if run.id != job.run.id and same and run.result("field.json") is not None:
            try:
                return Field.load(run.path, votes)
            except InputError:
                continue
    return None


# ---------------------------------------------------------------------- compare


def compare(job: Job) -> None:
    """Do the work of a comparison.

    The truth is looked at by `compare` alone, after all labels exist.
    """
    votes = job.votes
    from deem_core import comparison  # noqa: PLC0415  # imports torch

    settings = {name: value for name, value in job.settings.items() if name != "random_state"}
    settings["device"] = settings.get("device") or "auto"
    if unknown := sorted(set(settings) - set(COMPARISON_SETTINGS)):
        raise InputError(f"A comparison has no setting {unknown[0]!r}; it has {', '.join(COMPARISON_SETTINGS)}.")
    job.set_threads()
    control = job.control.part(0.0, _COMPUTED)
    asked = settings.get("methods", "all")
    n_methods = len(asked) if isinstance(asked, list) else len(comparison.METHODS)
    cells = votes.n_rows * votes.n_classes * n_methods
    probabilities = cells <= MOST_CELLS and votes.n_classes <= MAX_PROBABILITIES

    def keep(method: str, answer: Answer) -> None:
        job.control.check()
        write_labels(job, answer, LABELS.format(method), probabilities=probabilities)

    result = comparison.compare(
        votes,
        **settings,
        random_state=job.seed,
        keep=keep,
        probabilities=probabilities,
        control=control,
        on=job.engine,
    )
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
    recoded = model.recoded(votes)
    differences = tuple(recoded.sentences())
    for sentence in differences:
        job.note(sentence)
    shared = votes.n_rows >= SHARED_ROWS and job.engine.remote
    if shared:
        answer = shared_answer(model, recoded, job.engine, job.control)
    else:  # a cluster is worth it for many rows only, and one process keeps this machine busy
        job.set_device("cpu")
        answer = model.fuse(recoded)
        job.control.check()
        answer = answer.supported(restart_support(model, answer.votes, answer.codes))
    training = replace(
        model.summary_,
        method="apply",
        warnings=differences,
        device=CLUSTER if shared else "cpu",
        seconds=time.perf_counter() - start,
        sweep=None,
        trained_rows=model.n_rows_,
        learners=model.learners_,
        classes=model.classes_.tolist(),
    )
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
    "ask": ask,
}
"""Kind → who does the work."""
