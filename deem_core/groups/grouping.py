"""Grouping: who depends on whom, and whether that explains the votes.

One call does it all: groups, test of fit, the latent that is the label, parameters on all rows, and what the votes
leave open.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from deem_core.control import NO_CONTROL, Control
from deem_core.groups.cliques import TIGHT, find_cliques
from deem_core.groups.em import HARD_ROUNDS, ROUNDS, GroupedFit, fit
from deem_core.groups.goodness import MIN_COMMON_ROWS, Goodness, goodness, testable
from deem_core.groups.latent_tree import ROOT, GroupedModel, Groups
from deem_core.groups.reduction import Reduction
from deem_core.groups.search import MARGIN, MAX_LEARNERS, MIN_LEARNERS, GroupSearch, find_groups
from deem_core.text import count, listing, percent
from deem_core.typing import Codes, Floats
from deem_core.votes import Votes
from deem_core.votes.alignment import class_map
from deem_core.votes.arrays import spread_rows
from deem_core.votes.patterns import Table

FITS = 0.008
"""Excess up to which the model explains the votes.

Nothing was found between 0.005 and 0.012 on tables with enough dependence to tell.
"""
FITS_FEW = 0.0005
"""The same for fewer than six learners, among whom a few pairs must show what many show elsewhere.

Such a test has little power (benchmarks/results/grouping.md): where it passes, the grouped model mostly gains, but may
lose points.
"""
NOISE = 3.0
"""Standard deviations of the drawn tables within which a larger excess is chance.

Where learners hardly depend on each other, a few hundred rows leave the share uncertain: true models stay within 3 of
them on most draws. The real ensembles that do not fit are much farther away from 600 rows on.
"""
MOST_EXCESS = MOST_NOISE = 0.05
"""Excess that noise may excuse, and noise above which the test says nothing about learners of different groups."""
RESTORED = 1 / 3
"""Share of the excess that a dissolved group, put back, may leave, with `NOISE` standard deviations added."""
FITS_WITHIN = 0.0005
"""Excess inside groups up to which families are exact, though their heads err together."""
IN_GROUPS = 0.5
"""Share of the learners that must stand in groups of three or more for that."""
OTHER_LATENT = 0.10
"""A group's latent is the label if it agrees with the one-voice majority by so much more than Y does."""
UNSETTLED = 0.02
"""Share of rows whose label an equally good fit changes, above which the votes leave the answer open."""
MIN_ROWS = 300
"""Rows below which groups are not looked for."""
MAX_CLASSES = 100
"""Classes above which a confusion matrix per learner has more cells than most files have votes."""
RUNNERS_UP = 3
"""Equally good placements that are fitted in full and compared."""
LABEL_ROWS = 20_000
"""Rows, evenly spread, on which latents and placements are compared."""


@dataclass(frozen=True)
class RunnerUp:
    """Another placement of the groups that explains the votes as well.

    Attributes
    ----------
    groups : tuple of tuples of int
    behind : float
        Nats behind the chosen one, on the rows of the search.
    changed : float
        Share of the rows that it labels differently.
    """

    groups: Groups
    behind: float
    changed: float


@dataclass(frozen=True, eq=False)
class Grouping:
    """What the grouped model makes of some votes.

    Attributes
    ----------
    model : GroupedModel, optional
        None if it was refused.
    fits : bool
        Whether it explains the votes.
    reason : str
        Why it fits, or why not, in one sentence.
    search_note : str
        Why groups were not looked for; empty if they were.
    goodness : Goodness, optional
        None where nothing could be tested.
    iterations : int
    converged : bool
    cut : bool
    log_likelihood : float
        Mean over the rows with votes.
    moved : float
        Share of the rows that the soft fit labels differently.
    runners_up : tuple of RunnerUp
        Placements within `MARGIN` nats.
    """

    model: GroupedModel | None
    fits: bool
    reason: str
    search_note: str = ""
    goodness: Goodness | None = None
    iterations: int = 0
    converged: bool = False
    cut: bool = False
    log_likelihood: float = 0.0
    moved: float = 0.0
    runners_up: tuple[RunnerUp, ...] = ()

    @property
    def groups(self) -> Groups:
        """Positions of the learners of each group of two or more."""
        return () if self.model is None else self.model.groups

    @property
    def excess(self) -> float | None:
        """Unexplained share of the dependence between groups, beyond what chance leaves."""
        return None if self.goodness is None else self.goodness.excess

    @property
    def within_excess(self) -> float | None:
        """The same inside groups of three or more."""
        return None if self.goodness is None else self.goodness.within_excess

    @property
    def open_share(self) -> float:
        """Largest share of rows that an equally good fit labels differently."""
        return max([self.moved, *(other.changed for other in self.runners_up)])

    @property
    def settled(self) -> bool:
        """Whether equally good fits give nearly the same labels."""
        return self.open_share <= UNSETTLED

    def sentences(self, learners: tuple[str, ...]) -> tuple[str, ...]:
        """Return what was found, in plain sentences.

        Doubts are alarms, which say them once.
        """
        if self.model is None:
            return (self.reason,)
        looked_for = self.search_note or group_words(self.groups, learners)
        return tuple(text for text in (looked_for, self.reason) if text)

    @property
    def doubt(self) -> str:
        """What the votes leave open; empty if nothing."""
        if self.settled:
            return ""
        share = percent(self.open_share)
        return f"The votes leave some labels open: another fit of the model differs on {share} of the rows."


