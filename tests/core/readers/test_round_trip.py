"""Random votes survive the way through wide, long and soft files."""

import io

import numpy as np
import pyarrow.csv
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from deem_core import Votes
from deem_core.files import tables
from deem_core.readers import read_votes
from deem_core.votes.labels import DEFAULT, canonical_text

words = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"], exclude_characters=":"),
    min_size=1,
    max_size=6,
)


def usable(label: str) -> bool:
    return not DEFAULT.is_missing(label) and label.strip() == label and canonical_text(label) == label


labels = st.one_of(
    st.lists(words.filter(usable), min_size=2, max_size=5, unique=True).filter(lambda found: "-1" not in found),
    st.lists(st.integers(0, 300).map(str), min_size=2, max_size=5, unique=True),
)
names = words.map(lambda word: f"m{word}").filter(lambda name: "__" not in name and "_prob_" not in name)


@st.composite
def random_votes(draw, soft: bool = False) -> Votes:
    """Draw votes in which every class and learner occurs, as any file of them must have it."""
    classes = draw(labels)
    learners = draw(st.lists(names, min_size=2, max_size=4, unique_by=str.strip))
    K, d = len(classes), len(learners)
    n = draw(st.integers(K, K + 8))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    codes = rng.integers(-1, K, (n, d))
    codes[:K] = np.arange(K)[:, None]
    truth = rng.integers(-1, K, n) if draw(st.booleans()) else None
    if truth is not None:
        truth[0] = 0
    ids = [f"r{at}" for at in rng.permutation(n)]
    probabilities = None
    if soft:
        probabilities = rng.dirichlet(np.ones(K), (n, d)).round(6)
        probabilities /= probabilities.sum(axis=2, keepdims=True)
        probabilities[codes < 0] = 0
        codes = np.where(codes < 0, -1, probabilities.argmax(axis=2))
    return Votes(codes, np.array(classes, object), learners, ids, truth, probabilities)


def same(found: Votes, made: Votes) -> None:
    """Compare by label, since classes come back in natural order."""
    assert found.learners == made.learners
    assert list(found.ids) == list(made.ids)
    assert sorted(found.classes) == sorted(made.classes)

    def spelled(votes: Votes, codes):
        return np.where(codes < 0, None, votes.classes[np.maximum(codes, 0)])

    assert (spelled(found, found.codes) == spelled(made, made.codes)).all()
    if made.truth is None:
        assert found.truth is None
    else:
        assert (spelled(found, found.truth) == spelled(made, made.truth)).all()


def as_csv(table) -> bytes:
    buffer = io.BytesIO()
    pyarrow.csv.write_csv(table, buffer)
    return buffer.getvalue()


@given(random_votes())
@settings(deadline=None)
def test_wide_files_give_the_votes_back(made):
    same(read_votes(as_csv(tables.wide_table(made)), layout="wide", learners=made.learners), made)


@given(random_votes())
@settings(deadline=None)
def test_long_files_give_the_votes_back(made):
    made = made.select_rows(made.votes_per_row > 0)
    truth = None if made.truth is None or not (made.truth >= 0).any() else as_csv(tables.truth_table(made))
    found = read_votes(as_csv(tables.long_table(made)), truth_file=truth)
    order = [found.learners.index(name) for name in made.learners]
    same(found.select_learners(order), made)


@given(random_votes(soft=True))
@settings(deadline=None)
def test_soft_files_give_the_probabilities_back(made):
    # Named, since a learner may by chance be called like the truth, which is set aside otherwise.
    found = read_votes(as_csv(tables.soft_table(made)), learners=made.learners)
    position = [list(found.classes).index(label) for label in made.classes]
    assert np.abs(found.soft[:, :, position] - made.soft).max() < 1e-5
    assert found.learners == made.learners


@given(random_votes(), st.sampled_from([",", ";", "\t", "|"]), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
@settings(deadline=None, max_examples=50)
def test_delimiters_and_encodings_do_not_matter(made, delimiter, encoding):
    text = tables.wide_table(made).to_pandas().to_csv(index=False, sep=delimiter)
    assume(not any(sign in text for sign in ",;\t|" if sign != delimiter))  # a name may look like two columns
    same(read_votes(text.encode(encoding), layout="wide", learners=made.learners), made)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".parquet"])
def test_every_format_that_is_written_is_read(tmp_path, suffix):
    made = Votes.from_labels(
        [
            ["007", "=1+1"],
            ["a,b", None],
            ['"q"', "🐍"],
            ["a\nb", "007"],
            ["a,b", '"q"'],
            ["🐍", "a\nb"],
            ["=1+1", "=1+1"],
        ]
    )
    path = tmp_path / f"votes{suffix}"
    tables.write(tables.wide_table(made), path)
    found = read_votes(path)
    assert found.classes.tolist() == made.classes.tolist()
    assert (found.codes == made.codes).all()
