"""The passphrase: its tries, and who is remembered."""

import hmac

import pytest

from studio.serving import passphrase
from studio.serving.passphrase import ALL, ALL_SECONDS, KEEP_SECONDS, OWN, OWN_SECONDS, Passphrase, Tries


class Clock:
    """A clock that is set by hand."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


def test_only_the_very_words_are_right_however_they_were_typed():
    gate = Passphrase("Öffne dich")
    assert gate.is_right("Öffne dich")
    assert gate.is_right("O\u0308ffne dich")  # as some systems type it
    for wrong in ("", "Öffne", "öffne dich", "Öffne dich ", "\ud800"):
        assert not gate.is_right(wrong)


def test_words_and_cookies_are_compared_in_constant_time(monkeypatch):
    compared = []

    def compare(one, other):
        compared.append((len(one), len(other)))
        return one == other

    gate = Passphrase("open sesame")
    monkeypatch.setattr(passphrase.hmac, "compare_digest", compare)
    assert not gate.is_right("o")
    assert compared == [(32, 32)]  # of hashes, whatever the length of the words
    assert not gate.remembers("1.x")
    assert len(compared) == 2


def test_a_cookie_holds_for_its_time_on_its_server_and_cannot_be_made_up():
    clock = Clock()
    gate = Passphrase("open sesame", clock)
    token = gate.token()
    assert gate.remembers(token)
    until, signature = token.split(".")
    for forged in (None, "", ".", until, f"{int(until) + 1}.{signature}", f"{until}.{'0' * 64}", token.upper(), "é.é"):
        assert not gate.remembers(forged)
    guessed = hmac.new(b"open sesame", until.encode(), "sha256").hexdigest()
    assert not gate.remembers(f"{until}.{guessed}")
    assert not Passphrase("open sesame", clock).remembers(token)
    clock.now += KEEP_SECONDS - 1
    assert gate.remembers(token)
    clock.now += 2
    assert not gate.remembers(token)


def test_an_address_has_few_tries_and_gets_more_by_and_by():
    clock = Clock()
    tries = Tries(clock)
    assert [tries.take("10.0.0.1") for _ in range(OWN)] == [0] * OWN
    assert tries.take("10.0.0.1") == pytest.approx(OWN_SECONDS)
    assert tries.take("10.0.0.2") == 0
    clock.now += OWN_SECONDS
    assert tries.take("10.0.0.1") == 0
    assert tries.take("10.0.0.1") > 0
    clock.now += 100 * OWN_SECONDS
    assert [tries.take("10.0.0.1") == 0 for _ in range(OWN + 1)] == [True] * OWN + [False]


def test_a_network_of_ipv6_addresses_is_one_address():
    tries = Tries(Clock())
    assert [tries.take(f"2001:db8::{n}") == 0 for n in range(OWN + 1)] == [True] * OWN + [False]
    assert tries.take("2001:db8:0:1::1") == 0
    tries = Tries(Clock())
    assert [tries.take(f"::ffff:10.0.0.{n}") for n in range(OWN + 1)] == [0] * (OWN + 1)


def test_all_addresses_together_have_a_limit_which_passes_and_spares_who_was_in():
    clock = Clock()
    tries = Tries(clock)
    assert tries.take("192.168.0.1") == 0
    tries.succeeded("192.168.0.1")
    strangers = [f"10.0.{n // 250}.{n % 250}" for n in range(ALL + 1)]
    assert [tries.take(each) == 0 for each in strangers] == [True] * ALL + [False]
    assert tries.take("192.168.0.1") == 0
    clock.now += ALL_SECONDS
    assert tries.take("172.16.0.1") == 0
    assert tries.take("172.16.0.2") > 0


def test_who_knows_the_words_uses_up_nothing():
    tries = Tries(Clock())
    for _ in range(3 * OWN):
        assert tries.take("10.0.0.1") == 0
        tries.succeeded("10.0.0.1")


def test_addresses_do_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr(passphrase, "MOST_ADDRESSES", 10)
    tries = Tries(Clock())
    for n in range(50):
        tries.take(f"10.0.0.{n}")
        tries.succeeded(f"10.0.0.{n}")
    assert len(tries._own) == len(tries._trusted) == 10
