"""Requests: commands named by the options of an address instead of words.

The HTTP interface beside the app takes options by the names of the command line, so the parsers of the command line
read them. Options that name files of this machine are none of a request: it sends files.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from deem_core.answers.export import write_fused
from deem_core.cli import describe, fuse
from deem_core.cli.options import Parser, reading_options, refuse_settings, training_settings
from deem_core.errors import InputError
from deem_core.estimators.peek import peek
from deem_core.methods.registry import TRAINED
from deem_core.readers import read_labels
from deem_core.runs import FusionSummary, Run, Workspace
from deem_core.runs.labelled import run_answer

FILES = ("file", "truth-file", "gold-file", "labels", "model")
"""Files that a request may send, by the options of the command line that name them."""
OUTPUTS = {"json": "application/json", "csv": "text/csv", "csv.gz": "application/gzip"} | {
    "tsv": "text/tab-separated-values",
    "parquet": "application/vnd.apache.parquet",
}
"""What an answer may come as, and its media type."""
EXPORT = ("review-below", "review-share", "blank", "unsafe")
"""Options of the fused file."""

_FORMAT = ("format", "from-name", "to-name", "model-version")  # an address says how it wants its labels
_NONE_OF_A_REQUEST = frozenset(
    (*_FORMAT, "output", "json", "scorecard", "labels-out", "stream", "sample", "on", "help")
)
_OF_THE_MACHINE = frozenset(("consider", "draws"))  # names of trainings, and what no run of `apply` takes
_YES, _NO = ("", "1", "true", "yes", "on"), ("0", "false", "no", "off")


@dataclass(frozen=True)
class Sent:
    """File of a request: its place, and its name for people."""

    path: Path
    name: str


@dataclass(frozen=True)
class Request:
    """What a request asks for.

    Attributes
    ----------
    kind : "describe", "fuse", "train" or "apply"
    words : tuple of str
        The same options as words of the command line.
    options : Namespace
        As the command line reads them.
    """

    kind: str
    words: tuple[str, ...]
    options: argparse.Namespace

    @property
    def export(self) -> dict[str, Any]:
        """Options of the fused file, as `write_labels` takes them."""
        return _export(self.options)


def request(command: str, query: Iterable[tuple[str, str]]) -> Request:
    """Return what a command's options in an address ask for.

    Parameters
    ----------
    command : "describe", "fuse" or "apply"
    query : iterable of (str, str)
        Options by their names without dashes; those that may be repeated are.

    Raises
    ------
    InputError
        If there is no such option, or its value is none.
    """
    actions = _options(command)
    words = tuple(word for name, value in query if (word := _word(command, actions, name, value)))
    places = {"describe": ["votes"], "fuse": ["votes", "-o", "fused.csv"], "apply": ["model", "votes", "-o", "f.csv"]}
    try:
        options = _parser().parse_args([command, *places[command], *words])
        kind = command
        if command != "describe":
            fuse.check_export(options)
        if command == "fuse" and options.method in TRAINED:
            kind = "train"
        elif command == "fuse":
            settings = training_settings(options)
            settings.pop("random_state")
            refuse_settings(options.method, settings)
    except InputError as error:
        raise InputError(str(error).split(" Try: ")[0].replace("--", "")) from None
    return Request(kind, words, options)


def export_options(query: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return options of the fused file by their names in an address."""
    known = [(name, value) for name, value in query]
    if unknown := [name for name, _ in known if name not in EXPORT]:
        raise InputError(f"There is no option {unknown[0][:60]!r} here; there are {', '.join(('as', *EXPORT))}.")
    return request("fuse", known).export


