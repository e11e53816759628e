"""Decision: who answers for these votes, and why.

No method is best everywhere, and the truth that would tell is not there. What can be seen without it is whether a model
explains the votes. So, in this order:

1. Fewer than three learners: the majority vote. Nobody can tell who is right.
2. Rules that know one class each cast most of the votes: the model for rules.
3. Two camps that balance each other: the majority vote, and the advice to label some rows.
4. The grouped model explains the votes (`groups.grouping`): it answers.
5. A crowd or a large panel that no model explains: the safe vote.
6. Any other ensemble with probabilities: the calibrated pool of them.
7. Any other ensemble: the majority vote, its ties broken by Dawid-Skene.

Where the user hands over gold rows, they choose between that answer and others (`deem_core.gold`).

The steps are functions of the votes alone, limits are counts and never seconds, and every answer says which step it
came from.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from deem_core.alarm import Kind
from deem_core.answers.answer import Answer
from deem_core.answers.verdict import Verdict
from deem_core.control import NO_CONTROL, Control
from deem_core.gold.choice import choose
from deem_core.gold.field import Field, candidates
from deem_core.gold.fusion import answer_of
from deem_core.gold.words import ADVISED
from deem_core.groups.effective_votes import worth
from deem_core.groups.grouping import Grouping, explain
from deem_core.groups.panel import PanelHealth, panel_health
from deem_core.methods import dawid_skene, grouped_dawid_skene, majority, one_class_rules, pools, safe_vote
from deem_core.methods.contract import Aggregate, Rule
from deem_core.typing import Floats, Integers
from deem_core.votes import Votes
from deem_core.votes.patterns import Table
from deem_core.votes.recode import MIN_LEARNERS

Branch = Literal["few", "rules", "camps", "fit", "crowd", "soft", "dense", "gold"]
"""The step at which an answer was found."""

CROWD_COVERAGE = 0.95
"""Share of the votes cast below which a file counts as a crowd."""
PANEL_LEARNERS = 20
"""Learners from which a file counts as a panel, however complete."""
TIE_WEIGHT = 1e-6
"""Weight of Dawid-Skene beside vote shares: enough to break ties, too little for anything else."""
TIE_CELLS = 50_000_000
"""Cells of its confusion matrices, at most: 400 MB."""

SETTLED: tuple[Kind, ...] = ("camps", "capture", "overturned", "little to gain", "far from the votes")
"""Alarms that say that the votes cannot tell who is right, which gold rows can."""


@dataclass(frozen=True, eq=False)
class Decision:
    """An answer, who gave it, and why.

    Attributes
    ----------
    branch : Branch
    answered_by : str
        Name of the method in the registry.
    aggregate : Aggregate
        Its notes are ``sentences`` and those of the method.
    sentences : tuple of str
        Who answered and why; what it could not settle, and what to do.
    health : PanelHealth
    grouping : Grouping, optional
        None where the grouped model was not asked.
    verdict : Verdict, optional
        What gold rows chose and prove, where there are any.
    """

    branch: Branch
    answered_by: str
    aggregate: Aggregate
    sentences: tuple[str, ...]
    health: PanelHealth
    grouping: Grouping | None = None
    verdict: Verdict | None = None


def decide(
    votes: Votes,
    rng: np.random.Generator,
    *,
    table: Table | None = None,
    also: Mapping[str, Answer] | None = None,
    control: Control = NO_CONTROL,
) -> Decision:
    """Ask the votes who should answer, and let it answer.

    Parameters
    ----------
    votes : Votes
        Their truth is not read. Probabilities count in step 6; everywhere else their most probable classes do.
    rng : Generator
    table : Table, optional
        Patterns of more rows, of which ``votes`` are a sample: what the grouped model is fitted on, if it fits.
    also : mapping of str to Answer, optional
        Further answers to the same votes, by title, between which gold rows choose. Not asked without gold.
    control : Control
        Asked between steps, and told which one is under way.

    Raises
    ------
    Stopped
        If ``control`` says so.
    """
    votes = votes.without_truth()
    if votes.gold is not None:
        made = _by_gold(votes, rng, table, also or {}, control)
    else:
        made = _by_votes(votes, rng, table, control)
    return _with_scale(made) if votes.ordered else made


def _by_votes(votes: Votes, rng: np.random.Generator, table: Table | None, control: Control) -> Decision:
    """Go through the steps for votes without truth and gold."""
    control.tell("Looking at the panel", 0.0)
    health = panel_health(votes, deepcopy(rng))  # a method answers as it would by name, from the same seed
    if votes.n_learners < MIN_LEARNERS:
        return _by_majority(votes, rng, health)
    if health.one_class.made_of_rules:
        return _by_rules(votes, health)
    if health.camps.split:
        return _between_camps(votes, rng, health)
    control.tell("Looking for groups of learners", 0.1)
    grouping = explain(votes, deepcopy(rng), only_tested=True, table=table, control=control)
    if grouping.fits and grouping.model is not None:
        return _by_groups(votes, health, grouping)
    control.tell("Fusing the votes", 0.6)
    if is_crowd(votes):
        return _by_safe_vote(votes, rng, health, grouping, control)
    answered = _unexplained if votes.soft is None else _by_pool
    return answered(votes, rng, health, grouping, control)


def aggregate(votes: Votes, rng: np.random.Generator, *, control: Control = NO_CONTROL) -> Aggregate:
    """Fuse votes by whoever should answer: the default method of the registry."""
    return decide(votes, rng, control=control).aggregate


def is_crowd(votes: Votes) -> bool:
    """Return whether votes are missing or learners are many."""
    return votes.coverage < CROWD_COVERAGE or votes.n_learners >= PANEL_LEARNERS


def make_field(votes: Votes, *, random_state: int = 0, control: Control = NO_CONTROL) -> Field:
    """Return all candidates' labels for votes, between which gold rows choose."""
    rng = np.random.default_rng(random_state)
    start = decide(votes.without_gold(), rng, control=control.part(0.0, 0.5))
    return candidates(votes, start.aggregate, start.answered_by, start.health.camps, control=control.part(0.5, 1.0))


