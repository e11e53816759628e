"""devices, estimate and work: the machine and its workers."""

from __future__ import annotations

import argparse
import json
from typing import Any

from deem_core.cli.options import add_command, add_engine_option, check_outputs
from deem_core.cli.terminal import table
from deem_core.comparison import expected_time
from deem_core.engine import LOCAL, Node, Survey, survey, wish_of
from deem_core.errors import DeemError, InputError
from deem_core.files.atomic import write_json
from deem_core.model.devices import Device, devices
from deem_core.runs import Workspace
from deem_core.text import count, size

KINDS = ("sweep", "fuse", "train", "compare", "ask")
"""Runs whose time can be told beforehand."""


def add(commands: Any) -> None:
    """Add the commands."""
    _add_devices(commands)
    _add_estimate(commands)
    _add_work(commands)


def _add_devices(commands: Any) -> None:
    """Add `devices`."""
    parser = add_command(
        commands,
        "devices",
        _devices,
        "List where models can be trained: on this machine, or on a cluster.",
        "--device auto takes the first one. With --on the machines of a cluster are listed instead; one that does not\n"
        "run is not started for it.\n\nexamples:\n"
        "  python -m deem_core devices\n"
        "  python -m deem_core devices --on ray",
    )
    add_engine_option(parser)
    parser.add_argument("--json", metavar="OUT", help="also write the list as JSON")


def _devices(options: argparse.Namespace) -> None:
    check_outputs([options.json])
    wish = wish_of(options.on)
    try:
        found = survey(wish)
    except DeemError as error:
        if options.json:
            write_json({"devices": [], "engine": wish, "nodes": [], "problem": str(error)}, options.json)
        raise
    known = devices() if wish == LOCAL else []
    if wish == LOCAL:
        print(*table(("device", "name", "room"), [_row(device) for device in known], len(known)), sep="\n")
    else:
        _print_cluster(found)
    if options.json:
        own = [device.to_dict() for device in known]
        write_json({"devices": own, **found.to_dict(), "problem": None}, options.json)


def _print_cluster(found: Survey) -> None:
    """Print the machines of a cluster, and what waits there."""
    header = ("machine", "cores", "GPUs", "memory")
    print(*table(header, [_machine(node) for node in found.nodes], len(found.nodes)), sep="\n")
    if not found.running:
        print("No Ray cluster runs here. A run with --on ray starts one on this machine for itself.")
    if found.waiting:
        print(f"{count(found.waiting, 'piece')} of work {'waits' if found.waiting == 1 else 'wait'} for a free core.")


def _machine(node: Node) -> tuple[str, str, str, str]:
    name = f"{node.name} (this machine)" if node.here and node.name != "this machine" else node.name
    memory = "–" if node.memory is None else size(node.memory)
    return name, _part(node.cores, node.free_cores), _part(node.gpus, node.free_gpus), memory


def _part(whole: float, free: float | None) -> str:
    return f"{whole:g}" if free is None or not whole else f"{free:g} of {whole:g} free"


def _row(device: Device) -> tuple[str, str, str]:
    if device.free_memory is not None and device.memory is not None:
        return device.name, device.title, f"{size(device.free_memory)} of {size(device.memory)} free"
    return device.name, device.title, f"{device.threads} cores" if device.threads else ""


def _add_estimate(commands: Any) -> None:
    """Add `estimate`."""
    parser = add_command(
        commands,
        "estimate",
        _estimate,
        "Estimate how long a run on a dataset in the workspace would take here.",
        "For a sweep a few real updates are timed, and nothing is kept. Other times follow from rows, learners and\n"
        "classes, are those of the app, and are right within a factor of 2 or 3.\n\n"
        "examples:\n"
        "  python -m deem_core estimate DATASET --config '{\"updates\":300}'\n"
        '  python -m deem_core estimate DATASET --kind compare --config \'{"methods":["ds","deem"]}\'',
    )
    parser.add_argument("--kind", choices=KINDS, default="sweep", help="of the run (default sweep)")
    parser.add_argument("dataset", metavar="DATASET", help="id of a dataset (32 hex digits)")
    parser.add_argument("--config", metavar="JSON", default="{}", help="settings of the run")
    parser.add_argument("--workspace", metavar="FOLDER", help="where the dataset is (default $DEEM_HOME or yours)")
    parser.add_argument("--json", metavar="OUT", help="also write the seconds as JSON")


def _estimate(options: argparse.Namespace) -> None:
    check_outputs([options.json])
    try:
        config = json.loads(options.config)
    except ValueError:
        raise InputError("--config is not JSON; write for example '{\"updates\": 300}'.") from None
    if not isinstance(config, dict):
        raise InputError("--config must be a JSON object of settings.")
    config["on"] = LOCAL  # the time is that of this machine, wherever the run is to be, and whatever $DEEM_ENGINE says
    workspace = Workspace(options.workspace)
    votes = workspace.read(workspace.dataset(options.dataset)).votes

    if options.kind == "sweep":
        from deem_core.runs.kinds import make_sweeper  # noqa: PLC0415  # imports torch when it is called

        seconds = make_sweeper(votes, config | {"start": "majority"}).estimate_seconds()  # no search for groups
    else:
        seconds = expected_time(options.kind, votes, config)
    print(f"About {seconds:,.0f} s.")
    if options.json:
        write_json({"seconds": seconds}, options.json)


def _add_work(commands: Any) -> None:
    """Add `work`."""
    work = add_command(
        commands,
        "work",
        _work,
        "Do the work of a waiting run.",
        "The app does the same in the background. Runs for the same device are worked on one at a time, in the order\n"
        "they came; a file named cancel in the folder stops the work within two seconds, on a cluster within six.\n\n"
        "examples:\n"
        "  python -m deem_core work ~/.local/share/deem-studio/runs/0123456789abcdef0123456789abcdef",
    )
    work.add_argument("folder", metavar="RUN_DIR", help="the folder of a run in a workspace")


def _work(options: argparse.Namespace) -> None:
    from deem_core.runs.worker import work  # noqa: PLC0415  # only workers need it

    ended = work(options.folder)
    if ended.state == "failed":
        raise DeemError(ended.reason)
