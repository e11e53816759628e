"""Exports: JSON of annotation tools, told by its first records."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from typing import Any

from deem_core.errors import InputError
from deem_core.readers.bounds import Packed
from deem_core.readers.formats import argilla, label_studio, wrench
from deem_core.readers.formats.content import Content
from deem_core.readers.formats.foreign import Wish
from deem_core.readers.objects import objects

LOOKED_AT = 100
"""Records by which a format is told: tasks that nobody annotated tell nothing."""

HEAD = 1 << 20
"""Bytes that must hold a word of the format; what lacks it costs no second look."""

Reader = Callable[[Iterable[tuple[str, Any]], Packed, str, str | None], Content]

_TOOLS: tuple[tuple[bytes, Callable[[Any], bool], Reader], ...] = (
    (b'"result"', label_studio.is_task, label_studio.read_tasks),
    (b'"annotation_id"', label_studio.is_small, label_studio.read_small),
    (b'"annotations"', label_studio.is_bare_task, label_studio.read_tasks),
    (b'"responses"', argilla.is_record, argilla.read_records),
)


def read_export(packed: Packed, data: bytes, encoding: str, wish: Wish, beside: Path | None = None) -> Content | None:
    """Return what a tool exported; None of other records.

    Parameters
    ----------
    packed : Packed
    data : bytes
        UTF-8 text of JSON.
    encoding : str
        What the text was in.
    wish : Wish
    beside : Path, optional
        Where the file is, and perhaps another with the names of its classes.
    """
    try:
        if wrench.is_wrench(data):
            names = {} if beside is None else wrench.names_beside(beside)
            return wrench.read_wrench(packed, data, encoding, names)
        head = data[:HEAD]
        for word, tells, read in _TOOLS:
            if word in head and any(tells(record) for _, record in islice(objects(packed.name, data)[0], LOOKED_AT)):
                return read(objects(packed.name, data)[0], packed, encoding, wish.label)
    except RecursionError:
        raise InputError(f"{packed.name} is nested too deeply to be read.") from None
    return None
