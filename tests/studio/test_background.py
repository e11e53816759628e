"""Answers of other processes: pages never wait for them."""

import threading
import time

from deem_core.model import Device, cpu
from studio import background
from studio.background import Questions


def _settled(asked, key, ask):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        answer, asking = asked.get(key, ask)
        if not asking:
            return answer
        time.sleep(0.005)
    raise AssertionError("never answered")


def test_the_first_look_does_not_wait_and_only_one_asks():
    asked, asks, go = Questions(), [], threading.Event()

    def ask():
        asks.append(1)
        go.wait(5)
        return 7

    assert asked.get("a", ask) == (None, True)
    assert asked.get("a", ask) == (None, True)
    go.set()
    assert _settled(asked, "a", ask) == 7
    assert len(asks) == 1


def test_a_failure_ends_the_asking_and_keeps_what_was_known(monkeypatch):
    failures, failed = [], threading.Semaphore(0)

    def note(told):
        failures.append(told.exc_type)
        failed.release()

    monkeypatch.setattr(threading, "excepthook", note)
    asked = Questions()

    def fail():
        raise IndexError

    asked.get("a", lambda: 5)
    assert _settled(asked, "a", fail) == 5
    asked.fresh_seconds = lambda answer: 0.0
    assert asked.get("a", fail) == (5, True)
    asked.fresh_seconds = lambda answer: float("inf")
    assert _settled(asked, "a", fail) == 5
    assert failed.acquire(timeout=60)  # the thread fails a moment after its answer is there
    assert failures == [IndexError]


def test_questions_take_turns_and_one_that_nobody_repeats_is_dropped(monkeypatch):
    monkeypatch.setattr(background, "PATIENCE_SECONDS", 0.2)
    asked, asks, go = Questions(), [], threading.Event()

    def ask(key):
        asks.append(key)
        go.wait(5)
        return key

    asked.get("first", lambda: ask("first"))
    for key in ("left behind", "wanted"):
        asked.get(key, lambda key=key: ask(key))
    deadline = time.monotonic() + 0.5
    while time.monotonic() < deadline:
        asked.get("wanted", lambda: ask("wanted"))
        time.sleep(0.01)
    assert asks == ["first"]
    go.set()
    assert _settled(asked, "wanted", lambda: ask("wanted")) == "wanted"
    assert asks == ["first", "wanted"]


def test_free_memory_is_asked_for_again_soon_and_a_machine_without_a_gpu_is_left_alone():
    gpu = Device("cuda:0", "A GPU", memory=10, free_memory=5)
    for known, seconds in ((None, 60), ([gpu, cpu()], 60), ([cpu()], 3600)):
        assert background._device_questions().fresh_seconds(known) == seconds


def test_a_command_that_fails_has_no_answer():
    assert background.command(["estimate", "not an id"]) is None
