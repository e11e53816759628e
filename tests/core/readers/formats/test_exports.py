"""Exports of annotation tools: who answered what, what is left out, and what is asked back."""

import io
import json

import numpy as np
import pytest

from deem_core import InputError
from deem_core.readers import objects, read, sketch
from deem_core.readers.formats.content import UndecidedError


def dumped(value) -> bytes:
    return json.dumps(value).encode()


def choice(label, question="mood", **value):
    labels = label if isinstance(label, list) else [label]
    return {"from_name": question, "to_name": "text", "type": "choices", "value": {"choices": labels, **value}}


def annotation(by, *results, **more):
    return {"completed_by": by, "was_cancelled": False, "ground_truth": False, "result": list(results), **more}


def task(id, *annotations, predictions=(), **data):
    return {
        "id": id,
        "data": {"text": f"text {id}", **data},
        "annotations": list(annotations),
        "predictions": list(predictions),
    }


BO = {"id": 2, "email": "bo@example.org", "first_name": "Bo"}
TASKS = [
    task(
        11,
        annotation(1, choice("good")),
        annotation(BO, choice("bad")),
        annotation(3, choice("bad"), was_cancelled=True),
        annotation(9, choice("good"), ground_truth=True),
        predictions=[{"model_version": "bert-1", "score": 0.9, "result": [choice("good")]}],
        label="a field of the data",
    ),
    task(12, annotation(1, choice("bad")), annotation(BO, choice("bad")), annotation("cy@example.org", choice("bad"))),
    task(13, annotation(1, choice("good")), annotation(1, choice("bad")), annotation(BO, choice("good", start=1))),
]


BOTH = [
    task(n, *(annotation(who, choice("ab"[n % 2]), choice("xy"[who % 2], "topic")) for who in (1, 2, 3)))
    for n in range(4)
]


def cells(reading):
    return {name: reading.source.text(name).to_pylist() for name in reading.source.columns}


