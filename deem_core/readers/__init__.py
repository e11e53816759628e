"""Readers: files of votes, turned into `Votes` with a report."""

from deem_core.readers.columns import encode_names
from deem_core.readers.gold import ROW, GoldReading, labels_by_row, queue_answer, read_gold, row_numbers
from deem_core.readers.label_file import read_labels, to_json, write_labels
from deem_core.readers.label_table import LabelRow, Wish, label_table, may_be_one, wished_map
from deem_core.readers.notes import Note, Report
from deem_core.readers.noun import Noun, noun_of
from deem_core.readers.order import knows_order, steps_text
from deem_core.readers.parse import DELIMITERS
from deem_core.readers.probabilities import HOW_TO_USE as HOW_TO_USE_PROBABILITIES
from deem_core.readers.read import Reading, read, read_votes
from deem_core.readers.roles import speaks_of_truth
from deem_core.readers.several import label_names, proposed_sign
from deem_core.readers.sketch import Sketch, sketch
from deem_core.readers.source import Source, open_source
from deem_core.readers.truth import Truth, class_keys, label_truth, read_truth
from deem_core.votes.label_map import AS_SPELLED, LabelMap
from deem_core.votes.labels import DEFAULT
from deem_core.votes.scale import proposed_order

__all__ = [
    "AS_SPELLED",
    "DEFAULT",
    "DELIMITERS",
    "HOW_TO_USE_PROBABILITIES",
    "ROW",
    "GoldReading",
    "LabelMap",
    "LabelRow",
    "Note",
    "Noun",
    "Reading",
    "Report",
    "Sketch",
    "Source",
    "Truth",
    "Wish",
    "class_keys",
    "encode_names",
    "knows_order",
    "label_names",
    "label_table",
    "label_truth",
    "labels_by_row",
    "may_be_one",
    "noun_of",
    "open_source",
    "proposed_order",
    "proposed_sign",
    "queue_answer",
    "read",
    "read_gold",
    "read_labels",
    "read_truth",
    "read_votes",
    "row_numbers",
    "sketch",
    "speaks_of_truth",
    "steps_text",
    "to_json",
    "wished_map",
    "write_labels",
]
