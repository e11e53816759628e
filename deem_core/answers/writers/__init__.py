"""Writers: fused labels in the formats of other tools.

Tables are written by `deem_core.answers.export`; here are the list of all formats, and those that are no table.
"""

from deem_core.answers.writers.formats import FORMATS, TABLES, Written, check_output, format_name, write_answer
from deem_core.answers.writers.label_studio import Names

__all__ = ["FORMATS", "TABLES", "Names", "Written", "check_output", "format_name", "write_answer"]
