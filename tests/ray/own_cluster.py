"""What a command does where no cluster runs: python -m tests.ray.own_cluster. Prints what listens where, as JSON."""

import glob
import json
import os
import tempfile
from contextlib import suppress

import psutil
from ray._private import services

from deem_core.control import NO_CONTROL
from deem_core.engine import Done, engine_of
from tests.ray import work


def main():
    services.find_bootstrap_address = lambda folder: None  # others may run one
    engine = engine_of("ray")
    with engine.crew() as crew:
        arrived = crew.run(work.counting, [3], 0, control=NO_CONTROL)
        values = [item.value for item in arrived if isinstance(item, Done)]
    me, listening = psutil.Process(), set()
    for process in [me, *me.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            listening |= {
                each.laddr.ip for each in process.net_connections("inet") if each.status == psutil.CONN_LISTEN
            }
    folders = glob.glob(os.path.join(tempfile.gettempdir(), "deem-ray-*"))
    processes = [process.pid for process in me.children(recursive=True)]
    told = {"values": values, "listening": sorted(listening), "folders": folders, "processes": processes}
    print(json.dumps({**told, "started": engine.started}))  # noqa: T201


if __name__ == "__main__":
    main()
