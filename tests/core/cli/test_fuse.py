"""train, fuse and apply as commands."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import deem_core
from deem_core import cli, simulation
from deem_core.files import tables

QUICK = ["--restarts", "2", "--updates", "30", "--batch", "128"]
DEEM = ["--method", "deem", *QUICK]


def by(method: str) -> list[str]:
    """Return the options of a method; only those that train take settings."""
    return ["--method", method, *(QUICK if method in ("deem", "irbm", "irbm_cd", "deem_soft") else [])]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Return a folder with small files in every layout."""
    made = tmp_path_factory.mktemp("votes")
    hard, crowd = simulation.simulate("tree", 300, 0), simulation.simulate("crowd", 200, 0, 12, 3)
    soft = simulation.simulate("tree", 300, 0, soft=True)
    tables.write(tables.wide_table(hard.votes), made / "wide.csv")
    tables.write(tables.soft_table(soft.votes), made / "soft.csv")
    tables.write(tables.long_table(crowd.votes), made / "long.csv")
    tables.write(tables.truth_table(crowd.votes), made / "truth.csv")
    return made


@pytest.fixture(scope="module")
def trained(folder) -> Path:
    """Return a quick model of the wide file; nobody writes to it."""
    model = folder / "trained.safetensors"
    assert cli.main(["train", str(folder / "wide.csv"), "-o", str(model), "--seed", "3", *QUICK]) == 0
    return model


def run(capsys, *arguments) -> str:
    code = cli.main([str(argument) for argument in arguments])
    told = capsys.readouterr()
    assert code == 0, told.err
    assert told.err == ""
    return told.out


def test_fuse_says_that_a_class_is_gone_on_a_file_of_one_class_rules(capsys, tmp_path):
    rng = np.random.default_rng(0)
    truth = rng.random(800) < 0.5
    cells = {
        f"rule{j}": np.where(rng.random(800) < np.where(truth == spam, rate, 0.02), "spam" if spam else "ham", None)
        for j, (spam, rate) in enumerate([(False, 0.1)] * 8 + [(True, 0.35)] * 2)
    }
    pd.DataFrame({"id": range(800), **cells}).to_csv(tmp_path / "rules.csv", index=False)
    out, result = tmp_path / "fused.csv", tmp_path / "result.json"
    roles = [word for name in cells for word in ("--learner", name)]
    told = run(
        capsys, "fuse", tmp_path / "rules.csv", "--id", "id", *roles, "-o", out, "--method", "ds", "--json", result
    )
    content = json.loads(result.read_text())
    assert "one-class rules" in {alarm["kind"] for alarm in content["alarms"]}
    assert all(alarm["sentence"] in content["warnings"] for alarm in content["alarms"])
    assert all(alarm["advice"] in told for alarm in content["alarms"] if alarm["kind"] != "silent rows")


@pytest.mark.parametrize("method", ["deem", "irbm", "irbm_cd", "ds", "mv"])
def test_fuse_writes_labels_and_says_what_it_did(capsys, folder, tmp_path, method):
    out, result = tmp_path / "fused.csv", tmp_path / "result.json"
    told = run(capsys, "fuse", folder / "wide.csv", "-o", out, *by(method), "--json", result)
    assert f"300 rows × 12 learners × 3 classes, fused by {method}" in told
    assert len(told.splitlines()) <= 6
    fused = pd.read_csv(out)
    assert len(fused) == 300
    assert {
        "id",
        "label",
        "fused_label",
        "confidence",
        "p_0",
        "majority_vote",
        "agreement",
        "entropy",
        "needs_review",
    } <= set(fused)
    content = json.loads(result.read_text())
    assert {"method", "n_rows", "n_learners", "n_classes", "settings", "restarts", "warnings", "seconds"} <= set(
        content
    )
    assert content["accuracy"] == pytest.approx((fused["fused_label"] == fused["label"]).mean())
    facts = deem_core.describe(deem_core.read_votes(folder / "wide.csv", truth="label"))
    assert content["majority_vote_accuracy"] == pytest.approx(facts.majority_accuracy)
    assert content["majority_vote_first_class_accuracy"] == pytest.approx(facts.majority_first_class_accuracy)
    differs = (fused["majority_vote"] != fused["fused_label"]).mean()
    assert content["agreement"]["majority vote"] == pytest.approx(1 - differs)
    assert set(content["agreement"]) == {"majority vote", "dawid skene"}
    assert 0 < content["dawid_skene_accuracy"] <= 1
    for restart in content["restarts"]:
        assert {"seed", "kept", "reason", "share_ratio"} <= set(restart)


