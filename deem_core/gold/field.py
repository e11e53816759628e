"""Field of candidates: the answers between which gold rows choose.

Labels of every candidate are kept, their probabilities are not: whoever is chosen answers once more. Nothing here knows
a gold label, so that the field can be made once and asked after every new one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from deem_core.control import NO_CONTROL, Control
from deem_core.errors import InputError
from deem_core.files.atomic import whole_file, write_json
from deem_core.groups.camps import Camps
from deem_core.methods import registry, safe_vote
from deem_core.methods.contract import Aggregate
from deem_core.typing import Codes, Floats, Mask
from deem_core.votes import NO_VOTE, Votes
from deem_core.votes.majority import break_ties, vote_shares

SEED = 0
"""Of the candidates: the same votes always have the same field."""
DS_CELLS = 50_000_000
"""Cells of confusion matrices beyond which Dawid-Skene is no candidate."""
LA2_ROWS = 200_000
"""Rows beyond which LA2, which visits one after the other, is no candidate."""
COVERING = 0.5
"""Share of the rows that a learner must cover to be a candidate."""
DENSE_SHARE = 0.8
"""Share of the votes that covering learners must cast for camps to be candidates."""
START, CAMPS, LEARNER = "start", ("camp_1", "camp_2"), "learner:"
"""Names of candidates that are no methods of the registry."""
POOLS = ("mean_prob", "geo_pool", "log_pool", "cal_pool")
"""Candidates where there are probabilities."""
_TILT = 1e-6  # breaks ties towards the start


@dataclass(frozen=True, eq=False)
class Field:
    """Labels of all candidates for some votes.

    Attributes
    ----------
    votes : Votes
        Without truth and gold.
    start : str
        Registry name of whoever answers without gold.
    start_codes : (n,) int32
    methods : dict of str to (n,) int32
        Labels of the other methods, by name.
    camps : two tuples of str
        Learners of the two sides; empty where the panel is not dense or shows none.
    split : bool
        Whether the sides are camps that balance each other, so that the start is no better than a draw.
    """

    votes: Votes
    start: str
    start_codes: Codes
    methods: Mapping[str, Codes]
    camps: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    split: bool = False

    @property
    def title(self) -> str:
        """What people call the start."""
        return registry.METHODS[self.start].title

    @cached_property
    def voted(self) -> Mask:
        """Rows with votes, (n,)."""
        return np.asarray(self.votes.votes_per_row > 0)

    @cached_property
    def camp_codes(self) -> dict[str, Codes]:
        """Labels by the majority of each side."""
        if not all(self.camps):
            return {}
        return {name: self.majority_of(side) for name, side in zip(CAMPS, self.camps, strict=True)}

    @cached_property
    def shared(self) -> dict[str, Codes]:
        """Labels of all candidates but single learners, the start first."""
        return {START: self.start_codes, **self.methods, **self.camp_codes}

    @cached_property
    def disputed(self) -> Mask:
        """Rows with votes on which methods and camps differ, (n,)."""
        differs = np.zeros(self.votes.n_rows, bool)
        for codes in self.shared.values():
            differs |= codes != self.start_codes
        return differs & self.voted

    @property
    def covering(self) -> list[int]:
        """Positions of the learners that cover half of the rows."""
        return np.flatnonzero(self.votes.learner_coverage >= COVERING).tolist()

    def learner_codes(self, j: int) -> Codes:
        """Return a learner's votes, gaps filled by the start, (n,)."""
        own = self.votes.codes[:, j]
        return np.where(own == NO_VOTE, self.start_codes, own)

    def majority_of(self, learners: Sequence[str]) -> Codes:
        """Return the majority vote of some learners, (n,).

        Ties go to the start if it is among the tied, and rows without their votes have its label.
        """
        return self.tilted(vote_shares(self.votes.select_learners(learners).codes, self.votes.n_classes))

    def tilted(self, scores: Floats) -> Codes:
        """Return the best class of (n, K) scores, the start's among equals."""
        rows = np.flatnonzero(self.voted)
        scores[rows, self.start_codes[rows]] += _TILT
        return np.where(self.voted, scores.argmax(axis=1), NO_VOTE).astype(np.int32)

    # ------------------------------------------------------------------ files

    def save(self, folder: Path) -> None:
        """Write ``field.parquet`` and ``field.json``."""
        table = pa.table(
            {name: pa.array(codes, pa.int32()) for name, codes in [(START, self.start_codes), *self.methods.items()]}
        )
        with whole_file(folder / "field.parquet") as stream:
            pyarrow.parquet.write_table(table, stream)
        write_json(
            {"start": self.start, "camps": [list(side) for side in self.camps], "split": self.split},
            folder / "field.json",
        )

    @classmethod
    def load(cls, folder: Path, votes: Votes) -> Field:
        """Inverse of `save`, for the same votes.

        Raises
        ------
        InputError
            If the files are gone, damaged, or of other votes.
        """
        try:
            table = pyarrow.parquet.read_table(folder / "field.parquet")
            known = json.loads((folder / "field.json").read_text(encoding="utf-8"))
            columns = {name: table[name].to_numpy().astype(np.int32) for name in table.column_names}
            first, second = (tuple(map(str, side)) for side in known["camps"])
            made = cls(
                bare(votes), str(known["start"]), columns.pop(START), columns, (first, second), bool(known["split"])
            )
        except (OSError, ValueError, KeyError, TypeError, pa.ArrowException):
            raise InputError("The candidates of this queue are gone or damaged. Ask for rows again.") from None
        fits = len(made.start_codes) == votes.n_rows and set(first + second) <= set(votes.learners)
        if not fits or made.start not in registry.METHODS:
            raise InputError("The candidates of this queue belong to other votes. Ask for rows again.")
        return made


