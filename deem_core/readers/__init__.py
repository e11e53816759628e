"""Readers: the files people really have, turned into `Votes` with a report of what was understood."""

from deem_core.labels import DEFAULT
from deem_core.readers.read import Reading, read, read_votes
from deem_core.readers.report import Note, Report
from deem_core.readers.source import Source

__all__ = ["DEFAULT", "Note", "Reading", "Report", "Source", "read", "read_votes"]
