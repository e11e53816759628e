"""Answers of chosen candidates: whoever was chosen by labels answers with these labels."""

from dataclasses import replace

import numpy as np
import pytest

from deem_core.auto import make_field
from deem_core.gold import CAMPS, LEARNER, choose
from deem_core.gold.fusion import answer_of
from deem_core.methods import registry
from tests.core.gold.helpers import gold_of, panel


@pytest.fixture(scope="module")
def contest():
    votes = panel(300)
    field, gold = make_field(votes), gold_of(votes.truth, np.arange(20))
    start = registry.aggregate(field.start, field.votes, np.random.default_rng(0))
    return field, gold, replace(choose(field, gold), sentences=()), start


@pytest.mark.parametrize("name", ["start", *CAMPS, f"{LEARNER}strong1", f"{LEARNER}weak0", "mv", "ds", "onecoin"])
def test_the_answer_has_the_labels_that_were_judged(contest, name):
    field, gold, verdict, start = contest
    made = answer_of(field, replace(verdict, chosen=name), gold, start, {})
    if name.startswith(LEARNER):
        judged = field.learner_codes(field.votes.learners.index(name.removeprefix(LEARNER)))
    else:
        judged = field.shared[name]
    np.testing.assert_array_equal(made.posterior.argmax(axis=1), judged)
    np.testing.assert_allclose(made.posterior.sum(axis=1), 1)
