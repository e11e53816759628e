"""Sweeps over learning rates or depths, measured and judged.

All candidates train from one initialisation.

`sweep` runs one; `Sweeper` does the same record by record, to be watched and stopped; `Sweep` is the result. Those
who only look at results need no torch, so what trains is imported when it is asked for.
"""

from typing import TYPE_CHECKING, Any

from deem_core.errors import torch_wanted
from deem_core.training.sweep.candidates import check_rates, default_rates
from deem_core.training.sweep.result import Sweep

if TYPE_CHECKING:
    from deem_core.training.sweep.sweeper import Sweeper, SweepProgress, estimate, sweep

__all__ = ["Sweep", "SweepProgress", "Sweeper", "check_rates", "default_rates", "estimate", "sweep"]


def __getattr__(name: str) -> Any:
    """Import what trains when it is asked for."""
    if name in ("SweepProgress", "Sweeper", "estimate", "sweep"):
        with torch_wanted():
            from deem_core.training.sweep import sweeper  # noqa: PLC0415

        return getattr(sweeper, name)
    raise AttributeError(f"module 'deem_core.training.sweep' has no attribute {name!r}")