UNTESTED = f"Too few pairs of learners share {MIN_COMMON_ROWS} rows to test any model."


def explain(
    votes: Votes,
    rng: np.random.Generator,
    *,
    only_tested: bool = False,
    table: Table | None = None,
    control: Control = NO_CONTROL,
) -> Grouping:
    """Fit the grouped model and test whether it explains the votes.

    Parameters
    ----------
    votes : Votes
        Their truth is not read.
    rng : Generator
        Chooses rows where there are more than enough, and draws the tables of the test.
    only_tested : bool
        Whether there is no model where none could be tested, and no search for it.
    table : Table, optional
        Patterns of more rows, of which ``votes`` are a sample: groups and test of fit rest on the votes, the
        parameters on the table. By default that of the votes.
    control : Control
        Asked between steps.

    Raises
    ------
    Stopped
        If ``control`` says so before there is an answer.
    """
    refusal = _refusal(votes)
    if refusal:
        return Grouping(None, False, refusal)
    can_test = testable(votes.codes)
    if only_tested and not can_test:
        return Grouping(None, False, UNTESTED)
    search_note = _no_search(votes)
    search = None if search_note else find_groups(votes, rng, control=control)
    groups = search.best.groups if search else ()
    test = goodness(votes.codes, votes.n_classes, groups, rng, control=control) if can_test else None
    if search and test:
        search, test = _restored(votes, search, test, rng, control)
        groups = search.best.groups
    table = Table.of_votes(votes).voted if table is None else table
    fitted = fit(table, groups, rounds=ROUNDS, hard_rounds=HARD_ROUNDS, control=control)
    model = fitted.model if search is None else _with_label(votes, fitted.model, search.kappa)
    fits, reason = _verdict(test, model)
    if fits and votes.unanimous[votes.votes_per_row > 0].all():
        reason = "The model fits: the learners never disagree, and any method would give these labels."
    return Grouping(
        model=model,
        fits=fits,
        reason=reason,
        search_note=search_note,
        goodness=test,
        iterations=fitted.iterations,
        converged=fitted.converged,
        cut=fitted.cut,
        log_likelihood=fitted.log_likelihood / max(table.n_rows, 1),
        moved=_moved(votes, model, fitted),
        runners_up=() if search is None or not fits else _runners_up(votes, table, model, search, control),
    )


def group_words(groups: Groups, learners: tuple[str, ...]) -> str:
    """Name the groups in one sentence."""
    if not groups:
        return "No groups of learners that make the same mistakes were found."
    names = "; ".join(listing([learners[i] for i in group], rest="others") for group in groups)
    return f"{count(len(groups), 'group')} of learners that make the same mistakes: {names}."


def _refusal(votes: Votes) -> str:
    if votes.n_learners < 3:
        return "With fewer than three learners the votes cannot tell who is right."
    if votes.n_classes > MAX_CLASSES:
        return (
            f"With {votes.n_classes:,} classes a confusion matrix for every learner has too many cells to learn; the "
            f"grouped model takes at most {MAX_CLASSES} classes."
        )
    if not votes.votes_per_row.any():
        return "There is no vote to learn from."
    return ""


def _no_search(votes: Votes) -> str:
    """Say why groups cannot be looked for; empty if they can."""
    d, n = votes.n_learners, int((votes.votes_per_row > 0).sum())
    if d < MIN_LEARNERS:
        return f"No search for groups: {d} learners are too few (at least {MIN_LEARNERS} are needed)."
    if d > MAX_LEARNERS:
        return f"No search for groups: with {d:,} learners it takes too long (at most {MAX_LEARNERS})."
    if n < MIN_ROWS:
        return f"No search for groups: {n:,} rows are too few (at least {MIN_ROWS} are needed)."
    return ""


