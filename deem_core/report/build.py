"""Building a report of a run."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from deem_core.files import whole_file, write_json
from deem_core.report import answers, sections, training
from deem_core.report.data import numbers_of
from deem_core.report.material import Material, gather
from deem_core.report.page import page
from deem_core.report.sections import Numbers, Section
from deem_core.runs import Run, Workspace

ORDER: tuple[Callable[[Material, Numbers], Section], ...] = (
    sections.glance,
    sections.dataset,
    sections.settings,
    training.learning_rate,
    training.training,
    training.restarts,
    training.near_copies,
    answers.labels,
    answers.importance,
    answers.dependence,
    answers.comparison,
    answers.evaluation,
    sections.limits,
    sections.repeat,
)
"""The sections from top to bottom."""


@dataclass(frozen=True)
class Report:
    """What is known about a finished training, as a page and as numbers.

    Attributes
    ----------
    material : Material
    """

    material: Material

    @cached_property
    def _numbers(self) -> Numbers:
        return numbers_of(self.material)

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain JSON values; those that are not finite are None."""
        return dict(self._numbers)

    def html(self) -> str:
        """Return one web page that needs no network."""
        return page([section(self.material, self._numbers) for section in ORDER], self._numbers)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the page, whole or not at all.

        Raises
        ------
        InputError
            If the file cannot be written.
        """
        text = self.html()
        with whole_file(path) as stream:
            stream.write(text.encode(errors="backslashreplace"))

    def write_json(self, path: str | os.PathLike[str]) -> None:
        """Write the numbers, whole or not at all; see `write`."""
        write_json(self._numbers, path)


def build(workspace: Workspace, run: Run) -> Report:
    """Return the report of a finished train run.

    Raises
    ------
    InputError
        If the run is of another kind or not finished, or its file was deleted.
    """
    return Report(gather(workspace, run))


def report_data(run: Run, workspace: Workspace | None = None) -> dict[str, Any]:
    """Return the numbers of a report; the workspace is the one that holds the run."""
    return build(workspace or Workspace(run.path.parents[1]), run).to_dict()
