"""Compile what the tests need: the training kernel, and the tests themselves.

``python -m tests.warm`` runs beside the type checker, which needs one core alone. Without it the first tests of every
process compile the same things at the same time.
"""

import contextlib
import io

import pytest

from deem_core.model.kernel.engine import warm_up


def main() -> None:
    """Leave compiled code where tests, and the workers they start, will find it."""
    warm_up()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        pytest.main(["--collect-only", "--quiet", "-p", "no:cacheprovider"])  # what is wrong, the tests will say


if __name__ == "__main__":
    main()
