"""The ML engineer's files: one panel of LLM judges, exported in every form that such panels come in.

Every judge says a verdict and how sure it is of each class; some verdicts are missing. The forms hold the same
verdicts, and all but the plain JSONL forms the same probabilities.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

CLASSES = ("helpful", "unhelpful", "unsafe")
SHARES = (0.5, 0.3, 0.2)
JUDGES = ("gpt-4o", "claude-sonnet", "gemini", "llama-70b", "mistral")
SKILLS = (0.90, 0.88, 0.84, 0.78, 0.70)
MISSING_RATE = 0.05
ID = "prompt_id"


@dataclass(frozen=True)
class Panel:
    """Verdicts of judges on prompts, and the truth that the files hide.

    Attributes
    ----------
    ids : tuple of str, length n
    truth : ndarray of int, shape (n,)
    probabilities : ndarray of float, shape (n, d, K)
        What each judge says; rows of NaN where it did not answer.
    """

    ids: tuple[str, ...]
    truth: np.ndarray
    probabilities: np.ndarray

    @property
    def verdicts(self) -> np.ndarray:
        """The most probable class of each judge, shape (n, d); -1 where it did not answer."""
        answered = ~np.isnan(self.probabilities[..., 0])
        return np.where(answered, np.argmax(np.nan_to_num(self.probabilities), axis=-1), -1)

    @property
    def right(self) -> dict[str, str]:
        """Id → right class."""
        return {name: CLASSES[label] for name, label in zip(self.ids, self.truth, strict=True)}


def panel(n_rows: int = 600, *, seed: int = 5) -> Panel:
    """Draw a panel: the better a judge, the more of its probability lies on the right class."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(len(CLASSES), n_rows, p=SHARES)
    said = np.empty((n_rows, len(JUDGES)), dtype=int)
    for judge, skill in enumerate(SKILLS):
        other = (truth + rng.integers(1, len(CLASSES), n_rows)) % len(CLASSES)
        said[:, judge] = np.where(rng.random(n_rows) < skill, truth, other)
    wrong = said != truth[:, None]
    sureness = rng.beta(np.where(wrong, 2.0, 6.0), 2.0)  # who errs is less sure
    top = np.round(0.4 + 0.58 * sureness, 2)
    probabilities = np.repeat(((1 - top) / (len(CLASSES) - 1))[..., None], len(CLASSES), axis=-1)
    np.put_along_axis(probabilities, said[..., None], top[..., None], axis=-1)
    probabilities[rng.random(said.shape) < MISSING_RATE] = np.nan
    return Panel(tuple(f"prompt-{row + 1:04d}" for row in range(n_rows)), truth, probabilities)


def label_and_probabilities(made: Panel) -> bytes:
    """Return CSV with a verdict column per judge (``gpt-4o``) and its probabilities (``gpt-4o:helpful``)."""
    header = [ID]
    for judge in JUDGES:
        header += [judge, *(f"{judge}:{name}" for name in CLASSES)]
    return _csv(
        header,
        lambda row, judge: [_verdict(made, row, judge), *map(_number, made.probabilities[row, judge])],
        made,
    )


def verdict_and_probability(made: Panel) -> bytes:
    """Return CSV with two columns per judge: ``gpt-4o_verdict``, and ``gpt-4o_prob`` of that verdict."""
    header = [ID]
    for judge in JUDGES:
        header += [f"{judge}_verdict", f"{judge}_prob"]
    return _csv(
        header,
        lambda row, judge: [_verdict(made, row, judge), _number(made.probabilities[row, judge].max())],
        made,
    )


def records(made: Panel) -> bytes:
    """Return JSONL with one line per verdict: ``{"item", "judge", "label"}``."""
    return _json_lines(
        {"item": name, "judge": judge, "label": label}
        for row, name in enumerate(made.ids)
        for judge, label in _labels(made, row).items()
    )


def nested(made: Panel) -> bytes:
    """Return JSONL with one line per prompt: ``{"item", "votes": {judge: label}}``."""
    return _json_lines({"item": name, "votes": _labels(made, row)} for row, name in enumerate(made.ids))


def nested_list(made: Panel) -> bytes:
    """Return JSONL with one line per prompt: ``{"item", "votes": [{"judge", "label"}]}``."""
    return _json_lines(
        {"item": name, "votes": [{"judge": judge, "label": label} for judge, label in _labels(made, row).items()]}
        for row, name in enumerate(made.ids)
    )


FORMS: dict[str, Callable[[Panel], bytes]] = {
    "label_and_probabilities.csv": label_and_probabilities,
    "verdict_and_probability.csv": verdict_and_probability,
    "records.jsonl": records,
    "nested.jsonl": nested,
    "nested_list.jsonl": nested_list,
}
"""Name of a file → what writes it."""


def _csv(header: Sequence[str], cells: Callable[[int, int], list[str]], made: Panel) -> bytes:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(header)
    for row, name in enumerate(made.ids):
        writer.writerow([name, *(cell for judge in range(len(JUDGES)) for cell in cells(row, judge))])
    return stream.getvalue().encode()


def _json_lines(lines: Any) -> bytes:
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def _labels(made: Panel, row: int) -> dict[str, str]:
    """Return judge → label of one prompt, without the judges who did not answer."""
    said = {judge: _verdict(made, row, column) for column, judge in enumerate(JUDGES)}
    return {judge: label for judge, label in said.items() if label}


def _verdict(made: Panel, row: int, judge: int) -> str:
    code = made.verdicts[row, judge]
    return "" if code < 0 else CLASSES[code]


def _number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.4g}"
