"""Readers: files of votes, turned into `Votes` with a report."""

from deem_core.readers.notes import Note, Report
from deem_core.readers.parse import DELIMITERS
from deem_core.readers.read import Reading, read, read_votes
from deem_core.readers.source import Source, open_source
from deem_core.readers.truth import Truth, label_truth, read_truth
from deem_core.votes.labels import DEFAULT

__all__ = [
    "DEFAULT",
    "DELIMITERS",
    "Note",
    "Reading",
    "Report",
    "Source",
    "Truth",
    "label_truth",
    "open_source",
    "read",
    "read_truth",
    "read_votes",
]
