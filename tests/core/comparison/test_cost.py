"""Expected times: within a factor of what was measured, and growing with what is asked."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest

from deem_core import simulation
from deem_core.comparison import expected_comparison, expected_run, expected_time
from deem_core.comparison.cost import LAWS, Size, expected_seconds
from deem_core.errors import InputError

MEASURED = Path(__file__).parents[3] / "benchmarks" / "results" / "registry.md"


def measured(name):
    """Yield size and CPU seconds (of one restart) of a method on every set of the benchmark."""
    part = MEASURED.read_text(encoding="utf-8").split("## CPU seconds")[1].split("## Refused")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines() if "|" in line]
    at = rows[0].index(name)
    for row in rows[2:]:
        sizes = re.findall(r"[\d,]+", row[1])
        if row[at] and float(row[at]) >= 0.3:
            yield Size(*(int(size.replace(",", "")) for size in sizes)), float(row[at])


@pytest.mark.parametrize("name", ["ebcc", "dnn_det", "dnn_sto", "irbm_cd", "deem", "deem_soft", "lsml"])
def test_expected_times_are_those_of_the_benchmark(name):
    off = [
        abs(math.log(expected_seconds(name, size, budget=None, restarts=1) / seconds))
        for size, seconds in measured(name)
    ]
    assert np.median(off) < math.log(1.6)
    assert np.mean(np.array(off) < math.log(2)) >= 0.75
    assert max(off) < math.log(5)


def test_a_budget_cuts_what_is_expected_but_no_first_training():
    size = Size(60_000, 15, 10)
    assert expected_seconds("ebcc", size, seeds=5, budget=10) == 10
    assert expected_seconds("deem", size, seeds=5, budget=1) == expected_seconds("deem", size, budget=None)
    assert expected_seconds("ds", size, seeds=5) == expected_seconds("ds", size)  # no chance, one run


def test_more_work_takes_longer():
    votes = simulation.make("condind", 400, seed=0, n_learners=8).votes
    usual = expected_run(votes, {"method": "deem"})
    assert expected_run(votes, {"method": "deem", "restarts": 20}) > usual
    assert expected_run(votes, {"method": "deem", "updates": 100_000}) > usual
    assert expected_run(votes, {"method": "deem", "learning_rate": "auto"}) > usual
    assert expected_run(votes, {"method": "auto"}) < usual
    few, many = (expected_comparison(votes, names, seeds=1, budget=60) for names in (["mv"], ["mv", *LAWS]))
    assert few < many


def test_each_kind_of_run_has_its_time():
    votes = simulation.make("condind", 400, seed=0, n_learners=8).votes
    assert expected_time("train", votes, {"method": "deem"}) == expected_run(votes, {"method": "deem"})
    chosen = {"methods": ["ds", "deem"], "seeds": 2, "budget": 60}
    assert expected_time("compare", votes, chosen) == expected_comparison(votes, ["ds", "deem"], seeds=2, budget=60)
    assert expected_time("compare", votes, {}) > expected_time("compare", votes, chosen)
    assert expected_time("ask", votes, {}) > expected_time("fuse", votes, {"method": "auto"})
    with pytest.raises(InputError, match="no method"):
        expected_time("compare", votes, {"methods": ["nobody"]})