class TestLabelStudio:
    def test_annotators_and_models_vote_and_the_rest_is_said(self):
        reading = read(dumped(TASKS))
        assert (reading.report.format, reading.report.layout) == ("label studio", "wide")
        assert reading.votes.learners == ("annotator_1", "bo@example.org", "bert-1", "cy@example.org")
        assert reading.votes.ids.tolist() == ["11", "12", "13"]
        made = cells(reading)
        assert made["annotator_1"] == ["good", "bad", "bad"]  # the later annotation of the last task counts
        assert made["bo@example.org"] == ["bad", "bad", ""]  # a label for a part of the text is none for the task
        assert made["text"] == ["text 11", "text 12", "text 13"]
        assert made["ground_truth"] == ["good", "", ""]
        assert reading.votes.truth.tolist() == [reading.votes.classes.tolist().index("good"), -1, -1]
        said = " ".join(reading.report.sentences())
        assert "Left out 1 cancelled annotation." in said
        assert "1 annotation marked as ground truth" in said
        assert "1 prediction of models" in said
        assert "Dropped 1 repeated answer" in said
        assert "Left out 1 answer without a label for a whole task ('choices')." in said
        assert reading.report.roles["label"] == "ignored"  # data, though it is named like the truth

    def test_roles_can_be_given_otherwise(self):
        reading = read(dumped(TASKS), truth="label", ignore=["bert-1"])
        assert reading.report.roles["label"] == "truth"
        assert "bert-1" not in reading.votes.learners
        assert read(dumped(TASKS), learners=["annotator_1", "bo@example.org"]).votes.n_learners == 2

    def test_several_labels_of_one_answer_are_joined(self):
        tasks = [task(n, annotation(1, choice(["a", "b"][n:])), annotation(2, choice(["b"]))) for n in range(2)]
        assert cells(read(dumped(tasks)))["annotator_1"] == ["a|b", "b"]

    def test_ratings_numbers_and_comparisons_are_labels(self):
        results = [
            {"from_name": "stars", "type": "rating", "value": {"rating": 4}},
            {"from_name": "pair", "type": "pairwise", "value": {"selected": "left"}},
            {"from_name": "kind", "type": "taxonomy", "value": {"taxonomy": [["animal", "cat"]]}},
        ]
        data = dumped([task(1, annotation(1, *results), annotation(2, *results)), task(2)])
        for question, label in {"stars": "4", "pair": "left", "kind": "animal/cat"}.items():
            with pytest.raises(InputError, match=f"use one class only, '{label}'"):
                read(data, label=question)

    def test_of_several_questions_one_is_asked_for(self):
        with pytest.raises(UndecidedError, match=r"'mood' \(12 answers\), 'topic' \(12 answers\)\. .*--label") as asked:
            read(dumped(BOTH))
        assert sketch(dumped(BOTH), asked.value, {}).choice.names == ("mood", "topic")
        reading = read(dumped(BOTH), label="topic")
        assert reading.votes.classes.tolist() == ["x", "y"]
        assert any("other questions were left out: 'mood'" in text for text in reading.report.sentences("left out"))
        with pytest.raises(UndecidedError, match="has no question 'nope'; it has 'mood', 'topic'"):
            read(dumped(BOTH), label="nope")

    def test_two_true_labels_of_a_task_are_refused(self):
        twice = [
            task(7, *(annotation(1, choice(label), ground_truth=True) for label in "ab"), annotation(1, choice("a")))
        ]
        with pytest.raises(InputError, match="two different true labels for the task '7' \\('a' and 'b'\\)"):
            read(dumped(twice))

    def test_tasks_that_nobody_annotated_stay_rows(self):
        reading = read(dumped([task(0), *TASKS]))
        assert reading.votes.votes_per_row[0] == 0

    @pytest.mark.parametrize(
        ("annotations", "reason"),
        [
            ([], "nobody has annotated its 3 tasks yet"),
            ([annotation(1, choice("a"), was_cancelled=True)], "all 3 annotations were cancelled"),
            ([annotation(1, choice("a"), ground_truth=True)], "all its annotations are ground truth"),
        ],
    )
    def test_exports_without_votes_say_why(self, annotations, reason):
        with pytest.raises(InputError, match=f"is a Label Studio export without votes: {reason}"):
            read(dumped([task(n, *annotations) for n in range(3)]))

    def test_answers_of_another_kind_are_named(self):
        with pytest.raises(InputError, match=r"a rating or a number. Left out 2 answers .* \('choices'\)\."):
            read(dumped([task(n, annotation(1, choice("a", start=1))) for n in range(2)]))

    def test_json_min_is_one_annotation_per_record(self):
        records = [
            {
                "text": f"t{n}",
                "id": n,
                "mood": label,
                "tags": {"choices": ["x", "y"]},
                "annotator": who,
                "annotation_id": 9,
                "lead_time": 1.5,
            }
            for n, labels in enumerate(("ggb", "bbb"))
            for who, label in enumerate(labels, start=1)
        ]
        reading = read(dumped(records), label="mood")
        assert reading.votes.learners == ("annotator_1", "annotator_2", "annotator_3")
        assert (reading.votes.n_rows, cells(reading)["annotator_3"]) == (2, ["b", "b"])
        assert cells(reading)["text"] == ["t0", "t1"]
        with pytest.raises(InputError, match=r"2 questions: 'mood' .*, 'tags'"):
            read(dumped(records))

    @pytest.mark.parametrize("spoiled", [{"id": 3}, [], "x", {"id": 3, "data": 5}])
    def test_a_record_that_is_no_task_is_named(self, spoiled):
        with pytest.raises(InputError, match=r"Record 4 of .* is no task of Label Studio"):
            read(dumped([*TASKS, spoiled]))

    def test_other_records_with_annotations_are_read_as_before(self):
        plain = [
            {"id": n, "annotations": [{"annotator": who, "label": "ab"[n % 2]} for who in "xyz"]} for n in range(4)
        ]
        assert read(dumped(plain)).report.format == "json"


USERS = ["3fa85f64-5717-4562-b3fc-2c963f66afa6", "11111111-5717-4562-b3fc-2c963f66afa6"]


class TestArgilla:
    def test_responses_that_nobody_submitted_are_the_reason(self):
        drafts = [{"value": "good", "user_id": "ana", "status": "draft"}]
        records = [{"id": f"r{n}", "fields": {"text": "t"}, "responses": {"mood": drafts}} for n in range(2)]
        with pytest.raises(InputError, match=r"Left out 2 responses not submitted: 2 draft\."):
            read(dumped(records))

    def test_responses_by_user_and_suggestions_by_agent(self):
        records = [
            {
                "id": f"r{n}",
                "fields": {"text": f"t{n}"},
                "metadata": {"lang": "en"},
                "suggestions": {"mood": {"value": "good", "score": 0.9, "agent": "bert"}},
                "responses": {
                    "mood": [{"value": label, "user_id": user} for label, user in zip(labels, USERS, strict=True)]
                },
            }
            for n, labels in enumerate([("good", "bad"), ("bad", "bad")])
        ]
        records[1]["responses"]["mood"][1]["status"] = "discarded"
        reading = read(dumped(records))
        assert (reading.report.format, reading.votes.learners) == (
            "argilla",
            ("user_3fa85f64", "user_11111111", "bert"),
        )
        assert cells(reading)["user_11111111"] == ["bad", ""]
        assert cells(reading)["metadata.lang"] == ["en", "en"]
        assert "1 discarded" in " ".join(reading.report.sentences("left out"))

    def test_the_older_form_of_records(self):
        records = [
            {
                "fields": {"text": "t"},
                "external_id": f"x{n}",
                "responses": [
                    {"user_id": user, "status": "submitted", "values": {"mood": {"value": ["a", "b"][: n + 1]}}}
                    for user in USERS
                ],
                "suggestions": [{"question_name": "mood", "value": ["a"], "agent": None}],
            }
            for n in range(2)
        ]
        reading = read(dumped(records))
        assert reading.votes.ids.tolist() == ["x0", "x1"]
        assert cells(reading)["user_3fa85f64"] == ["a", "a|b"]
        assert cells(reading)["suggestion"] == ["a", "a"]


