"""The data of the experiments: sets under DEEM_DATA, draws of the paper's simulations, and stand-ins, each named."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

from benchmarks.bench_accuracy import load
from benchmarks.paper.context import Context
from deem_core import Votes, read_votes, simulation
from deem_core.diagnostics.confusion import real_confusion
from deem_core.simulation import Ensemble

SAMPLES = Path(__file__).parent.parent.parent / "sample_data"
COPIES = 5  # of each of the three classifiers behind MnistE (paper, Datasets appendix)
FAMILY_HEADS = (0, 5, 10)  # the first learner of each family
DRAWN_ROWS = 10_000
UNREPRODUCIBLE = {
    "PetFinder and CS:GO": "the paper trained AutoGluon models on them for an hour each; we hold neither these "
    "predictions nor the data to train on",
    "MicroAgg2 and EyeMovem": "the paper took one learner at random from each family of TabRepo and does not say "
    "which; we hold no predictions of TabRepo",
    "TabRepo's learners of ArtiChars and GesturePhsm": "the same; uci_artchars and uci_gesture are eleven model "
    "families of our own on the same tables, so only the order of methods can be compared",
    "ImageNet": "the paper does not name its five networks and we hold no predictions of such; a simulated set of "
    "the same shape stands in",
    "Du and Mordatch's sampler": "it moves in a relaxation of the votes and is no chain on discrete votes, so it has "
    "no acceptance rate and no law to be right about",
}
"""What cannot be made again here, and why."""


@dataclass(frozen=True)
class Source:
    """A set of votes with truth.

    Attributes
    ----------
    name : str
    votes : Votes
    about : str
        One sentence: what it is.
    paper : str
        The paper's set of the same recipe; empty if there is none.
    experts : mapping of learner name to classes
    """

    name: str
    votes: Votes
    about: str
    paper: str = ""
    experts: Mapping[str, Sequence[int]] = field(default_factory=dict)

    @property
    def expert_classes(self) -> list[int]:
        """The classes that somebody is an expert on."""
        return sorted({label for classes in self.experts.values() for label in classes})


def stored(name: str) -> Votes | None:
    """Return a set under DEEM_DATA, None if it is not there."""
    folder = os.environ.get("DEEM_DATA")
    if not folder or not (Path(folder) / f"{name}.npz").exists():
        return None
    return load(Path(folder), name)


def stored_soft(name: str) -> Votes | None:
    """Return a set of probabilities under DEEM_DATA with the truth of its hard votes."""
    hard = stored(name)
    file = Path(os.environ.get("DEEM_DATA", "")) / f"{name}_soft.npz"
    if hard is None or not file.exists():
        return None
    soft = np.load(file)["P"].astype(np.float32)
    soft /= soft.sum(axis=2, keepdims=True)  # half precision does not quite sum to 1
    return Votes.from_soft(soft, classes=hard.classes.tolist(), learners=hard.learners, truth=hard.truth)


def tree(context: Context, seed: int) -> Source:
    """Return a draw of Tree3K."""
    votes = simulation.make("tree", context.rows(DRAWN_ROWS), seed).votes
    return Source(f"tree3k-{seed}", votes, f"draw {seed} of the paper's Tree3K recipe", "tree3k")


def ampdata(context: Context) -> Source:
    """Return AmpData: the stored draw, or one of ours."""
    kept = stored("ampdata")
    if kept is not None:
        experts = {kept.learners[-1]: (0, 1)}
        return Source("ampdata", context.trim(kept), "AmpData under DEEM_DATA", "ampdata", experts)
    made = simulation.make("ampdata", context.rows(DRAWN_ROWS), 0)
    return Source("ampdata-0", made.votes, "draw 0 of the paper's AmpData recipe", "ampdata", made.experts)


def mniste(context: Context, most: int | None = None) -> Source:
    """Return MnistE: real MNIST under DEEM_DATA, or scikit-learn's small digits by the same recipe."""
    kept = stored("mniste")
    if kept is not None:
        return Source("mniste", context.trim(kept, most), "MnistE (60,000 MNIST digits) under DEEM_DATA", "mniste")
    about = "scikit-learn's 1,797 digits by the recipe of MnistE, because DEEM_DATA holds no mniste"
    return Source("digitse", context.trim(_digits(), most), about)


def with_oracles(base: Source, name: str, experts: Mapping[str | int, Sequence[int]], paper: str) -> Source:
    """Return MnistE with a further tenth of noise and some learners made oracles (paper, MoE appendix)."""
    made = simulation.with_experts(_ensemble(base.votes), experts, rng=np.random.default_rng(0))
    about = f"{base.about}, a further tenth of every learner's votes randomised, then oracles on some classes"
    return Source(name, made.votes, about, paper if base.paper else "", made.experts)


def expert_sets(context: Context) -> list[Source]:
    """Return MnistE-47, MnistE-568, MnistE-4/7 and AmpData."""
    base = mniste(context)
    stem = base.name
    three = {47: (4, 7), 568: (5, 6, 8)}
    made = [
        with_oracles(base, f"{stem}{digits}", dict.fromkeys(FAMILY_HEADS, classes), f"mniste{digits}")
        for digits, classes in three.items()
    ]
    kept = stored("mniste47")
    if kept is not None:
        experts = {kept.learners[i]: (4, 7) for i in FAMILY_HEADS}
        about = "MnistE-47 under DEEM_DATA: label noise, then oracles on 4 and 7, one in each family"
        made[0] = Source("mniste47", context.trim(kept), about, "mniste47", experts)
    two: dict[str | int, tuple[int, ...]] = {FAMILY_HEADS[0]: (4,), FAMILY_HEADS[1]: (7,)}
    return [*made, with_oracles(base, f"{stem}4_7", two, "mniste4_7"), ampdata(context)]


