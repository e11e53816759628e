"""Wide files: a column per learner, cells are labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

from deem_core.errors import InputError
from deem_core.readers.columns import Request, note_coding, read_ids, refuse_hopeless, refuse_too_few, with_unique_id
from deem_core.readers.truth import read_truth_column
from deem_core.readers.vocabulary import numbers_the_rows, split_by_overlap, split_by_vocabulary
from deem_core.text import clip, count, percent, quoted
from deem_core.votes import Votes
from deem_core.votes.coding import as_label_array
from deem_core.votes.labels import Coding, LabelColumn, MissingRule, canonical_text, code_columns, kind_of
from deem_core.votes.spelling import folded

_FORCE = "To use it, set its role to “learner” under “Columns and reading” (or name it with --learner)."


def read_wide(request: Request, columns: Sequence[str]) -> Votes:
    """Return the votes of a wide file.

    ``columns`` are those that may be learners.
    """
    chosen, coding = code_learners(request, columns)
    request = with_unique_id(request, [column.name for column in chosen])
    codes, only = read_truth_column(request, coding.keys)
    return Votes(
        codes=coding.codes,
        classes=as_label_array(coding.classes),
        learners=tuple(column.name for column in chosen),
        ids=read_ids(request),
        truth=codes,
        truth_only=only,
    )


def code_learners(request: Request, columns: Sequence[str]) -> tuple[list[LabelColumn], Coding]:
    """Return the learners' columns and their coding, noted and checked."""
    chosen = choose_learners(request, columns)
    coding = code_columns(chosen, request.rule, extra=request.classes, labels=request.labels)
    note_coding(request, chosen, coding)
    _note_header(request, chosen, coding)
    refuse_hopeless(request, chosen, coding)
    _note_minus_one(request, chosen, coding)
    _note_rules(request, chosen, coding)
    return chosen, coding


def choose_learners(
    request: Request, candidates: Sequence[str], known: Mapping[str, Mapping[str, int]] | None = None
) -> list[LabelColumn]:
    """Return the learners' columns; note why others are none.

    ``known`` are the label counts of learners read elsewhere (soft columns), which take part in the
    comparison of labels.
    """
    notebook, known = request.notebook, known or {}
    with ThreadPoolExecutor() as pool:  # Arrow works outside the interpreter lock
        columns = list(pool.map(request.label_column, candidates))
    if request.learners is not None:
        chosen = _refuse_texts(columns)
    else:
        chosen = _by_overlap(request, columns, known)
        refuse_too_few(request.source, [*known, *(column.name for column in chosen)], notebook)
    for column in chosen:
        notebook.roles[column.name] = "learner"
    return chosen


def _refuse_texts(columns: list[LabelColumn]) -> list[LabelColumn]:
    for column in columns:
        if column.too_many:
            raise InputError(
                f"Column {column.name!r} holds {column.variety} different values: it is an id or a text, "
                "not a learner's labels. Leave it out."
            )
    return columns


def _by_overlap(
    request: Request, columns: Sequence[LabelColumn], known: Mapping[str, Mapping[str, int]]
) -> list[LabelColumn]:
    notebook = request.notebook
    rule = request.rule
    usable: list[LabelColumn] = []
    counts: dict[str, dict[str, int]] = {}
    silent: set[str] = set()  # learners that never vote and say so
    for column in columns:
        if column.too_many:
            notebook.leave_out(column.name, f"{column.variety} different values are not labels.", _FORCE)
        elif numbers_the_rows(column.keys, request.n_rows):
            notebook.leave_out(column.name, "it counts the rows.", _FORCE)
        elif column.never_votes(rule):
            usable.append(column)
            silent.add(column.name)
        elif not (tally := column.label_counts(rule)):
            notebook.leave_out(column.name, "it has no votes.")
        else:
            usable.append(column)
            counts[column.name] = tally
    if columns and not counts and not known and all(column.n_spellings <= 20 for column in columns):
        raise InputError(
            f"Every vote in {request.source.name} is missing: "
            f"columns {quoted(column.name for column in columns)} hold only empty or NA-like cells."
        )
    learners, others = _split(request, counts, known)
    for column in usable:
        if column.name in others and column.name in counts:
            why = _why_not_a_learner(others[column.name], _first_labels(column, rule), bool(learners))
            notebook.leave_out(column.name, why, _FORCE)
    chosen = {*learners, *silent} if learners else set[str]()
    return [column for column in usable if column.name in chosen]


