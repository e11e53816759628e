"""Fitted models shared by the tests of this folder, each trained once per session."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from deem_core import DEEM, IRBM, Votes, simulation
from deem_core.simulation import Ensemble


@dataclass(frozen=True)
class Case:
    model: DEEM
    votes: Votes
    made: Ensemble | None = None


@pytest.fixture(scope="session")
def independent() -> Case:
    """Four good learners and six guessers, exact iRBM."""
    made = simulation.condind(4_000, rng=np.random.default_rng(1), n_learners=10)
    return Case(IRBM(random_state=0).fit(made.votes.without_truth()), made.votes, made)


@pytest.fixture(scope="session")
def layered() -> Case:
    """The same learners with a fifth of the votes missing, one layer, two restarts, trained briefly."""
    made = simulation.condind(1_500, rng=np.random.default_rng(1), n_learners=8)
    made = simulation.drop_votes(made, 0.2, rng=np.random.default_rng(2))
    model = DEEM(
        n_layers=1, restarts=2, updates=40, batch_size=256, near_copies="keep", start="majority", random_state=0
    )
    return Case(model.fit(made.votes.without_truth()), made.votes, made)


@pytest.fixture(scope="session")
def merged() -> Case:
    """Families of four tight copies, which the guard merges into one voice each."""
    rng = np.random.default_rng(0)
    base = simulation.condind(1_500, rng=rng, n_learners=4, n_informative=4)
    made = simulation.copies_with_noise(base, 4, rng=rng, noise=0.02)
    model = DEEM(
        n_layers=1, restarts=2, updates=30, batch_size=256, near_copies="collapse", start="majority", random_state=0
    )
    return Case(model.fit(made.votes.without_truth()), made.votes, made)


def _trained(folder: Path, name: str) -> Case:
    stored = np.load(folder / f"{name}.npz", allow_pickle=False)
    votes = Votes(
        codes=stored["X"].astype(np.int32),
        classes=np.arange(int(stored["K"])),
        learners=tuple(stored["learners"].tolist()),
        truth=stored["y"].astype(np.int32),
    )
    return Case(
        DEEM(n_layers=1, restarts=1, near_copies="keep", start="majority", random_state=0).fit(votes.without_truth()),
        votes,
    )


@pytest.fixture(scope="session")
def condind(large_data: Path) -> Case:
    return _trained(large_data, "condind")


@pytest.fixture(scope="session")
def mniste(large_data: Path) -> Case:
    return _trained(large_data, "mniste")


@pytest.fixture(scope="session")
def mniste47(large_data: Path) -> Case:
    return _trained(large_data, "mniste47")
