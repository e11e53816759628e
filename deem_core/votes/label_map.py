"""Label map: which class each spelling of a label stands for.

It belongs to a reading: votes, truth, gold labels and reviewers' answers all go through the same map, while the cells
of the file stay as they were. Mapping twice is mapping once, so that a class may be given by its name or its label.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import pyarrow as pa

from deem_core.errors import InputError
from deem_core.text import clip, count
from deem_core.votes.labels import DEFAULT, LabelColumn, MissingRule, canonical, canonical_text, natural_order
from deem_core.votes.sets import NONE, Sets
from deem_core.votes.spelling import folded

NO_LABEL = ""
"""Name of labels that count as no vote."""


@dataclass(frozen=True)
class LabelMap:
    """Names of labels, and whether spellings are merged.

    Attributes
    ----------
    merge_spellings : bool
        Whether labels that differ in writing only are one (`deem_core.votes.spelling.folded`).
    names : tuple of (label, name)
        The class that a label stands for; an empty name is no vote. Classes come in this order, before all others.
    sets : Sets, optional
        How a cell that holds several labels is taken apart; each of them is then mapped by itself.

    Raises
    ------
    InputError
        If a label has two names, or a name is itself a label with another name.

    Examples
    --------
    >>> labels = LabelMap(merge_spellings=True, names=(("0", "ham"), ("1", "spam")))
    >>> [labels.key(text) for text in ("SPAM", "1", "0.0", "maybe")]
    ['spam', 'spam', 'ham', 'maybe']
    """

    merge_spellings: bool = False
    names: tuple[tuple[str, str], ...] = ()
    rule: MissingRule = field(default=DEFAULT, repr=False)
    sets: Sets | None = None

    def __post_init__(self) -> None:
        """Refuse names that contradict each other."""
        said: dict[str, tuple[str, str]] = {}
        for label, name in self.names:
            before = said.setdefault(self._base(label), (label, name))
            if self._base(before[1]) != self._base(name):
                alike = f"{label!r}" if label == before[0] else f"{label!r} (like {before[0]!r})"
                raise InputError(
                    f"The label {alike} is given two names, {before[1]!r} and {name!r}. Keep one of them."
                    + (" Or do not merge spellings." if label != before[0] else "")
                )
        for label, name in self.names:
            if not name.strip():
                continue
            after = said.get(self._base(name))
            if after is not None and self._base(after[1]) != self._base(name):
                other = f"with another name ({after[1]!r})" if after[1].strip() else "that is not used"
                raise InputError(
                    f"The label {label!r} is to be called {name!r}, and {after[0]!r} is itself a label {other}. "
                    "Choose a name that is no other label."
                )
            if self.rule.is_missing(canonical_text(name)):
                raise InputError(
                    f'The label {label!r} cannot be called {name!r}, which means "no vote" in this file. Choose '
                    "another name, or say what stands for a missing vote."
                )

    @classmethod
    def of(
        cls,
        labels: Any = None,
        merge_spellings: bool = False,
        rule: MissingRule = DEFAULT,
        sets: Sets | None = None,
    ) -> LabelMap:
        """Return a map of pairs of label and name.

        A mapping will do, too.

        None as a name is no vote, as is an empty one.
        """
        if isinstance(labels, LabelMap):
            return replace(labels, merge_spellings=labels.merge_spellings or merge_spellings, rule=rule, sets=sets)
        return cls(bool(merge_spellings), as_pairs(labels), rule, sets)

    @property
    def plain(self) -> bool:
        """Whether labels stay as they are."""
        return not self.merge_spellings and not self.names and self.sets is None

    def key(self, text: str) -> str:
        """Return what a label's class is compared by, "" for none."""
        return self._key(canonical_text(str(text)))

    def column(self, column: LabelColumn) -> LabelColumn:
        """Return a column whose spellings have the keys of their classes."""
        return column if self.plain else replace(column, keys=tuple(map(self._key, column.keys)))

    def cells(self, texts: pa.Array) -> pa.Array:
        """Return the key of each text; many at once."""
        keys = canonical(texts)
        return keys if self.plain else pa.array(map(self._key, keys.to_pylist()), pa.string())

    def name(self, key: str) -> str | None:
        """Return the name that a class was given, if any."""
        if self.sets is None:
            return self._name_of.get(key)
        return self.sets.joined(self._name_of.get(part, part) for part in self.sets.parts(key) or ())

    def apart(self, cells: Mapping[str, int]) -> Mapping[str, int]:
        """Return cells per label of cells per key.

        A key may be a set of labels.
        """
        if self.sets is None:
            return cells
        counts: dict[str, int] = {}
        for key, n in cells.items():
            for part in self.sets.parts(key) or [NONE]:
                counts[part] = counts.get(part, 0) + n
        return counts

    @property
    def order(self) -> list[str]:
        """Keys of the named classes, in their order."""
        return list(self._name_of)

    def knowing(self, classes: Iterable[str]) -> LabelMap:
        """Return the map that also spells these classes as they are here.

        So that votes meet the classes of a model.
        """
        if self.plain:
            return self
        new = [(name, name) for name in classes if self._base(name) not in self._key_of]
        known = {self.key(name): name for name in classes}
        names = [(label, known.get(self._base(name), name)) for label, name in self.names]
        return replace(self, names=(*names, *new))

    def sentences(self, spellings: Iterable[str]) -> list[str]:
        """Return what became of the labels of a file, for its notes."""
        if not self.names:
            return []
        found = {self._base(text) for text in set(spellings)}
        renamed = [(label, name) for label, name in self.names if name and name != label and self._base(label) in found]
        sentences = []
        if renamed:
            shown = ", ".join(f"{clip(label, 30)!r} as {clip(name, 30)!r}" for label, name in renamed[:4])
            more = f" and {len(renamed) - 4:,} more" if len(renamed) > 4 else ""
            sentences.append(f"Read {count(len(renamed), 'label')} under the name you gave: {shown}{more}.")
        ignored = [label for label, name in self.names if not name and self._base(label) in found]
        if ignored:
            shown = ", ".join(repr(clip(label, 30)) for label in ignored[:4])
            more = f" and {len(ignored) - 4:,} more" if len(ignored) > 4 else ""
            sentences.append(f"Took {count(len(ignored), 'label')} as no vote, as you chose: {shown}{more}.")
        return sentences

    def to_options(self) -> dict[str, Any]:
        """Return the options of `deem_core.read` that make it."""
        options: dict[str, Any] = {}
        if self.merge_spellings:
            options["merge_spellings"] = True
        if self.names:
            options["labels"] = [list(pair) for pair in self.names]
        return options

    # ------------------------------------------------------------------ keys

    def _base(self, text: str) -> str:
        """Return the key of a text before names are given."""
        key = canonical_text(text)
        return canonical_text(folded(key)) if self.merge_spellings else key

    def _key(self, key: str) -> str:
        """Return the key of the class of a canonical label or set."""
        if self.sets is None:
            return self._one(key)
        if self.rule.is_missing(key) and not (key == NO_LABEL and self.sets.empty_is_none):
            return key
        parts = self.sets.parts(key)
        if parts is None:
            return self._one(key)
        kept = {one for part in parts if (one := self._one(canonical_text(part))) and not self.rule.is_missing(one)}
        return self.sets.joined(natural_order(kept))

    def _one(self, key: str) -> str:
        """Return the key of the class of one canonical label."""
        base = canonical_text(folded(key)) if self.merge_spellings else key
        if base in self._key_of:
            return self._key_of[base]
        if self.rule.is_missing(key):
            return key  # as it is, so that the signs for "no vote" keep their meaning
        return NO_LABEL if self.merge_spellings and base in self._missing else base

    @cached_property
    def _key_of(self) -> dict[str, str]:
        return {self._base(label): self._base(name) for label, name in self.names}

    @cached_property
    def _name_of(self) -> dict[str, str]:
        names: dict[str, str] = {}
        for _, name in self.names:
            if name:
                names.setdefault(self._base(name), name)
        return names

    @cached_property
    def _missing(self) -> set[str]:
        return {self._base(token) for token in self.rule.tokens}


AS_SPELLED = LabelMap()
"""Labels as the file has them."""


def as_pairs(labels: Any) -> tuple[tuple[str, str], ...]:
    """Return names of labels as pairs of texts.

    Raises
    ------
    InputError
        If they are neither a mapping nor pairs.
    """
    if not isinstance(labels, (Mapping, Iterable, type(None))):
        raise InputError(f"Names of labels are pairs of a label and its name; {labels!r} is not one.")
    items: Sequence[Any] = list(labels.items()) if isinstance(labels, Mapping) else list(labels or ())
    pairs = []
    for item in items:
        if isinstance(item, str) or not isinstance(item, Sequence) or len(item) != 2:
            raise InputError(f"Names of labels are pairs of a label and its name; {item!r} is not one.")
        label, name = (("" if text is None else str(text)).strip() for text in item)
        if not label:
            raise InputError("An empty cell is no label, so it cannot have a name. Leave it out.")
        pairs.append((label, name))
    return tuple(pairs)
