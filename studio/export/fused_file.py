"""Fused file: columns, review threshold, preview and download."""

from __future__ import annotations

from typing import Any

import streamlit as st

from deem_core.answers import MAX_PROBABILITIES, NOT_KEPT, export
from deem_core.figures import pictures
from studio import text, widgets
from studio.data.numbers import Number
from studio.export import results, review


def show(result: results.Labelled, place: str) -> None:
    """Show the choices, the first rows and the button.

    The keys of widgets begin with the place.

    Raises
    ------
    InputError
        If there can be no such file; then there is no button.
    """
    effects, columns = st.columns([3, 2], gap="medium")
    with columns:
        options, kind, safe = _columns(result, place)
    with effects:
        options |= _threshold(result, place)
    first = review.preview(result, options)
    results.check_room(result, options)
    st.markdown("**Preview**")
    st.dataframe(first, hide_index=True, height=300, placeholder="")
    ending, mime = results.FORMATS[kind]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(_story(result, options))
        # The preview has a button "Download as CSV" of its own, for what it shows: this one says how much it brings.
        widgets.download(
            f"Download {text.count(result.votes.n_rows, 'row')} as {kind}",
            lambda: results.fused_bytes(result, ending, options, safe=safe),
            results.fused_name(result, ending),
            f"download_{place}",
            mime=mime,
            primary=True,
        )


def _columns(result: results.Labelled, place: str) -> tuple[dict[str, Any], str, bool]:
    """Show the choice of columns and format."""
    st.markdown("**Columns**")
    known = result.answer.probabilities_known
    few = known and result.votes.n_classes <= MAX_PROBABILITIES
    options: dict[str, Any] = {
        "originals": st.toggle(
            "Original columns",
            True,
            **widgets.keep(f"{place}_originals"),
            help="Without them only the id comes back.",
        ),
        "probabilities": st.toggle(
            f"Probabilities of {text.count(result.votes.n_classes, 'class', 'classes')}",
            few,
            **widgets.keep(f"{place}_p_{known}_{few}"),
            disabled=not known,
            help=None if known else NOT_KEPT,
        ),
        "diagnostics": st.toggle(
            ", ".join(export.DIAGNOSTICS).replace("_", " ").capitalize(), True, **widgets.keep(f"{place}_more")
        ),
        "label_column": st.text_input(
            "Name of the label column", "fused_label", **widgets.keep(f"{place}_name"), max_chars=200
        ),
    }
    kind = st.selectbox("Format", list(results.FORMATS), **widgets.keep(f"{place}_format"))
    safe = st.toggle(
        "Safe to open in a spreadsheet",
        True,
        **widgets.keep(f"{place}_safe"),
        disabled=kind == "Parquet",
        help="Cells that a spreadsheet would run as a formula get an apostrophe; numbers are not touched. A Parquet "
        "file is never altered.",
    )
    return options, kind, safe


def _threshold(result: results.Labelled, place: str) -> dict[str, Any]:
    """Show the threshold for review with its effect."""
    low = st.slider(
        "Review labels with a confidence below",
        0.0,
        1.0,
        0.0,
        step=review.STEP,
        **widgets.keep(f"{place}_threshold"),
        help="At 0 the usual rule holds: the tenth of the rows that their votes back least. Overruled unanimous votes "
        "and rows without votes need review in any case.",
    )
    by = review.threshold_facts(result)
    effect = review.effect(by, low)
    widgets.picture(pictures.review_threshold(by.edges, by.counts, low or None), f"{place}_histogram")
    widgets.number_cards(_cards(effect), columns=2, min_width=170)
    if not low:
        return {}
    blank = st.toggle(f"Leave the {text.count(effect.below, 'label')} below it empty", **widgets.keep(f"{place}_blank"))
    return {"review_below": low, "blank": blank}


def _cards(effect: review.Effect) -> list[Number]:
    review = Number(
        "Rows to review",
        text.count(effect.review),
        f"{text.percent(effect.review / max(effect.rows, 1))} of rows",
        "Rows that the file marks in needs_review.",
    )
    if effect.all_accuracy is not None:
        return [
            review,
            Number(
                "Accuracy of the rest",
                "–" if effect.kept_accuracy is None else text.percent(effect.kept_accuracy),
                f"evaluation; all {text.percent(effect.all_accuracy)}",
                "Share of right labels among the rows that need no review, where the truth is known.",
            ),
        ]
    return [
        review,
        Number(
            "Confidence of the rest",
            "–" if effect.kept_confidence is None else text.percent(effect.kept_confidence),
            "usually optimistic",
            "Mean probability of the labels that need no review. Without true labels nobody knows how many are right.",
        ),
    ]


def _story(result: results.Labelled, options: dict[str, Any]) -> str:
    """Return what the file will hold, in words."""
    votes, wanted_name = result.votes, options["label_column"]
    sentences = [f"{text.count(votes.n_rows, 'row')} in the order of the file."]
    silent = int((votes.votes_per_row == 0).sum())
    if silent:
        sentences.append(
            f"{text.count(silent, 'row')} without votes {'come' if silent > 1 else 'comes'} with no label."
        )
    if result.reading.report.layout == "long":
        sentences.append("One row for each task.")
    name = export.label_name(result.reading, wanted_name, originals=options["originals"])
    if name != wanted_name:
        sentences.append(f"A column {text.plain(wanted_name)} is there already, so the new one is {text.plain(name)}.")
    return " ".join([*sentences, "Made on click."])
