"""report: everything about a finished training or answer as one page."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from deem_core.cli.options import add_command, check_outputs
from deem_core.cli.runs import find_run
from deem_core.cli.terminal import on_one_line
from deem_core.runs import Workspace
from deem_core.text import size


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "report",
        _report,
        "Write the report of a finished training or answer as one web page.",
        "The page holds data, settings, labels, learners, gold rows, limits and the command that repeats the run; of\n"
        "a training its curves, and of an answer who gave it and why. It needs no network. What was not computed\n"
        "is named, with what would compute it.\n\n"
        "examples:\n"
        "  python -m deem_core report 0123456789ab -o report.html\n"
        "  python -m deem_core report 0123456789ab -o report.html --json report.json",
    )
    parser.add_argument("run", metavar="RUN", help="id of a train or fuse run, or the first four digits of it or more")
    parser.add_argument("-o", "--output", metavar="HTML", required=True, help="where to write the page")
    parser.add_argument("--json", metavar="OUT", help="also write the same numbers as JSON")


def _report(options: argparse.Namespace) -> None:
    check_outputs([options.output, options.json])
    workspace = Workspace()
    run = find_run(workspace, options.run)

    from deem_core.reporting import report  # noqa: PLC0415  # only those who report wait for Plotly

    page = report(run, workspace)
    page.write(options.output)
    if options.json:
        page.write_json(options.json)
    numbers = page.to_dict()
    print(on_one_line(f"{numbers['dataset']['name']}: {numbers['story']}"))
    if numbers["not_computed"]:
        print(f"Not computed: {', '.join(name.replace('_', ' ') for name in numbers['not_computed'])}.")
    size_of_file = size(Path(options.output).stat().st_size)
    written = " and ".join(name for name in (options.output, options.json) if name)
    print(f"Written: {written} ({size_of_file}).")
