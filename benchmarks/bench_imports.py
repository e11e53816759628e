"""Time of importing the library and of showing the app's first page, each in a fresh process.

Usage: python -m benchmarks.bench_imports

CPU time without the start of Python itself, the least of several processes; beside it which of the heavy libraries
were loaded. The first page is made as a session makes it, on an empty workspace, without a browser.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
HEAVY = ("numpy", "pandas", "scipy", "sklearn", "plotly", "torch", "numba")
REPEATS = 5
LIMIT = 0.6
"""CPU seconds that the import of the library may take."""

PAGE = f"""
import logging
logging.disable(logging.WARNING)
from streamlit.testing.v1 import AppTest
began = time.process_time()
page = AppTest.from_file({str(ROOT / "app.py")!r}, default_timeout=60).run()
assert not page.exception and page.title[0].value == "DEEM Studio"
"""
CODE = {
    "import deem_core": "import deem_core",
    "deem_core.Votes, deem_core.read": "import deem_core; deem_core.Votes, deem_core.read",
    "deem_core.fuse": "import deem_core; deem_core.fuse",
    "deem_core.DEEM": "import deem_core; deem_core.DEEM",
    "first page of the app (Streamlit loaded)": PAGE,
}


def main() -> None:
    """Print a line for each import."""
    print(f"{'':<42}{'CPU, s':>8}  loaded")
    for name, code in CODE.items():
        runs = [measure(code) for _ in range(REPEATS)]
        seconds, loaded = min(runs)
        mark = f"  above the limit of {LIMIT:g}" if name == "import deem_core" and seconds > LIMIT else ""
        print(f"{name:<42}{seconds:>8.2f}  {loaded or 'none of these'}{mark}", flush=True)


def measure(code: str) -> tuple[float, str]:
    """Return the seconds of some code in a fresh process, and the heavy libraries it loaded."""
    script = (
        f"import sys, time\nbegan = time.process_time()\n{code}\nprint(time.process_time() - began)\n"
        f"print(*(name for name in {HEAVY!r} if name in sys.modules))"
    )
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(
            [sys.executable, "-c", script],
            cwd=ROOT,
            env=os.environ | {"DEEM_HOME": home},
            capture_output=True,
            text=True,
            check=True,
        )
    seconds, loaded = done.stdout.split("\n")[-3:-1]
    return float(seconds), loaded


if __name__ == "__main__":
    main()
