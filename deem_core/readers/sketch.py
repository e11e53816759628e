"""Sketch: what can be shown of a file that is no votes.

Reading fails with one sentence; a sketch keeps what was understood up to there, so that somebody can look at the
rows and say what the columns are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from deem_core.errors import InputError
from deem_core.readers import decode, objects
from deem_core.readers.formats.content import Choice, UndecidedError
from deem_core.readers.notes import Notebook
from deem_core.readers.parse import delimiter_of
from deem_core.readers.plan import find_layout, read_plan
from deem_core.readers.read import request_of
from deem_core.readers.source import Source, open_source

LINES = 200
"""Lines of text that a sketch keeps of a file that is no table."""

_LINE_LENGTH = 2_000


@dataclass(frozen=True)
class Sketch:
    """A file that was decoded, and not read as votes.

    Attributes
    ----------
    problem : str
        The sentence that says why.
    layout : "wide", "long" or "soft"
        As it was found or asked for.
    source : Source, optional
        The cells; None where the text is no table.
    roles : dict
        Column → role, as far as one was found or asked for; "ignored" for the others.
    lines : tuple of str
        The first lines of a text that is no table.
    encoding, delimiter : str, optional
    choice : Choice, optional
        Which of several tables or questions of the file this is; none may be chosen yet.
    """

    problem: str
    layout: str
    source: Source | None
    roles: dict[str, str] = field(default_factory=dict)
    lines: tuple[str, ...] = ()
    encoding: str | None = None
    delimiter: str | None = None
    choice: Choice | None = None

    @property
    def is_json(self) -> bool:
        """Whether it is JSON of no table, which has no delimiter."""
        return bool(self.lines) and objects.is_json("\n".join(self.lines[:3]).encode())


def sketch(file: Any, problem: InputError, options: Mapping[str, Any]) -> Sketch:
    """Return what can be shown of a file that `read` refused.

    Parameters
    ----------
    file : path, bytes or an open file
    problem : InputError
        What `read` said.
    options : mapping
        The options of `read` that it was given.

    Raises
    ------
    InputError
        The problem itself, if the file cannot even be decoded.
    """
    layout = options.get("layout", "auto")
    wished = "wide" if layout == "auto" else layout
    notebook = Notebook()
    try:
        delimiter = None if options.get("delimiter") is None else delimiter_of(options["delimiter"])
        told = {name: options.get(name) for name in ("encoding", "sheet", "label")}
        source = open_source(file, notebook, delimiter=delimiter, **told)
    except UndecidedError as error:
        return Sketch(str(problem), wished, None, choice=error.choice)
    except InputError:
        return _of_text(file, problem, wished, options.get("encoding"))
    with suppress(InputError):  # it is the problem, or as good as that
        plan = find_layout(request_of(source, notebook, options), layout)
        wished = plan.layout
        read_plan(plan)
    roles = {name: notebook.roles.get(name, "ignored") for name in source.columns}
    roles |= {name: role for name, role in _roles_told(options) if name in roles}
    return Sketch(str(problem), wished, source, roles, (), source.encoding, source.delimiter, source.choice)


def _roles_told(options: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
    """Return (column, role) as somebody said them."""
    told = [(name, "ignored") for name in options.get("ignore", ())]
    told += [(name, "learner") for name in options.get("learners") or ()]
    return told + [(options[role], role) for role in ("id", "truth", "worker", "label", "gold") if options.get(role)]


def _of_text(file: Any, problem: InputError, layout: str, encoding: str | None) -> Sketch:
    """Return the first lines of a text that is no table."""
    text = _decoded(file, encoding)
    if text is None or text.data.isspace():
        raise problem
    first = text.data[: LINES * _LINE_LENGTH].decode("utf-8", errors="replace").splitlines()[:LINES]
    return Sketch(str(problem), layout, None, {}, tuple(line[:_LINE_LENGTH] for line in first), text.encoding, None)


def _decoded(file: Any, encoding: str | None) -> decode.Text | None:
    """Return the text of a file, None if it is none.

    Where the encoding that was asked for does not fit, the one that is found does.
    """
    try:
        raw = decode.load(file)
        if raw.is_parquet:
            return None
        if encoding is not None:
            with suppress(InputError):
                return decode.decode(raw, encoding)
        return decode.decode(raw)
    except InputError:
        return None
