"""runs: list, show, name, cancel, resume and delete the runs."""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from deem_core.cli import annotate
from deem_core.cli.options import add_command, check_outputs
from deem_core.cli.terminal import on_one_line, table, two_columns
from deem_core.engine import place_in_words
from deem_core.errors import InputError
from deem_core.files.atomic import write_json
from deem_core.runs import Annotations, FusionSummary, Removal, Run, State, Workspace, Wreck
from deem_core.text import age, clip, count, moment, percent, size

ACTIONS = ("list", "show", *annotate.ACTIONS, "cancel", "resume", "delete", "prune")

_ALSO_WRECKS = ("show", "delete")  # what can be done with a damaged run
_SHORT = 12  # digits of an id that tell runs apart on a screen
_LINES_SHOWN = 5
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def add(commands: Any) -> None:
    """Add the command."""
    runs = add_command(
        commands,
        "runs",
        _runs,
        "List the runs of the workspace; show, name, cancel, resume or delete them.",
        "The workspace is the folder $DEEM_HOME, else the one for your data.\n\n"
        "  list     all runs, newest first\n"
        "  show     the settings, state, messages and results of a run\n"
        f"{annotate.HELP}"
        "  cancel   stop a run within two seconds; its progress is saved\n"
        "  resume   continue a cancelled or failed run from its last checkpoint\n"
        "  delete   delete runs that have ended or are damaged\n"
        "  prune    delete old runs; says which, and asks\n\n"
        "examples:\n"
        "  python -m deem_core runs\n"
        "  python -m deem_core runs show 0123456789ab\n"
        "  python -m deem_core runs name 0123456789ab Without the copies\n"
        "  python -m deem_core runs prune --older-than 30d --keep-last 50 --dry-run",
    )
    runs.add_argument("action", metavar="ACTION", nargs="?", choices=ACTIONS, default="list", help="one of the above")
    runs.add_argument(
        "ids", metavar="RUN", nargs="*", help="id of a run, or its first four digits or more; then a name, tags or note"
    )
    runs.add_argument("--older-than", metavar="AGE", type=_age, help="prune: runs older than 30d, 12h or 2w, say")
    runs.add_argument("--keep-last", metavar="N", type=int, help="prune: always keep the last N runs")
    runs.add_argument("--dry-run", action="store_true", help="delete and prune: only say what would be removed")
    runs.add_argument("--yes", action="store_true", help="delete and prune: do not ask")
    runs.add_argument("--json", metavar="OUT", help="list and show: also write them as JSON")


def _runs(options: argparse.Namespace) -> None:
    check_outputs([options.json])
    if options.action in ("list", "prune") and options.ids:
        raise InputError(f"{options.action} takes no run; give its id to show, cancel, resume or delete.")
    if options.action not in ("list", "prune") and not options.ids:
        raise InputError(f"Say which run to {options.action}; python -m deem_core runs lists them.")
    workspace = Workspace()
    if options.action in _ALSO_WRECKS:
        options.wrecks = [wreck for text in options.ids if (wreck := find_wreck(workspace, text)) is not None]
        options.ids = [text for text in options.ids if find_wreck(workspace, text) is None]
    if options.action in annotate.ACTIONS:
        annotate.annotate(workspace, options.action, find_run(workspace, options.ids[0]), options.ids[1:])
        return
    chosen = [find_run(workspace, text) for text in options.ids]
    {
        "list": _list,
        "show": _show,
        "cancel": _cancel,
        "resume": _resume,
        "delete": _delete,
        "prune": _prune,
    }[options.action](workspace, chosen, options)


