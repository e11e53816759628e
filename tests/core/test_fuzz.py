"""A small sample of `make fuzz`: generated files, nearly right, and nothing but read files and sentences."""

import pytest

from tests.fuzz.__main__ import Tally, run
from tests.fuzz.cases import KINDS, LONGEST, case, format_case, outcome

SEED = 23
FOUND = {
    32: "a Parquet name that is no text",
    45: "the same in a label file",
    615: "a model's settings of another kind",
    619: "a model without a device",
    1072: "a model without a seed",
    1705: "a seed that is a text",
    9686: "UTF-16 without a mark, read in parts",
    9954: "Parquet numbers beyond their dictionary",
    13140: "half a character in the name of a field",
    15193: "Parquet numbers beyond an empty dictionary",
}
"""Numbers of files that broke something once → what it was."""


def test_a_sample_of_generated_files_ends_in_sentences():
    tally = Tally()
    run(SEED, range(250), tally)
    assert tally.problems == []
    assert {kind for kind, _ in tally.files} == set(KINDS)
    nearly = sum(count for (_, near), count in tally.files.items() if near)
    assert nearly > 125
    assert tally.depths_nearly["accepted"] + tally.depths_nearly["late"] > nearly / 2


def test_a_sample_of_files_of_other_programs_ends_in_sentences():
    accepted = 0
    for number in range(150):
        depth, error = outcome(format_case(SEED, number))
        accepted += depth == "accepted"
        assert error is None or len(str(error)) <= LONGEST, number
    assert accepted > 40


@pytest.mark.parametrize("number", FOUND, ids=FOUND.values())
def test_what_broke_once_does_not_break_again(number):
    depth, error = outcome(case(SEED, number))
    assert depth in {"accepted", "late", "first"}
    assert error is None or len(str(error)) <= 500


def test_a_number_makes_the_same_file_always():
    assert case(SEED, 7) == case(SEED, 7)
    assert case(SEED, 7).data != case(SEED + 1, 7).data
