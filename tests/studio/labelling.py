"""Finished runs for tests, written as a worker writes them."""

import time

import numpy as np
import pyarrow.parquet

from deem_core.answers.answer import Answer
from deem_core.files.atomic import write_json
from deem_core.runs import State, Workspace
from deem_core.runs.run import write_state

WIDE = (
    'id,x,ann,bob,eve,label\n007,=1+1,cat,cat,dog,cat\n1e3,"a,b",dog,dog,dog,dog\n,0.10,,,,cat\n@x, y ,cat,dog,dog,\n'
)
"""Four rows by three learners: one that is unanimous, one without votes, one of unknown truth."""
POSTERIOR = np.array([[0.6, 0.4], [0.8, 0.2], [0.5, 0.5], [0.3, 0.7]])
"""The second label overrules a unanimous vote."""


def finished(workspace: Workspace, dataset, posterior, support=None, *, kind="train", config=None):
    """Return a training of a dataset, or another run, that is done and gave this posterior."""
    settings = {"method": "deem", "random_state": 0, **(config or {})}
    run = workspace.new_run(kind, dataset, settings, title="By hand")
    votes = workspace.with_gold(workspace.read(dataset).votes, run.spec)
    answer = Answer(votes, posterior, support=support)
    pyarrow.parquet.write_table(answer.to_table(), run.path / "result.parquet")
    write_json(answer.summary(), run.path / "summary.json")
    write_state(run.path, State("done", created=run.created, ended=time.time()))
    return run
