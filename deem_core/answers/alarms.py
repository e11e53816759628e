"""Alarms about labels and files of votes, for every method, without truth.

`label_alarms` looks at one answer, `file_alarms` at the votes alone, so that several answers to the same votes share
it; `Answer.alarms` has both and what the method says of itself. Thresholds were measured on crowds, panels, rules and
ensembles (docs/diagnostics.md): on ensembles of classifiers most failures raise no alarm, so silence is no praise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from deem_core.alarm import Alarm, cause_first
from deem_core.answers import guards
from deem_core.groups.kappa import Ranked
from deem_core.groups.panel import PanelHealth, panel_health
from deem_core.text import listing, percent
from deem_core.typing import Codes, Integers
from deem_core.votes import NO_VOTE, Votes
from deem_core.votes.arrays import spread_rows
from deem_core.votes.majority import vote_shares
from deem_core.votes.merging import alike_classes
from deem_core.votes.spelling import examples, headline

if TYPE_CHECKING:  # which knows alarms
    from deem_core.answers.answer import Answer

MAX_VOTES = 150_000
"""Votes looked at where a look at all of them takes seconds; rows are taken evenly."""

CAPTURED = 0.9
"""Capture ratio below which labels follow a part of the learners only."""
INFORMED = 0.01
"""Nats that a learner must share with the majority of the others to count for capture."""
CAPTURE_VOTES = 30
"""Votes that a learner needs to count for capture."""
_NATS_FLOOR = 1e-4  # keeps ratios of nothing to little finite

MANY_OVERRULED = 0.02
"""Unanimous rows overruled above this share of all unanimous rows: the model may have taken a wrong turn."""

_SUBJECT = "This answer"
_ONE_COIN = "onecoin"
_NAMED = 5  # learners that a sentence names


def alarms(answer: Answer, health: PanelHealth | None = None) -> tuple[Alarm, ...]:
    """Return every alarm of an answer, those of its method first.

    Kinds that the method takes care of (`Answer.handles`) are left out.

    Parameters
    ----------
    answer : Answer
    health : PanelHealth, optional
        Of its votes, if `file_health` was asked already.
    """
    health = health or file_health(answer.votes)
    of_file = (alarm for alarm in file_alarms(answer.votes, health) if alarm.kind not in answer.handles)
    return tuple(cause_first((*label_alarms(answer, health), *of_file)))


def file_health(votes: Votes) -> PanelHealth:
    """Return the health of the panel, on at most `MAX_VOTES` votes."""
    return panel_health(_some_rows(votes), np.random.default_rng(0))


# ---------------------------------------------------------------------- the labels of a method


def label_alarms(answer: Answer, health: PanelHealth) -> tuple[Alarm, ...]:
    """Return the doubts of a method, and those about its labels."""
    raised = (
        _dead_class(answer),
        _far(answer),
        _capture(answer),
        _overturned(answer, health) or _overruled(answer),
    )
    own = (alarm for alarm in raised if alarm is not None and alarm.kind not in answer.handles)
    return (*answer.method_alarms, *own)


def _dead_class(answer: Answer) -> Alarm | None:
    rarest = guards.rarest_class(answer.votes, answer.codes)
    limit = guards.DEAD_RATIO_ONE_COIN if answer.method == _ONE_COIN else guards.DEAD_RATIO
    if rarest is None or not rarest.dead(limit):
        return None
    advice = (
        "The majority vote has the same labels. Label some rows."
        if (answer.codes == answer.majority).all()
        else (
            "Models that learn how often learners err can explain a class away. Use the majority vote, or label "
            "some rows."
        )
    )
    return Alarm("dead class", f"The class {rarest.label} has almost vanished", rarest.sentence(_SUBJECT), advice)


def _far(answer: Answer) -> Alarm | None:
    with_labels, with_each_other = closeness(answer.votes, answer.codes)
    if not with_labels < with_each_other:  # NaN without rows of two votes
        return None
    return Alarm(
        "far from the votes",
        "The labels agree poorly with the learners",
        f"The votes match these labels in {percent(with_labels)} of cases, and each other in "
        f"{percent(with_each_other)}: the labels agree with the learners less than the learners agree with each other.",
        "Compare with the majority vote before you use them.",
    )


def _capture(answer: Answer) -> Alarm | None:
    found = capture(answer)
    if found is None or not found.ratio < CAPTURED:
        return None
    followed = listing(found.followed, _NAMED) if found.followed else "none of them more than the majority vote does"
    return Alarm(
        "capture",
        "The labels follow only some of the learners",
        f"Compared with the majority vote, they follow some learners and ignore others ({found.ratio:.2f} of the "
        f"majority vote's information per learner). They follow {followed}.",
        "Those may be right or wrong: the votes cannot tell, but a few known labels would.",
    )


def _overturned(answer: Answer, health: PanelHealth) -> Alarm | None:
    found = guards.overturned_majorities(answer.votes, answer.codes)
    if not found.strong(health.effective.rho_others):
        return None
    return Alarm(
        "overturned",
        "Clear majorities are overturned",
        found.sentence(_SUBJECT),
        "Among learners that share mistakes this is rarely right. Check some of these rows first.",
    )


def _overruled(answer: Answer) -> Alarm | None:
    overruled, unanimous = int(answer.overruled.sum()), int(answer.votes.unanimous.sum())
    if not unanimous or overruled / unanimous <= MANY_OVERRULED:
        return None
    return Alarm(
        "overruled",
        "Unanimous votes overruled",
        f"{_SUBJECT} gives a different label to {overruled:,} of {unanimous:,} rows on which all votes agree "
        f"({percent(overruled / unanimous)}). That is right only where all learners are wrong together, which is rare.",
        "Check these rows before you trust the labels.",
    )


# ---------------------------------------------------------------------- the file


def file_alarms(votes: Votes, health: PanelHealth) -> tuple[Alarm, ...]:
    """Return what about the votes alone calls for care with any method."""
    raised = spelling_alarms(votes)
    if health.one_class.made_of_rules:
        raised.append(
            Alarm(
                "one-class rules",
                "These are one-class rules",
                health.one_class.sentence,
                "Methods that learn accuracies may give every row the same class here.",
            )
        )
    if health.camps.split:
        raised.append(
            Alarm(
                "camps",
                "The panel is split",
                health.camps.sentence,
                "Until then every method picks a side by chance.",
            )
        )
    if guards.little_to_gain(votes, health.effective.rho_residual):
        raised.append(
            Alarm(
                "little to gain",
                "Models rarely gain here",
                "Two classes and many learners that agree beyond what a model of independent learners explains: on "
                "such files models rarely beat the majority vote.",
                "Label some rows to see.",
            )
        )
    silent = int((votes.votes_per_row == 0).sum())
    if silent:
        raised.append(
            Alarm(
                "silent rows",
                "Rows without votes",
                silence(silent),
                "Nothing is known about them: label them by hand, or leave them out.",
            )
        )
    return tuple(raised)


def spelling_alarms(votes: Votes) -> list[Alarm]:
    """Return the alarm about classes that look like one label, if any."""
    groups = alike_classes(votes)
    if not groups:
        return []
    return [
        Alarm(
            "spellings",
            "Labels in several spellings",
            f"{headline(groups, votes.classes)}: {examples(groups)}. As separate classes they split the votes.",
            "Merge the spellings and fuse again (on the command line: --merge-spellings).",
        )
    ]


def silence(rows: int) -> str:
    """Return the sentence about rows without votes."""
    return "1 row has no vote and gets no label." if rows == 1 else f"{rows:,} rows have no vote and get no label."


# ---------------------------------------------------------------------- measures


@dataclass(frozen=True)
class Capture:
    """How evenly labels keep what the majority vote tells of the learners.

    Attributes
    ----------
    ratio : float
        exp mean_i log( (MI(label, x_i) + 1e-4) / (MI(majority, x_i) + 1e-4) ); 1 if they keep all of it.
    followed : tuple of str
        Learners whose own ratio is above 1, the largest first.
    """

    ratio: float
    followed: tuple[str, ...]


def capture(answer: Answer) -> Capture | None:
    """Return what labels keep of the learners' information.

    Over learners with at least `CAPTURE_VOTES` votes on rows where others vote too, whose mutual information with the
    majority of the others is above `INFORMED`: a learner that guesses shares something with the majority vote only
    because its own votes are in it, and labels that let it go are no worse for that. None without any such learner.
    Labels that *are* one group of learners have all of its information and little of the others', which the
    geometric mean shows.
    """
    votes = answer.votes
    rows = _spread(votes, at_least=2)
    codes, label, majority = votes.codes[rows].astype(np.int64), answer.codes[rows], answer.majority[rows]
    ranked = Ranked.of(codes) if len(rows) else None
    learners, ratios = [], []
    for i, own in enumerate(np.ascontiguousarray(codes.T)):
        there = own != NO_VOTE
        if ranked is None or int(there.sum()) < CAPTURE_VOTES:
            continue
        others = ranked.best(ranked.without(own))
        if information(own[there], others[there]) > INFORMED:
            kept, known = (information(own[there], each[there]) for each in (label, majority))
            learners.append(votes.learners[i])
            ratios.append((kept + _NATS_FLOOR) / (known + _NATS_FLOOR))
    if not learners:
        return None
    order = [at for at in np.argsort(-np.array(ratios), kind="stable").tolist() if ratios[at] > 1]
    return Capture(float(np.exp(np.log(ratios).mean())), tuple(learners[at] for at in order))


def information(one: Integers, other: Integers) -> float:
    """Return the mutual information of two columns of codes (b,), in nats.

    The plug-in estimate, as in `votes.information`, of one pair.
    """
    one, other, n = one.astype(np.int64), other.astype(np.int64), max(len(one), 1)
    cells = np.unique(one * (int(other.max(initial=0)) + 1) + other, return_counts=True)[1]
    joint, first, second = (float(xlogy(c, c).sum()) for c in (cells, np.bincount(one), np.bincount(other)))
    return max((joint - first - second) / n + float(np.log(n)), 0.0)


def closeness(votes: Votes, codes: Codes) -> tuple[float, float]:
    """Return how often votes equal the label, and one another.

    Means over rows with two votes or more of Σ_i 1[x_i = label] / m and of Σ_k v_k (v_k − 1) / (m (m − 1)), with m
    votes in the row and v_k of them for class k. The majority vote never agrees less than votes with one another: its
    share is the largest v_k / m. NaN without such rows.
    """
    rows = _spread(votes, at_least=2)
    if not len(rows):
        return float("nan"), float("nan")
    cast = votes.votes_per_row[rows].astype(np.float64)
    shares = vote_shares(votes.codes[rows], votes.n_classes)  # (b, K)
    with_label = shares[np.arange(len(rows)), codes[rows]]
    together = ((shares**2).sum(axis=1) * cast - 1) / (cast - 1)
    return float(with_label.mean()), float(together.mean())


def _spread(votes: Votes, at_least: int = 1) -> NDArray[np.intp]:
    """Return evenly spread rows with votes, of at most `MAX_VOTES` cells."""
    voted = np.flatnonzero(votes.votes_per_row >= at_least)
    width = max(votes.n_learners, votes.n_classes)
    return np.asarray(voted[spread_rows(len(voted), max(MAX_VOTES // width, 1000))])


def _some_rows(votes: Votes) -> Votes:
    """Return the votes, or evenly spread rows if they are many."""
    cast = max(int(votes.votes_per_row.sum()), 1)
    if cast <= MAX_VOTES:
        return votes.without_truth()
    return votes.without_truth().select_rows(spread_rows(votes.n_rows, max(votes.n_rows * MAX_VOTES // cast, 1)))
