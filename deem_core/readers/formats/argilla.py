"""Argilla: records with fields, and answers by user and question."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from deem_core.errors import InputError
from deem_core.readers.bounds import Packed
from deem_core.readers.formats.ballots import Ballots, label_of
from deem_core.readers.formats.content import Content
from deem_core.readers.notes import Note
from deem_core.readers.records import spelled
from deem_core.text import count

FORMAT, TITLE = "argilla", "Argilla export"

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_DROPPED = ("discarded", "draft", "pending")
"""Responses that were not submitted."""
_RESPONSES, _USERS, _STATUS = ".responses", ".responses.users", ".responses.status"
_SUGGESTION, _AGENT = ".suggestion", ".suggestion.agent"
_OF_A_QUESTION = (_RESPONSES, _USERS, _STATUS, _SUGGESTION, _AGENT)


def is_record(record: Any) -> bool:
    """Tell a record of Argilla from others."""
    return (
        isinstance(record, dict)
        and isinstance(record.get("fields"), dict)
        and isinstance(record.get("responses"), (dict, list))
    )


def is_flat(columns: Iterable[str]) -> bool:
    """Tell the columns of a dataset that Argilla wrote."""
    names = set(columns)
    return any(name.endswith(_USERS) and name.removesuffix(".users") in names for name in names)


def read_records(records: Iterable[tuple[str, Any]], packed: Packed, encoding: str, wish: str | None) -> Content:
    """Return the responses of an export as columns of text."""
    ballots, users = Ballots(packed), _Users()
    taken = _Taken(ballots)
    for place, record in records:
        if not is_record(record):
            raise InputError(f"{place.capitalize()} of {packed.name} is no record of Argilla: it has no fields.")
        metadata = record["metadata"] if isinstance(record.get("metadata"), dict) else {}
        data = {**{f"metadata.{key}": value for key, value in metadata.items()}, **record["fields"]}
        told = spelled(record.get("external_id")).strip() or spelled(record.get("id")).strip()
        row = ballots.add_row(told or place.rpartition(" ")[2].replace(",", ""), data)
        for question, response in _responses(record["responses"]):
            taken.take(row, question, users.name(response.get("user_id")), response)
        for question, suggestion in _suggestions(record.get("suggestions")):
            taken.take(row, question, _agent(suggestion.get("agent")), suggestion)
    return ballots.content(wish, format=FORMAT, title=TITLE, encoding=encoding, notes=_told(taken.dropped))


def question_columns(columns: Iterable[str]) -> list[str]:
    """Return the columns that hold answers or suggestions."""
    names = list(columns)
    parts = tuple(
        f"{name.removesuffix(_USERS)}{part}" for name in names if name.endswith(_USERS) for part in _OF_A_QUESTION
    )
    return [name for name in names if name in parts]


def read_flat(rows: Iterable[Mapping[str, Any]], packed: Packed, encoding: str, wish: str | None) -> Content:
    """Return the responses of a dataset in flat columns."""
    ballots, users = Ballots(packed), _Users()
    taken = _Taken(ballots)
    for number, record in enumerate(map(_plain_row, rows), start=1):
        questions = [name.removesuffix(_USERS) for name in record if name.endswith(_USERS)]
        parts = tuple(f"{name}{part}" for name in questions for part in (_RESPONSES, _SUGGESTION))
        data = {
            name: value
            for name, value in record.items()
            if name not in ("id", "_server_id", "status") and not name.startswith(parts)
        }
        row = ballots.add_row(spelled(record.get("id")).strip() or str(number), data)
        for question in questions:
            answers, who = _list(record.get(f"{question}{_RESPONSES}")), _list(record.get(f"{question}{_USERS}"))
            status = _list(record.get(f"{question}{_STATUS}"))
            for at, value in enumerate(answers):
                response = {"value": value, "status": status[at] if at < len(status) else None}
                name = users.name(who[at] if at < len(who) else None)
                taken.take(row, question, name, response)
            suggestion = {"value": record.get(f"{question}{_SUGGESTION}")}
            taken.take(row, question, _agent(record.get(f"{question}{_AGENT}")), suggestion)
    return ballots.content(wish, format=FORMAT, title="Argilla dataset", encoding=encoding, notes=_told(taken.dropped))


class _Users:
    """Short names of users, whose ids are long."""

    def __init__(self) -> None:
        self._taken: dict[str, str] = {}

    def name(self, told: Any) -> str:
        whole = spelled(told).strip()
        if not whole:
            return "user"
        short = f"user_{whole[:8]}" if _UUID.fullmatch(whole) else whole
        return short if self._taken.setdefault(short, whole) == whole else f"user_{whole}"


@dataclass
class _Taken:
    """Ballots, and how many answers were not submitted."""

    ballots: Ballots
    dropped: Counter[str] = field(default_factory=Counter)

    def take(self, row: int, question: str, learner: str, answer: Mapping[str, Any]) -> None:
        status = answer.get("status")
        if status in _DROPPED:
            self.dropped[str(status)] += 1
            return
        label = label_of(answer.get("value"))
        if label is not None:
            self.ballots.vote(row, question, learner, label)


def _responses(told: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield question and response, of either version of the format."""
    if isinstance(told, dict):
        for question, answers in told.items():
            yield from ((question, each) for each in _list(answers) if isinstance(each, dict))
        return
    for response in (each for each in _list(told) if isinstance(each, dict)):
        values = response.get("values")
        if isinstance(values, dict):
            who = {"user_id": response.get("user_id"), "status": response.get("status")}
            for question, value in values.items():
                yield question, {**who, "value": value.get("value") if isinstance(value, dict) else value}
        elif "question_name" in response:
            yield spelled(response["question_name"]), response


def _suggestions(told: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if isinstance(told, dict):
        yield from ((question, each) for question, each in told.items() if isinstance(each, dict))
        return
    for each in _list(told):
        if isinstance(each, dict) and each.get("question_name"):
            yield spelled(each["question_name"]), each


def _agent(told: Any) -> str:
    return spelled(told).strip() or "suggestion"


def _told(dropped: Counter[str]) -> Iterator[Note]:
    if dropped:
        kinds = ", ".join(f"{n:,} {status}" for status, n in dropped.most_common())
        yield Note(
            "left out", f"Left out {count(dropped.total(), 'response')} not submitted: {kinds}.", dropped.total()
        )


def _plain_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with values that JSON could hold."""
    return {key: _plain(value) for key, value in row.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return _plain_row(value)
    return value if value is None or isinstance(value, (str, bool, int, float)) else str(value)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
