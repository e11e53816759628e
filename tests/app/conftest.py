"""The app without a browser."""

from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

APP = Path(__file__).parents[2] / "app.py"


@pytest.fixture
def app() -> AppTest:
    """A session that has not started yet, with nothing cached from other tests."""
    st.cache_resource.clear()
    return AppTest.from_file(APP, default_timeout=30)
