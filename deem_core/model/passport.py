"""Passports of GPUs: checks passed here, by PyTorch's version and device.

``make gpu-check`` trains on the processor and on the GPU, and issues one where both agree. Without one, "auto" leaves
Apple's GPU alone: PyTorch is young there, and a wrong result looks like any other.
"""

from __future__ import annotations

import importlib.metadata
import json
import time
from typing import Any

from deem_core.files.atomic import write_json
from deem_core.files.home import home

FILE = "gpu-checks.json"
"""In the user's folder: a list of passports."""


def torch_version() -> str:
    """Return the version of PyTorch, or nothing, without loading it."""
    try:
        return importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        return ""


def issue(device: str, title: str) -> None:
    """Write down that a device passed with the present PyTorch.

    Parameters
    ----------
    device : str
        "mps", "cuda:0", …
    title : str
        What it is called.
    """
    own = {"device": device, "title": title, "torch": torch_version()}
    others = [each for each in passports() if {name: each.get(name) for name in own} != own]
    home().mkdir(parents=True, exist_ok=True)
    write_json({"passports": [*others, {**own, "date": time.strftime("%Y-%m-%d")}]}, home() / FILE)


def has_passed(device: str, title: str | None = None) -> bool:
    """Return whether a device has passed with the present PyTorch.

    Parameters
    ----------
    device : str
    title : str, optional
        What it is called; by default any of that kind will do.
    """
    return any(
        each.get("device") == device and each.get("torch") == torch_version() and title in (None, each.get("title"))
        for each in passports()
    )


def passports() -> list[dict[str, Any]]:
    """Return all passports; a damaged file holds none."""
    try:
        found = json.loads((home() / FILE).read_text(encoding="utf-8"))["passports"]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
