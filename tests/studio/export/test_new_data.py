"""New data for a model: taken if they fit, refused with a sentence, and what was there before stays."""

import io

import pytest

from deem_core.errors import InputError
from deem_core.estimators.irbm import IRBM
from deem_core.estimators.peek import peek
from deem_core.runs import Run, Workspace
from deem_core.votes.recode import recode
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
    terms = {"classes": ["cat", "dog"], "known_learners": ["ann", "bob", "eve"]}
    assert taken.reading == {"missing": ["fish"], **terms}  # there is no column key
    assert new_data.readings_like({}) == [{}]
    assert [each.name for each in workspace.datasets()].count("new.csv") == 1


def test_judges_that_a_model_knows_by_one_vote_are_merged_in_new_data(workspace, model):
    both = b"ann/ab,ann/ba,bob,eve\ncat,cat,dog,cat\ndog,cat,dog,dog\ncat,cat,cat,dog\n"
    taken = new_data._taken("both.csv", io.BytesIO(both), model, [{}])
    found = recode(workspace.read(taken).votes, model.learners, model.classes)
    assert found.merged == ("ann",)
    assert found.votes.codes[:, model.learners.index("ann")].tolist() == [0, -1, 0]
    assert model.title == "iRBM"


def test_a_learner_whose_labels_are_all_unknown_is_not_called_absent(workspace, model):
    taken = new_data._taken("new.csv", io.BytesIO(b"ann,zoe,bob\nx,q,cat\ny,r,dog\nx,q,cat\n"), model, [{}])
    found = recode(workspace.read(taken).votes, model.learners, model.classes)
    assert found.unread_words() == ["None of ann's labels is known: x, y. They count as missing."]
    assert found.absent == ("eve",)
    assert not found.extra  # another column of such labels is no learner


def test_one_upload_that_comes_twice_is_labelled_once(workspace, monkeypatch):
    """While the first run of the same model on the same file goes on, the second is that one."""
    data = workspace.add_dataset("new.csv", b"id,a,b,c\n1,x,y,x\n2,y,y,x\n")
    digest = workspace.store(b"a model")
    active = {"it": True}
    monkeypatch.setattr(Workspace, "start", lambda self, run: None)
    monkeypatch.setattr(Run, "is_active", lambda self: active["it"])
    first = new_data._labelling(data, digest)
    assert new_data._labelling(data, digest).id == first.id
    assert new_data._labelling(data, workspace.store(b"another")).id != first.id
    active["it"] = False
    assert new_data._labelling(data, digest).id != first.id
