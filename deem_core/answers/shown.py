"""What a notebook shows of an answer."""

from __future__ import annotations

from typing import Any

from deem_core.notebook import bars, figure, paragraphs
from deem_core.text import percent


class Shown:
    """Words, table and figures of an answer."""

    def plot(self, what: str = "class_shares", *, theme: str = "light") -> Any:
        """Return a figure of the answer, by Plotly.

        Parameters
        ----------
        what : str
            ``class_shares`` beside those of the majority vote, ``label_changes`` against it, or ``confidence``.
        theme : "light" or "dark"
        """
        return figure("answer", self, what, theme)

    def __repr__(self) -> str:
        """Return the size and the outcome in words."""
        answer: Any = self
        found = answer.summary()
        by = f" by {answer.method}" if answer.method else ""
        what = "labels, several in a row" if answer.votes.separator else "classes"
        return (
            f"Answer({found.n_rows:,} rows × {found.n_classes} {what}{by}, {found.changed:,} labels differ from the "
            f"majority vote, {int(answer.needs_review.sum()):,} rows to review)"
        )

    def _repr_html_(self) -> str:
        """Return the same, class shares and the first rows, for notebooks."""
        answer: Any = self
        said = (repr(self), *answer.notes, *(alarm.text for alarm in answer.alarms))
        shares = answer.shares.tolist()
        shown = bars("Rows by label", answer.votes.classes.tolist(), shares, [percent(one) for one in shares])
        first = answer.head(10).to_frame().astype(object)
        table = first.where(first.notna(), "").to_html(float_format="{:.3f}".format)
        return f"{paragraphs(said)}{shown}{table}"
