"""Mutual information equals scikit-learn's, pair by pair, class by class, at the input and after every layer."""

from __future__ import annotations

import copy
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from sklearn.metrics import mutual_info_score, normalized_mutual_info_score

from deem_core import InputError
from deem_core.diagnostics.disentanglement import Dependence, class_dependence, dependence
from deem_core.diagnostics.layer_dependence import LayerDependence
from deem_core.model.energy import layer_outputs
from deem_core.votes import information
from deem_core.votes.information import counted_information, pair_information, table_information

RNG = np.random.default_rng


def looped(codes, score):
    d = codes.shape[1]
    made = np.full((d, d), np.nan)
    for i in range(d):
        for j in range(d):
            both = (codes[:, i] >= 0) & (codes[:, j] >= 0)
            if both.any():
                made[i, j] = score(codes[both, i], codes[both, j])
    return made


def related(n, d, K, rng, missing=0.0):
    truth = rng.integers(0, K, n)
    codes = np.where(rng.random((n, d)) < 0.5, truth[:, None], rng.integers(0, K, (n, d)))
    return np.where(rng.random((n, d)) < missing, -1, codes).astype(np.int32)


@pytest.mark.parametrize(
    ("n", "d", "K", "missing"),
    [(500, 6, 4, 0.0), (300, 5, 3, 0.4), (40, 4, 1000, 0.3), (1, 3, 2, 0.0)],
)
def test_information_of_all_pairs_equals_scikit_learn(n, d, K, missing):
    codes = related(n, d, K, RNG(n), missing)
    found = pair_information(codes)
    np.testing.assert_allclose(found.information, looped(codes, mutual_info_score), atol=1e-9)
    mine, theirs = found.normalised, looped(codes, normalized_mutual_info_score)
    varied = looped(codes, lambda a, b: float(max(len(set(a)), len(set(b))) > 1))  # they call two constants equal
    np.testing.assert_allclose(mine[varied == 1], theirs[varied == 1], atol=1e-9)


def test_both_ways_of_counting_agree():
    codes = related(400, 7, 5, RNG(0), 0.2)
    ones = np.ones(400)
    product, pairs = information._by_product(codes, ones, 5), information._pair_by_pair(codes, ones, 5)
    many = related(200, 46, 3, RNG(1), 0.1)
    np.testing.assert_allclose(
        pair_information(many).information, information._pair_by_pair(many, np.ones(200), 3).information, atol=1e-12
    )
    np.testing.assert_allclose(product.information, pairs.information, atol=1e-12)
    np.testing.assert_allclose(product.normalised, pairs.normalised, atol=1e-12)


@pytest.mark.parametrize(("d", "K"), [(4, 3), (4, 100), (46, 3)], ids=["dense", "sparse", "product"])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_counts_stand_for_repeated_rows(d, K, missing):
    codes, counts = related(60, d, K, RNG(2), missing), RNG(3).integers(1, 5, 60)
    if K == 100:
        codes[codes >= 0] *= 3  # states that never occur
    repeated = np.repeat(codes, counts, axis=0)
    once = counted_information(codes, counts.astype(float))
    plain = counted_information(repeated, np.ones(len(repeated)))
    np.testing.assert_allclose(once.information, plain.information, atol=1e-12)
    np.testing.assert_allclose(once.normalised, plain.normalised, atol=1e-12)
    np.testing.assert_allclose(pair_information(repeated).information, plain.information, atol=1e-12)


def test_counts_beyond_single_precision_are_exact():
    codes, counts = related(60, 46, 3, RNG(2), 0.0), RNG(3).integers(1, 5, 60).astype(float)
    few, many = counted_information(codes, counts), counted_information(codes, counts * (2**24 + 1))
    np.testing.assert_allclose(many.information, few.information, atol=1e-12)


def test_a_table_of_weights_has_the_information_of_its_distribution():
    joint = np.array([[[2.0, 0.0], [0.0, 2.0]], [[1.0, 1.0], [1.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]]])
    np.testing.assert_allclose(table_information(joint), [np.log(2), 0, 0], atol=1e-12)


