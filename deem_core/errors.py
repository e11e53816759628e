"""The errors that people are meant to read.

What is wrong, where, and what to do about it.
"""


class DeemError(Exception):
    """Base of every error that deem_core raises on purpose.

    Its text is shown to the user as it is.
    """


class InputError(DeemError, ValueError):
    """The data or settings handed in cannot be used."""
