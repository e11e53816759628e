import sys
from pathlib import Path

import numpy as np
import pytest

from deem_core import InputError, Votes, copies, simulate
from deem_core.copies import Clique, Reduction, conditional_kappa, find_cliques, guard
from deem_core.simulate import condind, copies_with_noise

guard_module = sys.modules["deem_core.copies.guard"]  # the package's attribute of that name is the function


def table(codes, n_classes=3, **fields):
    codes = np.asarray(codes)
    learners = fields.pop("learners", [f"m{j}" for j in range(codes.shape[1])])
    return Votes(codes, np.arange(n_classes), learners, **fields)


def slow_kappa(codes, K):
    """The definition, pair by pair and row by row."""
    d = codes.shape[1]
    kappa = np.eye(d)
    for i in range(d):
        for j in range(i + 1, d):
            seen = []
            for row in codes:
                others = [row[other] for other in range(d) if other not in (i, j) and row[other] >= 0]
                if others and row[i] >= 0 and row[j] >= 0:
                    seen.append((np.bincount(others, minlength=K).argmax(), row[i], row[j]))
            if len(seen) < 30:
                kappa[i, j] = kappa[j, i] = 0
                continue
            m, x_i, x_j = np.array(seen).T
            g, e = (x_i == x_j).mean(), 0.0
            for given in np.unique(m):
                rows = m == given
                e += rows.mean() * sum((x_i[rows] == k).mean() * (x_j[rows] == k).mean() for k in np.unique(x_i))
            kappa[i, j] = kappa[j, i] = (g - e) / (1 - e) if e < 1 - 1e-12 else 0
    return kappa


def correlated(rng, n, d, K, missing):
    truth = rng.integers(K, size=(n, 1))
    codes = np.where(rng.random((n, d)) < 0.6, truth, rng.integers(K, size=(n, d)))
    codes[:, 1] = np.where(rng.random(n) < 0.8, codes[:, 0], codes[:, 1])
    return np.where(rng.random((n, d)) < missing, -1, codes)


CLEAN = 2  # a seed whose good learners are no loose clique


def noisy_copies(seed, n=8_000):
    """CondInd beside two more copies of its first noise learner, each with 5 % of its votes replaced."""
    rng = np.random.default_rng(seed)
    base = condind(n, rng=rng)
    at = base.votes.learners.index("noise_1")
    copied = copies_with_noise(base, 2, rng=rng, noise=0.05).votes.select_learners(["noise_1_1", "noise_1_2"])
    learners = (*base.votes.learners, *copied.learners)
    assert (copied.codes == base.votes.codes[:, [at]]).mean() > 0.95
    return Votes(np.hstack([base.votes.codes, copied.codes]), base.votes.classes, learners)


class TestConditionalKappa:
    @pytest.mark.parametrize("missing", [0, 0.3, 0.7])
    @pytest.mark.parametrize(("d", "K"), [(3, 2), (4, 3), (7, 4), (6, 40)])
    def test_equals_the_definition(self, d, K, missing):
        rng = np.random.default_rng(d)
        codes = correlated(rng, 150, d, K, missing)
        np.testing.assert_allclose(conditional_kappa(table(codes, K), rng), slow_kappa(codes, K), atol=1e-12)

    @pytest.mark.parametrize("missing", [0, 0.3])
    def test_sorting_equals_counting(self, missing, monkeypatch):
        rng = np.random.default_rng(0)
        votes = table(correlated(rng, 400, 6, 5, missing), 5)
        counted = conditional_kappa(votes, rng)
        monkeypatch.setattr("deem_core.copies.kappa._DENSE_CELLS", 0)
        np.testing.assert_allclose(conditional_kappa(votes, rng), counted, atol=1e-12)

    def test_many_classes_equal_the_definition(self):
        rng = np.random.default_rng(1)
        codes = correlated(rng, 60, 5, 1000, 0.1)
        np.testing.assert_allclose(conditional_kappa(table(codes, 1000), rng), slow_kappa(codes, 1000), atol=1e-12)

    def test_identical_learners_have_one_and_independent_ones_about_zero(self):
        votes = condind(5_000, rng=np.random.default_rng(0), n_learners=8).votes
        twice = Votes(np.hstack([votes.codes, votes.codes[:, [7]]]), votes.classes, (*votes.learners, "again"))
        kappa = conditional_kappa(twice, np.random.default_rng(0))
        assert kappa[7, 8] == pytest.approx(1)
        assert np.abs(kappa[4:7, 4:7][~np.eye(3, dtype=bool)]).max() < 0.05

    def test_learners_that_the_others_explain_have_zero(self):
        codes = np.random.default_rng(0).integers(2, size=(100, 1)).repeat(5, axis=1)
        assert conditional_kappa(table(codes), np.random.default_rng(0)).tolist() == np.eye(5).tolist()

    def test_pairs_with_few_common_rows_have_zero(self):
        codes = np.random.default_rng(0).integers(3, size=(100, 1)).repeat(4, axis=1)
        codes[:, 2:] = np.random.default_rng(1).integers(3, size=(100, 2))
        codes[29:, 1] = -1
        assert conditional_kappa(table(codes), np.random.default_rng(0))[0, 1] == 0
        codes[29, 1] = codes[29, 0]
        assert conditional_kappa(table(codes), np.random.default_rng(0))[0, 1] > 0.9

    def test_a_sample_of_rows_comes_near(self):
        votes = noisy_copies(0, n=20_000)
        sampled = conditional_kappa(votes, np.random.default_rng(0), max_rows=4_000)
        again = conditional_kappa(votes, np.random.default_rng(0), max_rows=4_000)
        full = conditional_kappa(votes, np.random.default_rng(0), max_rows=20_000)
        assert (sampled == again).all()
        assert 0 < np.abs(sampled - full).max() < 0.1

    def test_two_learners_or_no_rows_have_nothing_to_go_by(self):
        rng = np.random.default_rng(0)
        assert conditional_kappa(table(np.zeros((50, 2), int)), rng).tolist() == [[1, 0], [0, 1]]
        assert conditional_kappa(table(np.zeros((0, 3), int)), rng).tolist() == np.eye(3).tolist()


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