def test_pairs_that_share_no_row_have_no_information():
    found = pair_information(np.array([[0, -1], [1, -1], [-1, 0]]))
    assert np.isnan(found.information[0, 1])
    assert found.information[0, 0] == pytest.approx(np.log(2))


def test_classes_are_told_apart(layered):
    codes = related(600, 4, 3, RNG(1))
    label = RNG(2).integers(-1, 3, 600)
    found, _ = class_dependence(codes, label, [0, 2])
    for at, k in enumerate([0, 2]):
        np.testing.assert_allclose(found[at], looped(codes[label == k], mutual_info_score), atol=1e-9)


def test_layers_are_judged_by_the_most_active_state_of_their_units(layered):
    model, votes = layered.model, layered.votes
    found = dependence(model, votes, restart=1)
    assert [layer.name for layer in found.layers] == ["input", "after layer 1"]
    fused = model.fuse_codes(votes.codes).argmax(axis=1)
    with torch.no_grad():
        states = torch.as_tensor(votes.codes.astype(np.int64))[None]
        active = layer_outputs(model.parts_[0].model.single(1), states)[0][0].argmax(-1).numpy()
    active = np.where(votes.codes < 0, -1, active)
    for layer, codes in zip(found.layers, (votes.codes, active), strict=True):
        for at in range(len(layer.classes)):
            np.testing.assert_allclose(layer.information[at], looped(codes[fused == at], mutual_info_score), atol=1e-9)


def test_layers_are_those_of_the_restart_that_agrees_best_with_the_labels(layered):
    (part,) = layered.model.parts_
    each = part.logits(layered.votes.codes).argmax(axis=2)
    assert (each[0] != each[1]).any()
    for restart, labels in enumerate(each):
        found = dependence(layered.model, layered.votes, labels=labels)
        assert found.restart == restart
        named = dependence(layered.model, layered.votes, labels=labels, restart=restart)
        np.testing.assert_array_equal(found.layers[1].information, named.layers[1].information)


def test_summaries_leave_the_diagonal_out(layered):
    layer = dependence(layered.model, layered.votes).layers[0]
    off = ~np.eye(len(layer.units), dtype=bool)
    for at, matrix in enumerate(layer.information):
        assert layer.largest[at] == matrix[off].max()
        assert layer.frobenius[at] == pytest.approx(np.sqrt((matrix[off] ** 2).sum()))
        assert layer.entropy[at] == pytest.approx(np.diag(matrix).mean())
        assert layer.floor[at] == pytest.approx((3 - 1) ** 2 / (2 * layer.rows[at]))
    summary = layer.summary()
    assert summary["frobenius"] == pytest.approx(layer.frobenius.mean())
    assert summary["frobenius_std"] == pytest.approx(layer.frobenius.std())


def test_independent_learners_stay_near_the_floor_and_nothing_is_said_of_disentangling(independent):
    found = dependence(independent.model, independent.votes, given="truth")
    layer = found.layers[0]
    assert len(found.layers) == 1
    first, second = np.triu_indices(len(layer.units), 1)
    np.testing.assert_allclose(layer.information[:, first, second].mean(axis=1), layer.floor, rtol=0.25)
    np.testing.assert_allclose(layer.frobenius, layer.floor_frobenius, rtol=0.25)
    assert "little to disentangle" in found.reading
    assert {pair.reading for pair in layer.pairs(3)} <= {"no more than chance would show", "weakly dependent"}


def test_a_pair_of_copies_among_many_independent_learners_is_not_overlooked():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, (120, 30))
    codes[:, 7] = np.where(rng.random(120) < 0.85, codes[:, 3], codes[:, 7])
    information, normalised = class_dependence(codes, np.zeros(120, int), [0])
    names = tuple(f"w{j}" for j in range(30))
    layer = LayerDependence("input", names, ("x",), np.array([120]), information, normalised, n_states=4)
    assert layer.frobenius[0] < 3 * layer.floor_frobenius[0]  # as a whole they look independent
    assert layer.pairs_above(0.1).tolist() == [[3, 7]]
    assert Dependence("fused", (layer,), -1, 120, 120, 0).reading.endswith("but w3 and w7 depend on each other.")
    assert {pair.reading for pair in layer.pairs(20)[1:]} == {"no more than chance would show"}


