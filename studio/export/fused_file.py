"""Fused file: columns, rows to review, preview and download."""

from __future__ import annotations

from typing import Any

import streamlit as st

from deem_core.answers import MAX_PROBABILITIES, NOT_KEPT, Names, export
from deem_core.figures import pictures
from studio import text, widgets
from studio.data.numbers import Number
from studio.export import results, review

IN_ANY_CASE = "Unanimous votes that were overruled and rows without votes need review in any case."


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
        options, kind, how = _columns(result, place)
    with effects:
        options |= _budget(result, place)
    first = review.preview(result, options)
    results.check_room(result, options)
    st.markdown("**Preview**")
    st.caption("New columns first; in the file they come last.")
    numbers = first.select_dtypes("float").columns
    st.dataframe(
        first,
        hide_index=True,
        height=300,
        placeholder="",
        column_config={name: st.column_config.NumberColumn(format="%.4g") for name in numbers},
    )
    ending, mime = results.FORMATS[kind]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(_story(result, options))
        # The preview shows some of the rows: the button says how many it brings.
        widgets.download(
            f"Download {result.instead or text.count(result.votes.n_rows, 'row')} as {kind}",
            lambda: results.fused_bytes(result, ending, options, **how),
            results.fused_name(result, ending),
            f"download_{place}",
            mime=mime,
            primary=not result.instead,
        )


def _columns(result: results.Labelled, place: str) -> tuple[dict[str, Any], str, dict[str, Any]]:
    """Show the choice of columns and format.

    Returns the options of the table, the format, and what else `results.fused_bytes` wants to know.
    """
    st.markdown("**Columns**")
    known = result.answer.probabilities_known
    n = len(result.answer.probability_names)
    few = known and n <= MAX_PROBABILITIES
    of = text.count(n, "label") if result.votes.separator else text.count(n, "class", "classes")
    options: dict[str, Any] = {
        "originals": st.toggle(
            "Original columns",
            True,
            **widgets.keep(f"{place}_originals"),
            help="Without them, only the id is included.",
        ),
        "probabilities": st.toggle(
            f"Probabilities of {of}",
            few,
            **widgets.keep(f"{place}_p_{known}_{few}"),
            disabled=not known,
            help=None if known else NOT_KEPT,
        ),
        "diagnostics": st.toggle(
            "Diagnostics",
            True,
            **widgets.keep(f"{place}_more"),
            help=f"{', '.join(export.DIAGNOSTICS).replace('_', ' ').capitalize()}.",
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
        disabled=results.FORMATS[kind][0] not in results.IN_SPREADSHEETS,
        help="In CSV and TSV, cells that a spreadsheet would run as a formula get an apostrophe; numbers are not "
        "touched. Other formats are never altered.",
    )
    return options, kind, {"safe": safe, "names": _names(place) if kind == results.LABEL_STUDIO else None}


def _names(place: str) -> Names:
    """Show the names of the labelling interface in Label Studio."""
    st.caption(
        "Tasks with predictions, to import into a project, with those columns that are neither votes nor true labels. "
        "The names below are those in your labelling interface."
    )
    one, other = st.columns(2)
    from_name = one.text_input("Choices: name", Names.from_name, **widgets.keep(f"{place}_from"), max_chars=100)
    to_name = other.text_input("Choices: toName", Names.to_name, **widgets.keep(f"{place}_to"), max_chars=100)
    return Names(from_name, to_name)


def _budget(result: results.Labelled, place: str) -> dict[str, Any]:
    """Show which rows go to review, with the effect."""
    st.markdown("**Review**")
    choices = review.thresholds(result)
    by_confidence = bool(choices) and st.toggle(
        "Choose by confidence instead of a share",
        **widgets.keep(f"{place}_by_confidence"),
        help="A share is safer: confidence is usually too high, and often nearly the same for all rows.",
    )
    if by_confidence:
        below = st.select_slider(
            "Review labels with a confidence below",
            list(choices),
            list(choices)[min(len(choices) - 1, len(choices) // 2)],
            format_func=lambda value: f"{text.nearly(value)} ({text.count(choices[value], 'label')})",
            **widgets.keep(f"{place}_below_{result.key}"),
            help=IN_ANY_CASE,
        )
        budget = review.Budget(below=float(below))
    else:
        share = st.slider(
            "Share of rows to review, least certain first",
            0,
            100,
            10,
            format="%d%%",
            **widgets.keep(f"{place}_share"),
            help=f"The rows whose votes support their label least. {IN_ANY_CASE}",
        )
        budget = review.Budget(share=share / 100)
    effect = review.effect(result, budget)
    widgets.picture(
        pictures.review_budget(effect.edges, effect.counts, effect.reviewed, budget.below), f"{place}_histogram"
    )
    widgets.number_cards(_cards(effect), columns=2, min_width=170)
    blank = effect.chosen > 0 and st.toggle(
        f"Leave {_these(effect.chosen)} blank", **widgets.keep(f"{place}_blank"), help="Their confidence is kept."
    )
    return {**budget.options, "blank": blank}


def _these(labels: int) -> str:
    return "this label" if labels == 1 else f"these {text.count(labels, 'label')}"


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
                "evaluation" if effect.kept_interval is None else f"95%: {text.interval(*effect.kept_interval)}",
                "Share of right labels among the rows that need no review, where the truth is known, with its 95% "
                f"interval. Evaluation only. Of all rows {text.percent(effect.all_accuracy)} are right.",
            ),
        ]
    return [
        review,
        Number(
            "Confidence of the rest",
            "–" if effect.kept_confidence is None else text.percent(effect.kept_confidence),
            "usually optimistic",
            "Mean probability of the labels that need no review. Without true labels there is no telling how many "
            "are right.",
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
        sentences.append(
            f"A column {text.plain(wanted_name)} exists already, so the new one is named {text.plain(name)}."
        )
    return " ".join(sentences)
