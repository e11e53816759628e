"""Methods are fitted on all rows part by part as on the whole table, however many different rows there are."""

import numpy as np
import pyarrow.parquet as pq
import pytest

from deem_core import cli, simulate
from deem_core.control import Stopped, StopWhen
from deem_core.errors import InputError
from deem_core.files import tables
from deem_core.large.exact import EXACT, fit_parts
from deem_core.large.extract import make_extract
from deem_core.large.labelling import fuse_extract
from deem_core.large.patterns import Kept
from deem_core.methods.registry import aggregate
from deem_core.readers.large import open_large
from tests.engines import Carrying, backwards

N, PART = 3_000, 700


@pytest.fixture(scope="module")
def votes():
    return simulate("tree", N, 0, 9, 4, missing=0.15).votes.without_truth()


@pytest.fixture
def large(votes, tmp_path, monkeypatch):
    """The votes in a file, in memory for few different rows only."""
    monkeypatch.setattr("deem_core.large.extract.MOST_CELLS", 7_000)
    monkeypatch.setattr("deem_core.large.extract.PART_ROWS", PART)
    monkeypatch.setattr("deem_core.large.patterns._LEAST_MERGED", 100)
    path = tmp_path / "votes.csv"
    tables.write(tables.wide_table(votes), path)
    return open_large(path)


@pytest.fixture
def extract(large, tmp_path):
    found = make_extract(large, 500, keep=tmp_path / "kept")
    assert not found.complete
    return found


@pytest.mark.parametrize("method", EXACT)
def test_parts_give_the_fit_of_the_whole_table(votes, extract, method):
    whole = aggregate(method, votes, np.random.default_rng(0))
    made, rounds = fit_parts(extract.sample, method, extract.kept)
    assert rounds == made.iterations == whole.iterations > 3
    assert made.converged == whole.converged
    np.testing.assert_allclose(made.rule(votes.codes), whole.posterior, atol=1e-9)
    assert np.array_equal(made.rule(votes.codes).argmax(axis=1), whole.posterior.argmax(axis=1))
    np.testing.assert_allclose(made.psi, whole.psi, atol=1e-9)
    assert [note for note in made.notes if "no vote" not in note] == [
        note for note in whole.notes if "no vote" not in note
    ]


@pytest.mark.parametrize("method", ["ds", "onecoin"])
def test_the_numbers_are_the_same_in_any_order_and_on_machines_that_see_no_files(extract, method, monkeypatch):
    here, _ = fit_parts(extract.sample, method, extract.kept)
    there, _ = fit_parts(extract.sample, method, extract.kept, on=Carrying(backwards))
    assert np.array_equal(here.posterior, there.posterior)
    monkeypatch.setattr("deem_core.engine.sight.Sight.clear", property(lambda self: False))
    blind, _ = fit_parts(extract.sample, method, extract.kept, on=Carrying(backwards))
    assert np.array_equal(here.posterior, blind.posterior)


def test_votes_are_kept_in_a_byte_each(extract):
    part = extract.kept.parts[1].loaded()
    assert len(extract.kept.parts) == 5
    assert part.found.codes.dtype == np.int8
    assert part.found.counts.sum() == PART  # nobody is silent there
    assert isinstance(part.found.codes, np.memmap)


def test_it_says_on_what_it_was_fitted(extract):
    made = fuse_extract(extract, "ds", {"random_state": 0}, exact=True)
    rounds = made.summary.settings["iterations"].value
    assert made.fitted == f"Fitted on all 3,000 rows, in {rounds} rounds over 5 parts."
    assert fuse_extract(extract, "ds", {"random_state": 0}).fitted == "Fitted on 500 of 3,000 rows, evenly drawn."


def test_other_methods_are_refused(extract):
    with pytest.raises(InputError, match="--exact fits ds, fds, hds or onecoin on all rows"):
        fuse_extract(extract, "gds", {"random_state": 0}, exact=True)


def test_it_ends_when_asked_to(extract):
    asked = iter(range(8))
    with pytest.raises(Stopped):
        fit_parts(extract.sample, "ds", extract.kept, control=StopWhen(lambda: next(asked, 8) == 8))


def test_the_command_fits_exactly_where_it_is_told_to(large, votes, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("deem_core.large.parts.PART_ROWS", 900)
    output = tmp_path / "fused.parquet"
    words = ["fuse", str(large.stream.path), "-o", str(output), "--method", "ds", "--stream", "--sample", "500"]
    assert cli.main(words) == 0
    assert "too many different rows of votes to hold at once; --exact fits ds on all rows" in capsys.readouterr().out
    assert cli.main([*words, "--exact"]) == 0
    assert " rounds over 5 parts." in capsys.readouterr().out
    assert not (tmp_path / "fused.parquet.parts").exists()
    whole = aggregate("ds", votes, np.random.default_rng(0))
    np.testing.assert_allclose(
        pq.read_table(output)["confidence"].to_numpy()[votes.votes_per_row > 0],
        whole.posterior.max(axis=1)[votes.votes_per_row > 0],
        atol=1e-9,
    )
    assert cli.main([*words[:-1], "500", "--exact", "--method", "gds"]) == 2
    assert "the method gds is none of these" in capsys.readouterr().err


def test_a_command_that_was_killed_while_it_counted_goes_on(large, tmp_path, monkeypatch):
    output = tmp_path / "fused.csv"
    words = ["fuse", str(large.stream.path), "-o", str(output), "--method", "ds", "--stream", "--exact"]
    add = Kept.add

    def add_some(self, at, found):
        if at == 2:
            raise KeyboardInterrupt
        add(self, at, found)

    monkeypatch.setattr(Kept, "add", add_some)
    assert cli.main(words) == 130
    monkeypatch.setattr(Kept, "add", add)
    assert cli.main(words) == 0
    assert len(output.read_text().splitlines()) == N + 1
    assert not (tmp_path / "fused.csv.parts").exists()


@pytest.mark.parametrize("method", ["fds", "hds"])
def test_few_patterns_are_fitted_at_once(votes, tmp_path, method):
    path = tmp_path / "votes.csv"
    tables.write(tables.wide_table(votes), path)
    extract = make_extract(open_large(path), 500, keep=tmp_path / "kept")
    assert extract.complete
    made = fuse_extract(extract, method, {"random_state": 0}, exact=True)
    whole = aggregate(method, votes, np.random.default_rng(0))
    np.testing.assert_allclose(made.rule(votes.codes), whole.posterior, atol=1e-9)
    assert made.fitted.startswith("Fitted on all 3,000 rows, which hold ")
