"""Comparing: all methods on the same votes, scored where the truth is known.

`registry` lists the methods, `run` compares them, `result` is what comes out, `verdict` puts it into a sentence.
"""

from deem_core.comparing.registry import METHODS, Entry, aggregate, entry
from deem_core.comparing.result import Comparison, Difference, MethodResult
from deem_core.comparing.run import BUDGET, MethodProgress, compare
from deem_core.comparing.verdict import conclusion

__all__ = [
    "BUDGET",
    "METHODS",
    "Comparison",
    "Difference",
    "Entry",
    "MethodProgress",
    "MethodResult",
    "aggregate",
    "compare",
    "conclusion",
    "entry",
]
