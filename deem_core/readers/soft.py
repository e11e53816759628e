"""Soft files: columns named ``<learner><separator><class>`` that hold probabilities, beside plain label columns."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from deem_core.errors import InputError
from deem_core.readers.columns import Request, note_coding, read_ids, refuse_hopeless, refuse_too_few, with_unique_id
from deem_core.readers.notes import Notebook
from deem_core.readers.source import Source
from deem_core.readers.truth import read_truth_column
from deem_core.readers.verdicts import Verdict, as_soft, note_mended, note_percent, note_verdicts
from deem_core.readers.wide import choose_learners
from deem_core.text import clip, count, quoted
from deem_core.typing import Floats
from deem_core.votes import Votes, checks
from deem_core.votes.arrays import one_hot
from deem_core.votes.coding import as_label_array
from deem_core.votes.labels import MissingRule, code_columns

SEPARATORS = (":", "__", ".p_", "_prob_")
MOST = 0.9
"""Share of the rows from which on their totals tell what the numbers are."""

MAX_NUMBERS = 2_000_000_000
"""Largest rows × learners × classes array that is built (8 GB)."""

_NUMBER = r"^[+-]?(?:[0-9]+[.]?[0-9]*|[.][0-9]+)(?:[eE][+-]?[0-9]+)?(?:\s*%)?$|^[+-]?(?:inf|infinity)$"
_DECIMAL_COMMA = r"^([+-]?[0-9]*),([0-9]+)$"


@dataclass(frozen=True)
class Naming:
    """Soft columns by learner and class.

    Attributes
    ----------
    groups : dict
        Learner → class name → column.
    values : dict
        Column → its (n,) numbers, NaN where missing.
    verdicts : dict
        Learner → its labels with a probability each.
    """

    groups: Mapping[str, Mapping[str, str]]
    values: dict[str, Floats] = field(default_factory=dict)
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)

    @property
    def learners(self) -> list[str]:
        """All learners with probabilities."""
        return [*self.groups, *self.verdicts]

    @property
    def columns(self) -> list[str]:
        """All columns of probabilities by class."""
        return [column for group in self.groups.values() for column in group.values()]


def find_naming(source: Source, columns: Sequence[str], rule: MissingRule) -> Naming | None:
    """Return the soft columns of a file, None if it has none.

    A group counts if its cells are numbers that look like probabilities (`_look_like_probabilities`). Groups
    with the same classes as one that counts do too: a broken cell in them is an error.
    """
    groups: dict[str, Mapping[str, str]] = {}
    taken: set[str] = set()
    for separator in SEPARATORS:
        named = _groups_by_name(separator, [name for name in columns if name not in taken])
        convincing = {frozenset(g) for g in named.values() if _look_like_probabilities(source, g, rule)}
        for learner, group in named.items():
            if frozenset(group) in convincing:
                groups[learner] = group
                taken.update(group.values())
    return read_values(source, Naming(groups), rule) if groups else None


def named_groups(columns: Sequence[str]) -> Naming | None:
    """Return the naming that covers most columns, whatever their cells hold."""
    namings = [Naming(_groups_by_name(separator, columns)) for separator in SEPARATORS]
    best = max(namings, key=lambda naming: len(naming.columns))
    return best if best.columns else None


def _groups_by_name(separator: str, columns: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return learner → class → column for names with a separator.

    Groups have at least two classes.

    Where a name holds the separator twice, the split that gives the fewest class lists is the right one.
    """
    ways = []
    for split in (str.partition, str.rpartition):
        groups: dict[str, dict[str, str]] = {}
        for column in columns:
            learner, hit, class_ = split(column, separator)
            if hit and learner.strip() and class_.strip():
                groups.setdefault(learner.strip(), {})[class_.strip()] = column
        ways.append({learner: group for learner, group in groups.items() if len(group) >= 2})
    return min(ways, key=lambda way: (-sum(map(len, way.values())), len({frozenset(g) for g in way.values()})))


def _look_like_probabilities(source: Source, group: Mapping[str, str], rule: MissingRule) -> bool:
    """Tell probabilities from labels under names with a separator.

    Numbers with fractions somewhere, or whole ones whose rows sum to 1 (one-hot) or to 100 (percentages).
    """
    numbers = []
    for column in group.values():
        texts = _plain_numbers(source.text(column))
        if not pc.all(_is_readable(texts, rule)).as_py():
            return False
        numbers.append(_as_numbers(texts, rule))
    values = np.column_stack(numbers)
    voted = ~np.isnan(values).all(axis=1)
    if not voted.any():
        return False
    finite = values[np.isfinite(values)]
    if (finite != np.round(finite)).any():
        return True
    return bool((np.nansum(values[voted], axis=1) == 1).mean() > MOST) or _sum_to_100(values)


def _sum_to_100(values: Floats) -> bool:
    """Tell whether nearly all rows with a number add up to 100, about."""
    totals = np.nansum(values[~np.isnan(values).all(axis=1)], axis=1)
    return bool((np.abs(totals - 100) <= 2).mean() > MOST) if len(totals) else False


