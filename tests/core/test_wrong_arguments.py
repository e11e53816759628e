"""What a careless caller hands over: a sentence that says what is taken."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from deem_core import DEEM, IRBM, GroupedDawidSkene, InputError, SoftDEEM, Votes, ask, compare, describe, fuse, sweep

LABELS = [[0, 1, 1, 0], [1, 1, 0, 1], [0, 0, 0, 1], [1, 0, 1, 1], [0, 1, 1, 1]] * 6
ESTIMATORS = (DEEM, SoftDEEM, IRBM, GroupedDawidSkene)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("verb", ["predict", "predict_proba", "fuse", "transform", "save"])
def test_a_model_that_is_not_fitted_says_so(estimator, verb, tmp_path):
    given = tmp_path / "model.safetensors" if verb == "save" else LABELS
    with pytest.raises(InputError, match=f"This {estimator.__name__} model is not fitted yet") as refused:
        getattr(estimator(), verb)(given)
    assert isinstance(refused.value, NotFittedError)


@pytest.mark.parametrize("ragged", [[[0, 1], [1]], [[0, 1, 2], [1, [2], 1]]])
@pytest.mark.parametrize("verb", [fuse, compare, ask, describe, DEEM().fit, GroupedDawidSkene().fit, Votes.from_labels])
def test_lists_of_several_lengths_are_no_table(verb, ragged):
    with pytest.raises(InputError, match=r"regular table|same number|must be"):
        verb(ragged)


@pytest.mark.parametrize("seed", ["a", -1, 1.5, float("nan"), [1], 2**32])
def test_a_seed_is_a_whole_number(seed):
    votes = Votes.from_labels(LABELS)
    uses = (
        lambda: fuse(votes, "mv", random_state=seed),
        lambda: fuse(votes, "auto", random_state=seed),
        lambda: compare(votes, ["mv"], random_state=seed),
        lambda: ask(votes, 2, random_state=seed),
        lambda: sweep(votes, [0.1], updates=1, random_state=seed),
        *(lambda kind=kind: kind(random_state=seed).fit(votes) for kind in (DEEM, IRBM, GroupedDawidSkene)),
    )
    for use in uses:
        with pytest.raises(InputError, match=r"random_state|--seed"):
            use()


@pytest.mark.parametrize("seed", [None, 0, np.int64(3), True, np.random.RandomState(0)])
def test_what_seeds_today_still_does(seed):
    assert GroupedDawidSkene(random_state=seed).fit(LABELS).predict(LABELS).shape == (30,)


def test_describe_takes_what_the_other_verbs_take():
    assert describe(LABELS).n_votes == 120
