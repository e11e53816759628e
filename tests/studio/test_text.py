"""Spans of time, sizes and ages read the same everywhere."""

import pytest

from studio.text import ago, duration, size


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (-1, "0 s"),
        (42.4, "42 s"),
        (59.6, "1 min"),
        (185, "3 min 5 s"),
        (1230, "20 min"),
        (7800, "2 h 10 min"),
        (7200, "2 h"),
    ],
)
def test_durations(seconds, shown):
    assert duration(seconds) == shown


@pytest.mark.parametrize(
    ("bytes", "shown"), [(0, "0 bytes"), (999, "999 bytes"), (1200, "1.2 kB"), (39e6, "39 MB"), (3.44e9, "3.4 GB")]
)
def test_sizes(bytes, shown):
    assert size(int(bytes)) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(3, "just now"), (300, "5 min ago"), (3700, "1 hour ago"), (7300, "2 hours ago"), (90000, "1 day ago")],
)
def test_ages(seconds, shown):
    assert ago(seconds) == shown