class TestReduction:
    clique = Clique(("b", "c", "e"), 0.8, "tight")

    def test_a_clique_votes_by_majority_at_the_place_of_its_first_member(self):
        codes = [[0, 1, 1, 2, 0], [0, 2, 1, 2, 0], [1, -1, 2, 0, -1], [1, -1, -1, 0, -1]]
        made = copies.reduce(table(codes, learners=list("abcde"), truth=[0, 1, 2, 0], ids=list("pqrs")), [self.clique])
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
        assert copies.reduce(votes, []) is votes

    def test_soft_votes_fit_the_reduced_codes(self):
        made = simulate.build("condind", 300, 0, soft=True).votes
        clique = Clique(("noise_1", "noise_2", "noise_3", "good_1"), 0.8, "tight")
        reduced = copies.reduce(made, [clique])
        assert (reduced.soft[:, 1:4] == made.soft[:, 1:4]).all()
        members = [made.learners.index(name) for name in clique.learners]
        agree = made.codes[0, members] == reduced.codes[0, 0]
        np.testing.assert_allclose(reduced.soft[0, 0], made.soft[0, members][agree].mean(axis=0), atol=1e-6)

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
        assert (copies.reduce(Votes.from_soft(soft, learners=list("abcd")), [group]).codes == 1).all()

    def test_missing_soft_votes_stay_missing(self):
        soft = np.zeros((2, 4, 3), np.float32)
        soft[0, :2, 1] = soft[:, 3, 0] = 1
        made = Votes.from_soft(soft, learners=list("abcd"))
        reduced = copies.reduce(made, [Clique(("a", "b", "c"), 0.8, "tight")])
        assert reduced.codes.tolist() == [[1, 0], [-1, 0]]

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
        assert text.endswith("Each group was given one voice, its own majority vote.")

    def test_loose_cliques_are_hedged(self):
        votes = simulate.build("copies", 8_000, 0).votes
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
        assert plan.sentences[0].endswith("Every learner kept its voice, as asked.")

    def test_collapse_gives_every_clique_one_voice(self):
        votes = simulate.build("copies", 8_000, 0).votes
        plan = guard(votes, "collapse", np.random.default_rng(0))
        assert plan.base == Reduction.of(votes.learners, plan.cliques)
        assert len(plan.base.members) == 15 - 4 * len(plan.cliques)
        assert plan.hedge is None

    @pytest.mark.parametrize("mode", ["guard", "collapse"])
    def test_three_voices_must_remain(self, mode):
        rng = np.random.default_rng(0)
        base = simulate.random_learners(condind(2_000, rng=rng, n_learners=1, n_informative=1), 1, rng=rng)
        votes = copies_with_noise(base, 3, rng=rng, noise=0.02).votes
        plan = guard(votes, mode, rng)
        assert plan.cliques
        assert plan.base.is_identity
        assert plan.hedge is None
        assert any("would leave 2 of them, and fewer than 3 identify nothing" in text for text in plan.sentences)

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
        assert plan == copies.GuardPlan((), Reduction.of(votes.learners), None, ())

    def test_fewer_than_four_learners_are_left_alone(self):
        plan = guard(table(np.zeros((50, 3), int)), "guard", np.random.default_rng(0))
        assert plan.base.is_identity
        assert plan.sentences == ("Near-copies were not looked for: that needs at least 4 learners.",)

    def test_sparse_pairs_are_mentioned(self):
        votes = simulate.build("crowd", 100, 0).votes
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
