import numpy as np
import pytest
import torch
from scipy.special import softmax

from deem_core.groups.cliques import Clique
from deem_core.model.energy import initialise, to_dawid_skene
from deem_core.training import parts
from deem_core.training.near_copies import Reduction
from deem_core.training.parts import Part, ask

LEARNERS = tuple("abcde")


@pytest.fixture(params=[(0, True), (1, False), (2, False)], ids=["exact", "one layer", "two layers"])
def part(request):
    """Two restarts over four voices: c and d are near-copies."""
    n_layers, exact = request.param
    reduction = Reduction.of(LEARNERS, [Clique(("c", "d"), 1.0, "tight")])
    model = initialise(4, 3, n_layers, [torch.Generator().manual_seed(seed) for seed in (0, 1)])
    return Part(reduction, model, np.array([[0, 1, 2], [1, 2, 0]]), exact)


@pytest.fixture
def codes():
    """Sixty rows of votes, most of them more than once, some missing."""
    rng = np.random.default_rng(0)
    return rng.integers(-1, 3, (20, 5)).astype(np.int32)[rng.integers(0, 20, 60)]


def in_class_order(each, maps):
    """Move what is said of hidden state k to class maps[r][k], restart by restart."""
    moved = np.zeros_like(each)
    for r, own in enumerate(maps):
        for state, label in enumerate(own):
            moved[r, ..., label] = each[r, ..., state]
    return moved


def test_hidden_states_speak_for_the_classes_of_their_map(part, codes):
    """The second restart's map is a cycle, which is not its own inverse."""
    each = ask(part.model, part.reduction.apply(codes), part.exact)
    np.testing.assert_allclose(part.posteriors(codes), in_class_order(each, part.maps).mean(axis=0), atol=1e-6)
    logits = part.logits(codes)
    np.testing.assert_allclose(softmax(logits, axis=2), in_class_order(each, part.maps), atol=1e-6)


def test_confusions_and_prior_follow_the_map_of_each_restart():
    generators = [torch.Generator().manual_seed(seed) for seed in (0, 1)]
    model = initialise(5, 3, 0, generators, scale=1.0).to(torch.float64)
    model = model.with_parameters([model.weights, model.visible_bias, torch.tensor([[0, 1, 2], [0, 2, 1.0]]).double()])
    maps = np.array([[0, 1, 2], [1, 2, 0]])
    psi, pi = Part(Reduction.of(LEARNERS), model, maps).parameters()
    for found, each in zip((psi, pi), to_dawid_skene(model), strict=True):
        np.testing.assert_allclose(found, in_class_order(each.numpy(), maps).mean(axis=0), atol=1e-12)


def test_repeated_rows_have_the_answer_of_each_alone(part, codes):
    alone = [part.posteriors(row[None])[0] for row in codes]
    np.testing.assert_allclose(part.posteriors(codes), alone, atol=1e-6)
    scores = [part.logits(row[None])[:, 0] for row in codes]
    np.testing.assert_allclose(part.logits(codes), np.stack(scores, axis=1), atol=1e-5)


def test_units_of_repeated_rows_are_those_of_each_alone(part, codes):
    found = part.unit_codes(codes, 1)
    assert len(found) == part.n_layers
    for at, layer in enumerate(found):
        assert (layer == [part.unit_codes(row[None], 1)[at][0] for row in codes]).all()


def test_equal_rows_are_asked_once_after_near_copies_are_merged(part, monkeypatch):
    codes = np.array([[0, 1, 2, 2, 1], [0, 1, 2, -1, 1], [2, 1, 2, 2, 1], [0, 1, 2, 2, 1]], np.int32)
    asked = []
    monkeypatch.setattr(parts, "ask", lambda model, rows, *how: asked.append(rows.copy()) or ask(model, rows, *how))
    part.posteriors(codes)
    assert np.concatenate(asked).tolist() == [[0, 1, 2, 1], [2, 1, 2, 1]]


def test_a_gpu_takes_larger_chunks_than_the_caches_of_a_processor_hold(part):
    sizes = [chunk.stop - chunk.start for chunk in parts.row_chunks(10**7, part.model)]
    on_gpu = [chunk.stop - chunk.start for chunk in parts.row_chunks(10**7, part.model.to("meta"))]
    assert max(on_gpu) > 4 * max(sizes)
