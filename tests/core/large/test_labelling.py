"""What is fitted on an extract labels all rows as the whole file would be."""

from dataclasses import replace

import numpy as np
import pytest

from deem_core import fuse, simulate
from deem_core.errors import InputError
from deem_core.files import tables
from deem_core.large.extract import make_extract
from deem_core.large.labelling import BY_PARTS, Review, fuse_extract
from deem_core.methods.registry import METHODS, TRAINED, aggregate
from deem_core.readers.large import open_large

SEED = {"random_state": 0}


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    path = tmp_path_factory.mktemp("large") / "votes.csv"
    tables.write(tables.wide_table(simulate("tree", 4_000, 0, 6, 3, missing=0.1).votes), path)
    return open_large(path)


@pytest.fixture(scope="module")
def sampled(large):
    return make_extract(large, 1_500)


def labelled(made, votes):
    return made.labeller.answer(votes, 0, made.known(0, votes.n_rows))[0]


@pytest.mark.parametrize("method", [name for name in BY_PARTS if name not in (*TRAINED, "auto", "rules", "safe")])
def test_the_rule_of_a_method_gives_its_own_posterior(method):
    votes = simulate("crowd", 500, 0, missing=0.3).votes
    made = aggregate(method, votes, np.random.default_rng(0))
    assert np.array_equal(made.rule(votes.codes), made.posterior)


@pytest.mark.parametrize("name", ["rules", "crowd", "condind", "tree"])
def test_the_rule_of_auto_gives_its_own_posterior(name):
    votes = simulate(name, 1_000, 0).votes
    made = aggregate("auto", votes, np.random.default_rng(0))
    if made.rule is not None:  # a vote in which EBCC takes part has none
        np.testing.assert_allclose(made.rule(votes.codes), made.posterior, atol=1e-12)
    else:
        assert name == "crowd"


@pytest.mark.parametrize("method", ["ds", "onecoin"])
def test_exact_methods_are_fitted_on_the_patterns_of_all_rows(large, sampled, method):
    made = fuse_extract(sampled, method, SEED)
    votes = next(large.parts()).votes
    np.testing.assert_allclose(labelled(made, votes).posterior, fuse(votes, method).posterior, atol=1e-9)
    assert made.fitted.startswith("Fitted on all 4,000 rows, which hold ")


def test_the_grouped_model_is_fitted_on_the_patterns_of_all_rows(large, sampled):
    made = fuse_extract(sampled, "gds", SEED)
    votes = next(large.parts()).votes
    whole = fuse(votes, "gds", random_state=0)
    np.testing.assert_allclose(labelled(made, votes).posterior, whole.posterior, atol=1e-6)
    assert made.model.n_rows_ == 4_000
    assert "groups and fit were checked on 1,500 of 4,000 rows, evenly drawn" in made.fitted


def test_about_a_tenth_needs_review(large, sampled):
    made = fuse_extract(sampled, "ds", SEED)
    answer = labelled(made, next(large.parts()).votes)
    assert 0.08 < answer.doubtful.mean() < 0.12


def test_rows_at_the_limit_are_doubtful_up_to_a_place_in_the_file(tmp_path):
    """Of 1,000 rows, some 300 are alike and at the limit; which of them are doubtful does not depend on the part."""
    path = tmp_path / "votes.csv"
    rows = np.random.default_rng(0).choice(["x,x,y", "x,x,x", "y,y,y"], 1_000, p=[0.3, 0.35, 0.35])
    path.write_text("\n".join(["a,b,c", *rows, ""]))
    large = open_large(path)
    whole = fuse_extract(make_extract(large), "mv", SEED)
    votes = next(large.parts()).votes
    doubtful = whole.sample.doubtful
    assert doubtful.sum() == 100
    assert whole.review.last == np.flatnonzero(doubtful).max()
    last = whole.review.last
    for start in (0, last - 1, last, last + 1, 700):
        own, tied = whole.labeller.answer(votes.select_rows(slice(start, None)), start, whole.known(start, 1_000))
        assert np.array_equal(own.doubtful, doubtful[start:])
        assert tied == doubtful[start:].sum()  # nothing backs a row of this file less than one dissenting vote
    sampled = fuse_extract(make_extract(large, 100), "mv", SEED)
    assert 0.05 < labelled(sampled, votes).doubtful.mean() < 0.15


def test_nothing_is_doubtful_if_no_share_is_asked_for(large):
    extract = make_extract(large)
    made = fuse_extract(extract, "mv", SEED)
    none = replace(made, review=Review.of(extract, made.sample, 0.0))
    answer, tied = none.labeller.answer(extract.sample, 0, made.sample.posterior)
    assert not answer.doubtful.any()
    assert tied == 0


def test_a_method_of_its_own_rows_is_refused_for_a_sample_only(large, sampled):
    with pytest.raises(InputError, match="The method la2 labels only the rows it is fitted on"):
        fuse_extract(sampled, "la2", SEED)
    votes = next(large.parts()).votes
    made = fuse_extract(make_extract(large), "la2", SEED)
    assert np.array_equal(labelled(made, votes).posterior, fuse(votes, "la2", random_state=0).posterior)


def test_methods_in_parts_are_methods():
    assert set(BY_PARTS) <= set(METHODS)
