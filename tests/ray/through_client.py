"""What somebody does who is no part of a cluster: python -m tests.ray.through_client ray://HOST:PORT FOLDER.

Prints as JSON what came of it. A process of its own, since a process belongs to one cluster.
"""

import json
import sys
import time
from pathlib import Path

from deem_core.control import StopWhen
from deem_core.engine import Done, Told, engine_of
from deem_core.errors import DeemError
from tests.ray import work
from tests.ray.work import Heard


def main(address, folder):
    engine, control = engine_of(address), Heard()

    def run(function, pieces, shared=None, control=control, **options):
        with engine.crew() as crew:
            arrived = list(crew.run(function, pieces, shared, control=control, **options))
        news = [item.news for item in arrived if isinstance(item, Told)]
        return news, [item.value for item in sorted(arrived, key=lambda item: item.at) if isinstance(item, Done)]

    found = {"nodes": [node.to_dict() for node in engine.nodes()], "counting": run(work.counting, [3], 0.01)}
    try:
        run(work.failing, ["second"])
    except DeemError as error:
        found["failing"] = str(error)
    found["dying"] = run(work.dying, [1], str(Path(folder) / "deaths"))[1]
    found["keeping"] = run(work.keeping, ["a"], keys=lambda piece: [f"piece-{piece}"])[1]
    found["notes"] = control.notes
    begun = time.monotonic()
    found["stopped"] = run(work.counting, [10_000], 0.05, StopWhen(lambda: time.monotonic() - begun > 2))[1]
    found["seconds"] = time.monotonic() - begun
    print(json.dumps(found))  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
