"""The command line describes and simulates files, and every refusal is one line and exit code 2."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deem_core import cli, readers, simulation

ROOT = Path(__file__).resolve().parents[3]
SAMPLES = json.loads((ROOT / "sample_data" / "samples.json").read_text(encoding="utf-8"))
COMMANDS = {
    name: [name, "--help"]
    for name in (
        "describe",
        "simulate",
        "fuse",
        "ask",
        "check",
        "train",
        "apply",
        "compare",
        "sweep",
        "runs",
        "work",
        "devices",
        "estimate",
        "report",
    )
}

WIDE = """\
key,gold,ann,bob,cy,remark
r1,cat,cat,cat,dog,good
r2,dog,dog,?,dog,bad
r3,cat,none,cat,dog,good
"""


@pytest.fixture
def wide(tmp_path: Path) -> str:
    path = tmp_path / "wide.csv"
    path.write_text(WIDE, encoding="utf-8")
    return str(path)


def facts_of(tmp_path: Path, *arguments: str) -> dict[str, Any]:
    """Return what ``describe … --json`` writes, refusing anything that is not strict JSON."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    out = tmp_path / "facts.json"
    assert cli.main(["describe", *arguments, "--json", str(out)]) == 0
    facts: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"), parse_constant=refuse)
    return facts


def run(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "deem_core", *arguments],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
        **options,
    )


# ---------------------------------------------------------------------- describe


SIZES = {
    "judges_text.csv": (400, 11, 2),
    "experts_wide.csv": (10_000, 6, 5),
    "moderation_missing.csv": (3_000, 9, 3),
    "crowd_long.csv": (800, 40, 4),
    "digits_soft.csv": (1_300, 7, 10),
    "rules_abstain.csv": (1_200, 8, 2),
    "ratings_wide.csv": (400, 10, 5),
    "topics_multilabel.csv": (300, 6, 32),
}


def test_describe_tells_the_health_of_the_panel(capsys, tmp_path):
    panel = facts_of(tmp_path, str(ROOT / "sample_data" / "experts_wide.csv"), "--truth", "label")["panel"]
    printed = capsys.readouterr().out
    for finding in ("effective_votes", "camps", "shared_mistakes", "one_class"):
        assert f"  · {panel[finding]['sentence']}" in printed
    assert 1 <= panel["effective_votes"]["n_eff"] <= panel["effective_votes"]["per_row"]
    assert panel["true_effective_votes"] > 1
    assert "(evaluation only)" in printed
    assert sum(each["vote_share"] for each in panel["classes"]) == pytest.approx(1)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample["file"])
def test_describe_prints_the_report_and_the_facts_of_every_sample(sample, capsys, tmp_path):
    path = ROOT / "sample_data" / sample["file"]
    truth = ["--truth-file", str(path.with_name(sample["truth_file"]))] if "truth_file" in sample else []
    facts = facts_of(tmp_path, str(path), *truth)
    printed = capsys.readouterr()
    assert printed.err == ""

    n, d, k = SIZES[sample["file"]]
    assert (facts["n_rows"], facts["n_learners"], facts["n_classes"]) == (n, d, k)
    assert (len(facts["learners"]), len(facts["classes"])) == (d, k)
    assert facts["layout"] == sample["layout"]
    assert printed.out.startswith(f"{path.name}: {n:,} rows × {d} learners × {k} classes, {sample['layout']} layout\n")
    for sentence in facts["notes"]:
        assert f"  · {sentence}\n" in printed.out
    assert f"{facts['n_votes']:,} of {n * d:,} ({100 * facts['coverage']:.1f}%)" in printed.out
    assert re.search(rf"unanimous rows +{facts['n_unanimous']:,} \(", printed.out)
    assert re.search(rf"tied rows +{facts['n_tied']:,} \(", printed.out)
    assert re.search(rf"majority vote is right +{100 * facts['majority_accuracy']:.1f}%", printed.out)
    for j, learner in enumerate(facts["learners"][: cli.describe.ROWS_SHOWN]):
        shares = [facts[name][j] for name in ("learner_coverage", "learner_agreement", "learner_accuracy")]
        covered, agrees, right = (f"{100 * share:.1f}%" for share in shares)
        assert re.search(rf"^  {re.escape(learner)} +{covered} +{agrees} +\S+ +{right}$", printed.out, re.MULTILINE)
    classes = list(zip(facts["classes"], facts["class_votes"], facts["class_rows"], strict=True))
    for label, count, rows in classes[: cli.describe.ROWS_SHOWN]:
        assert re.search(rf"^  {re.escape(str(label))} +{count:,} +[\d.]+% +{rows:,}$", printed.out, re.MULTILINE)


