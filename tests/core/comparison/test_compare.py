"""Comparing methods: scores, budgets, what cannot run, and the sentence at the end."""

import importlib
import inspect
import itertools
import json
import time
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, f1_score

import deem_core
from deem_core import InputError, Votes, simulation
from deem_core.comparison import METHODS, Comparison, Difference, Entry, MethodResult, compare, conclusion, run
from deem_core.comparison.dependence import measure
from deem_core.comparison.result import Dependence
from deem_core.comparison.scoring import evaluate
from deem_core.comparison.verdict import APART, FEW_ROWS, TOGETHER
from deem_core.control import Control, Stopped, StopWhen
from deem_core.estimators import as_methods
from deem_core.estimators.irbm import IRBM
from deem_core.groups.panel import panel_health
from deem_core.methods import Aggregate, majority, registry
from deem_core.votes import statistics
from deem_core.votes.describe import describe
from deem_core.votes.majority import fair_hits

QUICK = ["mv", "ds", "onecoin", "la1"]


@pytest.fixture(scope="module")
def drawn():
    return simulation.tree(400, rng=np.random.default_rng(0))


@pytest.fixture(scope="module")
def found(drawn):
    return compare(drawn.votes, [*QUICK, "mean_prob"], seeds=3, expert_classes=[0], random_state=1)


def answer(votes, codes, **fields):
    """An aggregate that gives the codes."""
    posterior = np.eye(votes.n_classes)[codes]
    return Aggregate(posterior=posterior, voted=votes.votes_per_row > 0, **fields)


def stage(monkeypatch, name, method, **fields):
    """Put a method of our own into the registry."""
    made = Entry(name=name, title=name.upper(), description="", paper="", function="", **fields)
    monkeypatch.setattr(Entry, "load", lambda self: method if self.name == name else _load(self))
    monkeypatch.setitem(METHODS, name, made)


_load = Entry.load


# ---------------------------------------------------------------------- the door


def test_compare_is_the_function_whatever_was_imported_before():
    importlib.import_module("deem_core.comparison.run")
    importlib.import_module("deem_core.cli.compare")
    from deem_core import compare as imported

    assert imported is compare is deem_core.compare


def test_the_registry_holds_every_method_of_the_contract():
    assert list(METHODS) == [
        *[
            "auto",
            "mv",
            "weighted_mv",
            "gold_vote",
            "ds",
            "fds",
            "hds",
            "onecoin",
            "ordinal",
            "lsml",
            "ebcc",
            "gds",
            "safe",
            "rules",
        ],
        *["la1", "la2", "flyingsquid", "dnn_det", "dnn_sto", "hlm", "mean_prob", "geo_pool", "log_pool", "cal_pool"],
        *["irbm", "irbm_cd", "deem", "deem_soft"],
    ]
    for entry in METHODS.values():
        assert entry.title
        assert entry.description.endswith(".")
        assert entry.paper
        assert callable(entry.load())


def test_a_new_method_is_compared_and_quickly_chosen_without_further_change(monkeypatch, drawn):
    before = registry.quick()
    assert {"mv", "ds", "lsml", "deem"} <= set(before)
    assert not {"ebcc", "irbm", "hlm", "la1", "irbm_cd"} & set(before)
    told = ("The grouped model answered.",)
    stage(monkeypatch, "new", lambda votes, rng, *, control: answer(votes, drawn.truth, notes=told))
    assert registry.quick() == [*before, "new"]
    assert registry.quick(["mv", "new"]) == ["mv", "new"]
    made = compare(drawn.votes, ["mv", "new"])
    assert made["new"].note == "The grouped model answered."
    from deem_core.cli.compare import report

    assert "  new: The grouped model answered." in list(report(made))


