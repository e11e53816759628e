"""Commands in parts write what they write whole, and go on after a kill."""

import gzip
import json

import pyarrow.parquet as pq
import pytest

from deem_core import cli, simulate
from deem_core.control import Stopped, StopWhen
from deem_core.engine import engine_of
from deem_core.errors import InputError
from deem_core.files import tables
from deem_core.large import parts
from deem_core.large.extract import make_extract
from deem_core.large.labelling import fuse_extract
from deem_core.readers.large import open_large
from tests.engines import Carrying, backwards

TRAINING = ["--updates", "6", "--restarts", "2", "--batch", "64"]


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch):
    monkeypatch.setattr(parts, "PART_ROWS", 90)
    monkeypatch.setattr("deem_core.large.extract.PART_ROWS", 70)
    monkeypatch.setattr("deem_core.readers.digest.BATCH_ROWS", 80)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "votes.csv"
    votes = simulate("ampdata", 400, 3, missing=0.1, labels=["cat", "=dog", "-1+1", "fish, dead", "ox"]).votes
    tables.write(tables.wide_table(votes), path)
    return path


def run(*words):
    return cli.main([str(word) for word in words])


def both(file, name, *words):
    """Run a command whole and in parts; return both outputs."""
    outputs = file.with_name(f"whole.{name}"), file.with_name(f"parts.{name}")
    for output, how in zip(outputs, ("--no-stream", "--stream"), strict=True):
        assert run(*words, "-o", output, how) == 0
        assert not output.with_name(output.name + ".parts").exists()
    return outputs


@pytest.fixture
def elsewhere(monkeypatch):
    """Let ``--on ray`` mean an engine that carries everything there and back, the last piece first."""
    engine = Carrying(backwards)
    monkeypatch.setattr("deem_core.cli.parts.engine_of", lambda on: engine if on == "ray" else engine_of(on))
    return engine


@pytest.mark.parametrize("method", ["auto", "mv", "ds", "ebcc", "onecoin", "safe"])
def test_the_fused_file_is_the_same_byte_by_byte(file, method):
    whole, made = both(file, "csv", "fuse", file, "--method", method)
    assert made.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize(
    "words", [["--unsafe"], ["--review-below", "0.8", "--blank"], ["--review-share", "0.03", "--blank"]]
)
def test_options_of_the_export_are_the_same(file, words):
    whole, made = both(file, "tsv", "fuse", file, *words)
    assert made.read_bytes() == whole.read_bytes()


def test_packed_and_parquet_files_hold_the_same(file):
    whole, made = both(file, "csv.gz", "fuse", file, "--method", "ds")
    assert gzip.decompress(made.read_bytes()) == gzip.decompress(whole.read_bytes())
    whole, made = both(file, "parquet", "fuse", file, "--method", "ds")
    assert pq.read_table(made).equals(pq.read_table(whole))


@pytest.mark.parametrize("codec", ["utf-8-sig", "cp1252"])
def test_parts_are_written_as_the_input_is(file, codec):
    text = file.read_text().replace("fish, dead", "Goldbörse").replace(",", ";")
    file.write_bytes(text.encode(codec))
    whole, made = both(file, "csv", "fuse", file, "--method", "ds")
    assert made.read_bytes() == whole.read_bytes()
    assert made.read_text(codec).startswith("id;")
    assert made.read_bytes().count(b"\xef\xbb\xbf") == (codec == "utf-8-sig")


def test_a_model_trained_and_applied_in_parts_is_the_same(file, tmp_path):
    models = tmp_path / "whole.safetensors", tmp_path / "parts.safetensors"
    for model, how in zip(models, ("--no-stream", "--stream"), strict=True):
        assert run("train", file, "-o", model, how, *TRAINING) == 0
    new = tmp_path / "new.csv"
    new.write_text("id,learner_2,learner_1,stranger\n" + "1,cat,ox,cat\n2,,,\n3,whale,cat,ox\n" * 70)
    learners = simulate("ampdata", 10, 3).votes.learners
    new.write_text(new.read_text().replace("learner_2", learners[1]).replace("learner_1", learners[0]))
    for rows in (file, new):
        whole, made = both(file, "csv", "apply", models[0], rows)
        assert made.read_bytes() == whole.read_bytes()
    assert run("apply", models[1], file, "-o", made, "--stream") == 0
    assert run("apply", models[0], file, "-o", whole) == 0
    assert made.read_bytes() == whole.read_bytes()


