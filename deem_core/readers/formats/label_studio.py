"""Label Studio: exports of annotated tasks, as JSON and as JSON-MIN."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from deem_core.errors import InputError
from deem_core.readers.bounds import Packed
from deem_core.readers.formats.ballots import Ballots, label_of
from deem_core.readers.formats.content import Content
from deem_core.readers.notes import Note
from deem_core.readers.objects import Number
from deem_core.readers.records import spelled
from deem_core.text import count

FORMAT, TITLE = "label studio", "Label Studio export"

_ANNOTATIONS = ("annotations", "completions")  # the second before version 1.0
_ANSWERS = {
    "choices": "choices",
    "rating": "rating",
    "number": "number",
    "pairwise": "selected",
    "taxonomy": "taxonomy",
}
"""Type of a control → where its value is."""
_REGION = frozenset({"start", "end", "x", "y", "points", "rle", "channel", "startOffset", "globalOffsets"})
"""Keys of answers about a part of a task."""
_LISTED = 3  # kinds of other answers that a note names


def is_task(record: Any) -> bool:
    """Tell an annotated task from other records."""
    return (
        isinstance(record, dict)
        and isinstance(record.get("data"), dict)
        and any(
            isinstance(each, dict) and isinstance(each.get("result"), list)
            for key in (*_ANNOTATIONS, "predictions")
            for each in _list(record.get(key))
        )
    )


def is_bare_task(record: Any) -> bool:
    """Tell a task that nobody annotated from other records."""
    return isinstance(record, dict) and isinstance(record.get("data"), dict) and record.get("annotations") == []


def is_small(record: Any) -> bool:
    """Tell an annotation of a JSON-MIN export from other records."""
    return isinstance(record, dict) and "annotation_id" in record and "annotator" in record


def read_tasks(records: Iterable[tuple[str, Any]], packed: Packed, encoding: str, wish: str | None) -> Content:
    """Return the annotations of an export as columns of text."""
    ballots, counts, others = Ballots(packed), Counter[str](), Counter[str]()
    for place, record in records:
        if not isinstance(record, dict) or not isinstance(record.get("data"), dict):
            raise InputError(f"{place.capitalize()} of {packed.name} is no task of Label Studio: it has no data.")
        row = ballots.add_row(_id(record, place), record["data"])
        for annotation in (each for key in _ANNOTATIONS for each in _list(record.get(key))):
            if not isinstance(annotation, dict):
                continue
            if annotation.get("was_cancelled") is True:
                counts["cancelled"] += 1
                continue
            truth = annotation.get("ground_truth") is True
            counts["truth" if truth else "annotations"] += 1
            for question, label in _answers(annotation, others):
                if truth:
                    ballots.know(row, question, label)
                else:
                    ballots.vote(row, question, annotator(annotation.get("completed_by")), label)
        for prediction in _list(record.get("predictions")):
            if isinstance(prediction, dict):
                counts["predictions"] += 1
                model = spelled(prediction.get("model_version")).strip() or "prediction"
                for question, label in _answers(prediction, others):
                    ballots.vote(row, question, f"{model} (model)" if _is_person(model) else model, label)
    _refuse_unanswered(packed.name, len(ballots.ids), counts)
    return ballots.content(wish, format=FORMAT, title=TITLE, encoding=encoding, notes=_told(counts, others))


def read_small(records: Iterable[tuple[str, Any]], packed: Packed, encoding: str, wish: str | None) -> Content:
    """Return the annotations of a JSON-MIN export as columns of text.

    A record is one annotation: the task's data, then ``id``, its answers, and who gave them.
    """
    ballots, others, row_of = Ballots(packed), Counter[str](), dict[str, int]()
    n = 0
    for place, record in records:
        if not is_small(record):
            raise InputError(f"{place.capitalize()} of {packed.name} is no annotation of Label Studio.")
        n += 1
        keys = list(record)
        after = keys.index("id") + 1 if "id" in keys else 0
        between = keys[after : keys.index("annotator")]
        task = _id(record, place)
        if task not in row_of:
            data = keys[:after] if "id" in keys else ()
            row_of[task] = ballots.add_row(task, {key: record[key] for key in data if key != "id"})
        for question in between:
            label = _short(record[question])
            if label is None:
                others[question] += 1
            else:
                ballots.vote(row_of[task], question, annotator(record["annotator"]), label)
    counts = Counter({"annotations": n})
    return ballots.content(
        wish, format=FORMAT, title=f"{TITLE} (JSON-MIN)", encoding=encoding, notes=_told(counts, others)
    )


def annotator(told: Any) -> str:
    """Return the name of who annotated: an address, or a number."""
    if isinstance(told, dict):
        told = next((told[key] for key in ("email", "username", "id") if told.get(key)), None)
    name = spelled(told).strip()
    if not name:
        return "annotator"
    return f"annotator_{name}" if isinstance(told, Number) or name.isdecimal() else name


def _is_person(name: str) -> bool:
    return name == "annotator" or name.startswith("annotator_") or "@" in name


def _answers(annotation: Mapping[str, Any], others: Counter[str]) -> Iterator[tuple[str, str]]:
    """Yield question and label of an annotation; count other answers."""
    for result in _list(annotation.get("result")):
        if not isinstance(result, dict) or not isinstance(result.get("value"), dict):
            continue
        kind, value = spelled(result.get("type")), result["value"]
        label = None
        if kind in _ANSWERS and not _REGION & value.keys():
            answer = value.get(_ANSWERS[kind])
            if kind == "taxonomy":
                answer = ["/".join(map(spelled, path)) for path in _list(answer) if isinstance(path, list)]
            label = label_of(answer)
        if label is None:
            others[kind or "?"] += 1
        else:
            yield spelled(result.get("from_name")).strip() or kind, label


def _short(value: Any) -> str | None:
    """Return the answer of a JSON-MIN record."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, dict):
        keys = [key for key in ("choices", "rating", "number", "selected") if key in value]
        return label_of(value[keys[0]]) if keys and not _REGION & value.keys() else None
    return label_of(value)