def test_what_each_method_made_is_handed_over_once_with_its_probabilities(drawn):
    kept = {}
    made = compare(drawn.votes, ["mv", "la1", "mean_prob"], seeds=2, keep=lambda name, made: kept.update({name: made}))
    assert list(kept) == ["mv", "la1"]
    for name, own in kept.items():
        np.testing.assert_array_equal(own.codes, made.labels[name])
        assert own.posterior.shape == (400, 3)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"methods": ["mv", "magic"]}, "no method 'magic'; choose from auto, mv, "),
        ({"methods": []}, "No method was named"),
        ({"seeds": 0}, "seeds is 0"),
        ({"budget": 0}, "budget is 0"),
        ({"expert_classes": ["9"]}, "no class '9'"),
        ({"methods": ["mv", "deem"], "device": "cuda:63"}, "no device 'cuda:63' on this machine"),
        ({"methods": ["mv", "deem"], "device": "gpu"}, "no device 'gpu'"),
    ],
)
def test_what_makes_no_sense_is_refused(drawn, asked, sentence):
    with pytest.raises(InputError, match=sentence):
        compare(drawn.votes, **{"methods": "mv", **asked})


def test_the_device_is_told_to_those_who_train_there(drawn, monkeypatch):
    told = []

    def fake(votes, rng, *, control=None, device="auto"):
        told.append(device)
        return majority.aggregate(votes, rng)

    monkeypatch.setattr(as_methods, "deem", fake)
    made = compare(drawn.votes, ["mv", "deem"], seeds=1, device="cpu")
    assert [method.ran for method in made.methods] == [True, True]
    assert told == ["cpu"]


def test_every_method_for_gpus_takes_a_device():
    for item in registry.METHODS.values():
        assert ("device" in inspect.signature(item.load()).parameters) == item.on_gpu


def test_arrays_are_votes_too():
    assert compare(np.array([[0, 1, 1], [1, 1, 0]]), "mv").n_rows == 2


# ---------------------------------------------------------------------- scores


@pytest.mark.parametrize("seed", range(3))
def test_scores_are_those_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(5, size=300)
    labels = np.where(rng.random((2, 300)) < 0.6, truth, rng.integers(4, size=(2, 300)))
    made = statistics.scores(labels, truth, 5, rng)
    assert made.means["accuracy"] == pytest.approx((labels == truth).mean())
    assert made.means["balanced_accuracy"] == pytest.approx(
        np.mean([balanced_accuracy_score(truth, own) for own in labels])
    )
    macro = [f1_score(truth, own, average="macro") for own in labels]
    assert made.means["macro_f1"] == pytest.approx(np.mean(macro))
    assert made.stds["macro_f1"] == pytest.approx(np.std(macro))
    np.testing.assert_allclose(made.recalls[2], (labels == truth)[:, truth == 2].mean())


def test_rows_without_label_are_wrong_and_rows_without_truth_do_not_count():
    made = statistics.scores(np.array([[0, -1, 1, 1]]), np.array([0, 0, 1, -1]), 3, np.random.default_rng(0))
    assert made.means["accuracy"] == pytest.approx(2 / 3)
    assert made.means["balanced_accuracy"] == pytest.approx(0.75)
    np.testing.assert_array_equal(made.recalls, [0.5, 1, np.nan])


def test_intervals_are_near_those_of_a_bootstrap_over_rows():
    rng = np.random.default_rng(1)
    truth = rng.integers(3, size=400)
    labels = np.where(rng.random((1, 400)) < 0.7, truth, rng.integers(3, size=(1, 400)))
    made = statistics.scores(labels, truth, 3, rng)
    rows = rng.integers(400, size=(2000, 400))
    macro = [f1_score(truth[own], labels[0, own], average="macro") for own in rows[:400]]
    accuracy = (labels[0][rows] == truth[rows]).mean(axis=1)
    np.testing.assert_allclose(made.intervals["accuracy"], np.quantile(accuracy, [0.025, 0.975]), atol=0.012)
    np.testing.assert_allclose(made.intervals["macro_f1"], np.quantile(macro, [0.025, 0.975]), atol=0.015)


