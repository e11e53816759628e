"""Quick answer card: one click, who answered and why, DEEM beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from deem_core.comparison import ADVICE, MethodScore
from deem_core.gold import CAMPS, LEARNER
from deem_core.model import missing_torch
from deem_core.runs import FusionSummary, Run, State
from deem_core.text import clip
from studio import errors, jobs, state, text, widgets
from studio.data import labels
from studio.data.datasets import Opened
from studio.data.numbers import Number
from studio.export import results
from studio.review import desk
from studio.train import trainings
from studio.train.settings import method_title

TITLE = "Answer by auto"
"""What people call a run of the one-click answer."""

CONFIDENCE = {"mv": "share of the votes", "cal_pool": "mean of the learners"}
"""What the confidence of a method is, if it is not a model's."""

EXPLAINED = "gds"
"""The method that answers where a model explains the votes."""
FEWEST_LEARNERS = 3
"""Learners below which known labels have nobody to choose between."""

SHORT = {
    "gds": "Dawid-Skene",
    "mv": "Majority",
    "safe": "Safe vote",
    "rules": "Rules",
    "cal_pool": "Pool",
    "gold_vote": "Gold vote",
}
"""Methods by names that fit on a card."""


def card(opened: Opened) -> None:
    """Show the button that fuses, or the answer in use."""
    run = jobs.in_use("fuse")
    if run is None:
        _invite(opened)
        return
    answer(opened, run)
    if run.state().state == "done" and not opened.reading.votes.separator:
        _label_rows(opened, run)
        _beside(opened, run)


def answer(opened: Opened, run: Run, *, again: bool = True) -> None:
    """Show an answer, or its progress.

    Parameters
    ----------
    opened : Opened
    run : Run
    again : bool
        Whether to offer to fuse again, without the settings of this run.
    """
    jobs.watch([run], lambda states: _run(opened, states, again=again))


def _invite(opened: Opened) -> None:
    words, button = st.columns([5, 3], vertical_alignment="center")
    split = any(finding.kind in labels.MERGED for finding in opened.findings)
    words.markdown(
        "**Merge the spellings first.** Otherwise they stay separate classes, and the fused labels come in all of "
        "these spellings."
        if split
        else "**Ready to fuse.** One click tests, without any truth, which method explains the votes, and gives you "
        "the file back with a label for every row."
    )
    with button.container(horizontal=True, horizontal_alignment="right", vertical_alignment="center"):
        jobs.expected("fuse", opened.reading.votes, jobs.RECOMMENDED)
        _button(opened, "Fuse the votes", "secondary" if split else "primary")
    if opened.reading.votes.soft is not None:
        _probabilities(opened)
    if opened.reading.votes.ordered:
        _scale(opened)


def _scale(opened: Opened) -> None:
    """Offer the method that uses the order."""
    with st.container(horizontal=True, vertical_alignment="center", key="scale"):
        st.caption(
            ":material/linear_scale: Labels have an order. The one click gives expected scores, but does not use the "
            "order to fuse; ordinal Dawid-Skene does: often better where raters are lenient or severe, not always.",
            width="stretch",
        )
        config = {"method": "ordinal", "random_state": 0}
        st.button(
            "Fuse as a scale",
            key="fuse_scale",
            on_click=jobs.start,
            args=("fuse", opened.dataset.id, config, trainings.title_of(config)),
        )


def _probabilities(opened: Opened) -> None:
    """Say who reads the probabilities, and offer both that do."""
    with st.container(horizontal=True, vertical_alignment="center", key="probabilities"):
        st.caption(
            ":material/percent: This file has probabilities. One click uses them where no model explains the votes; "
            f"DEEM and most other methods use only the most probable class of each vote. {text.plain(ADVICE)}",
            width="stretch",
        )
        pool, model = {"method": "cal_pool", "random_state": 0}, {"method": "deem_soft", "random_state": 0}
        st.button(
            "Pool the probabilities",
            key="fuse_pool",
            on_click=jobs.start,
            args=("fuse", opened.dataset.id, pool, trainings.title_of(pool)),
        )
        st.button(
            "Train soft DEEM",
            key="train_soft",
            on_click=_train,
            args=(opened.dataset.id, model),
        )


