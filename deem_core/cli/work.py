"""work: do the work of a waiting run; this is what the app starts in the background."""

from __future__ import annotations

import argparse
from typing import Any

from deem_core.cli.options import add_command
from deem_core.errors import DeemError


def add(commands: Any) -> None:
    """Add the command."""
    work = add_command(
        commands,
        "work",
        _work,
        "Do the work of a waiting run.",
        "The app starts this in the background. Runs for the same device are worked on one at a time, in the order\n"
        "they came; a file named cancel in the folder stops the work within two seconds.\n\n"
        "examples:\n"
        "  python -m deem_core work ~/.local/share/deem-studio/runs/0123456789abcdef0123456789abcdef",
    )
    work.add_argument("folder", metavar="RUN_DIR", help="the folder of a run in a workspace")


def _work(options: argparse.Namespace) -> None:
    from deem_core.runs.worker import work  # noqa: PLC0415  # only workers need it

    ended = work(options.folder)
    if ended.state == "failed":
        raise DeemError(ended.reason)
