"""Which engine a word means: this machine unless somebody says otherwise."""

import pytest

from deem_core.engine import Local, engine_of, wish_of
from deem_core.errors import InputError, MissingPackageError
from tests.engines import Carrying


@pytest.fixture(autouse=True)
def _no_engine(monkeypatch):
    monkeypatch.delenv("DEEM_ENGINE", raising=False)


def test_this_machine_is_meant_where_nothing_is_said():
    assert wish_of(None) == "local"
    assert isinstance(engine_of(), Local)
    assert not engine_of("local").remote


def test_the_environment_names_the_engine_and_a_word_goes_before_it(monkeypatch):
    monkeypatch.setenv("DEEM_ENGINE", " ray://head:10001 ")
    assert wish_of(None) == "ray://head:10001"
    assert wish_of("local") == "local"
    monkeypatch.setenv("DEEM_ENGINE", "  ")
    assert wish_of(None) == "local"


def test_an_engine_that_is_there_already_is_taken_as_it_is():
    engine = Carrying()
    assert engine_of(engine) is engine


@pytest.mark.parametrize("wish", ["ray", "ray://head:10001", "ray://10.0.0.3:10001", "ray://[::1]:10001"])
def test_names_of_clusters(wish):
    assert wish_of(wish) == wish


@pytest.mark.parametrize("wish", ["cluster", "ray:", "ray://head", "ray://head:port", "ray://a b:1", "http://head:1"])
def test_a_name_that_means_nothing_is_one_sentence(wish, monkeypatch):
    with pytest.raises(InputError, match=r"There is no engine .*ray://HOST:PORT"):
        engine_of(wish)
    monkeypatch.setenv("DEEM_ENGINE", wish)
    with pytest.raises(InputError, match="There is no engine"):
        wish_of(None)


def test_without_ray_a_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setattr("deem_core.engine.choice.find_spec", lambda name: None)
    with pytest.raises(MissingPackageError, match=r'pip install "deem-studio\[ray\]"'):
        engine_of("ray")
