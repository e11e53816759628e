"""Auto: the default, which asks the votes who should answer."""

from deem_core.auto.decision import Branch, Decision, aggregate, decide, make_field
from deem_core.auto.fusion import AUTO, Fusion, fuse_run

__all__ = ["AUTO", "Branch", "Decision", "Fusion", "aggregate", "decide", "fuse_run", "make_field"]
