"""The alarm of a failed training names the cause that these votes suggest, and a remedy that fits it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from deem_core import Votes
from deem_core.answers.alarms import spelling_alarms
from deem_core.training.alarms import RateAdvice
from deem_core.training.failure import alarms_of, failure, sentence

SWEEP_FIRST = RateAdvice("A sweep shows which learning rates are steady.", {"Train with a rate from a sweep": {}})


@dataclass
class Lost:
    """A restart that collapsed."""

    share_ratio: float = 0.1
    kept: bool = False


def alarm(classes=("ham", "spam"), rows=1200, learners=5, ratio=0.1, p=None, **settings):
    rng = np.random.default_rng(0)
    labels = np.array(classes, object)[rng.choice(len(classes), size=(rows, 1), p=p)].repeat(learners, axis=1)
    votes = Votes.from_labels(labels)
    return failure(votes, settings, [Lost(ratio)] * 5, SWEEP_FIRST, "majority vote")


def test_who_answers_is_said_first():
    told = alarm()
    assert f"{told.title}. {told.sentence}".startswith(sentence([Lost()] * 5, "majority vote"))
    assert told.title == "Training failed (0 of 5 restarts usable)"


def test_spellings_are_to_be_merged_and_no_rate_helps():
    told = alarm(("ham", "spam", "Spam", "SPAM "))
    assert "3 spellings look like one class" in told.sentence
    assert told.remedies == {}
    assert told.mend == "spellings"


def test_spellings_that_made_a_training_fail_are_said_once():
    votes = Votes.from_labels([["ham", "Ham"], ["spam", "spam"]] * 300)
    told = alarms_of(votes, [], {}, [Lost()] * 5, instead="majority vote", labels=spelling_alarms(votes))
    assert [one.kind for one in told] == ["fallback"]
    assert told[0].mend == "spellings"


@pytest.mark.parametrize(
    ("votes", "words"),
    [
        ({"rows": 99}, "99 rows with votes are few for 2 classes"),
        ({"classes": [f"c{k:02d}" for k in range(51)], "rows": 5000}, "51 classes are many"),
        ({"learners": 100, "rows": 200}, "100 learners are many"),
        ({"classes": ("ham", "spam", "scam"), "p": [0.6, 0.39, 0.01], "rows": 2000}, "very rare: 'scam'"),
    ],
)
def test_what_no_rate_can_cure_leads_to_a_method_that_cannot_collapse(votes, words):
    told = alarm(**votes)
    assert words in told.sentence
    ((label, changes),) = told.remedies.items()
    assert "exact iRBM" in label
    assert changes["method"] == "irbm"
    assert changes["learning_rate"] is None  # the exact method has no such setting


def test_a_rate_far_above_the_usual_is_the_first_suspect():
    told = alarm(("spam", "Spam"), learning_rate=8.0)
    assert "learning rate 8 is far above" in told.sentence
    assert list(told.remedies) == ["Train with a rate from a sweep"]
    assert "learning rate" not in alarm(("spam", "Spam"), learning_rate=0.5).sentence


def test_numbers_that_ran_away_speak_of_the_rate():
    assert "too high" in alarm(ratio=math.nan).sentence


def test_without_a_better_cause_the_rate_and_more_restarts_are_offered():
    told = alarm(restarts=5)
    assert list(told.remedies) == ["Train with a rate from a sweep", "Train with 10 restarts"]
