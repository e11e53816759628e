"""Large files on a cluster: the same bytes as on this machine, and nothing lost with a node or by a stop."""

import time

import pyarrow.parquet as pq
import pytest

from deem_core import cli, simulate
from deem_core.control import Stopped, StopWhen
from deem_core.files import tables
from deem_core.large import parts
from deem_core.large.exact import fit_parts
from deem_core.large.extract import make_extract
from deem_core.large.labelling import fuse_extract
from deem_core.readers.large import open_large

N = 3_000
PATIENCE = 8
"""Seconds in which a cluster must be at rest once it is to stop."""


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch):
    monkeypatch.setattr(parts, "PART_ROWS", 100)
    monkeypatch.setattr("deem_core.large.extract.PART_ROWS", 700)
    monkeypatch.setattr("deem_core.readers.digest.BATCH_ROWS", 900)


@pytest.fixture(params=["csv", "parquet"])
def file(request, tmp_path):
    path = tmp_path / f"votes.{request.param}"
    table = tables.wide_table(simulate("tree", N, 0, 6, 3, missing=0.1).votes)
    if request.param == "csv":
        tables.write(table, path)
    else:
        pq.write_table(table, path, row_group_size=250)
    return path


def run(*words):
    return cli.main([str(word) for word in words])


def both(file, *words):
    """Run a command here and on the cluster; return both outputs."""
    outputs = file.with_name(f"here.{file.name}"), file.with_name(f"there.{file.name}")
    for output, where in zip(outputs, ("local", "ray"), strict=True):
        assert run(*words, "-o", output, "--stream", "--on", where) == 0
    return outputs


def test_fused_files_are_the_same_byte_by_byte(cluster, file, capsys):
    here, there = both(file, "fuse", file, "--method", "ds", "--sample", 500)
    assert there.read_bytes() == here.read_bytes()
    assert "Labelled in 30 parts on the cluster. Fitted on all 3,000 rows" in capsys.readouterr().out


def test_a_model_labels_the_same_byte_by_byte(cluster, file, tmp_path):
    model = tmp_path / "model.safetensors"
    assert run("train", file, "--method", "gds", "-o", model, "--stream", "--on", "ray") == 0
    here, there = both(file, "apply", model, file, "--sample", 500)
    assert there.read_bytes() == here.read_bytes()


def test_an_exact_fit_has_the_same_numbers(cluster, file, tmp_path, monkeypatch):
    monkeypatch.setattr("deem_core.large.extract.MOST_CELLS", 4_000)
    extract = make_extract(open_large(file), 300, keep=tmp_path / "kept", on="ray")
    assert not extract.complete
    (here, _), (there, rounds) = (fit_parts(extract.sample, "ds", extract.kept, on=on) for on in ("local", "ray"))
    assert rounds == here.iterations
    assert (here.psi == there.psi).all()
    assert (here.pi == there.pi).all()


def begun(file, output):
    large = open_large(file)
    return large, fuse_extract(make_extract(large), "mv", {"random_state": 0}), parts.Parts(output, {})


def test_a_node_that_is_lost_loses_no_part(cluster, file, tmp_path, monkeypatch):
    large, made, own = begun(file, tmp_path / "here.csv")
    parts.write_in_parts(large, made, own)
    large, made, own = begun(file, tmp_path / "there.csv")
    add = parts.Parts.add

    def kill(self, at, content, totals):
        add(self, at, content, totals)
        if len(self.done) == 5:
            cluster.kill_second()

    monkeypatch.setattr(parts.Parts, "add", kill)
    assert parts.write_in_parts(large, made, own, on="ray").rows == N
    assert cluster.second is None
    assert (tmp_path / "there.csv").read_bytes() == (tmp_path / "here.csv").read_bytes()


def test_it_ends_within_seconds_and_goes_on_with_what_is_missing(cluster, file, tmp_path):
    large, made, own = begun(file, tmp_path / "here.csv")
    parts.write_in_parts(large, made, own)
    large, made, own = begun(file, tmp_path / "there.csv")
    stopped = []

    def stop():
        if len(own.done) >= 5:
            stopped.append(time.monotonic())
        return bool(stopped)

    with pytest.raises(Stopped):
        parts.write_in_parts(large, made, own, control=StopWhen(stop), on="ray")
    assert time.monotonic() - stopped[0] < PATIENCE
    again = parts.Parts(tmp_path / "there.csv", {})
    assert 5 <= again.resumed < 30
    assert parts.write_in_parts(large, made, again, on="ray").rows == N
    assert (tmp_path / "there.csv").read_bytes() == (tmp_path / "here.csv").read_bytes()
