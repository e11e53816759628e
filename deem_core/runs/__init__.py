"""Runs: long computations in folders, each done by a worker process.

Names are imported when they are asked for: a worker that waits for its turn holds no library.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    from deem_core.runs.labelled import labels_path, run_answer
    from deem_core.runs.private import read_json
    from deem_core.runs.removal import Removal
    from deem_core.runs.run import Run, State
    from deem_core.runs.sharing import SHARED_ROWS
    from deem_core.runs.space import space_folder
    from deem_core.runs.summary import FusionSummary
    from deem_core.runs.workspace import Workspace
    from deem_core.runs.wreck import Wreck

_HOMES = {
    "Annotations": "runs.annotations",
    "AnswerBook": "runs.answer_book",
    "AnswerFile": "runs.answer_file",
    "Conflict": "runs.answer_book",
    "Dataset": "runs.dataset",
    "FusionSummary": "runs.summary",
    "LearnerGroups": "estimators.summary",
    "Ledger": "runs.answer_book",
    "REVIEWER": "runs.answer_book",
    "Removal": "runs.removal",
    "Reply": "runs.answer_book",
    "RowNames": "runs.answer_book",
    "Run": "runs.run",
    "SHARED_ROWS": "runs.sharing",
    "State": "runs.run",
    "Swept": "runs.beside",
    "Workspace": "runs.workspace",
    "Wreck": "runs.wreck",
    "agreement": "runs.differences",
    "differing_rows": "runs.differences",
    "differing_settings": "runs.differences",
    "labels_path": "runs.labelled",
    "merged_gold": "runs.answer_book",
    "overruled": "runs.answer_book",
    "read_answers": "runs.answer_file",
    "read_json": "runs.private",
    "restore": "runs.answer_file",
    "run_answer": "runs.labelled",
    "reviewer_name": "runs.answer_book",
    "settings_of": "runs.differences",
    "space_folder": "runs.space",
    "sweep_beside": "runs.beside",
    "written": "runs.answer_file",
}

__all__ = [
    "REVIEWER",
    "SHARED_ROWS",
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
    "Wreck",
    "agreement",
    "differing_rows",
    "differing_settings",
    "labels_path",
    "merged_gold",
    "overruled",
    "read_answers",
    "read_json",
    "restore",
    "reviewer_name",
    "run_answer",
    "settings_of",
    "space_folder",
    "sweep_beside",
    "written",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is asked for."""
    if name in _HOMES:
        return getattr(import_module(f"deem_core.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'deem_core.runs' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