@pytest.mark.parametrize("method", ["deem", "mean_prob", "geo_pool", "log_pool", "cal_pool"])
def test_soft_files_are_fused_and_pooled(capsys, folder, tmp_path, method):
    out = tmp_path / "fused.parquet"
    run(capsys, "fuse", folder / "soft.csv", "-o", out, *by(method))
    assert pd.read_parquet(out)["fused_label"].notna().all()


def test_pools_and_simpler_methods_are_shown_beside(capsys, folder, tmp_path):
    told = run(capsys, "fuse", folder / "soft.csv", "-o", tmp_path / "fused.csv", *DEEM)
    for name in ("majority vote", "dawid skene", "mean prob", "geo pool", "log pool", "cal pool"):
        assert name in told
    assert "This file has probabilities, and DEEM uses only the most probable class of each vote." in told
    told = run(capsys, "fuse", folder / "wide.csv", "--ignore", "label", "-o", tmp_path / "fused.csv", *DEEM)
    assert "The same label as: majority vote" in told
    assert "Without truth there is no telling which is right" in told


def test_long_files_come_back_one_row_per_task(capsys, folder, tmp_path):
    out = tmp_path / "fused.csv"
    told = run(capsys, "fuse", folder / "long.csv", "--truth-file", folder / "truth.csv", "-o", out, *DEEM)
    assert "Right, with 95% intervals:" in told
    assert len(pd.read_csv(out)) == 200


def test_a_trained_model_labels_other_files_alike(capsys, folder, trained, tmp_path):
    fused, applied = tmp_path / "fused.csv", tmp_path / "applied.csv"
    capsys.readouterr()
    run(capsys, "fuse", folder / "wide.csv", "-o", fused, "--seed", "3", *DEEM)
    told = run(capsys, "apply", trained, folder / "wide.csv", "-o", applied)
    assert "The model was trained on 300 rows" in told
    assert pd.read_csv(applied)["fused_label"].equals(pd.read_csv(fused)["fused_label"])


def test_apply_says_what_was_unknown(capsys, folder, trained, tmp_path):
    capsys.readouterr()
    new = pd.read_csv(folder / "wide.csv", dtype=str).drop(columns=["label"])
    new = new.drop(columns=[new.columns[1]]).replace({new.columns[2]: {"2": "7"}})
    new.to_csv(tmp_path / "new.csv", index=False)
    told = run(capsys, "apply", trained, tmp_path / "new.csv", "-o", tmp_path / "out.csv")
    assert "votes for labels unknown in training ('7') are treated as missing" in told
    assert "; treated as missing" in told


@pytest.mark.parametrize("rows", [["1,2,2,2\n"], ["1,0,2,1\n"], ["1,0,0,0\n", "2,0,0,0\n"]])
def test_apply_labels_a_single_row_and_rows_of_one_class(capsys, folder, trained, tmp_path, rows):
    names = list(pd.read_csv(folder / "wide.csv").columns)
    capsys.readouterr()
    (tmp_path / "new.csv").write_text("".join([",".join(names[:4]) + "\n", *rows]), encoding="utf-8")
    told = run(capsys, "apply", trained, tmp_path / "new.csv", "-o", tmp_path / "out.csv")
    assert "unknown in training" not in told
    assert len(pd.read_csv(tmp_path / "out.csv")) == len(rows)


