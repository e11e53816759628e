"""The command line: every capability of the library as a command.

Exit code 0, or one sentence on stderr and exit code 2; `check` has 1 for a condition that fails.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence

from deem_core import __version__
from deem_core.cli import ask, check, compare, describe, fuse, report, runs, simulate, sweep, system, terminal
from deem_core.cli.options import Parser
from deem_core.cli.requests import Request, Sent, export_options, request, run_facts, start, write_labels
from deem_core.errors import DeemError

__all__ = [
    "Request",
    "Sent",
    "export_options",
    "main",
    "parser",
    "request",
    "run_facts",
    "start",
    "write_labels",
]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal that cannot show a label shows a question mark
    code = 0
    try:
        options = parser().parse_args(argv)
        command: Callable[[argparse.Namespace], int | None] = options.command
        with terminal.calm():
            code = command(options) or 0
        sys.stdout.flush()
    except DeemError as error:
        print(terminal.spelled(" ".join(str(error).splitlines())), file=sys.stderr)
        return 2
    except MemoryError:
        print("There is not enough memory for this: try fewer rows, learners or classes.", file=sys.stderr)
        return 2
    except BrokenPipeError:  # whoever reads the output, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130
    return code


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    made = Parser(
        prog="python -m deem_core",
        description="Fuse many predictors' labels into one label per row that you can trust, without ground truth.",
    )
    made.add_argument("--version", action="version", version=f"deem-studio {__version__}")
    commands = made.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=Parser)
    for command in (describe, simulate, fuse, check, ask, sweep, compare, runs, report, system):
        command.add(commands)
    return made