def test_long_tables_of_learners_are_cut_and_say_so(capsys):
    assert cli.main(["describe", str(ROOT / "sample_data" / "crowd_long.csv")]) == 0
    printed = capsys.readouterr().out
    assert len(re.findall(r"^  worker_", printed, re.MULTILINE)) == cli.describe.ROWS_SHOWN
    assert "  … and 20 more (all of them with --json)\n" in printed


def test_the_json_is_plain_and_complete(wide, tmp_path):
    facts = facts_of(tmp_path, wide, "--missing", "?", "--missing", "none")
    assert facts["classes"] == ["cat", "dog"]
    assert facts["learners"] == ["ann", "bob", "cy"]
    assert facts["coverage"] == pytest.approx(7 / 9)
    assert facts["layout"] == "wide"
    assert facts["roles"]["remark"] == "ignored"
    assert all(isinstance(note, str) for note in facts["notes"])
    assert {"n_rows", "n_learners", "n_classes", "truth_only", "majority_accuracy"} <= facts.keys()


def test_rules_that_know_one_class_each_have_a_table(tmp_path, capsys):
    path = tmp_path / "rules.csv"
    lines = [f"{i},{'SPAM' if i % 3 else ''},{'SPAM' if i % 4 else ''},{'HAM' if i % 5 else ''},," for i in range(60)]
    path.write_text("id,a,b,c,d,label\n" + "\n".join(lines) + "\n", encoding="utf-8")
    facts = facts_of(tmp_path, str(path), "--learner", "a", "--learner", "b", "--learner", "c", "--learner", "d")
    assert [rule["learner"] for rule in facts["rules"]] == ["a", "b", "c", "d"]
    assert [rule["polarity"] for rule in facts["rules"]] == [["SPAM"], ["SPAM"], ["HAM"], []]
    assert facts["rules"][2]["coverage"] == 0.8
    assert facts["rules"][2]["precision"] is None
    printed = capsys.readouterr().out
    assert re.search(r"^  c +HAM +80\.0% +73\.3% +73\.3%$", printed, re.MULTILINE)
    assert re.search(r"^  d +– +0\.0% +0\.0% +0\.0%$", printed, re.MULTILINE)


def test_other_files_have_no_table_of_rules(wide, tmp_path, capsys):
    assert facts_of(tmp_path, wide)["rules"] == []
    assert "Rules" not in capsys.readouterr().out


def test_what_is_unknown_is_null_in_the_json_and_a_dash_on_the_screen(tmp_path, capsys):
    path = tmp_path / "silent.csv"
    path.write_text("id,a,b,mute\n1,x,y,\n2,y,y,\n", encoding="utf-8")
    facts = facts_of(tmp_path, str(path), "--learner", "a", "--learner", "b", "--learner", "mute")
    assert facts["learner_agreement"][2] is None
    assert facts["majority_accuracy"] is None
    assert re.search(r"^  mute +0\.0% +– +–$", capsys.readouterr().out, re.MULTILINE)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere file names are always text")
def test_a_file_name_that_is_not_text_still_makes_json(tmp_path):
    path = os.path.join(os.fsencode(tmp_path), b"\xff.csv")
    with open(path, "w", encoding="utf-8") as stream:
        stream.write("id,a,b\n1,x,y\n2,y,y\n")
    assert facts_of(tmp_path, os.fsdecode(path))["notes"][0].startswith("\udcff.csv: UTF-8")


def test_names_with_line_breaks_keep_their_table_row(tmp_path, capsys):
    path = tmp_path / "breaks.csv"
    path.write_text('id,a,"b\nc"\n1,x,"x\ny"\n2,x,x\n3,x,x\n', encoding="utf-8")
    assert cli.main(["describe", str(path)]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"^  b\\nc +100\.0%", printed, re.MULTILINE)
    assert re.search(r"^  x\\ny +1 ", printed, re.MULTILINE)


# ---------------------------------------------------------------------- reading options


