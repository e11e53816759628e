"""The check of a GPU, with the processor in its place."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks import gpu_check
from benchmarks.gpu_check import Trained, disagreements
from deem_core.model import passport
from deem_core.model.devices import Device


@pytest.fixture
def small(monkeypatch, tmp_path):
    monkeypatch.setenv("DEEM_HOME", str(tmp_path / "home"))
    train = gpu_check.train
    quick = {"updates": 6, "restarts": 2, "batch_size": 64}
    monkeypatch.setattr(gpu_check, "train", lambda *given, **more: train(*given, **more, **quick))
    monkeypatch.setattr(gpu_check, "tests_pass", lambda device: True)
    monkeypatch.setattr(gpu_check, "devices", lambda: [Device("cpu", "Some chip", threads=2)])


@pytest.mark.usefixtures("small")
def test_who_passes_gets_a_passport_and_a_table(capsys):
    assert gpu_check.main(["--device", "cpu", "--rows", "200"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("\n| tree3k-like |") == printed.count("\n| mniste-like |") == 3
    assert "100.0%" in printed
    assert "Passed" in printed
    assert passport.has_passed("cpu", "Some chip")


@pytest.mark.usefixtures("small")
def test_who_fails_a_test_gets_none(capsys, monkeypatch):
    monkeypatch.setattr(gpu_check, "tests_pass", lambda device: False)
    assert gpu_check.main(["--device", "cpu", "--rows", "200"]) == 1
    assert "Not passed." in capsys.readouterr().out
    assert passport.passports() == []


@pytest.mark.usefixtures("small")
def test_without_a_gpu_there_is_nothing_to_check(capsys):
    assert gpu_check.main([]) == 1
    assert "finds no GPU here" in capsys.readouterr().err


def test_a_gpu_may_differ_as_another_seed_does_and_no_more():
    rng = np.random.default_rng(0)
    first = Trained("cpu", 1, 10, -5 + 0.01 * rng.standard_normal((2, 5)), np.zeros(1000, int))
    second = replace(first, codes=np.where(np.arange(1000) < 30, 1, 0))
    assert disagreements("draw", first, second, replace(second, codes=np.where(np.arange(1000) < 45, 1, 0))) == []
    (labels,) = disagreements("draw", first, second, replace(second, codes=np.where(np.arange(1000) < 60, 1, 0)))
    assert labels == "draw: 94.0% of the labels on cpu are those of the processor, where 95.0% were to be expected."
    energies = disagreements("draw", first, second, replace(second, energies=first.energies + 0.2))
    assert [sentence.partition(" on ")[0] for sentence in energies] == ["draw: F of data", "draw: F of chains"]
    assert len(disagreements("draw", first, second, replace(second, energies=first.energies * np.nan))) == 2
