"""DEEM Studio's library: fuse many learners' votes into one label per row, without ground truth."""

from deem_core.errors import DeemError, InputError
from deem_core.readers import read_votes
from deem_core.votes import Votes

__version__ = "0.1.0"

__all__ = ["DeemError", "InputError", "Votes", "__version__", "read_votes"]