def test_the_interval_of_a_paired_difference_is_narrower_than_unpaired_ones():
    rng = np.random.default_rng(2)
    truth = rng.integers(2, size=1000)
    one = np.where(rng.random(1000) < 0.7, truth, 1 - truth)[None]
    other = one.copy()
    other[0, :20] = truth[:20]
    difference, low, high = statistics.paired_difference(other, one, truth)
    assert difference == pytest.approx((other == truth).mean() - (one == truth).mean())
    assert -0.002 < low <= difference <= high < 0.02
    difference, low, high = statistics.paired_difference(one, one, truth)
    assert low < difference == 0 < high < 0.004


def test_a_fair_vote_scores_what_the_mean_of_all_draws_scores():
    """The draws of one tied row are as likely as each other, so their mean over all choices is the expectation."""
    votes = Votes(
        np.array([[0, 1, 1], [0, 1, 2], [2, 0, -1], [2, 2, 2], [-1, -1, -1], [1, 0, -1]]),
        np.arange(3),
        list("abc"),
        truth=np.array([1, 2, 1, 2, 0, -1]),
    )
    choices = [[1], [0, 1, 2], [0, 2], [2], [-1], [0, 1]]
    draws = np.array(list(itertools.product(*choices)), np.int32)
    rng = np.random.default_rng(0)
    fair = statistics.scores(statistics.FairVote.of(votes), votes.truth, 3, rng)
    drawn = statistics.scores(draws, votes.truth, 3, rng)
    assert fair.means["accuracy"] == pytest.approx(drawn.means["accuracy"]) == pytest.approx((2 + 1 / 3) / 5)
    assert fair.means["balanced_accuracy"] == pytest.approx(drawn.means["balanced_accuracy"])
    np.testing.assert_allclose(fair.recalls, drawn.recalls)
    difference, *_ = statistics.paired_difference(draws[:1], statistics.FairVote.of(votes), votes.truth)
    assert difference == pytest.approx((draws[0] == votes.truth)[:5].mean() - (2 + 1 / 3) / 5)


def test_a_fair_vote_without_ties_is_scored_like_its_labels():
    rng = np.random.default_rng(0)
    codes = rng.integers(3, size=(300, 1)).repeat(3, axis=1)
    votes = Votes(codes, np.arange(3), list("abc"), truth=rng.integers(3, size=300))
    fair, plain = (
        statistics.scores(one, votes.truth, 3, np.random.default_rng(1))
        for one in (statistics.FairVote.of(votes), codes[:, 0][None])
    )
    assert (fair.means, fair.intervals) == (plain.means, plain.intervals)


def test_the_accuracy_of_the_majority_vote_does_not_depend_on_the_order_of_the_classes(drawn):
    votes = drawn.votes
    turned = Votes(
        np.where(votes.codes >= 0, 2 - votes.codes, -1), votes.classes, votes.learners, truth=2 - votes.truth
    )
    one, other = compare(votes, ["mv", "ds"]), compare(turned, ["mv", "ds"])
    assert one["mv"].accuracy == pytest.approx(other["mv"].accuracy)
    assert one["mv"].first_class_accuracy != pytest.approx(other["mv"].first_class_accuracy)
    assert one["ds"].versus["mv"].difference == pytest.approx(other["ds"].versus["mv"].difference)


