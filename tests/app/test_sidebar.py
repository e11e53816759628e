"""The sidebar of every page: the dataset and the run in use, and the device."""

from pathlib import Path

import pytest

from deem_core.model.devices import Device
from studio import background, state
from tests.app.conftest import SUMMARY, expect_calm, words


def test_the_dataset_in_use_and_its_size(app, dataset):
    app.query_params[state.DATA] = dataset.id
    app.run()
    expect_calm(app)
    assert "**votes.csv**" in words(app)
    assert "40 rows × 3 learners × 3 classes" in words(app)


def test_one_of_several_labels_is_named_on_every_page(app, workspace):
    topics = Path(__file__).parents[2] / "sample_data" / "topics_multilabel.csv"
    opened = workspace.add_dataset(topics.name, topics, reading={"multilabel": True, "one_label": "sport"})
    app.query_params[state.DATA] = opened.id
    app.run()
    expect_calm(app)
    assert "Only the label sport" in words(app)


def test_a_run_that_goes_on_shows_its_progress_and_is_cancelled_from_any_page(app, make_run, dataset):
    run = make_run("running", share=0.42, step="Restart 2 of 5", seconds_left=30)
    app.query_params[state.DATA], app.query_params[state.RUN] = dataset.id, run.id
    app.run()
    expect_calm(app)
    assert "Restart 2 of 5 · 42% · about 30 s left" in words(app)
    app.button(key=f"cancel_side_{run.id}").click().run()
    assert (run.path / "cancel").exists()


def test_a_run_that_has_ended_shows_how(app, make_run, dataset):
    make_run(summary=SUMMARY)
    app.query_params[state.DATA] = dataset.id
    app.run()
    expect_calm(app)
    assert words(app).count(" Done]") == 2  # here and among the recent runs


def test_a_training_that_failed_does_not_look_done(app, make_run, dataset):
    make_run(summary=SUMMARY | {"fallback": True})
    app.query_params[state.DATA] = dataset.id
    app.run()
    expect_calm(app)
    assert words(app).count(":orange-badge[:material/warning: Fell back to majority vote]") == 2
    assert " Done]" not in words(app)


def test_runs_of_other_data_are_not_shown(app, make_run, workspace):
    make_run(summary=SUMMARY)
    other = workspace.add_dataset("other.csv", b"id,a,b,c\n1,x,y,x\n2,y,y,x\n3,x,x,y\n")
    app.query_params[state.DATA] = other.id
    app.run()
    expect_calm(app)
    assert words(app).count(" Done]") == 1


def test_data_that_is_not_there_leaves_the_sidebar_calm(app):
    app.query_params[state.DATA] = "0" * 32
    app.run()
    expect_calm(app)
    assert "No data yet" in words(app)


@pytest.mark.parametrize(
    ("device", "shown"),
    [
        (Device("cpu", "Processor", threads=2), "cpu · 2 threads"),
        (
            Device("cuda", "NVIDIA A100", memory=40_000_000_000, free_memory=35_000_000_000),
            "cuda · NVIDIA A100 · 35 GB of 40 GB free",
        ),
        (Device("mps", "Apple GPU"), "mps · Apple GPU"),
    ],
)
def test_the_device_with_its_room(device, shown):
    assert background.device_words(device) == shown
