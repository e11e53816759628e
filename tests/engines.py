"""Engines for tests: what a trip to another machine does to pieces, without one."""

import pickle
from contextlib import contextmanager

from deem_core.engine import Done, Node, Told


def carried(thing):
    """The same as it arrives elsewhere."""
    return pickle.loads(pickle.dumps(thing))


class Carrying:
    """Runs pieces here, one by one, but hands over copies only: of what they share, of pieces, news and results.

    ``order`` changes in which order they are done; ``gpus`` is what it says it has. ``ran`` are the pieces that ran.
    """

    wish = "ray"
    remote = True

    def __init__(self, order=lambda pieces: pieces, gpus=0.0):
        self.order, self.gpus, self.ran, self.crews = order, gpus, [], []

    @contextmanager
    def crew(self, *, gpu=False):
        self.crews.append(gpu)
        yield self

    def nodes(self):
        return [Node("elsewhere", cores=2, gpus=self.gpus)]

    def run(self, work, pieces, shared=None, *, control, live=None, wanted=lambda at: True, keys=lambda piece: ()):
        shared = pickle.dumps(shared)
        for at, piece in self.order([(at, piece) for at, piece in enumerate(pieces) if wanted(at)]):
            if control.stopped():
                return
            self.ran.append(at)
            task = pickle.loads(pickle.dumps(work))(pickle.loads(shared), carried(piece), control)
            while True:
                try:
                    news = next(task)
                except StopIteration as end:
                    yield Done(at, carried(end.value))
                    break
                yield Told(at, carried(news))


def backwards(pieces):
    """The last piece first."""
    return pieces[::-1]