def test_every_method_is_scored_on_the_same_rows(drawn, found):
    votes = drawn.votes
    for name in QUICK:
        method, labels = found[name], found.labels[name]
        if not method.stochastic:
            right = (labels == votes.truth).mean()
            assert method.accuracy == pytest.approx(describe(votes).majority_accuracy if name == "mv" else right)
            assert method.first_class_accuracy == (pytest.approx(right) if name == "mv" else None)
            assert method.std == {}
            assert method.stability is None
        low, high = method.intervals["accuracy"]
        assert low <= method.accuracy <= high
        shares = np.array([method.expert_accuracy, method.rest_accuracy])
        weights = np.array([(votes.truth == 0).mean(), (votes.truth != 0).mean()])
        assert shares @ weights == pytest.approx(method.accuracy)
        np.testing.assert_allclose(method.shares, np.bincount(labels, minlength=3) / 400)
        assert method.seconds > 0
        assert method.memory_bytes >= 0
    assert found["la1"].seeds == 3
    assert set(found["la1"].std) == set(statistics.NAMES)
    assert 0.8 < found["la1"].stability <= 1
    assert found["ds"].versus["mv"].difference == pytest.approx(found["ds"].accuracy - found["mv"].accuracy)


def test_single_learners_stand_beside(drawn, found):
    hits = (drawn.votes.codes == drawn.truth[:, None]).mean(axis=0)
    assert found.best_learner == drawn.votes.learners[hits.argmax()]
    assert found.best_learner_accuracy == pytest.approx(hits.max())
    assert found.average_learner_accuracy == pytest.approx(hits.mean())


def test_recall_differences_are_per_class(drawn, found):
    told = found.recall_differences("ds", "mv")
    for k, label in enumerate(drawn.votes.classes):
        rows = drawn.truth == k
        fair = fair_hits(drawn.votes.codes, drawn.votes.majority_vote, drawn.truth)
        assert told[str(label)] == pytest.approx((found.labels["ds"] == k)[rows].mean() - fair[rows].mean())
    with pytest.raises(InputError, match="needs the truth"):
        found.recall_differences("ds", "mean_prob")


def test_truth_that_nobody_votes_for_counts_as_wrong():
    votes = Votes.from_labels([["a", "a", "b"], ["b", "b", "b"]], truth=["a", "c"])
    made = compare(votes, "mv")
    assert made["mv"].accuracy == 0.5
    assert made.classes == ["a", "b", "c"]
    assert made["mv"].recalls == [1, None, 0]


def test_alarms_stand_with_the_method_that_raised_them_and_those_of_the_file_apart(monkeypatch, drawn):
    votes = drawn.votes
    turned = (votes.majority_vote.codes + 1) % 3
    stage(monkeypatch, "astray", lambda votes, rng, *, control: answer(votes, turned))
    made = compare(votes, ["mv", "astray"])
    assert made["mv"].alarms == ()
    assert {alarm.kind for alarm in made["astray"].alarms} >= {"far from the votes", "overruled"}
    assert made.alarms == ()
    assert Comparison.from_dict(json.loads(json.dumps(made.to_dict())))["astray"].alarms == made["astray"].alarms
    silent = Votes(np.vstack([votes.codes, np.full((1, 12), -1)]), votes.classes, votes.learners)
    assert [alarm.kind for alarm in compare(silent, ["mv"]).alarms] == ["silent rows"]


# ---------------------------------------------------------------------- without truth


def test_without_truth_agreement_shares_and_disputes_remain(drawn):
    made = compare(drawn.votes.without_truth(), QUICK, seeds=2)
    assert made.n_truth == 0
    assert all(method.accuracy is None and not method.versus for method in made.methods)
    table = np.stack([made.labels[name] for name in QUICK])
    np.testing.assert_allclose(made.agreement.matrix, (table[:, None] == table[None]).mean(axis=2))
    differ = (table != table[0]).any(axis=0)
    assert made.n_disputed == differ.sum() == len(made.disputed)
    assert {row.row - 1 for row in made.disputed} == set(np.flatnonzero(differ))
    agreeing = [row.agreeing for row in made.disputed]
    assert agreeing == sorted(agreeing)
    first = made.disputed[0]
    assert [first.labels[name] for name in QUICK] == [str(made.labels[name][first.row - 1]) for name in QUICK]


