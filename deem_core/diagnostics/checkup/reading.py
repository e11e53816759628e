"""What the reading of a file says about its votes."""

from __future__ import annotations

from collections.abc import Iterator

from deem_core.diagnostics.checkup.findings import Finding
from deem_core.readers import HOW_TO_USE_PROBABILITIES, Report
from deem_core.text import count, quoted


def unused_probabilities(report: Report) -> Iterator[Finding]:
    """Find columns that look like probabilities and are not read as any."""
    columns = report.unused_probabilities
    if columns:
        yield Finding(
            "unused_probabilities",
            "warning",
            f"{count(len(columns), 'probability column')} {'is' if len(columns) == 1 else 'are'} unused",
            f"{quoted(columns, 5)} look{'s' if len(columns) == 1 else ''} like probabilities, but it is not clear of "
            "which class.",
            HOW_TO_USE_PROBABILITIES,
            numbers={"columns": columns},
        )
