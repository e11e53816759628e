"""The errors that people are meant to read.

What is wrong, where, and what to do about it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from deem_core.text import sentence


class DeemError(Exception):
    """Base of every error that deem_core raises on purpose.

    Its text is shown to the user as it is, however long the names in the file are.
    """

    def __str__(self) -> str:
        """Return the sentence, cut if names from a file made it endless."""
        return sentence(super().__str__())


class InputError(DeemError, ValueError):
    """The data or settings handed in cannot be used."""


class MissingPackageError(DeemError, ModuleNotFoundError):
    """A package that only some methods need is not installed."""


def missing_torch() -> str:
    """Return what to do where PyTorch is missing; else nothing.

    Nothing is imported to find out.
    """
    if find_spec("torch") is not None:
        return ""
    return (
        "PyTorch is not installed, and DEEM, soft DEEM, the iRBM, HLM and learning-rate sweeps need it: "
        'pip install "deem-studio[torch]" brings it; everything else works without it.'
    )


@contextmanager
def torch_wanted() -> Iterator[None]:
    """Say what to install if an import inside finds no PyTorch.

    Raises
    ------
    MissingPackageError
        In place of Python's own error.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name != "torch" or isinstance(error, MissingPackageError):
            raise
        raise MissingPackageError(missing_torch(), name="torch") from None
