"""Foreign words stay words."""

import re

import pytest

from studio.text import percent, plain


def test_on_pages_nearly_all_is_not_all():
    assert percent(0.99999) == "99.9%"
    assert percent(1) == "100%"


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


def test_plain_leaves_out_marks_that_turn_the_direction_of_writing():
    assert plain("a\u202eb\u2066c\u200f") == "abc"
    assert plain("שלום") == "שלום"


def test_plain_leaves_the_names_of_soft_columns_alone():
    assert plain("svm:7 and tree:7").replace("\\", "") == "svm:7 and tree:7"
