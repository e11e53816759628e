"""Train: fit a model on the votes and fuse them; goes on from its checkpoints.

Config: ``method`` ("deem", "irbm" or "irbm_cd") and the parameters of its estimator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deem_core.config import AUTO
from deem_core.control import Control, Saved
from deem_core.diagnostics.confidence import fused_codes
from deem_core.diagnostics.review import restart_support
from deem_core.errors import InputError
from deem_core.runs.job import Job
from deem_core.runs.results import write_fused
from deem_core.runs.run import MODEL

if TYPE_CHECKING:
    from deem_core.estimator import DEEM
    from deem_core.fitting import Progress

METHODS = ("deem", "irbm", "irbm_cd")

_SWEPT = 0.5  # share of a run that a sweep for the learning rate takes, if there is one
_TRAINED = 0.95  # share of a run that is training; the rest is fusing and writing


def execute(job: Job) -> None:
    """Do the work of a train run."""
    votes, model = job.votes, make_model(job.config, job.seed)
    job.set_threads()
    job.report(job.desk.state.share, "Training")
    watcher = _Watcher(job, first=_SWEPT if model.learning_rate == AUTO else 0.0)
    model.fit(votes.without_truth(), watch=watcher, control=_Told(job))
    job.on(model.device_)
    for sentence in [*model.near_copies_.sentences, *model.warnings_]:
        job.note(sentence)
    job.control.check()
    job.report(_TRAINED, "Fusing the votes")
    posterior = model.fuse_codes(votes.codes)
    job.control.check()
    model.save(job.folder / MODEL)
    story = {
        "method": job.config.get("method", "deem"),
        "settings": model.settings_,
        "restarts": model.restarts_,
        "warnings": model.warnings_,
        "near_copies": list(model.near_copies_.sentences),
        "hedged": model.hedged_,
        "fallback": model.fallback_,
        "sweep": None if model.sweep_ is None else model.sweep_.to_dict(),
        "device": model.device_,
        "seconds": model.seconds_,
    }
    support = restart_support(model, votes.codes, fused_codes(votes, posterior))
    write_fused(job, votes, posterior, story, support)


def make_model(config: dict[str, Any], seed: int) -> DEEM:
    """Return the estimator that a config describes.

    Raises
    ------
    InputError
        If the method or a setting is unknown, or a setting is out of its bounds.
    """
    from deem_core.estimator import DEEM, IRBM  # noqa: PLC0415  # those who wait have not imported torch

    settings = {**config, "random_state": seed}
    method = settings.pop("method", "deem")
    if method not in METHODS:
        raise InputError(f"There is no method {method!r} to train; there are {', '.join(METHODS)}.")
    kind = DEEM if method == "deem" else IRBM
    own: dict[str, Any] = {} if method == "deem" else {"method": "exact" if method == "irbm" else "cd"}
    known = set(kind().get_params(deep=False)) - {"method"}
    if unknown := sorted(set(settings) - known):
        raise InputError(f"The method {method} has no setting {unknown[0]!r}; it has {', '.join(sorted(known))}.")
    return kind(**own, **settings)


class _Watcher:
    """Writes down every record and how far all restarts have come together."""

    def __init__(self, job: Job, first: float) -> None:
        self.job, self.first = job, first
        told, _ = job.run.progress()  # of a run that is resumed
        self.shares: dict[int, float] = {
            line["restart"]: line["share"] for line in told if line["type"] == "record" and "share" in line
        }

    def __call__(self, progress: Progress) -> None:
        self.shares[progress.restart] = progress.share
        place = {"training": progress.training, "restart": progress.restart, "share": progress.share}
        self.job.record({**progress.record.to_dict(), **place})
        done = sum(self.shares.values()) / progress.restarts
        self.job.report(self.first + (_TRAINED - self.first) * done, "Training")


class _Told(Control):
    """The control of a job that also hears what is done before training: the search for a learning rate."""

    def __init__(self, job: Job) -> None:
        self.job, self.control = job, job.control

    def stopped(self) -> bool:
        return self.control.stopped()

    def due(self, key: str) -> bool:
        return self.control.due(key)

    def save(self, key: str, saved: Saved) -> None:
        self.control.save(key, saved)

    def load(self, key: str) -> Saved | None:
        return self.control.load(key)

    def tell(self, step: str, share: float) -> None:
        self.job.report(_SWEPT * share, step)
