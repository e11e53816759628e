"""Files that once were misread in silence, or broke with something else than a sentence."""

import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deem_core import InputError
from deem_core.readers import read, read_votes

rng = np.random.default_rng(0)


def text(reading):
    return " ".join(reading.report.sentences())


def csv(**columns) -> bytes:
    return pd.DataFrame(columns).to_csv(index=False).encode()


def parquet(table: pa.Table) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    return buffer.getvalue()


class TestTruthNeverBecomesAVote:
    def test_a_long_file_with_predictions_and_labels_takes_the_labels_as_truth(self):
        votes = read_votes(b"id,model,prediction,label\n0,gpt,dog,dog\n0,cl,cat,dog\n1,gpt,cat,cat\n1,cl,cat,cat\n")
        assert votes.codes.tolist() == [[1, 0], [0, 0]]
        assert votes.truth.tolist() == [1, 0]

    @pytest.mark.parametrize("name", ["model", "judge", "user", "rater", "source"])
    def test_a_learner_named_like_a_worker_leaves_the_file_wide(self, name):
        for ids in ("123", "113"):
            rows = "\n".join(
                f"{i},{v}" for i, v in zip(ids, ["cat,dog,cat", "dog,dog,dog", "cat,cat,dog"], strict=True)
            )
            reading = read(f"id,{name},human,label\n{rows}\n".encode())
            assert reading.votes.learners == (name, "human")
            assert reading.votes.truth is not None

    def test_naming_the_truth_sets_other_truths_aside(self):
        reading = read(b"id,a,b,label,gold\n1,x,y,x,x\n2,y,y,y,x\n", truth="gold")
        assert reading.votes.learners == ("a", "b")
        assert "'gold' is taken as the truth" in text(reading)
        assert "'label' was left out: its name suggests the truth" in text(reading)

    @pytest.mark.parametrize("name", ["gold", "truth", "label", "ground_truth"])
    def test_one_hot_truth_is_no_soft_learner(self, name):
        content = f"a:x,a:y,b:x,b:y,{name}:x,{name}:y\n.5,.5,.1,.9,1,0\n.2,.8,.1,.9,0,1\n".encode()
        assert read_votes(content).learners == ("a", "b")

    @pytest.mark.parametrize(
        "name", ["gt_label", "expected", "correct_answer", "reference", "y_test", "label_true", "GroundTruthLabel"]
    )
    def test_more_usual_names_are_known(self, name):
        assert read_votes(f"a,b,{name}\nx,y,x\ny,y,y\n".encode()).truth.tolist() == [0, 1]

    def test_a_name_that_smells_of_truth_is_set_aside(self):
        reading = read(b"OUTPUT:a,OUTPUT:b,GOLDEN:result\nx,y,x\ny,y,y\n")
        assert reading.votes.learners == ("OUTPUT:a", "OUTPUT:b")
        assert "'GOLDEN:result' was left out" in text(reading)

    def test_a_truth_found_by_name_that_shares_nothing_with_the_votes_is_set_aside(self):
        for content in (
            csv(a=[0, 1, 1], b=[1, 1, 0], y=[0.123, 0.44, 0.5]),
            csv(a=[0, 1] * 3000, b=[1, 1] * 3000, y=range(10, 6010)),
        ):
            reading = read(content)
            assert reading.votes.truth is None
            assert "Column 'y' was left out" in text(reading)


