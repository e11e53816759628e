"""Report of a finished training or answer: page and JSON."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from deem_core.files.atomic import whole_file, write_json
from deem_core.readers import Reading
from deem_core.reporting.material import Material, gather
from deem_core.reporting.numbers import numbers_of
from deem_core.reporting.render import page_of
from deem_core.runs import Run, Workspace


@dataclass(frozen=True)
class Report:
    """A finished training or answer as a page and as numbers.

    Attributes
    ----------
    material : Material
    """

    material: Material

    @cached_property
    def _numbers(self) -> dict[str, Any]:
        return numbers_of(self.material)

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain JSON values, non-finite ones as None."""
        return dict(self._numbers)

    def html(self) -> str:
        """Return one web page that needs no network."""
        return page_of(self.material, self._numbers)

    def html_bytes(self) -> bytes:
        """Return the page as the bytes of a file.

        A lone surrogate in a name is spelled out.
        """
        return self.html().encode(errors="backslashreplace")

    def json_bytes(self) -> bytes:
        """Return the numbers as the bytes of a JSON file."""
        return json.dumps(self._numbers, indent=2, allow_nan=False).encode()

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the page, whole or not at all.

        Raises
        ------
        InputError
            If the file cannot be written.
        """
        content = self.html_bytes()
        with whole_file(path) as stream:
            stream.write(content)

    def write_json(self, path: str | os.PathLike[str]) -> None:
        """Write the numbers, whole or not at all; see `write`."""
        write_json(self._numbers, path)


def report(run: Run | str, workspace: Workspace | None = None, reading: Reading | None = None) -> Report:
    """Return the report of a finished train or fuse run.

    Parameters
    ----------
    run : Run or str
        The run or its id.
    workspace : Workspace, optional
        The one that holds the run; by default that of the user.
    reading : Reading, optional
        Of the run's inputs, if they are read already; else they are read here.

    Raises
    ------
    InputError
        If the run is of another kind or not finished, or its file was deleted.
    """
    workspace = workspace or (Workspace() if isinstance(run, str) else Workspace(run.path.parents[1]))
    return Report(gather(workspace, workspace.run(run) if isinstance(run, str) else run, reading))
