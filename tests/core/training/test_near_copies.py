import sys
from pathlib import Path

import numpy as np
import pytest

from deem_core import InputError, Votes, simulation
from deem_core.simulation import condind, copies_with_noise
from deem_core.training import near_copies
from deem_core.training.near_copies import Clique, Reduction, conditional_kappa, find_cliques, guard
from tests.core.groups.helpers import noisy_copies, table

guard_module = sys.modules[
    "deem_core.training.near_copies.guard"
]  # the package's attribute of that name is the function


CLEAN = 2  # a seed whose good learners are no loose clique


def reduced(votes, cliques):
    return Reduction.of(votes.learners, cliques).reduce(votes)


class TestReduction:
    clique = Clique(("b", "c", "e"), 0.8, "tight")

    def test_a_clique_votes_by_majority_at_the_place_of_its_first_member(self):
        codes = [[0, 1, 1, 2, 0], [0, 2, 1, 2, 0], [1, -1, 2, 0, -1], [1, -1, -1, 0, -1]]
        made = reduced(table(codes, learners=list("abcde"), truth=[0, 1, 2, 0], ids=list("pqrs")), [self.clique])
        assert made.learners == ("a", "majority of b, c, e", "d")
        assert made.codes.tolist() == [[0, 1, 2], [0, 0, 2], [1, 2, 0], [1, -1, 0]]
        assert made.truth.tolist() == [0, 1, 2, 0]
        assert list(made.ids) == list("pqrs")

    def test_it_remembers_whom_each_voice_stands_for(self):
        plan = Reduction.of(list("abcde"), [self.clique])
        assert plan.members == ((0,), (1, 2, 4), (3,))
        assert plan.n_original == 5
        assert not plan.is_identity
        assert plan.apply(np.array([[0, 1, 1, 2, 0]], np.int16)).tolist() == [[0, 1, 2]]

    def test_without_cliques_nothing_changes(self):
        votes = table([[0, 1, 2]])
        assert Reduction.of(votes.learners).is_identity
        assert reduced(votes, []) is votes

    def test_soft_votes_fit_the_reduced_codes(self):
        made = simulation.simulate("condind", 300, 0, soft=True).votes
        clique = Clique(("noise_1", "noise_2", "noise_3", "good_1"), 0.8, "tight")
        small = reduced(made, [clique])
        assert (small.soft[:, 1:4] == made.soft[:, 1:4]).all()
        members = [made.learners.index(name) for name in clique.learners]
        agree = made.codes[0, members] == small.codes[0, 0]
        np.testing.assert_allclose(small.soft[0, 0], made.soft[0, members][agree].mean(axis=0), atol=1e-6)

    def test_rounding_does_not_turn_a_soft_vote(self):
        low = np.float32(0.1875) + np.arange(16, dtype=np.float32) * np.float32(2**-26)  # row by row one digit more
        soft = np.zeros((16, 4, 8), np.float32)
        soft[:, :3, 0], soft[:, :3, 1] = low[:, None], low[:, None] + np.float32(2**-26)  # class 1 leads by a digit
        soft[:, :3, 2:6] = 0.15625
        soft[:, 3, :3] = 0.484375, 0.484375 + 2**-25, 0.03125
        group = Clique(tuple("abcd"), 0.8, "tight")
        plan = Reduction.of(list("abcd"), [group])
        tied = (soft.mean(axis=1, dtype=np.float64).astype(np.float32)).argmax(axis=1) == 0
        assert tied.any()
        assert (plan.apply_soft(soft).argmax(axis=2) == 1).all()
        assert (reduced(Votes.from_soft(soft, learners=list("abcd")), [group]).codes == 1).all()

    def test_missing_soft_votes_stay_missing(self):
        soft = np.zeros((2, 4, 3), np.float32)
        soft[0, :2, 1] = soft[:, 3, 0] = 1
        made = Votes.from_soft(soft, learners=list("abcd"))
        small = reduced(made, [Clique(("a", "b", "c"), 0.8, "tight")])
        assert small.codes.tolist() == [[1, 0], [-1, 0]]

    def test_names_stay_short_and_different(self):
        names = [f"m{j}" for j in range(20)]
        plan = Reduction.of(names, [Clique(tuple(names[:15]), 0.8, "tight")])
        assert plan.learners[0] == "majority of m0, m1, m2, m3, m4, m5, m6 and 8 others"
        taken = Reduction.of(["a", "b", "c", "majority of a, b, c"], [Clique(("a", "b", "c"), 0.8, "tight")])
        assert len(set(taken.learners)) == 2

    def test_what_does_not_fit_is_refused(self):
        plan = Reduction.of(list("abcde"), [self.clique])
        with pytest.raises(InputError, match="5 learners were expected"):
            plan.apply(np.zeros((3, 4), int))
        with pytest.raises(InputError, match="There is no learner 'b'"):
            Reduction.of(["a"], [self.clique])
        with pytest.raises(InputError, match="shares a learner with another clique"):
            Reduction.of(list("abcde"), [self.clique, self.clique])


