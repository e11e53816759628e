"""Keys of the JSON outputs are a contract: they are only ever added.

`json_keys.json` holds the keys that outputs once had, nested ones as ``restarts[].seed``.
"""

import json
from pathlib import Path

import pytest

from deem_core import cli, simulation
from deem_core.files import tables
from deem_core.reporting import report
from deem_core.runs import Workspace
from tests.in_process import add_votes, done, inspected

KEYS = json.loads(Path(__file__).with_name("json_keys.json").read_text(encoding="utf-8"))
QUICK = ["--updates", "6", "--restarts", "2", "--batch", "64"]
TRAINING = {"method": "deem", "updates": 6, "restarts": 2, "batch_size": 64, "device": "cpu", "random_state": 0}


@pytest.fixture(scope="module")
def votes():
    return simulation.simulate("ampdata", 300, 3).votes


@pytest.fixture(scope="module")
def outputs(tmp_path_factory, votes):
    """Outputs of every command, by the name that they have in the file of keys."""
    folder = tmp_path_factory.mktemp("json")
    file, model = str(folder / "votes.csv"), str(folder / "model.safetensors")
    tables.write(tables.wide_table(votes), file)
    commands = {
        "describe": ["describe", file],
        "fuse": ["fuse", file, "--method", "deem", "-o", str(folder / "fused.csv"), *QUICK],
        "check": ["check", file, "--method", "mv", "--fail-on", "collapse,below-review=1"],
        "fuse auto": ["fuse", file, "-o", str(folder / "auto.csv")],
        "fuse ds": ["fuse", file, "--method", "ds", "-o", str(folder / "ds.csv")],
        "train": ["train", file, "-o", model, *QUICK],
        "apply": ["apply", model, file, "-o", str(folder / "applied.csv")],
        "sweep": ["sweep", file, "--rates", "0.1,0.5", "--updates", "6"],
        "devices": ["devices", "--on", "local"],
        "compare": ["compare", file, "--methods", "mv,ds,la1", "--seeds", "2"],
    }
    contents = {}
    for name, words in commands.items():
        target = folder / "out.json"
        assert cli.main([*words, "--json", str(target)]) == 0
        contents[name] = json.loads(target.read_text(encoding="utf-8"))
    return contents | _outputs_of_runs(Workspace(folder / "home"), votes)


def _outputs_of_runs(workspace, votes):
    dataset = add_votes(workspace, votes)
    training = done(workspace, "train", dataset, TRAINING)
    runs = {
        "summary of a training": training,
        "summary of an answer": done(workspace, "fuse", dataset, {"method": "auto", "random_state": 0}),
        "summary of an inspection": inspected(workspace, training),
        "summary of a comparison": done(workspace, "compare", dataset, {"methods": ["mv", "ds"], "random_state": 0}),
        "summary of a sweep": done(workspace, "sweep", dataset, {"rates": [0.1, 0.5], "updates": 6, "random_state": 0}),
    }
    summaries = {name: run.summary() for name, run in runs.items()}
    return summaries | {"report": report(training, workspace).to_dict()}


def paths(value, place=""):
    """Every key of plain values with its place; of lists the keys of any item."""
    if isinstance(value, dict):
        for key, item in value.items():
            own = f"{place}.{key}" if place else key
            yield own
            yield from paths(item, own)
    elif isinstance(value, list):
        for item in value:
            yield from paths(item, f"{place}[]")


@pytest.mark.parametrize("name", KEYS)
def test_no_key_of_an_output_is_gone(outputs, name):
    assert set(KEYS[name]) - set(paths(outputs[name])) == set()
