"""How much memory this process has needed at its peak."""

from __future__ import annotations

import sys
from pathlib import Path


def peak_bytes() -> int | None:
    """Return the most memory this process has held so far; None where the system does not tell.

    Linux is asked through ``/proc``, because ``ru_maxrss`` there starts from the parent's peak.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    try:
        import resource  # noqa: PLC0415  # not there on Windows
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak if sys.platform == "darwin" else peak * 1024)