def _list(workspace: Workspace, _: Sequence[Run], options: argparse.Namespace) -> None:
    runs, wrecks = workspace.runs(), [wreck for wreck in workspace.wrecks() if wreck.what == "run"]
    if not runs and not wrecks:
        print(f"No runs yet in {workspace.root}.")
    else:
        header = ["run", "kind", "state", "done", "age", "file", "name"]
        rows = [[run.id[:_SHORT], run.kind, *_standing(run.state()), _file(run), _name(run)] for run in runs]
        rows += [[wreck.id[:_SHORT], "–", *_standing(wreck.state), "–", wreck.name] for wreck in wrecks]
        print(*table(header, rows, len(rows)), sep="\n")
    if options.json:
        write_json([*map(_facts, runs), *map(_wreck_facts, wrecks)], options.json)


def _show(_: Workspace, chosen: Sequence[Run], options: argparse.Namespace) -> None:
    for run in chosen:
        _show_one(run)
    for wreck in options.wrecks:
        print(
            *two_columns([("run", wreck.id), ("state", f"damaged: {wreck.sentence}"), ("folder", str(wreck.path))]),
            sep="\n",
        )
    if options.json:
        shown = [{**_facts(run), "summary": run.summary(), "progress": run.progress()[0]} for run in chosen]
        shown += [{**_wreck_facts(wreck), "summary": None, "progress": []} for wreck in options.wrecks]
        write_json(shown[0] if len(shown) == 1 else shown, options.json)


def _show_one(run: Run) -> None:
    run.damage()  # what is shown is what was written
    state, (told, _) = run.state(), run.progress()
    lines = [
        ("run", run.id),
        ("kind", run.kind),
        ("title", run.title or "–"),
        ("annotations", annotate.said(run)),
        ("file", _file(run)),
        ("config", json.dumps(run.config, ensure_ascii=False)),
        ("seed", str(run.spec.get("seed"))),
        ("versions", ", ".join(f"{name} {text}" for name, text in run.spec.get("versions", {}).items())),
        ("created", moment(run.created)),
        ("started", moment(state.started)),
        ("ended", moment(state.ended)),
        ("device", place_in_words(state.device) or "–"),
        (
            "state",
            f"{state.word}, {percent(state.share)}{f': {text}' if (text := state.reason or state.step) else ''}",
        ),
        ("progress", f"{len(told):,} lines"),
        ("results", ", ".join(path.name for path in run.results()) or "none"),
        ("folder", str(run.path)),
    ]
    print(*two_columns(lines), sep="\n")
    for line in told[-_LINES_SHOWN:]:
        words = line.get("text") or json.dumps({name: line[name] for name in line if name not in ("time", "shares")})
        print(f"  · {clip(on_one_line(str(words)), 160)}")
    summary = run.summary()
    if summary is not None:
        for name, value in summary.items():
            if isinstance(value, (int, float, str)):
                print(f"  {name}: {value:.6g}" if isinstance(value, float) else f"  {name}: {on_one_line(str(value))}")
    fusion = FusionSummary.of(run)
    if fusion is not None and fusion.evaluation is not None:
        for score in fusion.evaluation.methods:
            print(f"  {score.title}: {percent(score.accuracy)} right (evaluation only)")


def _cancel(workspace: Workspace, chosen: Sequence[Run], _: argparse.Namespace) -> None:
    for run in chosen:
        state = run.state()
        workspace.cancel(run)
        words = "is being cancelled" if state.active else f"is {state.state} already; there is nothing to cancel"
        print(f"Run {run.id[:_SHORT]} {words}.")


def _resume(workspace: Workspace, chosen: Sequence[Run], _: argparse.Namespace) -> None:
    for run in chosen:
        workspace.resume(run)
        print(f"Run {run.id[:_SHORT]} resumed.")


def _delete(workspace: Workspace, chosen: Sequence[Run], options: argparse.Namespace) -> None:
    for run in chosen:
        if run.is_active():
            raise InputError(f"Run {run.id[:_SHORT]} is still running; cancel it before you delete it.")
    _remove(workspace, list({run.id: run for run in chosen}.values()), options, options.wrecks)


def _prune(workspace: Workspace, _: Sequence[Run], options: argparse.Namespace) -> None:
    _remove(workspace, workspace.prune(options.older_than, options.keep_last), options)


