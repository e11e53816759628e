"""Reports of trainings: one web page, and the same numbers as JSON.

`material` gathers what the workspace knows, `numbers` turns it into plain values, `render` fills the templates.
Nothing is trained, and nothing computed anew but what reading the file tells.
"""

from deem_core.reporting.build import Report, report
from deem_core.reporting.command import repeat_command

__all__ = ["Report", "repeat_command", "report"]
