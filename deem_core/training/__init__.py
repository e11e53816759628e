"""Training: restarts and their health, near-copies, guidance, sweeps.

Importing the room loads no torch.
"""

from deem_core.training.alarms import curves_judged
from deem_core.training.failure import alarms_of
from deem_core.training.health import Restart

__all__ = ["Restart", "alarms_of", "curves_judged"]
