"""Start from groups: the energy model says what the latent tree says."""

import numpy as np
import pytest
import torch

from deem_core.groups.latent_tree import GroupedModel
from deem_core.model.energy import layer_outputs, log_likelihood, posterior
from deem_core.model.group_start import group_parameters, initialise_from_groups, rooted

K, GROUPS = 3, ((0, 1, 2), (4, 5))


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def tree_of(rng, groups=GROUPS, d=8, sharpness=3.0):
    def columns(*shape):
        raw = rng.dirichlet(np.ones(K), shape).swapaxes(-1, -2) + sharpness * np.eye(K)
        return raw / raw.sum(axis=-2, keepdims=True)

    return GroupedModel(rng.dirichlet(np.full(K, 3.0)), groups, columns(len(groups), K), columns(d, K))


def ask(model, codes):
    with torch.no_grad():
        return posterior(model.to(torch.float64), torch.as_tensor(codes)[None])[0].numpy()


def draw_codes(rng, n=500, d=8, missing=0.0):
    codes = rng.integers(K, size=(n, d))
    codes[rng.random(codes.shape) < missing] = -1
    return codes


def own_beliefs(tree, g, row):
    """log p(z) + Σ log B_i[x_i, z] of a group, by its definition."""
    logs = np.log(tree.A[g] @ tree.pi)
    for i in tree.groups[g]:
        if row[i] >= 0:
            logs = logs + np.log(tree.B[i, row[i]])
    return logs


def hard_latent_posterior(tree, row, exponent=lambda group, row: 1.0):
    """Pr(Y | votes of single learners, the most probable latent of each group), term by term."""
    logs = np.log(tree.pi)
    for g, group in enumerate(tree.groups):
        best = own_beliefs(tree, g, row).argmax()
        logs = logs + exponent(group, row) * np.log(tree.A[g, best])
    for i in tree.singles:
        if row[i] >= 0:
            logs = logs + np.log(tree.B[i, row[i]])
    share = np.exp(logs - logs.max())
    return share / share.sum()


def is_clear(tree, row):
    """Whether the best latent of every group is at least e times as probable as the next."""
    tops = [np.sort(own_beliefs(tree, g, row))[-2:] for g in range(len(tree.groups))]
    return all(top - next_one >= 1 + 1e-6 for next_one, top in tops)


@pytest.mark.parametrize("n_layers", [1, 2, 3])
def test_the_started_model_has_the_trees_hard_latent_posterior(rng, n_layers):
    tree = tree_of(rng)
    codes = draw_codes(rng)
    clear = np.array([is_clear(tree, row) for row in codes])
    assert 200 < clear.sum() < len(codes)
    found = ask(group_parameters(tree, n_layers), codes[clear])
    wanted = np.array([hard_latent_posterior(tree, row) for row in codes[clear]])
    np.testing.assert_allclose(found, wanted, atol=1e-5)


def test_where_latents_are_not_clear_their_shares_mix_the_logarithms(rng):
    tree = tree_of(rng, sharpness=1.0)
    codes = draw_codes(rng)
    model = group_parameters(tree, 1)
    units = layer_outputs(model, torch.as_tensor(codes)[None])[0][0].double().numpy()  # (n, d, K)
    assert (units[:, 0].max(axis=1) < 1).any()  # some are shared out
    logs = np.log(tree.pi) + sum(np.log(tree.B[i])[codes[:, i]] for i in tree.singles)
    for g, group in enumerate(tree.groups):
        for j in group:
            np.testing.assert_allclose(units[:, j], units[:, group[0]], atol=1e-6)  # units of a group are alike
        logs = logs + units[:, group[0]] @ np.log(tree.A[g])
    shares = np.exp(logs - logs.max(axis=1, keepdims=True))
    np.testing.assert_allclose(ask(model, codes), shares / shares.sum(axis=1, keepdims=True), atol=1e-5)


@pytest.mark.parametrize("n_layers", [0, 1, 2])
@pytest.mark.parametrize("activation", ["sparsemax", "softmax"])
def test_without_groups_it_is_the_tree_itself_also_where_votes_are_missing(rng, n_layers, activation):
    tree = tree_of(rng, groups=())
    codes = draw_codes(rng, missing=0.4)
    model = group_parameters(tree, n_layers, activation=activation)
    np.testing.assert_allclose(ask(model, codes), tree.posterior(codes), atol=1e-5)


def test_without_groups_and_layers_it_has_the_trees_likelihood(rng):
    tree = tree_of(rng, groups=())
    codes = draw_codes(rng, n=50)
    joint = np.log(tree.pi) + sum(np.log(tree.B[i])[codes[:, i]] for i in range(8))
    found = log_likelihood(group_parameters(tree, 0).to(torch.float64), torch.as_tensor(codes)[None])[0]
    np.testing.assert_allclose(found, np.logaddexp.reduce(joint, axis=1), atol=1e-5)