def test_the_truth_reaches_no_method(monkeypatch, drawn):
    seen = []
    stage(monkeypatch, "spy", lambda votes, rng, *, control: seen.append(votes.truth) or answer(votes, drawn.truth))
    compare(drawn.votes, ["spy"])
    assert seen == [None]


# ---------------------------------------------------------------------- budgets, faults, control


def test_a_method_that_cannot_run_is_listed_with_its_reason(found):
    method = found["mean_prob"]
    assert not method.ran
    assert method.accuracy is method.seconds is method.iterations is None
    assert "use soft votes" in method.note
    assert "mean_prob" not in found.agreement.names


def test_a_fault_in_one_method_costs_only_that_one(monkeypatch, drawn):
    def broken(votes, rng, *, control):
        raise ZeroDivisionError("by nothing")

    stage(monkeypatch, "broken", broken)
    made = compare(drawn.votes, ["broken", "mv"])
    assert made["broken"].note == "It failed: ZeroDivisionError: by nothing"
    assert made["mv"].ran


def test_the_budget_cuts_runs_and_seeds_and_says_so(monkeypatch, drawn):
    def endless(votes, rng, *, control):
        while not control.stopped():
            time.sleep(0.01)
        return answer(votes, drawn.truth, cut=True, converged=False, notes=("Cut by the time limit.",))

    stage(monkeypatch, "endless", endless, stochastic=True)
    method = compare(drawn.votes, ["endless"], seeds=3, budget=0.1)["endless"]
    assert method.cut
    assert method.seeds == 1
    assert "Cut by the time limit. 1 of 3 seeds within 0.1 s." in method.note
    assert method.seconds < 1


def test_what_cannot_be_cut_runs_in_fewer_seeds(monkeypatch, drawn):
    def steady(votes, rng, *, control):
        time.sleep(0.1)
        assert not control.stopped()
        return answer(votes, drawn.truth)

    stage(monkeypatch, "steady", steady, stochastic=True, whole=True)
    method = compare(drawn.votes, ["steady"], seeds=5, budget=0.05)["steady"]
    assert (method.seeds, method.cut) == (1, True)
    assert "longer than the budget of 0.05 s; the first one was finished" in method.note


def test_a_comparison_that_is_stopped_ends_at_once(drawn):
    class Button(Control):
        pressed = False

        def stopped(self):
            return self.pressed

    button, seen = Button(), []

    def watch(progress):
        seen.append(progress)
        button.pressed = progress.name == "ds"

    with pytest.raises(Stopped):
        compare(drawn.votes, ["mv", "ds", "la1"], control=button, watch=watch)
    assert [progress.name for progress in seen if progress.result] == ["mv"]


def test_progress_tells_methods_and_seeds(drawn):
    seen = []
    compare(drawn.votes, ["mv", "la1"], seeds=2, watch=seen.append)
    assert [(p.name, p.seed, p.result is not None) for p in seen] == [
        ("mv", 0, False),
        ("mv", 1, True),
        ("la1", 0, False),
        ("la1", 1, False),
        ("la1", 2, True),
    ]
    assert [p.share for p in seen] == pytest.approx([0, 1 / 3, 1 / 3, 2 / 3, 1])  # both cost about the same


def test_the_same_number_gives_the_same_comparison(drawn):
    one, other = (compare(drawn.votes, QUICK, seeds=2, random_state=7) for _ in range(2))
    for a, b in zip(one.methods, other.methods, strict=True):
        assert replace(a, seconds=0, memory_bytes=0) == replace(b, seconds=0, memory_bytes=0)


def test_memory_that_a_method_takes_is_seen(monkeypatch, drawn):
    def hungry(votes, rng, *, control):
        block = np.ones(20_000_000)
        time.sleep(0.1)
        return answer(votes, drawn.truth, notes=(str(block[0]),))

    stage(monkeypatch, "hungry", hungry)
    assert 1.2e8 < compare(drawn.votes, ["hungry"])["hungry"].memory_bytes < 4e8