def test_the_id_option_names_the_rows(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("name,a,b\np,x,y\nq,y,y\n", encoding="utf-8")
    assert facts_of(tmp_path, str(path), "--id", "name")["roles"] == {"name": "id", "a": "learner", "b": "learner"}


def test_the_truth_option_takes_a_column_out_of_the_votes(wide, tmp_path):
    facts = facts_of(tmp_path, wide, "--truth", "cy", "--ignore", "gold", "--missing", "?", "--missing", "none")
    assert facts["roles"]["cy"] == "truth"
    assert facts["learners"] == ["ann", "bob"]
    assert facts["n_truth"] == 3


def test_the_truth_file_option_brings_the_truth(wide, tmp_path):
    truth = tmp_path / "truth.csv"
    truth.write_text("task,truth\nr2,dog\nr1,dog\n", encoding="utf-8")
    facts = facts_of(tmp_path, wide, "--ignore", "gold", "--truth-file", str(truth), "--missing", "?")
    assert facts["n_truth"] == 2
    assert facts["majority_accuracy"] == 0.5


def test_the_learner_option_keeps_just_these(wide, tmp_path):
    facts = facts_of(tmp_path, wide, "--learner", "bob", "--learner", "cy")
    assert facts["learners"] == ["bob", "cy"]
    assert facts["roles"]["ann"] == "ignored"


def test_the_ignore_option_leaves_columns_out(wide, tmp_path):
    facts = facts_of(tmp_path, wide, "--ignore", "cy", "--ignore", "gold", "--missing", "?", "--missing", "none")
    assert facts["learners"] == ["ann", "bob"]
    assert facts["majority_accuracy"] is None


def test_the_missing_option_replaces_the_usual_spellings(wide, tmp_path):
    usual = facts_of(tmp_path, wide, "--ignore", "remark")
    assert (usual["n_votes"], usual["classes"]) == (7, ["cat", "dog"])
    just_none = facts_of(tmp_path, wide, "--ignore", "remark", "--missing", "none")
    assert (just_none["n_votes"], just_none["classes"]) == (8, ["?", "cat", "dog"])


def test_the_layout_option_overrules_what_the_columns_look_like(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("task,worker,label\n1,a,b\n1,b,a\n2,a,a\n2,b,b\n", encoding="utf-8")
    assert facts_of(tmp_path, str(path))["layout"] == "long"
    forced = facts_of(tmp_path, str(path), "--layout", "wide", "--learner", "worker", "--learner", "label")
    assert forced["layout"] == "wide"
    assert forced["learners"] == ["worker", "label"]


# ---------------------------------------------------------------------- simulate


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".parquet"])
def test_simulated_votes_come_back_from_a_file_of_any_format(suffix, tmp_path, capsys):
    path = tmp_path / f"votes{suffix}"
    command = ["simulate", "condind", "--rows", "1,000", "--seed", "5", "--learners", "6", "--labels", "a,b,c"]
    assert cli.main([*command, "--missing", "0.3", "-o", str(path)]) == 0
    assert capsys.readouterr().out.startswith(f"votes{suffix}: 1,000 rows × 6 learners × 3 classes; majority vote")
    made = simulation.simulate("condind", 1_000, 5, 6, labels=["a", "b", "c"], missing=0.3).votes
    reading = readers.read(path)
    assert (reading.report.encoding == "parquet") == (suffix == ".parquet")
    assert reading.votes.learners == made.learners
    assert reading.votes.classes.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(reading.votes.codes, made.codes)
    np.testing.assert_array_equal(reading.votes.truth, made.truth)


def test_simulated_probabilities_come_back_from_a_soft_file(tmp_path):
    path = tmp_path / "soft.csv"
    assert cli.main(["simulate", "tree", "--rows", "200", "--layout", "soft", "-o", str(path)]) == 0
    made, read = simulation.simulate("tree", 200, 0, soft=True).votes, readers.read_votes(path)
    np.testing.assert_array_equal(read.codes, made.codes)
    np.testing.assert_allclose(read.soft, made.soft, atol=2e-6)


def test_a_long_file_keeps_its_truth_in_a_second_file(tmp_path, capsys):
    votes, truth = tmp_path / "votes.csv", tmp_path / "truth.csv"
    command = ["simulate", "crowd", "--rows", "300", "--classes", "3", "--layout", "long", "-o", str(votes)]
    assert cli.main([*command, "--truth-file", str(truth)]) == 0
    assert "add --truth-file" not in capsys.readouterr().out
    made, read = simulation.simulate("crowd", 300, 0, None, 3).votes, readers.read_votes(votes, truth_file=truth)
    np.testing.assert_array_equal(read.truth, made.truth)
    order = [read.learners.index(name) for name in made.learners]
    np.testing.assert_array_equal(read.codes[:, order], made.codes)

    assert cli.main(command) == 0
    assert "A long file has no room for the truth; add --truth-file to keep it." in capsys.readouterr().out


def test_a_wide_file_has_no_truth_once_that_has_a_file_of_its_own(tmp_path):
    votes, truth = tmp_path / "votes.csv", tmp_path / "truth.csv"
    assert cli.main(["simulate", "tree", "--rows", "20", "-o", str(votes), "--truth-file", str(truth)]) == 0
    assert readers.read_votes(votes).truth is None
    assert readers.read_votes(votes, truth_file=truth).truth is not None


