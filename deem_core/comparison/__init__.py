"""Comparison of methods on the same votes, scored where truth is known.

`registry` lists the methods, `run` compares them, `result` is what comes out, `verdict` puts it into a sentence.
"""

from deem_core.comparison.cost import expected_comparison, expected_run, expected_time
from deem_core.comparison.evaluation import Evaluation, MethodScore, evaluate
from deem_core.comparison.result import FIRST_CLASS, TIES_DRAWN, Comparison, Difference, MethodResult
from deem_core.comparison.run import MethodProgress, compare
from deem_core.comparison.verdict import conclusion
from deem_core.methods.probabilities import ADVICE, reduction_note
from deem_core.methods.registry import BUDGET, METHODS, TRAINED, Entry, aggregate, entry, quick

__all__ = [
    "ADVICE",
    "BUDGET",
    "FIRST_CLASS",
    "METHODS",
    "TIES_DRAWN",
    "TRAINED",
    "Comparison",
    "Difference",
    "Entry",
    "Evaluation",
    "MethodProgress",
    "MethodResult",
    "MethodScore",
    "aggregate",
    "compare",
    "conclusion",
    "entry",
    "evaluate",
    "expected_comparison",
    "expected_run",
    "expected_time",
    "quick",
    "reduction_note",
]
