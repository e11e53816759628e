"""Labelling: a method fitted on an extract, for any rows."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from deem_core.answers.answer import Answer
from deem_core.answers.scores import REVIEW_SHARE, ReviewScale, review_quota
from deem_core.auto.fusion import fuse_run, summary_of
from deem_core.control import NO_CONTROL, Control
from deem_core.engine import Engine
from deem_core.errors import InputError
from deem_core.estimators.summary import TrainingSummary
from deem_core.estimators.verbs import train
from deem_core.groups.grouping import explain
from deem_core.large.exact import check_exact, fit_parts
from deem_core.large.extract import Extract
from deem_core.large.patterns import Kept
from deem_core.methods import dawid_skene, fast_dawid_skene, one_coin
from deem_core.methods.contract import Rule
from deem_core.methods.registry import TRAINED
from deem_core.text import count
from deem_core.typing import Mask, Posterior
from deem_core.votes import Votes
from deem_core.votes.coding import key_of
from deem_core.votes.patterns import Table
from deem_core.votes.recode import Recoded

if TYPE_CHECKING:  # scikit-learn takes a moment
    from deem_core.estimators.base import Fuser

BY_PARTS = ("auto", "mv", "ds", "fds", "hds", "onecoin", "rules", "safe", *TRAINED)
"""Methods that can label rows beyond those they were fitted on."""


@dataclass(frozen=True, eq=False)
class Labeller:
    """A fitted method for the rows of any part, on any machine.

    Attributes
    ----------
    rule : function, optional
        (b, d) class codes → (b, K) posterior; None where the answer of every row is known.
    like : Answer
        Without rows: what all parts have in common.
    review : Review
    terms : Fuser, optional
        A model with terms of its own.
    """

    rule: Rule | None
    like: Answer
    review: Review
    terms: Fuser | None

    def answer(self, votes: Votes, start: int, known: Posterior | None = None) -> tuple[Answer, int]:
        """Return the answer for a part.

        Beside it, how many rows at the limit of review were sent there.

        Parameters
        ----------
        votes : Votes
        start : int
            Position of its first row in the file.
        known : (b, K) array, optional
            Its posterior, where there is no rule.
        """
        votes = votes if self.terms is None else self.terms.recoded(votes).votes
        posterior = known if self.rule is None else self.rule(votes.codes)
        assert posterior is not None  # noqa: S101  # one of both is there
        answer = replace(self.like, votes=votes, posterior=posterior)
        doubtful, tied = self.review.doubtful(votes, answer, start)
        return answer.doubted(doubtful), tied


@dataclass(frozen=True, eq=False)
class Labelling:
    """A fitted method as a function of rows.

    Attributes
    ----------
    rule : function, optional
        (b, d) class codes → (b, K) posterior; None where the sample is the file, whose answer is known.
    sample : Answer
        The answer for the rows of the sample.
    review : Review
        Which rows need review, among all.
    fitted : str
        What it was fitted on, in one sentence.
    terms : Fuser, optional
        A model that knows other learners or classes than the file.
    summary : TrainingSummary, optional
    model : Fuser, optional
        What can be saved and applied to other files.
    """

    rule: Rule | None
    sample: Answer
    review: Review
    fitted: str
    terms: Fuser | None = None
    summary: TrainingSummary | None = None
    model: Fuser | None = None

    @property
    def labeller(self) -> Labeller:
        """The method without the sample."""
        none = self.sample.votes.select_rows(slice(0, 0))
        like = replace(self.sample, votes=none, posterior=self.sample.posterior[:0], support=None)
        return Labeller(self.rule, like, self.review, self.terms)

    def known(self, start: int, stop: int) -> Posterior | None:
        """Return the posterior of some rows; None where a rule gives it."""
        return self.sample.posterior[start:stop] if self.rule is None else None


@dataclass(frozen=True, eq=False)
class Review:
    """The tenth of all rows that votes back least.

    As a limit on their review scores.

    Attributes
    ----------
    scale : ReviewScale
    limit : float
        Rows below it are doubtful.
    last : int
        Rows at the limit are doubtful, too, up to this position in the file: the earlier ones first.
    """

    scale: ReviewScale
    limit: float
    last: int

    @classmethod
    def of(cls, extract: Extract, sample: Answer, share: float = REVIEW_SHARE) -> Review:
        """Find the limit among the rows of the sample.

        It is exact if these are all rows. Another share than a tenth may be asked for.
        """
        scale = ReviewScale.of(sample.votes, sample.posterior)
        scores = scale.scores(sample.votes, sample.posterior)
        ranked = np.sort(scores[np.isfinite(scores)])
        wanted = review_quota(len(ranked), share)
        if not wanted:
            return cls(scale, -np.inf, -1)
        limit = ranked[wanted - 1]
        taken = wanted - int(np.searchsorted(ranked, limit))  # of those at the limit, one at least
        return cls(scale, float(limit), int(extract.rows[np.flatnonzero(scores == limit)[taken - 1]]))

    def doubtful(self, votes: Votes, answer: Answer, start: int) -> tuple[Mask, int]:
        """Return the doubtful rows of a part, (b,).

        Beside them, how many of them are at the limit. ``start`` is the position of its first row in the file.
        """
        scores = self.scale.scores(votes, answer.posterior)
        tied = (scores == self.limit) & (np.arange(start, start + len(scores)) <= self.last)
        return np.asarray((scores < self.limit) | tied), int(tied.sum())


def fuse_extract(
    extract: Extract,
    method: str,
    settings: dict[str, Any],
    *,
    kept: str | os.PathLike[str] | None = None,
    exact: bool = False,
    control: Control = NO_CONTROL,
    on: str | Engine | None = None,
) -> Labelling:
    """Fit a method on an extract.

    Parameters
    ----------
    extract : Extract
    method : str
        One of `BY_PARTS`; any where the sample is the file.
    settings : dict
        Of training; ``random_state`` for the others.
    kept : path, optional
        File of a trained model that is taken instead of training it again.
    exact : bool
        Whether one of `EXACT` is fitted on all rows though they have too many patterns; the extract keeps those of
        every part.
    control : Control
    on : str or Engine, optional
        Where such a fit goes through the parts.

    Raises
    ------
    InputError
        If the method labels only the rows it is fitted on.
    """
    if not extract.whole and method not in BY_PARTS:
        raise InputError(
            f"The method {method} labels only the rows it is fitted on, so it cannot label a file in parts. Use one "
            f"of {', '.join(BY_PARTS)}, or read the file whole with --no-stream."
        )
    if exact:
        check_exact(method)
    if method in TRAINED:
        return _trained(extract, method, settings, kept, control=control, on=on)
    if exact and not extract.complete and extract.kept is not None:
        return _exactly(extract, method, extract.kept, control, on)
    made = fuse_run(extract.sample, method, settings["random_state"], table=extract.table, control=control)
    counted = extract.complete and not extract.whole
    rule = _counted_rule(method, extract.table, control, exact=exact) if counted else None
    if rule is not None:
        answer = replace(made.answer, posterior=rule(extract.sample.codes))
        fitted = f"Fitted on {extract.table_words}."
        return Labelling(rule, answer, Review.of(extract, answer), fitted, summary=made.summary)
    if made.rule is None and not extract.whole:
        raise InputError(
            f"The method {method} was fitted on {extract.sample_words} and labels only these. Use --method mv "
            "or ds, or read the file whole with --no-stream."
        )
    fitted = _words(extract, by_patterns=made.model is not None)
    if method == "mv":
        fitted = "Nothing was fitted: the majority vote counts the votes of each row."
    rule = None if extract.whole else made.rule
    review = Review.of(extract, made.answer)
    return Labelling(rule, made.answer, review, fitted, summary=made.summary, model=made.model)


def _exactly(extract: Extract, method: str, kept: Kept, control: Control, on: str | Engine | None) -> Labelling:
    """Fit a method on the patterns of all parts."""
    made, rounds = fit_parts(extract.sample, method, kept, control=control, on=on)
    answer = made.answer(extract.sample, method)
    fitted = (
        f"Fitted on all {count(extract.n_rows, 'row')}, in {count(rounds, 'round')} over "
        f"{count(len(kept.parts), 'part')}."
    )
    review, summary = Review.of(extract, answer), summary_of(made, method)
    return Labelling(made.rule, answer, review, fitted, summary=summary)


def _counted_rule(method: str, table: Table, control: Control, *, exact: bool) -> Rule | None:
    """Fit a method on patterns with their counts.

    None if it needs the rows, or nobody asked for it.
    """
    if exact and method in ("fds", "hds"):
        until = float("inf") if method == "fds" else fast_dawid_skene.SWITCH
        hardened, _ = fast_dawid_skene.fit(table, control=control, soft_until=until)
        return partial(dawid_skene.posterior_of, psi=hardened.psi, pi=hardened.pi)
    if method == "onecoin":
        coins = one_coin.fit(table, control=control)
        return partial(one_coin.posterior_of, accuracy=coins.accuracy, pi=coins.pi)
    if method != "ds":
        return None
    fitted = dawid_skene.fit(table, control=control)
    return partial(dawid_skene.posterior_of, psi=fitted.psi, pi=fitted.pi)


def _trained(
    extract: Extract,
    method: str,
    settings: dict[str, Any],
    kept: str | os.PathLike[str] | None,
    *,
    control: Control,
    on: str | Engine | None,
) -> Labelling:
    if kept is not None and os.path.isfile(kept):
        from deem_core.estimators.verbs import load  # noqa: PLC0415  # scikit-learn takes a moment

        model = load(kept)
    else:
        model = train_extract(extract, method, settings, control=control, on=on)
    made = apply_extract(extract, model)
    return replace(made, fitted=_words(extract, by_patterns=method == "gds"), summary=model.summary_)


def train_extract(
    extract: Extract,
    method: str,
    settings: dict[str, Any],
    *,
    control: Control = NO_CONTROL,
    on: str | Engine | None = None,
) -> Fuser:
    """Train a model on an extract.

    Grouped Dawid-Skene on its patterns, others on its sample.
    """
    if method != "gds":
        return train(extract.sample, method, control=control, on=on, **settings)
    from deem_core.estimators.grouped import GroupedDawidSkene  # noqa: PLC0415  # scikit-learn takes a moment
    from deem_core.estimators.verbs import make_model  # noqa: PLC0415

    make_model(method, **settings)  # refuses settings that it does not have
    seed = settings.get("random_state", 0)
    votes = extract.sample.without_truth()
    grouping = explain(votes, np.random.default_rng(seed), table=extract.table, control=control)
    if grouping.model is None:
        raise InputError(grouping.reason)
    model = GroupedDawidSkene.of_grouping(votes, grouping, random_state=seed)
    model.n_rows_ = extract.n_rows if extract.complete else votes.n_rows
    return model


def apply_extract(extract: Extract, model: Fuser) -> Labelling:
    """Return the labelling of a trained model; learners are matched by name."""
    recoded = model.recoded(extract.sample)

    sample = model.fuse(extract.sample if recoded.same_terms else recoded)
    rule = None if extract.whole else model.fuse_codes
    review = Review.of(extract, sample)
    fitted = f"The model was trained on {model.n_rows_:,} rows."
    return Labelling(rule, sample, review, fitted, None if recoded.same_terms else model, model=model)


def differences(extract: Extract, model: Fuser) -> Recoded:
    """Return what a file holds that a model does not know.

    Of all rows.
    """
    known = {key_of(label) for label in model.classes_.tolist()}
    votes = zip(extract.sample.classes.tolist(), extract.facts.class_votes.tolist(), strict=True)
    unknown = {str(label): n for label, n in votes if n and key_of(label) not in known}
    found = model.recoded(extract.sample)
    return replace(found, unknown=unknown, unread=found.unread if extract.whole else {})


def _words(extract: Extract, *, by_patterns: bool) -> str:
    if not by_patterns:
        return f"Fitted on {extract.sample_words}."
    if extract.whole or not extract.complete:
        return f"Fitted on {extract.table_words}."
    return f"Fitted on {extract.table_words}; groups and fit were checked on {extract.sample_words}."
