"""Simulate: the paper's synthetic ensembles, made with their truth and the exact parameters behind them.

Makers (`condind`, `tree`, `ampdata`, `families`, `crowd`) draw an `Ensemble`; changers (`copies_with_noise`,
`with_experts`, `random_learners`, `drop_votes`, `soften`, `relabel`) turn one into another; `make` and
`build` do both by name, for the command line. Everything random comes from the ``rng`` handed in.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deem_core.errors import InputError
from deem_core.labels import DEFAULT, MAX_CLASSES, canonical_text
from deem_core.votes import NO_VOTE, Votes, one_hot

Float = NDArray[np.float64]
Codes = NDArray[np.int32]

EXPERT_CLASSES = (4, 7)  # MnistE-47 (paper, MoE appendix)
N_FAMILIES = 3  # tree, naive Bayes and perceptron in MnistE (paper, Datasets appendix)


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Votes with their truth and the probabilities they were drawn from.

    Attributes
    ----------
    votes : Votes
        n rows, d learners, K classes; the truth of every row is known.
    psi : (d, K, K) float64
        ``psi[i, l, m]`` = Pr(X_i = l | Y = m) of a vote that was cast.
    pi : (K,) float64
        Pr(Y = m).
    experts : mapping of str to tuple of int
        Learner → classes on which it is always right.
    groups : (d,) int64, optional
        Parent of each learner (tree) or the learner it is a copy of; None where there is no such structure.
    parent_psi : (G, K, K) float64, optional
        Of a tree: intermediate node given Y.
    leaf_psi : (d, K, K) float64, optional
        Of a tree: learner given its intermediate node.
    """

    votes: Votes
    psi: Float
    pi: Float
    experts: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    groups: NDArray[np.int64] | None = None
    parent_psi: Float | None = None
    leaf_psi: Float | None = None

    def __post_init__(self) -> None:
        """Check that the parameters belong to these votes."""
        d, K = self.votes.n_learners, self.votes.n_classes
        if self.psi.shape != (d, K, K) or self.pi.shape != (K,):
            raise InputError(
                f"{d} learners and {K} classes need psi of shape {(d, K, K)} and pi of shape {(K,)}; "
                f"these have {self.psi.shape} and {self.pi.shape}."
            )
        if self.votes.truth is None or not ((self.votes.truth >= 0) & (self.votes.truth < K)).all():
            raise InputError("An ensemble needs the true class of every row.")

    @property
    def truth(self) -> Codes:
        """True class of every row, (n,)."""
        return np.asarray(self.votes.truth, np.int32)


# ---------------------------------------------------------------------- makers


def condind(
    n: int,
    *,
    rng: np.random.Generator,
    n_learners: int = 15,
    n_classes: int = 3,
    n_informative: int = 4,
    prior: ArrayLike | None = None,
) -> Ensemble:
    """Draw conditionally independent learners, a few good and the others pure noise (CondInd, Datasets appendix).

    A good learner is right on class m with a probability of its own from U[(K-1)/K, 1] and otherwise votes
    for any wrong class alike; a noise learner votes for each class with 1/K. ``prior`` is uniform by default.
    """
    d, K = _count(n_learners, "n_learners"), _classes(n_classes)
    good = _count(n_informative, "n_informative", least=0)
    if good > d:
        raise InputError(f"{good} informative learners cannot be among {d}: n_informative is at most n_learners.")
    pi = _uniform(K) if prior is None else _prior(prior, K)
    psi = np.full((d, K, K), 1 / K)
    psi[:good] = _even_rest(rng.uniform((K - 1) / K, 1, (good, K)))
    names = [f"good_{j + 1}" for j in range(good)] + [f"noise_{j + 1}" for j in range(d - good)]
    return _independent(n, rng, psi, pi, names)


