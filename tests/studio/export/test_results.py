"""What people take home: every cell as it was, in every format, and sentences where there is none."""

import gzip
import io

import numpy as np
import pandas as pd
import pyarrow.parquet
import pytest

from deem_core.answers.export import fused_table
from deem_core.comparison.evaluation import evaluate
from deem_core.errors import InputError
from deem_core.methods import registry
from studio.data.datasets import open_dataset
from studio.export import results
from studio.inspect import scorecards
from studio.rows.sources import Source
from tests.in_process import done
from tests.studio.labelling import POSTERIOR, WIDE, finished


def cells(data: bytes) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(data), dtype=str, keep_default_na=False)


def table_of(found, **options):
    """Return the fused table of some labels."""
    return fused_table(found.reading, found.answer, **options)


def test_original_cells_come_back_as_they_were_and_rows_without_votes_get_no_label(found):
    fused = cells(results.fused_bytes(found, ".csv", {}, safe=False))
    assert fused["id"].tolist() == ["007", "1e3", "", "@x"]
    assert fused["x"].tolist() == ["=1+1", "a,b", "0.10", " y "]
    assert fused["fused_label"].tolist() == ["cat", "cat", "", "dog"]
    assert fused["confidence"].tolist() == ["0.6", "0.8", "", "0.7"]
    assert fused["needs_review"].tolist() == ["true", "true", "true", "false"]


def test_csv_is_safe_for_spreadsheets_unless_told_otherwise_and_parquet_is_never_altered(found):
    safe = cells(results.fused_bytes(found, ".csv", {}))
    assert safe["x"][0] == "'=1+1"
    assert safe["id"].tolist() == ["007", "1e3", "", "'@x"]
    assert cells(gzip.decompress(results.fused_bytes(found, ".csv.gz", {}))).equals(safe)
    parquet = pyarrow.parquet.read_table(io.BytesIO(results.fused_bytes(found, ".parquet", {})))
    assert parquet["x"].to_pylist() == ["=1+1", "a,b", "0.10", " y "]
    assert parquet["fused_label"].to_pylist() == ["cat", "cat", None, "dog"]
    assert np.array(parquet["p_cat"].to_pylist()[:2]) + parquet["p_dog"].to_pylist()[:2] == pytest.approx(1)


def test_long_data_come_back_one_row_for_each_task(workspace):
    long = "task,worker,label\nb,u,1\nb,v,1\n07,u,2\n07,w,1\na,v,2\na,w,2\n"
    dataset = workspace.add_dataset("long.csv", long.encode())
    votes = workspace.read(dataset).votes
    posterior = np.full((votes.n_rows, 2), 0.5)
    made = results.labelled(finished(workspace, dataset, posterior))
    fused = cells(results.fused_bytes(made, ".csv", {"diagnostics": False}))
    assert sorted(fused["task"]) == ["07", "a", "b"]
    assert list(fused) == ["task", "fused_label", "confidence", "p_1", "p_2"]
    assert table_of(made.head(2))["task"].to_pylist() == fused["task"].tolist()[:2]


@pytest.mark.parametrize("kind", ["fuse", "train"])
def test_gold_rows_that_a_run_was_given_are_marked_and_evaluated_nowhere(workspace, kind):
    dataset = workspace.add_dataset("votes.csv", WIDE.encode())
    gold = workspace.store(b"row,gold_label\n1,cat\n")
    run = finished(workspace, dataset, POSTERIOR, kind=kind, config={"gold": gold})
    opened = open_dataset(dataset.id)
    assert opened.reading.votes.truth.tolist() == [0, 1, 0, -1]
    found = results.labelled(run)
    fused = cells(results.fused_bytes(found, ".csv", {}))
    assert fused["gold_label"].tolist() == ["cat", "", "", ""]
    assert evaluate(found.answer).rows == 2  # the first of three rows with truth is gold
    shown = Source(opened, run).table
    assert shown.votes.truth.tolist() == [-1, 1, 0, -1]
    assert shown.votes.gold.rows.tolist() == [0]
    assert scorecards.of_run(run, opened, None).real.rows[0].max() == 1


def test_the_head_is_the_head_of_the_whole(found):
    options = {"review_below": 0.65, "blank": True, "label_column": "answer"}
    whole = table_of(found, **options)
    assert table_of(found.head(2), **options).equals(whole.slice(0, 2))
    assert table_of(found.head(99), **options).equals(whole)
    assert whole["answer"].to_pylist() == [None, "cat", None, "dog"]


def test_a_run_without_labels_is_refused(workspace, found):
    waiting = workspace.new_run("train", found.opened.dataset, {"method": "deem"})
    with pytest.raises(InputError, match="no labels"):
        results.labelled(waiting)
    workspace.delete_run(found.run)
    with pytest.raises(InputError, match="deleted"):
        results.labelled(found.run)


def test_a_file_without_room_is_refused_before_it_is_made(found, monkeypatch):
    results.check_room(found, {})
    monkeypatch.setattr(results.shutil, "disk_usage", lambda folder: type("Usage", (), {"free": 10}))
    with pytest.raises(InputError, match=r"cannot be written: it needs about .* 10 bytes are free"):
        results.check_room(found, {"probabilities": True})
    monkeypatch.setattr(results.tempfile, "gettempdir", lambda: (_ for _ in ()).throw(FileNotFoundError("none")))
    with pytest.raises(InputError, match="no folder for temporary files"):
        results.check_room(found, {})


@pytest.mark.parametrize(
    ("name", "made"),
    [("votes.csv", "votes_fused.csv"), ("a.b.tsv.gz", "a.b_fused.csv"), (".csv", "votes_fused.csv")],
)
def test_files_are_named_after_the_data(workspace, name, made):
    dataset = workspace.add_dataset(name, b"a,b,c\n1,1,2\n2,2,2\n")
    assert results.file_name(results.open_dataset(dataset.id)) == made


def test_posteriors_of_a_run_are_exact(found):
    voted = [0, 1, 3]
    assert np.array_equal(found.answer.posterior[voted], POSTERIOR[voted])
    assert found.answer.posterior[2].tolist() == [0.5, 0.5]


def test_labels_of_a_method_are_named_after_file_and_method_and_safe_for_spreadsheets(workspace):
    dataset = workspace.add_dataset("votes.csv.gz", gzip.compress(WIDE.encode()))
    run = done(workspace, "compare", dataset, {"methods": ["mv", "ds"], "random_state": 0})
    votes = workspace.read(dataset).votes
    by_method = {name: results.labelled(run, name) for name in ("mv", "ds")}
    assert results.fused_name(by_method["ds"], ".parquet") == "votes_fused_ds.parquet"
    assert by_method["ds"].key != by_method["mv"].key
    for name, made in by_method.items():
        table = cells(results.fused_bytes(made, ".csv", {}))
        codes = registry.aggregate(name, votes, np.random.default_rng(0)).codes
        assert table["fused_label"].tolist() == [[*votes.classes, ""][code] for code in codes]
        assert table["x"][0] == "'=1+1"
        assert table["id"].tolist() == ["007", "1e3", "", "'@x"]
    columns = list(cells(results.fused_bytes(by_method["mv"], ".csv", {})))
    assert columns[6:] == [
        *("fused_label", "confidence", "p_cat", "p_dog", "majority_vote", "agreement", "entropy", "needs_review"),
        "method",
    ]
    with pytest.raises(InputError, match="no labels of onecoin"):
        results.labelled(run, "onecoin")
