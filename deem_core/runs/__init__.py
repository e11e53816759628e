"""Runs: work that outlives the page that started it, in folders anyone can inspect."""

from deem_core.runs.dataset import Dataset
from deem_core.runs.removal import Removal
from deem_core.runs.run import Run
from deem_core.runs.state import State
from deem_core.runs.workspace import Workspace

__all__ = ["Dataset", "Removal", "Run", "State", "Workspace"]