class TestNothingIsSwallowed:
    def test_stray_quotes_in_a_column_of_labels_are_refused(self):
        with pytest.raises(InputError, match="A label in <bytes> spans several lines"):
            read(b'id,a,b\n1,cat,"dog\n2,cat,dog\n3,dog,cat\n4,cat,"dog\n5,cat,cat\n6,dog,dog\n')

    def test_stray_quotes_elsewhere_are_warned_about(self):
        reading = read(b'a,b,note\nx,y,"n\nx,x,m\ny,y,"o\nx,x,p\ny,y,q\n')
        assert "looks like whole lines of the table: check that its quotes are closed (row 1)" in text(reading)

    def test_an_open_quote_is_found_after_odd_quoting(self):
        with pytest.raises(InputError, match="begins on line 4 of <bytes> is never closed"):
            read(b'a,b,note\nx,y,"k"y\ny,x,5" pipe\ny,y,"oops\nx,x,k\n')

    def test_an_open_quote_in_the_header_is_found_in_a_long_file(self):
        with pytest.raises(InputError, match="begins on line 1 of <bytes> is never closed"):
            read(b'"id,a,b\n' + b"1,cat,dog\n" * 30_000)

    @pytest.mark.parametrize("extra", [b'\n\n2,x,y,"k"', b'\n2,x,y,5" pipe'])
    def test_very_long_cells_break_nothing(self, extra):
        assert read_votes(b'id,a,b,txt\n1,x,y,"' + b"z" * 200_000 + b'"' + extra + b"\n3,y,y,k\n").n_rows == 3

    def test_a_header_of_labels_is_doubted(self):
        for content in (b"cat,dog\ncat,cat\ndog,dog\n", b"0,1,-1\n0,1,1\n1,1,-1\n", b"0.0,1.0\n1.0,1.0\n0.0,0.0\n"):
            assert "though it looks like labels" in text(read(content))

    def test_a_truth_file_needs_ids(self):
        with pytest.raises(InputError, match="matched by id, and no id column is set"):
            read(b"a,b\nx,y\ny,y\n", truth_file=b"task,truth\n1,x\n2,y\n")

    def test_ids_that_only_look_like_numbers_stay_apart(self):
        votes = read_votes(b"task,worker,label\n1.1,10,a\n1.1,1e1,b\n1.10,10,a\n1.10,1e1,b\n")
        assert list(votes.ids) == ["1.1", "1.10"]
        assert votes.learners == ("10", "1e1")

    def test_ids_that_are_merged_are_said(self):
        assert "1 task spelled both" in text(read(b"task,worker,label\n2.0,w,a\n2,v,b\n3,w,a\n3,v,b\n"))

    def test_names_to_ignore_must_exist(self):
        for content in (b"a,b,expert\nx,y,x\ny,y,x\n", b"m:a,m:b,n:a,n:b\n.2,.8,.5,.5\n.3,.7,.5,.5\n"):
            with pytest.raises(InputError, match="no ignored column 'exprt'"):
                read(content, ignore=["exprt"])
        with pytest.raises(InputError, match="no worker 'zz'"):
            read(b"task,worker,label\n1,w,a\n1,v,b\n2,w,a\n", ignore=["zz"])
        with pytest.raises(InputError, match="both a learner and ignored"):
            read(b"a,b,c\nx,y,x\ny,y,x\n", learners=["a", "b", "c"], ignore=["c"])

    def test_labels_of_ignored_workers_make_no_class(self):
        content = b"task,worker,label\n1,w,a\n1,v,b\n2,w,a\n2,z,q\n"
        assert read_votes(content, ignore=["z"]).classes.tolist() == ["a", "b"]

    def test_bytes_after_gzip_data_are_said(self):
        import gzip

        assert "the last 4 bytes were not read" in text(read(gzip.compress(b"a,b\nx,y\ny,x\n") + b"x,x\n"))

    def test_decimal_commas_and_invented_names_are_said(self):
        assert "Read decimal commas as points in 4 columns" in text(
            read(b"m:a;m:b;n:a;n:b\n0,2;0,8;0,5;0,5\n0,4;0,6;0,9;0,1\n")
        )
        assert "Column 3 has no name; it is called" in text(read(b"a,b,,column 3\nx,y,x,y\ny,y,x,x\n"))


