"""Gold: a few known labels that choose, weigh and estimate."""

from deem_core.answers.verdict import Estimate, Rival, Verdict
from deem_core.gold.choice import choose
from deem_core.gold.field import CAMPS, LEARNER, Field
from deem_core.gold.orders import Orders, next_order
from deem_core.gold.questions import Questions, questions
from deem_core.gold.words import ADVISED, TRUSTED

__all__ = [
    "ADVISED",
    "CAMPS",
    "LEARNER",
    "TRUSTED",
    "Estimate",
    "Field",
    "Orders",
    "Questions",
    "Rival",
    "Verdict",
    "choose",
    "next_order",
    "questions",
]
