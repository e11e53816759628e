"""Roles of columns by their names: id, truth, task, worker, label."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from deem_core.errors import InputError
from deem_core.readers.notes import Notebook
from deem_core.text import quoted

if TYPE_CHECKING:
    from deem_core.readers.source import Source

UNNAMED = "(unnamed)"
"""Stands for the empty header cell that pandas writes above its index."""

# Usual names, the most telling first: in a long file `task` wins over `id`.
TASK_NAMES = (
    *(
        "task",
        "task_id",
        "taskid",
        "hit",
        "hit_id",
        "hitid",
        "item",
        "item_id",
        "question",
        "question_id",
        "instance",
        "instance_id",
    ),
    *("example", "example_id", "object", "object_id", "unit", "unit_id", "document", "document_id", "doc_id"),
    *("image", "image_id", "sample", "sample_id", "text_id", "record", "record_id"),
    *("id", "ids", "uid", "uuid", "guid", "key", "index", "idx", "row", "row_id", "rowid", "row_number", "#"),
    *("unnamed:_0", "__index_level_0__", UNNAMED),
)
CLEAR_WORKER_NAMES = (
    *("worker", "worker_id", "workerid", "turker", "annotator", "annotator_id", "performer", "labeler", "labeller"),
)
WORKER_NAMES = (
    *CLEAR_WORKER_NAMES,
    *("rater", "rater_id", "coder", "coder_id", "judge", "judge_id", "user", "user_id", "learner", "model", "source"),
    *("rule", "rule_id", "rule_name", "lf", "lf_id", "lf_name", "labeling_function", "labelling_function"),
)
LABEL_NAMES = (
    *("label", "answer", "response", "vote", "annotation", "rating", "judgment", "judgement", "choice"),
    *("prediction", "predicted_label", "value", "class", "category"),
)
TRUTH_NAMES = (
    *("truth", "ground_truth", "groundtruth", "gt", "true_label", "true_labels", "label_true", "true_class", "y_true"),
    *("gold", "golden", "gold_label", "gold_standard", "gold_answer", "gt_label", "truth_label", "ground_truth_label"),
    *("reviewed_label", "reviewed"),
    *("correct_label", "correct_answer", "correct", "expected_label", "expected", "reference_label", "reference"),
    *("true", "y_test", "actual", "label", "labels", "target", "y", "class"),
)
ANSWER_NAMES = ("fused_label", "majority_vote")
FUSED_BESIDE = frozenset({"confidence", "majority_vote", "agreement", "entropy", "needs_review"})
"""Columns by which a fused file is told, whatever its label is called."""
_ID_WORDS = {"id", "ids", "uid", "uuid", "guid", "key", "ticket", "name", "filename", "file", "path", "url"}
_MANY_ROWS = 20
_TRUTH_WORDS = {"truth", "groundtruth", "gt", "gold", "golden"}


def simple(name: str) -> str:
    """Return a name in lower case with underscores, for comparison."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.strip())  # GroundTruth
    return re.sub(r"[\s\-]+", "_", words.casefold())


def smells_of_truth(name: str) -> bool:
    """Tell whether a name hints at the truth."""
    return not _TRUTH_WORDS.isdisjoint(re.split(r"[^a-z0-9]+", simple(name)))


def matches(columns: Iterable[str], usual: Sequence[str]) -> list[str]:
    """Return the columns with a usual name, the most telling name first."""
    rank = {name: position for position, name in enumerate(usual)}
    usual_columns = [column for column in columns if simple(column) in rank]
    return sorted(usual_columns, key=lambda column: rank[simple(column)])


def require(columns: Sequence[str], wanted: Iterable[str], what: str) -> None:
    """Refuse a column that the file does not have."""
    for name in wanted:
        if name not in columns:
            raise InputError(f"There is no {what} column {name!r} in the file; its columns are {quoted(columns)}.")


def find_id(source: Source, columns: Sequence[str], id: str | None, notebook: Notebook) -> str | None:
    """Return the id column: the one named, else by its name.

    Of several with usual names, the most telling one that names every row is taken; if none does, none is. Other names
    that speak of an id (``prompt_id``, ``Ticket``) count only where every cell is different.
    """
    if id is not None:
        notebook.roles[id] = "id"
        notebook.add("understood", f"Column {id!r} names the rows (id).", column=id)
        return id
    candidates = matches(columns, TASK_NAMES)
    if len(candidates) != 1:
        names = candidates or [name for name in columns if _speaks_of_id(name, source.n_rows)]
        unique = [name for name in names if source.names_rows(name)]
        candidates = unique[:1] or candidates
    if len(candidates) > 1:
        for column in candidates:
            notebook.leave_out(
                column, f"{quoted(candidates)} could all be the id, so none was taken. Name the one you mean."
            )
        return None
    if not candidates:
        return None
    what = "The unnamed first column" if candidates[0] == UNNAMED else f"Column {candidates[0]!r}"
    notebook.add("understood", f"{what} names the rows (id).", column=candidates[0])
    notebook.roles[candidates[0]] = "id"
    return candidates[0]


def _speaks_of_id(name: str, n_rows: int) -> bool:
    """Tell whether a name hints at an id.

    A name that only ends in "id" may be a learner's (David), who cannot give so many different labels.
    """
    words = re.split(r"[^a-z0-9]+", simple(name))
    return not _ID_WORDS.isdisjoint(words) or (n_rows >= _MANY_ROWS and words[-1].endswith("id"))


def find_truth(columns: Sequence[str], truth: str | None, notebook: Notebook) -> str | None:
    """Return the truth column: the one named, else by usual names.

    Other columns whose names speak of truth are set aside: truth must never leak into the votes.
    """
    candidates = [truth] if truth is not None else matches(columns, TRUTH_NAMES)
    if len(candidates) > 1:
        for column in candidates:
            notebook.leave_out(
                column, f"{quoted(candidates)} could all be the truth, so none was taken. Name the one you mean."
            )
        candidates = []
    for column in columns:
        if column not in candidates and notebook.roles.get(column) is None and speaks_of_truth(column):
            reason = "its name suggests the truth, which must not be a vote."
            notebook.leave_out(column, f"{reason} Name it as the truth, or list it among the learners.")
    if not candidates:
        return None
    notebook.add(
        "understood",
        f"Column {candidates[0]!r} is taken as the truth; it is for evaluation only and never used in training.",
        column=candidates[0],
    )
    notebook.roles[candidates[0]] = "truth"
    return candidates[0]


def leave_out_answers(columns: Sequence[str], notebook: Notebook) -> None:
    """Set aside what an earlier answer added to the file.

    A fused file holds the votes beside their answer, and an answer made from votes is no vote of its own.
    """
    names = [simple(column) for column in columns]
    added = {column for column, name in zip(columns, names, strict=True) if re.sub(r"_\d+$", "", name) in ANSWER_NAMES}
    if set(names) >= FUSED_BESIDE:  # the label may have another name: it stands before its confidence
        at = names.index("confidence")
        added |= set(columns[max(at - 1, 0) : at])
    for column in columns:
        if column in added and notebook.roles.get(column) is None:
            reason = "it is the answer of an earlier fusion, not a vote."
            notebook.leave_out(column, f"{reason} Set its role to “learner” (--learner) if it is one.")


def speaks_of_truth(column: str) -> bool:
    """Tell whether a column's name is, or hints at, the truth."""
    return simple(column) in TRUTH_NAMES or smells_of_truth(column)
