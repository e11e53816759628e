"""Where compiled code is kept."""

from pathlib import Path

import numpy as np
import pytest

from deem_core.model.kernel import compilation


@pytest.fixture(autouse=True)
def fresh():
    compilation.cache_folder.cache_clear()
    yield
    compilation.cache_folder.cache_clear()


def test_the_folder_wished_for_comes_first(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "own"))
    folder = compilation.cache_folder()
    assert folder is not None
    assert folder.parent == tmp_path / "own"
    assert folder.is_dir()


def test_a_package_that_cannot_be_written_keeps_its_code_in_the_users_cache(tmp_path, monkeypatch):
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(compilation.platformdirs, "user_cache_dir", lambda *_, **__: str(tmp_path / "cache"))
    there = compilation._writable
    monkeypatch.setattr(compilation, "_writable", lambda folder: "__pycache__" not in str(folder) and there(folder))
    folder = compilation.cache_folder()
    assert folder is not None
    assert folder.parent == tmp_path / "cache"


def test_without_any_folder_functions_are_compiled_in_memory(monkeypatch):
    monkeypatch.setattr(compilation, "_writable", lambda _: False)
    assert compilation.cache_folder() is None
    assert not compilation.compiled_before()

    @compilation.compiled
    def double(x):
        return x + x

    assert double(np.float32(2)) == 4


def test_a_file_in_the_way_is_not_a_folder(tmp_path):
    (tmp_path / "file").write_text("")
    assert not compilation._writable(tmp_path / "file" / "below")


def test_other_sources_have_another_folder(tmp_path, monkeypatch):
    before = compilation.sources_hash()
    for path in Path(compilation.__file__).parent.glob("*.py"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(compilation, "_HERE", tmp_path)
    assert compilation.sources_hash() == before
    (tmp_path / "chains.py").write_text("# other\n")
    assert compilation.sources_hash() != before