def test_describe_says_the_same(file, tmp_path, capsys):
    found = []
    for how in ("--no-stream", "--stream"):
        assert run("describe", file, how, "--json", tmp_path / "facts.json") == 0
        found.append(json.loads((tmp_path / "facts.json").read_text()))
    whole, made = found
    for name in ("notes", "details", "held_bytes", "peak_bytes"):
        del whole[name], made[name]
    assert made == whole
    assert "Read in parts; panel and rules rest on all 400 rows." in capsys.readouterr().out


def test_a_sample_is_stated(file, tmp_path, capsys):
    output, result = tmp_path / "fused.csv", tmp_path / "result.json"
    assert run("fuse", file, "-o", output, "--stream", "--sample", 200, "--json", result, "--method", "ds") == 0
    said = capsys.readouterr().out
    assert "Labelled in 5 parts. Fitted on all 400 rows, which hold " in said
    assert "rest on 200 of 400 rows, evenly drawn." in said
    told = json.loads(result.read_text())
    assert told["n_rows"] == told["parts"]["rows"] == 400
    assert told["parts"]["n_parts"] == 5
    assert told["parts"]["sample_rows"] == 200
    assert 0 < told["parts"]["tied"] <= told["parts"]["review"]


@pytest.mark.parametrize("method", ["auto", "mv", "ds", "onecoin", "safe", "deem", "gds"])
@pytest.mark.parametrize("sample", [400, 150])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.usefixtures("elsewhere")
def test_elsewhere_the_file_is_the_same_byte_by_byte(file, capsys, method, sample, ending):
    name = f"votes.{ending}"
    if (method, sample) == ("safe", 150):
        pytest.skip("the safe vote has no rule where EBCC takes part")
    path, training = file.with_name(name), TRAINING if method == "deem" else []
    if ending == "parquet":
        table = tables.wide_table(simulate("ampdata", 400, 3, missing=0.1).votes)
        pq.write_table(table, path, row_group_size=130)
    words = ["fuse", path, "--method", method, "--stream", "--sample", sample, *training]
    here, there = file.with_name(f"here.{name}"), file.with_name(f"there.{name}")
    assert run(*words, "-o", here, "--on", "local") == 0
    capsys.readouterr()
    assert run(*words, "-o", there, "--on", "ray") == 0
    assert "Labelled in 5 parts on the cluster. " in capsys.readouterr().out
    assert there.read_bytes() == here.read_bytes()


def test_a_model_is_applied_elsewhere_in_its_own_terms(file, tmp_path, elsewhere):
    model, here, there = tmp_path / "model.safetensors", tmp_path / "here.csv", tmp_path / "there.csv"
    assert run("train", file, "-o", model, "--stream", "--on", "ray", *TRAINING) == 0
    learners = simulate("ampdata", 10, 3).votes.learners
    new = tmp_path / "new.csv"
    new.write_text(f"id,{learners[1]},stranger,{learners[0]}\n" + "1,cat,ox,cat\n2,,,\n3,whale,cat,ox\n" * 70)
    for sample in (400, 50):
        words = ["apply", model, new, "--stream", "--sample", sample]
        assert run(*words, "-o", here) == run(*words, "-o", there, "--on", "ray") == 0
        assert there.read_bytes() == here.read_bytes()


def test_what_is_not_shared_out_says_so(file, tmp_path, capsys):
    assert run("fuse", file, "-o", tmp_path / "a.csv", "--method", "mv", "--on", "ray") == 0
    said = "There is nothing to share out in Majority vote, so it runs on this machine and not on ray."
    assert said in capsys.readouterr().out
    assert run("fuse", file, "-o", tmp_path / "a.csv", "--method", "mv") == 0
    assert "share out" not in capsys.readouterr().out


def broken_after(monkeypatch, n):
    """Let writing fail as if the process were killed after n parts."""
    add = parts.Parts.add

    def add_some(self, *args, **options):
        if len(self.done) == n:
            raise KeyboardInterrupt
        add(self, *args, **options)

    monkeypatch.setattr(parts.Parts, "add", add_some)
    return lambda: monkeypatch.setattr(parts.Parts, "add", add)


