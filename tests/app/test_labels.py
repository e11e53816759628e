"""Labels on the Data page: merged by one click, edited in a tab, undone."""

import pandas as pd
import pytest

from deem_core.readers import Wish
from studio.data import labels

STYLES = (str, str.upper, str.title)
MESSY = "id,ann,bob,eve,label\n" + "".join(
    f"r{i},"
    + ",".join(style(("ham", "spam")[(i + j * (i // 7)) % 2]) for j, style in enumerate(STYLES))
    + f",{('HAM', 'SPAM')[i % 2]}\n"
    for i in range(60)
)
SPELLED = "6 spellings look like 2 classes"


@pytest.fixture
def messy(workspace):
    return workspace.add_dataset("messy.csv", MESSY.encode())


@pytest.fixture
def page(app, messy):
    app.query_params["data"] = messy.id
    app.run()
    app.switch_page("pages/data.py").run()
    return app


def says(page):
    return " ".join(element.value for element in [*page.markdown, *page.caption])


def dataset_of(page, workspace):
    assert not page.exception
    address = page.query_params["data"]
    return workspace.dataset(address if isinstance(address, str) else address[0])


def test_the_first_finding_is_the_cause_and_one_click_mends_it(page, workspace):
    findings = [element.value for element in page.markdown if ":material/warning:" in element.value]
    assert SPELLED in findings[0]
    assert not [text for text in findings if "never won" in text or "rare" in text.split(".")[0]]
    assert "Merge the spellings first" in says(page)  # before fusing
    page.button("merge_spellings").click().run()
    dataset = dataset_of(page, workspace)
    assert dataset.reading == {"merge_spellings": True}
    assert SPELLED not in says(page)
    assert "Ready to fuse" in says(page)
    assert "6 labels in the file, 2 classes now" in says(page)
    votes = workspace.read(dataset).votes
    assert votes.n_classes == 2
    assert len(votes.truth_only) == 0
    page.button("undo_labels").click().run()
    assert dataset_of(page, workspace).reading == {}
    assert SPELLED in says(page)


def test_the_choice_survives_roles_and_options(page, workspace):
    page.button("merge_spellings").click().run()
    dataset = dataset_of(page, workspace)
    page.selectbox(f"reading_encoding_{dataset.id}").select("utf-8").run()
    assert dataset_of(page, workspace).reading["merge_spellings"] is True


def test_the_tab_applies_nothing_unedited_and_resets(page, workspace):
    page.button("merge_tab").click().run()
    assert dataset_of(page, workspace).reading == {"merge_spellings": True}
    assert page.button("apply_tab").disabled
    page.button("reset_tab").click().run()
    assert dataset_of(page, workspace).reading == {}


def test_an_edited_table_says_what_is_wished():
    frame = pd.DataFrame(
        {
            "use": [True, True, False],
            "label": ["0", "1", "9"],
            "class": ["ham", None, "9"],
            "order": [2.0, 1.0, float("nan")],
        }
    )
    assert labels.wishes(frame) == [Wish("0", "ham", 2.0), Wish("1", "", 1.0), Wish("9", "", float("inf"))]


def test_a_training_on_messy_labels_says_so_first_and_offers_to_mend_it(app, messy, workspace, make_run):
    from deem_core import read_votes
    from deem_core.answers.alarms import spelling_alarms
    from deem_core.files.plain import to_plain
    from tests.app.conftest import SUMMARY

    alarms = to_plain(spelling_alarms(read_votes(MESSY.encode())))
    restarts = [{**SUMMARY["restarts"][0], "kept": False, "reason": "A class died."}] * 3
    run = make_run(summary={**SUMMARY, "restarts": restarts, "alarms": alarms})
    app.query_params["run"] = run.id
    app.run()
    app.switch_page("pages/train.py").run()
    assert not app.exception
    raised = [element.value for element in app.markdown if ":material/warning:" in element.value]
    assert SPELLED in raised[0]
    assert "collapsed" in raised[1]
    assert app.button("merge_and_train")
    assert not [button for button in app.button if str(button.key).startswith("remedy_")]
