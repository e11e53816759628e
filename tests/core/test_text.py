import pytest

from deem_core.text import age, ago, clip, count, duration, listing, moment, number, percent, quoted, size

NAN = float("nan")


def test_counts_have_separators_and_the_plural_of_their_noun():
    assert count(1234) == "1,234"
    assert count(1, "row") == "1 row"
    assert count(0, "row") == "0 rows"
    assert count(2, "class", "classes") == "2 classes"


@pytest.mark.parametrize(
    ("share", "plainly", "carefully"),
    [
        (0, "0.0%", "0%"),
        (1, "100.0%", "100%"),
        (0.811, "81.1%", "81.1%"),
        (0.16, "16.0%", "16.0%"),
        (1e-9, "0.0%", "0.1%"),
        (0.99999, "100.0%", "99.9%"),
        (NAN, "–", "–"),
        (None, "–", "–"),
    ],
)
def test_shares(share, plainly, carefully):
    assert percent(share) == plainly
    assert percent(share, careful=True) == carefully


def test_shares_have_as_many_decimals_as_asked_for():
    assert percent(0.12345, 0) == "12%"
    assert percent(0.12345, 2) == "12.35%"
    assert percent(0.999999, 2, careful=True) == "99.99%"


def test_numbers_keep_three_digits():
    assert number(0.0123456) == "0.0123"
    assert number(None) == "–"


@pytest.mark.parametrize(
    ("bytes", "shown"), [(0, "0 bytes"), (999, "999 bytes"), (1200, "1.2 kB"), (39e6, "39 MB"), (3.44e9, "3.4 GB")]
)
def test_sizes(bytes, shown):
    assert size(int(bytes)) == shown


def test_long_text_ends_in_an_ellipsis():
    assert clip("abcdef", 6) == "abcdef"
    assert clip("abcdefg", 6) == "abcde…"


def test_names_are_listed_up_to_a_few():
    assert listing([]) == ""
    assert listing(["a", "b"], 2) == "a, b"
    assert listing("abcd", 2) == "a, b and 2 more"
    assert listing("abcd", 2, rest="others") == "a and 3 others"


def test_names_of_a_file_stand_in_quotation_marks_and_are_never_long():
    assert quoted(["it's", "b", "c"], 2) == "\"it's\", 'b' and 1 more"
    assert len(quoted(["x" * 100])) == 62


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
    ("seconds", "shown", "shortly"),
    [
        (3, "just now", "3 s"),
        (-1, "just now", "0 s"),
        (300, "5 min ago", "5 min"),
        (3700, "1 hour ago", "1 h"),
        (7300, "2 hours ago", "2 h"),
        (90000, "1 day ago", "1 d"),
    ],
)
def test_ages(seconds, shown, shortly):
    assert ago(seconds) == shown
    assert age(seconds) == shortly


def test_moments_are_in_utc():
    assert moment(0) == "1970-01-01 00:00 UTC"
    assert moment(None) == "–"