# ---------------------------------------------------------------------- the steps


def proven(verdict: Verdict) -> bool:
    """Return whether enough gold rows find the majority vote no better."""
    answer, majority = verdict.answer.share, verdict.majority.share
    return verdict.n_gold >= ADVISED and answer is not None and majority is not None and answer >= majority


def _by_gold(
    votes: Votes, rng: np.random.Generator, table: Table | None, also: Mapping[str, Answer], control: Control
) -> Decision:
    """Let gold rows choose between the answer without them and others."""
    assert votes.gold is not None  # noqa: S101  # asked by the caller
    base = _by_votes(votes.without_gold(), rng, table, control.part(0.0, 0.6))
    start = base.aggregate
    field = candidates(votes, start, base.answered_by, base.health.camps, control=control.part(0.6, 1.0))
    verdict = choose(field, votes.gold, {title: answer.codes for title, answer in also.items()})
    given = {title: answer.posterior for title, answer in also.items()}
    made = answer_of(field, verdict, votes.gold, start, given)
    answered_by = verdict.chosen if verdict.switched else base.answered_by
    kept = () if verdict.switched else base.sentences
    if proven(verdict):
        made = replace(made, handles=(*made.handles, *SETTLED))
    decision = _decision("gold", answered_by, made, base.health, *verdict.sentences, *kept)
    return replace(decision, grouping=base.grouping, verdict=verdict)


def _by_majority(votes: Votes, rng: np.random.Generator, health: PanelHealth) -> Decision:
    why = "Answered by the majority vote: with fewer than three learners the votes cannot tell who is right."
    return _decision("few", "mv", majority.aggregate(votes, rng), health, why)


def _by_rules(votes: Votes, health: PanelHealth) -> Decision:
    why = (
        "Answered by the model for rules, because most votes come from learners that know one class each: such votes "
        "do not show how accurate they are, so all rules count the same and rare classes weigh more."
    )
    return _decision(
        "rules", "rules", one_class_rules.fuse_rules(votes), health, why, _gold("show which rules are weak")
    )


def _between_camps(votes: Votes, rng: np.random.Generator, health: PanelHealth) -> Decision:
    why = (
        f"Answered by the majority vote, because the learners form two camps of {len(health.camps.first)} and "
        f"{len(health.camps.second)}, each consistent in itself: the votes cannot tell which is right."
    )
    return _decision("camps", "mv", majority.aggregate(votes, rng), health, why, _gold("decide between them"))


def _by_groups(votes: Votes, health: PanelHealth, grouping: Grouping) -> Decision:
    groups = f"{len(grouping.groups)} groups" if len(grouping.groups) > 1 else "1 group"
    model = f"Dawid-Skene with {groups} of learners that make the same mistakes" if grouping.groups else "Dawid-Skene"
    n_eff = health.effective.n_eff
    to_majority = "" if n_eff is None else f" In a majority vote they are worth about {worth(n_eff)}."
    why = f"Answered by {model}, because {_lower(grouping.reason)}{to_majority}"
    answer = grouped_dawid_skene.answer(votes, grouping)
    return _decision("fit", "gds", answer, health, why, grouping=grouping)


