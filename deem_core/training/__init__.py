"""Training: restarts and their health, near-copies, guidance, sweeps.

Importing the room loads no torch.
"""

from deem_core.training.health import Restart

__all__ = ["Restart"]