def _train(dataset_id: str, config: dict[str, Any]) -> None:
    """Start a training and turn to it, as a button's ``on_click``."""
    jobs.start("train", dataset_id, config, trainings.title_of(config))
    state.go_to("train")


def _button(opened: Opened, label: str, type: str) -> None:
    st.button(
        label,
        key="fuse_recommended",
        type=type,  # type: ignore[arg-type]
        icon=":material/bolt:",
        on_click=jobs.start,
        args=("fuse", opened.dataset.id, dict(jobs.RECOMMENDED), TITLE),
    )


@errors.boundary()
def _run(opened: Opened, states: Sequence[tuple[Run, State]], *, again: bool) -> None:
    run, now = states[0]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{text.plain(jobs.title(run))}**", width="content")
        jobs.badge(run, now)
        st.space("stretch")
        jobs.again(run, now, "resume")
        if not now.active and again:
            _button(opened, "Fuse again", "secondary")
        if now.state == "done":
            download(run, opened)
    jobs.progress(run, now, "card")
    if now.state == "failed":
        st.markdown(text.plain(now.reason))
    jobs.cancelled(run, now)
    if now.state == "done":
        summary = FusionSummary.of(run)
        if summary is not None:
            widgets.plain_list(summary.training.findings)
            numbers = _numbers(opened, run, summary)
            widgets.number_cards(numbers, columns=len(numbers))
            widgets.alarms(summary.alarms)


@errors.boundary()
def _label_rows(opened: Opened, run: Run) -> None:
    """Offer to label rows where votes did not settle it."""
    summary = FusionSummary.of(run)
    if summary is None or not unsettled(summary) or run.config.get("gold") is not None:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="label_rows"):
        st.caption(
            "The votes alone cannot settle who is right. Labelling twenty rows yourself, one at a time, tells more.",
            width="stretch",
        )
        st.button(
            f"Label {desk.ROWS} rows",
            key="label_rows_go",
            icon=":material/rate_review:",
            on_click=desk.ask_and_go,
            args=(opened.dataset.id,),
        )


def unsettled(summary: FusionSummary) -> bool:
    """Return whether auto advises known labels."""
    training = summary.training
    return training.answered_by not in (None, EXPLAINED) and summary.answer.n_learners >= FEWEST_LEARNERS


@errors.boundary()
def _beside(opened: Opened, run: Run) -> None:
    """Offer DEEM beside the answer, or say where it differs."""
    training = next(iter(jobs.of_dataset(opened.dataset.id, "train")), None)
    soft = opened.reading.votes.soft is not None
    config = {"method": "deem_soft" if soft else "deem", "random_state": 0}
    name = "Soft DEEM" if soft else "DEEM"
    with st.container(horizontal=True, vertical_alignment="center", key="deem_beside"):
        if training is None and missing_torch():
            st.caption(text.plain(missing_torch()))
            return
        if training is None:
            whose = "the paper's model on probabilities" if soft else "the paper's model"
            st.caption(f"{name}, {whose}, can be trained alongside this answer. It does not replace it.")
            st.space("stretch")
            st.button(
                f"Train {name[0].lower() + name[1:] if soft else name} alongside",
                key="train_beside",
                icon=":material/model_training:",
                on_click=jobs.start_beside,
                args=("train", opened.dataset.id, config, trainings.title_of(config)),
            )
            return
        st.caption(_difference(opened, run, training))
        st.space("stretch")
        st.button("Open the run", key="open_training", type="tertiary", on_click=_open_training, args=(training.id,))


def _difference(opened: Opened, run: Run, training: Run) -> str:
    """Say on how many rows a training gives another label."""
    name = text.plain(method_title(training.config.get("method", "deem")))
    now = training.state()
    if now.active:
        return f"{name} is being trained alongside: {text.plain(jobs.step_words(now))}"
    if other := jobs.instead(training, now):
        return f":orange[:material/warning:] {name}, trained alongside, failed and fell back to the {other}."
    share = trainings.difference(run, training, opened)
    if share is None:
        return f"{name} was trained alongside, but has no labels to compare."
    if not share:
        return f"{name}, trained alongside, gives every row the same label."
    return f"{name}, trained alongside, gives a different label to {text.percent(share)} of the rows."


