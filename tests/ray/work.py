"""Work for the tests of the cluster; the processes of its nodes import it from here."""

import os
import time
from pathlib import Path

from deem_core.control import Control, Saved
from deem_core.errors import InputError


class Heard(Control):
    """Keeps in memory what it is told."""

    keeps = True

    def __init__(self):
        self.notes, self.kept = [], {}

    def note(self, sentence):
        self.notes.append(sentence)

    def save(self, key, saved):
        self.kept[key] = saved

    def load(self, key):
        return self.kept.get(key)


def counting(shared, piece, control):
    """Tells numbers, slowly, and returns their sum with what it found."""
    total = 0
    for number in range(piece):
        total += number
        yield number
        time.sleep(shared)
        if control.stopped():
            return "stopped"
    return total


def deaf(shared, piece, control):
    """Asks nobody whether to stop."""
    yield "begun"
    time.sleep(600)


def failing(shared, piece, control):
    yield from ()
    raise InputError(f"The piece {piece} is bad.")


def dying(shared, piece, control):
    """Takes its process with it, the first so many times."""
    yield from ()
    path = Path(shared)
    deaths = len(path.read_text().split()) if path.exists() else 0
    if deaths < piece:
        path.write_text("x " * (deaths + 1))
        os._exit(1)
    return deaths


def keeping(shared, piece, control):
    """Keeps how far it came, and dies once half way."""
    saved = control.load(f"piece-{piece}")
    begun = 0 if saved is None else int(saved.notes["done"])
    for done in range(begun, 4):
        yield done
        control.save(f"piece-{piece}", Saved({}, {"done": done + 1}))
        if done == 1:
            time.sleep(1)
            os._exit(1)
    return begun


def environment(shared, piece, control):
    """What a process of the cluster sees of its place."""
    yield from ()
    return {name: os.environ.get(name) for name in ("DEEM_ENGINE", "DEEM_THREADS")} | {"pid": os.getpid()}


def same_array(shared, piece, control):
    """Whether the shared array can be written, and its sum."""
    yield from ()
    return shared.flags.writeable, float(shared.sum())


def leaving(shared, piece, control):
    """Writes down that it has begun, and takes its process with it when it is asked to stop."""
    with Path(shared).open("a") as begun:
        begun.write("x")
    yield "begun"
    while not control.stopped():
        time.sleep(0.05)
    os._exit(1)


def grumbling(shared, piece, control):
    """Fails when it is asked to stop."""
    yield "begun"
    while not control.stopped():
        time.sleep(0.05)
    raise InputError("It did not like to stop.")
