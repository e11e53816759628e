"""The samples of other formats are what their script makes, hold the same votes, and are described."""

import importlib.util
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from deem_core import readers

FOLDER = Path(__file__).resolve().parents[2] / "sample_data" / "formats"
SAME = {
    "messages.xlsx": "xlsx",
    "messages_label_studio.json": "label studio",
    "messages_argilla.json": "argilla",
    "messages_wrench.json": "wrench",
    "messages.npz": "npz",
    "dataset": "arrow",
}


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("make_formats", FOLDER / "make_formats.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_files_are_what_the_script_makes(script):
    made = script.made()
    kept = {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*") if path.is_file()}
    assert {name for name in kept if not name.endswith((".py", ".md", ".pyc"))} == made.keys()
    for name, content in made.items():
        if name.endswith(".arrow"):  # another version may write other bytes
            assert pa.ipc.open_stream(content).read_all().equals(pa.ipc.open_stream(FOLDER / name).read_all())
        else:
            assert content == (FOLDER / name).read_bytes(), name


@pytest.mark.parametrize("name", SAME)
def test_every_format_holds_the_same_votes(script, name):
    reading = readers.read(FOLDER / name, sheet="Votes" if name.endswith("xlsx") else None)
    codes, truth = script.votes()
    assert reading.report.format == SAME[name]
    np.testing.assert_array_equal(reading.votes.codes, codes)
    if reading.votes.truth is not None:
        known = reading.votes.truth >= 0
        np.testing.assert_array_equal(reading.votes.truth[known], truth[known])
        assert known.sum() == (30 if name == "messages_label_studio.json" else 120)
    assert (FOLDER / name).is_dir() or (FOLDER / name).stat().st_size < 200_000


def test_the_judges_show_bias_to_either_side():
    bias = readers.read(FOLDER / "judges_both_orders.csv").report.position_bias
    assert [each.direction for each in bias] == ["first", "first", "second"]


def test_every_sample_is_described():
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    for name in (*SAME, "judges_both_orders.csv"):
        assert f"| `{name}` |" in text
