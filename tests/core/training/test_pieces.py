"""Stacks of trainings and sweeps as pieces of work: the same answers wherever and in whatever order they are done."""

import json
import pickle

import numpy as np
import pytest
import torch

from deem_core import DEEM, IRBM, SoftDEEM, fuse, simulate, sweep
from deem_core.auto import verbs
from deem_core.control import Control, Saved, Stopped
from deem_core.engine import Done, Told
from deem_core.errors import InputError
from deem_core.model import backend
from deem_core.model.config import TrainConfig
from deem_core.model.energy import initialise
from deem_core.training import places, stacks
from deem_core.training.places import Place
from deem_core.training.sweep import Sweeper
from tests.engines import Carrying, backwards, carried

SMALL = {"updates": 40, "batch_size": 64, "random_state": 0, "device": "cpu"}
SWEPT = {**SMALL, "start": "majority"}
RATES = [0.05, 0.2, 0.5, 1.0, 2.0]  # two stacks


class Keeper(Control):
    """Keeps in memory what is saved, as a run's folder would; stops after so many questions."""

    keeps = True

    def __init__(self, patience=10**9):
        self.patience, self.asked, self.kept, self.told, self.notes = patience, 0, {}, [], []

    def stopped(self):
        self.asked += 1
        return self.asked > self.patience

    def tell(self, step, share, record=None):
        self.told.append((step, share, record))

    def note(self, sentence):
        self.notes.append(sentence)

    def due(self, key):
        return self.asked % 7 == 0

    def save(self, key, saved):
        tensors = {name: tensor.clone() for name, tensor in saved.tensors.items()}
        self.kept[key] = Saved(tensors, json.loads(json.dumps(saved.notes)))

    def load(self, key):
        return self.kept.get(key)


class Twice(Carrying):
    """Each piece is done twice, as after the loss of a machine; the first result never arrives."""

    def run(self, work, pieces, shared=None, **more):
        yield from (item for item in super().run(work, pieces, shared, **more) if isinstance(item, Told))
        yield from super().run(work, pieces, shared, **more)


class Silent(Carrying):
    """All news is lost."""

    def run(self, *asked, **more):
        yield from (item for item in super().run(*asked, **more) if isinstance(item, Done))


@pytest.fixture(scope="module")
def votes():
    return simulate("tree", 400, seed=0).votes


def same_training(one, other):
    def numbers(model):
        return [(r.restart, r.update, r.difference, r.acceptance, tuple(r.shares)) for r in model.history_]

    assert numbers(one) == numbers(other)
    assert one.restarts_ == other.restarts_
    assert one.settings_ == other.settings_
    for mine, theirs in zip(one.parts_, other.parts_, strict=True):
        for a, b in zip(mine.model.parameters(), theirs.model.parameters(), strict=True):
            assert torch.equal(a, b)


def numbers_of(result):
    """All of a sweep but how long it took and where."""
    content = result.to_dict()
    for item in content["rates"]:
        del item["seconds"]
    return {name: value for name, value in content.items() if name not in ("seconds", "how")}


@pytest.fixture(scope="module")
def trained(votes):
    return DEEM(restarts=5, **SMALL).fit(votes)


@pytest.fixture(scope="module")
def swept(votes):
    return sweep(votes, RATES, **SWEPT)


# ---------------------------------------------------------------------- the same wherever and in whatever order


@pytest.mark.parametrize("engine", [Carrying(), Carrying(backwards), Twice(), Silent()], ids=lambda e: type(e).__name__)
def test_restarts_trained_elsewhere_are_those_trained_here(votes, trained, engine):
    seen = []
    model = DEEM(restarts=5, **SMALL).fit(votes, on=engine, watch=seen.append)
    assert len(set(engine.ran)) == 2
    same_training(model, trained)
    assert np.array_equal(model.predict_proba(votes), trained.predict_proba(votes))
    told = [(one.restart, one.record.update) for one in seen]
    assert sorted(told) == sorted((record.restart, record.update) for record in trained.history_)  # each once


