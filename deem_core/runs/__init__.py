"""Runs: long computations in folders, each done by a worker process."""

from deem_core.estimators.summary import LearnerGroups
from deem_core.runs.annotations import Annotations
from deem_core.runs.answer_book import (
    REVIEWER,
    AnswerBook,
    Conflict,
    Ledger,
    Reply,
    RowNames,
    merged_gold,
    overruled,
    reviewer_name,
)
from deem_core.runs.answer_file import AnswerFile, read_answers, restore, written
from deem_core.runs.beside import Swept, sweep_beside
from deem_core.runs.dataset import Dataset
from deem_core.runs.differences import agreement, differing_rows, differing_settings, settings_of
from deem_core.runs.private import read_json
from deem_core.runs.removal import Removal
from deem_core.runs.run import Run, State
from deem_core.runs.space import space_folder
from deem_core.runs.summary import FusionSummary
from deem_core.runs.workspace import Workspace

__all__ = [
    "REVIEWER",
    "Annotations",
    "AnswerBook",
    "AnswerFile",
    "Conflict",
    "Dataset",
    "FusionSummary",
    "LearnerGroups",
    "Ledger",
    "Removal",
    "Reply",
    "RowNames",
    "Run",
    "State",
    "Swept",
    "Workspace",
    "agreement",
    "differing_rows",
    "differing_settings",
    "merged_gold",
    "overruled",
    "read_answers",
    "read_json",
    "restore",
    "reviewer_name",
    "settings_of",
    "space_folder",
    "sweep_beside",
    "written",
]
