"""The stacked RBMs, deterministic and stochastic."""

import itertools

import numpy as np
import pytest

from deem_core import InputError, simulation
from deem_core.control import NO_CONTROL, StopWhen
from deem_core.methods import stacked_rbm
from deem_core.votes.describe import accuracy
from tests.core.methods.helpers import make_votes, random_votes


def test_conditionals_are_those_of_the_joint_law():
    rng = np.random.default_rng(0)
    W, a, b = rng.normal(size=(3, 2)), rng.normal(size=3), rng.normal(size=2)
    layer = stacked_rbm.Layer(W[None], a[None, None], b[None, None], np.ones((1, 1, 2)))
    states = [np.array(bits, float) for bits in itertools.product([0, 1], repeat=3)]
    hidden = [np.array(bits, float) for bits in itertools.product([0, 1], repeat=2)]
    joint = np.array([[np.exp(a @ v + b @ h + v @ W @ h) for h in hidden] for v in states])
    given_v = joint @ np.array(hidden) / joint.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(layer.up(np.array(states)[None])[0], given_v)
    given_h = joint.T @ np.array(states) / joint.T.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(layer.down(np.array(hidden)[None])[0], given_h)


def test_units_that_a_class_does_not_use_stay_off():
    alive = np.array([[[1, 0]]], np.float32)
    bits = (np.random.default_rng(1).random((1, 200, 4)) < 0.5).astype(np.float32)
    layer, cut = stacked_rbm._train_rbm(
        bits, np.ones((1, 1, 4), np.float32), alive, 0.0, np.random.default_rng(2), control=NO_CONTROL
    )
    assert not cut
    assert (layer.up(bits)[:, :, 1] == 0).all()
    assert (layer.weights[:, :, 1] == 0).all()


@pytest.mark.parametrize("method", [stacked_rbm.deterministic, stacked_rbm.stochastic])
@pytest.mark.parametrize("K", [2, 3])
def test_the_answer_is_near_the_best_single_learner_or_better(method, K):
    votes = random_votes(np.random.default_rng(3), 1000, 7, K)
    made = method(votes, np.random.default_rng(4))
    assert accuracy(made.codes, votes.majority_vote.codes) > 0.85
    assert "→" in made.notes[0] or made.notes[0].endswith(": 1.")


def test_layers_get_narrower_until_one_unit():
    votes = simulation.tree(600, rng=np.random.default_rng(5)).votes
    stack = stacked_rbm.train(votes, np.random.default_rng(6), NO_CONTROL)
    assert len(stack.layers) <= stacked_rbm.MAX_LAYERS
    assert stack.layers[-1].ends.all()
    before = np.full(3, 12)
    for layer in stack.layers:
        assert (layer.widths < before).all()
        before = layer.widths[~layer.ends]


def test_a_class_that_came_to_one_unit_waits_for_no_other(monkeypatch):
    """A further layer on one rounded bit would leave two values for all rows, and the order between classes is lost."""
    widths = iter([np.array([1, 2, 1]), np.array([1])])
    monkeypatch.setattr(stacked_rbm, "_widths", lambda weights, alive: next(widths))
    votes = simulation.tree(600, rng=np.random.default_rng(7)).votes
    stack = stacked_rbm.train(votes, np.random.default_rng(8), NO_CONTROL)
    assert [layer.widths.tolist() for layer in stack.layers] == [[1, 2, 1], [1]]
    bits = stack.inputs.astype(np.float32)
    below = stack.layers[0].up(bits)
    for rng in (None, np.random.default_rng(9)):
        top = stacked_rbm.forward(stack, rng)
        np.testing.assert_allclose(top[[0, 2]], below[[0, 2], :, 0])
    rounded = (below[1:2] > 0.5).astype(np.float32)
    np.testing.assert_allclose(stacked_rbm.forward(stack, None)[1], stack.layers[1].up(rounded)[0, :, 0])
    assert stacked_rbm.finish(votes, stack, top).notes == ("Widths of the layers: 1; 2 → 1.",)


@pytest.mark.parametrize("calls", [0, 70])
def test_a_stack_that_is_cut_still_has_one_unit_at_the_top_of_every_class(calls):
    asked = iter(range(1000))
    votes = simulation.tree(200, rng=np.random.default_rng(10)).votes
    made = stacked_rbm.deterministic(votes, np.random.default_rng(11), control=StopWhen(lambda: next(asked) >= calls))
    assert made.cut
    assert "Cut by the time limit" in made.notes[1]
    assert all(widths.endswith("1") for widths in made.notes[0].rstrip(".").split("; "))


def test_many_classes_are_refused():
    with pytest.raises(InputError, match="refused above 64 classes"):
        stacked_rbm.deterministic(make_votes([[0, 1, 2]], 65), np.random.default_rng(0))
