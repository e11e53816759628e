"""Runs of a comparison as pieces of work: trips, orders, budgets, and going on from runs that are done."""
# ruff: noqa: S301, S311

import json
import pickle
import random
import zlib
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice, permutations

import numpy as np
import pytest

from deem_core import Votes, simulation
from deem_core.answers.alarms import file_health
from deem_core.answers.stored import LabelsOnly, table
from deem_core.comparison import CLUSTER_SECONDS, METHODS, MethodResult, compare, run
from deem_core.comparison.piece import Outcome, Piece, RunShare, Shared, run_method
from deem_core.comparison.progress import Board, Line
from deem_core.control import Control, Saved, Stopped
from deem_core.engine import Done, Node, Told
from deem_core.estimators import as_methods
from deem_core.methods import majority, registry

QUICK = ["mv", "ds", "la1", "la2", "mean_prob"]


class Scattered:
    """An engine whose pieces travel through pickle, side by side, and end in an order drawn by chance."""

    wish, remote, gpus = "ray", True, 0.0

    def __init__(self, seed=0, side_by_side=4):
        self.chance, self.side_by_side = random.Random(seed), side_by_side
        self.bytes, self.pieces, self.keys = [], [], []

    @contextmanager
    def crew(self, *, gpu=False):
        self.gpu = gpu
        yield self

    def nodes(self):
        return [Node("here", 1, 0)]

    def run(self, work, pieces, shared=None, *, control, live=None, wanted=lambda at: True, keys=None):
        cargo = pickle.dumps((work, shared))
        waiting = ((at, piece) for at, piece in enumerate(pieces) if wanted(at))
        while batch := list(islice(waiting, self.side_by_side)):
            self.chance.shuffle(batch)
            made = []
            for at, piece in batch:
                self.pieces.append(piece)
                work, shared = pickle.loads(cargo)
                task = work(shared, pickle.loads(pickle.dumps(piece)), control)
                yield Told(at, next(task))
                with pytest.raises(StopIteration) as end:
                    next(task)
                made.append((at, pickle.dumps(end.value.value)))
            self.chance.shuffle(made)
            for at, value in made:
                self.bytes.append(len(value))
                yield Done(at, pickle.loads(value))


class Shelf(Control):
    """A control that keeps checkpoints as files would, and stops after some of them."""

    keeps = True

    def __init__(self, stop_after=10**9):
        self.kept, self.stop_after, self.shares, self.steps = {}, stop_after, [], []

    def stopped(self):
        return len(self.kept) >= self.stop_after

    def tell(self, step, share, record=None):
        self.shares.append(share)
        self.steps.append(step)

    def save(self, key, saved):
        self.kept[key] = (json.dumps(saved.notes), {name: array.tobytes() for name, array in saved.arrays.items()})
        self.arrays = {**getattr(self, "arrays", {}), key: dict(saved.arrays)}

    def load(self, key):
        return Saved({}, json.loads(self.kept[key][0]), self.arrays[key]) if key in self.kept else None


@pytest.fixture(scope="module")
def drawn():
    return simulation.tree(300, rng=np.random.default_rng(0))


@pytest.fixture
def short_trainings(monkeypatch):
    for name, kind in (("DEEM", as_methods.DEEM), ("IRBM", as_methods.IRBM), ("SoftDEEM", as_methods.SoftDEEM)):
        light = {"updates": 10, "restarts": 1, "batch_size": 60}
        monkeypatch.setattr(as_methods, name, lambda kind=kind, light=light, **asked: kind(**asked, **light))


def told(found):
    """Everything that a comparison tells, except what it cost and where it ran."""
    methods = tuple(replace(one, seconds=0.0, memory_bytes=0) for one in found.methods)
    return replace(found, methods=methods, on_cluster=False).to_dict(labels=True)


def same(one, other):
    assert told(one) == told(other)
    assert list(one.labels) == list(other.labels)
    for name, codes in one.labels.items():
        assert codes.dtype == other.labels[name].dtype == np.int32
        np.testing.assert_array_equal(codes, other.labels[name])


# ---------------------------------------------------------------------- trips


def soft_votes():
    return Votes.from_soft(np.random.default_rng(1).dirichlet(np.full(3, 0.5), size=(80, 4)))


def scale_votes():
    return Votes.from_labels(np.random.default_rng(2).integers(1, 5, (80, 4)).astype(str)).as_ordered(True)


