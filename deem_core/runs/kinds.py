"""The kinds of runs and who executes them; each is one module with ``execute(job)`` that imports torch only there."""

from __future__ import annotations

from collections.abc import Callable

from deem_core.runs import apply_kind, compare_kind, inspect_kind, sweep_kind, train_kind
from deem_core.runs.job import Job

KINDS: dict[str, Callable[[Job], None]] = {
    "sweep": sweep_kind.execute,
    "train": train_kind.execute,
    "compare": compare_kind.execute,
    "apply": apply_kind.execute,
    "inspect": inspect_kind.execute,
}