def test_a_killed_run_goes_on_after_its_last_part(file, tmp_path, monkeypatch, capsys):
    whole, output = tmp_path / "whole.csv", tmp_path / "fused.csv"
    command = ["fuse", file, "--stream", "--method", "ds"]
    assert run(*command, "-o", whole) == 0
    mend = broken_after(monkeypatch, 3)
    assert run(*command, "-o", output) == 130
    assert not output.exists()
    folder = tmp_path / "fused.csv.parts"
    first = folder / "000000"
    before = first.stat().st_mtime_ns
    (folder / ".cafe.part").write_bytes(b"half a part")  # what a kill while writing leaves
    mend()
    kept = []
    join = parts.Parts.join
    monkeypatch.setattr(parts.Parts, "join", lambda self: (kept.append(first.stat().st_mtime_ns), join(self))[1])
    assert run(*command, "-o", output) == 0
    assert kept == [before]
    assert output.read_bytes() == whole.read_bytes()
    assert "Labelled in 5 parts, 3 of them by an earlier run." in capsys.readouterr().out
    assert not folder.exists()


def test_what_was_begun_in_parts_goes_on_so_when_memory_would_suffice(file, tmp_path, monkeypatch, capsys):
    output = tmp_path / "fused.csv"
    mend = broken_after(monkeypatch, 3)
    with monkeypatch.context() as little:
        little.setattr("deem_core.large.memory.MOST_BYTES", 10)
        assert run("fuse", file, "-o", output, "--method", "mv") == 130
    mend()
    assert run("fuse", file, "-o", output, "--method", "mv") == 0
    assert "3 of them by an earlier run" in capsys.readouterr().out
    assert not (tmp_path / "fused.csv.parts").exists()


