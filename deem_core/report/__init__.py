"""The report of a training run: one web page and one JSON file with the same numbers.

`material` gathers what the workspace knows, `data` turns it into plain numbers, the sections into words and pictures,
and `page` into one file. Nothing is trained or computed anew but what reading the file tells.
"""

from deem_core.report.build import Report, build, report_data
from deem_core.report.command import repeat_command

__all__ = ["Report", "build", "repeat_command", "report_data"]