class TestLearnersAreToldFromFeatures:
    @pytest.mark.parametrize("n_learners", [2, 3])
    def test_features_that_resemble_each_other_are_no_learners(self, n_learners):
        learners = {f"m{j}": rng.integers(0, 2, 500) for j in range(n_learners)}
        reading = read(csv(**learners, words=rng.integers(0, 60, 500), clicks=rng.integers(0, 60, 500)))
        assert reading.votes.learners == tuple(learners)

    def test_a_column_that_counts_the_rows_is_no_learner(self):
        columns = {name: rng.integers(0, 10, 15) for name in "abc"}
        assert read_votes(csv(nr=range(15), **columns)).learners == ("a", "b", "c")

    @pytest.mark.parametrize("n_constant", [1, 2])
    def test_constant_and_biased_learners_stay(self, n_constant):
        biased = np.where(rng.random(500) < 0.6, "pos", "neg")
        votes = read_votes(csv(a=biased, **{f"c{j}": ["neg"] * 500 for j in range(n_constant)}))
        assert votes.n_learners == 1 + n_constant

    @pytest.mark.parametrize("sign", ["", "%", " %"])
    def test_percentages_are_read_as_probabilities_and_said(self, sign):
        rows = "".join(f"90{sign},10{sign},20{sign},80{sign}\n" for _ in range(4))
        reading = read(f"a:cat,a:dog,b:cat,b:dog\n{rows}".encode())
        assert reading.votes.soft[0].tolist() == [pytest.approx([0.9, 0.1]), pytest.approx([0.2, 0.8])]
        assert any("as percentages" in sentence for sentence in reading.report.sentences())

    def test_percent_signs_tell_percentages_that_do_not_add_up(self):
        votes = read_votes(b"a:cat,a:dog,b:cat,b:dog\n90%,30%,20%,80.5%\n10%,60%,95%,1%\n")
        assert votes.soft[0, 0].tolist() == pytest.approx([0.75, 0.25])

    def test_scores_that_do_not_add_up_to_100_are_refused(self):
        rows = "".join("90,30,20,85\n2.5,3,1,4\n" for _ in range(4))
        with pytest.raises(InputError, match=r"'a:cat' holds '90' in row 1, .* percentages that add up to 100"):
            read(f"a:cat,a:dog,b:cat,b:dog\n{rows}".encode())

    def test_thousands_of_columns_are_read_or_refused_quickly(self):
        header = ",".join(f"c{at}" for at in range(3000))
        rows = "\n".join(",".join(map(str, rng.integers(0, 3, 3000))) for _ in range(5))
        assert read_votes(f"{header}\n{rows}\n".encode()).n_learners == 3000
        with pytest.raises(InputError, match="has 6,000 columns"):
            read((",".join(f"c{at}" for at in range(6000)) + "\n" + ",".join("0" * 6000)).encode())

    def test_sentences_stay_short(self):
        header = ",".join(f"c{at}" for at in range(500))
        rows = "\n".join(",".join(f"t{at}_{row}" for at in range(500)) for row in range(3))
        with pytest.raises(InputError, match="and so were 497 other columns") as caught:
            read(f"{header}\n{rows}\n".encode())
        assert len(str(caught.value)) < 1500


