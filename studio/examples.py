"""What a page will show: a few words and a faint example."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from deem_core.figures import Picture, pictures
from studio import widgets


@dataclass(frozen=True)
class Example:
    """What will be seen on a page.

    Attributes
    ----------
    sentences : tuple of str
        Markdown, one line each.
    picture : callable, optional
        Makes a picture of invented numbers.
    """

    sentences: tuple[str, ...]
    picture: Callable[[], Picture] | None = None


EXAMPLES = {
    "Learning rate": Example(
        (
            "The energy curves of every rate side by side; a healthy difference dips and recovers (green).",
            "A verdict with its reason for each rate, and the recommended rate.",
        ),
        pictures.example_rates,
    ),
    "Train": Example(
        (
            "The curves of every restart, live; restarts that agree lie on top of each other.",
            "Then what changed against the majority vote, the doubtful rows, and the file to download.",
        ),
        pictures.example_training,
    ),
    "Learners": Example(
        (
            "How much the labels depend on each learner, and on which classes.",
            "Each learner's usual mistakes, and for any single row why it got its label.",
        ),
        pictures.example_influence,
    ),
    "Dependence": Example(
        (
            "Pairs of learners that make the same mistakes: the strong colours.",
            "Whether the model's layers separate them.",
        ),
        pictures.example_dependence,
    ),
    "Compare": Example(
        (
            "How much the methods agree, and on which rows they do not.",
            "If your file has true labels: the accuracy of each method with its interval.",
        ),
        pictures.example_methods,
    ),
    "Review": Example(
        (
            "A short queue of the rows most worth labelling, one at a time. You can do it all from the keyboard.",
            "What your answers prove about every method, with intervals.",
        )
    ),
    "Export": Example(
        (
            "**Fused labels:** your file with one label per row, its confidence, and the rows to review.",
            "**Review queue:** the most doubtful rows first, for people to check.",
            "**New data, model, report:** label future files, keep the model, share a one-page report.",
        )
    ),
}
"""Title of a page → what it will show."""


def show(title: str) -> None:
    """Show what a page will look like, if it has an example."""
    example = EXAMPLES.get(title)
    if example is None:
        return
    with st.container(border=True, key=f"example_{title.lower().replace(' ', '_')}", gap="small"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown("**What you will see here**", width="stretch")
            if example.picture is not None:
                st.badge("Example with made-up numbers", color="gray")
        st.markdown("\n".join(f"- {sentence}" for sentence in example.sentences))
        if example.picture is not None:
            widgets.live_picture(
                example.picture(), f"picture_of_example_{title.lower().replace(' ', '_')}", with_numbers=False
            )