def test_the_true_parameters_are_written_as_json(tmp_path):
    out = tmp_path / "true.json"
    assert cli.main(["simulate", "tree", "--rows", "9", "-o", str(tmp_path / "t.csv"), "--json", str(out)]) == 0
    true, made = json.loads(out.read_text(encoding="utf-8")), simulation.simulate("tree", 9, 0)
    assert (true["name"], true["rows"], true["seed"], true["classes"]) == ("tree", 9, 0, [0, 1, 2])
    assert true["learners"] == list(made.votes.learners)
    np.testing.assert_array_equal(true["psi"], made.psi)
    np.testing.assert_array_equal(true["pi"], made.pi)


# ---------------------------------------------------------------------- refusals


SUFFIXES = ".csv, .tsv, .csv.gz, .tsv.gz, .parquet, .jsonl or .jsonl.gz"
TREE = ["simulate", "tree", "--rows", "5"]
REFUSALS = {
    "There is no file 'nowhere.csv'. Check the path.": ["describe", "nowhere.csv"],
    "'.' is a folder without a dataset that can be read. Name a file in it.": ["describe", "."],
    "There is no id column 'nobody' in the file; its columns are 'key', 'gold', 'ann', 'bob', 'cy', 'remark'.": (
        ["describe", "wide.csv", "--id", "nobody"]
    ),
    "The folder 'no' does not exist; create it first.": ["describe", "wide.csv", "--json", "no/facts.json"],
    "'wide.csv' is the file to read; write to another one.": ["describe", "./wide.csv", "--json", "wide.csv"],
    "'wide.csv' is the file to read; write to another one. ": (
        ["describe", "nowhere.csv", "--truth-file", "./wide.csv", "--json", "wide.csv"]
    ),
    "The following arguments are required: COMMAND. Try: python -m deem_core --help": [],
    "The following arguments are required: FILE. Try: python -m deem_core describe --help": ["describe"],
    "Unrecognized arguments: --colour. Try: python -m deem_core --help": ["describe", "wide.csv", "--colour"],
    "Unrecognized arguments: --two lines. Try: python -m deem_core --help": ["describe", "wide.csv", "--two\nlines"],
    "Argument --rows: 'ten' is not a whole number. Try: python -m deem_core simulate --help": (
        ["simulate", "tree", "--rows", "ten", "-o", "t.csv"]
    ),
    "The number of rows is 0; it must be at least 1.": ["simulate", "tree", "--rows", "0", "-o", "t.csv"],
    "The number of rows is 10,000,000,000; it must be at most 100,000,000.": (
        ["simulate", "tree", "--rows", "10_000_000_000", "-o", "t.csv"]
    ),
    "The number of learners is -3; it must be at least 1.": [*TREE, "--learners", "-3", "-o", "t.csv"],
    "The seed is -1; it must be at least 0.": [*TREE, "--seed", "-1", "-o", "t.csv"],
    "The share of missing votes is 1; it must be at least 0 and below 1.": [*TREE, "--missing", "1", "-o", "t.csv"],
    "2 labels were given for 3 classes.": [*TREE, "--classes", "3", "--labels", "a,b", "-o", "t.csv"],
    "'' cannot be a label: in a file it means that there is no vote.": [*TREE, "--labels", "a,,b", "-o", "t.csv"],
    f"'t.xlsx' does not say how to write it: end the name with {SUFFIXES}.": [*TREE, "-o", "t.xlsx"],
    f"'truth' does not say how to write it: end the name with {SUFFIXES}.": (
        [*TREE, "-o", "t.csv", "--truth-file", "truth"]
    ),
    "The folder 'no/where' does not exist; create it first.": [*TREE, "-o", "no/where/t.csv"],
    "'folder.csv' is a folder; give the name of a file.": [*TREE, "-o", "folder.csv"],
    f"'{os.devnull}' is not an ordinary file; give another name.": [*TREE, "-o", "t.csv", "--json", os.devnull],
    "The folder 'wide.csv' does not exist; create it first.": [*TREE, "-o", "t.csv", "--json", "wide.csv/true.json"],
    "'./t.csv' is named for two outputs; give each its own file.": [*TREE, "-o", "t.csv", "--truth-file", "./t.csv"],
}


