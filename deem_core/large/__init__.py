"""Large files: fitted on patterns and a sample, labelled part by part."""

from deem_core.large.extract import Extract, make_extract
from deem_core.large.labelling import Labelling, fuse_extract
from deem_core.large.memory import needs_parts
from deem_core.large.parts import Parts, Totals, write_in_parts

__all__ = ["Extract", "Labelling", "Parts", "Totals", "fuse_extract", "make_extract", "needs_parts", "write_in_parts"]