def read_values(source: Source, naming: Naming, rule: MissingRule) -> Naming:
    """Return the naming with its columns as numbers.

    A cell that is no number is refused.
    """
    values = {}
    for column in naming.columns:
        texts = _plain_numbers(source.text(column))
        readable = _is_readable(texts, rule)
        if not pc.all(readable).as_py():
            row = pc.index(readable, False).as_py()
            raise InputError(
                f"Column {column!r} holds {_cell(source, column, row)} in row {row + 1:,}, "
                "which is not a probability. Fix the cell or ignore the column."
            )
        values[column] = _as_numbers(texts, rule)
    return Naming(naming.groups, values)


def numbers_of(source: Source, column: str, rule: MissingRule) -> Floats | None:
    """Return a column as numbers; None if a cell is none."""
    texts = _plain_numbers(source.text(column))
    return _as_numbers(texts, rule) if pc.all(_is_readable(texts, rule)).as_py() else None


def classes_named(columns: Sequence[str], words: Collection[str]) -> set[str]:
    """Return the columns named by learner and class.

    But for those whose classes are all such words.
    """
    found: set[str] = set()
    for separator in SEPARATORS:
        for group in _groups_by_name(separator, columns).values():
            if not {class_.casefold() for class_ in group} <= set(words):
                found.update(group.values())
    return found


def _cell(source: Source, column: str, row: int) -> str:
    return repr(clip(source.table[column][row].as_py(), 40))