@pytest.fixture
def in_folder(wide: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "folder.csv").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def assert_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Run a command that must fail with one line, and return the line."""
    assert cli.main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.endswith("\n")
    assert len(printed.err.splitlines()) == 1
    return printed.err.rstrip("\n")


@pytest.mark.parametrize("sentence", REFUSALS)
def test_what_cannot_be_done_is_said_in_one_line_and_nothing_is_written(sentence, in_folder, capsys):
    assert assert_refused(REFUSALS[sentence], capsys) == sentence.strip()
    assert {path.name for path in in_folder.iterdir()} == {"folder.csv", "wide.csv"}
    assert Path("wide.csv").read_text(encoding="utf-8") == WIDE


def test_an_unknown_ensemble_is_refused_with_the_known_ones(in_folder, capsys):
    line = assert_refused(["simulate", "moons", "-o", "t.csv"], capsys)
    assert "'moons'" in line
    assert all(name in line for name in simulation.MAKERS)


def test_a_folder_that_may_not_be_written_is_refused_in_one_line(in_folder, capsys, monkeypatch):
    def shut(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", shut)  # the superuser may write into any real folder
    assert assert_refused([*TREE, "-o", "t.csv"], capsys) == "'t.csv' could not be written: Permission denied."


@pytest.mark.skipif(sys.platform == "win32", reason="other limits")
def test_names_may_be_as_long_as_the_system_allows_and_no_longer(in_folder, capsys):
    longest = "n" * 251 + ".csv"
    assert cli.main([*TREE, "-o", longest]) == 0
    assert Path(longest).exists()
    capsys.readouterr()
    assert assert_refused([*TREE, "-o", f"n{longest}"], capsys).endswith("could not be written: File name too long.")
    assert assert_refused([*TREE, "-o", f"{'n' * 300}/t.csv"], capsys).endswith("does not exist; create it first.")


def test_too_little_memory_is_said_in_one_line(in_folder, capsys, monkeypatch):
    def too_much(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(simulation, "simulate", too_much)
    line = assert_refused([*TREE, "-o", "t.csv"], capsys)
    assert line == "There is not enough memory for this: try fewer rows, learners or classes."


def test_a_link_is_followed_and_stays_a_link(in_folder):
    (in_folder / "real").mkdir()
    link = in_folder / "link.csv"
    try:
        link.symlink_to(in_folder / "real" / "t.csv")
    except OSError:
        pytest.skip("no links here")
    assert cli.main([*TREE, "-o", "link.csv"]) == 0
    assert link.is_symlink()
    assert os.listdir(in_folder / "real") == ["t.csv"]


# ---------------------------------------------------------------------- as a program


def test_the_module_runs_as_a_program():
    done = run("describe", "sample_data/experts_wide.csv")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("experts_wide.csv: 10,000 rows × 6 learners × 5 classes, wide layout\n")


def test_a_program_that_fails_shows_one_line_and_no_traceback():
    done = run("describe", "nowhere.csv")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "There is no file 'nowhere.csv'. Check the path.\n"


def test_a_terminal_that_lacks_characters_gets_question_marks():
    done = run("describe", "sample_data/experts_wide.csv", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("experts_wide.csv: 10,000 rows ? 6 learners ? 5 classes")


def test_a_reader_that_has_seen_enough_ends_the_program_quietly():
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "deem_core", "describe", "sample_data/experts_wide.csv"],
            cwd=ROOT,
            env=buffered,
            stdout=writing,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            timeout=120,
            check=False,
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


# ---------------------------------------------------------------------- help


def parsers() -> dict[str, argparse.ArgumentParser]:
    subparsers = [action for action in cli.parser()._actions if isinstance(action, argparse._SubParsersAction)]
    return dict(subparsers[0].choices)


def test_every_command_is_tested_here():
    assert parsers().keys() == COMMANDS.keys()


@pytest.mark.parametrize("command", COMMANDS)
def test_help_explains_every_option(command, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(COMMANDS[command])
    assert ended.value.code == 0
    shown = " ".join(capsys.readouterr().out.split())
    for action in parsers()[command]._actions:
        for name in action.option_strings or [str(action.metavar)]:
            assert name in shown
        assert action.help, f"{action.dest} has no help text"
        assert " ".join(str(action.help).split()) in shown


def test_help_lists_the_commands(capsys):
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    shown = capsys.readouterr().out
    for command in COMMANDS:
        assert re.search(rf"^ +{command} +\S", shown, re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_example_in_the_help_is_a_command_that_can_be_parsed(command):
    examples = re.findall(r"^  python -m deem_core (.+)$", parsers()[command].description or "", re.MULTILINE)
    assert examples
    for example in examples:
        cli.parser().parse_args(example.split())


def test_the_version_is_told(capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["--version"])
    assert ended.value.code == 0
    assert re.fullmatch(r"deem-studio \d+\.\d+\.\d+\n", capsys.readouterr().out)
