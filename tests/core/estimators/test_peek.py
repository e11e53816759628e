"""A model file tells whose it is without torch, and foreign files are refused with a sentence."""

import subprocess
import sys

import numpy as np
import pytest
from safetensors.numpy import save_file

from deem_core import DEEM
from deem_core.errors import InputError
from deem_core.estimators.peek import FORMAT, peek
from deem_core.simulation import make


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.safetensors"
    DEEM(updates=5, batch_size=64, restarts=1, random_state=0).fit(make("tree", 200, 0).votes).save(path)
    return path


def test_a_model_file_tells_its_learners_and_classes(model_file):
    found = peek(model_file)
    model = DEEM.load(model_file)
    assert (found.kind, found.learners, found.n_rows) == ("DEEM", model.learners_, 200)
    assert found.classes.tolist() == model.classes_.tolist()


def test_looking_at_a_model_file_needs_no_torch(model_file):
    peek_at = f"from deem_core.estimators.peek import peek; peek({str(model_file)!r})"
    code = f"import sys; {peek_at}; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(
    ("metadata", "sentence"),
    [
        (None, "is not a DEEM Studio model"),
        ({"format": "other"}, "is not a DEEM Studio model"),
        ({"format": FORMAT, "version": "99", "json": "{}"}, "newer DEEM Studio"),
        ({"format": FORMAT, "version": "1", "json": "{}"}, "damaged"),
        ({"format": FORMAT, "version": "one", "json": "{}"}, "damaged"),
    ],
)
def test_foreign_files_are_refused(tmp_path, metadata, sentence):
    path = tmp_path / "x.safetensors"
    save_file({"a": np.zeros(3, np.float32)}, path, metadata=metadata)
    with pytest.raises(InputError, match=sentence):
        peek(path)
    with pytest.raises(InputError, match=sentence):
        DEEM.load(path)


@pytest.mark.parametrize("content", [b"", b"not a model", b"\x80\x04\x95pickle"])
def test_junk_is_refused(tmp_path, content):
    path = tmp_path / "junk.safetensors"
    path.write_bytes(content)
    with pytest.raises(InputError, match="damaged or not a DEEM Studio model"):
        peek(path, "junk.safetensors")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match="no model file 'mine'"):
        peek(tmp_path / "nothing", "mine")
