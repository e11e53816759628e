"""Actions of `runs` on what people say: name, tags, note, pin."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from deem_core.cli.terminal import on_one_line
from deem_core.errors import InputError
from deem_core.runs import Run, Workspace

HELP = (
    "  name     give a run a name: runs name RUN WORDS (none: back to its title)\n"
    "  tag      add tags: runs tag RUN TAG …\n"
    "  untag    take tags away: runs untag RUN TAG … (none: all of them)\n"
    "  note     write a note: runs note RUN WORDS (none: no note)\n"
    "  pin      make a run the baseline of its dataset; unpin undoes it\n"
)


def annotate(workspace: Workspace, action: str, run: Run, words: Sequence[str]) -> None:
    """Carry out one of `ACTIONS` and say what is so now.

    ``words`` are what stands after the run.
    """
    if action in ("pin", "unpin") and words:
        raise InputError(f"{action} takes one run and nothing else.")
    ACTIONS[action](workspace, run, words)
    print(f"Run {run.id[:12]}: {on_one_line(said(workspace.run(run.id)))}")


def said(run: Run) -> str:
    """Return what people say of a run, in a line."""
    known = run.annotations()
    parts = [
        f"name “{known.name}”" if known.name else "",
        f"tags {', '.join(known.tags)}" if known.tags else "",
        "pinned as baseline" if known.pinned else "",
        f"note: {known.note}" if known.note else "",
    ]
    return "; ".join(filter(None, parts)) or "no name, tags, note or pin"


def _name(workspace: Workspace, run: Run, words: Sequence[str]) -> None:
    workspace.annotate(run, name=" ".join(words))


def _note(workspace: Workspace, run: Run, words: Sequence[str]) -> None:
    workspace.annotate(run, note=" ".join(words))


def _tag(workspace: Workspace, run: Run, words: Sequence[str]) -> None:
    if not words:
        raise InputError("Say which tags to add: python -m deem_core runs tag RUN TAG.")
    workspace.annotate(run, tags=[*run.annotations().tags, *words])


def _untag(workspace: Workspace, run: Run, words: Sequence[str]) -> None:
    left = [tag for tag in run.annotations().tags if words and tag not in words]
    workspace.annotate(run, tags=left)


def _pin(workspace: Workspace, run: Run, _: Sequence[str]) -> None:
    workspace.pin(run)


def _unpin(workspace: Workspace, run: Run, _: Sequence[str]) -> None:
    if run.annotations().pinned is None:
        raise InputError(f"Run {run.id[:12]} is not pinned.")
    workspace.unpin(run.dataset_id)


ACTIONS: dict[str, Callable[[Workspace, Run, Sequence[str]], None]] = {
    "name": _name,
    "tag": _tag,
    "untag": _untag,
    "note": _note,
    "pin": _pin,
    "unpin": _unpin,
}
