"""Errors on screen: a sentence or an id, never a traceback.

A sentence for what people can mend, an id for what only the log explains.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from deem_core import DeemError
from studio import state, text

_log = logging.getLogger(__name__)


@contextmanager
def boundary() -> Iterator[None]:
    """Show an error inside and go on. Also a decorator: ``@boundary()``.

    A `DeemError` becomes a box with its sentence. Anything else is a bug: the box gives an id, and the log has
    the traceback under that id. Streamlit's own signals (stop, rerun, switch page) pass through.
    """
    try:
        yield
    except DeemError as error:
        st.info(text.plain(str(error)), icon=":material/info:")
    except Exception:
        st.error(_broken(bold="**"), icon=":material/error:")


@contextmanager
def callback_boundary(place: str | None = None) -> Iterator[None]:
    """Report an error of a callback, by `widgets.complaint`.

    What was kept before is forgotten. Where the page shows complaints near the widget that was used, ``place`` names
    that place; everywhere else a toast points at the complaint, which may be out of sight.
    """
    state.complain(None)
    try:
        yield
    except DeemError as error:
        _tell(str(error), place)
    except Exception:
        _tell(_broken(), place)


def _tell(sentence: str, place: str | None) -> None:
    state.complain(sentence, place or state.TOP)
    if place is None:
        st.toast(text.plain(sentence), icon=":material/info:")


def _broken(bold: str = "") -> str:
    number = secrets.token_hex(4)
    _log.exception("Something broke, id %s", number)
    return (
        f"Something broke, id {bold}{number}{bold}. It is not your fault: the app's log has the details under this id."
    )
