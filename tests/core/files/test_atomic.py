import json
import os
import sys

import numpy as np
import pytest

from deem_core.errors import InputError
from deem_core.files.atomic import draft, whole_file, write_json


def test_a_file_has_its_name_only_once_it_is_whole(tmp_path):
    target = tmp_path / "a.txt"
    with whole_file(target) as stream:
        stream.write(b"new")
        assert not target.exists()
    assert target.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_file_cut_short_leaves_the_old_one(tmp_path):
    target = tmp_path / "a.txt"
    target.write_bytes(b"old")

    def write() -> None:
        with whole_file(target) as stream:
            stream.write(b"ne")
            raise KeyError

    with pytest.raises(KeyError):
        write()
    assert target.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_draft_may_be_named_after_its_content(tmp_path):
    with draft(tmp_path) as file:
        file.stream.write(b"abc")
        file.target = tmp_path / "of 3 bytes"
    assert (tmp_path / "of 3 bytes").read_bytes() == b"abc"


def test_a_draft_without_a_name_vanishes(tmp_path):
    with draft(tmp_path) as file:
        file.stream.write(b"abc")
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_leads_to_the_file_that_is_written(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "a.txt")
    with whole_file(tmp_path / "link") as stream:
        stream.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "a.txt").read_bytes() == b"new"


def test_folders_and_missing_folders_are_refused(tmp_path):
    for path, why in ((tmp_path, "is a folder"), (tmp_path / "x" / "a.txt", "does not exist")):
        with pytest.raises(InputError, match=why), whole_file(path):
            pass


def test_json_has_null_for_what_is_not_finite(tmp_path):
    write_json({"a": np.array([1.0, np.nan]), 3: (float("inf"), "ü")}, tmp_path / "a.json")
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8")) == {"a": [1.0, None], "3": [None, "ü"]}