def test_the_kernel_trains_elsewhere_as_here(votes):
    settings = {**SMALL, "backend": "numba", "restarts": 3, "start": "majority", "near_copies": "keep"}
    engine = Carrying(backwards)
    same_training(DEEM(**settings).fit(votes, on=engine), DEEM(**settings).fit(votes))
    assert len(engine.ran) == 3


def test_the_hedge_trains_beside_the_base():
    votes, settings = simulate("copies", 400, seed=0).votes, {**SMALL, "start": "majority", "backend": "torch"}
    engine = Carrying(backwards)
    here, there = DEEM(**settings).fit(votes), DEEM(**settings).fit(votes, on=engine)
    assert here.near_copies_.hedge is not None
    assert engine.crews == [False]
    assert engine.ran == [2, 1, 0]  # two stacks of the base and one of the hedge, in one crew
    same_training(there, here)


def test_further_rounds_are_pieces_too(votes):
    settings = {**SMALL, "updates": 300, "batch_size": 32, "learning_rate": 60.0, "start": "majority", "restarts": 3}
    engine = Carrying()
    here, there = DEEM(**settings).fit(votes), DEEM(**settings).fit(votes, on=engine)
    assert len(here.restarts_) > 3
    assert len(engine.crews) == 1
    assert len(engine.ran) == len(here.restarts_)  # one a stack
    same_training(there, here)


def test_soft_votes_and_the_irbm_train_elsewhere_as_here(votes):
    rng = np.random.default_rng(0)
    soft = rng.dirichlet(np.ones(3), (300, 5)) + 2 * np.eye(3)[rng.integers(3, size=300)][:, None]
    soft /= soft.sum(axis=2, keepdims=True)
    for kind, rows in ((SoftDEEM(restarts=4, **SMALL), soft), (IRBM(method="cd", restarts=4, **SMALL), votes)):
        here = kind.fit(rows).predict_proba(rows)
        assert np.array_equal(kind.fit(rows, on=Carrying()).predict_proba(rows), here)


@pytest.mark.parametrize("engine", [Carrying(), Carrying(backwards), Twice(), Silent()], ids=lambda e: type(e).__name__)
def test_candidates_swept_elsewhere_have_the_curves_of_those_swept_here(votes, swept, engine):
    seen = []
    result = sweep(votes, RATES, on=engine, watch=seen.append, **SWEPT)
    assert len(set(engine.ran)) == 2
    assert numbers_of(result) == numbers_of(swept)
    assert len({(one.candidate, one.record.update) for one in seen}) == len(seen) == swept.difference.size
    assert [one.share for one in seen] == sorted(one.share for one in seen)
    assert "on the CPUs of a Ray cluster" in result.how


def test_depths_and_abandoned_rates_come_back_whole(votes):
    settings = {**SWEPT, "updates": 20}
    depths = sweep(votes, [0.3], n_layers=[0, 1, 2], on=Carrying(backwards), **settings)
    assert numbers_of(depths) == numbers_of(sweep(votes, [0.3], n_layers=[0, 1, 2], **settings))
    assert np.isfinite(depths.dependence).all()


def test_an_automatic_rate_is_chosen_where_training_runs(votes, monkeypatch):
    from deem_core.training.sweep import candidates

    monkeypatch.setattr(candidates, "DOUBLINGS", range(-1, 1))
    engine, settings = Carrying(), {**SMALL, "learning_rate": "auto", "restarts": 2, "start": "majority"}
    there, here = DEEM(**settings).fit(votes, on=engine), DEEM(**settings).fit(votes)
    assert engine.crews == [False, False]
    assert numbers_of(there.sweep_) == numbers_of(here.sweep_)
    same_training(there, here)


def test_what_travels_knows_no_truth_and_no_names_of_rows(votes):
    from deem_core.training.near_copies import Reduction
    from deem_core.training.restarts import LabelTask

    task = LabelTask(votes, Reduction.of(votes.learners))
    there = carried(task)
    assert np.array_equal(there.votes.codes, task.votes.codes)
    assert there.votes.truth is None
    assert there.votes.gold is None
    assert there.votes.ids.tolist() == list(range(votes.n_rows))