@pytest.mark.parametrize("kind", ["classes", "soft", "scale", "gold"])
def test_every_method_survives_the_trip_to_another_machine(drawn, short_trainings, kind):
    votes = {"soft": soft_votes, "scale": scale_votes}.get(kind, lambda: drawn.votes.select_rows(slice(0, 120)))()
    if kind == "gold":
        votes = votes.with_gold({row: votes.classes[drawn.truth[row]] for row in range(0, 120, 9)})
    here, there = {}, {}
    names = {
        "classes": [name for name, item in METHODS.items() if not (item.soft or item.ordered)],
        "soft": ["auto", *(name for name, item in METHODS.items() if item.soft)],
        "scale": ["auto", "ordinal", "ds"],
        "gold": ["auto", "gold_vote", "ds", "mv"],
    }[kind]
    asked = {"seeds": 1, "random_state": 3, "budget": None, "device": "cpu"}
    local = compare(votes, names, **asked, keep=here.__setitem__, on="local")
    away = compare(votes, names, **asked, keep=there.__setitem__, on=Scattered())
    same(local, away)
    needs = {"soft": "deem_soft", "scale": "ordinal", "gold": "gold_vote"}.get(kind, "deem")
    assert local[needs].ran
    assert list(here) == list(there)
    for name, answer in here.items():
        np.testing.assert_array_equal(answer.posterior, there[name].posterior)
        assert answer.alarms == there[name].alarms
        assert (answer.notes, answer.answered_by) == (there[name].notes, there[name].answered_by)


def test_what_travels_is_what_a_comparison_needs(drawn):
    votes = drawn.votes.without_truth()
    assert votes.distinct.codes.size + votes.majority_vote.codes.size > 0  # computed, and held by the votes
    shared = Shared(votes=votes, health=file_health(votes), budget=np.inf, device="cpu", kept="codes")
    assert not set(vars(pickle.loads(pickle.dumps(shared)).votes)) - set(Votes.__dataclass_fields__)
    engine = Scattered()
    compare(drawn.votes, ["ds", "la1"], seeds=3, on=engine)
    assert max(engine.bytes) < 300 + 2500  # a byte a row, and sentences
    compare(drawn.votes, ["ds"], keep=lambda name, answer: None, on=engine)
    assert engine.bytes[-1] > 300 * 3 * 8


def test_a_run_has_the_random_numbers_of_its_seed():
    for number, sequence in enumerate(np.random.SeedSequence([7, zlib.crc32(b"la1")]).spawn(3)):
        drawn = np.random.default_rng(sequence).integers(10**9)
        assert Piece("la1", number, 7).rng().integers(10**9) == drawn


# ---------------------------------------------------------------------- orders


@pytest.mark.parametrize("seed", range(5))
def test_nothing_depends_on_which_run_ends_first(drawn, seed):
    handed, expected = [], []
    local = compare(drawn.votes, QUICK, seeds=3, keep=lambda name, _: expected.append(name), on="local")
    away = compare(
        drawn.votes, QUICK, seeds=3, keep=lambda name, _: handed.append(name), on=Scattered(seed, side_by_side=9)
    )
    same(local, away)
    assert handed == expected == ["mv", "ds", "la1", "la2"]
    assert (local.on_cluster, away.on_cluster) == (False, True)


def test_on_a_cluster_the_longest_runs_are_begun_first(drawn):
    engine = Scattered(side_by_side=1)
    compare(drawn.votes, ["mv", "ebcc", "auto"], seeds=2, on=engine)
    assert engine.pieces[0].name in ("ebcc", "auto")
    assert [piece.number for piece in engine.pieces if piece.name == "ebcc"] == [0, 1]
    assert engine.pieces[-1].name == "mv"


def test_a_cluster_trains_on_processors_unless_a_gpu_is_named(drawn, monkeypatch):
    devices = []

    def fake(votes, rng, *, control, device):
        devices.append(device)
        return majority.aggregate(votes, rng)

    monkeypatch.setattr(as_methods, "deem", fake)
    engine = Scattered()
    compare(drawn.votes, ["mv", "deem"], seeds=1, on=engine)
    assert (devices, engine.gpu) == (["cpu"], False)
    compare(drawn.votes, ["mv", "deem"], seeds=1, device="cuda", on=engine)  # this machine may have none
    assert (devices, engine.gpu) == (["cpu", "cuda"], True)
    with pytest.raises(run.InputError, match="no device 'gpu'"):
        compare(drawn.votes, ["mv", "deem"], device="gpu", on=engine)


# ---------------------------------------------------------------------- budgets


def took(seconds, *, cut=False, trouble=""):
    return Outcome(seconds=seconds, cut=cut, trouble=trouble, arrays={} if trouble else {"codes": np.zeros(1, np.int8)})


