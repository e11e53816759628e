"""Sets: cells that hold several labels at once."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

SEPARATORS = ("|", ";", ",")
"""Signs between the labels of a cell, the clearest first."""

NONE = "(none)"
"""How the empty set is spelled: a vote that no label applies. An empty cell is no vote."""

FEWEST_SETS = 0.05
"""Share of the votes that hold several labels from which a file is proposed as one of sets."""

LONGEST_LABEL, MOST_WORDS = 40, 3
"""Letters and words of a label at the most, for a sign that stands in sentences, too."""


@dataclass(frozen=True)
class Sets:
    """How cells are taken apart.

    Attributes
    ----------
    separator : str
        The sign between labels. A cell that is a JSON list is read as one, whatever the sign.
    empty_is_none : bool
        Whether an empty cell says that no label applies; else it is a vote that was not cast.
    """

    separator: str = "|"
    empty_is_none: bool = False

    def parts(self, cell: str) -> list[str] | None:
        """Return the labels in a cell; None if it is no set."""
        text = cell.strip()
        if not text or text == NONE:
            return []
        if text.startswith("[") and text.endswith("]"):
            try:
                listed = json.loads(text)
            except (ValueError, RecursionError):
                return None
            return [_spelled(each).strip() for each in listed if each is not None] if _flat(listed) else None
        return [part for part in map(str.strip, text.split(self.separator)) if part]

    def joined(self, labels: Iterable[str]) -> str:
        """Return labels as one cell, `NONE` for no label."""
        return self.separator.join(labels) or NONE


def _flat(listed: object) -> bool:
    return isinstance(listed, list) and not any(isinstance(each, (list, dict)) for each in listed)


def _spelled(value: object) -> str:
    return json.dumps(value) if isinstance(value, bool) else str(value)


def proposed_separator(cells: Mapping[str, int]) -> str | None:
    """Return the sign between several labels, if cells clearly hold them.

    Parameters
    ----------
    cells : dict
        Cell → how often it occurs.

    Returns
    -------
    str or None
        "|" if cells are JSON lists. ``;`` and ``,`` stand in sentences, too: they count only where all labels are
        short and each occurs in several sets.
    """
    total = sum(cells.values())
    for separator in SEPARATORS:
        sets = Sets(separator)
        several = {cell: n for cell, n in cells.items() if len(sets.parts(cell) or ()) > 1}
        if not total or sum(several.values()) < FEWEST_SETS * total:
            continue
        within: dict[str, int] = {}
        for cell in cells:
            for part in sets.parts(cell) or ():
                within[part] = within.get(part, 0) + 1
        lists = all(cell.strip().startswith("[") for cell in several)
        if len(within) > len(cells) or max(map(len, within)) > LONGEST_LABEL:
            continue
        unclear = separator != "|" and not lists
        if unclear and (max(len(part.split()) for part in within) > MOST_WORDS or min(within.values()) < 2):
            continue
        return SEPARATORS[0] if lists else separator
    return None