TABULAR = {
    "uci_artchars": ("eleven tabular model families on ArtiChars, under DEEM_DATA", "artichars"),
    "uci_gesture": ("eleven tabular model families on GesturePhsm, under DEEM_DATA", "gesture"),
    "ens_letter": ("eleven scikit-learn families on letters, under DEEM_DATA", ""),
    "ens_digits": ("eleven scikit-learn families on digits, under DEEM_DATA", ""),
}
"""Real ensembles of the main table → what they are, and the paper's set."""


def main_sets(context: Context) -> list[Source]:
    """Return every set of the main table that is here: three draws of Tree3K, MnistE and `TABULAR`."""
    sources = [tree(context, seed) for seed in (range(1) if context.quick else range(3))]
    sources.append(mniste(context))
    for name, (about, paper) in TABULAR.items():
        kept = stored(name)
        if kept is not None:
            sources.append(Source(name, context.trim(kept), about, paper))
    return sources


def ablation_sets(context: Context) -> list[Source]:
    """Return sets of many kinds with enough rows for a layer: draws of simulations, and real ones that are here."""
    if context.quick:
        return [tree(context, 0)]
    drawn = [("ampdata", 1), ("condind", 0)]
    sources = [tree(context, 0), ampdata(context), mniste(context, DRAWN_ROWS), tree(context, 1), tree(context, 2)]
    for name, seed in drawn:
        votes = simulation.make(name, context.rows(DRAWN_ROWS), seed).votes
        sources.append(Source(f"{name}-{seed}", votes, f"draw {seed} of the simulation {name}"))
    people = {"cifar10n": ("three human labels of each picture, under DEEM_DATA", "")}
    for name, (about, paper) in {**TABULAR, **people}.items():
        kept = stored(name)
        if kept is not None and name != "ens_letter":  # 26 classes, as long as all the others together
            sources.append(Source(name, context.trim(kept, DRAWN_ROWS), about, paper))
    return sources


def gesture(context: Context) -> Source:
    """Return GesturePhsm, or a simulated ensemble of the same shape."""
    kept = stored("uci_gesture")
    if kept is not None:
        about = "eleven tabular model families on GesturePhsm, under DEEM_DATA"
        return Source("uci_gesture", context.trim(kept), about, "gesture")
    skills = np.linspace(0.5, 0.7, 11).tolist()
    rng = np.random.default_rng(0)
    made = simulation.families(context.rows(DRAWN_ROWS), rng=rng, n_classes=5, accuracies=skills)
    return Source("families11", made.votes, "eleven simulated learners, because DEEM_DATA holds no uci_gesture")


def hundred(context: Context) -> Source:
    """Return a set extended to 100 learners: 8 noisy variations of each of eleven, and 12 that guess."""
    base, rng = gesture(context), np.random.default_rng(0)
    copied = simulation.copies_with_noise(_ensemble(base.votes), 8, rng=rng)
    made = simulation.random_learners(copied, 100 - copied.votes.n_learners, rng=rng, hint=0.0)
    return replace(base, name=f"{base.name}100", votes=made.votes, about=f"{base.about}; extended to 100 learners")


def imagenet(context: Context) -> Source:
    """Return a stand-in for ImageNet: five learners, 1,000 classes, rows on which they do not all agree."""
    kept = None if context.quick else stored("imagenetlike")
    if kept is not None:
        return Source("imagenetlike", kept, "simulated set of ImageNet's shape under DEEM_DATA, no real predictions")
    K, skills = 40 if context.quick else 1000, (0.82, 0.835, 0.845, 0.86, 0.865)  # before filtering (paper: 82–88%)
    made = simulation.families(context.rows(20_000), rng=np.random.default_rng(0), n_classes=K, accuracies=skills).votes
    votes = made.select_rows(~made.unanimous)
    return Source("imagenet-draw", votes, f"five simulated learners of {K} classes, unanimous rows left out")


def soft_sets(context: Context) -> list[Source]:
    """Return every set of probabilities that is here; the sample of digits always is."""
    columns = read_votes(SAMPLES / "digits_soft.csv", truth="label")
    sources = [Source("digits_soft", context.trim(columns), "sample_data/digits_soft.csv")]
    for name in ("uci_gesture", "uci_artchars"):
        kept = stored_soft(name)
        if kept is not None:
            sources.append(Source(f"{name}_soft", context.trim(kept), f"probabilities of {name}, under DEEM_DATA"))
    return sources


def _ensemble(votes: Votes) -> Ensemble:
    """Return real votes as an ensemble, their confusion matrices counted, so that `simulate` can change them."""
    counted = real_confusion(votes)
    return Ensemble(votes, np.nan_to_num(counted.psi, nan=1 / votes.n_classes), counted.pi)


@lru_cache(maxsize=1)
def _digits() -> Votes:
    """Return scikit-learn's digits by the recipe of MnistE: 30% to train, votes on all, five noisy copies of each."""
    digits = load_digits()
    pixels = digits.data / 16
    own, _, own_truth, _ = train_test_split(pixels, digits.target, train_size=0.3, random_state=0)
    learners = {
        "dt": DecisionTreeClassifier(max_depth=5, random_state=0),
        "gnb": GaussianNB(var_smoothing=1e-3),
        "mlp": MLPClassifier(alpha=1, max_iter=100, random_state=0),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the paper stops at 100 iterations
        codes = np.stack([learner.fit(own, own_truth).predict(pixels) for learner in learners.values()], axis=1)
    votes = Votes(codes.astype(np.int32), np.arange(10), tuple(learners), truth=digits.target.astype(np.int32))
    return simulation.copies_with_noise(_ensemble(votes), COPIES, rng=np.random.default_rng(0)).votes
