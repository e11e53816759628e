"""Do the work of a run: ``python -m deem_core.runs FOLDER``.

Unlike the command ``work`` this imports no other command, so that a run that waits takes little memory.
"""

import sys

from deem_core.errors import DeemError
from deem_core.runs.worker import work


def main(folder: str) -> int:
    """Do the work and return the exit code: 0, or 2 with a sentence."""
    try:
        ended = work(folder)
    except DeemError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 2 if ended.state == "failed" else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
