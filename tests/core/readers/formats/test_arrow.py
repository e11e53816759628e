"""Arrow files, folders of datasets, and frames of Python are read alike."""

import io
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from deem_core import DEEM, InputError, Votes, fuse, read_votes
from deem_core.readers import bounds, read
from deem_core.readers.notes import Notebook
from deem_core.readers.stream import is_read_whole, open_stream

TABLE = pa.table(
    {
        "id": ["r1", "r2", "r3", "r4"],
        "ann": pa.array([0, 1, -1, 1]),
        "bob": pa.array([0, 1, 1, None]),
        "eve": pa.array([0, 0, 1, 1]),
        "tokens": [["a"], ["b"], [], ["c"]],
    }
)
FEATURES = {name: {"names": ["ham", "spam"], "_type": "ClassLabel"} for name in ("ann", "bob", "eve")}
NAMED = TABLE.replace_schema_metadata({"huggingface": json.dumps({"info": {"features": FEATURES}})})
CODES = [[0, 0, 0], [1, 1, 0], [-1, 1, 1], [1, -1, 1]]


def stream(table) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def feather(table, compression="lz4") -> bytes:
    sink = io.BytesIO()
    pyarrow.feather.write_feather(table, sink, compression=compression)
    return sink.getvalue()


def parquet(table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


def says(file, *words, **options):
    with pytest.raises(InputError) as refused:
        read(file, **options)
    assert all(word in str(refused.value) for word in words), str(refused.value)


@pytest.mark.parametrize("form", [stream, feather, parquet, lambda table: feather(table, "zstd")])
def test_class_names_of_the_schema_are_the_classes(form):
    reading = read(form(NAMED))
    assert reading.votes.classes.tolist() == ["ham", "spam"]
    assert reading.votes.codes.tolist() == CODES
    assert "Class names of 'ann', 'bob', 'eve' come from the dataset." in reading.report.sentences("understood")
    assert "'tokens' was left out" in " ".join(reading.report.sentences("left out"))


@pytest.mark.parametrize("form", [feather, parquet])
def test_votes_in_lists_are_named_where_no_learner_is_left(form):
    table = pa.table({"text": ["one", "two", "three"], "votes": [["a", "b"], ["a", "a"], ["b", "b"]]})
    says(form(table), "Column 'votes' was left out: its cells (list", "are not labels")


def test_class_names_are_the_same_in_parts(tmp_path):
    path = tmp_path / "votes.parquet"
    path.write_bytes(parquet(NAMED))
    notebook = Notebook()
    (table,) = open_stream(path, notebook).batches(10)
    assert table["ann"].to_pylist() == ["ham", "spam", "", "spam"]
    assert table["bob"].to_pylist() == ["ham", "spam", "spam", ""]
    assert "Class names of 'ann', 'bob', 'eve' come from the dataset." in [note.text for note in notebook.notes]


def test_text_of_every_layout_is_read():
    words = ["cat", "dog", "cat", None]
    columns = {
        "plain": pa.array(words),
        "large": pa.array(words, pa.large_string()),
        "view": pa.array(words, pa.string_view()),
        "coded": pa.array(words).dictionary_encode(),
    }
    votes = read_votes(feather(pa.table(columns)))
    assert votes.codes.tolist() == [[0] * 4, [1] * 4, [0] * 4, [-1] * 4]


def test_damaged_and_growing_arrow_files_are_refused(monkeypatch):
    says(feather(TABLE)[:-40], "damaged Arrow")
    says(stream(TABLE)[:100], "damaged Arrow")
    says(b"FEA1" + bytes(40), "old Feather")
    says(stream(pa.table({"a": pa.nulls(10**8), "b": pa.nulls(10**8)})), "100,000,000 rows")
    monkeypatch.setattr(bounds, "SMALL", 50_000)
    long = pa.table({name: ["x" * 1_000] * 2_000 for name in "ab"})
    monkeypatch.setattr(bounds, "allowance", lambda: 100_000)
    says(feather(long, "zstd"), "bytes", "memory")
    views = pa.table({"a": pa.array(["x" * 1_000] * 900, pa.string_view())})
    says(views, "long texts")


class TestFolders:
    @pytest.fixture
    def saved(self, tmp_path):
        """A dataset as save_to_disk writes it, in two files."""
        folder = tmp_path / "votes"
        folder.mkdir()
        for number, rows in enumerate((TABLE.slice(0, 2), TABLE.slice(2))):
            (folder / f"data-0000{number}-of-00002.arrow").write_bytes(stream(rows))
        files = [{"filename": f"data-0000{number}-of-00002.arrow"} for number in range(2)]
        (folder / "state.json").write_text(json.dumps({"_data_files": files, "_indices_files": None}))
        (folder / "dataset_info.json").write_text(json.dumps({"features": FEATURES}))
        return folder

    def test_a_saved_dataset_is_read_with_its_class_names(self, saved):
        reading = read(saved)
        assert reading.votes.codes.tolist() == CODES
        assert reading.votes.classes.tolist() == ["ham", "spam"]
        assert "Hugging Face dataset, 2 Arrow files" in " ".join(reading.report.sentences())

    def test_of_several_splits_one_must_be_named(self, saved):
        (saved.parent / "dataset_dict.json").write_text('{"splits": ["votes", "test"]}')
        says(saved.parent, "several splits: 'votes', 'test'")

    def test_what_is_wrong_in_a_folder_is_told(self, saved, tmp_path):
        (saved / "state.json").write_text('{"_data_files": [{"filename": "../secret.arrow"}]}')
        says(saved, "outside its folder")
        (saved / "state.json").write_text('{"_indices_files": [{"filename": "i.arrow"}]}')
        says(saved, "flatten_indices")
        (saved / "state.json").write_text("[]")
        says(saved, "state.json", "damaged")
        says(tmp_path, "is a folder without a dataset")
        says(tmp_path / "nothing", "There is no file")

    def test_parquet_files_of_a_split_are_one_table(self, tmp_path):
        folder = tmp_path / "data"
        folder.mkdir()
        for number, rows in enumerate((NAMED.slice(0, 2), NAMED.slice(2))):
            (folder / f"train-0000{number}-of-00002.parquet").write_bytes(parquet(rows))
        assert read(tmp_path).votes.codes.tolist() == CODES
        (folder / "test-00000-of-00001.parquet").write_bytes(parquet(NAMED.slice(1)))
        says(tmp_path, "several splits: 'test', 'train'")
        assert read(folder / "train").votes.n_rows == 4
        assert read(folder / "test").votes.n_rows == 3
        (folder / "train-00002-of-00002.parquet").write_bytes(parquet(NAMED.select(["id", "ann"])))
        says(folder / "train", "different columns")

    def test_a_folder_of_wrench_names_its_files(self, tmp_path):
        row = {"label": 0, "weak_labels": [0, 1, 1], "data": {"text": "t"}}
        (tmp_path / "label.json").write_text('{"0": "ham", "1": "spam"}')
        (tmp_path / "train.json").write_text(json.dumps({"0": row, "1": row}))
        assert read(tmp_path).votes.classes.tolist() == ["ham", "spam"]
        (tmp_path / "test.json").write_text(json.dumps({"0": row, "1": row}))
        says(tmp_path, "'test.json', 'train.json'. Name one")


def test_a_dataset_of_argilla_has_a_learner_for_each_user():
    rows = [
        {"id": f"r{n}", "text": f"t{n}", "mood.responses": said, "mood.responses.users": ["ann", "bob"]}
        | {
            "mood.responses.status": ["submitted", "submitted"],
            "mood.suggestion": "good",
            "mood.suggestion.agent": "bert",
        }
        for n, said in enumerate([["good", "bad"], ["bad", "bad"]])
    ]
    reading = read(feather(pa.Table.from_pylist(rows)))
    assert reading.votes.learners == ("ann", "bob", "bert")
    assert reading.source.text("bob").to_pylist() == ["bad", "bad"]


def argilla(n=2, **more) -> pa.Table:
    """Return a dataset of Argilla: in the second row bob says nothing and eve's answer is a draft."""
    rows = [
        {"id": f"r{at}", "text": f"t{at}", "meta": {"a": 1}, **more}
        | {"mood.responses": said, "mood.responses.users": users, "mood.responses.status": status}
        | {"mood.suggestion": None if at % 2 else "good", "mood.suggestion.agent": None if at % 2 else "bert"}
        for at in range(n)
        for said, users, status in [
            (["bad", "good"], ["ann", "eve"], ["submitted", "draft"])
            if at % 2
            else (["good", "bad"], ["ann", "bob"], ["submitted", "submitted"])
        ]
    ]
    return pa.Table.from_pylist(rows)


class TestArgillaAsParquet:
    def test_it_is_read_as_the_same_dataset_in_arrow_is(self):
        reading, other = read(parquet(argilla())), read(feather(argilla()))
        assert reading.report.format == "argilla"
        assert reading.votes.learners == other.votes.learners == ("ann", "bob", "bert")
        assert reading.votes.codes.tolist() == other.votes.codes.tolist() == [[1, 0, 1], [0, -1, -1]]
        assert reading.source.text("text").to_pylist() == ["t0", "t1"]
        said = " ".join(reading.report.sentences("left out"))
        assert "1 response not submitted: 1 draft" in said
        assert "Left out 1 column of lists or objects that hold no answers: 'meta'." in said

    def test_parts_of_a_folder_are_one_table(self, tmp_path):
        (tmp_path / "data").mkdir()
        for at in range(2):
            path = tmp_path / "data" / f"train-0000{at}-of-00002.parquet"
            path.write_bytes(parquet(argilla(4).slice(2 * at, 2)))
        assert read(tmp_path).votes.codes.tolist() == 2 * [[1, 0, 1], [0, -1, -1]]
        path.write_bytes(parquet(argilla(4).drop_columns(["meta"])))
        says(tmp_path, "different columns")

    def test_of_several_questions_one_is_named(self):
        table = argilla(**{"tone.responses": ["calm"], "tone.responses.users": ["ann"], "tone.suggestion": "loud"})
        says(parquet(table), "answers to 2 questions", "'mood' (4 answers)", "--label")
        assert read(parquet(table), label="tone").votes.classes.tolist() == ["calm", "loud"]

    def test_lists_that_unpack_to_more_than_they_may_are_refused_unread(self, monkeypatch):
        many = pa.chunked_array([pa.array([["good"] * 300_000] * 2)])
        monkeypatch.setattr(bounds, "SMALL", 10_000_000)
        monkeypatch.setattr(pq.ParquetFile, "read", lambda *_, **__: pytest.fail("it was read"))
        table = argilla().set_column(3, "mood.responses", many)
        says(parquet(table), "values in lists", "times its size")

    def test_long_texts_in_lists_are_refused_before_they_are_written_out(self, monkeypatch):
        long = pa.chunked_array([pa.array([["x" * 100_000] * 200] * 2)])
        monkeypatch.setattr(bounds, "SMALL", 10_000_000)
        says(parquet(argilla().set_column(3, "mood.responses", long)), "long texts")

    def test_in_parts_it_is_not_read(self, tmp_path):
        path = tmp_path / "a.parquet"
        path.write_bytes(parquet(argilla()))
        with pytest.raises(InputError, match="dataset of Argilla, which is read whole only"):
            open_stream(path)
        assert is_read_whole(path)


LONG = pd.DataFrame({"task": [1, 1, 2, 2, 2], "worker": list("abaab"), "label": ["x", "y", "x", "y", "y"]})
WIDE = pd.DataFrame({"ann": ["x", "y", None], "bob": ["x", "y", "y"], "eve": ["y", "y", "x"]}, index=["e1", "e2", "e3"])


class TestFrames:
    @pytest.mark.parametrize("frame", [LONG, pl.from_pandas(LONG), pa.table(LONG)], ids=["pandas", "polars", "arrow"])
    def test_a_crowd_is_read_and_fused_by_its_columns(self, frame):
        for votes in (read_votes(frame), fuse(frame, "mv").votes):
            assert votes.learners == ("a", "b")
            assert [str(each) for each in votes.ids] == ["1", "2"]
            assert votes.codes.tolist() == [[0, 1], [1, 1]]  # the last answer of a worker counts

    def test_a_crowd_may_have_other_columns_or_its_tasks_as_index(self):
        more = LONG.assign(skill=0.5, when="today")
        for frame in (more, LONG.set_index("task"), pl.from_pandas(more), pa.table(more)):
            votes = fuse(frame, "mv").votes
            assert votes.learners == ("a", "b")
            assert votes.codes.tolist() == [[0, 1], [1, 1]]

    def test_a_wide_frame_of_pandas_keeps_its_index(self):
        for votes in (read_votes(WIDE), fuse(WIDE, "mv").votes):
            assert votes.ids.tolist() == ["e1", "e2", "e3"]
            assert votes.codes.tolist() == [[0, 0, 1], [1, 1, 1], [-1, 1, 0]]
        assert read(WIDE).report.format == "frame"

    def test_whole_numbers_beside_missing_ones_stay_whole(self):
        wide = pl.DataFrame({"id": ["r1", "r2"], "a": [2**53 + 1, None], "b": [7, 7], "c": [7, 2**53 + 1]})
        votes = fuse(wide, "mv").votes
        assert votes.classes.tolist() == [7, 2**53 + 1]
        assert votes.ids.tolist() == ["r1", "r2"]
        assert read_votes(wide).classes.tolist() == ["7", str(2**53 + 1)]
        numbers = pd.DataFrame({"a": [1.0, np.nan, 2], "b": [1, 2, 2], "c": ["1", "2", 2]})
        assert read_votes(numbers).classes.tolist() == ["1", "2"]

    def test_categories_of_polars_are_labels(self):
        words = pl.Series(["x", "y", "x"], dtype=pl.Categorical)
        frame = pl.DataFrame({"a": words, "b": words.cast(pl.Enum(["x", "y"])), "c": ["y", "y", "x"]})
        assert fuse(frame, "mv").votes.codes.tolist() == [[0, 0, 1], [1, 1, 1], [0, 0, 0]]
        assert read_votes(frame).codes.tolist() == [[0, 0, 1], [1, 1, 1], [0, 0, 0]]

    @pytest.mark.parametrize(
        ("make", "classes"),
        [
            (lambda codes: pd.cut(codes, [-1, 0, 1]), ["(-1, 0]", "(0, 1]"]),
            (lambda codes: pd.PeriodIndex.from_ordinals(np.array(codes) + 648, freq="M"), ["2024-01", "2024-02"]),
            (lambda codes: pd.to_timedelta(codes, "D"), ["0 days 00:00:00", "1 days 00:00:00"]),
        ],
        ids=["bins", "months", "spans"],
    )
    def test_bins_and_spans_of_time_are_read_as_they_are_written(self, make, classes):
        frame = pd.DataFrame({name: make(codes) for name, codes in {"a": [0, 1, 1], "b": [0, 1, 0]}.items()})
        assert read_votes(frame).classes.tolist() == classes
        assert read_votes(frame).codes.tolist() == [[0, 0], [1, 1], [1, 0]]

    def test_runs_of_labels_are_labels(self):
        runs = {
            name: pa.compute.run_end_encode(pa.array(list(cells))) for name, cells in {"a": "xxy", "b": "xyy"}.items()
        }
        table = pa.table({name: runs[name] for name in runs})
        for votes in (read_votes(table), fuse(table, "mv").votes):
            assert votes.codes.tolist() == [[0, 0], [0, 1], [1, 1]]

    def test_a_lazy_frame_is_to_be_collected(self):
        lazy = pl.from_pandas(WIDE).lazy()
        for refuses in (read_votes, lambda frame: fuse(frame, "mv"), lambda frame: DEEM().fit(frame)):
            with pytest.raises(InputError, match="collect"):
                refuses(lazy)

    def test_the_truth_of_a_frame_is_no_learner(self):
        frame = pl.from_pandas(WIDE.assign(label=["x", "y", "y"]))
        with pytest.raises(InputError, match="'label' of the frame may be the truth"):
            fuse(frame, "mv")
        assert read_votes(frame).truth.tolist() == [0, 1, 1]

    def test_estimators_take_frames_and_match_them_by_name(self):
        rng = np.random.default_rng(0)
        frame = pl.DataFrame({name: rng.choice(["x", "y"], 60) for name in ("a", "b", "c")})
        model = DEEM(random_state=0, updates=5, restarts=1, device="cpu").fit(frame)
        assert model.learners_ == ("a", "b", "c")
        turned = model.predict_proba(frame.select("c", "a", "b"))
        np.testing.assert_array_equal(model.predict_proba(frame), turned)
        np.testing.assert_array_equal(turned, model.predict_proba(Votes.from_frame(frame.to_pandas())))

    def test_what_is_no_table_of_labels_gets_a_sentence(self):
        with pytest.raises(InputError, match="A LazyFrame holds no rows yet"):
            read(pl.LazyFrame({"a": [1]}))
        with pytest.raises(InputError, match="holds no labels"):
            fuse(pl.DataFrame({"a": [[1]], "b": [[2]]}), "mv")
        with pytest.raises(InputError, match="several levels"):
            read(LONG.set_index(["task", "worker"]))