def _verdict(test: Goodness | None, model: GroupedModel) -> tuple[bool, str]:
    """Return whether the model explains the votes, and the sentence."""
    if test is None:
        return False, UNTESTED
    within = test.within_excess is not None and test.within_excess <= max(FITS_WITHIN, NOISE * test.within_noise)
    if test.excess is None or test.noise > MOST_NOISE:  # nothing between branches to explain: a group has the label
        if within and model.label != ROOT:
            return True, "The model fits: one group of learners agrees, the others are independent."
        return False, "The learners hardly depend on each other, so no model can be tested."
    share = f"{percent(min(max(test.excess, 0.0), 1.0))} of the dependence between learners remains unexplained"
    known = "the label" if not model.groups else "this group" if len(model.groups) == 1 else "these groups"
    given = f"given {known}, the learners err independently"
    least = FITS if model.n_learners >= MIN_LEARNERS else FITS_FEW
    if test.excess <= max(least, min(NOISE * test.noise, MOST_EXCESS)):
        return True, f"The model fits: {given} ({share})."
    large = sum(len(group) for group in model.groups if len(group) >= 3)
    if within and large >= IN_GROUPS * model.n_learners and test.excess < 1:  # or nothing between them is explained
        return True, f"The groups are exact, but they sometimes make the same mistakes ({share} between them)."
    return False, f"The model does not fit: {share}, more than chance would leave."


def _restored(
    votes: Votes, search: GroupSearch, test: Goodness, rng: np.random.Generator, control: Control
) -> tuple[GroupSearch, Goodness]:
    """Put a dissolved group back where it explains what is left.

    Return the search with its best placement, and the test of that one. On the few rows of the search BIC saves the
    K(K − 1) parameters of a group by moving the label onto its latent, even where the group is real. The test sees more
    rows. Families whose heads err together stay dissolved: there the larger model leaves more than chance, too.
    """
    if test.excess is None or test.excess <= NOISE * test.noise:
        return search, test
    held = {i for group in search.best.groups for i in group}
    for other in search.placements:  # best first
        added = set(other.groups) - set(search.best.groups)
        if len(other.groups) != len(search.best.groups) + 1 or len(added) != 1:
            continue
        if len(group := added.pop()) >= 3 and held.isdisjoint(group):
            larger = goodness(votes.codes, votes.n_classes, other.groups, rng, control=control)
            if larger.excess is not None and larger.excess + NOISE * larger.noise <= RESTORED * test.excess:
                return replace(search, best=other), larger
            break
    return search, test


def _with_label(votes: Votes, model: GroupedModel, kappa: Floats) -> GroupedModel:
    """Return the tree with the latent that is the label.

    Noisy copies of a random learner can end up around Y while the good learners hang on a group: so the latents are
    compared with a majority vote in which tight cliques have one voice.
    """
    rows = _some_rows(votes)
    codes = votes.codes[rows]
    voice = one_voice_majority(votes.select_rows(rows), kappa)
    candidates = [ROOT, *(g for g, group in enumerate(model.groups) if len(group) >= 3)]
    agreements, maps = {}, {}
    for latent in candidates:
        states = model.latent_posterior(codes, latent).argmax(axis=1)
        maps[latent] = class_map(states, voice, votes.n_classes)
        agreements[latent] = float((maps[latent][states] == voice).mean())
    best = max(candidates, key=lambda latent: agreements[latent])
    if best == ROOT or agreements[best] <= agreements[ROOT] + OTHER_LATENT:
        return model
    return model.with_label(best, maps[best])


def _moved(votes: Votes, model: GroupedModel, fitted: GroupedFit) -> float:
    """Return the share of the rows that the soft fit labels differently."""
    if model.label == ROOT or fitted.soft is None:
        return fitted.moved
    codes = votes.codes[_some_rows(votes)]
    soft = fitted.soft.with_label(model.label, model.class_map)
    return float((soft.posterior(codes).argmax(axis=1) != model.posterior(codes).argmax(axis=1)).mean())


def _some_rows(votes: Votes) -> NDArray[np.intp]:
    """Return the rows with votes, or evenly spread ones of them."""
    voted = np.flatnonzero(votes.votes_per_row)
    return np.asarray(voted[spread_rows(len(voted), LABEL_ROWS)])


def one_voice_majority(votes: Votes, kappa: Floats) -> Codes:
    """Return the majority vote with one voice for each tight clique, (n,)."""
    cliques = find_cliques(kappa, votes.learners, cut=TIGHT, tight=TIGHT)
    return Reduction.of(votes.learners, cliques).reduce(votes.without_truth()).majority_vote.codes


def _runners_up(
    votes: Votes, table: Table, model: GroupedModel, search: GroupSearch, control: Control
) -> tuple[RunnerUp, ...]:
    """Fit the placements within the margin and compare their labels."""
    near = [
        other
        for other in search.placements
        if other.groups != search.best.groups and abs(search.best.score - other.score) <= MARGIN
    ]
    rows = _some_rows(votes)
    labels = model.posterior(votes.codes[rows]).argmax(axis=1)
    others = []
    for other in near[:RUNNERS_UP]:
        control.check()
        rival: GroupedFit = fit(table, other.groups, rounds=ROUNDS, hard_rounds=HARD_ROUNDS, control=control)
        placed = _with_label(votes, rival.model, search.kappa)
        changed = float((placed.posterior(votes.codes[rows]).argmax(axis=1) != labels).mean())
        others.append(RunnerUp(other.groups, search.best.score - other.score, changed))
    return tuple(others)