def test_a_model_travels_without_the_memory_it_looks_at():
    whole = initialise(6, 3, 1, [torch.Generator().manual_seed(seed) for seed in range(50)])
    one = whole.single(7)
    assert len(pickle.dumps(one)) < len(pickle.dumps(whole)) / 20
    for mine, theirs in zip(carried(one).parameters(), one.parameters(), strict=True):
        assert torch.equal(mine, theirs)
        mine.zero_()  # its own memory, to be written


# ---------------------------------------------------------------------- going on


def test_a_sweep_goes_on_from_its_finished_stacks(votes, swept):
    keeper = Keeper()
    first = Sweeper(votes, RATES, config=TrainConfig(**SWEPT), control=keeper, on=Carrying())
    for _ in first:
        if "sweep-0-0" in keeper.kept:
            break
    kept = first.curves.seconds[0].tolist()
    engine, seen = Carrying(), []
    keeper.told.clear()
    result = sweep(votes, RATES, control=keeper, on=engine, watch=seen.append, **SWEPT)
    assert engine.ran == [1]
    assert numbers_of(result) == numbers_of(swept)
    assert result.curves.seconds[0].tolist() == kept
    assert result.seconds > max(kept)
    assert keeper.told[0][1] == pytest.approx(3 / 5)  # what was done before counts
    assert {one.candidate for one in seen} == {3, 4}


def test_a_sweep_that_was_finished_is_not_trained_again(votes, swept):
    keeper, engine = Keeper(), Carrying()
    sweep(votes, RATES, control=keeper, **SWEPT)
    assert {key for key in keeper.kept if key.startswith("sweep")} == {"sweep-0-0", "sweep-0-3"}
    again = sweep(votes, RATES, control=keeper, on=engine, **SWEPT)
    assert engine.ran == []
    assert again.complete
    assert numbers_of(again) == numbers_of(swept)


@pytest.mark.parametrize("other", [{"random_state": 1}, {"updates": 50}, {"backend": "numba"}])
def test_stacks_of_another_sweep_are_not_taken(votes, other):
    keeper = Keeper()
    sweep(votes, RATES, control=keeper, **SWEPT)
    wished = {**SWEPT, **other}
    assert numbers_of(sweep(votes, RATES, control=keeper, **wished)) == numbers_of(sweep(votes, RATES, **wished))


def test_an_unlucky_sweep_goes_on_within_its_second_pass(votes, monkeypatch):
    from deem_core.training.sweep import sweeper as module

    def swept(control, on):
        answers = iter([True, False])
        monkeypatch.setattr(module.guidance, "unlucky_start", lambda verdicts: next(answers))
        return sweep(votes, RATES, control=control, on=on, **SWEPT)

    keeper, engine = Keeper(), Carrying()
    whole = swept(keeper, Carrying())
    del keeper.kept["sweep-1-3"]
    again = swept(keeper, engine)
    assert engine.ran == [1]
    assert module.UNLUCKY in again.notes
    assert numbers_of(again) == numbers_of(whole)


def test_a_sweep_keeps_nothing_where_nobody_keeps_it(votes):
    keeper = Keeper()
    keeper.keeps = False
    sweep(votes, RATES, control=keeper, **SWEPT)
    assert not [key for key in keeper.kept if key.startswith("sweep-")]


@pytest.mark.parametrize("patience", [1, 30, 75])
def test_a_training_begun_elsewhere_goes_on_here(votes, trained, patience):
    keeper = Keeper(patience)
    with pytest.raises(Stopped):
        DEEM(restarts=5, **SMALL).fit(votes, control=keeper, on=Carrying())
    keeper.patience = 10**9
    same_training(DEEM(restarts=5, **SMALL).fit(votes, control=keeper), trained)


def test_a_stack_that_waits_for_its_turn_leaves_a_checkpoint_too(votes):
    """It is closed between two records, where it is asked nothing."""
    keeper = Keeper()
    task = stacks.Course(_task(votes), _settings(votes), 1)
    work = stacks.train_stack(stacks.Shared((task,), "cpu"), stacks.Stack(0, 0, (1, 2), "training-0-0"), keeper)
    next(work)
    next(work)
    keeper.kept.clear()
    work.close()
    records = keeper.kept["training-0-0"].notes["records"]
    assert [len(own) for own in records] == [2, 2]


