"""Cells that no spreadsheet runs as formulas, and back."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

_NUMBER = r"^\s*[+-]?(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?\s*%?\s*$"
_LONE_SIGN = r"^\s*[+-]\s*$"  # often stands for "no vote", and no spreadsheet runs it
_FORMULA = r"^[\p{Z}\p{Cc}\x{feff}]*[=+\-@＝＋－＠]|^[\t\r\n]"
_HARMLESS = f"{_NUMBER}|{_LONE_SIGN}"


def neutralise(texts: pa.Array) -> pa.Array:
    """Return texts (n,) that no spreadsheet runs as formulas.

    Those that it would run get an apostrophe in front.

    These begin, after white space, with =, +, -, @ or their full-width forms, or begin with a tab or line
    break. Plain numbers such as ``-1``, ``+3.5`` and ``1e5`` and a lone sign are not touched.
    """
    running = pc.match_substring_regex(texts, _FORMULA)
    if not pc.any(running).as_py():
        return texts
    running = pc.and_not(running, pc.match_substring_regex(texts, _HARMLESS))
    return pc.if_else(running, pc.binary_join_element_wise("'", texts, ""), texts)


def as_typed(text: str) -> str:
    """Return a text without the apostrophe that made it safe for spreadsheets."""
    return text[1:] if text[:1] == "'" and neutralise(pa.array([text[1:]]))[0].as_py() == text else text
