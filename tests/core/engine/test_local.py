"""Pieces on this machine: each one's news and result, in turns, and an end when nobody waits or somebody says stop."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from deem_core.control import NO_CONTROL, Control, Saved, Stopped, StopWhen
from deem_core.engine import Done, Local, Told, cores, threads
from deem_core.engine.local import Threads
from deem_core.errors import InputError


def counting(shared, piece, control):
    """Tells the numbers up to its own and returns their sum."""
    total = 0
    for number in range(piece):
        total += number
        yield (shared, number)
    return total


def failing(shared, piece, control):
    yield "begun"
    if piece == "bad":
        raise InputError("This piece is bad.")
    while not control.stopped():
        time.sleep(0.001)
    control.check()


def patient(shared, piece, control):
    """Goes on until it is stopped, and says so."""
    shared.append(piece)
    yield "begun"
    while not control.stopped():
        time.sleep(0.001)
    return "stopped"


def run(work, pieces, shared=None, control=NO_CONTROL, **options):
    with Local().crew() as crew:
        yield from crew.run(work, pieces, shared, control=control, **options)


@pytest.mark.parametrize("live", [None, 1, 2, 7])
def test_every_piece_tells_its_news_and_its_result(live):
    arrived = list(run(counting, [3, 0, 2], "same", live=live))
    assert {item.at: item.value for item in arrived if isinstance(item, Done)} == {0: 3, 1: 0, 2: 1}
    for at, length in enumerate([3, 0, 2]):
        own = [item for item in arrived if item.at == at]
        assert own == [*(Told(at, ("same", number)) for number in range(length)), own[-1]]


def test_one_live_piece_runs_in_the_callers_thread_and_begins_when_the_one_before_it_is_done():
    log = []

    def work(shared, piece, control):
        log.append((piece, threading.get_ident()))
        yield piece
        return piece

    def pieces():
        for piece in range(3):
            log.append(f"made {piece}")
            yield piece

    log.extend(run(work, pieces(), live=1))
    here = threading.get_ident()
    assert log == [
        entry
        for piece in range(3)
        for entry in (f"made {piece}", (piece, here), Told(piece, piece), Done(piece, piece))
    ]


def test_live_pieces_advance_in_turns():
    """A run that is stopped early has news of all of them."""
    all_begun, order = threading.Event(), []

    def work(shared, piece, control):
        for step in range(3):
            order.append(step)
            yield step

    def pieces():
        yield from range(4)
        all_begun.set()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(all_begun.wait, 30)
        list(Threads(pool, 1).run(work, pieces(), control=NO_CONTROL, live=5))
    assert order == sorted(order)


def test_pieces_are_taken_only_shortly_before_they_run():
    taken = []

    def pieces():
        for piece in range(50):
            taken.append(piece)
            yield 1

    arrived = run(counting, pieces(), live=2)
    next(arrived)
    assert len(taken) <= 3
    arrived.close()
    assert len(taken) <= 4


def test_a_piece_that_is_no_longer_wanted_is_passed_over():
    enough: set[int] = set()
    done = []
    for item in run(counting, [1, 1, 1, 1], live=1, wanted=lambda at: at not in enough):  # noqa: B023
        if isinstance(item, Done):
            done.append(item.at)
            enough |= {1, 2} if item.at == 0 else set()
    assert done == [0, 3]


@pytest.mark.parametrize("live", [1, 2])
def test_what_a_piece_raises_is_raised_and_the_others_end(live):
    with pytest.raises(InputError, match="bad"):
        list(run(failing, ["bad", "good"] if live == 1 else ["good", "bad"], live=live))


def test_whoever_stops_iterating_stops_the_pieces_under_way():
    begun = []
    arrived = run(patient, range(6), begun, live=2)
    assert isinstance(next(arrived), Told)
    arrived.close()  # would wait for ever otherwise
    assert len(begun) <= 2


def test_a_wish_to_stop_reaches_the_pieces_and_no_more_are_begun():
    begun, heard = [], threading.Event()
    done = []
    for item in run(patient, range(9), begun, StopWhen(heard.is_set), live=2):
        heard.set()
        if isinstance(item, Done):
            done.append(item.value)
    assert done == ["stopped"] * len(begun)
    assert len(begun) <= 2


def test_a_piece_that_stops_says_so():
    heard = threading.Event()
    arrived = run(failing, ["good"], control=StopWhen(heard.is_set), live=2)
    next(arrived)
    heard.set()
    with pytest.raises(Stopped):
        next(arrived)


def test_checkpoints_notes_and_progress_reach_the_control():
    class Kept(Control):
        keeps = True

        def __init__(self):
            self.heard = []

        def tell(self, step, share, record=None):
            self.heard.append((step, share))

        def note(self, sentence):
            self.heard.append(sentence)

        def due(self, key):
            return key == "mine"

        def save(self, key, saved):
            self.heard.append((key, saved.notes))

        def load(self, key):
            return Saved({}, {"of": key})

    def work(shared, piece, control):
        assert control.keeps
        assert control.due("mine")
        assert not control.due("other")
        control.tell("Working", 0.5)
        control.note("Well.")
        control.save("mine", Saved({}, {"at": 1}))
        yield
        return control.load("mine").notes

    control = Kept()
    assert [item.value for item in run(work, [0], control=control) if isinstance(item, Done)] == [{"of": "mine"}]
    assert control.heard == [("Working", 0.5), "Well.", ("mine", {"at": 1})]


def test_a_gpu_is_used_by_one_piece_at_a_time():
    with Local().crew(gpu=True) as crew:
        assert crew.threads == 1
    with Local().crew() as crew:
        assert crew.threads == cores()


def test_fewer_threads_may_be_wished_for(monkeypatch):
    monkeypatch.setenv("DEEM_THREADS", "1")
    with Local().crew() as crew:
        assert crew.threads == 1
    monkeypatch.setenv("DEEM_THREADS", str(cores() + 9))
    assert threads() == cores()
    monkeypatch.setenv("DEEM_THREADS", "many")
    with pytest.raises(InputError, match="DEEM_THREADS is 'many'"):
        threads()
