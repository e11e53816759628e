"""Home: introduction, path from votes to labels, samples, recent runs."""

import time

import streamlit as st

from deem_core import __version__
from deem_core.text import clip
from studio import boot, errors, jobs, sharing, state, steps, text, widgets
from studio.data import intake, samples, stored_files
from studio.data.samples import LAYOUTS
from studio.export import new_data

boot.guard(__file__)

CONTINUE = 3  # files that Home offers to continue with


def introduction() -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.title("DEEM Studio", anchor=False, width="stretch")
        st.badge(f"Version {__version__}", icon=":material/deployed_code:", color="gray")
    st.markdown(
        "Several models, LLM judges or people label the same rows, and they disagree: which label should you trust?  \n"
        "DEEM Studio learns, from their votes alone, who is reliable on which classes, and gives you one label per row "
        "with the reason why.  \n"
        "A *learner* is anyone or anything that votes: an annotator, a model, a judge or a rule. "
        f"{sharing.what_leaves()}"
    )


@errors.boundary()
def upload() -> None:
    with st.container(border=True, key="home_upload"):
        intake.uploader("data")
        intake.paste("data")
        recent = stored_files.files()[:CONTINUE]
        if recent:
            with st.container(horizontal=True, vertical_alignment="center", gap="small", key="home_continue"):
                st.caption("Or continue with:", width="content")
                for stored_file in recent:
                    newest = stored_file.newest
                    st.button(
                        text.plain(clip(newest.name)),
                        key=f"continue_{newest.id}",
                        help=f"Uploaded or read {text.ago(time.time() - newest.created)}.",
                        on_click=_continue,
                        args=(newest.id,),
                    )


def _continue(dataset: str) -> None:
    state.use_dataset(dataset)
    state.go_to("data")


@errors.boundary()
def path() -> None:
    grid = st.grid(3, min_column_width=210, key="path")
    for number, step in enumerate(steps.path(), start=1):
        with grid.container(border=True, height="stretch", gap="xsmall"):
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(f"**{number} · {step.title}**", width="stretch")
                st.markdown(":green[:material/check_circle:]" if step.done else "", width="content")
            st.caption(step.question)
            st.space("stretch")
            st.button(
                step.action,
                key=f"step_{step.page}",
                type="primary" if step.next else "secondary",
                on_click=state.go_to,
                args=(step.page,),
                width="stretch",
            )


@errors.boundary()
def cards() -> None:
    st.header("Try a sample", anchor=False)
    grid = st.grid(3, min_column_width=220, key=state.SAMPLES)
    for sample in samples.catalogue():
        with grid.container(border=True, height="stretch"):
            card(sample)


@errors.boundary()
def card(sample: samples.Sample) -> None:
    st.markdown(f"**{sample.title}**")
    opened = samples.open_sample(sample)
    layout = LAYOUTS[sample.layout]
    with st.container(horizontal=True, gap="xsmall"):
        st.badge(f"{layout.title} layout", icon=layout.icon)
        widgets.truth_badge(opened.facts.n_truth)
    st.caption(sample.shows)
    st.space("stretch")
    st.markdown(f":small[{opened.reading.votes.dimensions}]")
    st.button(
        "Load it",
        key=f"{state.OPEN_SAMPLE}{sample.name}",
        icon=":material/play_arrow:",
        on_click=intake.take_sample,
        args=(sample.name, "data"),
        width="stretch",
    )


@errors.boundary()
def runs() -> None:
    st.header("Recent runs", anchor=False)
    jobs.table()


@errors.boundary()
def own_model() -> None:
    with st.expander("Apply a saved model to new data", icon=":material/inventory_2:", expanded=new_data.in_use()):
        key = state.uploader("model")
        st.file_uploader(
            "A model file from the Export page or from the command train",
            type=["safetensors"],
            key=key,
            on_change=new_data.bring_model,
            args=(key,),
        )
        brought = new_data.brought_model()
        if brought is None:
            return
        digest, name, model = brought
        st.markdown(
            f"**{text.plain(name)}**: {model.title} for {text.count(len(model.learners), 'learner')} and "
            f"{text.count(len(model.classes), 'class', 'classes')}, trained on {text.count(model.n_rows, 'row')}."
        )
        st.caption(f"Learners: {text.plain(', '.join(model.learners[:20]))}{' …' if len(model.learners) > 20 else ''}")
        new_data.card(digest, "home", lambda: digest)


introduction()
widgets.complaint()
upload()
path()
cards()
runs()
own_model()
