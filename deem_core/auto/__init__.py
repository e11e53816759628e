"""Auto: the default, which asks the votes who should answer."""

from deem_core.auto.decision import Branch, Decision, aggregate, decide

__all__ = ["Branch", "Decision", "aggregate", "decide"]
