"""Cliques of near-copies."""

import numpy as np
import pytest

from deem_core import InputError
from deem_core.groups.cliques import find_cliques
from deem_core.groups.kappa import conditional_kappa
from deem_core.simulation import condind
from tests.core.groups.helpers import noisy_copies


class TestCliques:
    def kappa(self, d, groups):
        kappa = np.zeros((d, d))
        for members, value in groups:
            kappa[np.ix_(members, members)] = value
        np.fill_diagonal(kappa, 1)
        return kappa

    def test_tight_and_loose_are_told_apart(self):
        found = find_cliques(self.kappa(8, [([5, 6, 7], 0.6), ([0, 2, 4], 0.75)]), list("abcdefgh"))
        assert [(clique.learners, clique.kind) for clique in found] == [
            (("a", "c", "e"), "tight"),
            (("f", "g", "h"), "loose"),
        ]
        assert found[0].kappa == pytest.approx(0.75)

    def test_pairs_and_weak_likeness_are_no_cliques(self):
        assert find_cliques(self.kappa(8, [([0, 1], 0.95), ([2, 3, 4], 0.54)]), list("abcdefgh")) == ()

    @pytest.mark.parametrize(("d", "least"), [(18, 3), (19, 4), (60, 10)])
    def test_a_clique_has_a_sixth_of_the_learners(self, d, least):
        names = [str(j) for j in range(d)]
        assert find_cliques(self.kappa(d, [(range(least - 1), 0.9)]), names) == ()
        assert len(find_cliques(self.kappa(d, [(range(least), 0.9)]), names)) == 1

    @pytest.mark.parametrize("seed", range(5))
    def test_noisy_copies_of_a_random_learner_are_found(self, seed):
        votes = noisy_copies(seed)
        found = find_cliques(conditional_kappa(votes, np.random.default_rng(0)), votes.learners)
        tight = [clique.learners for clique in found if clique.kind == "tight"]
        assert tight == [("noise_1", "noise_1_1", "noise_1_2")]

    @pytest.mark.parametrize("seed", range(5))
    def test_independent_learners_hold_no_tight_one(self, seed):
        votes = condind(8_000, rng=np.random.default_rng(seed)).votes
        found = find_cliques(conditional_kappa(votes, np.random.default_rng(0)), votes.learners)
        # Good learners among noise may look like a loose clique: the others say little about what they share.
        assert all(clique.kind == "loose" and "good" in clique.learners[0] for clique in found)

    def test_independent_learners_of_like_skill_hold_none(self):
        for seed in range(5):
            votes = condind(8_000, rng=np.random.default_rng(seed), n_informative=15).votes
            assert find_cliques(conditional_kappa(votes, np.random.default_rng(0)), votes.learners) == ()

    def test_a_table_of_another_size_is_refused(self):
        with pytest.raises(InputError, match="2 learners need κ of shape"):
            find_cliques(np.eye(3), ["a", "b"])
