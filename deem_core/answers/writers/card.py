"""Card of a dataset folder: what its labels rest on.

Names in it come from files of strangers. In the YAML header every text is a JSON string, which YAML reads as it is;
below it, names and sentences are escaped so that they can be neither Markdown nor HTML.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from deem_core import __version__
from deem_core.answers.answer import Answer
from deem_core.answers.export import answerer
from deem_core.readers import Reading
from deem_core.text import clip, count, dimensions, percent
from deem_core.votes import NO_VOTE
from deem_core.votes.concordance import concordance
from deem_core.votes.describe import accuracy

MOST_NAMES = 50
"""Learners that a card names."""
MOST_LETTERS = 200
"""Letters of a name in a card."""
MOST_SENTENCE = 2_000
"""Letters of a note or warning in a card."""

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_LARGER = ((10_000_000, "1M<n<10M"), (100_000_000, "10M<n<100M"))
_OF_TEXTS = "text-classification"
_MARKUP = re.compile(r"[\\`*_{}\[\]#+!|~$@=]|^[-.]|:(?=//)|(?<=www)\.")


@dataclass(frozen=True)
class Card:
    """What a card tells of the files beside it.

    Attributes
    ----------
    features : dict
        Column → feature, as the library ``datasets`` describes it.
    n_bytes, download_bytes : int
        In memory and on disk.
    label_column : str
    n_rows : int
    """

    features: dict[str, Any]
    n_bytes: int
    download_bytes: int
    label_column: str
    n_rows: int


def card(reading: Reading, answer: Answer, made: Card) -> str:
    """Return the card as Markdown with a YAML header."""
    header, body = "\n".join(_header(reading, made)), "\n".join(_body(reading, answer, made))
    return f"---\n{header}\n---\n\n{body}\n"


def plain(text: str, most: int = MOST_LETTERS) -> str:
    """Return text on one line that is neither Markdown nor HTML."""
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in str(text)).split())
    escaped = _MARKUP.sub(lambda found: f"\\{found[0]}", clip(line, most))
    return html.escape(escaped, quote=False)


# ---------------------------------------------------------------------- header


def _header(reading: Reading, made: Card) -> Iterator[str]:
    yield f"pretty_name: {_text(f'{reading.source.name}, fused labels')}"
    yield "task_categories:"
    yield f"- {_task(reading)}"
    if reading.votes.separator and _task(reading) == _OF_TEXTS:
        yield "task_ids:"
        yield "- multi-label-classification"
    yield "size_categories:"
    yield f"- {_size(made.n_rows)}"
    yield "tags:"
    yield "- weak-supervision"
    yield "- label-aggregation"
    yield "configs:"
    yield "- config_name: default"
    yield "  data_files:"
    yield "  - split: train"
    yield "    path: data/train-*"
    yield "dataset_info:"
    yield "  features:"
    for name, feature in made.features.items():
        yield f"  - name: {_text(name)}"
        if feature["_type"] == "Value":
            yield f"    dtype: {feature['dtype']}"
            continue
        several = feature["_type"] == "Sequence"
        yield "    sequence:" if several else "    dtype:"
        yield "      class_label:"
        yield "        names:"
        names = (feature["feature"] if several else feature)["names"]
        yield from (f"          '{code}': {_text(label)}" for code, label in enumerate(names))
    yield "  splits:"
    yield "  - name: train"
    yield f"    num_bytes: {made.n_bytes}"
    yield f"    num_examples: {made.n_rows}"
    yield f"  download_size: {made.download_bytes}"
    yield f"  dataset_size: {made.n_bytes}"


def _text(text: str) -> str:
    """Return text as a YAML scalar in quotes.

    What YAML does not take as it is, is escaped as both know it; JSON spells rare letters as two halves, YAML as one.
    """
    return "".join(each if each.isprintable() else _escaped(each) for each in json.dumps(text, ensure_ascii=False))


def _escaped(letter: str) -> str:
    return f"\\u{ord(letter):04x}" if ord(letter) < 1 << 16 else f"\\U{ord(letter):08x}"


def _task(reading: Reading) -> str:
    """Return the task as the hub calls it.

    Of texts, where a column holds any.
    """
    roles, source = reading.report.roles, reading.source
    if reading.report.layout == "long":
        return "other"
    others = (name for name in source.columns if roles.get(name) == "ignored")
    return _OF_TEXTS if any(not source.holds_names(name) for name in others) else "other"


def _size(n_rows: int) -> str:
    return next((words for most, words in (*_SIZES, *_LARGER) if n_rows < most), "100M<n<1B")


# ---------------------------------------------------------------------- body


def _body(reading: Reading, answer: Answer, made: Card) -> Iterator[str]:
    votes = answer.votes
    known = "without ground truth"
    if votes.gold is not None:
        known = f"with {count(votes.gold.n_rows, 'known label')}"
    yield f"# Fused labels of {plain(reading.source.name)}"
    yield ""
    what = "The labels of each row, several or none," if votes.separator else "One label per row,"
    yield (
        f"{what} fused from the votes of several learners ({dimensions(*_dimensions(answer))}) by "
        f"{plain(answerer(answer) or 'an unnamed method')}, {known}. The columns of the source "
        "file are as they came."
    )
    yield ""
    yield f"The fused label is in the column {plain(made.label_column)}, its probability in `confidence`."
    yield ""
    yield "## What the labels rest on"
    yield ""
    yield f"- Learners: {_names(votes.learners)}."
    yield f"- Classes: {_names(map(str, votes.classes.tolist()))}."
    agreed = plain(concordance(votes).text, MOST_SENTENCE)
    yield f"- {percent(votes.coverage)} of the possible votes were cast. Agreement: {agreed}."
    found = answer.summary()
    if found.mean_confidence is not None:
        yield f"- Mean confidence {percent(found.mean_confidence)}; confidence is usually too high."
    yield (
        f"- {count(found.changed, 'label')} {'differs' if found.changed == 1 else 'differ'} from the majority vote; "
        f"{count(int(answer.needs_review.sum()), 'row')} marked for review."
    )
    if votes.gold is not None:
        yield f"- {count(votes.gold.n_rows, 'row')} had a known label that was used, and keep it."
    yield from (f"- {plain(note, MOST_SENTENCE)}" for note in answer.notes)
    if votes.truth is not None:
        rows = int((votes.truth != NO_VOTE).sum())
        right = percent(accuracy(answer.codes, votes.truth), careful=True)
        yield f"- Evaluation only: right on {right} of {count(rows, 'row')} with known truth, which was not used."
    yield ""
    yield "## Warnings"
    yield ""
    alarms = answer.alarms
    yield from (f"- {plain(alarm.text, MOST_SENTENCE)}" for alarm in alarms)
    if not alarms:
        yield "- No alarm was raised. The votes alone cannot prove that labels are right."
    yield ""
    yield "## Use"
    yield ""
    yield "```python"
    yield "from datasets import load_dataset"
    yield ""
    yield 'rows = load_dataset("path/to/this/folder", split="train")'
    yield "```"
    yield ""
    yield f"Made by DEEM Studio {__version__}."


def _dimensions(answer: Answer) -> tuple[int, int, int]:
    return answer.votes.n_rows, answer.votes.n_learners, answer.votes.n_classes


def _names(names: Any) -> str:
    every = list(names)
    more = f" and {len(every) - MOST_NAMES:,} more" if len(every) > MOST_NAMES else ""
    return ", ".join(plain(name) for name in every[:MOST_NAMES]) + more