def _plain_numbers(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Trim, and read a decimal comma as a point."""
    return pc.replace_substring_regex(pc.utf8_trim_whitespace(texts), _DECIMAL_COMMA, r"\1.\2")


def _is_missing(texts: pa.ChunkedArray, rule: MissingRule) -> pa.ChunkedArray:
    return pc.is_in(pc.utf8_lower(texts), value_set=pa.array(sorted(rule.tokens), pa.string()))


def _is_readable(texts: pa.ChunkedArray, rule: MissingRule) -> pa.ChunkedArray:
    return pc.or_(_is_missing(texts, rule), pc.match_substring_regex(texts, _NUMBER, ignore_case=True))


def _as_numbers(texts: pa.ChunkedArray, rule: MissingRule) -> Floats:
    filled = pc.if_else(_is_missing(texts, rule), None, texts)
    filled = pc.replace_substring_regex(filled, r"^\+|\.$|[.]?\s*%$", "")
    return np.asarray(pc.cast(filled, pa.float64()).to_numpy(), np.float64)


def read_soft(request: Request, naming: Naming, columns: Sequence[str]) -> Votes:
    """Return the votes of a file with soft columns.

    ``columns`` are the others, which may be plain learners.
    """
    source, notebook = request.source, request.notebook
    names = list(naming.groups)
    if names:
        notebook.add(
            "understood",
            f"{count(len(naming.columns), 'column')} hold the probabilities of {count(len(names), 'learner')} "
            f"({quoted(names)}), one for each class.",
            count=len(naming.columns),
        )
    _note_decimal_commas(source, naming, notebook)
    for column in naming.columns:
        notebook.roles[column] = "learner"
    known = {
        learner: {key: source.table.num_rows for class_ in group if (key := request.labels.key(class_))}
        for learner, group in naming.groups.items()
    }
    plain = choose_learners(request, columns, known)
    used = _used_verdicts(request, naming, [column.name for column in plain])
    learner_of = {column.name: used[column.name].learner if column.name in used else column.name for column in plain}
    order = _order(source, naming, learner_of)
    refuse_too_few(source, order, notebook)
    classes = [class_ for group in naming.groups.values() for class_ in group]
    coding = code_columns(plain, request.rule, extra=[*classes, *request.classes], labels=request.labels)
    note_coding(request, plain, coding)
    refuse_hopeless(request, plain, coding)
    shape = (source.table.num_rows, len(order), len(coding.classes))
    if math.prod(shape) > MAX_NUMBERS:
        raise InputError(
            f"{shape[0]:,} rows × {shape[1]:,} learners × {shape[2]:,} classes of probabilities do not fit in memory. "
            "Split the file, or upload labels instead of probabilities."
        )
    size = f"{shape[0]:,} rows × {shape[1]:,} learners × {shape[2]:,} classes of probabilities"
    source.packed.check_growth(4 * math.prod(shape), size)
    source.packed.check_memory(4 * math.prod(shape), size)
    soft = np.zeros(shape, np.float32)
    code_of = {key: code for code, key in enumerate(coding.keys)}
    mended = [0, 0]
    for j, label_column in enumerate(plain):
        at, cast = order.index(learner_of[label_column.name]), coding.codes[:, j]
        if (verdict := used.get(label_column.name)) is None:
            soft[:, at] = one_hot(cast[:, None], len(coding.classes))[:, 0]
        else:
            soft[:, at], *numbers = as_soft(verdict, cast, len(coding.classes), code_of.get(verdict.of_class or ""))
            mended = [sum(pair) for pair in zip(mended, numbers, strict=True)]
    note_mended(notebook, *mended)
    _fill(request, soft, naming, order, code_of)
    request = with_unique_id(request, [*learner_of, *naming.columns])
    codes, only = read_truth_column(request, coding.keys)
    return Votes(
        codes=checks.hard_codes(soft),
        classes=as_label_array(coding.classes),
        learners=tuple(order),
        ids=read_ids(request),
        truth=codes,
        truth_only=only,
        soft=soft,
    )


def _note_decimal_commas(source: Source, naming: Naming, notebook: Notebook) -> None:
    commas = [
        column
        for column in naming.columns
        if pc.any(pc.match_substring_regex(source.text(column), _DECIMAL_COMMA)).as_py()
    ]
    if commas:
        text = f"Read decimal commas as points in {count(len(commas), 'column')} ({quoted(commas, 3)})."
        notebook.add("changed", text, count=len(commas))


def _used_verdicts(request: Request, naming: Naming, plain: Sequence[str]) -> dict[str, Verdict]:
    """Return the verdicts in use by their column of labels."""
    used = {verdict.label: verdict for verdict in naming.verdicts.values() if verdict.label in plain}
    for verdict in naming.verdicts.values():
        if verdict.label in used:
            request.notebook.roles[verdict.probability] = "learner"
        else:
            request.notebook.leave_out(verdict.probability, f"the labels in {verdict.label!r} are not used.")
    note_verdicts(request, {verdict.learner: verdict for verdict in used.values()})
    return used


def _order(source: Source, naming: Naming, plain: Mapping[str, str]) -> list[str]:
    """Return all learners in the order of their first columns."""
    learner_of = {column: learner for learner, group in naming.groups.items() for column in group.values()}
    learner_of.update(plain)
    return list(dict.fromkeys(learner_of[name] for name in source.columns if name in learner_of))


def _fill(
    request: Request, soft: NDArray[np.float32], naming: Naming, order: Sequence[str], code_of: Mapping[str, int]
) -> None:
    """Write probabilities into (n, d, K) and note what was mended."""
    notebook = request.notebook
    renormalised: list[int] = []
    in_percent: list[str] = []
    n_renormalised = n_zero = n_partial = 0
    for learner, group in naming.groups.items():
        keys = [request.labels.key(class_) for class_ in group]
        if request.labels.plain and len(set(keys)) < len(keys):
            raise InputError(f"Learner {learner!r} has two columns for one class: {quoted(group.values())}.")
        values = np.column_stack([naming.values[column] for column in group.values()])
        if _in_percent(request.source, list(group.values()), values):
            values = values / 100
            in_percent.extend(group.values())
        _refuse_impossible(request.source, values, list(group.values()))
        normal = checks.normalise(values[:, None, :].astype(np.float32), [learner])
        at = order.index(learner)
        soft[:, at] = _of_classes(normal.soft[:, 0], keys, code_of)
        n_renormalised += normal.n_renormalised
        n_zero += normal.n_zero
        n_partial += normal.n_partial
        renormalised.extend(row - 1 for row in normal.first_rows)
    note_percent(notebook, in_percent)
    if n_renormalised:
        notebook.add(
            "changed",
            f"Renormalised {count(n_renormalised, 'soft vote')} that did not sum to 1 within 1%",
            count=n_renormalised,
            rows=sorted(set(renormalised)),
        )
    if n_partial:
        text = f"Read the empty cells of {count(n_partial, 'soft vote')} that had other probabilities as 0."
        notebook.add("changed", text, count=n_partial)
    if n_zero:
        text = f"Took {count(n_zero, 'soft vote')} with all probabilities 0 as no vote."
        notebook.add("changed", text, count=n_zero)


def _of_classes(given: NDArray[np.float32], keys: Sequence[str], code_of: Mapping[str, int]) -> NDArray[np.float32]:
    """Return probabilities of columns as those of classes, (n, K).

    Columns of one class are added up; where a column's label is no vote, the others are scaled to 1.
    """
    made = np.zeros((len(given), len(code_of)), np.float32)
    for j, key in enumerate(keys):
        if key in code_of:
            made[:, code_of[key]] += given[:, j]
    if not code_of.keys() >= set(keys):
        total = made.sum(axis=1, keepdims=True)
        np.divide(made, total, out=made, where=total > 0)
    return made


def _in_percent(source: Source, columns: Sequence[str], values: Floats) -> bool:
    """Tell percentages from probabilities.

    They have a percent sign, or their rows add up to 100.
    """
    signed = (pc.match_substring(source.text(column), "%") for column in columns)
    return any(pc.any(cells).as_py() for cells in signed) or _sum_to_100(values)


def _refuse_impossible(source: Source, values: Floats, columns: Sequence[str]) -> None:
    infinite = np.isinf(values)
    wrong = infinite | (values < 0) | (values > 1 + 1e-4)
    if wrong.any():
        row, at = map(int, np.argwhere(wrong)[0])
        what = "not a finite number" if infinite[row, at] else "not between 0 and 1"
        raise InputError(
            f"Column {columns[at]!r} holds {_cell(source, columns[at], row)} in row {row + 1:,}, which is {what}. "
            "Soft votes are probabilities from 0 to 1, or percentages that add up to 100: turn scores or logits into "
            "probabilities first."
        )
