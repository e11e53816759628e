"""Comparisons as runs: they go on from the runs of methods that are done, to the same results."""

import sys

import numpy as np
import pyarrow.parquet as pq
import pytest

from deem_core.control import Saved, Stopped
from deem_core.runs import Workspace, kinds
from deem_core.runs.control import DAMAGED, RunControl, _checksum
from deem_core.runs.job import Job
from deem_core.runs.status import Status, clear_results
from tests.core.runs.helpers import ensemble, small

CONFIG = {"methods": ["mv", "ds", "la1", "la2"], "seeds": 2, "random_state": 0, "device": "cpu", "budget": None}


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    monkeypatch.setattr(Workspace, "_start", lambda self, run: None)
    return Workspace(tmp_path / "home")


def compared(workspace, run=None, stop_after=10**9):
    """A comparison done in this process; stopped after so many runs of methods."""
    run = run or workspace.new_run("compare", ensemble(workspace, 150), CONFIG)

    class Counting(RunControl):
        saved = 0

        def stopped(self):
            return self.saved >= stop_after

        def save(self, key, saved):
            super().save(key, saved)
            self.saved += 1

    clear_results(run.path)
    status = Status(run)
    status.begin("cpu")
    control = Counting(status)
    try:
        kinds.compare(Job(workspace, run, control))
        status.end("done")
    except Stopped:
        status.end("cancelled")
    return run, control.saved


def results(run):
    summary = run.summary()
    for method in summary["methods"]:
        method |= {"seconds": 0, "memory_bytes": 0}
    tables = [pq.read_table(run.result("result.parquet"))]
    return summary, [*tables, *(pq.read_table(run.labels(name)) for name in CONFIG["methods"])]


@pytest.mark.parametrize("cells", [10**9, 0])
def test_a_cancelled_comparison_goes_on_to_the_same_results(workspace, monkeypatch, cells):
    monkeypatch.setattr(kinds, "MOST_CELLS", cells)
    whole, saved = compared(workspace)
    assert saved == 6
    assert not whole.has_checkpoint()  # gone once it is done
    run, _ = compared(workspace, stop_after=4)
    assert run.state().state == "cancelled"
    assert run.has_checkpoint()
    assert run.result("labels_mv.parquet") is None
    _, saved = compared(workspace, run)
    assert saved == 2
    one, other = results(whole), results(run)
    assert one[0] == other[0]
    assert all(a.equals(b) for a, b in zip(one[1], other[1], strict=True))
    assert ("p_0" in other[1][1].column_names) == (cells > 0)


def test_a_damaged_run_of_a_method_is_done_again(workspace):
    whole, _ = compared(workspace)
    run, _ = compared(workspace, stop_after=5)
    path = run.path / "checkpoint" / "compared-la1-0.safetensors"
    content = bytearray(path.read_bytes())
    content[-9] ^= 4
    path.write_bytes(bytes(content))
    _, saved = compared(workspace, run)
    assert saved == 2
    assert run.mishaps()[0] == [DAMAGED.format("compared-la1-0")]
    assert results(run)[0] == results(whole)[0]


def test_arrays_are_kept_without_torch_and_come_back_as_they_were(workspace, monkeypatch):
    arrays = {
        "codes": np.array([-1, 0, 100], np.int8),
        "posterior": np.random.default_rng(0).random((3, 2)).T,  # not in the order of its memory
        "number": np.array(7.5),
        "empty": np.zeros((0, 3)),
        "review": np.array([True, False]),
    }
    monkeypatch.setitem(sys.modules, "torch", None)  # whoever imports it fails
    control = RunControl(Status(workspace.new_run("compare", small(workspace), CONFIG)))
    control.save("a", Saved({}, {"x": [1, None]}, arrays))
    read = control.load("a")
    assert (read.tensors, read.notes, list(read.arrays)) == ({}, {"x": [1, None]}, list(arrays))
    for name, array in arrays.items():
        assert read.arrays[name].dtype == array.dtype
        assert read.arrays[name].shape == array.shape
        np.testing.assert_array_equal(read.arrays[name], array)


def test_tensors_and_arrays_of_one_checkpoint_are_told_apart(workspace):
    import torch

    control = RunControl(Status(workspace.new_run("compare", small(workspace), CONFIG)))
    control.save("a", Saved({"w": torch.arange(6.0).reshape(2, 3).T}, {}, {"v": np.arange(2)}))
    read = control.load("a")
    assert isinstance(read.tensors["w"], torch.Tensor)
    assert read.tensors["w"].tolist() == [[0, 3], [1, 4], [2, 5]]
    assert isinstance(read.arrays["v"], np.ndarray)


def test_no_turned_bit_comes_back_as_another_number(workspace):
    control = RunControl(Status(workspace.new_run("compare", small(workspace), CONFIG)))
    control.save("a", Saved({}, {"x": 1}, {"codes": np.array([1, 0, 2], np.int8)}))
    path = control.folder / "a.safetensors"
    content = path.read_bytes()
    for at in range(0, 8 * len(content), 3):
        turned = bytearray(content)
        turned[at // 8] ^= 1 << (at % 8)
        path.write_bytes(bytes(turned))
        read = control.load("a")
        assert read is None or ({**read.arrays, **read.tensors}["codes"].tolist(), read.notes) == ([1, 0, 2], {"x": 1})


def test_the_checksum_of_a_checkpoint_is_that_of_earlier_versions():
    arrays = {"w": np.arange(3, dtype=np.float32), "n": np.array(7), "b": np.array([[True, False]])}
    found = _checksum({"version": "0.2.0", "notes": "{}"}, arrays)
    assert found == "2fb46223ce0dcc1ab6c853b51ea0dc2781570aa56ba00594a2ae8803eb58ae2e"  # as torch's tensors had it