def _task(votes):
    from deem_core.training.near_copies import Reduction
    from deem_core.training.restarts import LabelTask

    return LabelTask(votes, Reduction.of(votes.learners))


def _settings(votes):
    return _task(votes).settings(TrainConfig(**{**SWEPT, "backend": "torch"}))


def test_stopping_ends_a_sweep_elsewhere_with_what_it_has(votes):
    result = sweep(votes, RATES, control=Keeper(40), on=Carrying(), **SWEPT)
    assert not result.complete
    assert 0 < np.isfinite(result.difference).sum() < result.difference.size


def test_a_sweep_that_is_ended_keeps_what_came(votes):
    sweeper = Sweeper(votes, RATES, config=TrainConfig(**SWEPT), on=Carrying())
    for progress in sweeper:
        if progress.share > 0.3:
            sweeper.end()
    assert sweeper.result().ended
    assert sweeper.result().share < 1


# ---------------------------------------------------------------------- where


def test_pieces_take_the_gpus_of_the_cluster(votes):
    cpu, gpu = torch.device("cpu"), torch.device("cuda")
    assert Place.of("auto", Carrying()).device == cpu
    place = Place.of("auto", Carrying(gpus=2.0))
    assert (place.device, place.home) == (gpu, cpu)
    assert Place.of("cpu", Carrying(gpus=2.0)).device == cpu
    engine = Carrying(gpus=1.0)
    with Place.of("cuda", engine).crew():
        assert engine.crews == [True]
    sweeper = Sweeper(votes, RATES, config=TrainConfig(**{**SWEPT, "device": "auto"}), on=Carrying(gpus=1.0))
    assert sweeper.stacks == [[0, 1, 2, 3, 4]]  # all side by side, as on a GPU of this machine
    assert sweeper.settings.config.backend == "torch"


@pytest.mark.parametrize(
    ("device", "gpus", "said"),
    [
        ("cuda", 0.0, "offers a GPU"),
        ("cuda:1", 2.0, "the cluster chooses which GPU"),
        ("mps", 1.0, "one of this machine"),
    ],
)
def test_a_device_that_the_cluster_lacks_gets_a_sentence(votes, device, gpus, said):
    with pytest.raises(InputError, match=said):
        DEEM(**{**SMALL, "device": device}).fit(votes, on=Carrying(gpus=gpus))


def test_a_machine_without_the_kernel_trains_by_no_other_backend(votes, monkeypatch):
    class Elsewhere(Carrying):
        def run(self, *asked, **more):
            def fail():
                raise ModuleNotFoundError("numba")

            backend._LOADED.clear()
            monkeypatch.setattr("deem_core.model.kernel.engine.warm_up", fail)
            yield from super().run(*asked, **more)

    wished = {**SWEPT, "updates": 200}  # so much that the kernel is chosen
    for run in (
        lambda: DEEM(**wished).fit(votes, on=Elsewhere()),
        lambda: sweep(votes, RATES, on=Elsewhere(), **wished),
    ):
        with pytest.raises(InputError, match=r"cannot train as the others do\. .*ModuleNotFoundError"):
            run()
        monkeypatch.undo()


def test_a_piece_computes_with_one_thread(monkeypatch):
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        assert places.arrive("cpu").type == "cpu"
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)


class Together(Carrying):
    """All pieces are under way at once; of those that nobody waits for any more nothing is kept."""

    def run(self, work, pieces, shared=None, *, control, **more):
        under_way = {at: work(shared, piece, control) for at, piece in enumerate(pieces)}
        try:
            while under_way:
                for at, task in list(under_way.items()):
                    try:
                        yield Told(at, next(task))
                    except StopIteration as end:
                        del under_way[at]
                        yield Done(at, end.value)
        finally:
            control.keeps = False


def test_all_stacks_that_are_told_to_stop_leave_their_checkpoints(votes):
    class Last(Keeper):
        def stopped(self):
            return sum(step == "Training" for step, _, _ in self.told) > 5

        def due(self, key):
            return False

        def save(self, key, saved):
            if self.keeps:
                super().save(key, saved)

    keeper = Last()
    with pytest.raises(Stopped):
        DEEM(restarts=5, **SMALL).fit(votes, control=keeper, on=Together())
    stacks_kept = [key for key in keeper.kept if key.startswith("training-0-") and key != "training-0-stacks"]
    assert len(stacks_kept) > 1