def weak_rows(n=6):
    return {
        str(at): {"label": at % 2, "weak_labels": [at % 2, -1, 1 - at % 3 % 2], "data": {"text": f"t{at}"}}
        for at in range(n)
    }


class TestWrench:
    def test_rows_with_weak_labels_and_names_beside_the_file(self, tmp_path):
        (tmp_path / "train.json").write_bytes(dumped(weak_rows()))
        (tmp_path / "label.json").write_text('{"0": "ham", "1": "spam"}')
        reading = read(tmp_path / "train.json")
        assert (reading.report.format, reading.votes.learners) == ("wrench", ("lf_0", "lf_1", "lf_2"))
        assert reading.votes.classes.tolist() == ["ham", "spam"]
        assert reading.votes.truth.tolist() == [0, 1] * 3
        assert (reading.votes.codes[:, 1] == -1).all()
        assert read(dumped(weak_rows())).votes.classes.tolist() == ["0", "1"]  # bytes have nothing beside them
        (tmp_path / "label.json").write_text('["ham"]')
        with pytest.raises(InputError, match=r"label.json beside train.json is no object"):
            read(tmp_path / "train.json")

    @pytest.mark.parametrize(
        ("row", "sentence"),
        [
            ({"label": 0, "weak_labels": [1], "data": {}}, "Row '6' of .* has 1 weak labels; others have 3"),
            ({"label": 0, "weak_labels": 1}, "Row '6' of .* has no list of weak labels"),
            ({"weak_labels": [[1], 2, 3]}, "neither number nor text"),
            (5, "has no list of weak labels"),
        ],
    )
    def test_a_row_that_is_none_is_named(self, row, sentence):
        with pytest.raises(InputError, match=sentence):
            read(dumped(weak_rows() | {"6": row}))

    def test_a_long_file_is_read_through_a_window(self, monkeypatch):
        whole = read(dumped(weak_rows(60))).votes
        monkeypatch.setattr(objects, "LONGEST_RECORD", 500)
        assert read(dumped(weak_rows(60))).votes.content_hash == whole.content_hash

    @pytest.mark.parametrize(
        "end", [b"", b", ", b"} x", b"}}", b', "0": {}}', b', 5: {"weak_labels": []}}', b' "a": {}}']
    )
    def test_text_that_breaks_is_named_by_its_line(self, end):
        with pytest.raises(InputError, match=r"not valid JSON|has '0' twice"):
            read(dumped(weak_rows())[:-1] + end)


HALF = "\ud800"
"""Half a character: JSON and NumPy can hold it, text cannot."""


@pytest.mark.parametrize(
    "told",
    [
        [
            {"id": at, "data": {f"te{HALF}xt": HALF}, "annotations": [
                {"completed_by": {"email": who}, "result": [
                    {"from_name": f"k{HALF}", "type": "choices", "value": {"choices": [label]}}]}
                for who, label in ((f"ann{HALF}", "x"), ("bob", f"y{HALF}"))]}
            for at in range(2)
        ],
        [
            {"id": f"r{at}{HALF}", "fields": {f"te{HALF}xt": "x"}, "suggestions": {}, "responses": {
                "k": [{"value": "x", "user_id": f"ann{HALF}"}, {"value": f"y{HALF}", "user_id": "bob"}]}}
            for at in range(2)
        ],
    ],
    ids=["label studio", "argilla"],
)  # fmt: skip
def test_half_characters_in_names_are_replaced(told):
    votes = read(json.dumps(told).encode()).votes
    assert votes.learners == ("ann\ufffd", "bob")
    assert votes.classes.tolist() == ["x", "y\ufffd"]


def test_half_characters_in_wrench_and_in_matrices_are_replaced():
    row = {"label": 1, "weak_labels": [1, 0], "data": {f"te{HALF}xt": HALF}}
    assert "te\ufffdxt" in read(json.dumps({"0": row, "1": row}).encode()).source.columns
    names = np.array(["ab", "cd"])
    names.view(np.uint32)[1] = 0x12_0000  # beyond all characters
    sink = io.BytesIO()
    np.savez(sink, L=np.array([[0, 1], [1, 1], [0, -1]]), names=names)
    assert read(sink.getvalue()).votes.learners == ("a\ufffd", "cd")
