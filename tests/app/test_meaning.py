"""What labels mean: an order or several in a cell, proposed on the Data page and taken by one click."""

from pathlib import Path

import pytest

SAMPLES = Path(__file__).parents[2] / "sample_data"


@pytest.fixture
def page(app, workspace):
    """The Data page with a sample."""

    def show(name, reading=None, place="pages/data.py"):
        dataset = workspace.add_dataset(name, SAMPLES / name, reading=reading)
        app.query_params["data"] = dataset.id
        app.run()
        app.switch_page(place).run()
        assert not app.exception
        return app

    return show


def reading_of(page, workspace):
    assert not page.exception
    address = page.query_params["data"]
    return workspace.dataset(address if isinstance(address, str) else address[0]).reading


def says(page):
    return " ".join(element.value for element in [*page.markdown, *page.caption]).replace("\\", "")


def test_a_scale_is_proposed_given_an_order_by_a_click_and_taken_back(page, workspace):
    shown = page("ratings_wide.csv")
    assert "These labels look like a scale: 1 < 2 < 3 < 4 < 5" in says(shown)
    shown.button("change_meaning").click().run()
    assert reading_of(shown, workspace) == {"ordered": True}
    assert "Labels have an order: 1 < 2 < 3 < 4 < 5" in says(shown)
    assert "does not use the order to fuse" in says(shown)
    assert shown.button("fuse_scale").label == "Fuse as a scale"
    switch = next(toggle for toggle in shown.toggle if toggle.label == "Labels have an order")
    assert switch.value
    switch.set_value(False).run()
    assert reading_of(shown, workspace) == {}


def test_labels_that_nobody_knows_keep_the_order_that_they_stand_in(page, workspace):
    shown = page("moderation_missing.csv")
    assert not [button for button in shown.button if button.key == "change_meaning"]
    next(toggle for toggle in shown.toggle if toggle.label == "Labels have an order").set_value(True).run()
    assert reading_of(shown, workspace) == {"ordered": ["borderline", "safe", "unsafe"]}


def test_several_labels_are_proposed_taken_apart_and_opened_one_by_one(page, workspace):
    shown = page("topics_multilabel.csv")
    assert "Cells seem to hold several labels, with '|' between them" in says(shown)
    shown.button("change_meaning").click().run()
    assert reading_of(shown, workspace) == {"multilabel": True}
    assert "A cell holds several of 5 labels" in says(shown)
    assert not [button for button in shown.button if button.key == "next_learning_rate"]
    next(toggle for toggle in shown.toggle if toggle.label.startswith("An empty cell means")).set_value(True).run()
    assert reading_of(shown, workspace) == {"multilabel": True, "empty_is_none": True}
    next(box for box in shown.selectbox if box.label == "Open one label").set_value("sport").run()
    shown.button("open_label_data_go").click().run()
    assert reading_of(shown, workspace)["one_label"] == "sport"
    assert "Only the label 'sport' is read" in says(shown)
    shown.button("change_meaning").click().run()
    assert "A cell holds several of 5 labels" in says(shown)


@pytest.mark.parametrize("name", ["learning_rate", "train", "learners", "compare", "rows", "review"])
def test_pages_for_one_label_say_so_and_offer_one(name, page, workspace):
    shown = page("topics_multilabel.csv", {"multilabel": True}, f"pages/{name}.py")
    assert "This page takes one label." in says(shown)
    shown.button("open_label_page_go").click().run()
    assert reading_of(shown, workspace)["one_label"] == "economy"
    assert "This page takes one label." not in says(shown)