def _open_training(id: str) -> None:
    state.put(state.RUN, id)
    state.go_to("train")


def download(run: Run, opened: Opened, *, primary: bool = True) -> None:
    """Show the button that downloads a run's fused file.

    After a training that failed it says what it brings, and nobody is led to it.
    """
    other = jobs.instead(run, run.state())
    widgets.download(
        f"Download {other}" if other else "Download the fused CSV",
        results.fused_csv(run),
        results.file_name(opened, f"{results.stem(other)}.csv"),
        f"download_fused_{run.id}",
        primary=primary and not other,
    )


def _how(summary: FusionSummary) -> str:
    """Say in short how a method answered."""
    training = summary.training
    groups = () if training.groups is None else training.groups.groups
    seconds = "in under 1 s" if training.seconds < 1 else f"in {text.duration(training.seconds)}"
    return f"{text.count(len(groups), 'group')} · {seconds}" if groups else seconds


def answerer(name: str) -> str:
    """Return the name of who answered, short enough for a card."""
    if name.startswith(LEARNER):
        return clip(name.removeprefix(LEARNER), 24)
    return "One camp" if name in CAMPS else SHORT.get(name, method_title(name))


def _chosen_by(run: Run) -> str:
    if run.config.get("method", "auto") != "auto":
        return "The method you chose."
    gold = run.config.get("gold") is not None or run.spec["inputs"]["reading"].get("gold") is not None
    return f"Chosen by auto, from {'votes and gold rows' if gold else 'the votes alone'}."


def _numbers(opened: Opened, run: Run, summary: FusionSummary) -> list[Number]:
    n = opened.reading.votes.n_rows
    answer, training, evaluation = summary.answer, summary.training, summary.evaluation
    changed, answered_by = answer.changed, training.answered_by or training.method
    cards = [
        Number(
            "Answered by",
            answerer(answered_by),
            _how(summary),
            _chosen_by(run),
        ),
        Number(
            "Labels changed",
            text.count(changed),
            f"{text.percent(changed / max(n, 1))} of rows",
            "Rows whose fused label differs from the majority vote.",
        ),
        Number(
            "Mean confidence",
            "–" if answer.mean_confidence is None else text.percent(answer.mean_confidence),
            CONFIDENCE.get(answered_by, "usually optimistic"),
            "Mean probability of the fused labels. For a majority vote, it is the share of the votes; models are "
            "usually overconfident.",
        ),
    ]
    if evaluation is not None:
        ends = next((each.accuracy_interval for each in evaluation.methods if each.name == "fused"), None)
        beside = text.count(evaluation.rows, "row") if ends is None else text.interval(*ends)
        cards.append(
            Number(
                "Accuracy (evaluation)",
                text.percent(evaluation.accuracy),
                f"{beside} · majority {text.percent(evaluation.majority_vote_accuracy)}",
                f"Share of right labels on the {text.count(evaluation.rows, 'row')} with known truth, with its 95% "
                "interval, and that of the majority vote. The truth was never used in training.",
            )
        )
        own = next((each for each in evaluation.methods if each.name == "fused"), None)
        cards += [] if own is None else _further(own)
    return cards


def _further(own: MethodScore) -> list[Number]:
    """Return the scores of labels on a scale, or in sets."""
    if own.mean_absolute_error is not None and own.quadratic_kappa is not None:
        return [
            Number(
                "Off by (evaluation)",
                f"{own.mean_absolute_error:.2f}",
                f"kappa {own.quadratic_kappa:.2f}",
                "Mean absolute error of the labels, in the units of the scale, and their quadratic weighted kappa.",
            )
        ]
    if own.hamming_loss is not None and own.label_micro_f1 is not None:
        return [
            Number(
                "F1 (evaluation)",
                text.percent(own.label_micro_f1),
                f"{text.percent(own.hamming_loss)} of answers wrong",
                "Micro-F1 and Hamming loss, over all rows and labels. Accuracy is that of whole sets.",
            )
        ]
    return []