def start(space: Workspace, asked: Request, files: Mapping[str, Sent]) -> Run:
    """Start the run that a request asks for.

    Raises
    ------
    InputError
        If a file is missing or cannot be kept, or it is no model.
    """
    reading = {name: value for name, value in reading_options(asked.options).items() if name not in _BY_FILE}
    reading["missing"] = asked.options.missing
    if "labels" in files:
        reading["labels"] = read_labels(files["labels"].path)
    reading = {name: value for name, value in reading.items() if value not in (None, [], "auto", False)}
    config: dict[str, Any] = {}
    if asked.kind == "apply":
        model = peek(files["model"].path, files["model"].name)
        reading |= {"classes": [str(label) for label in model.classes], "known_learners": list(model.learners)}
        config["model"] = space.store(files["model"].path)
    else:
        config |= {"method": asked.options.method, **_settings(asked)}
        if "gold-file" in files:
            config["gold"] = space.store(files["gold-file"].path)
    votes, truth = files["file"], files.get("truth-file")
    dataset = space.add_dataset(
        votes.name, votes.path, truth=None if truth is None else (truth.name, truth.path), reading=reading
    )
    return space.start_run(asked.kind, dataset, config, f"{asked.kind.capitalize()} over HTTP")


def run_facts(run: Run) -> dict[str, Any]:
    """Return what is known of a run, as plain values.

    ``result`` has the keys of the command's JSON once it is done.
    """
    state = run.state()
    facts = {"id": run.id, "kind": run.kind, "title": run.name(), "dataset": run.dataset_id, **state.to_dict()}
    summary = run.summary() if state.state == "done" else None
    if summary is None:
        return {**facts, "result": None}
    found = FusionSummary.from_dict(summary)
    if found is None or found.evaluation is None:
        return {**facts, "result": summary}
    scores = {
        name: getattr(found.evaluation, name) for name in ("accuracy", "majority_vote_accuracy", "dawid_skene_accuracy")
    }
    return {**facts, "result": {**summary, **scores}}


def write_labels(space: Workspace, run: Run, path: Path, options: Mapping[str, Any]) -> None:
    """Write the fused file of a finished run.

    Raises
    ------
    InputError
        If the run has no labels, or the file cannot be written.
    """
    reading = space.read_inputs(run.spec["inputs"])
    answer = run_answer(space, run, space.with_gold(reading.votes, run.spec))
    write_fused(reading, answer, path, **options)


_BY_FILE = ("truth_file", "gold_file", "labels")


def _settings(asked: Request) -> dict[str, Any]:
    settings = training_settings(asked.options)
    return settings if asked.kind == "train" else {"random_state": settings["random_state"]}


def _export(options: argparse.Namespace) -> dict[str, Any]:
    return {
        "spreadsheet_safe": not options.unsafe,
        "review_below": options.review_below,
        "review_share": options.review_share,
        "blank": options.blank,
    }


@cache
def _parser() -> argparse.ArgumentParser:
    made = Parser(prog="deem-studio")
    commands = made.add_subparsers(required=True, parser_class=Parser)
    for command in (describe, fuse):
        command.add(commands)
    return made


@cache
def _options(command: str) -> dict[str, argparse.Action]:
    """Return the options that a request may name."""
    choices: Mapping[str, argparse.ArgumentParser] = next(
        action.choices for action in _parser()._actions if isinstance(action.choices, Mapping)
    )
    actions: Sequence[argparse.Action] = choices[command]._actions
    named = {text.removeprefix("--"): action for action in actions for text in action.option_strings}
    kept = {name: action for name, action in named.items() if len(name) > 1 and not name.startswith(("-", "no-"))}
    left_out = {*_NONE_OF_A_REQUEST, *_OF_THE_MACHINE, *FILES}
    return {name: action for name, action in kept.items() if name not in left_out}


def _word(command: str, actions: Mapping[str, argparse.Action], name: str, value: str) -> str:
    """Return an option as a word, or nothing for a flag off."""
    action = actions.get(name)
    if action is None:
        hint = f" Send {name} as a file, in a form." if name in FILES else ""
        raise InputError(f"There is no option {name[:60]!r} of {command} here.{hint}")
    if action.nargs != 0:
        return f"--{name}={value}"
    if value.casefold() not in (*_YES, *_NO):
        raise InputError(f"The option {name} is {value[:40]!r}; write 1 for yes or 0 for no.")
    return f"--{name}" if value.casefold() in _YES else ""
