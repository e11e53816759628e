"""The verbs of fusing: fuse, check, and ask for rows to label."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from deem_core.alarm import Alarm
from deem_core.answers.answer import Answer
from deem_core.answers.conditions import REVIEW_CONFIDENCE, Check, Evidence, look, wishes_of
from deem_core.auto.decision import make_field
from deem_core.auto.fusion import AUTO, fuse_run
from deem_core.auto.judgement import judged
from deem_core.control import NO_CONTROL, Control
from deem_core.engine import LOCAL, Engine, stays_here
from deem_core.errors import InputError
from deem_core.estimators.verbs import train
from deem_core.gold.questions import Questions, questions
from deem_core.methods import registry
from deem_core.readers.gold import read_gold
from deem_core.votes import Votes
from deem_core.votes.checks import check_seed
from deem_core.votes.label_sets import refuse_sets
from deem_core.votes.recode import as_votes

if TYPE_CHECKING:  # scikit-learn takes a moment
    from deem_core.estimators.base import Fuser


def fuse(
    votes: Any,
    method: str = AUTO,
    *,
    gold: Any = None,
    consider: Sequence[str] = (),
    random_state: int | None = None,
    control: Control | None = None,
    on: str | Engine | None = None,
    **settings: Any,
) -> Answer:
    """Fuse votes into one label per row by any method.

    Parameters
    ----------
    votes : Votes, frame, (n, d) array of labels or (n, d, K) array of probabilities
        Their truth, if there is one, stays with the answer and is not read.
    method : str
        A name of `deem_core.methods.registry.METHODS`; "auto" asks the votes who should answer (`deem_core.auto`).
    gold : optional
        Known labels that are to be used: ``{id: label}``, a Series by id, a label or None for each row, or a file (see
        `deem_core.readers.read_gold`). "auto" lets them choose who answers; other methods are judged by them, and
        Dawid-Skene holds them fixed.
    consider : sequence of str
        Further methods, such as "deem", between which "auto" lets gold choose.
    random_state : int, optional
        Same number, same labels.
    control : Control, optional
        Says whether to go on.
    on : str or Engine, optional
        Where models are trained: "local", "ray" or "ray://HOST:PORT"; $DEEM_ENGINE by default, else here. All else runs
        here.
    **settings
        Of `deem_core.model.config.TrainConfig`, for methods that train a model.

    Raises
    ------
    InputError
        If the method is unknown, or cannot take such votes or settings.

    Examples
    --------
    >>> from deem_core import fuse
    >>> answer = fuse([["cat", "cat", "dog"], ["dog", "dog", "dog"], ["cat", "cat", "cat"]], method="mv")
    >>> answer.labels.tolist()
    ['cat', 'dog', 'cat']
    """
    check_seed(random_state, generators=True)
    votes, control = with_gold(as_votes(votes), gold), control or NO_CONTROL
    if registry.entry(method).trained:
        model = train(votes, method, random_state=random_state, control=control, on=on, **settings)
        return judged(model.fuse(votes), method, control=control)
    if settings:
        raise InputError(
            f"The method {method} trains nothing and has no setting {sorted(settings)[0]!r}; name one that trains, "
            "such as method='deem', or leave it out."
        )
    if stays := left_here(method, consider, on):
        control.note(stays)
    seed: Any = random_state
    also = further(votes, method, consider, seed, control, on=on)
    return fuse_run(votes, method, seed, also=also, control=control).answer


def check(
    votes: Any,
    fail_on: str | Iterable[str] | None = None,
    *,
    method: str = AUTO,
    gold: Any = None,
    review_below: float = REVIEW_CONFIDENCE,
    random_state: int | None = None,
    control: Control | None = None,
    on: str | Engine | None = None,
    **settings: Any,
) -> Check:
    """Hold fused labels against named conditions.

    Parameters
    ----------
    votes : Answer, or votes in any form that `fuse` takes
        Votes are fused first.
    fail_on : str or iterable of str, optional
        Conditions such as ``"collapse,captured,below-review=0.2"``; see `deem_core.answers.conditions.CONDITIONS`. By
        default those of `deem_core.answers.conditions.DEFAULT`.
    method, gold, random_state, control, on, **settings
        Of `fuse`; an Answer has them behind it.
    review_below : float
        Confidence below which ``below-review`` counts a row.

    Raises
    ------
    InputError
        If a condition is unknown or cannot be looked at, or as `fuse` does.

    Examples
    --------
    >>> from deem_core import check, simulate
    >>> found = check(simulate("condind", 500, seed=0).votes, "collapse,below-coverage=0.9", method="mv")
    >>> found.passed, [result.condition for result in found.results]
    (True, ['collapse', 'below-coverage=0.9'])
    """
    wishes = wishes_of(fail_on)
    if isinstance(votes, Answer):
        return look(Evidence(votes, votes.alarms, review_below, votes.gold), wishes)
    if not registry.entry(method).trained:
        answer = fuse(votes, method, gold=gold, random_state=random_state, control=control, on=on, **settings)
        return look(Evidence(answer, answer.alarms, review_below, answer.gold), wishes)
    check_seed(random_state, generators=True)
    votes, control = with_gold(as_votes(votes), gold), control or NO_CONTROL
    model = train(votes, method, random_state=random_state, control=control, on=on, **settings)
    answer = judged(model.fuse(votes), method, control=control)
    return look(Evidence(answer, _alarms_of(model, answer), review_below, answer.gold), wishes)


def _alarms_of(model: Fuser, answer: Answer) -> tuple[Alarm, ...]:
    """Return the alarms of a training and of its labels."""
    from deem_core.training.failure import alarms_of  # noqa: PLC0415  # only those who train need it

    summary = model.summary_
    if not summary.restarts:
        return answer.alarms
    return tuple(
        alarms_of(
            answer.votes.without_truth(),
            getattr(model, "history_", ()),
            {**summary.setting_values, "method": summary.method},
            summary.restarts,
            sweep=getattr(model, "sweep_", None),
            instead=registry.entry(summary.stand_in).title.lower() if summary.fallback else "",
            labels=answer.alarms,
        )
    )


def left_here(method: str, consider: Sequence[str], on: str | Engine | None) -> str:
    """Return the sentence for a method that runs here in any case.

    Empty if no other place was asked for, or a model is trained beside it.
    """
    if any(registry.entry(name).trained for name in consider):
        return ""
    return stays_here(registry.entry(method).title, on)


def further(
    votes: Votes,
    method: str,
    consider: Sequence[str],
    seed: int | None,
    control: Control,
    *,
    on: str | Engine | None = None,
) -> dict[str, Answer]:
    """Return the answers of further methods between which gold chooses, by title.

    Raises
    ------
    InputError
        If there is no gold to choose by, or another method than auto was named.
    """
    if not consider:
        return {}
    if method != AUTO or votes.gold is None:
        raise InputError("auto considers further methods only where there are gold rows: add some as gold.")
    blind = votes.without_truth().without_gold()
    part, found = control.part(0.0, 0.5), dict[str, Answer]()
    for name in consider:
        item = registry.entry(name)
        where = on if item.trained else LOCAL
        found[item.title] = fuse(blind, name, random_state=seed, control=part, on=where)
    return found


def ask(answer: Any, n: int = 20, *, random_state: int = 0, control: Control | None = None) -> Questions:
    """Choose the rows to label next.

    Parameters
    ----------
    answer : Answer, Votes, frame or array
        Rows that have a gold label already are not asked again.
    n : int
        How many.
    random_state : int
        Same number, same rows.
    control : Control, optional

    Examples
    --------
    >>> from deem_core import ask, simulate
    >>> rows = ask(simulate("condind", 200, seed=0).votes, 20)
    >>> len(rows), rows.to_frame(simulate("condind", 200, seed=0).votes).columns[:2].tolist()
    (20, ['row', 'gold_label'])
    """
    check_seed(random_state)
    votes = answer.votes if isinstance(answer, Answer) else as_votes(answer)
    refuse_sets(votes, "a queue")
    field = make_field(votes, control=control or NO_CONTROL)
    asked = 0 if votes.gold is None else votes.gold.n_rows
    return questions(field, n, gold=votes.gold, rng=np.random.default_rng([random_state, asked]))


def with_gold(votes: Votes, gold: Any) -> Votes:
    """Return votes with gold labels in any form, files included."""
    if gold is None:
        return votes
    if isinstance(gold, (str, bytes, os.PathLike)) or hasattr(gold, "read"):
        gold = read_gold(gold, votes).gold
    return votes.with_gold(gold)