# ---------------------------------------------------------------------- DEEM and the iRBM


def test_the_exact_irbm_is_that_of_the_estimator(drawn):
    rng = np.random.default_rng(0)
    made = registry.aggregate("irbm", drawn.votes, rng)
    theirs = IRBM(random_state=0).fit(drawn.votes).fuse_codes(drawn.votes.codes)
    np.testing.assert_allclose(made.posterior, theirs, atol=1e-6)
    assert "Dawid-Skene run longer" in made.notes[0]


def test_the_trained_models_answer_and_stop(monkeypatch):
    votes = simulation.tree(120, rng=np.random.default_rng(1)).votes
    from deem_core.estimators import as_methods

    short = {"updates": 10, "restarts": 1, "batch_size": 60}
    for name, kind in (("DEEM", as_methods.DEEM), ("IRBM", as_methods.IRBM)):
        monkeypatch.setattr(as_methods, name, lambda kind=kind, **asked: kind(**asked, **short))
    made = compare(votes, ["deem", "irbm_cd"], seeds=2)
    for method in made.methods:
        assert method.seeds == 2
        assert method.iterations == 10
        assert 0 <= method.accuracy <= 1
    with pytest.raises(Stopped):
        as_methods.deem(votes, np.random.default_rng(0), control=StopWhen(lambda: True))


# ---------------------------------------------------------------------- files


def test_a_comparison_survives_json(found):
    content = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert {"name", "seconds", "iterations", "accuracy", "macro_f1", "note"} <= set(content["methods"][0])
    assert set(content["agreement"]) == {"names", "matrix"}
    assert content["conclusion"] == conclusion(found)
    assert "labels" not in content
    assert content["dependence"]["error_rows"] == 400
    older = {name: value for name, value in content.items() if name != "dependence"}
    assert Comparison.from_dict(older) == replace(found, dependence=None)
    back = Comparison.from_dict(content)
    assert back == found
    assert back.recall_differences("ds", "mv") == found.recall_differences("ds", "mv")
    with_labels = Comparison.from_dict(json.loads(json.dumps(found.to_dict(labels=True))))
    np.testing.assert_array_equal(with_labels.labels["ds"], found.labels["ds"])


def test_methods_are_ranked_by_accuracy(found):
    ranked = [method.accuracy for method in found.ranked()]
    assert ranked == sorted(ranked, reverse=True)
    assert len(ranked) == len(QUICK)


# ---------------------------------------------------------------------- the sentence


def staged(right, *, with_truth=True, n=1000):
    """A comparison with methods that are right on a share of the rows; majority vote is right on 80%."""
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=n).astype(np.int32)
    flip = {name: rng.permutation(n) < round((1 - share) * n) for name, share in {"mv": 0.8, **right}.items()}
    labels = {name: np.where(wrong, 1 - truth, truth).astype(np.int32) for name, wrong in flip.items()}
    votes = Votes(np.repeat(labels["mv"][:, None], 3, axis=1), [0, 1], ["a", "b", "c"], truth=truth)
    votes = votes if with_truth else votes.without_truth()
    results = [MethodResult(name=name, title=METHODS[name].title, stochastic=False, seeds=1) for name in labels]
    made = evaluate(votes, results, {name: own[None] for name, own in labels.items()}, [], budget=None, random_state=0)
    return replace(made, dependence=measured(votes))


def test_a_gain_is_told_with_its_interval():
    said = conclusion(staged({"deem": 0.9}))
    assert said.startswith("DEEM is better than majority vote here: 90.0% against 80.0% right, ")
    assert "a difference of +10.0 points (95% interval +" in said


def test_a_difference_that_may_be_none_makes_majority_vote_just_as_good():
    said = conclusion(staged({"deem": 0.801}, n=10_000))
    assert said.startswith("Majority vote is just as good as DEEM here: 80.0% right against 80.1%, ")
    assert said.endswith("The simpler rule is enough.")


