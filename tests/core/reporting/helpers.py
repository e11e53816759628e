"""What the tests of reports share: runs that are worked on in this process."""

from __future__ import annotations

import io
import json
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pyarrow.csv

from deem_core import simulation
from deem_core.auto import make_field
from deem_core.files import tables
from deem_core.gold import Verdict, choose
from deem_core.runs import Dataset, Run, Workspace
from deem_core.runs.control import RunControl
from deem_core.runs.job import Job
from deem_core.runs.kinds import KINDS
from deem_core.runs.status import Status
from tests.in_process import rewrite

EVIL = "<script>alert(1)</script>"
TINY = {"device": "cpu", "restarts": 2, "updates": 20, "batch_size": 64}


def done(workspace: Workspace, kind: str, dataset: Dataset, config: dict[str, Any]) -> Run:
    """Make a run and do its work here and now."""
    run = workspace.new_run(kind, dataset, config, title=f"{kind} {EVIL}")
    status = Status(run)
    status.begin("cpu")
    KINDS[kind](Job(workspace, run, RunControl(status)))
    status.end("done")
    return run


def inspected(workspace: Workspace, run: Run, dataset: Dataset) -> Run:
    model = workspace.store(run.path / "model.safetensors")
    return done(workspace, "inspect", dataset, {"model": model, "training": run.id, "random_state": 0})


def verdict_of(workspace: Workspace, run: Run, n_gold: int = 30) -> Verdict:
    """Return what the first true labels of a run's file say, handed over as gold."""
    votes = workspace.read_inputs(run.spec["inputs"]).votes
    assert votes.truth is not None
    labels = [votes.classes[code] if at < n_gold else None for at, code in enumerate(votes.truth)]
    gold = votes.with_gold(labels).gold
    assert gold is not None
    return choose(make_field(votes), gold)


def give_gold(run: Run, verdict: Verdict) -> None:
    """Write a verdict into the summary of a run, as a worker does."""
    rewrite(run, "summary.json", json.dumps(run.summary() | {"gold": verdict.to_dict()}))


def table(rows: int = 240, seed: int = 0) -> bytes:
    """Return votes of a simulated tree with truth, as a CSV file whose classes are HTML."""
    sink = io.BytesIO()
    pyarrow.csv.write_csv(tables.wide_table(simulation.tree(rows, rng=np.random.default_rng(seed)).votes), sink)
    head, *lines = sink.getvalue().decode().splitlines()
    names = {"0": "<b>zero", "1": EVIL, "2": "two & '%{x}'"}
    made = [head]
    for line in lines:
        first, *cells = line.split(",")
        made.append(",".join([first, *(names.get(cell.strip('"'), cell) for cell in cells)]))
    return "\n".join(made).encode()


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
