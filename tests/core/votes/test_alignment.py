from itertools import permutations

import numpy as np
import pytest

from deem_core import InputError
from deem_core.votes.alignment import apply_map, class_map


def counts(predicted, reference, K, weights=None):
    table = np.zeros((K, K))
    known = (predicted >= 0) & (reference >= 0)
    np.add.at(table, (predicted[known], reference[known]), 1 if weights is None else weights[known])
    return table


def best_by_brute_force(table):
    """Most rows matched by any permutation, then most classes left where they are."""
    K = len(table)
    return max(
        (sum(table[k, p[k]] for k in range(K)), sum(p[k] == k for k in range(K))) for p in permutations(range(K))
    )


def worth(table, mapping):
    return sum(table[k, mapping[k]] for k in range(len(table))), sum(mapping == np.arange(len(table)))


@pytest.mark.parametrize("K", [2, 3, 4, 5])
def test_no_permutation_does_better(K):
    rng = np.random.default_rng(K)
    for n in [0, 3, 8, 20, 200]:
        for _ in range(20):
            predicted, reference = rng.integers(-1, K, (2, n))
            weights = rng.integers(1, 1000, n)
            for multiplicity in [None, weights]:
                mapping = class_map(predicted, reference, K, multiplicity)
                assert sorted(mapping) == list(range(K))
                table = counts(predicted, reference, K, multiplicity)
                assert worth(table, mapping) == best_by_brute_force(table)


def test_a_permutation_is_found_again():
    rng = np.random.default_rng(0)
    permutation = rng.permutation(1000)
    predicted = rng.integers(1000, size=20_000)
    assert class_map(predicted, permutation[predicted], 1000)[np.unique(predicted)].tolist() == (
        permutation[np.unique(predicted)].tolist()
    )


def test_the_identity_wins_among_equals():
    assert class_map(np.array([0, 1, 1, 0]), np.array([0, 0, 1, 1]), 2).tolist() == [0, 1]
    assert class_map(np.full(5, 3), np.full(5, 3), 6).tolist() == list(range(6))


def test_weights_count_as_so_many_rows():
    predicted, reference = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    weights = np.array([1, 5, 5, 1])
    assert class_map(predicted, reference, 2, weights).tolist() == [1, 0]
    assert class_map(predicted.repeat(weights), reference.repeat(weights), 2).tolist() == [1, 0]


def test_rows_without_a_class_are_left_out():
    assert class_map(np.array([-1, -1, 0]), np.array([1, 1, -1]), 2).tolist() == [0, 1]


def test_a_class_out_of_range_is_refused():
    with pytest.raises(InputError, match="There is no class 7: the 3 classes go from 0 to 2"):
        class_map(np.array([0, 7]), np.array([0, 1]), 3)


def test_columns_move_with_the_map():
    posterior = np.random.default_rng(0).random((2, 4, 3))
    mapping = np.array([2, 0, 1])
    moved = apply_map(posterior, mapping)
    for k in range(3):
        assert (moved[..., mapping[k]] == posterior[..., k]).all()
    assert (mapping[posterior.argmax(-1)] == moved.argmax(-1)).all()