def test_a_subject_that_answers_by_the_majority_vote_is_not_compared_with_it():
    made = staged({"deem": 0.8})
    same = replace(made, agreement=replace(made.agreement, matrix=[[1.0, 1.0], [1.0, 1.0]]))
    assert conclusion(same) == "DEEM gives the labels of the majority vote here: 80.0% right."
    assert "gives the labels" not in conclusion(made)


def test_too_few_true_labels_are_not_taken_for_equality():
    few = staged({"deem": 0.9}, n=40)
    assert few["deem"].versus["mv"].low < 0 < few["deem"].versus["mv"].high
    said = conclusion(few)
    assert said.startswith(
        "40 rows with known truth are too few to tell DEEM from majority vote: 90.0% against 80.0% right"
    )
    assert "just as good" not in said
    assert said.endswith("More true labels would tell; until then the simpler rule is enough.")


def lost(rho, *, rows=1000, best=0.9, average=0.7):
    """A comparison that DEEM loses, with errors of learners that correlate so much."""
    found = Dependence(error_correlation=rho, error_rows=rows)
    return replace(
        staged({"deem": 0.7}), dependence=found, best_learner_accuracy=best, average_learner_accuracy=average
    )


def test_a_loss_is_told_with_the_dependence_that_was_measured():
    said = conclusion(staged({"deem": 0.7}))  # its learners are copies of each other
    assert said.startswith("DEEM is worse than majority vote here: 70.0% against 80.0% right")
    assert "Learners make the same mistakes here: errors of two learners correlate 1.00 on average." in said
    assert "use the majority vote" in said
    assert "independent" not in said


@pytest.mark.parametrize(
    ("rho", "claim"),
    [
        (0.6, "make the same mistakes here: errors of two learners correlate 0.60"),
        (TOGETHER, "make the same mistakes here"),
        (TOGETHER - 0.001, "share some mistakes"),
        (APART + 0.001, "share some mistakes"),
        (APART, "make nearly independent mistakes here: errors of two learners correlate 0.05"),
        (-0.001, "make nearly independent mistakes here: errors of two learners correlate 0.00"),
    ],
)
def test_what_is_said_of_dependence_follows_from_the_number(rho, claim):
    said = conclusion(lost(rho))
    assert f"Learners {claim}" in said
    assert ("independent" in said) == (rho <= APART)


def test_few_true_labels_call_nobody_independent():
    assert "nearly independent mistakes" in conclusion(lost(0.01, rows=FEW_ROWS))
    said = conclusion(lost(0.01, rows=FEW_ROWS - 1))
    assert "on 399 rows with known truth, too few to call them independent" in said
    assert "could not be measured" in conclusion(lost(None))
    assert "could not be measured" in conclusion(replace(lost(0.0), dependence=None))


def test_similar_skill_is_claimed_only_where_it_was_measured():
    assert "similar skill (the best 74.0% right, the average one 70.0%)" in conclusion(lost(0.0, best=0.74))
    assert "similar skill" not in conclusion(lost(0.0, best=0.76))


def test_errors_of_independent_learners_do_not_correlate_and_those_of_copies_do():
    votes = simulation.condind(3000, rng=np.random.default_rng(0)).votes
    found = measured(votes)
    assert abs(found.error_correlation) < 0.02
    assert found.rho_others < 0.1
    assert found.error_rows == 3000
    copied = np.repeat(votes.codes[:, :4], 3, axis=1)
    copies = Votes(copied, votes.classes, [f"c{at}" for at in range(12)], truth=votes.truth)
    among = measured(copies)
    assert among.error_correlation == pytest.approx((12 * 1 + 54 * found_mean(votes.codes[:, :4], votes.truth)) / 66)
    assert among.n_eff < found.n_eff


def measured(votes):
    rng = np.random.default_rng(0)
    return measure(votes, panel_health(votes, rng), rng)


