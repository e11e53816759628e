"""Hidden votes drawn by the kernel against full enumeration."""

import numpy as np
import pytest
import torch

from deem_core.methods.soft_deem.weighing import weigh
from deem_core.model.energy import free_energy
from deem_core.model.kernel.engine import Engine
from tests.core.methods.soft_deem.helpers import small_model
from tests.oracles import distance

DRAWS = 60_000


def evidence(n, d, K, seed=0):
    return torch.as_tensor(np.random.default_rng(seed).dirichlet(np.full(K, 0.7), (n, d)), dtype=torch.float32)


def draws(model, soft, n_draws):
    found = weigh(soft, torch.ones(soft.shape[-2]))
    engine = Engine(model.to(torch.float32))
    many = found.log_q.expand(DRAWS, -1, -1).contiguous().numpy()
    return found, engine.draw_hidden(0, many, found.cast.expand(DRAWS, -1).contiguous().numpy(), n_draws, 3)


def exact_law(model, found):
    d, K = found.log_q.shape[-2:]
    rows = torch.cartesian_prod(*[torch.arange(K)] * d)
    evidence_of = found.log_q[0].double()[torch.arange(d), rows].sum(-1)
    return (evidence_of - free_energy(model, rows[None])[0]).softmax(0), rows


@pytest.mark.parametrize("n_layers", [0, 1])
def test_hidden_votes_follow_the_law_given_the_evidence(n_layers):
    model = small_model(n_layers=n_layers)
    found, votes = draws(model, evidence(1, model.n_learners, model.n_classes), 1 if n_layers == 0 else 64)
    law, rows = exact_law(model, found)
    place = torch.as_tensor(votes).long() @ (model.n_classes ** torch.arange(rows.shape[1] - 1, -1, -1))
    made = torch.bincount(place, minlength=len(rows)).double() / DRAWS
    assert distance(made, law) < 0.02


def test_votes_as_good_as_hard_are_themselves_and_missing_ones_stay_missing():
    model = small_model(n_layers=1)
    soft = torch.eye(model.n_classes)[torch.zeros(1, model.n_learners, dtype=torch.long)]
    soft[0, 1] = 0
    _, votes = draws(model, soft, 4)
    assert (votes[:, 1] == -1).all()
    assert (np.delete(votes, 1, axis=1) == 0).all()
