"""Fixtures of the tests of runs."""

from pathlib import Path

import pytest

from deem_core.runs import Workspace


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setenv("DEEM_HOME", str(tmp_path / "home"))
    return Workspace()
