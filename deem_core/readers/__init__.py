"""Readers: files of votes, turned into `Votes` with a report."""

from deem_core.readers.columns import encode_names
from deem_core.readers.gold import ROW, GoldReading, labels_by_row, queue_answer, read_gold, row_numbers
from deem_core.readers.notes import Note, Report
from deem_core.readers.parse import DELIMITERS
from deem_core.readers.read import Reading, read, read_votes
from deem_core.readers.roles import speaks_of_truth
from deem_core.readers.source import Source, open_source
from deem_core.readers.truth import Truth, class_keys, label_truth, read_truth
from deem_core.votes.labels import DEFAULT

__all__ = [
    "DEFAULT",
    "DELIMITERS",
    "ROW",
    "GoldReading",
    "Note",
    "Reading",
    "Report",
    "Source",
    "Truth",
    "class_keys",
    "encode_names",
    "label_truth",
    "labels_by_row",
    "open_source",
    "queue_answer",
    "read",
    "read_gold",
    "read_truth",
    "read_votes",
    "row_numbers",
    "speaks_of_truth",
]
