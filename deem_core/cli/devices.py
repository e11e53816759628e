"""devices: where models can be trained on this machine."""

from __future__ import annotations

import argparse
from typing import Any

from deem_core.cli.options import add_command
from deem_core.cli.text import megabytes, table
from deem_core.devices import Device, devices
from deem_core.files import write_json


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "devices",
        _devices,
        "List where models can be trained on this machine.",
        "The first one is what --device auto takes.\n\nexamples:\n  python -m deem_core devices",
    )
    parser.add_argument("--json", metavar="OUT", help="also write the list as JSON")


def _devices(options: argparse.Namespace) -> None:
    found = devices()
    for line in table(("device", "name", "room"), [_row(device) for device in found], len(found)):
        print(line)
    if options.json:
        write_json({"devices": [device.to_dict() for device in found]}, options.json)


def _row(device: Device) -> tuple[str, str, str]:
    if device.free_memory is not None and device.memory is not None:
        return device.name, device.title, f"{megabytes(device.free_memory)} of {megabytes(device.memory)} free"
    return device.name, device.title, f"{device.threads} cores" if device.threads else ""
