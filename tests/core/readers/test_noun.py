"""What a file calls its learners."""

import pytest

from deem_core.readers import Noun, noun_of, read

LONG = "task,{},label\n" + "".join(f"t{row},w{who},{'ab'[(row * who) % 2]}\n" for row in range(6) for who in range(3))


def noun(text: str) -> str:
    reading = read(text.encode())
    return noun_of(reading.report, reading.votes.learners).one


@pytest.mark.parametrize(
    ("column", "word"), [("annotator", "annotator"), ("judge", "judge"), ("worker_id", "worker"), ("user", "learner")]
)
def test_a_long_files_worker_column_names_the_learners(column, word):
    assert noun(LONG.format(column)) == word


@pytest.mark.parametrize(
    ("names", "word"),
    [
        (["annotator_1", "annotator_2", "annotator_3"], "annotator"),
        (["judge-a", "Judge-b", "judge-c"], "judge"),
        (["judge-a", "judge-b", "gpt"], "learner"),  # two of three are not enough
        (["model1", "model2", "model3"], "model"),
        (["gpt", "claude", "rules"], "learner"),
        (["learner_1", "learner_2", "learner_3"], "learner"),
    ],
)
def test_names_of_a_wide_file_tell_the_word(names, word):
    assert noun("\n".join([",".join(names), "a,a,b", "b,b,b", "a,b,a"])) == word


def test_sentences_are_said_in_the_files_word_and_names_stay():
    annotator = Noun("annotator")
    assert annotator.say("1 learner of 3 learners.") == "1 annotator of 3 annotators."
    assert annotator.say("Learners: a learner's votes") == "Annotators: an annotator's votes"
    assert annotator.say("'learner' is a learner") == "'learner' is an annotator"
    assert annotator.say("my_learner_1 learned") == "my_learner_1 learned"
    assert annotator.say("a learner, or --learner") == "an annotator, or --learner"
    assert Noun("judge").say("a learner") == "a judge"
    assert Noun().say("a learner") == "a learner"
