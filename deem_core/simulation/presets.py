"""Ensembles by name, with the paper's numbers as defaults."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from deem_core.errors import InputError
from deem_core.simulation.changes import copies_with_noise, drop_votes, relabel, soften, with_experts
from deem_core.simulation.ensemble import Ensemble, check_classes, check_count, check_learners
from deem_core.simulation.makers import ampdata, condind, crowd, families, rules, tree

EXPERT_CLASSES = (4, 7)  # MnistE-47 (paper, MoE appendix)
N_INFORMATIVE = 4  # of CondInd (paper, Datasets appendix)
VOTES_PER_TASK = 5
N_FAMILIES = 3  # tree, naive Bayes and perceptron in MnistE (paper, Datasets appendix)


def make(
    name: str, rows: int, seed: int | np.random.Generator, n_learners: int | None = None, n_classes: int | None = None
) -> Ensemble:
    """Draw the ensemble of that name (a key of `MAKERS`).

    None stands for the paper's numbers.
    """
    if name not in MAKERS:
        raise InputError(f"There is no ensemble {name!r}; choose one of {', '.join(MAKERS)}.")
    if not isinstance(seed, np.random.Generator):
        seed = _generator(seed)
    asked = {}
    if n_learners is not None:
        asked["n_learners"] = check_learners(n_learners)
    if n_classes is not None:
        asked["n_classes"] = check_classes(n_classes)
    return MAKERS[name](rows, rng=seed, **asked)


def simulate(
    name: str,
    rows: int,
    seed: int = 0,
    n_learners: int | None = None,
    n_classes: int | None = None,
    *,
    labels: Sequence[str] | None = None,
    missing: float = 0.0,
    soft: bool = False,
) -> Ensemble:
    """Draw an ensemble of that name with known truth.

    `relabel`, `drop_votes` and `soften` follow, as the command line does it.

    One generator serves all steps. Labels without ``n_classes`` say how many classes there are.

    Examples
    --------
    >>> from deem_core import simulate
    >>> simulate("crowd", 100, seed=0).votes
    Votes(100 rows × 40 learners × 4 classes, with truth)
    """
    rng = _generator(seed)
    ensemble = make(name, rows, rng, n_learners, len(labels) if labels and n_classes is None else n_classes)
    ensemble = relabel(ensemble, labels) if labels else ensemble
    ensemble = drop_votes(ensemble, missing, rng=rng) if missing else ensemble
    return soften(ensemble, rng=rng) if soft else ensemble


def _generator(seed: int) -> np.random.Generator:
    return np.random.default_rng(check_count(seed, "The seed", least=0, most=math.inf))


def _make_condind(n: int, *, rng: np.random.Generator, n_learners: int = 15, n_classes: int = 3) -> Ensemble:
    _need(N_INFORMATIVE, "learners", n_learners, f"The condind ensemble has {N_INFORMATIVE} informative learners")
    return condind(n, rng=rng, n_learners=n_learners, n_classes=n_classes, n_informative=N_INFORMATIVE)


def _make_tree(n: int, *, rng: np.random.Generator, n_learners: int = 12, n_classes: int = 3) -> Ensemble:
    return tree(n, rng=rng, n_classes=n_classes, n_groups=3, n_leaves=_split("tree", n_learners, 3))


def _make_ampdata(n: int, *, rng: np.random.Generator, n_learners: int = 6, n_classes: int = 5) -> Ensemble:
    _need(2, "learners", n_learners, "The ampdata ensemble has an expert beside common learners")
    _need(3, "classes", n_classes, "The ampdata ensemble has an expert on two classes that no other learner knows")
    return ampdata(n, rng=rng, n_common=n_learners - 1, n_classes=n_classes)


def _make_copies(n: int, *, rng: np.random.Generator, n_learners: int = 15, n_classes: int = 10) -> Ensemble:
    copies = _split("copies", n_learners, N_FAMILIES)
    return copies_with_noise(families(n, rng=rng, n_classes=n_classes), copies, rng=rng)


def _make_experts(n: int, *, rng: np.random.Generator, n_learners: int = 15, n_classes: int = 10) -> Ensemble:
    known = " and ".join(map(str, EXPERT_CLASSES))
    _need(max(EXPERT_CLASSES) + 1, "classes", n_classes, f"The experts ensemble has experts on the classes {known}")
    copies = _split("experts", n_learners, N_FAMILIES)
    base = copies_with_noise(families(n, rng=rng, n_classes=n_classes), copies, rng=rng)
    first_of_family = range(0, n_learners, copies)
    return with_experts(base, dict.fromkeys(first_of_family, EXPERT_CLASSES), rng=rng)


def _make_crowd(n: int, *, rng: np.random.Generator, n_learners: int = 40, n_classes: int = 4) -> Ensemble:
    _need(VOTES_PER_TASK, "learners", n_learners, f"The crowd ensemble has {VOTES_PER_TASK} votes per task")
    return crowd(n, rng=rng, n_workers=n_learners, n_classes=n_classes, votes_per_task=VOTES_PER_TASK)


def _make_rules(n: int, *, rng: np.random.Generator, n_learners: int = 8, n_classes: int = 2) -> Ensemble:
    _need(n_classes, "learners", n_learners, "In the rules ensemble every class has a rule")
    return rules(n, rng=rng, n_rules=n_learners, n_classes=n_classes)


MAKERS: dict[str, Callable[..., Ensemble]] = {
    "condind": _make_condind,
    "tree": _make_tree,
    "ampdata": _make_ampdata,
    "copies": _make_copies,
    "experts": _make_experts,
    "crowd": _make_crowd,
    "rules": _make_rules,
}
"""Name → ``maker(n, rng=…, n_learners=…, n_classes=…)``, the last two with the paper's numbers as defaults."""


def _need(least: int, noun: str, asked: int, why: str) -> None:
    if asked < least:
        were = "was" if asked == 1 else "were"
        raise InputError(f"{why}, so it needs at least {least} {noun}; {asked} {were} asked for.")


def _split(name: str, n_learners: int, parts: int) -> int:
    if n_learners % parts:
        were = "was" if n_learners == 1 else "were"
        raise InputError(
            f"The {name} ensemble has {parts} groups of equal size, so the number of learners must be a multiple "
            f"of {parts}; {n_learners} {were} asked for."
        )
    return n_learners // parts
