"""Manners of scikit-learn: pipelines, new rows, clones, tags and its own checks of estimators."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

from deem_core import DEEM, IRBM, GroupedDawidSkene, InputError, simulate

TINY = {"restarts": 1, "updates": 3, "batch_size": 32, "n_layers": 0, "near_copies": "keep", "start": "majority"}


@pytest.fixture(scope="module")
def votes():
    return simulate("condind", 300, 0).votes.select_learners(range(6))


@pytest.fixture(scope="module")
def labels(votes):
    return np.array(["cat", "dog", "eel"], object)[votes.codes]


@pytest.fixture(scope="module")
def truth(votes):
    return np.array(["cat", "dog", "eel"], object)[votes.truth]


def test_the_end_of_a_pipeline_labels_arrays_and_frames(labels):
    frame = pd.DataFrame(labels, columns=list("abcdef"))
    drop_one = FunctionTransformer(lambda rows: rows.drop(columns="f"))
    for model in (GroupedDawidSkene(random_state=0), DEEM(random_state=0, **TINY)):
        pipeline = make_pipeline(drop_one, model).fit(frame)
        assert set(pipeline.predict(frame)) <= {"cat", "dog", "eel"}
        assert pipeline[-1].n_features_in_ == 5
        assert pipeline[-1].feature_names_in_.tolist() == list("abcde")
        assert make_pipeline(clone(model)).fit(labels).predict_proba(labels).shape == (300, 3)
    pipeline[-1].fit(labels)
    assert not hasattr(pipeline[-1], "feature_names_in_")
    assert pipeline[-1].n_features_in_ == labels.shape[1]


def test_probabilities_are_features_for_what_comes_next(labels, truth):
    made = GroupedDawidSkene(random_state=0).set_output(transform="pandas").fit(labels)
    frame = made.transform(labels)
    assert frame.columns.tolist() == ["p_cat", "p_dog", "p_eel"]
    assert np.allclose(frame, made.predict_proba(labels))
    stacked = make_pipeline(GroupedDawidSkene(random_state=0), LogisticRegression()).fit(labels, truth)
    assert stacked.score(labels, truth) > 0.6


def test_new_rows_are_labelled_by_models_that_have_not_seen_them(votes, labels, truth):
    model = GroupedDawidSkene(random_state=0)
    found = cross_val_predict(model, labels, cv=3)
    parts = np.array_split(np.arange(300), 3)
    own = clone(model).fit(np.delete(labels, parts[0], axis=0)).predict(labels[parts[0]])
    assert (found[parts[0]] == own).all()
    shares = cross_val_predict(model, votes, cv=3, method="predict_proba")
    assert shares.shape == (300, 3)
    assert np.allclose(shares.sum(axis=1), 1)
    scores = cross_val_score(model, labels, truth, cv=3)  # the truth only scores
    assert scores.mean() > 0.6
    again = cross_val_score(model, labels, truth, cv=3, scoring="accuracy")
    assert np.allclose(scores, again)


def test_votes_are_split_as_arrays_are(votes):
    assert votes.shape == (300, votes.n_learners)
    assert votes[[3, 5]].codes.tolist() == votes[[3, 5], ...].codes.tolist() == votes.codes[[3, 5]].tolist()
    with pytest.raises(TypeError):
        iter(votes)


@pytest.mark.parametrize("kind", [DEEM, IRBM, GroupedDawidSkene])
def test_tags_say_what_goes_in(kind):
    tags = get_tags(kind())
    assert is_classifier(kind())
    assert (tags.target_tags.required, tags.input_tags.allow_nan, tags.input_tags.string) == (False, True, True)
    assert tags.non_deterministic
    assert not get_tags(kind(random_state=0)).non_deterministic


def test_sparse_votes_are_refused_with_the_reason():
    with pytest.raises(InputError, match="zero would be a vote for class 0"):
        GroupedDawidSkene().fit(csr_array(np.eye(4)))


Y = "y is not read: nothing is learned from a target"
FEW = "two learners cannot be told apart, and the error says that in our words"
WORDS = "refused, in words of our own"
EXPECTED = {
    "check_classifiers_one_label": Y,
    "check_classifiers_classes": Y,
    "check_classifiers_train": Y,
    "check_classifiers_regression_target": Y,
    "check_supervised_y_2d": Y,
    "check_classifier_data_not_an_array": FEW,
    "check_estimators_overwrite_params": FEW,
    "check_estimators_fit_returns_self": FEW,
    "check_readonly_memmap_input": FEW,
    "check_fit2d_1feature": FEW,
    "check_fit_idempotent": FEW,
    "check_fit_check_is_fitted": FEW,
    "check_n_features_in": FEW,
    "check_n_features_in_after_fitting": WORDS,
    "check_complex_data": WORDS,
    "check_estimators_empty_data_messages": WORDS,
    "check_fit2d_predict1d": WORDS,
    "check_positive_only_tag_during_fit": "labels are names: numbers with decimals are no labels, whatever their sign",
}
"""Checks of scikit-learn that mean nothing here, with the reason."""


@pytest.mark.slow
def test_scikit_learn_s_own_checks_pass_but_for_those_that_mean_nothing_here():
    failing = set()
    models = (
        GroupedDawidSkene(random_state=0),
        IRBM(method="exact", allow_few_learners=True, random_state=0),
        DEEM(allow_few_learners=True, random_state=0, **TINY),
    )
    for model in models:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results = check_estimator(model, expected_failed_checks=EXPECTED, on_skip=None, on_fail=None)
        failed = {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"}
        assert failed == {}, type(model).__name__
        failing |= {result["check_name"] for result in results if result["status"] == "xfail"}
    assert failing == set(EXPECTED)
