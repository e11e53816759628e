"""The report of a run: one page that fetches and runs nothing foreign, its numbers as JSON, and a way to repeat it."""

from __future__ import annotations

import base64
import csv
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import fields
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from deem_core import cli, simulate, tables
from deem_core.cli.training import training_settings
from deem_core.config import TrainConfig
from deem_core.errors import InputError
from deem_core.report import Report, build, repeat_command, report_data
from deem_core.report.material import MOST_RECORDS, MOST_RESTARTS
from deem_core.runs import Run, Workspace
from deem_core.runs.state import State, write_state
from tests.core.report_helpers import EVIL, TINY, done, inspected, table

ROOT = Path(__file__).resolve().parents[2]
SECTIONS = [
    *("glance", "data", "settings", "learning_rate", "training", "restarts", "near_copies"),
    *("labels", "importance", "dependence", "comparison", "evaluation", "limits", "repeat"),
]


class Page(HTMLParser):
    """The elements of a page with their attributes, scripts by type, and everything else as text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[tuple[str, str]] = []
        self.text = ""
        self.inside = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.elements.append((tag, dict(attrs)))
        self.inside = tag
        if tag == "script":
            self.scripts.append((dict(attrs).get("type") or "code", ""))

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside == "script":
            kind, before = self.scripts[-1]
            self.scripts[-1] = (kind, before + data)
        elif self.inside != "style":
            self.text += data

    def sections(self) -> list[str | None]:
        return [attributes.get("id") for tag, attributes in self.elements if tag == "section"]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory) -> Workspace:
    return Workspace(tmp_path_factory.mktemp("report") / "home")


@pytest.fixture(scope="module")
def full(workspace) -> tuple[Run, Report]:
    """Return a training with everything beside it, in a file whose every name is HTML."""
    dataset = workspace.add_dataset(f"{EVIL}.csv", table())
    done(workspace, "sweep", dataset, {"device": "cpu", "rates": [0.1, 0.5], "updates": 20, "random_state": 0})
    run = done(workspace, "train", dataset, {**TINY, "random_state": 7, "learning_rate": 0.5})
    inspected(workspace, run, dataset)
    done(workspace, "compare", dataset, {"methods": ["mv", "ds"], "seeds": 1, "random_state": 0})
    return run, build(workspace, run)


@pytest.fixture(scope="module")
def bare(workspace) -> tuple[Run, Report]:
    """Return an exact fit without truth and without anything beside it."""
    dataset = workspace.add_dataset("bare.csv", table(60, 1), reading={"ignore": ["label"]})
    run = done(workspace, "train", dataset, {"device": "cpu", "method": "irbm", "random_state": 0})
    return run, build(workspace, run)


@pytest.fixture(scope="module")
def page(full) -> Page:
    return Page(full[1].html())


# ---------------------------------------------------------------------- the page


def test_a_page_has_every_section_and_links_to_each(page):
    assert page.sections() == SECTIONS
    links = [attributes["href"] for tag, attributes in page.elements if tag == "a" and "href" in attributes]
    assert links[: len(SECTIONS)] == [f"#{name}" for name in SECTIONS]
    assert set(links) == {f"#{name}" for name in SECTIONS}
    assert "Not computed" not in page.text


def test_a_page_fetches_nothing(page, full):
    for _, attributes in page.elements:
        assert not {"src", "srcset", "action", "data", "poster"} & set(attributes)
        assert (attributes.get("href") or "#").startswith("#")
    assert not {tag for tag, _ in page.elements} & {"link", "img", "iframe", "object", "embed", "base", "form"}
    style = re.search(r"<style>(.*?)</style>", full[1].html(), re.DOTALL)
    assert style is not None
    assert "@import" not in style[1]
    assert "url(" not in style[1]
    data = [text for kind, text in page.scripts if kind == "application/json"]
    assert data
    assert not any("http" in text for text in data)


def test_the_policy_allows_the_two_scripts_of_the_page_and_no_other(page):
    policy = next(a["content"] for tag, a in page.elements if tag == "meta" and a.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    code = [text for kind, text in page.scripts if kind == "code"]
    assert len(code) == 2
    own = {f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in code}
    assert set(re.findall(r"'sha256-[^']+'", policy)) == own
    assert "unsafe-inline" not in policy.split("style-src")[0]


def test_text_of_files_is_never_markup(page, full):
    assert EVIL in page.text  # as letters
    assert "<b>zero" in page.text
    html = full[1].html()
    assert EVIL not in html
    assert "<b>zero" not in html
    assert not any("<" in text for kind, text in page.scripts if kind == "application/json")


def test_every_picture_comes_for_light_and_dark_pages(page):
    figures = sum(tag == "figure" for tag, _ in page.elements)
    themes = [a["class"] for tag, a in page.elements if tag == "script" and a.get("class")]
    assert themes == ["light", "dark"] * figures
    assert all(a.get("aria-label") for tag, a in page.elements if a.get("class") == "plot")


def test_plotly_is_in_the_page_once_and_the_rest_is_small(full, page):
    html = full[1].html()
    code = max(len(text) for _, text in page.scripts)
    assert code > 1_000_000
    assert len(html) - code < 1_500_000


def test_what_was_not_computed_is_named_with_what_would_compute_it(bare):
    _, report = bare
    told = report.to_dict()
    lacking = ["learning_rate", "importance", "dependence", "comparison", "evaluation"]
    assert list(told["not_computed"]) == lacking
    assert all(told[name] is None for name in lacking)
    assert told["not_computed"]["comparison"]["command"] == "python -m deem_core compare bare.csv --ignore label"
    assert "Learners page" in told["not_computed"]["importance"]["why"]
    page = Page(report.html())
    assert page.sections() == SECTIONS
    assert page.text.count("Not computed.") == len(lacking)
    assert "python -m deem_core sweep bare.csv --ignore label" in page.text
    assert "fitted exactly" in page.text


def test_truth_is_marked_as_evaluation_only(page, bare):
    assert page.text.count("evaluation only, never used in training") == 2  # comparison and evaluation
    assert "never used in training" not in Page(bare[1].html()).text


# ---------------------------------------------------------------------- the numbers


def test_numbers_are_those_of_the_run(full):
    run, report = full
    summary, told = run.summary(), report.to_dict()
    assert summary is not None
    for name in ("class_shares", "majority_shares", "changed", "overruled", "agreement", "mean_confidence"):
        assert told["labels"][name] == summary[name]
    for name in ("settings", "restarts", "near_copies", "warnings", "hedged", "fallback"):
        assert told[name] == summary[name]
    assert {name: told["evaluation"][name] for name in summary["evaluation"]} == summary["evaluation"]
    assert told["run"]["seed"] == 7
    assert told["dataset"]["n_rows"] == 240
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert report_data(run) == told


def test_labels_are_counted_as_they_were_written(full):
    run, report = full
    path = run.result("result.parquet")
    assert path is not None
    cells = pyarrow.parquet.read_table(path).to_pydict()
    told = report.to_dict()["labels"]
    changed = sum(a != b for a, b in zip(cells["fused"], cells["majority"], strict=True))
    assert sum(one["rows"] for one in told["largest_changes"]) == changed == told["changed"]
    assert sum(told["confidence"]["rows"]) == sum(sure is not None for sure in cells["confidence"])


def test_the_page_shows_the_same_numbers(full, page):
    told = full[1].to_dict()
    for words in (told["story"], told["comparison"]["conclusion"], told["repeat"]["line"], *told["limits"]):
        assert words in page.text
    assert f"{100 * told['evaluation']['accuracy']:.1f} %" in page.text


def test_the_sweep_of_the_run_itself_comes_before_the_latest_one(workspace, full):
    run, report = full
    told = report.to_dict()["learning_rate"]
    assert "latest finished sweep of the same dataset" in told["source"]
    assert [rate["learning_rate"] for rate in told["rates"]] == [0.1, 0.5]
    assert "shares" not in told["rates"][0]
    path = run.path / "summary.json"
    before = path.read_text()
    other = next(one for one in workspace.runs(kind="sweep")).summary()
    try:
        path.write_text(json.dumps(json.loads(before) | {"sweep": other}))
        own = build(workspace, run).to_dict()["learning_rate"]
        path.write_text(json.dumps(json.loads(before) | {"sweep": {"rates": "of an earlier version"}}))
        again = build(workspace, run).to_dict()["learning_rate"]
    finally:
        path.write_text(before)
    assert own["run"] is None
    assert "run itself chose" in own["source"]
    assert again == told


def test_limits_speak_of_this_run(full, bare):
    with_truth, without = (" ".join(report.to_dict()["limits"]) for _, report in (full, bare))
    assert "nobody can know how many fused labels are right" in without
    assert "whatever the seed" in without
    assert "evaluation only" in with_truth
    assert "Another seed" in with_truth


def test_long_trainings_are_thinned(workspace):
    dataset = workspace.add_dataset("long.csv", table(60, 2))
    run = done(workspace, "train", dataset, {**TINY, "random_state": 0})
    path = run.path / "progress.jsonl"
    line = next(json.loads(text) for text in path.read_text().splitlines() if '"record"' in text)
    many = [{**line, "restart": r, "update": u} for r in range(MOST_RESTARTS + 5) for u in range(3 * MOST_RECORDS + 7)]
    path.write_text("".join(f"{json.dumps(one)}\n" for one in many))
    told = build(workspace, run).to_dict()["training"]
    assert told["restarts_shown"] == MOST_RESTARTS
    assert {tuple(curve["update"]) for curve in told["curves"]} == {tuple(range(0, 3 * MOST_RECORDS + 7, 4))}


# ---------------------------------------------------------------------- refusals


def test_only_finished_trainings_whose_file_is_there_have_a_report(workspace):
    dataset = workspace.add_dataset("gone.csv", table(60, 3))
    run = workspace.new_run("train", dataset, dict(TINY))
    with pytest.raises(InputError, match=r"is queued \(0% done\), and a report needs a finished training. Wait"):
        build(workspace, run)
    write_state(run.path, State("failed", "The disk is full."))
    with pytest.raises(InputError, match=r"is failed, .* The disk is full. Resume it"):
        build(workspace, run)
    write_state(run.path, State("done"))
    with pytest.raises(InputError, match="damaged or of an earlier version"):
        build(workspace, run)
    with pytest.raises(InputError, match="is of the kind sweep; a report is about a run of the kind train"):
        build(workspace, workspace.new_run("sweep", dataset, {}))
    run = done(workspace, "train", dataset, {"device": "cpu", "method": "irbm"})
    workspace.input(dataset.data).unlink()
    with pytest.raises(InputError, match=r"The file 'gone.csv' of run .* was deleted .* Bring the same file again"):
        build(workspace, run)


# ---------------------------------------------------------------------- the command that repeats a run

OTHERS: dict[str, Any] = {
    "n_layers": 2,
    "learning_rate": 0.1234567890123,
    "updates": 31,
    "epochs": 1.5,
    "batch_size": 33,
    "restarts": 3,
    "sampler": "gwg",
    "sampler_steps": 2,
    "step_size": 0.7,
    "chain_start": "persistent",
    "momentum": 0.25,
    "l1": 1e-05,
    "l2": 0.001,
    "init_scale": 1.1,
    "activation": "softmax",
    "early_stop": True,
    "near_copies": "collapse",
    "device": "cuda:1",
    "backend": "torch",
    "random_state": 5,
    "allow_few_learners": True,
}


def spec_of(config: dict[str, Any], seed: int = 0, **inputs: Any) -> dict[str, Any]:
    return {"inputs": {"name": "votes.csv", "data": "0", "reading": {}, **inputs}, "config": config, "seed": seed}


def parsed(words: list[str]) -> Any:
    assert words[:4] == ["python", "-m", "deem_core", "fuse"]
    return cli.parser().parse_args(words[3:])


def test_no_setting_is_forgotten():
    assert set(OTHERS) == {item.name for item in fields(TrainConfig)}


@pytest.mark.parametrize("name", OTHERS)
def test_every_setting_can_be_said_on_the_command_line(name):
    config = {name: OTHERS[name]}
    seed = OTHERS[name] if name == "random_state" else 11
    options = parsed(repeat_command(spec_of(config, seed)))
    assert training_settings(options) == {"random_state": seed, **config}
    assert options.method == "deem"


def test_the_command_is_short_where_settings_are_the_defaults():
    config = {item.name: item.default for item in fields(TrainConfig)}
    words = ["python", "-m", "deem_core", "fuse", "votes.csv", "-o", "fused.csv", "--seed", "3"]
    assert repeat_command(spec_of(config, 3)) == words
    assert repeat_command(spec_of({"method": "irbm_cd", "near_copies": "keep"}, 3)) == [
        *words[:-2],
        *("--method", "irbm_cd", "--seed", "3"),
    ]
    assert "--near-copies" in repeat_command(spec_of({"method": "irbm_cd", "near_copies": "guard"}, 3))
    assert repeat_command(spec_of({"updates": 30.0}, 3))[-2:] == ["--updates", "30"]


def test_reading_options_survive_the_shell():
    reading = {
        "layout": "long",
        "id": "it's",
        "truth": "--json",
        "worker": "-w",
        "label": 'a "b"',
        "learners": ["x y", "-1"],
        "ignore": ["$HOME"],
        "missing": [],
        "delimiter": "\t",
        "encoding": "cp1252",
    }
    spec = spec_of({}, name="-odd name.csv", truth="0", truth_name="fused.csv", reading=reading)
    words = repeat_command(spec)
    options = parsed(shlex.split(shlex.join(words)))
    assert (options.file, options.output, options.truth_file) == ("./-odd name.csv", "fused_labels.csv", "fused.csv")
    assert (options.layout, options.id, options.truth) == ("long", "it's", "--json")
    assert (options.worker, options.label, options.delimiter) == ("-w", 'a "b"', "tab")
    assert (options.learner, options.ignore, options.missing) == (["x y", "-1"], ["$HOME"], [""])
    assert options.encoding == "cp1252"


def same_labels(run: Run, workspace: Workspace, fused: Path) -> None:
    path = run.result("result.parquet")
    assert path is not None
    cells = pyarrow.parquet.read_table(path).to_pydict()
    classes = [str(label) for label in workspace.read_inputs(run.spec["inputs"]).votes.classes]
    with fused.open(encoding="utf-8", newline="") as stream:
        written = list(csv.DictReader(stream))
    assert [row["fused_label"] for row in written] == [classes[code] for code in cells["fused"]]
    # Labels may agree by luck; probabilities do not.
    assert [float(row["confidence"]) for row in written] == pytest.approx(cells["confidence"], abs=1e-6)


@pytest.mark.parametrize(
    "config",
    [
        {"random_state": 4, "n_layers": 1, "sampler": "dula", "sampler_steps": 2, "momentum": 0.3, "l2": 0.01}
        | {"epochs": 5, "init_scale": 1.3, "activation": "softmax", "chain_start": "persistent"},
        {"method": "irbm_cd", "near_copies": "guard", "learning_rate": 0.7, "step_size": 0.6, "updates": 15},
    ],
    ids=["deem", "irbm_cd"],
)
def test_the_printed_command_gives_the_same_labels(workspace, tmp_path, monkeypatch, capsys, config):
    dataset = workspace.add_dataset("it's my votes.csv", table(200, 5))
    run = done(workspace, "train", dataset, {"device": "cpu", "restarts": 2, "batch_size": 64, **config})
    (tmp_path / dataset.name).write_bytes(table(200, 5))
    monkeypatch.chdir(tmp_path)
    line = report_data(run)["repeat"]["line"]
    assert cli.main(shlex.split(line)[3:]) == 0
    capsys.readouterr()
    same_labels(run, workspace, tmp_path / "fused.csv")


def test_the_printed_command_gives_the_same_labels_in_another_process(workspace, tmp_path):
    crowd = simulate.build("crowd", 80, 0, 8, 3).votes
    for name, made in (("answers.csv", tables.long_table(crowd)), ("gold.csv", tables.truth_table(crowd))):
        tables.write(made, tmp_path / name)
    dataset = workspace.add_dataset(
        "answers.csv", tmp_path / "answers.csv", truth=("gold.csv", tmp_path / "gold.csv"), reading={"layout": "long"}
    )
    run = done(workspace, "train", dataset, {**TINY, "learning_rate": 0.4})
    words = report_data(run, workspace)["repeat"]["command"]
    assert words[-4:] == ["--layout", "long", "--truth-file", "gold.csv"]
    said = subprocess.run(
        [sys.executable, *words[1:]],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (said.returncode, said.stderr) == (0, "")
    same_labels(run, workspace, tmp_path / "fused.csv")


@pytest.mark.slow
def test_the_rate_that_a_sweep_chose_gives_the_same_labels_without_it(workspace, tmp_path, monkeypatch, capsys):
    dataset = workspace.add_dataset("votes.csv", table(200, 6))
    run = done(workspace, "train", dataset, {"device": "cpu", "restarts": 2, "learning_rate": "auto", "n_layers": 0})
    (tmp_path / "votes.csv").write_bytes(table(200, 6))
    monkeypatch.chdir(tmp_path)
    told = report_data(run)
    assert told["learning_rate"]["run"] is None
    words = told["repeat"]["command"]
    rate = re.search(r"--learning-rate (\S+) instead of auto", told["repeat"]["hint"])
    assert rate is not None
    for chosen in ("auto", rate[1]):
        words[words.index("--learning-rate") + 1] = chosen
        assert cli.main(words[3:]) == 0
        same_labels(run, workspace, tmp_path / "fused.csv")
    capsys.readouterr()