def test_the_size_of_a_file_is_told_with_its_own_delimiter(file, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr("deem_core.cli.parts.needs_parts", lambda path, **options: asked.append(options))
    assert run("fuse", file, "-o", tmp_path / "fused.csv", "--method", "mv", "--delimiter", "comma") == 0
    assert asked == [{"delimiter": ",", "encoding": None}]


def test_rows_without_votes_are_counted_in_all_parts(tmp_path, capsys):
    path = tmp_path / "votes.csv"
    path.write_text("\n".join(["id,a,b,c", *(f"{at},,," if at < 7 else f"{at},x,x,y" for at in range(200)), "z,y,y,y"]))
    assert run("fuse", path, "-o", tmp_path / "fused.csv", "--method", "mv", "--stream", "--sample", 50) == 0
    assert "Of all rows, 7 rows have no vote and get no label." in capsys.readouterr().out


def test_equal_rows_that_need_review_are_counted_over_a_kill(tmp_path, monkeypatch):
    path, whole, output = tmp_path / "votes.csv", tmp_path / "whole.csv", tmp_path / "fused.csv"
    rows = [
        "x,x,x",
        "y,y,y",
        "x,x,y",
        "y,y,y",
        "x,x,x",
    ] * 80  # a fifth of the rows are alike, and half of them doubtful
    path.write_text("\n".join(["a,b,c", *rows, ""]))
    assert run("fuse", path, "-o", whole, "--method", "mv", "--no-stream") == 0
    mend = broken_after(monkeypatch, 2)
    assert run("fuse", path, "-o", output, "--method", "mv", "--stream") == 130
    mend()
    assert run("fuse", path, "-o", output, "--method", "mv", "--stream") == 0
    assert output.read_bytes() == whole.read_bytes()


def test_a_killed_run_labels_on_by_the_model_it_had_trained(file, tmp_path, monkeypatch):
    output = tmp_path / "fused.csv"
    command = ["fuse", file, "--stream", "--method", "deem", "-o", output, *TRAINING]
    mend = broken_after(monkeypatch, 2)
    assert run(*command) == 130
    mend()
    monkeypatch.setattr("deem_core.large.labelling.train_extract", None)  # nothing is trained again
    assert run(*command) == 0
    assert len(output.read_text().splitlines()) == 401


def test_parts_that_are_missing_between_others_are_made(file, tmp_path, monkeypatch, capsys, elsewhere):
    whole, output = tmp_path / "whole.csv", tmp_path / "fused.csv"
    command = ["fuse", file, "--stream", "--method", "mv"]
    assert run(*command, "-o", whole) == 0
    elsewhere.order = lambda pieces: [pieces[at] for at in (3, 1, 4, 0, 2)] if len(pieces) == 5 else pieces
    mend = broken_after(monkeypatch, 2)
    assert run(*command, "-o", output, "--on", "ray") == 130
    journal = json.loads((tmp_path / "fused.csv.parts" / "journal.json").read_text())
    assert set(journal["parts"]) == {"1", "3"}
    mend()
    capsys.readouterr()
    assert run(*command, "-o", output) == 0  # where it goes on is another choice
    assert "Labelled in 5 parts, 2 of them by an earlier run." in capsys.readouterr().out
    assert output.read_bytes() == whole.read_bytes()


def test_a_part_that_cannot_be_made_is_named(file, tmp_path, monkeypatch, capsys):
    labelled = parts._labelled

    def fail(task, share, table):
        if share.at == 2:
            raise error
        return labelled(task, share, table)

    monkeypatch.setattr(parts, "_labelled", fail)
    words = ["fuse", file, "--stream", "--method", "mv", "-o", tmp_path / "fused.csv"]
    error = InputError("Some cells are odd.")
    assert run(*words) == 2
    assert "The part of rows 181 to 270 could not be made. Some cells are odd." in capsys.readouterr().err
    error = ZeroDivisionError("by zero")
    assert run(*words) == 2
    assert "The part of rows 181 to 270 could not be made (ZeroDivisionError: by zero)." in capsys.readouterr().err
    monkeypatch.setattr(parts, "_labelled", labelled)
    assert run(*words) == 0
    assert "2 of them by an earlier run" in capsys.readouterr().out


def test_it_ends_when_asked_to_and_keeps_what_is_finished(file, tmp_path):
    large = open_large(file)
    made = fuse_extract(make_extract(large), "mv", {"random_state": 0})
    own = parts.Parts(tmp_path / "fused.csv", {})
    with pytest.raises(Stopped):
        parts.write_in_parts(large, made, own, control=StopWhen(lambda: len(own.done) == 2))
    again = parts.Parts(tmp_path / "fused.csv", {})
    assert sorted(again.done) == [0, 1]
    assert parts.write_in_parts(large, made, again).rows == 400
    assert not again.folder.exists()


def test_the_journal_of_an_older_version_is_not_continued(file, tmp_path, monkeypatch, capsys):
    mend = broken_after(monkeypatch, 2)
    words = ["fuse", file, "--stream", "--method", "mv", "-o", tmp_path / "fused.csv"]
    assert run(*words) == 130
    mend()
    journal = tmp_path / "fused.csv.parts" / "journal.json"
    content = json.loads(journal.read_text())
    totals = list(content["parts"].values())
    journal.write_text(json.dumps({**content, "version": 2, "parts": totals}))
    assert run(*words) == 2
    assert "holds parts of another version, so they cannot be continued." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "what"), [("method", "method"), ("file", "file"), ("option", "export"), ("journal", "no journal")]
)
def test_parts_of_another_command_are_not_continued(file, monkeypatch, capsys, change, what):
    tmp_path = file.parent
    output = tmp_path / "fused.csv"
    mend = broken_after(monkeypatch, 2)
    assert run("fuse", file, "--stream", "-o", output, "--method", "ds") == 130
    mend()
    words = ["--method", "mv" if change == "method" else "ds"]
    if change == "file":
        file.write_bytes(file.read_bytes() + b"401,cat,cat,cat,cat,cat,cat,cat\n")
    if change == "option":
        words.append("--unsafe")
    if change == "journal":
        (tmp_path / "fused.csv.parts" / "journal.json").write_text("{")
    capsys.readouterr()
    assert run("fuse", file, "--stream", "-o", output, *words) == 2
    said = capsys.readouterr().err
    assert what in said
    assert "Remove that folder to start again" in said
    assert not output.exists()


def test_a_long_file_is_refused_in_parts_and_read_whole_by_itself(tmp_path, monkeypatch, capsys):
    path = tmp_path / "long.csv"
    tables.write(tables.long_table(simulate("crowd", 60, 0).votes), path)
    assert run("describe", path, "--stream") == 2
    assert "(long), which is read whole" in capsys.readouterr().err
    monkeypatch.setattr("deem_core.large.memory.MOST_BYTES", 10)
    assert run("describe", path) == 0
    assert "(long), which is read whole" in capsys.readouterr().out


def test_a_sample_of_nothing_is_refused(file, capsys):
    assert run("describe", file, "--stream", "--sample", 0) == 2
    assert "--sample is 0" in capsys.readouterr().err
