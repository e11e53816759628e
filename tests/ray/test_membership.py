"""Membership: what a machine is said to be that does not answer."""

import pytest

pytest.importorskip("ray")

from ray import exceptions

from deem_core.engine import membership

MACHINES = [{"NodeID": "ab" * 28, "NodeManagerAddress": "10.0.0.1"}]


class Asked:
    """Stands for the function that is sent to a machine."""

    def options(self, **_):
        return self

    def remote(self):
        return self


@pytest.fixture
def answer(monkeypatch):
    """Return what lets the only machine raise an error."""

    def let(error):
        def get(*_, **__):
            raise error

        monkeypatch.setattr(membership.ray, "remote", lambda **_: lambda _: Asked())
        monkeypatch.setattr(membership.ray, "get", get)
        monkeypatch.setattr(membership, "_alive", lambda: MACHINES)

    return let


def test_a_machine_without_deem_studio_is_named(answer):
    answer(exceptions.RayTaskError("version", "", RuntimeError("No module named deem_core")))
    with pytest.raises(membership.EngineError, match=r"10\.0\.0\.1 .* cannot load DEEM Studio"):
        membership.check_versions("ray")


@pytest.mark.parametrize("error", [exceptions.TaskUnschedulableError("gone"), exceptions.NodeDiedError("gone")])
def test_a_machine_that_leaves_meanwhile_is_not_said_to_lack_anything(answer, error):
    answer(error)
    membership.check_versions("ray")
