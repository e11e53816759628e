"""Pages that have nothing to show yet say and draw what they will show."""

from __future__ import annotations

import pytest

from studio import state
from studio.examples import EXAMPLES
from tests.app.conftest import expect_calm, words

PAGES = {
    "learning_rate": "Learning rate",
    "train": "Train",
    "learners": "Learners",
    "dependence": "Dependence",
    "compare": "Compare",
    "review": "Review",
    "export": "Export",
}
HEAD = "What you will see here"


@pytest.mark.parametrize("page", PAGES)
def test_a_page_without_data_says_what_it_will_show(app, page):
    app.run()
    app.switch_page(f"pages/{page}.py").run()
    expect_calm(app)
    example = EXAMPLES[PAGES[page]]
    assert HEAD in words(app)
    assert all(sentence in words(app) for sentence in example.sentences)
    assert len(app.get("bidi_component")) == (example.picture is not None)


@pytest.mark.parametrize("page", ["learning_rate", "train", "dependence", "compare", "export"])
def test_an_example_goes_once_there_is_something_to_show(app, dataset, make_run, page):
    kind = {"learning_rate": "sweep", "compare": "compare"}.get(page, "train")
    app.query_params[state.DATA] = dataset.id
    app.run()
    app.switch_page(f"pages/{page}.py").run()
    assert HEAD in words(app)
    make_run("cancelled" if kind != "train" else "done", kind=kind)
    app.run()
    assert HEAD not in words(app)
