"""Jobs as pages see them: one look a tick for all parts of a page, and none that is older than a click."""

import math
import os

import pytest

from deem_core.files.atomic import write_json
from deem_core.runs import State
from deem_core.runs.process import Worker
from deem_core.runs.run import WORKER, write_state
from studio import jobs
from tests.studio.labelling import WIDE


@pytest.fixture
def running(workspace, monkeypatch):
    """A run at which this process works, in a session where a tick never ends."""
    session = {}
    monkeypatch.setattr(jobs.st, "session_state", session)
    monkeypatch.setattr(jobs.state, "complain", lambda *_: None)
    monkeypatch.setattr(jobs, "SAME_TICK_SECONDS", math.inf)
    run = workspace.new_run("train", workspace.add_dataset("votes.csv", WIDE.encode()), {"method": "deem"})
    write_json(Worker.of(os.getpid()).to_dict(), run.path / WORKER)
    write_state(run.path, State("running", created=run.created, share=0.5))
    return run


def test_all_parts_of_a_page_see_the_same_until_the_next_tick(running):
    assert jobs.seen(running).share == 0.5
    write_state(running.path, State("running", created=running.created, share=0.6))
    assert jobs.seen(running).share == 0.5
    jobs.see_anew()
    assert jobs.seen(running).share == 0.6


def test_a_click_on_cancel_is_seen_at_once(running):
    assert not jobs.seen(running).cancelling
    jobs.cancel(running.id)
    assert jobs.seen(running).cancelling
    assert jobs.step_words(jobs.seen(running)) == "Cancelling…"
