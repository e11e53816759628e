"""The map from labels to classes."""

import pytest

from deem_core import InputError
from deem_core.votes.label_map import AS_SPELLED, LabelMap


def test_without_names_labels_stay_as_they_are():
    assert [AS_SPELLED.key(text) for text in ("Spam", " spam", "1.0", "01")] == ["Spam", "spam", "1", "01"]


def test_mapping_twice_is_mapping_once():
    labels = LabelMap.of({"0": "Ham", "1": "Spam", "junk": "Spam", "maybe": None}, merge_spellings=True)
    for text in ("0", "HAM", "1.0", "Junk", "spam", "other", "NA"):
        assert labels.key(labels.key(text)) == labels.key(text)
    assert labels.key("Maybe") == ""


@pytest.mark.parametrize(
    ("labels", "merge", "said"),
    [
        ({"1": "2", "2": "1"}, False, "is itself a label with another name"),
        ({"a": "b", "b": ""}, False, "is itself a label that is not used"),
        ([("a", "x"), ("a", "y")], False, "two names, 'x' and 'y'"),
        ([("Spam", "x"), ("SPAM", "y")], True, "(like 'Spam') is given two names"),
        ({"0": "none"}, False, 'means "no vote" in this file'),
        ({"": "x"}, False, "An empty cell is no label"),
        (["spam"], False, "pairs of a label and its name"),
    ],
)
def test_names_that_contradict_each_other_are_refused(labels, merge, said):
    with pytest.raises(InputError) as caught:
        LabelMap.of(labels, merge_spellings=merge)
    assert said in str(caught.value)


def test_a_sign_for_no_vote_keeps_its_meaning_unless_it_is_named():
    assert LabelMap.of(merge_spellings=True).key("None.") == ""
    assert LabelMap.of(merge_spellings=True).key("N/A") == "N/A"
    assert LabelMap.of({"NA": "Namibia"}).key("NA") == "Namibia"


def test_a_map_that_knows_classes_spells_them_as_they_are():
    labels = LabelMap.of(merge_spellings=True).knowing(["Not Spam", "HAM"])
    assert labels.name(labels.key("not_spam")) == "Not Spam"
    assert labels.name(labels.key("ham")) == "HAM"
    assert AS_SPELLED.knowing(["HAM"]).plain


def test_the_options_make_the_same_map_again():
    labels = LabelMap.of({"1": "spam", "0": "ham"}, merge_spellings=True)
    assert LabelMap.of(**labels.to_options()) == labels
    assert labels.to_options() == {"merge_spellings": True, "labels": [["1", "spam"], ["0", "ham"]]}
