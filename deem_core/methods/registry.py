"""Registry of all methods by name.

Nothing is imported until a method is asked for, so that listing them costs nothing.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

import numpy as np

from deem_core.control import NO_CONTROL, Control
from deem_core.errors import InputError, torch_wanted
from deem_core.methods.contract import Aggregate, Method
from deem_core.votes import Votes
from deem_core.votes.label_sets import refuse_sets

BUDGET = 120.0
"""Seconds that a method may take in a comparison unless told otherwise, all seeds together."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A method of the registry.

    Attributes
    ----------
    name, title, description : str
        How it is asked for, what it is called, and one line about it.
    paper : str
        Where it comes from.
    function : str
        "module:function" of its `Method`.
    stochastic : bool
        Whether another seed may give another answer.
    soft : bool
        Whether it needs soft votes.
    ordered : bool
        Whether it needs labels that have an order.
    slow : bool
        Whether it may take more than seconds on ten thousand rows.
    whole : bool
        Whether a first run is always finished, whatever the time budget: half a training is no answer.
    aside : bool
        Whether a quick comparison leaves it out: it is a variant of another method, refuses most files, or needs an
        optional package.
    trained : bool
        Whether it is a model that can be saved and applied to other rows.
    tunable : bool
        Whether training has settings, such as a learning rate and restarts.
    on_gpu : bool
        Whether it can train on a GPU: then it takes a ``device``.
    needs_torch : bool
        Whether it needs PyTorch, which may not be installed.
    limit : str
        What it refuses and why; empty if it takes all votes.
    """

    name: str
    title: str
    description: str
    paper: str
    function: str
    stochastic: bool = False
    soft: bool = False
    ordered: bool = False
    slow: bool = False
    whole: bool = False
    aside: bool = False
    trained: bool = False
    tunable: bool = False
    on_gpu: bool = False
    needs_torch: bool = False
    limit: str = ""

    def load(self) -> Method:
        """Import the method.

        Raises
        ------
        MissingPackageError
            If it needs PyTorch, which is not installed.
        """
        module, name = self.function.split(":")
        with torch_wanted():
            return cast(Method, getattr(importlib.import_module(module), name))


_RBM_LIMIT = "Refuses missing votes, which it would read as no, and more than 64 classes: a network for every class."
_TRAINED_LIMIT = "Needs at least three learners: with fewer, the votes alone cannot tell who is right."
_POOL_LIMIT = "Needs soft votes: it pools probabilities."

_ENTRIES = (
    Entry(
        name="auto",
        title="Auto",
        description="Lets the votes choose: the grouped model where it fits, else a safe vote.",
        paper="this project",
        function="deem_core.auto:aggregate",
        stochastic=True,
        whole=True,
    ),
    Entry(
        name="mv",
        title="Majority vote",
        description="The class with the most votes.",
        paper="folklore",
        function="deem_core.methods.majority:aggregate",
    ),
    Entry(
        name="weighted_mv",
        title="Weighted majority vote",
        description="Learners count by how often they agree with the result, repeated until it is stable.",
        paper="Li and Yu, Error rate bounds and iterative weighted majority voting for crowdsourcing, 2014",
        function="deem_core.methods.majority:weighted_vote",
    ),
    Entry(
        name="gold_vote",
        title="Vote weighted by gold",
        description="Learners are weighted by their accuracy on gold rows.",
        paper="this project",
        function="deem_core.gold.weights:aggregate",
        aside=True,
        limit="Needs gold rows: known labels that you provide to be used.",
    ),
    Entry(
        name="ds",
        title="Dawid-Skene",
        description="A confusion matrix for every learner, by EM.",
        paper="Dawid and Skene, Maximum likelihood estimation of observer error-rates using the EM algorithm, 1979",
        function="deem_core.methods.dawid_skene:with_gold",
    ),
    Entry(
        name="fds",
        title="Fast Dawid-Skene",
        description="Dawid-Skene with hard labels inside EM.",
        paper="Sinha, Rao and Balasubramanian, Fast Dawid-Skene, 2018",
        function="deem_core.methods.fast_dawid_skene:aggregate",
    ),
    Entry(
        name="hds",
        title="Hybrid Dawid-Skene",
        description="Dawid-Skene that starts soft and ends hard.",
        paper="Sinha, Rao and Balasubramanian, Fast Dawid-Skene, 2018",
        function="deem_core.methods.fast_dawid_skene:hybrid",
        aside=True,
    ),
    Entry(
        name="onecoin",
        title="One-coin Dawid-Skene",
        description="One accuracy for every learner, whatever the class, by EM.",
        paper="Zhang et al., Spectral methods meet EM: a provably optimal algorithm for crowdsourcing, 2014",
        function="deem_core.methods.one_coin:aggregate",
    ),
    Entry(
        name="ordinal",
        title="Ordinal Dawid-Skene",
        description="For labels on a scale: each learner's bias, reach and noise, then its confusions around them.",
        paper="McCullagh, Regression models for ordinal data, 1980, as a prior for Dawid and Skene, 1979; this project",
        function="deem_core.methods.ordinal:aggregate",
        ordered=True,
        limit="Needs labels that have an order, such as 1 to 5; refused above 5,000,000 cells, d·K².",
    ),
    Entry(
        name="lsml",
        title="L-SML",
        description="Dependent groups found in the spectrum of the learners' covariance, one class against the rest.",
        paper="Jaffe et al., Unsupervised ensemble learning with dependent classifiers, 2016",
        function="deem_core.methods.lsml:aggregate",
        limit="Needs at least three learners; looks for groups among at most 48, since that costs d⁴.",
    ),
    Entry(
        name="ebcc",
        title="EBCC",
        description="Classes with hidden subtypes on which learners make the same mistakes; three restarts, best ELBO.",
        paper="Li, Rubinstein and Cohn, Exploiting worker correlation for label aggregation in crowdsourcing, 2019",
        function="deem_core.methods.ebcc:aggregate",
        stochastic=True,
        slow=True,
        limit="Needs u·K·M + d·K²·M cells for u different rows (M = 10 subtypes): refused above 100,000,000 cells, "
        "which take 2.4 GB.",
    ),
    Entry(
        name="gds",
        title="Grouped Dawid-Skene",
        description=(
            "Groups of learners that make the same mistakes share a hidden vote; found by BIC, fitted exactly by EM."
        ),
        paper="Dawid and Skene, 1979, on a latent tree as in Jaffe et al., 2016; groups and test of fit are ours",
        function="deem_core.methods.grouped_dawid_skene:aggregate",
        stochastic=True,
        whole=True,
        trained=True,
        limit="Needs at least three learners and at most 100 classes; looks for groups among 6 to 40 learners.",
    ),
    Entry(
        name="safe",
        title="Safe vote",
        description="Majority vote, Dawid-Skene, one-coin and EBCC vote row by row, with gates and guards.",
        paper="this project",
        function="deem_core.methods.safe_vote:aggregate",
        stochastic=True,
        slow=True,
    ),
    Entry(
        name="rules",
        title="One-class rules",
        description="Rules that know one class each: equal precision, rare classes weigh more; nothing is learned.",
        paper="this project",
        function="deem_core.methods.one_class_rules:aggregate",
        aside=True,
        limit="Refuses votes unless learners that know one class only cast at least half of them.",
    ),
    Entry(
        name="la1",
        title="LA in one pass",
        description="A stream of rows, each labelled by the abilities so far.",
        paper="Yang et al., A lightweight, effective and efficient model for label aggregation in crowdsourcing, 2024",
        function="deem_core.methods.la:one_pass",
        stochastic=True,
        aside=True,
    ),
    Entry(
        name="la2",
        title="LA in two passes",
        description="Abilities from one pass over the rows, labels from a second one.",
        paper="Yang et al., A lightweight, effective and efficient model for label aggregation in crowdsourcing, 2024",
        function="deem_core.methods.la:two_passes",
        stochastic=True,
    ),
    Entry(
        name="flyingsquid",
        title="FlyingSquid",
        description="Accuracies in closed form from triplets of learners, one class against the rest.",
        paper="Fu et al., Fast and three-rious: speeding up weak supervision with triplet methods, 2020",
        function="deem_core.methods.flyingsquid:aggregate",
        limit="Needs at least three learners and refuses more than 200: it looks at d³ triplets for every class.",
    ),
    Entry(
        name="dnn_det",
        title="DNN, deterministic",
        description="Stacked RBMs, one class against the rest; hidden units rounded.",
        paper="Shaham et al., A deep learning approach to unsupervised ensemble learning, 2016",
        function="deem_core.methods.stacked_rbm:deterministic",
        stochastic=True,
        slow=True,
        limit=_RBM_LIMIT,
    ),
    Entry(
        name="dnn_sto",
        title="DNN, stochastic",
        description="Stacked RBMs, one class against the rest; hidden units drawn 100 times.",
        paper="Shaham et al., A deep learning approach to unsupervised ensemble learning, 2016",
        function="deem_core.methods.stacked_rbm:stochastic",
        stochastic=True,
        slow=True,
        limit=_RBM_LIMIT,
    ),
    Entry(
        name="hlm",
        title="Hyper label model",
        description="A graph network trained beforehand on synthetic votes; nothing is fitted.",
        paper="Wu et al., Learning hyper label model for programmatic weak supervision, 2023",
        function="deem_core.methods.hlm:aggregate",
        aside=True,
        needs_torch=True,
        limit="Needs the optional package hyperlm; refused above 4,000,000 votes, which take 2.4 GB.",
    ),
    Entry(
        name="mean_prob",
        title="Mean probability",
        description="The mean of the learners' probabilities.",
        paper="Stone, The opinion pool, 1961",
        function="deem_core.methods.pools:mean_prob",
        soft=True,
        limit=_POOL_LIMIT,
    ),
    Entry(
        name="geo_pool",
        title="Geometric pool",
        description="The normalised geometric mean of the learners' probabilities.",
        paper="Genest and Zidek, Combining probability distributions: a critique and an annotated bibliography, 1986",
        function="deem_core.methods.pools:geo_pool",
        soft=True,
        limit=_POOL_LIMIT,
    ),
    Entry(
        name="log_pool",
        title="Weighted log pool",
        description="The geometric pool with learners weighted by how well they predict it.",
        paper="Genest and Zidek, Combining probability distributions: a critique and an annotated bibliography, 1986",
        function="deem_core.methods.pools:log_pool",
        soft=True,
        limit=_POOL_LIMIT,
    ),
    Entry(
        name="cal_pool",
        title="Calibrated pool",
        description="The mean of probabilities, each learner's confidence adjusted to its agreement with the others.",
        paper="this project",
        function="deem_core.methods.pools:cal_pool",
        soft=True,
        limit=_POOL_LIMIT,
    ),
    Entry(
        name="irbm",
        title="iRBM, exact",
        description="Dawid-Skene run longer: DEEM without layers has the same maximum of likelihood (Lemma 1).",
        paper="Maymon, Buznah and Shaham, Unsupervised ensemble learning through deep energy-based models, 2026",
        function="deem_core.estimators.as_methods:irbm",
        aside=True,
        trained=True,
        needs_torch=True,
        limit=_TRAINED_LIMIT,
    ),
    Entry(
        name="irbm_cd",
        title="iRBM, contrastive",
        description="DEEM without layers, trained as DEEM is.",
        paper="Maymon, Buznah and Shaham, Unsupervised ensemble learning through deep energy-based models, 2026",
        function="deem_core.estimators.as_methods:irbm_cd",
        on_gpu=True,
        trained=True,
        tunable=True,
        stochastic=True,
        slow=True,
        whole=True,
        needs_torch=True,
        limit=_TRAINED_LIMIT,
    ),
    Entry(
        name="deem",
        title="DEEM",
        description="The deep energy-based ensemble model with its near-copy guard and restarts.",
        paper="Maymon, Buznah and Shaham, Unsupervised ensemble learning through deep energy-based models, 2026",
        function="deem_core.estimators.as_methods:deem",
        on_gpu=True,
        trained=True,
        tunable=True,
        stochastic=True,
        slow=True,
        whole=True,
        needs_torch=True,
        limit=_TRAINED_LIMIT,
    ),
    Entry(
        name="deem_soft",
        title="DEEM, soft",
        description="DEEM on hidden votes for which the learners' probabilities are evidence; no near-copy guard.",
        paper="Maymon, Buznah and Shaham, Unsupervised ensemble learning through deep energy-based models, 2026",
        function="deem_core.estimators.as_methods:deem_soft",
        on_gpu=True,
        trained=True,
        tunable=True,
        stochastic=True,
        soft=True,
        slow=True,
        whole=True,
        needs_torch=True,
        limit="Needs soft votes, and at least three learners.",
    ),
)

METHODS: dict[str, Entry] = {item.name: item for item in _ENTRIES}
"""Name → method, in the order in which they are listed."""

TRAINED = tuple(sorted(name for name, item in METHODS.items() if item.trained))
"""Methods whose model can be saved and applied; all others are asked once."""


SUBJECTS = ("auto", "deem")
"""Methods that a comparison is about: its conclusion speaks of the first of them that ran."""


def quick(names: Iterable[str] = METHODS) -> list[str]:
    """Return the methods of a quick comparison among some.

    All that are not slow and no variants of others, and those that the comparison is about.
    """
    items = (METHODS[name] for name in names)
    return [item.name for item in items if item.name in SUBJECTS or not (item.slow or item.aside)]


def entry(name: str) -> Entry:
    """Return the method of that name.

    Raises
    ------
    InputError
        If there is none.
    """
    if name not in METHODS:
        raise InputError(f"There is no method {name!r}; choose from {', '.join(METHODS)}.")
    return METHODS[name]


def aggregate(name: str, votes: Votes, rng: np.random.Generator, *, control: Control = NO_CONTROL) -> Aggregate:
    """Fuse votes by the method of that name.

    The truth is taken away first.
    """
    refuse_sets(votes, entry(name).title)
    return entry(name).load()(votes.without_truth(), rng, control=control)
