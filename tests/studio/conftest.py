"""A workspace of its own for every test that asks for one."""

import pytest
import streamlit as st

from deem_core.runs import Workspace
from studio.export import results
from tests.studio.labelling import POSTERIOR, WIDE, finished


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    """The workspace that the app uses, instead of the user's own."""
    monkeypatch.setenv("DEEM_HOME", str(tmp_path / "home"))
    st.cache_resource.clear()
    return Workspace()


@pytest.fixture
def found(workspace):
    """Four rows with their labels."""
    return results.labelled(finished(workspace, workspace.add_dataset("votes.csv", WIDE.encode()), POSTERIOR))
