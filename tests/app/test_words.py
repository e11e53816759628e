"""Pages follow the file's own word for learners, and a glossary explains ours."""

import pytest

from studio import state
from studio.words import TERMS
from tests.app.conftest import WIDE, expect_calm, words
from tests.in_process import done


@pytest.fixture
def annotators(workspace):
    """The small file with learners that share a word."""
    header = "id,annotator_1,annotator_2,annotator_3,label"
    return workspace.add_dataset("tickets.csv", WIDE.replace("id,ann,bob,eve,label", header).encode())


def test_the_files_own_word_stands_for_learners(app, annotators):
    app.query_params[state.DATA] = annotators.id
    app.run()
    assert "40 rows × 3 annotators × 3 classes" in words(app)
    app.switch_page("pages/data.py").run()
    expect_calm(app)
    assert "Annotators" in {metric.label for metric in app.metric}
    assert "Learners" not in {metric.label for metric in app.metric}


def test_export_says_who_answered_in_the_files_own_word(app, workspace, annotators):
    run = done(workspace, "fuse", annotators, {"method": "auto", "random_state": 0})
    app.query_params[state.DATA] = annotators.id
    app.query_params[state.RUN] = run.id
    app.run()
    app.switch_page("pages/export.py").run()
    expect_calm(app)
    told = [sentence for sentence in run.summary()["why"] if "learners" in sentence]
    assert told
    for sentence in told:
        assert sentence.replace("learners", "annotators") in words(app)


def test_the_glossary_is_on_every_page_and_says_what_a_learner_is(app):
    app.run()
    shown = words(app)
    assert all(f"**{term}**" in shown for term in TERMS)
    assert "an annotator, a model, an LLM judge" in shown
