"""Formats of fused labels, and the one call that writes any."""

from __future__ import annotations

import os
import shutil
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deem_core.answers.answer import Answer
from deem_core.answers.export import write_fused
from deem_core.answers.writers import hub_folder, label_studio
from deem_core.answers.writers.label_studio import Names
from deem_core.errors import InputError
from deem_core.files.atomic import check_target
from deem_core.files.tables import either
from deem_core.readers import Reading
from deem_core.text import listing


@dataclass(frozen=True)
class Written:
    """A format in which fused labels are written.

    Attributes
    ----------
    name : str
        As ``--format`` takes it.
    title : str
        What people call it.
    endings : tuple of str
        Of file names that stand for it; empty for a folder.
    media_type : str
        Of its file, or of a folder as a zip file.
    """

    name: str
    title: str
    endings: tuple[str, ...]
    media_type: str


@dataclass(frozen=True)
class Download:
    """File of fused labels to be sent, a folder as a zip.

    Attributes
    ----------
    format : str
        A name of `FORMATS`.
    ending, media_type : str
    """

    format: str
    ending: str
    media_type: str


FORMATS = {
    one.name: one
    for one in (
        Written("csv", "CSV", (".csv", ".csv.gz"), "text/csv"),
        Written("tsv", "TSV", (".tsv", ".tsv.gz"), "text/tab-separated-values"),
        Written("parquet", "Parquet", (".parquet",), "application/vnd.apache.parquet"),
        Written("jsonl", "JSON lines", (".jsonl", ".jsonl.gz"), "application/x-ndjson"),
        Written("label-studio", "Label Studio predictions", (".json",), "application/json"),
        Written("huggingface", "Hugging Face dataset folder", (), "application/zip"),
    )
}
"""Every format by its name."""

TABLES = ("csv", "tsv", "parquet", "jsonl")
"""Those that are one table in one file."""

ZIPPED = "_dataset.zip"
"""Ending of a folder as a zip file."""

_GZIP = "application/gzip"

DOWNLOADS = {
    ending.removeprefix(".") if one.name in TABLES else one.name: Download(
        one.name, ending, _GZIP if ending.endswith(".gz") else one.media_type
    )
    for one in FORMATS.values()
    for ending in one.endings or (ZIPPED,)
}
"""Every file that can be sent, by a word: ``csv``, ``csv.gz``, …, ``label-studio``, ``huggingface``."""

_OF_TABLES = ("label_column", "originals", "probabilities", "diagnostics")  # options that columns have


def format_name(path: str | os.PathLike[str], name: str | None = None) -> str:
    """Return the format that a name asks for, else the ending.

    Raises
    ------
    InputError
        If there is no such format, or the path does not go with it.
    """
    file = Path(path).name.lower()
    by_ending = next((one.name for one in FORMATS.values() if file.endswith(one.endings)), None)
    if name is None:
        if by_ending is None:
            endings = [ending for one in FORMATS.values() for ending in one.endings]
            raise InputError(
                f"{Path(path).name!r} does not say how to write it: end the name with {either(endings)}, or name a "
                f"format ({listing(FORMATS)})."
            )
        return by_ending
    if name not in FORMATS:
        raise InputError(f"There is no format {name!r} to write; there are {listing(FORMATS)}.")
    if name == "huggingface" and by_ending is not None:
        raise InputError(f"The format huggingface is a folder; {Path(path).name!r} ends like a file. Leave that out.")
    if name not in {"huggingface", by_ending}:
        raise InputError(f"A file of the format {name} ends with {either(FORMATS[name].endings)}, not {file!r}.")
    return name


def check_output(path: str | os.PathLike[str], name: str | None = None) -> str:
    """Refuse what `write_answer` could not write; returns the format.

    Raises
    ------
    InputError
        If the format is unknown or the place is taken.
    """
    chosen = format_name(path, name)
    if chosen == "huggingface":
        hub_folder.check_folder(path)
    else:
        check_target(path)
    return chosen


def write_answer(
    reading: Reading,
    answer: Answer,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    names: Names | None = None,
    spreadsheet_safe: bool = True,
    **options: Any,
) -> None:
    """Write fused labels in any format.

    Parameters
    ----------
    reading : Reading
        The file as it was read.
    answer : Answer
        For the same rows.
    path : path
        A file, or for ``huggingface`` a folder that is made.
    format : str, optional
        A name of `FORMATS`; by default what the ending says.
    names : Names, optional
        Of the labelling interface, for Label Studio.
    spreadsheet_safe : bool
        For CSV and TSV.
    **options
        Of `deem_core.answers.export.fused_table`. Label Studio has no columns, so that only ``review_below``,
        ``review_share`` and ``blank`` mean something to it.

    Raises
    ------
    InputError
        If the format is unknown, the place is taken, or an option makes no sense.
    """
    chosen = check_output(path, format)
    if chosen in TABLES:
        write_fused(reading, answer, path, spreadsheet_safe=spreadsheet_safe, **options)
    elif chosen == "huggingface":
        hub_folder.write(reading, answer, path, **options)
    else:
        review = {name: value for name, value in options.items() if name not in _OF_TABLES}
        label_studio.write(reading, answer, path, names=names or Names(), **review)


def write_download(
    reading: Reading,
    answer: Answer,
    path: str | os.PathLike[str],
    kind: str,
    names: Names | None = None,
    **options: Any,
) -> None:
    """Write fused labels as one file, whatever the format.

    Parameters
    ----------
    reading, answer
        As in `write_answer`.
    path : path
        In a folder of its own, where a folder can be made, too.
    kind : str
        A word of `DOWNLOADS`.
    names, **options
        As in `write_answer`.
    """
    form = DOWNLOADS[kind].format
    if form != "huggingface":
        write_answer(reading, answer, path, format=form, names=names, **options)
        return
    folder = Path(path).with_name("dataset")
    write_answer(reading, answer, folder, format=form, **options)
    with zipfile.ZipFile(path, "w") as packed:  # Parquet is packed already
        for file in sorted(folder.rglob("*.*")):
            packed.write(file, file.relative_to(folder))
    shutil.rmtree(folder)