def _remove(
    workspace: Workspace, runs: Sequence[Run], options: argparse.Namespace, wrecks: Sequence[Wreck] = ()
) -> None:
    if not runs and not wrecks:
        print("Nothing to delete.")
        return
    planned = workspace.removal(runs)
    removal = Removal(
        [*planned.what, *(f"damaged run {wreck.id}" for wreck in wrecks)],
        planned.bytes + sum(wreck.bytes for wreck in wrecks),
    )
    print(f"{'Would delete' if options.dry_run else 'To delete'}, which frees {size(removal.bytes)}:")
    print(*(f"  {on_one_line(line)}" for line in removal.what), sep="\n")
    if options.dry_run:
        return
    if not options.yes and not _agreed(removal):
        print("Nothing was deleted.")
        return
    for run in runs:
        workspace.delete_run(run)
    for wreck in wrecks:
        workspace.delete_wreck(wreck)
    print(f"Deleted {count(len(runs) + len(wrecks), 'run')}.")


def _agreed(removal: Removal) -> bool:
    if not sys.stdin.isatty():
        raise InputError(f"There is no terminal to confirm the deletion of {len(removal.what)} things; say --yes.")
    try:
        return input("Delete? [y/N] ").strip().casefold() in ("y", "yes")
    except EOFError:
        return False


# ---------------------------------------------------------------------- words


def find_run(workspace: Workspace, text: str) -> Run:
    """Return the run whose id begins like this.

    Only ids that the workspace lists are ever looked up.
    """
    if not re.fullmatch(r"[0-9a-f]{4,32}", text):
        raise InputError(f"{text[:80]!r} is not the id of a run: give 4 to 32 digits of 0–9 and a–f.")
    found = [run for run in workspace.runs() if run.id.startswith(text)]
    if not found and (wreck := find_wreck(workspace, text)) is not None:
        raise InputError(wreck.sentence)
    if not found:
        raise InputError(f"There is no run {text} in {workspace.root}; python -m deem_core runs lists them.")
    if len(found) > 1:
        raise InputError(f"{len(found)} runs begin with {text}; give more digits.")
    return found[0]


def find_wreck(workspace: Workspace, text: str) -> Wreck | None:
    """Return the only damaged run whose id begins like this."""
    if not re.fullmatch(r"[0-9a-f]{4,32}", text) or any(run.id.startswith(text) for run in workspace.runs()):
        return None
    found = [wreck for wreck in workspace.wrecks() if wreck.what == "run" and wreck.id.startswith(text)]
    return found[0] if len(found) == 1 else None


def _wreck_facts(wreck: Wreck) -> dict[str, Any]:
    known = {"spec": {}, "state": wreck.state.to_dict(), "annotations": Annotations(wreck.name).to_dict()}
    return {"id": wreck.id, "path": str(wreck.path), **known}


def _facts(run: Run) -> dict[str, Any]:
    return {
        "id": run.id,
        "path": str(run.path),
        "spec": run.spec,
        "state": run.state().to_dict(),
        "annotations": run.annotations().to_dict(),
    }


def _name(run: Run) -> str:
    """Return a run's name with its tags, and whether it is pinned."""
    known = run.annotations()
    tags = f" [{', '.join(known.tags)}]" if known.tags else ""
    return f"{run.name()}{tags}{' (baseline)' if known.pinned else ''}"


def _standing(state: State) -> list[str]:
    return [state.word, f"{state.share:.0%}", age(time.time() - state.created)]


def _file(run: Run) -> str:
    return str(run.spec["inputs"].get("name", "–"))


def _age(text: str) -> timedelta:
    match = re.fullmatch(r"(\d{1,6})\s*([smhdw])", text.strip().casefold())
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not an age: give a number and s, m, h, d or w, such as 30d")
    return timedelta(**{_UNITS[match[2]]: int(match[1])})
