"""Column roles by name: which column is the id, which the truth, and whether a file is long."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from deem_core.errors import InputError
from deem_core.readers.report import Notebook, listing
from deem_core.readers.source import UNNAMED

# Usual names, the most telling first: in a long file `task` wins over `id`.
TASK_NAMES = (
    *("task", "task_id", "taskid", "item", "item_id", "question", "question_id", "instance", "instance_id"),
    *("example", "example_id", "object", "object_id", "unit", "unit_id", "document", "document_id", "doc_id"),
    *("image", "image_id", "sample", "sample_id", "text_id", "record", "record_id"),
    *("id", "ids", "uid", "uuid", "guid", "key", "index", "idx", "row", "row_id", "rowid", "row_number", "#"),
    *("unnamed:_0", "__index_level_0__", UNNAMED),
)
WORKER_NAMES = (
    *("worker", "worker_id", "workerid", "annotator", "annotator_id", "performer", "labeler", "labeller"),
    *("rater", "rater_id", "coder", "coder_id", "judge", "judge_id", "user", "user_id", "learner", "model", "source"),
)
LABEL_NAMES = (
    *("label", "answer", "response", "vote", "annotation", "rating", "judgment", "judgement", "choice"),
    *("prediction", "predicted_label", "value", "class", "category"),
)
TRUTH_NAMES = (
    *("truth", "ground_truth", "groundtruth", "gt", "true_label", "gold", "gold_label", "golden", "y_true"),
    *("true", "true_class", "correct_label", "label", "labels", "target", "y", "actual", "class"),
)


def simple(name: str) -> str:
    """Return a name in lower case with underscores, for comparison with the usual names."""
    return re.sub(r"[\s\-]+", "_", name.strip().casefold())


def matches(columns: Iterable[str], usual: Sequence[str]) -> list[str]:
    """Return the columns with a usual name, the most telling name first."""
    rank = {name: position for position, name in enumerate(usual)}
    found = [column for column in columns if simple(column) in rank]
    return sorted(found, key=lambda column: rank[simple(column)])


def require(columns: Sequence[str], wanted: Iterable[str], what: str) -> None:
    """Refuse a column that the caller names but the file does not have."""
    for name in wanted:
        if name not in columns:
            raise InputError(f"There is no {what} column {name!r} in the file; its columns are {listing(columns)}.")


def find_id(columns: Sequence[str], id: str | None, taken: set[str], notebook: Notebook) -> str | None:
    """Return the id column: the one named by the caller, else the one with a usual name if there is just one."""
    if id is not None:
        require(columns, [id], "id")
        notebook.roles[id] = "id"
        return id
    found = [column for column in matches(columns, TASK_NAMES) if column not in taken]
    if len(found) > 1:
        for column in found:
            notebook.leave_out(
                column, f"{listing(found)} could all be the id, so none was taken. Name the one you mean."
            )
        return None
    if not found:
        return None
    what = "The unnamed first column" if found[0] == UNNAMED else f"Column {found[0]!r}"
    notebook.add("understood", f"{what} names the rows (id).", column=found[0])
    notebook.roles[found[0]] = "id"
    return found[0]


def find_truth(columns: Sequence[str], truth: str | None, taken: set[str], notebook: Notebook) -> str | None:
    """Return the truth column: the one named, else the one with a usual name if there is just one.

    Where several could be meant none is used, and none becomes a learner: truth must never leak into votes.
    """
    if truth is not None:
        require(columns, [truth], "truth")
        notebook.roles[truth] = "truth"
        return truth
    found = [column for column in matches(columns, TRUTH_NAMES) if column not in taken]
    if len(found) > 1:
        for column in found:
            notebook.leave_out(
                column, f"{listing(found)} could all be the truth, so none was taken. Name the one you mean."
            )
        return None
    if not found:
        return None
    notebook.add(
        "understood",
        f"Column {found[0]!r} is taken as the truth; it is for evaluation only and never used in training.",
        column=found[0],
    )
    notebook.roles[found[0]] = "truth"
    return found[0]