@pytest.mark.parametrize(
    ("runs", "budget", "accepted"),
    [
        ([took(4), took(4), took(4)], 12, 3),
        ([took(4), took(4), took(4)], 11.9, 2),  # the third would not fit
        ([took(4), took(4.1), took(1)], 12, 2),  # nor would one as long as the longest, however short it was
        ([took(4), took(9), took(1)], 12, 1),  # the second took more than was left
        ([took(4), took(8), took(1)], 12, 2),
        ([took(13), took(1), took(1)], 12, 1),  # the first always counts
        ([took(4, cut=True), took(1), took(1)], 12, 1),
        ([took(4), took(1, cut=True), took(1)], 12, 1),
        ([took(4), took(1, trouble="No."), took(1)], 12, 1),
        ([took(4, trouble="No."), took(1), took(1)], 12, 0),
        ([took(4), took(9), took(99)], np.inf, 3),
    ],
)
def test_runs_are_accepted_in_the_order_of_their_seeds_while_they_fit(runs, budget, accepted):
    whole = run._Accepted.of(dict(enumerate(runs)), 3, budget)
    assert (whole.runs, whole.settled) == (runs[:accepted], True)
    for order in permutations(range(3)):
        known = {}
        for number in order:
            before = run._Accepted.of(known, 3, budget)
            assert before.runs == runs[: len(before.runs)]
            if before.settled:  # then nothing that comes later changes it
                assert (before.runs, before.trouble) == (whole.runs, whole.trouble)
            assert before.spent <= whole.spent or before.settled
            known[number] = runs[number]
        assert run._Accepted.of(known, 3, budget).runs == whole.runs


def test_a_run_that_is_missing_settles_nothing():
    assert not run._Accepted.of({1: took(1), 2: took(1)}, 3, 12).settled
    assert not run._Accepted.of({0: took(1), 2: took(1)}, 3, 12).settled
    assert run._Accepted.of({0: took(7)}, 3, 12).settled


def test_a_run_may_take_what_those_before_it_left(drawn, monkeypatch):
    left = []

    def fake(shared, piece, control):
        yield None
        left.append((piece.name, piece.number, piece.left))
        return took(4.0)

    monkeypatch.setattr(run, "run_method", fake)
    compare(drawn.votes.select_rows(slice(0, 1)), ["la1", "gds"], seeds=4, budget=10, on="local")
    assert left == [("la1", 0, 10), ("la1", 1, 6), ("gds", 0, np.inf), ("gds", 1, 6)]


# ---------------------------------------------------------------------- going on


@pytest.mark.parametrize("engine", [lambda: "local", lambda: Scattered(1, side_by_side=3)])
@pytest.mark.parametrize("probabilities", [True, False])
def test_a_comparison_goes_on_from_the_runs_that_are_done(drawn, engine, probabilities):
    names, asked = ["mv", "ds", "la1", "gds"], {"seeds": 2, "budget": None, "probabilities": probabilities}
    expected, kept = {}, {}
    whole = compare(drawn.votes, names, **asked, keep=expected.__setitem__, on="local")
    shelf = Shelf(stop_after=4)
    with pytest.raises(Stopped):
        compare(drawn.votes, names, **asked, keep=lambda name, answer: None, control=shelf, on=engine())
    assert 4 <= len(shelf.kept) < 6
    before, shelf.stop_after = dict(shelf.kept), 10**9
    counted = Scattered(2)
    resumed = compare(drawn.votes, names, **asked, keep=kept.__setitem__, control=shelf, on=counted)
    same(whole, resumed)
    assert len(counted.pieces) == 6 - len(before)
    assert {key: shelf.kept[key] for key in before} == before
    assert list(kept) == list(expected)
    for name, answer in expected.items():
        assert isinstance(kept[name], LabelsOnly) != probabilities
        assert table(answer, probabilities=probabilities).equals(table(kept[name], probabilities=probabilities))


def test_what_is_kept_is_small_unless_probabilities_are_wanted(drawn):
    sizes = {}
    for kept, asked in (("codes", {}), ("labels", {"probabilities": False}), ("posterior", {"probabilities": True})):
        shelf = Shelf()
        keep = None if kept == "codes" else lambda name, answer: None
        compare(drawn.votes, ["la1"], seeds=2, control=shelf, keep=keep, **asked)
        sizes[kept] = {key: sum(map(len, arrays.values())) / 300 for key, (_, arrays) in shelf.kept.items()}
    assert sizes["codes"] == {"compared-la1-0": 1, "compared-la1-1": 1}
    assert sizes["labels"] == {"compared-la1-0": 20, "compared-la1-1": 1}
    assert sizes["posterior"] == {"compared-la1-0": 1 + 3 * 8, "compared-la1-1": 1}


def test_labels_without_probabilities_make_the_table_of_the_whole_answer(drawn):
    kept, whole = {}, {}
    compare(drawn.votes, ["ds"], keep=whole.__setitem__)
    compare(drawn.votes, ["ds"], keep=kept.__setitem__, probabilities=False)
    assert table(kept["ds"], probabilities=False).equals(table(whole["ds"], probabilities=False))