def test_the_same_seed_gives_the_same_file(capsys, folder, tmp_path):
    for name in ("one.csv", "two.csv"):
        run(capsys, "fuse", folder / "wide.csv", "-o", tmp_path / name, "--seed", "5", *DEEM)
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["fuse", "wide.csv", "-o", "out.xlsx"], "does not say how to write it"),
        (["fuse", "wide.csv", "-o", "wide.csv"], "is the file to read"),
        (["fuse", "wide.csv", "-o", "out.csv", "--method", "deem", "--learning-rate", "-1"], "learning_rate is -1"),
        (["fuse", "wide.csv", "-o", "out.csv", "--learning-rate", "1"], "auto trains nothing. Use --method deem"),
        (["fuse", "wide.csv", "-o", "out.csv", "--method", "log_pool"], "probabilities"),
        (["fuse", "wide.csv", "-o", "out.csv", "--learner", "node_1_1"], "single learner|no learner column"),
        (["apply", "wide.csv", "wide.csv", "-o", "out.csv"], "not a DEEM Studio model"),
        (["apply", "nothing.safetensors", "wide.csv", "-o", "out.csv"], "no model file"),
        (["fuse", "wide.csv", "--truth", "gold", "-o", "out.csv"], "no truth column 'gold'"),
    ],
)
def test_errors_are_one_sentence_and_leave_nothing_behind(capsys, folder, monkeypatch, arguments, sentence):
    monkeypatch.chdir(folder)
    assert cli.main([*arguments]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert len(told.err.splitlines()) == 1
    assert any(part in told.err for part in sentence.split("|"))
    assert not (folder / "out.csv").exists()


@pytest.mark.parametrize("command", ["fuse", "apply"])
def test_rows_below_a_confidence_need_review_and_may_lose_their_label(capsys, folder, tmp_path, command):
    plain, blank, model = tmp_path / "plain.csv", tmp_path / "blank.csv", tmp_path / "model.safetensors"
    first = ["fuse", folder / "wide.csv", "--method", "irbm"]
    if command == "apply":
        run(capsys, "train", folder / "wide.csv", "-o", model, "--method", "irbm")
        first = ["apply", model, folder / "wide.csv"]
    run(capsys, *first, "-o", plain)
    told = run(capsys, *first, "-o", blank, "--review-below", "0.95", "--blank")
    usual, fused = pd.read_csv(plain), pd.read_csv(blank)
    low = fused["confidence"] < 0.95
    assert 0 < low.sum() < len(fused)
    assert fused["fused_label"].isna().equals(low)
    assert fused["fused_label"][~low].astype(int).equals(usual["fused_label"][~low])
    assert fused["needs_review"][low].all()
    assert f"{fused['needs_review'].sum():,} rows need review" in told


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--blank"], "--review-below"),
        (["--review-below", "1.5"], "'1.5' is not a number between 0 and 1"),
        (["--review-below", "nan"], "'nan' is not a number between 0 and 1"),
        (["--review-below", "often"], "'often' is not a number between 0 and 1"),
    ],
)
def test_a_threshold_that_makes_no_sense_is_refused_before_any_work(capsys, folder, tmp_path, options, sentence):
    assert cli.main(["fuse", str(folder / "wide.csv"), "-o", str(tmp_path / "f.csv"), *options]) == 2
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "f.csv").exists()


def test_a_grouped_model_is_trained_saved_and_applied(capsys, tmp_path):
    votes, model, out = tmp_path / "tree.csv", tmp_path / "model.safetensors", tmp_path / "fused.csv"
    run(capsys, "simulate", "tree", "--rows", "600", "--seed", "3", "-o", votes)
    told = run(capsys, "train", votes, "-o", model, "--method", "gds", "--json", tmp_path / "train.json")
    assert "Fitted the grouped model exactly" in told
    assert "3 groups of learners that make the same mistakes" in told
    content = json.loads((tmp_path / "train.json").read_text())
    assert content["restarts"] == []
    assert len(content["groups"]["groups"]) == 3
    run(capsys, "apply", model, votes, "-o", out)
    applied = pd.read_csv(out)["fused_label"]
    run(capsys, "fuse", votes, "-o", out, "--method", "gds")
    assert (pd.read_csv(out)["fused_label"] == applied).all()


def test_settings_that_a_method_does_not_have_are_named(capsys, tmp_path, folder):
    code = cli.main(
        ["fuse", str(folder / "wide.csv"), "-o", str(tmp_path / "f.csv"), "--method", "gds", "--restarts", "3"]
    )
    assert code == 2
    assert "The method gds has no setting 'restarts'" in capsys.readouterr().err


# ---------------------------------------------------------------------- labelling rules


@pytest.fixture
def rules(tmp_path) -> Path:
    """Return a file of rules that know one class each, with -1 for no vote."""
    fires = np.random.default_rng(0).random((200, 6)) < 0.15
    table = pd.DataFrame(np.where(fires, np.arange(6) % 2, -1), columns=[f"lf{j}" for j in range(6)])
    table.to_csv(tmp_path / "rules.csv", index_label="id")
    return tmp_path / "rules.csv"


@pytest.mark.parametrize("method", ["mv", "ds", "irbm", "deem"])
def test_rows_without_votes_come_back_with_the_prior_a_mark_and_no_label(capsys, rules, tmp_path, method):
    run(capsys, "fuse", rules, "-o", tmp_path / "fused.csv", *by(method))
    fused = pd.read_csv(tmp_path / "fused.csv")
    silent = fused[(fused[[f"lf{j}" for j in range(6)]] == -1).all(axis=1)]
    assert 30 < len(silent) < 200
    assert silent["needs_review"].all()
    assert silent[["fused_label", "confidence", "majority_vote", "agreement", "entropy"]].isna().all(axis=None)
    assert len(silent[["p_0", "p_1"]].drop_duplicates()) == 1
    assert (silent["p_0"] + silent["p_1"]).to_numpy() == pytest.approx(1)
    assert fused["fused_label"].notna().sum() == len(fused) - len(silent)


