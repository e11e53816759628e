"""Changers: turn one ensemble into another and keep its parameters true."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from deem_core.errors import InputError
from deem_core.simulation.ensemble import (
    Ensemble,
    check_class_indices,
    check_count,
    check_share,
    draw_votes,
    with_codes,
)
from deem_core.typing import Codes, Floats
from deem_core.votes import NO_VOTE
from deem_core.votes.arrays import one_hot
from deem_core.votes.labels import DEFAULT, canonical_text


def copies_with_noise(base: Ensemble, copies: int, *, rng: np.random.Generator, noise: float = 0.1) -> Ensemble:
    """Duplicate every learner, with noise in each copy.

    A ``noise`` share of a copy's votes becomes a random class.

    This is how MnistE gets its near-copies (Datasets appendix). Copies are named ``<learner>_1`` and so on;
    ``groups`` tells which learner each was copied from.
    """
    of = np.repeat(np.arange(base.votes.n_learners), check_count(copies, "copies"))
    names = tuple(f"{name}_{c + 1}" for name in base.votes.learners for c in range(copies))
    codes = _replaced(rng, _hard_codes(base)[:, of], base.votes.n_classes, check_share(noise, "noise"))
    return with_codes(base, codes, learners=names, psi=_noisy(base.psi[of], noise), groups=of)


def with_experts(
    base: Ensemble, experts: Mapping[str | int, Sequence[int]], *, rng: np.random.Generator, noise: float = 0.1
) -> Ensemble:
    """Add label noise, then make some learners oracles on some classes (MnistE-47, -568, -4/7; MoE appendix).

    Parameters
    ----------
    base : Ensemble
    experts : mapping of learner (name or position) to class indices
    noise : float
        Share of each learner's votes that becomes a random class first, each learner on its own rows.
    """
    psi = _noisy(base.psi, check_share(noise, "noise"))
    codes = _replaced(rng, _hard_codes(base), base.votes.n_classes, noise)
    named = dict(base.experts) if noise == 0 else {}  # noise takes the oracle away from earlier experts
    for learner, classes in experts.items():
        name = base.votes.select_learners([learner]).learners[0]
        i, known = base.votes.learners.index(name), check_class_indices(classes, base.votes.n_classes)
        psi[i][:, known] = np.eye(base.votes.n_classes)[:, known]
        rows = np.isin(base.truth, known) & (codes[:, i] != NO_VOTE)
        codes[rows, i] = base.truth[rows]
        named[name] = tuple(sorted({*named.get(name, ()), *known}))
    return with_codes(base, codes, psi=psi, experts=named, groups=base.groups)


def random_learners(base: Ensemble, count: int, *, rng: np.random.Generator, hint: float = 0.001) -> Ensemble:
    """Add learners that guess, but for a ``hint`` share of true labels (sensitivity appendix)."""
    K, extra = base.votes.n_classes, check_count(count, "count")
    psi = np.repeat((check_share(hint, "hint") * np.eye(K) + (1 - hint) / K)[None], extra, axis=0)
    codes = np.hstack([_hard_codes(base), draw_votes(rng, psi, base.truth[:, None])])
    names = (*base.votes.learners, *(f"random_{j + 1}" for j in range(extra)))
    groups = None if base.groups is None else np.append(base.groups, base.groups.max() + 1 + np.arange(extra))
    psi = np.concatenate([base.psi, psi])
    return with_codes(base, codes, learners=names, psi=psi, experts=base.experts, groups=groups)


def drop_votes(base: Ensemble, share: float, *, rng: np.random.Generator) -> Ensemble:
    """Take each vote away with probability ``share``.

    A row that would lose all its votes keeps one of them.
    """
    if not 0 <= share < 1:
        raise InputError(f"The share of missing votes is {share:g}; it must be at least 0 and below 1.")
    fate = np.where(base.votes.codes == NO_VOTE, -1, rng.random(base.votes.codes.shape))
    keep = fate >= share
    np.put_along_axis(keep, fate.argmax(axis=1)[:, None], True, axis=1)  # the luckiest vote stays whatever happens
    codes = np.where(keep, base.votes.codes, NO_VOTE)
    soft = None if base.votes.soft is None else base.votes.soft * keep[..., None]
    return replace(base, votes=replace(base.votes, codes=codes, soft=soft))


def soften(base: Ensemble, *, rng: np.random.Generator, sharpness: float = 4.0) -> Ensemble:
    """Give every vote class probabilities of which it is the largest.

    Probabilities are Dirichlet draws with parameters of sum 2 where the vote is wrong and 2 / sharpness
    where it is right, so that learners are on average surer when they are right; 1 makes no difference.
    The largest value is moved to the voted class. A hundredth of the mass goes to the voted class and
    another is spread evenly, so that rounding in a file cannot turn a vote and no probability is 0.
    """
    if not 1 <= sharpness <= 20:
        raise InputError(f"sharpness is {sharpness:g}; it must lie between 1 and 20.")
    codes, K = _hard_codes(base), base.votes.n_classes
    soft = np.zeros((*codes.shape, K), np.float32)
    for i in range(codes.shape[1]):  # learner by learner: the float64 draws need (n, K) at a time only
        rows = np.flatnonzero(codes[:, i] != NO_VOTE)
        vote = codes[rows, i]
        shape = np.where(vote == base.truth[rows], 1 / sharpness, 1.0) * 2 / K
        draw = rng.standard_gamma(np.repeat(shape[:, None], K, axis=1))
        draw /= draw.sum(axis=1, keepdims=True)
        at, largest = np.arange(len(rows)), draw.argmax(axis=1)
        draw[at, largest], draw[at, vote] = draw[at, vote], draw[at, largest]
        soft[rows, i] = 0.98 * draw + 0.01 * one_hot(vote[:, None], K)[:, 0] + 0.01 / K
    return replace(base, votes=replace(base.votes, soft=soft))


def relabel(base: Ensemble, labels: Sequence[str]) -> Ensemble:
    """Name the classes: ``labels[k]`` instead of k."""
    texts = [str(label).strip() for label in labels]
    if len(texts) != base.votes.n_classes:
        raise InputError(f"{len(texts)} labels were given for {base.votes.n_classes} classes.")
    for text in texts:
        if DEFAULT.is_missing(text):
            raise InputError(f"{text!r} cannot be a label: in a file it means that there is no vote.")
    if len({canonical_text(text) for text in texts}) < len(texts):
        raise InputError(f"The labels {', '.join(texts)} are not all different.")
    return replace(base, votes=replace(base.votes, classes=np.array(texts, object)))


def _noisy(psi: Floats, noise: float) -> Floats:
    return np.asarray((1 - noise) * psi + noise / psi.shape[-1])


def _replaced(rng: np.random.Generator, codes: Codes, K: int, share: float) -> Codes:
    """Return codes with a share of the votes replaced by random classes.

    The new class may be the old one.
    """
    hit = (rng.random(codes.shape) < share) & (codes != NO_VOTE)
    changed = codes.copy()
    changed[hit] = rng.integers(K, size=int(hit.sum()))
    return changed


def _hard_codes(base: Ensemble) -> Codes:
    if base.votes.soft is not None:
        raise InputError("These votes carry probabilities, which would no longer fit: soften the ensemble last.")
    return base.votes.codes
