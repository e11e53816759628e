"""Each peculiarity of a table is found where it is made, and a healthy ensemble is left in peace."""

import dataclasses

import numpy as np
import pytest

from deem_core import InputError, Votes
from deem_core.diagnostics.checkup import KINDS, Finding, checkup
from deem_core.diagnostics.checkup.size import training_memory
from deem_core.model.config import Shape, TrainConfig
from deem_core.simulation import condind, copies_with_noise, families, random_learners, tree


def ensemble(n=2000, d=6, K=3, seed=0, right=0.7):
    """Independent learners, all of them good."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(K, size=(n, 1))
    return np.where(rng.random((n, d)) < right, truth, rng.integers(K, size=(n, d)))


def table(codes, K=3, **fields):
    codes = np.asarray(codes)
    return Votes(codes, fields.pop("classes", np.arange(K)), [f"m{j}" for j in range(codes.shape[1])], **fields)


def found(votes):
    return {finding.kind: finding for finding in checkup(votes)}


def only(votes, kind):
    """Return the one finding there should be."""
    findings = checkup(votes)
    assert [finding.kind for finding in findings] == [kind]
    return findings[0]


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("K", [2, 3, 10])
@pytest.mark.parametrize("seed", range(3))
def test_a_healthy_ensemble_is_left_in_peace(missing, K, seed):
    codes = ensemble(K=K, seed=seed)
    codes[np.random.default_rng(seed).random(codes.shape) < missing] = -1
    assert {finding.kind for finding in checkup(table(codes, K))} <= {"rows_without_votes"}


def test_the_papers_ensembles_have_their_own_peculiarities_and_no_others():
    noisy = found(condind(10_000, rng=np.random.default_rng(2)).votes)
    assert set(noisy) - {"near_copies"} == {"chance_learners"}
    assert set(noisy["chance_learners"].learners) == {f"noise_{j}" for j in range(1, 12)}
    assert set(found(tree(5000, rng=np.random.default_rng(0)).votes)) <= {"near_copies"}


def test_the_truth_is_not_looked_at():
    codes = ensemble()
    codes[:, 5] = np.random.default_rng(3).integers(3, size=len(codes))
    votes = table(codes, truth=codes[:, 5])
    assert checkup(votes) == checkup(votes.without_truth()) != ()


def test_renaming_labels_changes_no_finding():
    codes = ensemble(K=3)
    codes[:, 4] = np.random.default_rng(1).integers(3, size=len(codes))
    codes[:, 5] = (codes[:, 0] + 1) % 3
    codes[:5] = -1
    turned = np.where(codes < 0, -1, np.array([2, 0, 1])[codes])
    a, b = checkup(table(codes)), checkup(table(turned, classes=["y", "z", "x"]))
    assert [(f.kind, f.severity, f.learners, f.leave_out) for f in a] == [
        (f.kind, f.severity, f.learners, f.leave_out) for f in b
    ]
    assert {f.kind for f in a} == {"rows_without_votes", "chance_learners", "worse_than_chance"}


class TestLearners:
    def test_two_learners_are_too_few(self):
        finding = found(table(ensemble(d=2)))["few_learners"]
        assert finding.severity == "warning"
        assert finding.numbers == {"voting_learners": 2}
        assert "few_learners" not in found(table(ensemble(d=3)))

    def test_silent_learners_do_not_count(self):
        codes = ensemble(d=3)
        codes[:, 1] = -1
        findings = found(table(codes))
        assert findings["silent_learners"].learners == ("m1",)
        assert findings["silent_learners"].leave_out == ()  # two would remain
        assert "few_learners" in findings

    def test_a_silent_learner_may_be_left_out(self):
        codes = ensemble()
        codes[:, 1] = -1
        assert only(table(codes), "silent_learners").leave_out == ("m1",)

    def test_a_constant_learner_may_be_left_out(self):
        codes = ensemble()
        codes[:, 2] = 1
        finding = only(table(codes, classes=["a", "b", "c"]), "constant_learners")
        assert (finding.severity, finding.leave_out, finding.classes) == ("warning", ("m2",), ("b",))

    @pytest.mark.parametrize(("elsewhere", "kind"), [(0.45, "one_sided_learners"), (0.55, "constant_learners")])
    def test_a_rule_is_told_from_a_constant_learner_by_where_it_votes(self, elsewhere, kind):
        rng = np.random.default_rng(1)
        truth = rng.integers(3, size=(3000, 1))
        codes = np.where(rng.random((3000, 6)) < 0.9, truth, rng.integers(3, size=(3000, 6)))
        codes[:, 2] = np.where((truth[:, 0] == 1) | (rng.random(3000) < elsewhere), 1, -1)
        finding = only(table(codes), kind)
        assert finding.leave_out == (("m2",) if kind == "constant_learners" else ())
        assert finding.numbers["elsewhere"][0] == pytest.approx(elsewhere, abs=0.04)

    def test_a_learner_with_random_blanks_that_says_one_class_is_constant(self):
        """She says spam on 88% of the rows; 40% are."""
        rng = np.random.default_rng(0)
        truth = np.where(rng.random((1200, 1)) < 0.4, 0, rng.integers(1, 4, size=(1200, 1)))
        codes = np.where(rng.random((1200, 6)) < 0.8, truth, rng.integers(4, size=(1200, 6)))
        codes[:, 5] = np.where(rng.random(1200) < 0.88, 0, -1)
        finding = only(table(codes, 4, classes=["spam", "ham", "news", "other"]), "constant_learners")
        assert (finding.severity, finding.leave_out, finding.classes) == ("warning", ("m5",), ("spam",))
        assert finding.sentence.startswith("m5 voted on 89% of the rows and said spam in all its votes, though that")

    @pytest.mark.parametrize(("favourite", "kind"), [(0.88, "constant_learners"), (0.6, "chance_learners")])
    def test_who_mostly_says_one_class_whatever_the_row_is_constant(self, favourite, kind):
        rng = np.random.default_rng(3)
        codes = ensemble(n=4000, right=0.8)
        codes[:, 5] = np.where(rng.random(4000) < favourite, 0, rng.integers(1, 3, size=4000))
        finding = only(table(codes), kind)
        assert (finding.severity, finding.leave_out) == ("warning", ("m5",))

    def test_a_good_learner_with_a_favourite_is_left_in_peace(self):
        rng = np.random.default_rng(4)
        codes = ensemble(n=4000, right=0.8)
        codes[:, 5] = np.where(rng.random(4000) < 0.7, 0, codes[:, 4])
        assert checkup(table(codes)) == ()

    def test_a_rule_that_speaks_for_one_class_is_no_fault(self):
        codes = ensemble()
        codes[:, 2] = np.where(codes[:, 2] == 1, 1, -1)
        finding = only(table(codes), "one_sided_learners")
        assert (finding.severity, finding.learners, finding.leave_out, finding.classes) == ("note", ("m2",), (), (1,))

    def test_guessing_is_found_whatever_the_label_shares(self):
        rng = np.random.default_rng(99)
        codes = ensemble()
        codes[:, 1] = rng.integers(3, size=len(codes))
        codes[:, 4] = rng.choice(3, len(codes), p=[0.6, 0.3, 0.1])
        finding = only(table(codes), "chance_learners")
        assert finding.learners == finding.leave_out == ("m1", "m4")
        assert all(low <= 0 for low in finding.numbers["low"])

    def test_guessing_beside_a_thousand_classes(self):
        codes = ensemble(n=3000, K=1000)
        codes[:, 1] = np.random.default_rng(99).integers(1000, size=len(codes))
        assert found(table(codes, 1000))["chance_learners"].learners == ("m1",)

    def test_random_learners_with_a_hint_are_as_good_as_guessing(self):
        rng = np.random.default_rng(2)
        base = condind(5000, rng=rng, n_learners=6, n_informative=6)
        votes = random_learners(base, 3, rng=rng, hint=0.001).votes
        assert found(votes)["chance_learners"].learners == ("random_1", "random_2", "random_3")

    def test_few_rows_condemn_nobody(self):
        codes = ensemble(n=12)
        codes[:, 1] = np.random.default_rng(0).integers(3, size=12)
        assert not {"chance_learners", "worse_than_chance"} & set(found(table(codes)))

    @pytest.mark.parametrize("K", [2, 5])
    def test_shifted_labels_are_worse_than_chance(self, K):
        codes = ensemble(K=K)
        codes[:, 3] = (codes[:, 3] + 1) % K
        finding = only(table(codes, K), "worse_than_chance")
        assert finding.learners == finding.leave_out == ("m3",)
        assert finding.numbers["high"][0] < 0

    def test_few_votes_tell_little_of_a_learner(self):
        codes = ensemble()
        codes[19:, 0] = -1
        finding = only(table(codes), "sparse_learners")
        assert (finding.learners, finding.numbers["votes"]) == (("m0",), (19,))

    def test_learners_that_never_meet_are_told(self):
        codes = ensemble()
        codes[:1000, :3] = -1
        codes[1000:, 3:] = -1
        finding = only(table(codes), "separate_learners")
        assert finding.numbers["groups"] == (("m0", "m1", "m2"), ("m3", "m4", "m5"))
        codes[0, 0] = 1  # one row is enough to meet
        assert "separate_learners" not in found(table(codes))


class TestCopies:
    def test_identical_learners_are_listed_and_one_of_them_stays(self):
        codes = ensemble(d=8)
        codes[:, 3], codes[:, 7], codes[:, 5] = codes[:, 1], codes[:, 1], codes[:, 0]
        finding = only(table(codes), "identical_learners")
        assert finding.numbers["groups"] == (("m0", "m5"), ("m1", "m3", "m7"))
        assert finding.leave_out == ("m3", "m5", "m7")

    def test_too_few_others_forbid_the_proposal(self):
        codes = ensemble(d=3)
        codes[:, 2] = codes[:, 1]
        finding = found(table(codes))["identical_learners"]
        assert (finding.learners, finding.leave_out) == (("m1", "m2"), ())

    def test_near_copies_are_left_to_the_guard(self):
        rng = np.random.default_rng(0)
        votes = copies_with_noise(families(4000, rng=rng, n_classes=10), 5, rng=rng, noise=0.03).votes
        finding = next(f for f in checkup(votes) if f.kind == "near_copies")
        assert (finding.severity, finding.leave_out) == ("warning", ())
        assert finding.numbers["treated"]
        assert "guard" in finding.advice
        assert all(len({name.split("_")[0] for name in group}) == 1 for group in finding.numbers["groups"])

    def test_the_guard_does_not_treat_what_would_leave_two_voices(self):
        rng = np.random.default_rng(0)
        base = ensemble(n=3000, d=2, K=10)
        codes = np.where(rng.random((3000, 8)) < 0.03, rng.integers(10, size=(3000, 8)), base[:, [0] * 4 + [1] * 4])
        finding = found(table(codes, 10))["near_copies"]
        assert not finding.numbers["treated"]
        assert "fewer than three votes" in finding.advice

    def test_a_nearly_identical_pair_is_noted(self):
        codes = ensemble()
        codes[:, 4] = np.where(np.random.default_rng(0).random(len(codes)) < 0.02, 0, codes[:, 2])
        finding = only(table(codes), "near_identical")
        assert (finding.severity, finding.numbers["pairs"]) == ("warning", (("m2", "m4"),))
        assert finding.leave_out == ("m4",)


class TestRowsAndClasses:
    def test_rows_without_votes_are_counted(self):
        codes = ensemble()
        codes[:7] = -1
        finding = only(table(codes), "rows_without_votes")
        assert (finding.severity, finding.numbers["rows"]) == ("note", 7)
        codes[:1500] = -1
        assert found(table(codes))["rows_without_votes"].severity == "warning"

    def test_two_votes_per_row_are_few(self):
        codes = ensemble(n=4000)
        start = np.random.default_rng(0).integers(6, size=4000)
        kept = (np.arange(6) - start[:, None]) % 6 < 2
        finding = found(table(np.where(kept, codes, -1)))["few_votes_per_row"]
        assert finding.numbers["votes_per_row"] == 2

    def test_unanimity_is_noted(self):
        codes = np.repeat(ensemble(d=1), 5, axis=1)
        codes[:5, :] = ensemble(n=5, d=5)
        assert found(table(codes))["unanimous_rows"].severity == "note"

    def test_one_class_for_nearly_all_rows(self):
        rng = np.random.default_rng(0)
        truth = (rng.random((5000, 1)) < 0.02).astype(int)
        codes = np.where(rng.random((5000, 6)) < 0.95, truth, 1 - truth)
        finding = only(table(codes, 2, classes=["ham", "spam"]), "imbalance")
        assert finding.classes == ("ham",)
        assert finding.numbers["share"] > 0.95

    def test_classes_that_are_rare_never_win_or_are_unused(self):
        codes = ensemble()
        codes[:10] = 3
        codes[10:12, 0] = 4
        findings = found(table(codes, 6, classes=list("abcdef")))
        assert findings["rare_classes"].classes == ("d",)
        assert findings["rare_classes"].numbers["rows"] == (10,)
        assert findings["unpredicted_classes"].classes == ("e",)
        assert findings["unpredicted_classes"].numbers["votes"] == (2,)
        assert findings["unused_classes"].classes == ("f",)


class TestSize:
    def test_few_rows_per_unit_mean_no_layer(self):
        finding = found(table(ensemble(n=150, d=6, K=3)))["few_rows"]
        assert (finding.severity, finding.numbers["needed_rows"]) == ("note", 180)
        assert "few_rows" not in found(table(ensemble(n=180, d=6, K=3)))
        assert found(table(ensemble(n=17, d=6, K=3)))["few_rows"].severity == "warning"

    def test_memory_is_told_where_it_is_much(self):
        finding = found(table(ensemble(n=1100, d=40, K=1000), 1000))["memory"]
        assert finding.numbers["total"] == finding.numbers["weights"] + finding.numbers["states"] > 1e9
        assert f"{finding.numbers['total'] / 1e9:.1f} GB" in finding.title

    def test_a_layer_costs_the_square_of_its_units_for_each_restart(self):
        shape = Shape(n_rows=10_000, n_learners=15, n_classes=100, votes_per_row=15, coverage=1)
        none, one = (training_memory(shape, TrainConfig(n_layers=layers, restarts=2)) for layers in (0, 1))
        assert one.weights - none.weights == one.layer == 3 * 2 * 1500**2 * 4


def test_warnings_come_first():
    codes = ensemble(n=150)
    codes[:, 0], codes[:3] = 1, -1
    severities = [finding.severity for finding in checkup(table(codes))]
    assert severities == sorted(severities, reverse=True)
    assert set(severities) == {"warning", "note"}


def test_many_wicked_names_are_cut_in_sentences_and_whole_in_the_list():
    codes = np.full((50, 30), -1)
    codes[:, :4] = ensemble(n=50, d=4)
    finding = found(table(codes))["silent_learners"]
    assert len(finding.learners) == 26
    assert "and 19 others" in finding.sentence


def test_every_finding_says_what_it_is():
    codes = ensemble(d=2, n=30)
    for finding in checkup(table(codes)):
        assert finding.kind in KINDS
        assert finding.sentence.endswith(".")
        assert finding.advice.endswith((".", "?"))
    with pytest.raises(InputError, match="no finding of kind"):
        Finding("nonsense", "note", "", "", "")
    with pytest.raises(dataclasses.FrozenInstanceError):
        finding.kind = "memory"


def test_no_votes_at_all_are_told_without_a_crash():
    findings = found(table(np.full((10, 3), -1)))
    assert {"silent_learners", "rows_without_votes", "few_learners"} <= set(findings)
    assert checkup(table(np.empty((0, 3), int))) == ()
