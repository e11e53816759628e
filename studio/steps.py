"""The path from votes to labels, as numbered steps with their state."""

from __future__ import annotations

from dataclasses import dataclass

from deem_core import DeemError
from studio import jobs, state
from studio.workspace import workspace


@dataclass(frozen=True)
class Step:
    """A step of the path.

    Attributes
    ----------
    page, title, question, action : str
        Where it is done, its name, what it answers, and the words on its button.
    done : bool
    next : bool
        Whether it is the one to take now.
    """

    page: str
    title: str
    question: str
    action: str
    done: bool
    next: bool = False


def path() -> list[Step]:
    """Return the steps; the first one that is not done is next."""
    data = state.get(state.DATA)
    done = {
        "data": _is_there(data),
        "learning_rate": _is_done(data, "sweep"),
        "train": _is_done(data, "train"),
        "learners": _is_done(data, "inspect"),
        "compare": _is_done(data, "compare"),
    }
    steps = [Step(page, title, question, action, done.get(page, False)) for page, title, question, action in _STEPS]
    first = next((step for step in steps if not step.done), None)
    return [Step(**{**vars(step), "next": step is first}) for step in steps]


_STEPS = (
    ("data", "Data", "What did I upload? See how it was read, then fuse it.", "Upload data"),
    (
        "learning_rate",
        "Learning rate",
        "Which rate is safe for DEEM? Compare energy curves. Optional.",
        "Compare rates",
    ),
    ("train", "Train", "Did it learn? Train DEEM and watch it live. Optional.", "Train"),
    ("learners", "Inspect", "Whom does it trust, who copies whom, and why this label?", "Look inside"),
    ("compare", "Compare", "Does it beat a plain majority vote? Every method on the same votes.", "Compare"),
    ("export", "Export", "What can I export? Labels, rows to review, model, report.", "Export"),
)


def _is_there(data: str | None) -> bool:
    try:
        return data is not None and not workspace().dataset(data).unread
    except DeemError:  # deleted, or never here
        return False


def _is_done(data: str | None, kind: str) -> bool:
    """Return whether a run of a kind is done.

    A training that failed did not learn.
    """
    stands = ((run, run.state()) for run in jobs.of_dataset(data, kind))
    return any(now.state == "done" and not jobs.instead(run, now) for run, now in stands)
