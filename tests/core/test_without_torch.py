"""Where PyTorch and numba are not installed all else works, and what needs them says what to install."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from deem_core.errors import MissingPackageError, missing_torch, torch_wanted

ROOT = Path(__file__).parents[2]
VOTES = "id,a,b,c,d,label\n" + "".join(f"{i},{i % 2},{i % 2},{(i + (i % 7 == 0)) % 2},1,{i % 2}\n" for i in range(60))
SENTENCE = 'pip install "deem-studio[torch]"'


def run_without_torch(script, folder, cwd=None):
    """Run a script that knows neither torch nor numba and prints JSON last; return that."""
    (folder / "votes.csv").write_text(VOTES)
    outside = {name: value for name, value in os.environ.items() if not name.startswith("COV_")}
    environment = outside | {
        "BLOCKED": "torch,numba",
        "DEEM_HOME": str(folder / "home"),
        "PYTHONPATH": os.pathsep.join([str(ROOT / "tests" / "blocked"), str(ROOT)]),
    }
    done = subprocess.run(
        [sys.executable, "-c", script],
        check=False,
        cwd=cwd or folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


LIBRARY = """
import contextlib, importlib.util, io, json, time
import deem_core
from deem_core import cli
from deem_core.methods.registry import METHODS
from deem_core.runs import Workspace
assert importlib.util.find_spec("torch") is importlib.util.find_spec("numba") is None

def told(*words):
    heard = io.StringIO()
    with contextlib.redirect_stderr(heard), contextlib.redirect_stdout(io.StringIO()):
        code = cli.main([*words])
    return [code, heard.getvalue().strip()]

found = {
    "describe": told("describe", "votes.csv"),
    "fuse": told("fuse", "votes.csv", "-o", "fused.csv"),
    "model": told("train", "votes.csv", "--method", "gds", "-o", "model.safetensors"),
    "apply": told("apply", "model.safetensors", "votes.csv", "-o", "applied.csv"),
    "compare": told("compare", "votes.csv", "--methods", "mv,ds,lsml,deem", "--json", "compared.json"),
    "devices": told("devices"),
    "train": told("train", "votes.csv", "-o", "deem.safetensors"),
    "sweep": told("sweep", "votes.csv", "--rates", "0.1,0.2"),
}
for name in ("DEEM", "SoftDEEM", "IRBM"):
    try:
        getattr(deem_core, name)()
        found[name] = [0, ""]
    except ImportError as error:
        found[name] = [1, str(error)]
needy = []
for name, entry in METHODS.items():
    try:
        entry.load()
    except deem_core.DeemError as error:
        needy.append(name)
found["needy"] = [needy, [name for name, entry in METHODS.items() if entry.needs_torch]]

space = Workspace()
run = space.start_run("train", space.add_dataset("votes.csv", open("votes.csv", "rb").read()), {"method": "deem"})
while run.is_active():
    time.sleep(0.1)
found["run"] = [run.state().state, run.state().reason]
print(json.dumps(found))
"""


@pytest.mark.slow
def test_all_but_deem_works_without_torch_and_deem_says_what_to_install(tmp_path):
    found = run_without_torch(LIBRARY, tmp_path)
    for works in ("describe", "fuse", "model", "apply", "compare", "devices"):
        assert found[works][0] == 0, found[works]
    assert "fused_label" in (tmp_path / "fused.csv").read_text()
    methods = {each["name"]: each for each in json.loads((tmp_path / "compared.json").read_text())["methods"]}
    assert methods["ds"]["accuracy"] > 0.9
    assert methods["deem"]["accuracy"] is None
    assert SENTENCE in methods["deem"]["note"]
    for wants in ("train", "sweep", "DEEM", "SoftDEEM", "IRBM"):
        code, sentence = found[wants]
        assert code != 0, wants
        assert SENTENCE in sentence, wants
        assert len(sentence.splitlines()) == 1
    assert sorted(found["needy"][0]) == sorted(found["needy"][1]) != []
    assert found["run"][0] == "failed"
    assert SENTENCE in found["run"][1]


APP = """
import json
from pathlib import Path
from streamlit.testing.v1 import AppTest
from deem_core.runs import Workspace

dataset = Workspace().add_dataset("votes.csv", Path({votes!r}).read_bytes())
app = AppTest.from_file({app!r}, default_timeout=120)
app.query_params["data"] = dataset.id
told = {{}}
for page in ("home", "data", "train", "learning_rate", "compare", "export"):
    app.switch_page(f"pages/{{page}}.py").run()
    told[page] = [
        [str(each.value) for each in (*app.exception, *app.error)],
        [each.value.replace("\\\\", "") for each in (*app.info, *app.caption)],
        {{each.key: each.disabled for each in app.button}},
    ]
app.switch_page("pages/train.py").run()
next(each for each in app.segmented_control if each.label == "Method").set_value("gds").run()
told["gds"] = [each.disabled for each in app.button if each.key == "start_training"]
print(json.dumps(told))
"""


@pytest.mark.slow
def test_the_app_works_without_torch_and_pages_that_train_say_what_to_install(tmp_path):
    told = run_without_torch(APP.format(app=str(ROOT / "app.py"), votes=str(tmp_path / "votes.csv")), tmp_path, ROOT)
    for page, (broken, *_) in ((page, what) for page, what in told.items() if page != "gds"):
        assert broken == [], page
    for page in ("train", "learning_rate"):
        assert any(SENTENCE in sentence for sentence in told[page][1]), page
    assert told["train"][2]["start_training"]
    assert "start_sweep" not in told["learning_rate"][2]
    assert told["gds"] == [False]


def test_where_torch_is_there_nothing_is_missing():
    assert missing_torch() == ""


@pytest.mark.parametrize("name", ["streamlit", "torch._C"])
def test_other_packages_keep_the_error_of_python(name):
    with pytest.raises(ModuleNotFoundError) as told, torch_wanted():
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    assert not isinstance(told.value, MissingPackageError)
