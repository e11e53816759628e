"""Addresses of pages that name what is not there, belongs elsewhere or is nonsense."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from streamlit import cache_data, cache_resource
from streamlit.testing.v1 import AppTest

from benchmarks.faults.damage import ADDRESS, APP, PAGES, Tally
from deem_core.runs import Workspace
from studio import state
from tests.fuzz import mutations, seeds

Rng = np.random.Generator
_VALUES = {state.METHOD: ("mv", "ds", "deem"), state.RATE: ("0.1", "0.5"), state.ORDER: ("row", "most disputed")}


def addresses(root: Path, n: int, seed: int) -> Tally:
    """Visit a page ``n`` times, each in a session of its own, by an address that is nearly right or nonsense.

    Parameters
    ----------
    root : Path
        A workspace with a run of every kind, which is left as it is.
    n, seed : int
    """
    tally, ids = Tally(), _ids(Workspace(root))
    before = os.environ.get("DEEM_HOME")
    os.environ["DEEM_HOME"] = str(root)
    cache_data.clear()
    cache_resource.clear()
    try:
        for at in range(n):
            rng = np.random.default_rng([seed, 3, at])
            _visit(f"{at}", PAGES[at % len(PAGES)], address(rng, ids), tally)
    finally:
        if before is None:
            del os.environ["DEEM_HOME"]
        else:
            os.environ["DEEM_HOME"] = before
    return tally


def address(rng: Rng, ids: dict[str, list[str]]) -> dict[str, str]:
    """Return what an address says: most of it right, one to three parts of it not."""
    every = [each for some in ids.values() for each in some]
    said = {name: str(rng.choice(ids[name])) for name in ids if rng.random() < 0.8}
    said |= {name: str(rng.choice(values)) for name, values in _VALUES.items() if rng.random() < 0.4}
    said[state.ROWS] = seeds.link(rng)
    for name in rng.choice(state.ADDRESS, rng.integers(1, 4), replace=False).tolist():
        value = said.get(name, "")
        wrong = (
            mutations.mutate_text(rng, value),  # nearly right
            str(rng.choice(every)),  # of another kind
            f"{rng.integers(16**8):08x}" * 4,  # of nobody
            f"{value},{rng.choice(every)}",
            seeds.link(rng),
        )
        said[name] = wrong[int(rng.integers(len(wrong)))]
    return {name: value.encode("utf-8", "replace").decode() for name, value in said.items()}


def _ids(workspace: Workspace) -> dict[str, list[str]]:
    ids: dict[str, list[str]] = {state.DATA: [dataset.id for dataset in workspace.datasets()]}
    for run in workspace.runs():
        ids.setdefault(ADDRESS.get(run.kind, state.BESIDE), []).append(run.id)
    return ids


def _visit(what: str, page: str, said: dict[str, str], tally: Tally) -> None:
    app = AppTest.from_file(APP, default_timeout=120)
    for name, value in said.items():
        app.query_params[name] = value
    app.run()
    if page != "home":
        app.switch_page(f"pages/{page}.py").run()
    broken = [box.value for box in app.error if "Something broke" in box.value]
    tally.outcomes["broken" if broken or app.exception else "shown"] += 1
    if broken or app.exception:
        words = app.exception[0].value if app.exception else "Something broke"
        tally.problems.append(f"{what}: page {page}, {said}: {words[:300]}")
