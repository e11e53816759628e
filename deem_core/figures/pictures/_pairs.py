"""Cells of heatmaps whose sides are both learners."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from deem_core.diagnostics.rows import FUSED, Column, Condition, Is, Pair, RowFilter
from deem_core.figures.picture import Cells, Side


def pairs_of_learners(learners: Sequence[str], rows: Callable[[Column, Column], tuple[Condition, ...]]) -> Cells:
    """Return what the cells of a heatmap of pairs stand for.

    Parameters
    ----------
    learners : sequence of d str
    rows : callable
        Returns the conditions on the rows behind two different learners.
    """
    columns = [Column("vote", name) for name in learners]
    return Cells(
        Side("Learner", learners),
        Side("Other learner", learners),
        lambda i, j, _: None if i == j else RowFilter(rows(columns[i], columns[j])),
    )


def same_mistakes(learners: Sequence[str], right: Column, classes: Sequence[str | None]) -> Cells:
    """Return the same for learners that err together.

    Parameters
    ----------
    learners : sequence of str
    right : Column
        What counts as right.
    classes : sequence of str or None
        Label of the rows in each panel; None for all rows.
    """

    def rows(i: int, j: int, panel: int) -> RowFilter | None:
        if i == j:
            return None
        one, other = Column("vote", learners[i]), Column("vote", learners[j])
        label = classes[panel]
        inside = () if label is None else (Is(right, label),)
        return RowFilter((*inside, Pair(one, other, same=True), Pair(one, right)))

    several = len(classes) > 1
    panels = ["all" if label is None else label for label in classes] if several else []
    return Cells(Side("Learner", learners), Side("Other learner", learners), rows, panels)


def with_fused(names: Sequence[str]) -> Cells:
    """Return the same for learners and, last, the fused label."""
    columns = [*(Column("vote", name) for name in names[:-1]), FUSED]

    def rows(i: int, j: int, _: int) -> RowFilter | None:
        first, second = sorted((i, j))
        return None if i == j else RowFilter((Pair(columns[first], columns[second]),))

    return Cells(Side("Learner or fused label", names), Side("Other learner", names), rows)