class TestOddButValidFiles:
    @pytest.mark.parametrize(
        "content",
        [
            b"sep=;\nid;a;b\n1;x;y\n2;y;y\n",
            b"id,a,b\n1,x,y\n2,y,y\n   \n",
            b"id,a,b\n1,x,y\n2,y,y\n\x1a",
            b"id,a,b\n1,x,y\n   \n2,y,y\n",
            b'"id","a","b"\r\n"1","x","y"\r\n"2","y","y"\r\n',
            b"\xef\xbb\xbf\xef\xbb\xbfid,a,b\n1,x,y\n2,\xef\xbb\xbfy,y\n",
            "id,a,b\n1,x,y\n2,y,y\n".encode("utf-32-be").join([b"\x00\x00\xfe\xff", b""]),
            parquet(pa.table({"id": ["1", "2"], "a": pa.array(["x", "y"], pa.large_string()), "b": ["y", "y"]})),
        ],
    )
    def test_they_are_read(self, content):
        votes = read_votes(content)
        assert votes.codes.tolist() == [[0, 1], [1, 1]]
        assert list(votes.ids) == ["1", "2"]

    def test_utf_16_without_a_mark_may_hold_emoji(self):
        assert read_votes("a,b\nx🐍,y\ny,x🐍\n".encode("utf-16-le")).classes.tolist() == ["x🐍", "y"]

    def test_a_header_that_starts_like_an_archive_is_read(self):
        assert read_votes(b"BZhang,b,c\nx,y,x\ny,y,x\n").learners == ("BZhang", "b", "c")

    def test_two_separators_may_be_mixed(self):
        assert read_votes(b"a:x,a:y,b__x,b__y\n.2,.8,.5,.5\n.3,.7,.5,.5\n").learners == ("a", "b")

    @pytest.mark.parametrize("classes", [("-1", "0", "1"), ("NA", "no", "yes")])
    def test_soft_classes_may_be_named_like_missing_votes(self, classes):
        header = ",".join(f"{learner}:{label}" for learner in "ab" for label in classes)
        rows = ".2,.3,.5,.1,.1,.8\n" * 3
        assert read_votes(f"{header}\n{rows}".encode()).classes.tolist() == list(classes)

    def test_a_missing_spelling_may_be_given_as_a_number_or_in_another_spelling(self):
        for missing in ([99], ["99.0"], 99):
            assert read_votes(b"a,b\n99.0,1\n1,2\n2,99\n", missing=missing).classes.tolist() == ["1", "2"]

    def test_the_line_of_a_broken_row_counts_blank_lines_above_the_header(self):
        with pytest.raises(InputError, match="Line 6 of"):
            read(b"\n\n\nid,a,b\n1,x,y\n2,x\n")

    def test_parquet_columns_without_text_are_left_out(self):
        broken = pa.Array.from_buffers(
            pa.string(), 2, [None, pa.py_buffer(np.array([0, 1, 2], np.int32).tobytes()), pa.py_buffer(b"\xffb")]
        )
        table = pa.table(
            {"a": ["x", "y"], "b": ["y", "y"], "broken": broken, "raw": [b"\xff", b"\xfe"], "l": [[1], [2]]}
        )
        reading = read(parquet(table))
        assert reading.votes.learners == ("a", "b")
        assert all(f"{name!r} was left out" in text(reading) for name in ("broken", "raw", "l"))

    def test_parquet_with_two_columns_of_one_name_is_refused(self):
        with pytest.raises(InputError, match="two columns named 'a'"):
            read(parquet(pa.table([pa.array(["x"]), pa.array(["y"])], names=["a", "a"])))

    def test_nul_in_utf_16_is_refused(self):
        with pytest.raises(InputError, match=r"NUL bytes \(first on line 2\)"):
            read("a,b\nx,y\0z\ny,x\n".encode("utf-16"))


class TestUnreadableSources:
    def test_each_gets_a_sentence(self, tmp_path):
        closed = io.BytesIO(b"a,b\n")
        closed.close()
        with (tmp_path / "out.csv").open("w") as write_only:
            for source in (io.StringIO("a,b\n\ud800,x\n"), closed, write_only, "a\0b"):
                with pytest.raises(InputError, match="cannot be read"):
                    read(source)

    def test_too_large_tables_are_refused_before_they_are_built(self):
        rows = "\n".join(f"{at},{at},{at % 2}\n{at},{(at + 1) % 60_000},{at % 2}" for at in range(60_000))
        with pytest.raises(InputError, match="60,000 tasks × 60,000 workers are too many"):
            read(f"task,worker,label\n{rows}\n".encode())


@pytest.mark.parametrize("seed", range(8))
def test_mutated_files_give_a_reading_or_a_sentence(seed):
    """Flip, cut and repeat bytes of valid files: nothing but InputError may come out."""
    mutate = np.random.default_rng(seed)
    originals = [
        b'id,a,b,label\n1,x,"y,1",x\n2,y,y,y\n3,x,x,x\n',
        b"task,worker,label\n1,w,a\n1,v,b\n2,w,a\n2,v,a\n",
        b"m:a,m:b,n:a,n:b\n.2,.8,.5,.5\n.3,.7,,\n1,0,0,1\n",
        "a;b\nä;ö\nö;ö\n".encode("utf-16"),
        parquet(pa.table({"a": ["x", "y"], "b": ["y", "y"]})),
    ]
    for _ in range(150):
        data = bytearray(originals[mutate.integers(len(originals))])
        for _ in range(mutate.integers(1, 6)):
            at = int(mutate.integers(max(len(data), 1)))
            action = mutate.integers(3)
            if action == 0 and data:
                data[at] = int(mutate.choice([0, 10, 13, 34, 44, 58, 59, 65, 200, 255]))
            elif action == 1:
                del data[at : at + int(mutate.integers(1, 8))]
            else:
                data[at:at] = data[at : at + int(mutate.integers(1, 20))]
        sentence = ""
        try:
            read(bytes(data))
        except InputError as error:
            sentence = str(error)
        assert "\n" not in sentence
