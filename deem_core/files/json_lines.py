"""JSON lines: an object for each row of a table."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

import pyarrow as pa


def write_lines(pieces: Iterable[pa.Table], stream: Any) -> None:
    """Write tables as UTF-8 lines of JSON.

    Cells without a value and numbers that are not finite are null; whatever a cell holds stays inside its line.
    """
    for piece in pieces:
        stream.write("".join(f"{line_of(row)}\n" for row in piece.to_pylist()).encode())


def line_of(value: Any) -> str:
    """Return plain values as one line of JSON."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(value), ensure_ascii=False, allow_nan=False)


def _finite(value: Any) -> Any:
    """Return plain values with None for numbers that are not finite."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