@pytest.mark.parametrize("changed", [{"random_state": 1}, {"budget": 50.0}, {"votes": slice(0, 200)}, {"keep": True}])
def test_a_run_of_other_settings_is_not_taken_up(drawn, changed):
    shelf, votes = Shelf(), drawn.votes
    compare(votes, ["mv"], control=shelf, budget=None, on="local")
    before, asked = dict(shelf.kept), {"budget": None, **changed}
    votes = votes.select_rows(asked.pop("votes")) if "votes" in asked else votes
    if asked.pop("keep", False):
        asked["keep"] = lambda name, answer: None
    compare(votes, ["mv"], control=shelf, **asked, on="local")
    assert shelf.kept != before


def test_refusals_are_asked_for_again_and_time_limits_are_not(drawn, monkeypatch):
    asked = []

    def endless(votes, rng, *, control):
        asked.append("endless")
        while not control.stopped():
            pass
        raise Stopped("Half of it is no answer.")

    monkeypatch.setattr(registry.Entry, "load", lambda self: endless if self.name == "la1" else _load(self))
    shelf = Shelf()
    for _ in range(2):
        found = compare(drawn.votes, ["la1", "mean_prob"], seeds=2, budget=0.05, control=shelf)
        assert found["la1"].note == "Not finished within 0.05 s. Half of it is no answer."
        assert "use soft votes" in found["mean_prob"].note
    assert asked == ["endless"]
    assert list(shelf.kept) == ["compared-la1-0"]


_load = registry.Entry.load


def test_a_run_that_was_stopped_has_no_result(drawn):
    votes = drawn.votes.without_truth()
    shared = Shared(votes=votes, health=file_health(votes), budget=np.inf, device="cpu", kept="codes")
    task = run_method(shared, Piece("ds", 0, 0), Shelf(stop_after=0))
    next(task)
    with pytest.raises(StopIteration) as end:
        next(task)
    assert end.value.value is None


# ---------------------------------------------------------------------- progress


_WIDTHS = (("mv", 0.1, 1), ("ds", 0.3, 1), ("la1", 0.6, 3))


def board(watch=None):
    shelf = Shelf()
    lines = [
        Line(METHODS[name], width, seeds) for name, width, seeds in (("mv", 0.1, 1), ("ds", 0.3, 1), ("la1", 0.6, 3))
    ]
    return Board(shelf, lines, watch), shelf


def test_progress_adds_up_what_runs_side_by_side_tell():
    seen = []
    both, shelf = board(seen.append)
    both.begun("ds", 0)
    both.begun("la1", 1)
    both.begun("la1", 1)  # again, on another machine
    both.tell("", 0.5, RunShare("ds", 0, 0.5))
    both.tell("", 0.5, RunShare("la1", 1, 0.5))
    assert shelf.shares[-1] == pytest.approx(0.3 * 0.5 + 0.6 * 0.5 / 3)
    assert shelf.steps[-1] == "Running Dawid-Skene, LA in one pass"
    assert [(one.name, one.running) for one in seen] == [("ds", ("ds",)), ("la1", ("ds", "la1"))]
    both.begun("mv", 0)
    assert shelf.steps[-1] == "Running Majority vote, Dawid-Skene and 1 more"
    both.done("la1", 1)
    both.over(MethodResult(name="la1", title="LA in one pass", stochastic=True, seeds=1))
    assert (seen[-1].seed, seen[-1].seeds, seen[-1].running) == (1, 3, ("mv", "ds"))
    assert seen[-1].share == pytest.approx(0.3 * 0.5 + 0.6)  # no more seeds are waited for
    assert [(one.low, one.width) for one in seen[:2]] == [(pytest.approx(0.1), 0.3), (pytest.approx(0.4), 0.6)]


def test_a_run_that_begins_after_its_method_is_done_is_not_shown():
    seen = []
    both, _ = board(seen.append)
    both.over(MethodResult(name="la1", title="LA in one pass", stochastic=True, seeds=1))
    both.begun("la1", 2)
    assert both.running == ()
    assert len(seen) == 1


def test_shares_never_leave_the_whole(drawn):
    shelf = Shelf()
    compare(drawn.votes, QUICK, seeds=3, control=shelf, on=Scattered(4))
    assert 0 <= min(shelf.shares) <= max(shelf.shares) == pytest.approx(1)


def test_seconds_of_a_cluster_say_what_they_are(drawn):
    from deem_core.cli.compare import report

    local, away = (compare(drawn.votes, ["mv"], on=engine) for engine in ("local", Scattered()))
    for found, wanted in ((local, False), (away, True)):
        assert any(CLUSTER_SECONDS in line for line in report(found)) == wanted
        assert (CLUSTER_SECONDS in found._repr_html_()) == wanted
