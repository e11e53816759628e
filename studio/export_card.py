"""The fused file as people want it: its columns, the threshold for review, a preview and the download."""

from __future__ import annotations

from typing import Any

import streamlit as st

from deem_core import figures
from deem_core.export import MAX_PROBABILITIES
from studio import exporting, results, text, widgets
from studio.numbers import Number


def show(found: results.Labelled, place: str) -> None:
    """Show the choices, the first rows and the button; the keys of widgets begin with the place.

    Raises
    ------
    InputError
        If there can be no such file; then there is no button.
    """
    effects, columns = st.columns([3, 2], gap="medium")
    with columns:
        options, kind, safe = _columns(found, place)
    with effects:
        options |= _threshold(found, place)
    first = exporting.preview(found, options)
    results.check_room(found, options)
    st.markdown("**Preview**")
    st.dataframe(first, hide_index=True, height=300, placeholder="")
    ending, mime = results.FORMATS[kind]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(_story(found, options, first.columns.tolist()))
        # The preview has a button "Download as CSV" of its own, for what it shows: this one says how much it brings.
        st.download_button(
            f"Download {text.count(found.votes.n_rows, 'row')} as {kind}",
            data=lambda: results.file_bytes(results.fused_table(found, options), ending, safe=safe),
            file_name=results.file_name(found.opened, f"fused{ending}"),
            mime=mime,
            key=f"download_{place}",
            type="primary",
            icon=":material/download:",
            on_click="ignore",
        )


def _columns(found: results.Labelled, place: str) -> tuple[dict[str, Any], str, bool]:
    """Show the choice of columns and format."""
    st.markdown("**Columns**")
    many = found.votes.n_classes > MAX_PROBABILITIES
    options: dict[str, Any] = {
        "originals": st.toggle(
            "Original columns",
            True,
            key=f"{place}_originals",
            persist_state="session",
            help="Without them only the id comes back.",
        ),
        "probabilities": st.toggle(
            f"Probabilities of {text.count(found.votes.n_classes, 'class', 'classes')}",
            not many,
            key=f"{place}_p_{many}",
            persist_state="session",
        ),
        "diagnostics": st.toggle(
            "Majority vote, agreement, entropy, needs review", True, key=f"{place}_more", persist_state="session"
        ),
        "label_column": st.text_input(
            "Name of the label column", "fused_label", key=f"{place}_name", max_chars=200, persist_state="session"
        ),
    }
    kind = st.selectbox("Format", list(results.FORMATS), key=f"{place}_format", persist_state="session")
    safe = st.toggle(
        "Safe to open in a spreadsheet",
        True,
        key=f"{place}_safe",
        persist_state="session",
        disabled=kind == "Parquet",
        help="Cells that a spreadsheet would run as a formula get an apostrophe; numbers are not touched. A Parquet "
        "file is never altered.",
    )
    return options, kind, safe


def _threshold(found: results.Labelled, place: str) -> dict[str, Any]:
    """Show the threshold for review with its effect."""
    low = st.slider(
        "Review labels with a confidence below",
        0.0,
        1.0,
        0.0,
        step=exporting.STEP,
        key=f"{place}_threshold",
        persist_state="session",
        help="At 0 the usual rule holds: the tenth of the rows that their votes back least. Overruled unanimous votes "
        "and rows without votes need review in any case.",
    )
    by = exporting.weighed(found)
    effect = exporting.effect(by, low)
    widgets.chart(
        figures.confidence_histogram(by.edges, by.counts, threshold=low or None, theme=widgets.theme()),
        f"{place}_histogram",
        "Histogram: rows by the confidence of their label, those to review in another colour.",
    )
    widgets.number_cards(_cards(effect), columns=2, min_width=170)
    if not low:
        return {}
    blank = st.toggle(
        f"Leave the {text.count(effect.below, 'label')} below it empty", key=f"{place}_blank", persist_state="session"
    )
    return {"review_below": low, "blank": blank}


def _cards(effect: exporting.Effect) -> list[Number]:
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


def _story(found: results.Labelled, options: dict[str, Any], names: list[str]) -> str:
    """Return what the file will hold, in words."""
    votes, wish = found.votes, options["label_column"]
    said = [f"{text.count(votes.n_rows, 'row')} in the order of the file."]
    silent = int((votes.votes_per_row == 0).sum())
    if silent:
        said.append(f"{text.count(silent, 'row')} without votes {'come' if silent > 1 else 'comes'} with no label.")
    if found.reading.report.layout == "long":
        said.append("One row for each task.")
    added = 2 + options["probabilities"] * votes.n_classes + options["diagnostics"] * 4
    used = names[-added]
    if used != wish:
        said.append(f"A column {text.plain(wish)} is there already, so the new one is {text.plain(used)}.")
    return " ".join([*said, "Made on click."])
