"""Rows: which rows are these? Filter, look at and download single rows."""

import streamlit as st

from deem_core import DeemError
from deem_core.diagnostics import RowFilter
from deem_core.diagnostics.rows import Order, ordered
from deem_core.typing import Integers
from studio import boot, errors, state, text, widgets
from studio.export import results
from studio.review import evidence
from studio.rows import detail, filters, listing, sources

boot.guard(__file__)

TEXT = st.column_config.TextColumn(width="medium")
COLUMNS = {
    "row": st.column_config.NumberColumn(pinned=True),
    "id": st.column_config.TextColumn(pinned=True),
    "confidence": st.column_config.NumberColumn(format=widgets.PERCENT),
    "fused_label": "fused label",
    "majority_vote": "majority vote",
    "true_label": "true label",
    "gold_label": "gold label",
}


@errors.boundary()
def browse(source: sources.Source) -> None:
    table, chosen = source.table, RowFilter()
    try:
        chosen = filters.current()
        mask = chosen.mask(table)
    except DeemError as error:
        st.warning(text.plain(str(error)), icon=":material/filter_list_off:")
        st.button("Clear all filters", key="rows_clear", on_click=filters.use, args=(RowFilter(),))
        return
    filters.show(table, chosen)
    order = filters.order(table)
    rows = ordered(table, mask, order)
    share = f" of {table.votes.n_rows:,} ({text.percent(len(rows) / max(table.votes.n_rows, 1))})"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{text.count(len(rows), 'row')}**{share if chosen.conditions else ''}", width="content")
        if table.votes.truth is not None:
            widgets.evaluation_badge("True labels are for evaluation only")
        st.space("stretch")
        if len(rows):
            filters.choose_order(table)
            widgets.download(
                "Download these rows",
                lambda: results.frame_bytes(listing.file(source, rows)),
                results.file_name(source.opened, "rows.csv"),
                "download_rows",
            )
    if not len(rows):
        st.caption("No row matches all these filters. Remove one.")
        return
    one_page(source, rows, chosen, order)


def one_page(source: sources.Source, rows: Integers, chosen: RowFilter, order: Order) -> None:
    here = listing.mark(source, chosen, order)
    pages = -(-len(rows) // listing.PAGE)
    turned = state.value(f"rows_page_{here}")
    at = min(turned, pages) if isinstance(turned, int) else 1
    shown = rows[(at - 1) * listing.PAGE : at * listing.PAGE]
    marked = st.dataframe(
        listing.styled(source, shown, chosen, st.context.theme.type),
        key=f"rows_{here}_{at}",
        hide_index=True,
        height="content" if len(shown) <= 12 else 460,
        on_select="rerun",
        selection_mode="single-row",
        column_config=COLUMNS | dict.fromkeys(evidence.of(source.opened).columns, TEXT),
    )
    if pages > 1:
        st.pagination(pages, key=f"rows_page_{here}")
    picked = marked["selection"]["rows"]
    if picked and picked[0] < len(shown):
        detail.show(source, int(shown[picked[0]]))
    else:
        st.caption("Select a row to see all of it: its text, all its votes, and why it got its label.")


def page() -> None:
    head = widgets.with_data(
        "Rows",
        "Which rows are these?",
        ":material/table_rows:",
        "See single rows with their text, votes and labels. Upload a file first.",
    )
    if head is None:
        return
    badges, opened = head
    with badges:
        widgets.truth_badge(opened.facts.n_truth)
    with errors.boundary():
        source = sources.current(opened)
        sources.choose(source)
        if source.run is None:
            st.caption("Nothing has been fused yet, so you see only the votes and their majority.")
        browse(source)


page()