def test_rows_of_unknown_truth_do_not_count_among_errors(drawn):
    truth = drawn.truth.astype(np.int32).copy()
    truth[100:] = -1
    found = measured(replace(drawn.votes, truth=truth))
    assert found.error_rows == 100
    assert found.error_correlation == pytest.approx(found_mean(drawn.votes.codes[:100], truth[:100]))


def found_mean(codes, truth):
    """The mean correlation of errors by NumPy."""
    table = np.corrcoef((codes != truth[:, None]).T)
    return table[np.triu_indices(len(table), 1)].mean()


def test_without_truth_dependence_is_that_of_votes_and_no_errors_are_spoken_of(drawn):
    made = compare(drawn.votes.without_truth(), ["mv", "ds"])
    assert made.dependence.error_correlation is None
    assert made.dependence == replace(compare(drawn.votes, ["mv"]).dependence, error_correlation=None, error_rows=0)
    said = conclusion(made)
    assert f"with a correlation of {made.dependence.rho_others:.2f}" in said
    assert f"12 votes a row are worth about {made.dependence.n_eff:.1f} independent ones." in said
    assert "err " not in said
    assert "go against" not in conclusion(replace(made, dependence=None))
    assert "go against" not in conclusion(replace(made, dependence=Dependence(votes_per_row=12.0)))


def test_the_conclusion_is_about_auto_where_it_ran(monkeypatch):
    titled = replace(METHODS["mv"], name="auto", title="Automatic")
    monkeypatch.setitem(METHODS, "auto", titled)
    said = conclusion(staged({"auto": 0.9, "deem": 0.7, "ds": 0.97}))
    assert said.startswith("Automatic is better than majority vote here: 90.0% against 80.0% right")
    assert said.endswith("Dawid-Skene does better than Automatic: 97.0%.")


def test_without_truth_nothing_is_claimed():
    said = conclusion(staged({"deem": 0.9}, with_truth=False))
    assert said.startswith("Without true labels there is no telling")
    assert "give the same label on " in said
    assert "better than majority vote here: " not in said
    same = staged({"deem": 0.9}, with_truth=False)
    same = replace(same, n_disputed=0)
    assert "it makes no difference which one is used" in conclusion(same)


def test_a_rival_that_is_surely_better_is_named():
    said = conclusion(staged({"deem": 0.85, "ds": 0.95, "la1": 0.9}))
    assert said.endswith("Dawid-Skene does better than DEEM: 95.0%.")
    assert "does better" not in conclusion(staged({"deem": 0.9, "ds": 0.905}))
    assert "LA in two passes does better than DEEM: 95.0%." in conclusion(staged({"deem": 0.85, "la2": 0.95}))
    assert "does better" not in conclusion(staged({"deem": 0.5, "ds": 0.6}))  # both are below the majority vote


def test_without_deem_the_best_other_method_is_told():
    assert "Dawid-Skene is better than majority vote: 95.0% right" in conclusion(staged({"ds": 0.95}))
    assert "No method here is clearly better" in conclusion(staged({"ds": 0.8}))
    assert conclusion(staged({})) == "DEEM was not among the methods. Majority vote is right on 80.0% of the rows."


def test_a_small_sure_gain_counts_before_a_larger_one_that_may_be_luck():
    found = staged({"ds": 0.95, "onecoin": 0.9})
    unsure = replace(found["ds"], versus={"mv": Difference(0.15, -0.01, 0.3)})
    found = replace(found, methods=tuple(unsure if one.name == "ds" else one for one in found.methods))
    assert "One-coin Dawid-Skene is better than majority vote: 90.0% right" in conclusion(found)


def test_the_conclusion_of_a_real_comparison_is_a_sentence(found):
    assert conclusion(found).startswith("DEEM was not among the methods. ")


def test_budget_of_the_command_line_is_that_of_the_library():
    from deem_core.cli import compare as command

    assert command.BUDGET == run.BUDGET