def _split(
    request: Request, counts: Mapping[str, Mapping[str, int]], known: Mapping[str, Mapping[str, int]]
) -> tuple[list[str], dict[str, float]]:
    """Tell learners from other columns."""
    # Who spells labels in another way is a learner all the same: the finding about spellings tells what to do.
    every = {name: _as_folded(request.labels.apart(tally)) for name, tally in {**known, **counts}.items()}
    if request.classes:
        classes = (folded(request.labels.key(label)) for label in request.classes)
        learners, others = split_by_vocabulary(every, classes, minus_one=request.rule.minus_one)
        strange = [name for name in request.known_learners if name in others] if learners else []
        return [*learners, *strange], {name: share for name, share in others.items() if name not in strange}
    if declared := _declared(request, counts):
        return [*known, *declared], {name: 0.0 for name in counts if name not in declared}
    if counts:
        return split_by_overlap(every, request.n_rows, minus_one=request.rule.minus_one)
    return list(known), {}


def _declared(request: Request, counts: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Return the columns that the file calls votes, and that hold labels."""
    return [
        name
        for name, tally in counts.items()
        if name in request.source.votes and not all(kind_of(label) == "number" for label in tally)
    ]


def _as_folded(tally: Mapping[str, int]) -> dict[str, int]:
    """Return the cells per label, whatever its spelling."""
    cells: dict[str, int] = {}
    for label, n in tally.items():
        key = folded(label)
        cells[key] = cells.get(key, 0) + n
    return cells


def _first_labels(column: LabelColumn, rule: MissingRule) -> list[str]:
    """Return some labels of a column as the file spells them."""
    spelled = zip(column.spellings, column.keys, strict=True)
    return list(islice((spelling for spelling, key in spelled if not rule.is_missing(key)), 3))


def _why_not_a_learner(share: float, labels: Sequence[str], there_are_learners: bool) -> str:
    examples = ", ".join(repr(clip(label, 30)) for label in labels)
    if not there_are_learners:
        return f"no other column uses the same labels (it has {examples}, …)."
    if share == 0:
        return f"its values ({examples}, …) do not look like labels."
    return f"only {percent(share)} of its cells hold a label that the learners use (it has {examples}, …)."


def _note_rules(request: Request, columns: Sequence[LabelColumn], coding: Coding) -> None:
    """Say that columns are one-class rules; doubt lonely classes."""
    spelled = dict(zip(coding.keys, coding.classes, strict=True))
    votes = {
        column.name: {key: n for key, n in column.label_counts(request.rule).items() if key in spelled}
        for column in columns
    }
    rules: dict[str, list[str]] = {}
    for name, tally in votes.items():
        if len(tally) == 1 and sum(tally.values()) < request.n_rows:
            rules.setdefault(next(iter(tally)), []).append(name)
    n_rules = sum(map(len, rules.values()))
    if request.classes or len(rules) < 2 or 2 * n_rules < len(columns):
        return
    most = sorted(rules, key=lambda key: -len(rules[key]))[:6]
    each = ", ".join(f"{len(rules[key]):,} for {clip(spelled[key], 30)!r}" for key in most)
    more = "" if len(rules) <= 6 else f", and more for {count(len(rules) - 6, 'other class', 'other classes')}"
    request.notebook.add(
        "understood",
        f"{n_rules:,} of {count(len(columns), 'learner')} vote for one class each and abstain elsewhere, as labelling "
        f"rules do: {each}{more}.",
        count=n_rules,
    )
    speakers = Counter(key for tally in votes.values() for key in tally)
    for key, names in rules.items():
        if speakers[key] == 1 and len(rules) > 2 and max(speakers.values()) > 1:
            request.notebook.add(
                "warning",
                f"Only column {names[0]!r} ever votes for {clip(spelled[key], 30)!r}. If it is not a labelling rule, "
                "ignore it.",
                column=names[0],
            )


def _note_minus_one(request: Request, columns: Sequence[LabelColumn], coding: Coding) -> None:
    """Warn where 0 rather than -1 may stand for no vote.

    Some rules spell their two classes -1 and +1 and abstain by 0: then none votes for both.
    """
    if not coding.minus_one_is_missing or coding.keys != ("0", "1"):
        return
    known = [set(column.label_counts(request.rule)) for column in columns]
    if all("0" in keys and not {"-1", "1"} <= keys for keys in known):
        request.notebook.add(
            "warning",
            "No column holds both -1 and 1, and all hold 0. If 0 is no vote here and -1 a class, set 0 as a missing "
            "vote.",
        )


def _note_header(request: Request, columns: Sequence[LabelColumn], coding: Coding) -> None:
    """Warn where the header looks like a row of labels."""
    names = [column.name for column in columns]
    in_order = [str(position) for position in range(len(names))]  # pandas' default names are a true header
    keys = {*coding.keys, "-1"}
    if names != in_order and all(canonical_text(name) in keys for name in names):
        request.notebook.add(
            "warning",
            f"The first line of {request.source.name} was taken as the header, though it looks like labels. "
            "If the file has no header, add one.",
        )
