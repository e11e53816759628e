"""What generated files once broke: each is a sentence now, and none is longer than a few hundred letters."""

import io
import json
import struct

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deem_core import InputError, load
from deem_core.diagnostics import RowFilter
from deem_core.estimators import peek
from deem_core.estimators.irbm import IRBM
from deem_core.readers import read, read_votes
from deem_core.readers.large import open_large

ROWS = 60


def parquet(**columns) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


def votes() -> dict[str, list[str]]:
    return {
        name: [("x", "y")[(i // step) % 2] for i in range(ROWS)] for step, name in enumerate(("ann", "bob", "cy"), 1)
    }


@pytest.fixture
def model(tmp_path):
    """A model file, as header and numbers."""
    rng = np.random.default_rng(0)
    path = tmp_path / "model.safetensors"
    IRBM(random_state=0).fit(rng.integers(0, 2, (60, 4))).save(path)
    return path


def rewritten(path, change):
    """Write a model file with a changed header."""
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + size])
    told = json.loads(header["__metadata__"]["json"])
    change(told)
    header["__metadata__"]["json"] = json.dumps(told)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + size :])


class TestParquet:
    def test_a_column_name_that_is_no_text(self, tmp_path):
        data = parquet(**votes()).replace(b"bob", b"b\xb1b")
        path = tmp_path / "votes.parquet"
        path.write_bytes(data)
        for reader in (read, open_large):
            with pytest.raises(InputError, match="column name that is not UTF-8"):
                reader(path)

    def test_numbers_beyond_the_dictionary(self):
        from deem_core.readers import parquet as rooms
        from deem_core.readers.bounds import Packed

        indices = pa.array([0, 7], pa.int32())
        cells = pa.DictionaryArray.from_arrays(indices, pa.array(["x"]), safe=False)
        with pytest.raises(pa.ArrowInvalid, match="points beyond"):  # which opening a file tells as damage
            rooms.check_texts(pa.chunked_array([cells]), Packed("votes.parquet", 100))

    def test_lists_are_left_out_without_being_read(self):
        reading = read(parquet(**votes(), tags=[["x"]] * ROWS))
        assert reading.votes.learners == ("ann", "bob", "cy")
        assert "'tags' was left out: its cells (list<" in " ".join(reading.report.sentences())


class TestText:
    def test_a_named_encoding_without_its_mark(self, tmp_path):
        path = tmp_path / "votes.csv"
        path.write_bytes(b"id,a,b\n1,x,y\n2,y,y\n")
        with pytest.raises(InputError):
            open_large(path, encoding="utf-16")

    def test_half_characters_in_the_names_of_fields(self):
        records = [{"id": i, "\ud800": "xy"[i % 2], "b": "xy"[i // 2 % 2]} for i in range(8)]
        assert len(read_votes(json.dumps(records).encode()).learners) == 2

    def test_a_name_of_100_000_letters_makes_no_sentence_of_as_many(self):
        long = "x" * 100_000
        files = (f"{long},{long}\n1,2\n", f"id,{long}\n1,2\n", f"a,b\n{long},1,2\n", f'{{"{long}": 1, "{long}": 2}}\n')
        for text in files:
            with pytest.raises(InputError) as refused:
                read(text.encode(), id=long if "a,b" in text else None)
            assert 40 < len(str(refused.value)) <= 500
            assert str(refused.value).endswith(".")

    def test_notes_are_bounded_too(self):
        long = "x" * 100_000
        report = read(f"id,a,b,{long}\n1,x,y,\n2,y,y,\n3,x,x,\n".encode()).report
        assert max(map(len, report.sentences())) <= 500

    def test_a_link_of_100_000_letters(self):
        with pytest.raises(InputError) as refused:
            RowFilter.of("x" * 100_000 + "=1")
        assert len(str(refused.value)) <= 500


class TestModels:
    @pytest.mark.parametrize("key", ["classes", "learners", "params", "settings_", "restarts_", "seed_", "device_"])
    def test_a_header_without_one_of_its_parts(self, model, key):
        rewritten(model, lambda told: told.pop(key))
        with pytest.raises(InputError, match="damaged"):
            load(model)

    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("settings_", {"updates": {"": 1}}),
            ("warnings_", [1]),
            ("restarts_", ["x"]),
            ("classes", [[]]),
        ],
    )
    def test_a_header_with_something_else(self, model, key, value):
        rewritten(model, lambda told: told.update({key: value}))
        with pytest.raises(InputError, match="damaged"):
            load(model).fuse(np.zeros((1, 4), int))

    def test_a_header_that_would_fill_memory(self, model, monkeypatch):
        monkeypatch.setattr(peek, "MOST_HEADER", 100)
        for reader in (load, peek.peek):
            with pytest.raises(InputError, match="header of"):
                reader(model)

    def test_a_whole_one_is_read(self, model):
        assert load(model).fuse(np.zeros((1, 4), int)).posterior.shape == (1, 2)
