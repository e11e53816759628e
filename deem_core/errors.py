"""The errors that people are meant to read.

What is wrong, where, and what to do about it.
"""

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
