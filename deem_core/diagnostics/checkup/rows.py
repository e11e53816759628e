"""Problems of rows and classes: few votes, no disputes, rare classes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from deem_core.diagnostics.checkup.findings import Finding, as_list
from deem_core.text import count
from deem_core.training.health import MIN_ROWS
from deem_core.votes import NO_VOTE, Votes
from deem_core.votes.recode import MIN_LEARNERS

ONE_SIDED = 0.95
"""Share of the rows from which one class is so common that the others are easily lost."""

ALL_AGREE = 0.99
"""Share of unanimous rows from which fusing changes next to nothing."""


def votes_in_rows(votes: Votes) -> Iterator[Finding]:
    """Find rows without votes, or with too few."""
    cast = votes.votes_per_row
    silent = int((cast == 0).sum())
    if silent:
        share = silent / votes.n_rows
        yield Finding(
            "rows_without_votes",
            "warning" if share > 0.5 else "note",
            f"{count(silent, 'row')} without votes",
            f"No learner voted on {count(silent, 'row')} ({share:.1%}): they get no label and are marked for review.",
            "If votes should be there, check how labels and missing values are spelled in the file.",
            numbers={"rows": silent, "share": share},
        )
    mean = float(cast[cast > 0].mean()) if silent < votes.n_rows else 0.0
    if 0 < mean < MIN_LEARNERS <= votes.n_learners:
        yield Finding(
            "few_votes_per_row",
            "warning",
            f"{mean:.1f} votes per row",
            f"Rows with votes have {mean:.1f} of them on average. With fewer than three votes there is rarely a "
            "majority, and the label depends on which learner is trusted.",
            "Collect more votes per row if you can, and check the rows marked for review.",
            numbers={"votes_per_row": mean, "single_vote_rows": int((cast == 1).sum())},
        )


def unanimous(votes: Votes) -> Iterator[Finding]:
    """Find votes that agree on nearly every row."""
    together = int((votes.votes_per_row >= 2).sum())
    if together and votes.unanimous.sum() >= ALL_AGREE * together:
        share = float(votes.unanimous.sum()) / together
        yield Finding(
            "unanimous_rows",
            "note",
            "Nearly all votes agree",
            f"On {share:.2%} of the rows with two votes or more, all votes are the same: fusing can only change the "
            "others, and there is little to learn from.",
            "The majority vote is enough. Check that the learners are not copies of one another.",
            numbers={"share": share, "disputed_rows": together - int(votes.unanimous.sum())},
        )


def classes(votes: Votes) -> Iterator[Finding]:
    """Find classes with almost all rows, few of them, or none."""
    labels = votes.classes
    winner = votes.majority_vote.codes
    per_class = np.bincount(winner[winner != NO_VOTE], minlength=votes.n_classes)
    total = int(per_class.sum())
    if total and per_class.max() > ONE_SIDED * total:
        top, share = per_class.argmax(), float(per_class.max()) / total
        yield Finding(
            "imbalance",
            "warning",
            f"{share:.1%} of the rows are {labels[top]}",
            f"By majority vote, {share:.1%} of the rows are {labels[top]}. Training may lose the rare classes, and "
            "accuracy would hardly show it.",
            "Watch the predicted class shares while training, and judge by macro-F1 rather than accuracy.",
            classes=(labels[top],),
            numbers={"share": share, "rows": int(per_class.max())},
        )
    cast = votes.class_counts.sum(axis=0)
    unpredicted = np.flatnonzero((per_class == 0) & (cast > 0))
    if len(unpredicted):
        yield Finding(
            "unpredicted_classes",
            "warning",
            f"{count(len(unpredicted), 'class never gets', 'classes never get')} a majority",
            f"Majority vote never chooses {as_list(labels[unpredicted])}, though learners voted for "
            f"{'it' if len(unpredicted) == 1 else 'them'}. Training starts from majority vote and may not find such a "
            "class.",
            "Check the spelling (a stray label?). If only an expert knows it, add learners that know it.",
            classes=tuple(labels[unpredicted].tolist()),
            numbers={"votes": tuple(cast[unpredicted].tolist())},
        )
    rare = np.flatnonzero((per_class > 0) & (per_class < MIN_ROWS))
    if len(rare):
        yield Finding(
            "rare_classes",
            "warning",
            f"{count(len(rare), 'rare class', 'rare classes')}",
            f"By majority vote, fewer than {MIN_ROWS} rows are {as_list(labels[rare])}. Too few to learn which "
            "mistakes learners make on them, or to notice if training loses them.",
            "Merge rare classes where that makes sense, or add rows.",
            classes=tuple(labels[rare].tolist()),
            numbers={"rows": tuple(per_class[rare].tolist())},
        )
    unused = np.flatnonzero(cast == 0)
    if len(unused):
        yield Finding(
            "unused_classes",
            "note",
            f"{count(len(unused), 'class', 'classes')} without votes",
            f"No learner voted for {as_list(labels[unused])}: no row can get such a label.",
            "Nothing to do; such classes only make the model larger.",
            classes=tuple(labels[unused].tolist()),
        )
