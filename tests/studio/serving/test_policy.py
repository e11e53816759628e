"""What follows from the environment and Streamlit's settings."""

import pytest

from deem_core import InputError
from studio.serving import opening
from studio.serving.policy import Policy, decide


def test_one_person_on_this_machine_notices_nothing():
    for address in ("127.0.0.1", "localhost", "::1", "127.0.0.5"):
        rules = decide({}, address=address)
        assert not rules.is_open
        assert not rules.shared
        assert not rules.guards
        assert opening.words(rules) == ""


@pytest.mark.parametrize("address", [None, "0.0.0.0", "::", "10.0.0.7", "deem.example"])  # noqa: S104
def test_a_server_that_others_reach_is_shared_by_itself(address):
    rules = decide({}, address=address)
    assert rules.is_open
    assert rules.shared
    assert "Other computers may reach this server" in opening.words(rules)
    assert "DEEM_PASSWORD" in opening.words(rules)


def test_a_name_for_others_shares_the_server_too_as_behind_a_proxy():
    assert decide({"DEEM_HOSTS": "deem.example"}, address="127.0.0.1").shared
    assert decide({}, address="127.0.0.1", named="deem.example").shared
    assert not decide({"DEEM_HOSTS": "localhost"}, address="127.0.0.1").shared


def test_sharing_is_switched_on_and_off_by_hand():
    assert decide({"DEEM_SHARED": "1"}, address="127.0.0.1").shared
    alone = decide({"DEEM_SHARED": "0"}, address="0.0.0.0")  # noqa: S104
    assert alone.is_open
    assert not alone.shared
    assert "the same files and runs" in opening.words(alone)
    with pytest.raises(InputError, match="DEEM_SHARED is 'maybe'"):
        decide({"DEEM_SHARED": "maybe"}, address="127.0.0.1")


def test_names_come_from_everywhere_they_can_be_said():
    rules = decide(
        {"DEEM_HOSTS": "Deem.example, https://other.example:8443/x 10.0.0.7"},
        address="192.168.1.2",
        named="named.example",
        allowed=["*.allowed.example"],
    )
    assert rules.names == {
        *("localhost", "127.0.0.1", "::1", "deem.example", "other.example", "10.0.0.7", "192.168.1.2"),
        *("named.example", "*.allowed.example"),
    }
    assert decide({}, address="0.0.0.0").names == {"localhost", "127.0.0.1", "::1"}  # noqa: S104


def test_the_passphrase_is_not_in_the_words_of_a_policy():
    rules = decide({"DEEM_PASSWORD": "open sesame"}, address="127.0.0.1", base="/deem/")
    assert (rules.password, rules.base, rules.guards) == ("open sesame", "/deem", True)
    assert "sesame" not in repr(rules)
    assert Policy().base == ""
