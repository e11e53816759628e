"""estimate: how long a run of a dataset in the workspace would take."""

from __future__ import annotations

import argparse
import json
from typing import Any

from deem_core.cli.options import add_command, check_outputs
from deem_core.errors import InputError
from deem_core.files import write_json
from deem_core.runs import Workspace


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "estimate",
        _estimate,
        "Say how long a sweep of a dataset in the workspace would take here.",
        "A few real updates are timed; nothing is kept.\n\n"
        "examples:\n"
        "  python -m deem_core estimate DATASET --config '{\"updates\":300}'",
    )
    parser.add_argument("dataset", metavar="DATASET", help="id of a dataset (32 hex digits)")
    parser.add_argument("--config", metavar="JSON", default="{}", help="settings of the sweep")
    parser.add_argument("--json", metavar="OUT", help="also write the seconds as JSON")


def _estimate(options: argparse.Namespace) -> None:
    check_outputs([options.json])
    try:
        config = json.loads(options.config)
    except ValueError:
        raise InputError("--config is not JSON; write for example '{\"updates\": 300}'.") from None
    if not isinstance(config, dict):
        raise InputError("--config must be a JSON object of settings.")
    workspace = Workspace()
    votes = workspace.read(workspace.dataset(options.dataset)).votes

    from deem_core.runs.sweep_kind import make_sweeper  # noqa: PLC0415  # imports torch when it is called

    seconds = make_sweeper(votes, config).estimate_seconds()
    print(f"About {seconds:,.0f} s.")
    if options.json:
        write_json({"seconds": seconds}, options.json)
