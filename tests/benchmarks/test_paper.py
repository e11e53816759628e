"""The paper's experiments run from end to end on tiny sizes and deliver every row they promise."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks.paper import (
    ablations,
    expert_weights,
    experts,
    few_ablations,
    many_classes,
    methods,
    published,
    recovery,
    running,
    samplers,
    sensitivity,
)
from benchmarks.paper.__main__ import main
from benchmarks.paper.context import Context, hours_taken
from benchmarks.paper.data import Source, mniste
from benchmarks.paper.findings import over_sets, places
from benchmarks.paper.outcome import Table
from benchmarks.paper.pictures import photograph
from benchmarks.paper.running import EXPERIMENTS
from deem_core import InputError, simulation
from deem_core.model.config import Shape, TrainConfig, resolve
from deem_core.model.energy import initialise


@pytest.fixture(autouse=True)
def _without_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand-ins are always there and small; what is under DEEM_DATA differs from place to place."""
    monkeypatch.delenv("DEEM_DATA", raising=False)


def quick(name: str, results: Path) -> dict[str, Any]:
    assert main([name, "--quick", "--results", str(results)]) == 0
    for ending in ("json", "md", "html"):
        assert (results / "quick" / f"{name}.{ending}").stat().st_size > 500
    assert not (results / f"{name}.json").exists()
    return json.loads((results / "quick" / f"{name}.json").read_text(encoding="utf-8"))