def bare(votes: Votes) -> Votes:
    """Return votes without any known label."""
    return votes.without_truth().without_gold()


def candidates(
    votes: Votes, start: Aggregate, start_name: str, sides: Camps, *, control: Control = NO_CONTROL
) -> Field:
    """Run all candidates on votes and return their field.

    Parameters
    ----------
    votes : Votes
        Neither truth nor gold is read.
    start : Aggregate
        The answer without gold.
    start_name : str
    sides : Camps
    control : Control
        Asked and told between candidates.
    """
    votes = bare(votes)
    methods = {"mv": break_ties(votes.codes, votes.majority_vote, start.posterior)}
    runs = {name: run for name, run in runners(votes).items() if name != start_name}
    for at, (name, run) in enumerate(runs.items()):
        control.check()
        control.tell(f"Asking {registry.METHODS[name].title}", at / len(runs))
        try:
            methods[name] = run().codes
        except InputError:  # it cannot take such votes
            continue
    control.check()
    cast = votes.class_counts.sum(axis=1)
    covering = votes.learner_coverage >= COVERING
    dense = cast[covering].sum() >= DENSE_SHARE * max(int(cast.sum()), 1)
    camps = (sides.first, sides.second) if dense and sides.strength is not None else ((), ())
    return Field(votes, start_name, start.codes, methods, camps, sides.split)


def runners(votes: Votes) -> dict[str, Callable[[], Aggregate]]:
    """Return the methods that are candidates for such votes."""
    names = ["onecoin"]
    if votes.n_learners * votes.n_classes**2 <= DS_CELLS:
        names.insert(0, "ds")
    if votes.n_rows <= LA2_ROWS:
        names.append("la2")
    runs = {name: _runner(name, votes) for name in names}
    plan = safe_vote.ebcc_plan(votes)
    if plan is not None:
        runs["ebcc"] = lambda: safe_vote.planned_ebcc(votes, np.random.default_rng(SEED), plan)
    if votes.soft is not None:
        runs |= {name: _runner(name, votes) for name in POOLS}
    return runs


def _runner(name: str, votes: Votes) -> Callable[[], Aggregate]:
    return lambda: registry.aggregate(name, votes, np.random.default_rng(SEED))
