"""Spellings: what is safely one label, what may be, and what never is."""

import pytest

from deem_core.votes.spelling import alike, examples, folded, headline, loosely_folded


@pytest.mark.parametrize(
    "spellings",
    [
        ("spam", "Spam", "SPAM", " spam ", "spam\u200b", "ｓｐａｍ"),
        ("not spam", "not_spam", "Not-Spam", "NOT  SPAM", "not\u00a0spam", "not–spam"),
        ("spam", "spam.", "'spam'", "“Spam”", "**spam**", "`spam`", '"Spam."', "spam!"),
        ("café", "cafe\u0301", "CAFÉ"),
    ],
)
def test_spellings_that_are_safely_one(spellings):
    assert len({folded(text) for text in spellings}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1", "-1"),
        ("01", "1"),
        ("A", "A-"),
        ("c", "c++"),
        ("spam", "spam?"),
        ("spam", "!spam"),
        ("café", "cafe"),
        ("Maße", "Masse"),
        ("*", "**"),
        ("notspam", "not spam"),
        ("1.5", "15"),
        ("x", "x2"),
    ],
)
def test_labels_that_must_stay_apart(one, other):
    assert folded(one) != folded(other)


@pytest.mark.parametrize(
    ("one", "other"), [("notspam", "not spam"), ("café", "cafe"), ("01", "1"), ("Straße", "strasse"), ("spam", "spam?")]
)
def test_what_may_be_one_is_found_by_the_loose_rule(one, other):
    assert loosely_folded(one) == loosely_folded(other)


def test_the_loose_rule_never_joins_numbers():
    assert len({loosely_folded(text) for text in ("10", "1-0", "-10", "1.0.0")}) == 4


def test_folding_twice_is_folding_once():
    for text in ("'spam.'", "**Not_Spam!**", "ﬁne - print", "A-", "İstanbul"):
        assert folded(folded(text)) == folded(text)


def test_groups_are_named_by_the_commonest_spelling():
    votes = {"ham": 3, "Spam": 5, "spam": 9, "HAM": 4, "other": 1}
    groups = alike(votes)
    assert [(group.name, group.labels) for group in groups] == [("spam", ("spam", "Spam")), ("HAM", ("HAM", "ham"))]
    assert headline(groups, votes) == "4 spellings look like 2 classes (of 5 labels)"
    assert examples(groups) == "'spam', 'Spam'; 'HAM', 'ham'"