def tables(told: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return name → rows, after looking for numbers that are missing without a word."""
    found = {}
    assert told["findings"]
    for one in told["tables"]:
        table = Table(one["name"], one["title"], one["rows"])
        assert table.rows
        assert table.without_reason() == []
        found[table.name] = table.rows
    return found


def assert_all_methods(rows: list[dict[str, Any]], names: tuple[str, ...], sets: int = 1) -> None:
    keys = {(row["set"], row["key"]) for row in rows}
    where = {row["set"] for row in rows}
    assert len(where) == sets
    assert keys >= {(place, name) for place in where for name in names}
    for row in rows:
        assert row["accuracy"] is None or 0 <= row["accuracy"] <= 100


def test_recovery_has_every_size_and_way(tmp_path: Path) -> None:
    told = quick("recovery", tmp_path)
    rows = tables(told)["recovery"]
    assert {(row["rows"], row["method"]) for row in rows} == {
        (n, way) for n in recovery.QUICK_SIZES for way in recovery.WAYS.values()
    }
    exact, em = (
        next(row for row in rows if row["rows"] == 400 and row["method"] == way)
        for way in (recovery.WAYS["irbm"], recovery.WAYS["ds"])
    )
    assert [row["updates"] for row in tables(told)["lengths"]] == list(recovery.QUICK_LENGTHS)
    assert exact["psi error"] == pytest.approx(em["psi error"], abs=0.02)  # Lemma 1: one model, two names
    assert told["seeds"] == [0]
    assert {"deem_core", "torch", "python"} <= set(told["versions"])
    assert told["date"]
    assert told["device"]


def test_many_classes_have_memory_and_time(tmp_path: Path) -> None:
    rows = tables(quick("many_classes", tmp_path))["many_classes"]
    assert_all_methods(rows, ("best", "average", *many_classes.METHODS))
    assert all(row["memory GB"] > 0.05 for row in rows if row["key"] in ("mv", "deem"))
    theirs = {row["key"] for row in rows if row["paper accuracy"] is not None}
    assert theirs == {*published.IMAGENET, "deem_layer"}
    names = {row["key"]: row["method"] for row in rows}
    assert (names["deem"], names["deem_layer"]) == ("DEEM, no layer", "DEEM, one layer")


def test_soft_votes_have_hard_and_soft_deem_and_the_pools(tmp_path: Path) -> None:
    rows = tables(quick("soft", tmp_path))["soft"]
    assert_all_methods(rows, ("best", "average", "mv", "mean_prob", "geo_pool", "log_pool", "deem", "deem_soft"))


def test_learning_rates_have_a_verdict_for_every_rate_of_two_sets(tmp_path: Path) -> None:
    rows = tables(quick("learning_rates", tmp_path))["learning_rates"]
    assert len({row["set"] for row in rows}) == 2
    assert all(row["verdict"] and row["note"] for row in rows)


def test_sensitivity_has_every_mixture_and_no_quality_below_accuracy(tmp_path: Path) -> None:
    rows = tables(quick("sensitivity", tmp_path))["sensitivity"]
    steps = sensitivity.QUICK_STEPS
    assert [(row["good learners added"], row["guessing learners added"]) for row in rows] == [
        (good, noise) for good in steps for noise in steps
    ]
    for row in rows:
        assert row["accuracy"] <= row["any learner right"] + 1
        assert row["accuracy quality"] >= row["accuracy"] - 1


def test_main_has_every_method_on_every_set(tmp_path: Path) -> None:
    rows = tables(quick("main", tmp_path))["main"]
    assert_all_methods(rows, ("best", "average", *methods.METHODS), sets=2)
    tree = {row["key"]: row for row in rows if row["set"].startswith("tree3k")}
    assert tree["deem"]["paper accuracy"] == 95.52
    assert tree["deem"]["paper seconds"] == 16.12


def test_experts_have_both_accuracies_and_importance(tmp_path: Path) -> None:
    found = tables(quick("experts", tmp_path))
    assert_all_methods(found["experts"], experts.METHODS, sets=4)
    for row in found["experts"]:
        if row["accuracy"] is not None:
            low, high = sorted((row["expert"], row["remaining"]))
            assert low - 1e-9 <= row["accuracy"] <= high + 1e-9
    assert [row["key"] for row in found["alone"]] == list(experts.METHODS)
    assert len(found["importance"]) == 8


def test_disentanglement_has_every_layer_given_truth_and_fused(tmp_path: Path) -> None:
    rows = tables(quick("disentanglement", tmp_path))["disentanglement"]
    layers = ("input", "after layer 1", "after layer 2")
    assert [(row["given"], row["layer"]) for row in rows] == [
        (g, layer) for g in ("truth", "fused") for layer in layers
    ]


def test_many_learners_has_every_method(tmp_path: Path) -> None:
    told = quick("many_learners", tmp_path)
    assert_all_methods(tables(told)["many_learners"], ("best", "average", "mv", "lsml", "ds", "ebcc", "hlm", "deem"))


def test_samplers_have_acceptance(tmp_path: Path) -> None:
    rows = tables(quick("samplers", tmp_path))["samplers"]
    assert len(rows) == 3 * len(samplers.SAMPLERS)
    assert all(row["acceptance"] == pytest.approx(1) for row in rows if row["sampler"] == "DULA")


@pytest.mark.parametrize("module", [ablations, few_ablations])
def test_ablations_have_every_value(tmp_path: Path, module: Any) -> None:
    found = tables(quick(module.__name__.rpartition(".")[2], tmp_path))
    for setting, values in module.CHANGES.items():
        assert [row[setting] for row in found[setting]] == list(values)
    changed = [(setting, str(value)) for setting, values in module.CHANGES.items() for value in values[1:]]
    assert [(row["setting"], row["value"]) for row in found["differences"]] == changed


def test_ablations_begin_with_the_default_of_a_layer() -> None:
    config = resolve(TrainConfig(), Shape.of(simulation.make("tree", 10_000, 0).votes)).config
    for changes in (ablations.CHANGES, few_ablations.CHANGES):
        assert {name: values[0] for name, values in changes.items()} == {
            name: getattr(config, name) for name in changes
        }


def test_differences_are_paired_by_set() -> None:
    values = {("a", 0): 90.0, ("a", 1): 91.0, ("b", 0): 50.0, ("b", 1): 53.0}
    rows = [{"set": name, "momentum": value, "accuracy": right} for (name, value), right in values.items()]
    apart = ablations._differences(rows, "momentum", 0)
    told = ablations._mean_row("momentum", 1, 0, apart)
    assert (told["difference"], told["standard error"]) == pytest.approx((2, 1))
    assert "within the noise" in ablations._sentence(told)
    assert "within the noise" in ablations._sentence({**told, "standard error": 0.2})  # two sets are few
    assert "clear" in ablations._sentence({**told, "standard error": 0.1})


def test_momentum_goes_as_far_as_without_it(tmp_path: Path) -> None:
    source = Source("tree", simulation.make("tree", 10_000, 0).votes, "")
    asked = ablations._asked(source, "momentum", 0.9)
    assert asked["learning_rate"] == pytest.approx(0.05)
    assert asked["updates"] == 360


def test_expert_weights_have_every_measure_and_find_an_expert(tmp_path: Path) -> None:
    rows = tables(quick("expert_weights", tmp_path))["expert_weights"]
    assert {(row["layers"], row["measure"]) for row in rows} == {
        (layers, measure) for layers in expert_weights.LAYERS for measure in expert_weights.MEASURES
    }


@pytest.mark.parametrize("measure", expert_weights.MEASURES)
def test_a_learner_with_larger_weights_on_a_class_weighs_more_there(measure: str) -> None:
    d, K = 4, 3
    model = initialise(d, K, 1, [torch.Generator().manual_seed(0)], scale=1.0, activation="softmax")
    larger = model.layer_weights[0] if measure.startswith("first layer") else model.weights
    larger[0].view(d, K, -1)[0, 2] *= 3  # learner 0, votes for class 2
    codes = np.random.default_rng(0).integers(K, size=(400, d)).astype(np.int32)
    rows = codes[codes[:, 0] == 2]
    asked = expert_weights.Asked(model, rows, codes, rows[:, 0], np.array([2]))
    found = expert_weights.MEASURES[measure](asked)
    assert found.shape == (d,)
    assert found.argmax() == 0


@pytest.mark.browser
def test_every_figure_of_a_page_becomes_a_picture(tmp_path: Path) -> None:
    quick("samplers", tmp_path)
    page = tmp_path / "quick" / "samplers.html"
    with ThreadPoolExecutor(1) as apart:  # another test's browser may be open in this thread
        made = apart.submit(photograph, page).result()
    assert len(made) == 3
    assert all(path.read_bytes().startswith(b"\x89PNG") and path.stat().st_size > 5_000 for path in made)


def test_finished_units_are_not_done_again_unless_asked(tmp_path: Path) -> None:
    votes = simulation.make("condind", 50, 0).votes
    done: list[int] = []

    def make() -> dict[str, Any]:
        done.append(1)
        return {"array": np.arange(3), "nothing": float("nan")}

    for again, times in ((False, 1), (False, 1), (True, 2)):
        context = Context(quick=True, results=tmp_path, again=again)
        assert context.unit("set-method-0", votes, {"seed": 0}, make) == {"array": [0, 1, 2], "nothing": None}
        assert len(done) == times
    Context(quick=True, results=tmp_path).unit("set-method-0", votes, {"seed": 1}, make)
    Context(quick=True, results=tmp_path).unit("set-method-0", votes.select_rows(slice(40)), {"seed": 0}, make)
    assert len(done) == 4  # other settings and other votes are other units


def test_overview_tells_full_from_quick_from_missing(tmp_path: Path) -> None:
    about = {"date": "2000-01-01", "seconds": 3.0, "seeds": [0], "device": "Processor"}
    about |= {"experiment": "main", "findings": ["DEEM came last."]}
    (tmp_path / "quick").mkdir()
    (tmp_path / "main.json").write_text(json.dumps(about), encoding="utf-8")
    (tmp_path / "quick" / "soft.json").write_text(json.dumps(about), encoding="utf-8")
    assert main(["overview", "--results", str(tmp_path)]) == 0
    lines = {
        line.split("|")[1].strip(): line
        for line in (tmp_path / "README.md").read_text("utf-8").splitlines()
        if line.startswith("| ")
    }
    assert set(EXPERIMENTS) <= set(lines)
    assert "(main.md)" in lines["main"]
    assert "only quick" in lines["soft"]
    assert "not yet" in lines["recovery"]
    assert "- DEEM came last." in (tmp_path / "README.md").read_text("utf-8")


def test_findings_say_where_deem_stands_and_where_it_is_below_the_majority() -> None:
    def row(where: str, key: str, accuracy: float | None) -> dict[str, Any]:
        return {"set": where, "key": key, "method": key.upper(), "accuracy": accuracy, "sd": 0.5}

    rows = [row("a", "best", 99.0), row("a", "mv", 80.0), row("a", "ds", 90.0), row("a", "deem", 85.0)]
    rows += [row("b", "mv", 70.0), row("b", "ds", None), row("b", "deem", 69.0)]
    assert places(rows) == [
        "a: DEEM 85.0 ± 0.5, place 2 of 3; best other DS 90.0 ± 0.5, majority vote 80.0.",
        "b: DEEM 69.0 ± 0.5, place 2 of 2; best other MV 70.0 ± 0.5, majority vote 70.0.",
    ]
    ahead, means = over_sets(rows)
    assert ahead == (
        "Of 2 sets, DEEM is ahead of every other method on 0 and of the majority vote on 1. "
        "It is below the majority vote on b."
    )
    assert (
        means == "Mean accuracy over the sets, of methods that ran on all: DEEM 77.0, MV 75.0. DEEM is number 1 of 2."
    )


def test_all_run_side_by_side_and_only_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "BY_LENGTH", ("recovery", "samplers"))
    assert main(["all", "--quick", "--jobs", "2", "--results", str(tmp_path)]) == 0
    made = {name: (tmp_path / "quick" / f"{name}.json").stat().st_mtime_ns for name in ("recovery", "samplers")}
    taken = hours_taken(tmp_path / "quick")
    assert taken > 0
    assert main(["all", "--quick", "--results", str(tmp_path)]) == 0
    assert made == {name: (tmp_path / "quick" / f"{name}.json").stat().st_mtime_ns for name in made}
    assert hours_taken(tmp_path / "quick") == taken


def test_a_missing_number_needs_a_note() -> None:
    whole = {"set": "a", "accuracy": 1.0, "sd": None, "paper accuracy": None, "note": ""}
    silent, said = {**whole, "accuracy": None}, {**whole, "accuracy": None, "note": "Why."}
    assert Table("t", "T", [whole, silent, said]).without_reason() == [silent]


def test_a_method_that_fails_is_a_row_with_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise InputError("It does not serve.")

    monkeypatch.setattr(methods, "aggregate", refuse)
    context = Context(quick=True, results=tmp_path)
    row = methods.method_row(context, mniste(context), "ds")
    assert row["accuracy"] is None
    assert row["note"] == "It does not serve."


def test_mixtures_keep_one_learner_of_each_family_and_add_in_turn() -> None:
    base = mniste(Context(quick=True)).votes
    made = sensitivity.mixture(base, 2, 1)
    assert made.learners == ("dt_1", "gnb_1", "mlp_1", "dt_2", "gnb_2", "guess_1")
    np.testing.assert_array_equal(made.codes[:, 1], base.codes[:, 5])


def test_accuracy_of_classes_adds_up_to_that_of_all() -> None:
    votes = simulation.make("condind", 200, 0).votes
    right, rows = methods.right_by_class(votes, votes.majority_vote.codes)
    assert sum(rows) == 200
    assert sum(right) == int((votes.majority_vote.codes == votes.truth).sum())
