"""Run the command line: ``python -m deem_core``."""

import sys

from deem_core.cli import main

if __name__ == "__main__":
    sys.exit(main())
