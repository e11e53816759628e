"""Pieces on a cluster: the same results, their news, an end when asked, and nothing lost with a machine."""

import time

import numpy as np
import pytest

from deem_core.control import NO_CONTROL, StopWhen
from deem_core.engine import Done, Told, engine_of
from deem_core.errors import DeemError, InputError
from tests.ray import work
from tests.ray.work import Heard


@pytest.fixture
def engine(cluster):
    return engine_of("ray")


def run(engine, function, pieces, shared=None, control=NO_CONTROL, **options):
    with engine.crew() as crew:
        yield from crew.run(function, pieces, shared, control=control, **options)


def values(arrived):
    return {item.at: item.value for item in arrived if isinstance(item, Done)}


def test_every_piece_tells_its_news_and_its_result(engine):
    arrived = list(run(engine, work.counting, [3, 0, 4], 0.01))
    assert values(arrived) == {0: 3, 1: 0, 2: 6}
    for at, length in enumerate([3, 0, 4]):
        own = [item for item in arrived if item.at == at]
        assert own[:-1] == [Told(at, number) for number in range(length)]


def test_both_nodes_are_told_and_used(engine):
    assert [node.cores for node in engine.nodes()] == [1, 1]
    assert engine.gpus == 0
    found = values(run(engine, work.environment, range(6)))
    assert all(seen["DEEM_ENGINE"] == "local" and seen["DEEM_THREADS"] == "1" for seen in found.values())


def test_shared_data_is_read_in_place(engine):
    """One copy for all processes of a node, which none may change."""
    shared = np.arange(1e6)
    assert set(values(run(engine, work.same_array, range(3), shared)).values()) == {(False, shared.sum())}


def test_what_a_piece_raises_is_raised(engine):
    with pytest.raises(InputError, match="The piece 1 is bad"):
        list(run(engine, work.failing, [1]))


def test_a_wish_to_stop_is_heard_within_seconds(engine):
    begun = time.monotonic()
    control = StopWhen(lambda: time.monotonic() - begun > 2)
    found = values(run(engine, work.counting, [10_000] * 9, 0.05, control))
    assert set(found.values()) == {"stopped"}
    assert time.monotonic() - begun < 60


def test_a_piece_that_hears_nothing_is_ended_by_force(engine):
    begun, heard = time.monotonic(), []
    heard.extend(run(engine, work.deaf, [0], control=StopWhen(lambda: time.monotonic() - begun > 2)))
    assert heard == [Told(0, "begun")]
    assert time.monotonic() - begun < 60
    assert values(run(engine, work.counting, [2, 2], 0)) == {0: 1, 1: 1}  # its core is free again


def test_whoever_stops_iterating_stops_the_pieces(engine):
    arrived = run(engine, work.counting, [10_000] * 3, 0.05)
    next(arrived)
    arrived.close()
    assert values(run(engine, work.counting, [2, 2], 0)) == {0: 1, 1: 1}


def test_what_is_lost_while_it_is_ended_is_not_begun_again(engine, tmp_path):
    control, begun = Heard(), tmp_path / "begun"
    arrived = run(engine, work.leaving, [0], str(begun), control)
    next(arrived)
    arrived.close()
    assert begun.read_text() == "x"
    assert control.notes == []


def test_what_fails_while_it_is_ended_troubles_nobody(engine):
    arrived = run(engine, work.grumbling, [0])
    next(arrived)
    arrived.close()


def test_a_piece_whose_process_dies_is_done_again(engine, tmp_path):
    control = Heard()
    assert values(run(engine, work.dying, [2], str(tmp_path / "deaths"), control)) == {0: 2}
    assert control.notes == ["A process of the cluster was lost, and its piece of the work was done again."] * 2


def test_a_piece_that_always_dies_is_given_up_with_a_sentence(engine, tmp_path):
    with pytest.raises(DeemError, match="was lost 4 times"):
        list(run(engine, work.dying, [99], str(tmp_path / "deaths")))


def test_a_piece_goes_on_from_its_last_checkpoint(engine):
    control = Heard()
    found = values(run(engine, work.keeping, ["a", "b"], control=control, keys=lambda piece: [f"piece-{piece}"]))
    assert found == {0: 2, 1: 2}
    assert control.kept["piece-a"].notes == {"done": 4}


def test_a_node_that_is_killed_loses_nothing(engine, cluster):
    control, killed = Heard(), False
    found = {}
    for item in run(engine, work.counting, [8] * 6, 0.2, control):
        if isinstance(item, Done):
            found[item.at] = item.value
        elif not killed and item.news == 3:
            cluster.kill_second()
            killed = True
    assert found == dict.fromkeys(range(6), 28)
    assert control.notes


def test_a_cluster_with_another_version_is_refused(engine, monkeypatch):
    monkeypatch.setattr("deem_core.engine.membership.__version__", "9.9.9")
    with pytest.raises(DeemError, match=r"has DEEM Studio .*, and this one 9\.9\.9"):
        engine_of("ray")


def test_an_address_that_does_not_answer_is_one_sentence(engine, monkeypatch):
    from deem_core.engine import membership as room

    monkeypatch.setattr(room.ray, "is_initialized", lambda: False)
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:9")
    with pytest.raises(DeemError, match=r"The Ray cluster '127\.0\.0\.1:9' does not answer"):
        engine_of("ray")


def test_a_process_belongs_to_one_cluster(engine):
    with pytest.raises(DeemError, match="belongs to another Ray cluster already"):
        engine_of("ray://127.0.0.1:9")
