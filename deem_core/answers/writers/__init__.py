"""Writers: fused labels in the formats of other tools.

Tables are written by `deem_core.answers.export`; here are the list of all formats, and those that are no table.
"""

from deem_core.answers.writers.formats import (
    DOWNLOADS,
    FORMATS,
    TABLES,
    ZIPPED,
    Download,
    Written,
    check_output,
    format_name,
    write_answer,
    write_download,
)
from deem_core.answers.writers.label_studio import Names

__all__ = [
    "DOWNLOADS",
    "FORMATS",
    "TABLES",
    "ZIPPED",
    "Download",
    "Names",
    "Written",
    "check_output",
    "format_name",
    "write_answer",
    "write_download",
]
