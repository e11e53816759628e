"""The head of pages that are about a dataset: title, question, complaint, or what is missing."""

from __future__ import annotations

from streamlit.delta_generator import DeltaGenerator

from studio import datasets, errors, widgets


def with_data(title: str, question: str, icon: str, sentence: str) -> tuple[DeltaGenerator, datasets.Opened] | None:
    """Show the head of a page and return the place for its badges and the dataset in use.

    Without a dataset the page says so in the middle, with a button that leads to one, and None is returned.

    Parameters
    ----------
    title, question : str
    icon, sentence : str
        Of the empty page: what will be seen here.
    """
    badges = widgets.header(title, question)
    opened = None
    with errors.shown():
        opened = datasets.current()
    widgets.complaint()
    if opened is None:
        widgets.empty_state(icon, "No data yet", sentence, "Bring data", "data")
        return None
    return badges, opened
