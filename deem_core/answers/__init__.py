"""Answers: votes with a posterior, and all that follows for every row."""

from deem_core.answers.answer import MAX_PROBABILITIES, Answer
from deem_core.answers.stored import NOT_KEPT, StoredAnswer
from deem_core.answers.summary import AnswerSummary
from deem_core.answers.writers import Names, write_answer

__all__ = ["MAX_PROBABILITIES", "NOT_KEPT", "Answer", "AnswerSummary", "Names", "StoredAnswer", "write_answer"]