def tree(n: int, *, rng: np.random.Generator, n_classes: int = 3, n_groups: int = 3, n_leaves: int = 4) -> Ensemble:
    """Draw a tree Y → intermediate nodes → learners (Tree3K, Datasets appendix); only the leaves vote.

    Every node repeats its parent with one probability from U[0.7, 1] and divides the rest over the other
    classes at random, per class of the parent. Leaves of one node are dependent given Y.
    """
    K, G, L = _classes(n_classes), _count(n_groups, "n_groups"), _count(n_leaves, "n_leaves")
    truth = _draw_classes(n, rng, _uniform(K))
    parent_psi = _random_rest(rng, np.repeat(rng.uniform(0.7, 1, (G, 1)), K, axis=1))  # (G, K, K)
    leaf_psi = _random_rest(rng, np.repeat(rng.uniform(0.7, 1, (G * L, 1)), K, axis=1))  # (G·L, K, K)
    groups = np.repeat(np.arange(G), L)
    nodes = _draw_votes(rng, parent_psi, truth[:, None])  # (n, G)
    codes = _draw_votes(rng, leaf_psi, nodes[:, groups])
    names = [f"group{g + 1}_leaf{leaf + 1}" for g in range(G) for leaf in range(L)]
    votes = Votes(codes, np.arange(K), tuple(names), truth=truth)
    return Ensemble(
        votes, leaf_psi @ parent_psi[groups], _uniform(K), groups=groups, parent_psi=parent_psi, leaf_psi=leaf_psi
    )


def ampdata(
    n: int, *, rng: np.random.Generator, n_common: int = 5, n_classes: int = 5, expert_classes: Sequence[int] = (0, 1)
) -> Ensemble:
    """Draw an ensemble in which only one learner knows some of the classes (AmpData, MoE appendix).

    The common learners are right with 90–92 % on the other classes and guess on the expert classes; the
    last learner is an oracle on the expert classes and guesses elsewhere.
    """
    K, common = _classes(n_classes), _count(n_common, "n_common")
    known = _class_indices(expert_classes, K)
    if len(known) == K:
        raise InputError(f"The expert classes must leave at least one of the {K} classes to the common learners.")
    psi = np.full((common + 1, K, K), 1 / K)
    others = np.setdiff1d(np.arange(K), known)
    psi[:common, :, others] = _even_rest(rng.uniform(0.90, 0.92, (common, K)))[:, :, others]
    psi[-1][:, known] = np.eye(K)[:, known]
    made = _independent(n, rng, psi, _uniform(K), [*(f"common_{j + 1}" for j in range(common)), "expert"])
    return replace(made, experts={"expert": known})


def families(
    n: int, *, rng: np.random.Generator, n_classes: int = 10, accuracies: Sequence[float] = (0.66, 0.53, 0.89)
) -> Ensemble:
    """Draw independent classifiers that confuse some classes more than others: a base for `copies_with_noise`.

    Five noisy copies of each make an ensemble like MnistE (Datasets appendix): three families of five.
    ``accuracies`` are the exact means over the classes; accuracy per class varies around them.
    """
    K = _classes(n_classes)
    mean = np.array([_share(accuracy, "An accuracy") for accuracy in accuracies])[:, None]
    swing = rng.uniform(-1, 1, (len(mean), K))
    swing -= swing.mean(axis=1, keepdims=True)
    swing *= 0.6 * np.minimum(mean, 1 - mean) / np.abs(swing).max(axis=1, keepdims=True)  # stays within (0, 1)
    psi = _random_rest(rng, mean + swing, power=3)  # cubes: a few confusions dominate, as with real classifiers
    return _independent(n, rng, psi, _uniform(K), [f"family{j + 1}" for j in range(len(mean))])


