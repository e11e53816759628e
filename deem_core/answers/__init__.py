"""Answers: votes with a posterior, and all that follows for every row."""

from deem_core.answers.answer import MAX_PROBABILITIES, Answer
from deem_core.answers.stored import NOT_KEPT, StoredAnswer
from deem_core.answers.summary import AnswerSummary
from deem_core.answers.writers import DOWNLOADS, ZIPPED, Names, write_answer, write_download

__all__ = [
    "DOWNLOADS",
    "MAX_PROBABILITIES",
    "NOT_KEPT",
    "ZIPPED",
    "Answer",
    "AnswerSummary",
    "Names",
    "StoredAnswer",
    "write_answer",
    "write_download",
]