def test_what_has_no_pieces_says_that_it_runs_here(votes):
    keeper = Keeper()
    IRBM().fit(votes, control=keeper, on=Carrying())
    assert keeper.notes == ["There is nothing to share out in irbm, so it runs on this machine and not on ray."]
    quiet = Keeper()
    IRBM().fit(votes, control=quiet)
    assert quiet.notes == []


def test_methods_that_are_asked_by_name_stay_where_they_are_asked(votes, monkeypatch):
    """Whoever shares out methods runs each in a piece."""
    from deem_core.estimators import as_methods

    monkeypatch.setenv("DEEM_ENGINE", "ray://nowhere.invalid:10001")
    monkeypatch.setattr(as_methods.DEEM, "__init__", _tiny(as_methods.DEEM.__init__))
    assert as_methods.deem(votes, np.random.default_rng(0)).posterior.shape == (votes.n_rows, votes.n_classes)


def _tiny(init):
    return lambda self, **more: init(self, **{**more, **SMALL, "restarts": 1})


def test_the_time_of_a_sweep_elsewhere_is_measured_there(votes):
    engine = Carrying()
    assert Sweeper(votes, RATES, config=TrainConfig(**SWEPT), on=engine).estimate_seconds() > 0
    assert engine.ran == [0, 1]


def test_order_does_not_matter_for_which_restarts_survive(votes, trained):
    engine = Carrying(lambda pieces: [*pieces[1:], pieces[0]])
    same_training(DEEM(restarts=5, **SMALL).fit(votes, on=engine), trained)


def test_the_command_line_names_an_engine(tmp_path, capsys, monkeypatch):
    from deem_core import cli
    from deem_core.training import places

    file = tmp_path / "votes.csv"
    assert cli.main(["simulate", "tree", "--rows", "200", "--seed", "0", "-o", str(file)]) == 0
    for command in (["sweep", str(file)], ["train", str(file), "-o", str(tmp_path / "m.safetensors")]):
        assert cli.main([*command, "--on", "mars"]) == 2
        assert "There is no engine 'mars'" in capsys.readouterr().err
    engine = Carrying()
    monkeypatch.setattr(places, "engine_of", lambda on: engine if on == "ray" else None)
    small = ["--updates", "20", "--batch", "64", "--device", "cpu", "--on", "ray"]
    fused = ["fuse", str(file), "-o", str(tmp_path / "f.csv"), "--on", "ray"]
    assert cli.main(["sweep", str(file), "--rates", "0.1,0.4", *small]) == 0
    assert cli.main([*fused, "--method", "deem", "--restarts", "2", *small]) == 0
    assert len(engine.crews) == 2
    capsys.readouterr()
    assert cli.main([*fused, "--method", "ds"]) == 0
    assert "nothing to share out in Dawid-Skene, so it runs on this machine" in capsys.readouterr().out


def test_fusing_trains_where_it_is_told(votes):
    engine, keeper = Carrying(), Keeper()
    here, there = (fuse(votes, "deem", on=on, restarts=2, **SMALL) for on in ("local", engine))
    assert engine.ran
    assert np.array_equal(here.posterior, there.posterior)
    fuse(votes, "mv", control=keeper, on=engine)
    assert keeper.notes == [
        "There is nothing to share out in Majority vote, so it runs on this machine and not on ray."
    ]


def test_a_training_that_auto_considers_goes_where_it_is_told(votes, monkeypatch):
    engine, keeper, asked = Carrying(), Keeper(), []

    def train(votes, method, *, on=None, control=None, **settings):
        asked.append(on)
        return DEEM(restarts=1, **SMALL).fit(votes, on="local")

    monkeypatch.setattr(verbs, "train", train)
    gold = [label if row < 30 else None for row, label in enumerate(votes.classes[votes.truth].tolist())]
    fuse(votes, gold=gold, consider=["deem", "ds"], random_state=0, control=keeper, on=engine)
    assert asked == [engine]
    assert keeper.notes == []
