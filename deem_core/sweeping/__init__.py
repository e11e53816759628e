"""Sweeps: many learning rates, or depths, trained from one initialisation, measured and judged.

`sweep` runs one; `Sweeper` does the same record by record, to be watched and stopped; `Sweep` is the result. Those
who only look at results need no torch, so what trains is imported when it is asked for.
"""

from typing import TYPE_CHECKING, Any

from deem_core.sweeping.candidates import default_rates
from deem_core.sweeping.result import Sweep

if TYPE_CHECKING:
    from deem_core.sweeping.run import Sweeper, SweepProgress, estimate_seconds, sweep

__all__ = ["Sweep", "SweepProgress", "Sweeper", "default_rates", "estimate_seconds", "sweep"]


def __getattr__(name: str) -> Any:
    """Import what trains when it is asked for."""
    if name in ("SweepProgress", "Sweeper", "estimate_seconds", "sweep"):
        from deem_core.sweeping import run  # noqa: PLC0415

        return getattr(run, name)
    raise AttributeError(f"module 'deem_core.sweeping' has no attribute {name!r}")
