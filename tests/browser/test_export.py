"""Export in a browser: files of a real training are downloaded, read back, and brought to the next place."""

import io
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Browser, Page, expect

from deem_core import cli, simulation
from deem_core.estimators.peek import peek
from deem_core.reporting.command import PROGRAM, repeat_command
from deem_core.runs import Run, Workspace
from tests.browser.looking import card, choose, expect_calm, scrolls_sideways
from tests.browser.tables import mark
from tests.browser.working import WORKER, finished

ROWS, SILENT = 300, 7
TABS = ("Fused labels", "Review queue", "New data", "Model", "Report")


def votes_file(seed: int, learners: int = 5) -> pd.DataFrame:
    """Votes with ids that only look like numbers, cells that a spreadsheet would run, and a row without votes."""
    votes = simulation.make("condind", ROWS, seed=seed, n_learners=learners).votes
    table = pd.DataFrame(votes.codes, columns=[f"m{at}" for at in range(learners)]).astype(str)
    table.iloc[SILENT] = ""
    table.insert(0, "id", [f"{at:03d}" for at in range(ROWS)])
    table.insert(1, "note", np.where(np.arange(ROWS) % 50 == 0, "=1+1", "0.50"))
    table["label"] = votes.truth.astype(str)
    return table


@pytest.fixture(scope="module")
def trained(workspace: Workspace) -> Run:
    """One quick training for all tests of this module."""
    dataset = workspace.add_dataset("home.csv", votes_file(51).to_csv(index=False).encode())
    config = {"method": "deem", "random_state": 3, "restarts": 2, "updates": 60, "batch_size": 128}
    return finished(workspace.start_run("train", dataset, config, "Quick"))