def crowd(
    n: int, *, rng: np.random.Generator, n_workers: int = 40, votes_per_task: int = 5, n_classes: int = 4
) -> Ensemble:
    """Draw a sparse crowd: each task is answered by a few workers of varying skill and diligence.

    One worker in five is a spammer who guesses; the others lie 30–90 % of the way from guessing (1/K) to
    always right, with small differences by class. Busy workers answer many times more tasks than idle ones.
    """
    W, K, k = _count(n_workers, "n_workers"), _classes(n_classes), _count(votes_per_task, "votes_per_task")
    if k > W:
        raise InputError(f"{k} votes per task need at least {k} workers; there are {W}.")
    psi = np.full((W, K, K), 1 / K)
    skilled = rng.random(W).argsort()[W // 5 :]
    skill = rng.uniform(0.3, 0.9, (len(skilled), 1)) + rng.uniform(-0.05, 0.05, (len(skilled), K))
    psi[skilled] = _random_rest(rng, 1 / K + (1 - 1 / K) * skill)
    made = _independent(n, rng, psi, _uniform(K), [f"worker_{j + 1:0{len(str(W))}}" for j in range(W)])
    diligence = 0.2 + rng.exponential(size=W)
    arrival = rng.exponential(size=(n, W)) / diligence  # the k first to arrive take the task
    absent = arrival > np.partition(arrival, k - 1, axis=1)[:, k - 1, None]
    return _with_codes(made, np.where(absent, NO_VOTE, made.votes.codes))


# ---------------------------------------------------------------------- changers


def copies_with_noise(base: Ensemble, copies: int, *, rng: np.random.Generator, noise: float = 0.1) -> Ensemble:
    """Duplicate every learner; in each copy a ``noise`` share of the votes becomes a random class.

    This is how MnistE gets its near-copies (Datasets appendix). Copies are named ``<learner>_1`` and so on;
    ``groups`` tells which learner each was copied from.
    """
    of = np.repeat(np.arange(base.votes.n_learners), _count(copies, "copies"))
    names = tuple(f"{name}_{c + 1}" for name in base.votes.learners for c in range(copies))
    codes = _replaced(rng, _hard_codes(base)[:, of], base.votes.n_classes, _share(noise, "noise"))
    return _with_codes(base, codes, learners=names, psi=_noisy(base.psi[of], noise), groups=of)


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
    psi = _noisy(base.psi, _share(noise, "noise"))
    codes = _replaced(rng, _hard_codes(base), base.votes.n_classes, noise)
    named = dict(base.experts) if noise == 0 else {}  # noise takes the oracle away from earlier experts
    for learner, classes in experts.items():
        name = base.votes.select_learners([learner]).learners[0]
        i, known = base.votes.learners.index(name), _class_indices(classes, base.votes.n_classes)
        psi[i][:, known] = np.eye(base.votes.n_classes)[:, known]
        rows = np.isin(base.truth, known) & (codes[:, i] != NO_VOTE)
        codes[rows, i] = base.truth[rows]
        named[name] = tuple(sorted({*named.get(name, ()), *known}))
    return _with_codes(base, codes, psi=psi, experts=named, groups=base.groups)


def random_learners(base: Ensemble, count: int, *, rng: np.random.Generator, hint: float = 0.001) -> Ensemble:
    """Add learners that guess, but for a ``hint`` share of true labels (sensitivity appendix)."""
    K, extra = base.votes.n_classes, _count(count, "count")
    psi = np.repeat((_share(hint, "hint") * np.eye(K) + (1 - hint) / K)[None], extra, axis=0)
    codes = np.hstack([_hard_codes(base), _draw_votes(rng, psi, base.truth[:, None])])
    names = (*base.votes.learners, *(f"random_{j + 1}" for j in range(extra)))
    groups = None if base.groups is None else np.append(base.groups, base.groups.max() + 1 + np.arange(extra))
    psi = np.concatenate([base.psi, psi])
    return _with_codes(base, codes, learners=names, psi=psi, experts=base.experts, groups=groups)


def drop_votes(base: Ensemble, share: float, *, rng: np.random.Generator) -> Ensemble:
    """Take each vote away with probability ``share``; a row that would lose all its votes keeps one of them."""
    if _share(share, "share") == 1:
        raise InputError("share is 1, which would leave no votes at all; it must be below 1.")
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


# ---------------------------------------------------------------------- by name


def make(
    name: str, rows: int, seed: int | np.random.Generator, n_learners: int | None = None, n_classes: int | None = None
) -> Ensemble:
    """Draw the ensemble of that name (a key of `MAKERS`); None stands for the paper's numbers."""
    if name not in MAKERS:
        raise InputError(f"There is no ensemble {name!r}; choose one of {', '.join(MAKERS)}.")
    if not isinstance(seed, np.random.Generator):
        seed = np.random.default_rng(_count(seed, "seed", least=0))
    asked = {"n_learners": n_learners, "n_classes": n_classes}
    return MAKERS[name](rows, rng=seed, **{knob: value for knob, value in asked.items() if value is not None})


def build(
    name: str,
    rows: int,
    seed: int,
    n_learners: int | None = None,
    n_classes: int | None = None,
    *,
    labels: Sequence[str] | None = None,
    missing: float = 0.0,
    soft: bool = False,
) -> Ensemble:
    """Draw an ensemble and finish it as the command line does: `relabel`, `drop_votes`, `soften`, one generator.

    Labels without ``n_classes`` say how many classes there are.
    """
    rng = np.random.default_rng(_count(seed, "seed", least=0))
    made = make(name, rows, rng, n_learners, len(labels) if labels and n_classes is None else n_classes)
    made = relabel(made, labels) if labels else made
    made = drop_votes(made, missing, rng=rng) if missing else made
    return soften(made, rng=rng) if soft else made


def _make_tree(n: int, *, rng: np.random.Generator, n_learners: int = 12, n_classes: int = 3) -> Ensemble:
    return tree(n, rng=rng, n_classes=n_classes, n_groups=3, n_leaves=_split("tree", n_learners, 3))


def _make_ampdata(n: int, *, rng: np.random.Generator, n_learners: int = 6, n_classes: int = 5) -> Ensemble:
    if _count(n_learners, "n_learners") < 2:
        raise InputError("The ampdata ensemble needs at least 2 learners: one expert beside the common ones.")
    return ampdata(n, rng=rng, n_common=n_learners - 1, n_classes=n_classes)


def _make_copies(n: int, *, rng: np.random.Generator, n_learners: int = 15, n_classes: int = 10) -> Ensemble:
    copies = _split("copies", n_learners, N_FAMILIES)
    return copies_with_noise(families(n, rng=rng, n_classes=n_classes), copies, rng=rng)


def _make_experts(n: int, *, rng: np.random.Generator, n_learners: int = 15, n_classes: int = 10) -> Ensemble:
    if _classes(n_classes) <= max(EXPERT_CLASSES):
        raise InputError(
            f"The experts ensemble has experts on the classes {' and '.join(map(str, EXPERT_CLASSES))}, "
            f"so it needs at least {max(EXPERT_CLASSES) + 1} classes; {n_classes} were asked for."
        )
    base = _make_copies(n, rng=rng, n_learners=n_learners, n_classes=n_classes)
    first_of_family = range(0, n_learners, n_learners // N_FAMILIES)
    return with_experts(base, dict.fromkeys(first_of_family, EXPERT_CLASSES), rng=rng)


def _make_crowd(n: int, *, rng: np.random.Generator, n_learners: int = 40, n_classes: int = 4) -> Ensemble:
    return crowd(n, rng=rng, n_workers=n_learners, n_classes=n_classes)


MAKERS: dict[str, Callable[..., Ensemble]] = {
    "condind": condind,
    "tree": _make_tree,
    "ampdata": _make_ampdata,
    "copies": _make_copies,
    "experts": _make_experts,
    "crowd": _make_crowd,
}
"""Name → ``maker(n, rng=…, n_learners=…, n_classes=…)``, the last two with the paper's numbers as defaults."""


# ---------------------------------------------------------------------- probabilities and draws


def _uniform(K: int) -> Float:
    return np.full(K, 1 / K)


def _even_rest(diagonal: Float) -> Float:
    """Return (d, K, K) confusion matrices with this (d, K) diagonal and the rest even over the wrong classes."""
    K = diagonal.shape[1]
    rest = (1 - diagonal) / (K - 1)
    made: Float = np.where(np.eye(K, dtype=bool), diagonal[:, None, :], rest[:, None, :])
    return made


def _random_rest(rng: np.random.Generator, diagonal: Float, power: float = 1) -> Float:
    """Return (d, K, K) confusion matrices whose columns divide 1 - diagonal by normalised uniform draws."""
    K = diagonal.shape[1]
    share = (1 - rng.random((len(diagonal), K, K))) ** power * (1 - np.eye(K))  # 1 - draw is never 0
    share /= share.sum(axis=1, keepdims=True)
    return share * (1 - diagonal)[:, None, :] + np.eye(K) * diagonal[:, None, :]


def _noisy(psi: Float, noise: float) -> Float:
    return np.asarray((1 - noise) * psi + noise / psi.shape[-1])


def _draw_classes(n: int, rng: np.random.Generator, pi: Float) -> Codes:
    return _draw_votes(rng, pi[None, :, None], np.zeros((_count(n, "n"), 1), np.int32))[:, 0]


def _draw_votes(rng: np.random.Generator, psi: Float, given: Codes) -> Codes:
    """Draw X_i from ``psi[i, :, given]``: (d, K, M) and (n, d) or (n, 1) parents → (n, d) codes.

    One binary search per vote: the M distributions of a learner are laid end to end, the m-th over [m, m + 1).
    """
    d, K, M = psi.shape
    codes = np.empty((len(given), d), np.int32)
    for i in range(d):
        ends = np.cumsum(psi[i], axis=0).T  # (M, K)
        ends[:, -1] = 1
        parent = given[:, i % given.shape[1]]
        point = parent + rng.random(len(given)) * (1 - 1e-12)  # so that rounding cannot reach the next distribution
        found = np.searchsorted((ends + np.arange(M)[:, None]).ravel(), point, side="right")
        codes[:, i] = found - parent * K
    return codes


def _replaced(rng: np.random.Generator, codes: Codes, K: int, share: float) -> Codes:
    """Return codes with a share of the votes replaced by random classes, which may be what they were."""
    hit = (rng.random(codes.shape) < share) & (codes != NO_VOTE)
    made = codes.copy()
    made[hit] = rng.integers(K, size=int(hit.sum()))
    return made


def _independent(n: int, rng: np.random.Generator, psi: Float, pi: Float, names: Sequence[str]) -> Ensemble:
    truth = _draw_classes(n, rng, pi)
    codes = _draw_votes(rng, psi, truth[:, None])
    return Ensemble(Votes(codes, np.arange(len(pi)), tuple(names), truth=truth), psi, pi)


def _hard_codes(base: Ensemble) -> Codes:
    if base.votes.soft is not None:
        raise InputError("These votes carry probabilities, which would no longer fit: soften the ensemble last.")
    return base.votes.codes


def _with_codes(base: Ensemble, codes: Codes, learners: tuple[str, ...] | None = None, **fields: Any) -> Ensemble:
    """Return an ensemble with other votes; what is not handed in here is no longer true of it, but for psi."""
    votes = replace(base.votes, codes=codes, learners=learners or base.votes.learners)
    return Ensemble(votes, pi=base.pi, **{"psi": base.psi, **fields})


# ---------------------------------------------------------------------- refusals


def _count(value: Any, name: str, least: int = 1) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise InputError(f"{name} must be a whole number, not {value!r}.") from None
    if number < least:
        raise InputError(f"{name} is {number}; it must be at least {least}.")
    return number


def _classes(value: Any) -> int:
    number = _count(value, "n_classes", least=2)
    if number > MAX_CLASSES:
        raise InputError(f"n_classes is {number:,}; it must be at most {MAX_CLASSES:,}.")
    return number


def _share(value: float, name: str) -> float:
    if not 0 <= value <= 1:
        raise InputError(f"{name} is {value:g}; it must lie between 0 and 1.")
    return value


def _prior(prior: ArrayLike, K: int) -> Float:
    pi: Float = np.asarray(prior, np.float64)
    if pi.shape != (K,) or not (pi >= 0).all() or not np.isclose(pi.sum(), 1):
        raise InputError(f"The prior must be {K} probabilities, one per class, that sum to 1.")
    return np.asarray(pi / pi.sum())


def _class_indices(classes: Sequence[int], K: int) -> tuple[int, ...]:
    known = tuple(sorted({_count(class_, "An expert class", least=0) for class_ in classes}))
    if not known:
        raise InputError("An expert needs at least one class to be an expert on.")
    if known[-1] >= K:
        raise InputError(f"There is no class {known[-1]}: the classes go from 0 to {K - 1}.")
    return known


def _split(name: str, n_learners: Any, parts: int) -> int:
    if _count(n_learners, "n_learners") % parts:
        raise InputError(
            f"The {name} ensemble has {parts} groups of equal size, so {n_learners} learners cannot be split."
        )
    return int(n_learners) // parts
