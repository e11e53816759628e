"""Comparison of methods on the same votes, scored where truth is known.

`registry` lists the methods, `run` compares them, run by run (`piece`), `result` is what comes out, `verdict` puts it
into a sentence.
"""

from deem_core.comparison.cost import expected_comparison, expected_run, expected_time
from deem_core.comparison.evaluation import Evaluation, MethodScore, evaluate
from deem_core.comparison.progress import MethodProgress
from deem_core.comparison.result import (
    CLUSTER_SECONDS,
    FIRST_CLASS,
    TIES_DRAWN,
    Comparison,
    Difference,
    MethodResult,
)
from deem_core.comparison.run import compare
from deem_core.comparison.verdict import conclusion
from deem_core.methods.probabilities import ADVICE, reduction_note
from deem_core.methods.registry import BUDGET, METHODS, TRAINED, Entry, aggregate, entry, quick

__all__ = [
    "ADVICE",
    "BUDGET",
    "CLUSTER_SECONDS",
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
