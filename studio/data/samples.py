"""Bundled samples, each read once for all sessions."""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import streamlit as st

from deem_core import InputError, describe, readers
from deem_core.readers import Reading
from deem_core.votes import Facts
from studio import launch

LIST = "samples.json"


@dataclass(frozen=True)
class Sample:
    """A bundled file.

    Attributes
    ----------
    name : str
        The file's name without ending; stands in the address.
    title : str
    layout : "wide", "long" or "soft"
    shows : str
        One sentence.
    path : pathlib.Path
    truth_path : pathlib.Path, optional
        A second file of true labels.
    """

    name: str
    title: str
    layout: str
    shows: str
    path: Path
    truth_path: Path | None = None


@dataclass(frozen=True)
class Opened:
    """A sample that was read.

    Attributes
    ----------
    sample : Sample
    reading : deem_core.readers.Reading
    facts : deem_core.votes.describe.Facts
    """

    sample: Sample
    reading: Reading
    facts: Facts

    def head(self, rows: int = 8) -> pd.DataFrame:
        """Return the first rows of the file as they are spelled there."""
        source = self.reading.source
        first = source.table.slice(0, rows)
        return pd.DataFrame({name: first[name].to_pylist() for name in source.columns})


def folder() -> Path:
    """Return where the samples are."""
    return launch.app_root() / "sample_data"


def catalogue() -> tuple[Sample, ...]:
    """Return the samples in the order of their list.

    Raises
    ------
    InputError
        If the list is missing or damaged.
    """
    place = folder()
    try:
        listed = json.loads((place / LIST).read_text(encoding="utf-8"))
        return tuple(
            Sample(
                name=Path(entry["file"]).stem,
                title=entry["title"],
                layout=entry["layout"],
                shows=entry["shows"],
                path=place / entry["file"],
                truth_path=place / entry["truth_file"] if "truth_file" in entry else None,
            )
            for entry in listed
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"The list of samples, {LIST}, is missing or damaged ({type(error).__name__}). Install DEEM Studio again."
        ) from error


def find(name: str) -> Sample:
    """Return the sample of a name.

    Raises
    ------
    InputError
        If there is none.
    """
    for sample in catalogue():
        if sample.name == name:
            return sample
    raise InputError(f"There is no sample named {name[:60]!r}. Choose one of those above.")


def open_sample(sample: Sample) -> Opened:
    """Read a sample, or return what the same bytes gave before.

    Raises
    ------
    InputError
        If a file is missing or cannot be understood.
    """
    data = _bytes(sample.path)
    truth = None if sample.truth_path is None else _bytes(sample.truth_path)
    digests = tuple(hashlib.sha256(part).hexdigest() for part in (data, truth) if part is not None)
    reading, facts = _read(sample.path.name, digests, data, truth, sample.truth_path)
    return Opened(sample, reading, facts)


@st.cache_resource(max_entries=16, show_spinner=False)
def _read(
    name: str, digests: tuple[str, ...], _data: bytes, _truth: bytes | None, _truth_path: Path | None
) -> tuple[Reading, Facts]:
    """Read the bytes behind the digests.

    Arguments with an underscore are not part of the cache key.
    """
    truth_file = None if _truth is None or _truth_path is None else _Named(_truth, _truth_path.name)
    reading = readers.read(_Named(_data, name), truth_file=truth_file)
    return reading, describe(reading.votes)


class _Named(io.BytesIO):
    """Bytes that know the name of their file, for the report."""

    def __init__(self, data: bytes, name: str) -> None:
        super().__init__(data)
        self.name = name


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(
            f"The sample file {path.name} cannot be read ({error.strerror or error}). Install DEEM Studio again."
        ) from error


@dataclass(frozen=True)
class Layout:
    """A way to write votes down.

    Attributes
    ----------
    name : "wide", "long" or "soft"
    title, icon : str
    sentence : str
        Markdown.
    example : str
        A whole small file.
    """

    name: str
    title: str
    icon: str
    sentence: str
    example: str


LAYOUTS = {
    layout.name: layout
    for layout in (
        Layout(
            "wide",
            "Wide",
            ":material/view_column:",
            "One line per row and one column per learner. An empty cell is a vote that was not cast; `id` and "
            "`label` (the truth) are optional.",
            "id,model_a,model_b,model_c,label\nimg_1,cat,cat,dog,cat\nimg_2,dog,,dog,dog\n",
        ),
        Layout(
            "long",
            "Long",
            ":material/table_rows:",
            "One line per answer: which task, which worker, which label. True labels go into a second file, which "
            "can be added below a file once it is read.",
            "task,worker,label\nimg_1,ann,cat\nimg_1,bob,dog\nimg_2,ann,dog\n",
        ),
        Layout(
            "soft",
            "Soft",
            ":material/percent:",
            "One line per row and one column per learner and class, named `learner:class`, with probabilities.",
            "id,tree:cat,tree:dog,svm:cat,svm:dog\nimg_1,0.9,0.1,0.6,0.4\nimg_2,0.2,0.8,0.3,0.7\n",
        ),
    )
}
