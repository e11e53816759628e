import pyarrow as pa
import pytest

from deem_core.votes.labels import DEFAULT, LabelColumn, MissingRule, canonical_text, code_columns, natural_order


def column(*cells: str, name: str = "m") -> LabelColumn:
    return LabelColumn.from_text(name, pa.chunked_array([pa.array(cells, pa.string())]))


@pytest.mark.parametrize(
    "spelling", ["1", " 1 ", "1.0", "1.", "+1", "1.000000000000000000e+00", "\u00a01", "10e-1", "0.1e1"]
)
def test_spellings_of_the_number_one_are_one_label(spelling):
    assert canonical_text(spelling) == "1"


@pytest.mark.parametrize(
    ("spelling", "key"),
    [
        ("01", "01"),
        ("007", "007"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("1.50", "1.5"),
        (".5", "0.5"),
        ("-.50", "-0.5"),
        ("1E-3", "0.001"),
        ("1e400", "1e400"),
        ("e5", "e5"),
        (".csv", ".csv"),
        (".", "."),
        ("1.0.0", "1.0.0"),
        ("1_000", "1_000"),
        ("Cat", "Cat"),
        (" New York ", "New York"),
    ],
)
def test_only_true_numbers_are_respelled(spelling, key):
    assert canonical_text(spelling) == key


def test_order_is_numeric_for_numbers_and_alphabetic_for_text():
    labels = ["10", "b", "9", "A", "1.5", "-1", "a", "B", "01", "1"]
    assert natural_order(labels) == ["-1", "01", "1", "1.5", "9", "10", "A", "a", "B", "b"]


def test_a_label_is_given_back_in_its_most_frequent_spelling():
    coding = code_columns([column("1.0", "2", "1.0"), column("1", "2.0", "1.0")])
    assert coding.classes == ("1.0", "2")
    assert coding.codes.tolist() == [[0, 0], [1, 1], [0, 0]]
    assert coding.merged == {"1.0": ("1",), "2": ("2.0",)}


@pytest.mark.parametrize("token", ["", "  ", "NA", "n/a", "NaN", "NULL", "None", "?", "-"])
def test_usual_tokens_are_missing_in_any_case(token):
    assert code_columns([column("a", token, "b")]).codes[:, 0].tolist() == [0, -1, 1]


def test_minus_one_is_missing_beside_two_non_negative_integers():
    coding = code_columns([column("-1", "0", "1"), column("0", "-1.0", "1")])
    assert coding.minus_one_is_missing
    assert coding.classes == ("0", "1")
    assert coding.missing == {"-1": 1, "-1.0": 1}


@pytest.mark.parametrize("cells", [("-1", "1", "1"), ("-1", "1", "a"), ("-1", "0.5", "1"), ("-1", "-2", "1")])
def test_minus_one_is_a_class_where_the_others_are_not_two_non_negative_integers(cells):
    coding = code_columns([column(*cells)])
    assert not coding.minus_one_is_missing
    assert "-1" in coding.classes


def test_own_missing_spellings_replace_the_usual_ones_and_the_rule_for_minus_one():
    coding = code_columns([column("-1", "0", "1", "NA", "ABSTAIN", "")], missing=["abstain"])
    assert coding.classes == ("-1", "0", "1", "NA")
    assert coding.codes[:, 0].tolist() == [0, 1, 2, 3, -1, -1]
    assert MissingRule.of("abstain") == MissingRule.of(["abstain"])
    assert MissingRule.of(DEFAULT) is DEFAULT


def test_a_column_with_too_many_different_cells_is_not_looked_at_as_labels():
    wide = column(*(f"text {at}" for at in range(30_000)))
    assert wide.too_many
    assert wide.keys == ()
