"""Runs: long computations in folders, each done by a worker process."""

from deem_core.estimators.summary import LearnerGroups
from deem_core.runs.beside import Swept, sweep_beside
from deem_core.runs.dataset import Dataset
from deem_core.runs.removal import Removal
from deem_core.runs.run import Run, State
from deem_core.runs.summary import FusionSummary
from deem_core.runs.workspace import Workspace

__all__ = ["Dataset", "FusionSummary", "LearnerGroups", "Removal", "Run", "State", "Swept", "Workspace", "sweep_beside"]