def _refuse_unanswered(name: str, tasks: int, counts: Counter[str]) -> None:
    """Say that nobody answered, rather than that answers cannot be read."""
    if counts["annotations"] or counts["predictions"]:
        return
    if counts["cancelled"] and not counts["truth"]:
        reason = f"all {count(counts['cancelled'], 'annotation')} were cancelled"
        if counts["cancelled"] == 1:
            reason = "its only annotation was cancelled"
    elif counts["truth"]:
        reason = "all its annotations are ground truth, which is for evaluation only"
    else:
        reason = f"nobody has annotated its {count(tasks, 'task')} yet"
    raise InputError(f"{name} is a Label Studio export without votes: {reason}. Annotate, then export it again.")


def _told(counts: Counter[str], others: Counter[str]) -> Iterator[Note]:
    texts = [count(counts["annotations"], "annotation")]
    if counts["predictions"]:
        texts.append(f"{count(counts['predictions'], 'prediction')} of models, which are learners as well")
    yield Note("understood", f"{' and '.join(texts)}.", counts["annotations"])
    if counts["truth"]:
        text = f"{count(counts['truth'], 'annotation')} marked as ground truth: true labels, and no votes."
        yield Note("understood", text, counts["truth"])
    if counts["cancelled"]:
        text = f"Left out {count(counts['cancelled'], 'cancelled annotation')}."
        yield Note("left out", text, counts["cancelled"])
    if others:
        kinds = ", ".join(repr(kind[:40]) for kind, _ in others.most_common(_LISTED))
        text = f"Left out {count(others.total(), 'answer')} without a label for a whole task ({kinds})."
        yield Note("left out", text, others.total())


def _id(record: Mapping[str, Any], place: str) -> str:
    told = spelled(record.get("id")).strip() or spelled(record.get("inner_id")).strip()
    return told or place.rpartition(" ")[2].replace(",", "")


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
