"""Which names are served, and which pages may speak for them."""

import pytest

from studio.serving import hosts
from studio.serving.hosts import LOOPBACK, Host


@pytest.mark.parametrize(
    ("header", "name", "port"),
    [
        ("localhost", "localhost", None),
        ("LOCALHOST:8501", "localhost", 8501),
        ("deem.example.:80", "deem.example", 80),
        ("[::1]:8501", "::1", 8501),
        ("[0:0:0:0:0:0:0:1]", "::1", None),
        ("[::ffff:127.0.0.1]:1", "127.0.0.1", 1),
    ],
)
def test_a_host_header_is_a_name_and_a_port(header, name, port):
    assert Host.of(header) == Host(name, port)


@pytest.mark.parametrize(
    "header",
    ["", ":80", "a:b", "a:80:80", "a:99999", "me@localhost", "localhost/x", "localhost, evil.example", "löcal", "a b"],
)
def test_what_is_no_host_is_none(header):
    assert Host.of(header) is None


@pytest.mark.parametrize("name", LOOPBACK)
def test_this_machines_own_names_are_known(name):
    assert hosts.is_known(name, LOOPBACK, "127.0.0.1")


@pytest.mark.parametrize(
    "name",
    ["evil.example", "localhost.evil.example", "evil-localhost", "127.0.0.1.evil.example", "0.0.0.0", "10.0.0.7"],  # noqa: S104
)
def test_no_other_name_is(name):
    assert not hosts.is_known(name, LOOPBACK, "127.0.0.1")


def test_the_address_at_which_a_request_arrived_is_known_but_a_name_never_is_one():
    assert hosts.is_known("10.0.0.7", LOOPBACK, "::ffff:10.0.0.7")
    assert not hosts.is_known("10.0.0.8", LOOPBACK, "10.0.0.7")
    assert not hosts.is_known("evil.example", LOOPBACK, "evil.example")


def test_what_was_configured_is_known_and_nothing_that_only_ends_like_it():
    assert hosts.is_known("a.deem.example", ["*.deem.example"], "")
    assert not hosts.is_known("deem.example", ["*.deem.example"], "")
    assert not hosts.is_known("evildeem.example", ["*.deem.example"], "")
    assert hosts.is_known("whatever", ["*"], "")


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://localhost:8501", "localhost:8501"),
        ("https://deem.example", "deem.example"),
        ("https://deem.example", "deem.example:443"),
        ("http://DEEM.example:80", "deem.example"),
        ("http://[::1]:8501", "[::1]:8501"),
    ],
)
def test_a_page_of_ours_has_name_and_port_of_the_host(origin, host):
    assert hosts.agrees(origin, Host.of(host))


@pytest.mark.parametrize(
    "origin",
    [
        *("http://evil.example:8501", "http://localhost:3000", "http://127.0.0.1:8501", "http://localhost", "null", ""),
        *("file://", "http://localhost:99999", "ftp://localhost:8501", "http://localhost.evil.example:8501"),
    ],
)
def test_any_other_page_does_not(origin):
    assert not hosts.agrees(origin, Host.of("localhost:8501"))