def _by_safe_vote(
    votes: Votes, rng: np.random.Generator, health: PanelHealth, grouping: Grouping, control: Control
) -> Decision:
    why = (
        "Answered by the safe vote (majority vote, Dawid-Skene, one-coin and EBCC vote row by row, and none can "
        f"overturn clear majorities alone), because no model could be shown to explain these votes. {grouping.reason}"
    )
    answer = safe_vote.aggregate(votes, rng, control=control)
    return _decision(
        "crowd", "safe", answer, health, why, _gold("show whether another method does better"), grouping=grouping
    )


def _by_pool(
    votes: Votes, rng: np.random.Generator, health: PanelHealth, grouping: Grouping, control: Control
) -> Decision:
    why = (
        "Answered by the calibrated pool (the mean of the probabilities, each learner's confidence adjusted to its "
        f"agreement with the others), because no model could be shown to explain these votes. {grouping.reason}"
    )
    answer = pools.cal_pool(votes, rng, control=control)
    advice = _gold("show whether soft DEEM or another pool does better")
    return _decision("soft", "cal_pool", answer, health, why, advice, grouping=grouping)


def _unexplained(
    votes: Votes, rng: np.random.Generator, health: PanelHealth, grouping: Grouping, control: Control
) -> Decision:
    why = (
        "Answered by the majority vote, because no model could be shown to explain these votes, and no method to be "
        f"better. {grouping.reason}"
    )
    answer = _with_ties_broken(votes, majority.aggregate(votes, rng), rng, control)
    advice = "Train DEEM as well to see where it differs; a few known labels would decide."
    return _decision("dense", "mv", answer, health, why, advice, grouping=grouping)


def _with_ties_broken(votes: Votes, answer: Aggregate, rng: np.random.Generator, control: Control) -> Aggregate:
    """Return the majority vote with Dawid-Skene's choice among tied classes.

    Even where it does not fit, it breaks ties better than a draw on most ensembles that were tried
    (benchmarks/results/grouping.md).
    """
    tied = votes.majority_vote.n_tied
    if not tied or votes.n_learners * votes.n_classes**2 > TIE_CELLS:
        return answer
    model = dawid_skene.aggregate(votes, rng, control=control)
    note = f"Ties in {tied:,} of {votes.n_rows:,} rows were broken by Dawid-Skene."
    assert answer.rule is not None  # noqa: S101  # both methods have one
    assert model.rule is not None  # noqa: S101
    rule = partial(_tilted_rule, answer.rule, model.rule)
    posterior = _tilted(answer.posterior, model.posterior)
    return replace(answer, posterior=posterior, notes=(note, *answer.notes[1:]), rule=rule)


def _tilted(shares: Floats, chances: Floats) -> Floats:
    """Return vote shares that lean a little towards a model's classes, (n, K)."""
    sums = shares + TIE_WEIGHT * chances
    return np.asarray(sums / sums.sum(axis=1, keepdims=True))


def _tilted_rule(majority: Rule, model: Rule, codes: Integers) -> Floats:
    return _tilted(majority(codes), model(codes))


# ---------------------------------------------------------------------- words

UNUSED_ORDER = (
    "The labels have an order, which this answer does not use. Ordinal Dawid-Skene (ordinal) does: it is often nearer "
    "to the truth where raters are lenient or severe, and sometimes further from it; known labels can choose."
)
"""What is said of votes on a scale. Measured: docs/scores.md."""


def _with_scale(decision: Decision) -> Decision:
    """Return a decision that says that no order was used."""
    if decision.answered_by == "ordinal":
        return decision
    sentences = (*decision.sentences, UNUSED_ORDER)
    notes = (*sentences, *decision.aggregate.notes[len(decision.sentences) :])
    return replace(decision, sentences=sentences, aggregate=replace(decision.aggregate, notes=notes))


def _decision(
    branch: Branch,
    answered_by: str,
    answer: Aggregate,
    health: PanelHealth,
    *said: str,
    grouping: Grouping | None = None,
) -> Decision:
    """Return the decision, its sentences before those of the method."""
    told = tuple(text for text in said if text)
    own = tuple(note for note in answer.notes if all(note.lower() not in text.lower() for text in told))
    noted = replace(answer, notes=(*told, *own), answered_by=answered_by)
    return Decision(branch, answered_by, noted, told, health, grouping)


def _gold(purpose: str) -> str:
    return f"About 20 known labels would {purpose}."


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
