"""Foreign words stay words, and numbers read the same everywhere."""

import re

import pytest

from studio.text import count, percent, plain


@pytest.mark.parametrize(
    ("share", "shown"),
    [(0, "0 %"), (1, "100 %"), (0.811, "81.1 %"), (0.16, "16.0 %"), (1e-9, "0.1 %"), (0.99999, "99.9 %")],
)
def test_percent(share, shown):
    assert percent(share) == shown


def test_percent_of_nothing_is_a_dash():
    assert percent(float("nan")) == "–"


def test_count():
    assert count(1234) == "1,234"
    assert count(1, "row") == "1 row"
    assert count(2, "class", "classes") == "2 classes"


def test_plain_escapes_markdown_and_keeps_the_words():
    words = "*a* _b_ [c](d) `e` $f$ <g> :red[h] # i\n\n- j"
    shown = plain(words)
    assert re.sub(r"\\(.)", r"\1", shown) == " ".join(words.split())
    assert not re.search(r"(?<!\\)[*_\[\]`$<>#]", shown)


@pytest.mark.parametrize(
    "words", ["http://a.org", "HTTPS://a.org", "www.a.org", "me@a.org", ":material/home:", ":smile:"]
)
def test_plain_keeps_links_and_icons_from_coming_to_life(words):
    assert words not in plain(words).replace("\\", "")


def test_plain_leaves_the_names_of_soft_columns_alone():
    assert plain("svm:7 and tree:7").replace("\\", "") == "svm:7 and tree:7"