@pytest.fixture(scope="module")
def by_command(trained: Run, tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    """The fused file that the command of the run writes."""
    folder = tmp_path_factory.mktemp("command")
    votes_file(51).to_csv(folder / "home.csv", index=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        words = repeat_command(trained.spec)
        assert cli.main(words[len(PROGRAM) :]) == 0
        return text_table((folder / words[words.index("-o") + 1]).read_bytes())


def text_table(data: bytes, **options: str) -> pd.DataFrame:
    """Return every cell as it is spelled."""
    return pd.read_csv(io.BytesIO(data), dtype=str, keep_default_na=False, **options)


def open_tab(page: Page, run: Run, tab: str) -> None:
    """Open the page at a tab."""
    page.goto(f"/export?data={run.dataset_id}&run={run.id}")
    page.get_by_role("tab", name=tab).click()
    expect(page.get_by_role("tab", name=tab)).to_have_attribute("aria-selected", "true")


def download(page: Page, button: str) -> tuple[str, bytes]:
    """Press a button and return the name and the contents of the file that comes."""
    expect_calm(page)  # a button that is being drawn anew does not feel a click
    with page.expect_download(timeout=WORKER) as coming:
        page.get_by_role("button", name=button, exact=True).click()
    return coming.value.suggested_filename, Path(coming.value.path()).read_bytes()


def test_the_labels_come_home_row_by_row_as_the_command_gives_them(
    page: Page, trained: Run, by_command: pd.DataFrame
) -> None:
    given = votes_file(51)
    open_tab(page, trained, "Fused labels")
    expect(page.get_by_text("1 row without votes comes with no label.")).to_be_visible(timeout=WORKER)
    name, data = download(page, "Download 300 rows as CSV")
    assert name == "home_fused.csv"
    fused = text_table(data)
    unsafe = given.assign(note=given["note"].replace("=1+1", "'=1+1"))
    pd.testing.assert_frame_equal(fused[list(given)], unsafe)
    pd.testing.assert_frame_equal(fused, by_command)
    assert fused["fused_label"][SILENT] == ""
    assert (fused["fused_label"].drop(SILENT) != "").all()
    assert fused.filter(regex="^p_").drop(SILENT).astype(float).sum(axis=1).to_numpy() == pytest.approx(1, abs=3e-6)
    choose(page.get_by_role("combobox", name="Format"), "Parquet")
    name, data = download(page, "Download 300 rows as Parquet")
    assert name == "home_fused.parquet"
    parquet = pd.read_parquet(io.BytesIO(data))
    assert parquet["note"].tolist() == given["note"].tolist()  # never altered
    assert parquet["fused_label"].fillna("").tolist() == by_command["fused_label"].tolist()
    expect_calm(page)


def test_columns_their_name_and_blanks_below_a_threshold_are_chosen(page: Page, trained: Run) -> None:
    open_tab(page, trained, "Fused labels")
    usual = card(page, "Rows to review")
    expect(usual).to_be_visible(timeout=WORKER)
    before = usual.inner_text()
    slider = page.get_by_role("slider")
    slider.focus()
    for _ in range(20):
        slider.press("ArrowRight")  # a percent each
    expect(usual).not_to_have_text(before)
    for label in ("Leave these", "Original columns", "Probabilities of 3 classes", "Safe to open"):
        page.get_by_test_id("stCheckbox").filter(has_text=label).locator("label").first.click()
    field = page.get_by_label("Name of the label column")
    field.fill("answer")
    field.press("Enter")
    choose(page.get_by_role("combobox", name="Format"), "CSV, gzipped")
    expect(page.get_by_test_id("stSpinner")).to_have_count(0)
    expect_calm(page)
    name, data = download(page, "Download 300 rows as CSV, gzipped")
    assert name == "home_fused.csv.gz"
    fused = text_table(data, compression="gzip")
    columns = ["id", "answer", "confidence", "majority_vote", "agreement", "entropy", "needs_review", "method"]
    assert list(fused) == columns
    assert (fused["answer"] == "").sum() == math.ceil(0.3 * (ROWS - 1)) + 1  # the doubtful, and the row without votes
    assert set(fused.loc[fused["answer"] == "", "needs_review"]) == {"true"}
    assert usual.inner_text() == str((fused["needs_review"] == "true").sum())


def test_the_review_queue_explains_itself_and_comes_back_as_evaluation(page: Page, trained: Run) -> None:
    open_tab(page, trained, "Review queue")
    mark(page, f"review_{trained.id}", 0)
    expect(page.locator(".st-key-review_why .js-plotly-plot .bars .point").first).to_be_attached(timeout=WORKER)
    name, data = download(page, "Download the review queue")
    assert name == "home_review.csv"
    queue = text_table(data)
    assert {"row", "id", "fused_label", "reviewed_label", "confidence", "why", "m0", "m4"} <= set(queue)
    assert len(queue) >= ROWS // 10
    given = votes_file(51)
    rows = queue["row"].astype(int) - 1
    assert queue["id"].tolist() == given["id"][rows].tolist()
    assert queue["m0"].tolist() == given["m0"][rows].tolist()
    truth = given["label"][rows].to_numpy()
    reviewed = queue.assign(reviewed_label=np.where(np.arange(len(queue)) < 20, truth, ""))
    page.get_by_test_id("stFileUploader").locator("input").set_input_files(
        {"name": "back.csv", "mimeType": "text/csv", "buffer": reviewed.to_csv(index=False).encode()}
    )
    expect(page.get_by_text("20 reviewed labels were read from back.csv.")).to_be_visible(timeout=WORKER)
    expect(page.get_by_text("Evaluation only, never used in training")).to_be_visible()
    expect_calm(page)


def test_new_data_are_labelled_and_what_is_strange_is_said(page: Page, trained: Run) -> None:
    new = votes_file(52).drop(columns=["m4", "label"])
    new.loc[:1, "m0"] = "7"
    open_tab(page, trained, "New data")
    page.get_by_test_id("stFileUploader").locator("input").set_input_files(
        {"name": "new.csv", "mimeType": "text/csv", "buffer": new.to_csv(index=False).encode()}
    )
    outcome = page.locator(".st-key-applied")
    expect(outcome.get_by_text("300 rows labelled by a model trained on 300 rows")).to_be_visible(timeout=WORKER)
    expect(outcome.get_by_text("No votes from m4; treated as missing.")).to_be_visible()
    expect(outcome.get_by_text("2 votes for labels unknown in training ('7') are treated as missing.")).to_be_visible()
    name, data = download(page, "Download 300 rows as CSV")
    assert name == "new_fused.csv"
    fused = text_table(data)
    assert fused["id"].tolist() == new["id"].tolist()
    assert fused["m0"].tolist() == new["m0"].tolist()
    page.reload()  # nothing is lost
    page.get_by_role("tab", name="New data").click()
    expect(outcome.get_by_text("300 rows labelled")).to_be_visible(timeout=WORKER)
    expect_calm(page)


def test_the_model_travels_to_another_home_page_and_labels_alike(
    page: Page, trained: Run, by_command: pd.DataFrame, tmp_path: Path
) -> None:
    open_tab(page, trained, "Model")
    name, data = download(page, "Download the model")
    assert name == "home_model.safetensors"
    (tmp_path / name).write_bytes(data)
    assert peek(tmp_path / name).learners == ("m0", "m1", "m2", "m3", "m4")
    page.goto("/")
    page.get_by_text("Apply a saved model to new data").click()
    uploaders = page.get_by_test_id("stFileUploader")
    uploaders.filter(has_text="A model file").locator("input").set_input_files(tmp_path / name)
    expect(page.get_by_text("DEEM for 5 learners and 3 classes, trained on 300 rows.")).to_be_visible(timeout=WORKER)
    again = votes_file(51).drop(columns="label")
    uploaders.filter(has_text="New data").locator("input").set_input_files(
        {"name": "again.csv", "mimeType": "text/csv", "buffer": again.to_csv(index=False).encode()}
    )
    outcome = page.locator(".st-key-applied")
    expect(outcome.get_by_text("Labels for again.csv")).to_be_visible(timeout=WORKER)
    expect(outcome.get_by_text("300 rows labelled by a model trained on 300 rows")).to_be_visible(timeout=WORKER)
    _, data = download(page, "Download 300 rows as CSV")
    assert text_table(data)["fused_label"].tolist() == by_command["fused_label"].tolist()
    expect_calm(page)


def test_the_report_opens_without_a_network_and_without_a_complaint(
    page: Page, browser: Browser, trained: Run, tmp_path: Path
) -> None:
    open_tab(page, trained, "Report")
    expect(page.get_by_test_id("stCode")).to_contain_text("fuse home.csv -o fused.csv --method deem --seed 3")
    name, data = download(page, "Download the report")
    assert name == "home_report.html"
    (tmp_path / name).write_bytes(data)
    context = browser.new_context(offline=True)
    report, said, asked = context.new_page(), [], []
    report.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    report.on("pageerror", lambda error: said.append(str(error)))
    report.on("request", lambda request: asked.append(request.url))
    report.goto((tmp_path / name).as_uri())
    expect(report.locator(".js-plotly-plot .main-svg, svg, img").first).to_be_visible(timeout=WORKER)
    report.wait_for_timeout(500)
    assert said == []
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    context.close()


@pytest.mark.slow
@pytest.mark.parametrize("page", ["dark"], indirect=True)
def test_every_tab_fits_a_telephone(page: Page, trained: Run) -> None:
    page.set_viewport_size({"width": 420, "height": 900})
    page.goto(f"/export?data={trained.dataset_id}&run={trained.id}")
    for tab in TABS:
        page.get_by_role("tab", name=tab).click()
        expect(page.get_by_role("tab", name=tab)).to_have_attribute("aria-selected", "true")
        expect_calm(page)
        assert not scrolls_sideways(page), tab
