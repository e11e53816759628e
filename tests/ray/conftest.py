"""Fixtures for tests on a Ray cluster: two nodes of one core each, on the loopback address of this machine."""

import os
import socket
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent

STORE_BYTES = 150_000_000
"""Of each node for the data that pieces share."""


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("ray")


class TwoNodes:
    """A head with one core and a second node with one core, which can be killed and brought back."""

    def __init__(self):
        from ray.cluster_utils import Cluster

        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.client_port = free.getsockname()[1]
        own = {"num_cpus": 1, "include_dashboard": False, "object_store_memory": STORE_BYTES}
        self.cluster = Cluster(initialize_head=True, head_node_args={**own, "ray_client_server_port": self.client_port})
        self.second = None
        self.complete()

    @property
    def address(self):
        return self.cluster.address

    def complete(self):
        """Add the second node where it is missing."""
        if self.second is None:
            self.second = self.cluster.add_node(num_cpus=1, object_store_memory=STORE_BYTES)
            self.cluster.wait_for_nodes()

    def kill_second(self):
        """End the second node and all that works there, without a word."""
        self.cluster.remove_node(self.second, allow_graceful=False)
        self.second = None

    def shutdown(self):
        self.cluster.shutdown()


@pytest.fixture(scope="session")
def _two_nodes():
    pytest.importorskip("ray")
    variables = {
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # on the loopback address alone
        "RAY_USAGE_STATS_ENABLED": "0",
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep),
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        from ray._private import ray_constants

        patch.setattr(ray_constants, "ENABLE_RAY_CLUSTER", False)
        nodes = TwoNodes()
        patch.setenv("RAY_ADDRESS", nodes.address)
        yield nodes
        import ray

        ray.shutdown()
        nodes.shutdown()


@pytest.fixture
def cluster(_two_nodes):
    """The cluster, whole; `kill_second` kills its second node."""
    _two_nodes.complete()
    return _two_nodes