class TestGuard:
    def test_a_tight_clique_gets_one_voice(self):
        plan = guard(noisy_copies(CLEAN), "guard", np.random.default_rng(0))
        assert plan.hedge is None
        assert plan.base.members[4] == (4, 15, 16)
        assert len(plan.base.members) == 15
        (text,) = plan.sentences
        assert text.startswith("Near-copies: noise_1, noise_1_1, noise_1_2 (mean κ 0.9")
        assert text.endswith("Each group counts once, by its own majority vote.")

    def test_loose_cliques_are_hedged(self):
        votes = simulation.simulate("copies", 8_000, 0).votes
        plan = guard(votes, "guard", np.random.default_rng(0))
        loose = [clique for clique in plan.cliques if clique.kind == "loose"]
        assert loose
        assert plan.hedge is not None
        assert len(plan.hedge.members) < len(plan.base.members)
        assert sum("the mean of both" in text for text in plan.sentences) == 1

    def test_keep_only_reports(self):
        plan = guard(noisy_copies(CLEAN), "keep", np.random.default_rng(0))
        assert len(plan.cliques) == 1
        assert plan.base.is_identity
        assert plan.hedge is None
        assert plan.sentences[0].endswith("Every learner counts in full, as requested.")

    def test_collapse_gives_every_clique_one_voice(self):
        votes = simulation.simulate("copies", 8_000, 0).votes
        plan = guard(votes, "collapse", np.random.default_rng(0))
        assert plan.base == Reduction.of(votes.learners, plan.cliques)
        assert len(plan.base.members) == 15 - 4 * len(plan.cliques)
        assert plan.hedge is None

    @pytest.mark.parametrize("mode", ["guard", "collapse"])
    def test_three_voices_must_remain(self, mode):
        rng = np.random.default_rng(0)
        base = simulation.random_learners(condind(2_000, rng=rng, n_learners=1, n_informative=1), 1, rng=rng)
        votes = copies_with_noise(base, 3, rng=rng, noise=0.02).votes
        plan = guard(votes, mode, rng)
        assert plan.cliques
        assert plan.base.is_identity
        assert plan.hedge is None
        assert any("would leave 2 of them, and fewer than 3 are not enough" in text for text in plan.sentences)

    def test_a_hedge_that_leaves_too_few_is_left_out(self, monkeypatch):
        votes = noisy_copies(0).select_learners([4, 15, 16, 0, 1, 2])
        cliques = (Clique(votes.learners[:3], 0.8, "tight"), Clique(votes.learners[3:], 0.6, "loose"))
        monkeypatch.setattr(guard_module, "find_cliques", lambda *_: cliques)
        plan = guard(votes, "guard", np.random.default_rng(0))
        assert plan.base.members == ((0, 1, 2), (3,), (4,), (5,))
        assert plan.hedge is None
        assert len(plan.sentences) == 2
        assert "would leave 2 of them" in plan.sentences[1]

    def test_nothing_found_is_nothing_said(self):
        votes = condind(8_000, rng=np.random.default_rng(CLEAN)).votes
        plan = guard(votes, "guard", np.random.default_rng(0))
        assert plan == near_copies.GuardPlan((), Reduction.of(votes.learners), None, ())

    def test_fewer_than_four_learners_are_left_alone(self):
        plan = guard(table(np.zeros((50, 3), int)), "guard", np.random.default_rng(0))
        assert plan.base.is_identity
        assert plan.sentences == ("No search for near-copies: it needs at least 4 learners.",)

    def test_sparse_pairs_are_mentioned(self):
        votes = simulation.simulate("crowd", 100, 0).votes
        plan = guard(votes, "guard", np.random.default_rng(0))
        assert plan.cliques == ()
        assert "of 780 pairs of learners share fewer than 30 rows" in plan.sentences[-1]

    def test_an_unknown_mode_is_refused(self):
        with pytest.raises(InputError, match="near_copies is 'drop'; choose one of guard, keep, collapse"):
            guard(table(np.zeros((5, 4), int)), "drop", np.random.default_rng(0))

    def test_the_truth_plays_no_part(self):
        votes = noisy_copies(0, n=2_000)
        with_truth = Votes(votes.codes, votes.classes, votes.learners, truth=np.zeros(2_000, int))
        assert guard(votes, "guard", np.random.default_rng(0)) == guard(with_truth, "guard", np.random.default_rng(0))


class TestLargeEnsembles:
    def cliques(self, path: Path):
        stored = np.load(path)
        votes = table(stored["X"], int(stored["K"]), learners=stored["learners"].tolist())
        return find_cliques(conditional_kappa(votes, np.random.default_rng(0)), votes.learners)

    def test_families_of_five_copies_are_loose_cliques(self, large_data: Path):
        found = self.cliques(large_data / "mniste.npz")
        assert [{name.split("_")[0] for name in clique.learners} for clique in found] == [{"dt"}, {"gnb"}, {"mlp"}]
        assert [len(clique.learners) for clique in found] == [5, 5, 5]
        assert all(clique.kind == "loose" and 0.58 < clique.kappa < 0.69 for clique in found)

    @pytest.mark.parametrize("name", ["condind", "ampdata", "mniste47", "uci_gesture", "ens_letter", "ens_digits"])
    def test_these_hold_none(self, large_data: Path, name):
        assert self.cliques(large_data / f"{name}.npz") == ()

    def test_three_leaves_of_one_node_are_a_loose_clique(self, large_data: Path):
        (clique,) = self.cliques(large_data / "tree3k.npz")
        assert clique.learners == ("m1_l0", "m1_l1", "m1_l3")
        assert clique.kind == "loose"