def test_a_group_speaks_with_the_share_of_its_members_that_voted(rng):
    tree = tree_of(rng)
    codes = draw_codes(rng, missing=0.3)
    clear = np.array([is_clear(tree, row) for row in codes])
    found = ask(group_parameters(tree, 1), codes[clear])
    voted = [
        hard_latent_posterior(tree, row, lambda group, row: (row[list(group)] >= 0).mean()) for row in codes[clear]
    ]
    assert (codes[clear] < 0).any()
    np.testing.assert_allclose(found, voted, atol=1e-5)


def test_under_softmax_a_unit_is_the_latents_posterior_given_its_group(rng):
    tree = tree_of(rng)
    codes = draw_codes(rng, n=50)
    units = layer_outputs(group_parameters(tree, 1, activation="softmax"), torch.as_tensor(codes)[None])[0][0].numpy()
    for row, unit in zip(codes, units, strict=True):
        beliefs = np.exp(own_beliefs(tree, 0, row))
        np.testing.assert_allclose(unit[1], beliefs / beliefs.sum(), atol=1e-5)


@pytest.mark.parametrize("n_layers", [0, 1])
def test_the_constants_of_definition_1_stay_through_noise(rng, n_layers):
    tree = tree_of(rng)
    exact = group_parameters(tree, n_layers)
    noisy = initialise_from_groups(tree, n_layers, [torch.Generator().manual_seed(1)])
    weights, visible, hidden = (t[0] for t in noisy.parameters()[:3])
    assert (weights[:, 0] == 0).all()
    assert (visible.view(-1, K)[:, 0] == 0).all()
    assert hidden[0] == 0
    first_rows = weights.view(-1, K, K)[:, 0]
    assert torch.equal(first_rows, exact.weights[0].view(-1, K, K)[:, 0])


def test_restarts_differ_a_little_and_seeds_repeat_them(rng):
    tree, codes = tree_of(rng), draw_codes(rng)
    first, again, other = (initialise_from_groups(tree, 1, [torch.Generator().manual_seed(seed)]) for seed in (1, 1, 2))
    both = initialise_from_groups(tree, 1, [torch.Generator().manual_seed(seed) for seed in (1, 2)])
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), again.parameters(), strict=True))
    assert torch.equal(both.single(1).weights, other.weights)
    assert not torch.equal(first.weights, other.weights)
    exact = ask(group_parameters(tree, 1), codes).argmax(1)
    assert (ask(first, codes).argmax(1) == exact).mean() > 0.97


def test_a_class_that_em_has_emptied_has_finite_weights(rng):
    tree = tree_of(rng)
    pi = np.array([0.6, 0.4, 0.0])
    model = group_parameters(GroupedModel(pi, tree.groups, tree.A, np.where(tree.B < 0.05, 0.0, tree.B)), 1)
    assert all(torch.isfinite(tensor).all() for tensor in model.parameters())


# ---------------------------------------------------------------------- the label


def test_states_are_put_in_the_order_of_the_classes(rng):
    tree = tree_of(rng).with_label(-1, np.array([2, 0, 1]))
    codes = draw_codes(rng, missing=0.1)
    np.testing.assert_allclose(rooted(tree).posterior(codes), tree.posterior(codes), atol=1e-9)
    with pytest.raises(ValueError, match="label is not the root"):
        group_parameters(tree, 1)


@pytest.mark.parametrize("d", [4, 6])
def test_a_groups_latent_becomes_the_root_without_changing_its_posterior(rng, d):
    tree = tree_of(rng, groups=((0, 1, 2),), d=d).with_label(0, np.array([1, 2, 0]))
    codes = draw_codes(rng, d=d, missing=0.1)
    moved = rooted(tree)
    assert moved.groups == (() if d == 4 else ((3, 4, 5),))
    np.testing.assert_allclose(moved.posterior(codes), tree.posterior(codes), atol=1e-9)


def test_other_groups_become_one_voice_when_a_groups_latent_is_the_label(rng):
    tree = tree_of(rng).with_label(0, np.arange(K))
    moved = rooted(tree)
    assert moved.groups == ((3, 4, 5, 6, 7),)
    np.testing.assert_allclose(moved.B.sum(axis=1), 1.0, atol=1e-9)
    np.testing.assert_allclose(moved.prior, tree.prior, atol=1e-9)
    codes = draw_codes(rng)
    assert (moved.posterior(codes).argmax(1) == tree.posterior(codes).argmax(1)).mean() > 0.9
