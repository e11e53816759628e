"""Command lines that repeat a run or complete its report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from deem_core.auto import AUTO
from deem_core.engine import LOCAL
from deem_core.model.config import TrainConfig, flag_of, setting_types
from deem_core.readers import DELIMITERS, to_json

PROGRAM = ("python", "-m", "deem_core")

_ONE = ("layout", "id", "truth", "gold", "worker", "label", "encoding", "sheet")
_MANY = {"learners": "--learner", "ignore": "--ignore", "missing": "--missing"}


def repeat_command(spec: Mapping[str, Any]) -> list[str]:
    """Return the command that gives a run's labels again.

    Parameters
    ----------
    spec : mapping
        ``spec.json`` of the run: its inputs, config and seed. Files are called by their names.

    Returns
    -------
    list of str
        Without quotes; `shlex.join` makes a line of them for a shell.
    """
    inputs, config = spec["inputs"], dict(spec["config"])
    method = config.pop("method", None) or (AUTO if spec.get("kind") == "fuse" else "deem")
    output = _free(inputs, "fused.csv", "fused_labels.csv", "fused_table.csv")
    words = [*PROGRAM, "fuse", _as_file(inputs["name"]), "-o", output]
    words += [] if method == AUTO else _option("--method", method)
    words += _option(flag_of("random_state"), str(spec["seed"]))
    words += _settings(method, config)
    words += _option("--on", config["on"]) if config.get("on") not in (None, LOCAL) else []
    if config.get("gold") is None:
        return [*words, *reading_words(inputs)]
    return [*words, *reading_words(_without_gold_column(inputs)), *_option("--gold-file", gold_name(spec))]


def gold_name(spec: Mapping[str, Any]) -> str:
    """Return what a run's file of gold labels is called.

    The workspace keeps it by its hash, without a name.
    """
    return _free(spec["inputs"], "gold.csv", "gold_labels.csv", "gold_table.csv")


def has_two_golds(spec: Mapping[str, Any]) -> bool:
    """Return whether a run's gold labels come from two places."""
    return spec["config"].get("gold") is not None and (spec["inputs"].get("reading") or {}).get("gold") is not None


def ask_command(spec: Mapping[str, Any]) -> list[str]:
    """Return the command that asks for rows to label, the queue last."""
    return [*compute_command("ask", spec), "-o", _free(spec["inputs"], "queue.csv", "gold_queue.csv", "to_label.csv")]


def compute_command(command: str, spec: Mapping[str, Any]) -> list[str]:
    """Return another command on a run's file, such as sweep."""
    return [*PROGRAM, command, _as_file(spec["inputs"]["name"]), *reading_words(spec["inputs"])]


def reading_words(inputs: Mapping[str, Any]) -> list[str]:
    """Return the options that read a file as a run did."""
    reading: Mapping[str, Any] = inputs.get("reading") or {}
    words: list[str] = []
    for name in _ONE:
        if reading.get(name) not in (None, "auto"):
            words += _option(f"--{name}", str(reading[name]))
    if reading.get("delimiter"):
        sign = str(reading["delimiter"])
        words += _option("--delimiter", DELIMITERS.get(sign, sign))
    for name, flag in _MANY.items():
        texts = reading.get(name)
        if name == "missing" and texts == []:
            texts = [""]  # no spelling but the empty cell means "no vote"
        for text in texts or ():
            words += _option(flag, str(text))
    if reading.get("swap_ba"):
        words.append("--swap-ba")
    if reading.get("one_voice"):
        words.append("--one-voice")
    if reading.get("merge_spellings"):
        words.append("--merge-spellings")
    words += _meaning(reading)
    if reading.get("labels"):
        words += _option("--labels", to_json(reading["labels"]))
    if inputs.get("truth") is not None:
        words += _option("--truth-file", _as_file(inputs.get("truth_name") or "truth"))
    return words


def _meaning(reading: Mapping[str, Any]) -> list[str]:
    """Return the options that say what labels mean.

    Steps of a scale, or several labels in a cell.
    """
    words: list[str] = []
    order, several = reading.get("ordered"), reading.get("multilabel")
    if order is True:
        words.append("--ordinal")
    elif order:
        steps = list(map(str, order))
        sign = next((sign for sign in ("<", "|", ";") if any("," in step for step in steps)), ",")
        words += _option("--order", sign.join(steps))
    if several is True:
        words.append("--multilabel")
    elif several:
        words += _option("--separator", str(several))
    if reading.get("empty_is_none"):
        words.append("--empty-means-none")
    if reading.get("one_label") is not None:
        words += _option("--one-label", str(reading["one_label"]))
    return words


def _settings(method: str, config: Mapping[str, Any]) -> list[str]:
    """Return options for all settings that differ from the defaults."""
    words: list[str] = []
    for item in fields(TrainConfig):
        value = config.get(item.name)
        default = "keep" if item.name == "near_copies" and method != "deem" else item.default
        if value is None or value == default or item.name == "random_state":
            continue
        if value is True:
            words.append(flag_of(item.name))
        elif int in setting_types(item.name):
            words += _option(flag_of(item.name), str(int(value)))
        else:
            words += _option(flag_of(item.name), repr(value) if isinstance(value, float) else str(value))
    return words


def _without_gold_column(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return inputs whose gold column is ignored.

    The command line takes gold labels from one place.
    """
    reading = dict(inputs.get("reading") or {})
    column = reading.pop("gold", None)
    if column is not None:
        reading["ignore"] = [*reading.get("ignore", ()), column]
    return {**inputs, "reading": reading}


def _option(flag: str, value: str) -> list[str]:
    """Return an option with its value.

    A value that looks like an option is tied to it by "=".
    """
    return [f"{flag}={value}"] if value.startswith("-") else [flag, value]


def _free(inputs: Mapping[str, Any], *names: str) -> str:
    """Return the first name that no file of the run has."""
    taken = {_as_file(inputs["name"]), _as_file(inputs.get("truth_name") or "")}
    return next(name for name in names if name not in taken)


def _as_file(name: str) -> str:
    """Return a file name that cannot be taken for an option."""
    return f"./{name}" if name.startswith("-") else name
