"""New data for a model: taken if they fit, refused with a sentence, and what was there before stays."""

import io

import pytest

from deem_core.errors import InputError
from deem_core.estimators.irbm import IRBM
from deem_core.estimators.peek import peek
from studio.export import new_data
from tests.studio.labelling import WIDE


@pytest.fixture
def model(workspace, tmp_path):
    """A model of ann, bob and eve for cat and dog."""
    votes = workspace.read(workspace.add_dataset("old.csv", (WIDE + "z,1,cat,cat,cat,cat\n" * 20).encode())).votes
    IRBM(random_state=0).fit(votes).save(tmp_path / "model.safetensors")
    return peek(tmp_path / "model.safetensors")


def test_a_file_with_some_of_the_learners_is_taken(workspace, model):
    taken = new_data._taken(
        "new.csv", io.BytesIO(b"ann,zoe,bob\ncat,cat,dog\ndog,fish,dog\ncat,cat,cat\n"), model, [{}]
    )
    assert workspace.dataset(taken.id).name == "new.csv"


def test_a_file_of_strangers_is_refused_and_not_kept(workspace, model):
    before = workspace.datasets()
    with pytest.raises(InputError, match="None of the model's learners"):
        new_data._taken("new.csv", io.BytesIO(b"u,v,w\ncat,cat,dog\ndog,dog,dog\n"), model, [{}])
    assert workspace.datasets() == before


def test_a_dataset_that_was_there_before_survives_its_refusal(workspace, model):
    strangers = b"u,v,w\ncat,cat,dog\ndog,dog,dog\n"
    own = workspace.add_dataset("mine.csv", strangers)
    with pytest.raises(InputError):
        new_data._taken("mine.csv", io.BytesIO(strangers), model, [{}])
    assert workspace.dataset(own.id) == own


def test_new_data_are_read_as_in_training_where_that_works(workspace, model):
    ways = new_data.readings_like({"missing": ["fish"], "id": "key"})
    assert ways == [{"missing": ["fish"], "id": "key"}, {"missing": ["fish"]}, {}]
    taken = new_data._taken("new.csv", io.BytesIO(b"ann,bob,eve\ncat,cat,fish\ndog,dog,cat\n"), model, ways)
    assert taken.reading == {"missing": ["fish"], "classes": ["cat", "dog"]}  # there is no column key
    assert new_data.readings_like({}) == [{}]
    assert [each.name for each in workspace.datasets()].count("new.csv") == 1
