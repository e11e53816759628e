"""Folder of this user: workspace, and what is known of this machine."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def home() -> Path:
    """Return ``$DEEM_HOME``, else the folder for data of this user."""
    chosen = os.environ.get("DEEM_HOME") or platformdirs.user_data_path("deem-studio")
    return Path(os.path.realpath(os.path.expanduser(chosen)))
