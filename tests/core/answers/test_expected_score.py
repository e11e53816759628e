"""Expected scores of labels that have an order, and their errors against the truth."""

import numpy as np
import pyarrow.parquet as pq
import pytest
from sklearn.metrics import cohen_kappa_score, mean_absolute_error

from deem_core import Answer, cli, compare, fuse, read
from deem_core.comparison import evaluate
from deem_core.votes.statistics import FairVote, scale_errors

FILE = b"id,a,b,c,label\nr1,1,2,4,2\nr2,4,4,,4\nr3,,,,1\nr4,2,2,2,9\nr5,1,4,,1\nr6,2,4,4,4\n"


@pytest.fixture
def reading():
    return read(FILE, ordered=True)


def test_score_and_deviation_are_those_of_the_probabilities(reading):
    votes = reading.votes
    posterior = np.random.default_rng(0).dirichlet(np.ones(3), votes.n_rows)
    answer = Answer(votes, posterior)
    scores = np.array([1, 2, 4])
    np.testing.assert_allclose(answer.expected_score, posterior @ scores)
    np.testing.assert_allclose(
        answer.expected_score_sd, np.sqrt(posterior @ scores**2 - (posterior @ scores) ** 2), atol=1e-12
    )
    frame = answer.to_frame()
    assert np.isnan(frame["expected_score"].iloc[2])  # no votes, no score
    assert answer.summary().mean_score == pytest.approx(np.delete(posterior @ scores, 2).mean())
    part = answer.rows(1, 3)
    np.testing.assert_allclose(part.expected_score, answer.expected_score[1:3])
    plain = Answer(votes.as_ordered(False), posterior)
    assert plain.expected_score is None
    assert "expected_score" not in plain.to_frame()


def test_the_fused_file_has_both_beside_the_label(reading, tmp_path):
    answer = fuse(reading.votes, "mv")
    answer.export(reading, tmp_path / "fused.parquet")
    table = pq.read_table(tmp_path / "fused.parquet")
    names = table.column_names
    at = names.index("confidence")
    assert names[at : at + 3] == ["confidence", "expected_score", "expected_score_sd"]
    assert table["expected_score"].to_pylist()[:3] == [pytest.approx(7 / 3), 4.0, None]


def test_errors_are_those_of_scikit_learn_and_leave_out_what_is_no_step(reading):
    rng = np.random.default_rng(1)
    truth, said = rng.integers(0, 5, 300).astype(np.int32), rng.integers(0, 5, (2, 300)).astype(np.int32)
    error, kappa = scale_errors(said, truth, np.arange(5.0))
    assert error == pytest.approx(np.mean([mean_absolute_error(truth, own) for own in said]))
    assert kappa == pytest.approx(np.mean([cohen_kappa_score(truth, own, weights="quadratic") for own in said]))
    hidden = np.append(np.arange(4.0), np.nan)  # the last label has no place on the scale
    kept = truth < 4
    own = np.minimum(said, 3)
    assert scale_errors(own, truth, hidden)[0] == pytest.approx(
        np.mean([np.abs(each - truth)[kept].mean() for each in own])
    )
    votes = reading.votes  # 9 is a number: it has a place, though no learner gives it
    fair = FairVote.of(votes)
    assert scale_errors(fair, votes.truth, np.array([1.0, 2, 4, 9]))[0] == pytest.approx(
        np.mean([np.mean([1, 0, 2]), 0, 7, np.mean([0, 3]), 0])
    )


def test_evaluations_and_comparisons_tell_them(reading, tmp_path, capsys):
    found = evaluate(fuse(reading.votes, "mv"))
    own = found.methods[0]
    assert own.mean_absolute_error == pytest.approx(np.mean([1, 0, 7, 0, 0]))
    assert evaluate(fuse(reading.votes.as_ordered(False), "mv")).methods[0].mean_absolute_error is None
    compared = compare(reading.votes, ["mv", "ds"])
    assert compared.ordered
    assert compared["mv"].mean_absolute_error is not None
    assert type(compared).from_dict(compared.to_dict())["ds"].quadratic_kappa == compared["ds"].quadratic_kappa
    file, out = tmp_path / "votes.csv", tmp_path / "fused.json"
    file.write_bytes(FILE)
    assert cli.main(["fuse", str(file), "--order", "1,2,4", "-o", str(tmp_path / "f.csv"), "--json", str(out)]) == 0
    said = capsys.readouterr().out
    assert "on a scale from 1 to 4" in said
    assert "The labels have an order, which this answer does not use" in said
    assert "Mean absolute error, with quadratic weighted kappa: Fused labels" in said
    written = out.read_text()
    assert all(f'"{key}"' in written for key in ("scores", "mean_expected_score", "mean_absolute_error"))
    assert cli.main(["compare", str(file), "--ordinal", "--methods", "mv,ordinal"]) == 0
    assert {"off", "by", "kappa"} <= set(capsys.readouterr().out.split())