def test_merged_near_copies_have_a_layer_of_their_own_with_fewer_named_units(merged):
    found = dependence(merged.model, merged.votes)
    assert [layer.name for layer in found.layers] == ["input", "input, near-copies merged", "after layer 1"]
    assert [len(layer.units) for layer in found.layers] == [16, 4, 4]
    assert found.layers[1].units == merged.model.reduction_.learners
    pair = found.layers[0].pairs(1)[0]
    assert pair.first.rsplit("_", 1)[0] == pair.second.rsplit("_", 1)[0]  # two copies of one learner
    assert "one opinion" in pair.reading
    families = [merged.votes.learners[j].rsplit("_", 1)[0] for j in found.layers[0].order]
    assert sum(a != b for a, b in pairwise(families)) == 3  # copies stand side by side
    assert found.layers[0].summary()["frobenius"] > 3 * found.layers[1].summary()["frobenius"]


def test_a_model_without_living_restarts_has_the_input_alone(layered):
    model = copy.copy(layered.model)
    model.parts_ = []
    found = dependence(model, layered.votes)
    assert [layer.name for layer in found.layers] == ["input"]
    assert found.restart == -1


def test_many_classes_are_cut_to_the_largest(layered):
    found = dependence(layered.model, layered.votes, max_classes=2)
    counts = np.bincount(layered.model.fuse_codes(layered.votes.codes).argmax(axis=1), minlength=3)
    assert found.layers[0].classes == tuple(str(k) for k in np.sort(np.argsort(-counts)[:2]))
    assert found.n_classes_left_out == 1


def test_the_order_of_learners_changes_only_the_order_of_the_table(layered):
    turned = layered.votes.select_learners(list(reversed(layered.votes.learners)))
    first, second = dependence(layered.model, layered.votes), dependence(layered.model, turned)
    np.testing.assert_array_equal(first.layers[1].information, second.layers[1].information)
    codes = related(300, 4, 3, RNG(0), 0.1)
    np.testing.assert_allclose(
        pair_information(codes[:, ::-1]).information, pair_information(codes).information[::-1, ::-1], atol=1e-12
    )


def test_conditioning_needs_a_label(layered):
    with pytest.raises(InputError, match="no truth"):
        dependence(layered.model, layered.votes.without_truth(), given="truth")
    with pytest.raises(InputError, match="fused, truth"):
        dependence(layered.model, layered.votes, given="majority")
    few = dependence(layered.model, layered.votes.select_rows(slice(0, 10)))
    assert "too few" in few.reading
    assert few.layers[0].pairs() == ()


def test_truth_that_no_learner_votes_for_belongs_to_no_class(layered):
    truth = layered.votes.truth.copy()
    truth[:100] = 3
    votes = replace(layered.votes, truth=truth, truth_only=np.array(["other"], object))
    found = dependence(layered.model, votes, given="truth")
    np.testing.assert_array_equal(found.layers[0].rows, np.bincount(truth[100:], minlength=3))


def test_tables_for_download(layered):
    found = dependence(layered.model, layered.votes)
    assert found.to_frame()["layer"].tolist() == ["input", "after layer 1"]
    assert len(found.layers[0].to_frame()) == 3 * 8 * 7 // 2


@pytest.mark.slow
def test_a_layer_halves_the_dependence_of_mniste(mniste):
    for given, at_input in (("fused", 4.21), ("truth", 4.33)):
        found = dependence(mniste.model, mniste.votes, given=given)
        first, last = (layer.summary()["frobenius"] for layer in found.layers)
        assert first == pytest.approx(at_input, abs=0.1)
        assert last <= 0.5 * first
        assert "fell" in found.reading
