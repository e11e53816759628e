"""Home: what this is, the bundled samples, and a look inside the chosen one."""

import streamlit as st

from deem_core import __version__, figures
from studio import boot, errors, numbers, samples, state, text, widgets
from studio.layouts import COMMAND, LAYOUTS

boot.guard(__file__)


def introduction() -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.title("DEEM Studio", anchor=False, width="stretch")
        st.badge(f"Version {__version__}", icon=":material/deployed_code:", color="gray")
    st.markdown(
        "Several models or people label the same rows, and they do not agree: which label should you trust?  \n"
        "DEEM Studio works on such tables of votes without needing the true labels; where they are known, they "
        "only serve to evaluate.  \n"
        "Open a sample to see who votes, how often they agree and how far a plain majority gets."
    )


def badges(sample: samples.Sample, has_truth: bool) -> None:
    layout = LAYOUTS[sample.layout]
    st.badge(f"{layout.title} layout", icon=layout.icon)
    if has_truth:
        st.badge("Truth included", icon=":material/verified:", color="green")
    else:
        st.badge("No truth", icon=":material/help:", color="gray")


@errors.shown()
def cards(chosen: str | None) -> None:
    grid = st.grid(4, min_column_width=250, key=state.SAMPLES)
    for sample in samples.catalogue():
        with grid.container(border=True, height="stretch"):
            card(sample, sample.name == chosen)


@errors.shown()
def card(sample: samples.Sample, is_open: bool) -> None:
    st.markdown(f"**{sample.title}**")
    opened = samples.open_sample(sample)
    with st.container(horizontal=True, gap="xsmall"):
        badges(sample, opened.facts.n_truth > 0)
    st.caption(sample.shows)
    st.space("stretch")
    st.markdown(f":small[{numbers.size(opened.reading.votes)}]")
    st.button(
        "Open below" if is_open else "Look inside",
        key=f"{state.OPEN_SAMPLE}{sample.name}",
        type="primary" if is_open else "secondary",
        icon=":material/keyboard_arrow_down:" if is_open else ":material/search:",
        on_click=state.choose_sample,
        args=(sample.name,),
        width="stretch",
    )


@errors.shown()
def inside(name: str) -> None:
    sample = samples.find(name)
    opened = samples.open_sample(sample)
    votes, facts = opened.reading.votes, opened.facts
    st.space("xsmall")
    with st.container(key=state.INSIDE, horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.header(sample.title, anchor=False, width="stretch")
        badges(sample, facts.n_truth > 0)
        st.button(
            "Close", key=state.CLOSE_SAMPLE, type="tertiary", icon=":material/close:", on_click=state.close_sample
        )
    widgets.number_cards(numbers.headline(votes, facts), columns=6)
    with st.container(border=True):
        chart(opened)
    if facts.n_truth:
        left, right = st.columns([2, 3])
        with left.container(border=True, height="stretch"):
            evaluation(opened)
    else:
        right = st.container()
    with right.container(border=True, height="stretch"):
        st.markdown("**What the reader found**")
        widgets.report(opened.reading.report)
    with st.container(border=True):
        preview(opened)


def chart(opened: samples.Opened) -> None:
    votes = opened.reading.votes
    st.markdown("**Votes per class for each learner**")
    st.plotly_chart(
        figures.votes_per_class(votes.class_counts, votes.learners, votes.classes, theme=widgets.theme()),
        key=state.VOTES_CHART,
        config={"displayModeBar": False},
        alt="Stacked bars: how many votes each learner cast for each class.",
    )
    st.caption(
        "**Good:** bars of similar length with a similar mix of colours. **Bad:** a bar of a single colour, from a "
        "learner that always says the same, or one so short that it hardly votes. **Worth a look:** a mix unlike all "
        "the others; it may be an expert or a broken learner."
    )


def evaluation(opened: samples.Opened) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("**Accuracy against the truth**", width="content")
        st.badge("Evaluation only, never used in training", icon=":material/lock:", color="orange")
    widgets.number_cards(numbers.evaluation(opened.reading.votes, opened.facts), columns=2)
    st.caption("Share of right answers where the truth is known. Fusing well means beating the majority.")


def preview(opened: samples.Opened) -> None:
    sample = opened.sample
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**First rows of {text.plain(sample.path.name)}**", width="stretch")
        for path in filter(None, (sample.path, sample.truth_path)):
            st.download_button(
                f"Download {path.name}",
                data=path.read_bytes,
                file_name=path.name,
                mime="text/csv",
                key=f"{state.DOWNLOAD}{path.stem}",
                icon=":material/download:",
                on_click="ignore",
            )
    st.dataframe(opened.head(), hide_index=True)


def own_file() -> None:
    st.header("Bring your own file", anchor=False)
    left, right = st.columns([1, 2], gap="medium")
    with left:
        st.markdown("The first command says what is in your file, the second fuses it:")
        st.code(COMMAND, language=None, wrap_lines=True)
        st.caption(
            "They read CSV, TSV and Parquet, also gzipped, and find the layout by themselves. All rules and options "
            "are in `docs/formats.md`."
        )
    with right:
        titles = [f"{layout.icon} {layout.title}" for layout in LAYOUTS.values()]
        for tab, layout in zip(st.tabs(titles), LAYOUTS.values(), strict=True):
            with tab:
                st.markdown(layout.sentence)
                st.code(layout.example.strip(), language=None)


introduction()
chosen = state.sample()
cards(chosen)
if chosen is not None:
    inside(chosen)
    if state.just_chosen():
        widgets.bring_into_view(state.INSIDE)
own_file()
