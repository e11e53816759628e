"""Words on screen: the file's own word for learners, and a glossary."""

from __future__ import annotations

import streamlit as st

from deem_core import DeemError
from studio.data import datasets

MARGIN = "Margin"

TERMS = {
    "Learner": "Anyone or anything that labels rows: an annotator, a model, an LLM judge, a sensor or a rule. If your "
    "file has its own word for them, the app uses it.",
    "Vote": "The label that one learner gave one row. An empty cell is a missing vote.",
    "Class": "One of the labels that rows can have.",
    "Fused label": "The one label that a row gets from all its votes. To fuse is to make it.",
    "Majority vote": "The label with the most votes, every learner counting the same. The yardstick for "
    "everything else.",
    "Confidence": "The probability of the fused label, as the method sees it. Usually optimistic.",
    "Coverage": "Share of the possible votes that were cast.",
    "Truth": "Labels known to be right, used for evaluation only. They never reach training or fusing.",
    "Gold rows": "Rows whose right label you know and want used. They count in the answer and are left out of "
    "evaluations.",
    "Camps": "Two groups of learners, each consistent in itself, that contradict each other.",
    "Near-copies": "Learners whose votes are nearly the same. Together they know little more than one of them.",
    "Effective votes": "How many independent votes a row is worth, given who makes the same mistakes.",
    "Automatic answer": "`auto`: tests which model explains the votes and lets that one answer, in seconds.",
    "Dawid-Skene": "The classic method: learns how often each learner confuses one class with another.",
    "DEEM": "The energy-based model of the paper. It is trained, and can model learners that depend on each other.",
    "Restart": "One of several training runs of the same model, each from a different random start.",
    "Energy": "What training lowers for real votes and raises for samples of the model. Its curves show whether a "
    "learning rate is safe.",
    MARGIN: "The unit of a sweep's verdicts: how far the two energies typically are apart before training, or how deep "
    "their difference typically dips, whichever is larger.",
    "Sweep": "Short training runs at several learning rates, to compare their energy curves.",
}
"""What the app means by its words, in the order in which one meets them."""


def say(sentence: str) -> str:
    """Return one of our sentences in the file's own word."""
    if "earner" not in sentence:
        return sentence
    try:
        opened = datasets.current()
    except DeemError:  # the page itself says what is wrong with it
        opened = None
    return sentence if opened is None else opened.noun.say(sentence)


def glossary() -> None:
    """Show what the app means by its words, behind a button."""
    with st.popover("Glossary", icon=":material/menu_book:", key="glossary"):
        for term, meaning in TERMS.items():
            st.markdown(f"**{term}**: {meaning}")