def test_a_model_of_rules_labels_new_rows_on_which_most_rules_abstain(capsys, rules, tmp_path):
    model = tmp_path / "rules.safetensors"
    run(capsys, "train", rules, "-o", model, "--method", "irbm")
    new = tmp_path / "new.csv"
    new.write_text("id,lf0,lf1,lf2,lf3,lf4,lf5\n1,0,-1,-1,-1,-1,-1\n2,-1,-1,-1,-1,-1,-1\n3,-1,1,-1,1,-1,-1\n")
    run(capsys, "apply", model, new, "-o", tmp_path / "fused.csv")
    fused = pd.read_csv(tmp_path / "fused.csv")
    assert fused["fused_label"].isna().tolist() == [False, True, False]
    assert fused["majority_vote"].tolist()[::2] == [0, 1]


def test_soft_deem_is_trained_saved_and_applied_to_probabilities_and_labels(capsys, folder, tmp_path):
    model, quick = tmp_path / "soft.safetensors", by("deem_soft")
    told = run(capsys, "train", folder / "soft.csv", "-o", model, *quick)
    assert "Trained 2 restarts" in told
    assert "near-copies" not in told
    assert "uses only the most probable class" not in told
    run(capsys, "fuse", folder / "soft.csv", "-o", tmp_path / "fused.csv", *quick)
    run(capsys, "apply", model, folder / "soft.csv", "-o", tmp_path / "applied.csv")
    fused, applied = (pd.read_csv(tmp_path / name) for name in ("fused.csv", "applied.csv"))
    assert (fused["fused_label"] == applied["fused_label"]).all()
    np.testing.assert_allclose(fused["confidence"], applied["confidence"])
    told = run(capsys, "apply", model, folder / "wide.csv", "-o", tmp_path / "labels.csv")
    assert "The model was trained on 300 rows." in told
    assert pd.read_csv(tmp_path / "labels.csv")["fused_label"].notna().all()


def test_spellings_are_merged_and_labels_named_by_every_command(tmp_path, capsys):
    lines = [
        "id,a,b,c",
        *(f"r{i},{'Spam' if i % 2 else 'ham'},{'SPAM' if i % 2 else 'HAM'},{i % 2}" for i in range(30)),
    ]
    file, out, names = tmp_path / "messy.csv", tmp_path / "fused.csv", tmp_path / "names.csv"
    file.write_text("\n".join(lines))
    names.write_text("label,name\n1,spam\n0,ham\nspam,spam\n")
    cli.main(["describe", str(file), "--learner", "a", "--learner", "b", "--learner", "c"])
    assert capsys.readouterr().out.splitlines()[1:3] == ["", "4 spellings look like 2 classes (of 6 labels)"]
    cli.main(["fuse", str(file), "-o", str(out), "--method", "mv", "--merge-spellings", "--labels", str(names)])
    fused = out.read_text().splitlines()
    assert fused[1].startswith("r0,ham,HAM,0,")  # cells stay as they were
    assert [line.split(",")[4] for line in fused[1:3]] == ["ham", "spam"]
    assert "spellings look like" not in capsys.readouterr().out
    whole = out.read_bytes()
    given = ["--labels", '{"1": "spam", "0": "ham", "spam": "spam"}']
    cli.main(["fuse", str(file), "-o", str(out), "--method", "mv", "--merge-spellings", "--stream", *given])
    assert out.read_bytes() == whole


def test_messy_labels_are_the_first_thing_said_of_an_answer(tmp_path, capsys):
    lines = ["id,a,b,c", *(f"r{i},{'Spam' if i % 2 else 'ham'},{'SPAM' if i % 2 else 'HAM'},spam" for i in range(30))]
    file = tmp_path / "messy.csv"
    file.write_text("\n".join(lines))
    cli.main(["fuse", str(file), "-o", str(tmp_path / "fused.csv"), "--json", str(tmp_path / "out.json")])
    said = capsys.readouterr().out.splitlines()[1]
    assert said.startswith("5 spellings look like 2 classes")
    assert "--merge-spellings" in said
    assert json.loads((tmp_path / "out.json").read_text())["alarms"][0]["kind"] == "spellings"
