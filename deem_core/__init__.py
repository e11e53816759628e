"""DEEM Studio's library: fuse many learners' votes into one label per row, without ground truth."""

from typing import TYPE_CHECKING, Any

from deem_core.errors import DeemError, InputError
from deem_core.readers import read_votes
from deem_core.votes import Votes

if TYPE_CHECKING:
    from deem_core.comparing import compare
    from deem_core.estimator import DEEM, IRBM
    from deem_core.sweeping import sweep

__version__ = "0.1.0"

__all__ = ["DEEM", "IRBM", "DeemError", "InputError", "Votes", "__version__", "compare", "read_votes", "sweep"]


def __getattr__(name: str) -> Any:
    """Import the estimators when they are asked for: torch takes a second, and reading a file needs none of it."""
    if name in ("DEEM", "IRBM"):
        from deem_core import estimator  # noqa: PLC0415

        return getattr(estimator, name)
    if name == "compare":
        from deem_core import comparing  # noqa: PLC0415

        return comparing.compare
    if name == "sweep":
        from deem_core import sweeping  # noqa: PLC0415

        return sweeping.sweep
    raise AttributeError(f"module 'deem_core' has no attribute {name!r}")
