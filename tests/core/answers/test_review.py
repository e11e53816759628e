"""The review queue names rows worth a look with their reasons, the most urgent first."""

import numpy as np
import pytest

from deem_core import DEEM, Votes
from deem_core.answers.answer import Answer
from deem_core.answers.review import REASONS, review_queue
from deem_core.simulation import make


@pytest.fixture(scope="module")
def trained():
    votes = make("tree", 300, 0).votes
    return votes, DEEM(updates=15, batch_size=64, restarts=3, random_state=0, near_copies="keep").fit(votes)


def made(codes, posterior):
    votes = Votes.from_labels([[None if code < 0 else f"c{code}" for code in row] for row in codes])
    return votes, np.asarray(posterior, float)


def test_more_reasons_come_first_then_less_backing():
    codes = [[0, 0, 0]] * 15 + [[0, 1, 1], [1, 0, 1], [1, 1, 1], [0, 0, 1], [1, 1, 0]]
    posterior = [[0.9, 0.1]] * 15 + [[0.1, 0.9]] * 3 + [[0.6, 0.4], [0.1, 0.9]]
    posterior[0] = [0.1, 0.9]  # a unanimous vote overruled
    votes, posterior = made(codes, posterior)
    support = np.ones(20)
    support[0] = support[19] = 0.5
    queue = review_queue(Answer(votes, posterior, support=support))
    assert queue.rows[0] == 0
    assert queue.overruled[0]
    assert queue.disputed[0]
    assert REASONS[1] in queue.why[0]
    assert queue.rows[queue.disputed].tolist() == [0, 19]  # where all restarts agree there is no dispute
    reasons = queue.doubtful.astype(int) + queue.overruled + queue.disputed
    assert (np.diff(reasons) <= 0).all()


def test_without_restarts_the_queue_holds_what_needs_review(trained):
    votes, model = trained
    posterior = model.fuse_codes(votes.codes)
    queue = review_queue(Answer(votes, posterior))
    assert set(queue.rows) == set(np.flatnonzero(Answer(votes, posterior).needs_review))
    assert np.isnan(queue.support).all()
    assert not queue.disputed.any()
    assert list(queue.to_frame()["row"]) == (queue.rows + 1).tolist()


def test_rows_without_votes_are_not_queued():
    votes, posterior = made([[0, 1, 1], [-1, -1, -1], [0, 0, 1]], [[0.2, 0.8], [0.5, 0.5], [0.9, 0.1]])
    assert 1 not in review_queue(Answer(votes, posterior)).rows
