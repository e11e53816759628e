from unittest import mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from deem_core import InputError, Votes
from deem_core.votes import majority
from deem_core.votes.arrays import one_hot
from deem_core.votes.majority import break_ties, fair_hits, majority_vote


def votes(codes, n_classes=3, **fields):
    codes = np.asarray(codes)
    learners = fields.pop("learners", [f"m{j}" for j in range(codes.shape[1])])
    return Votes(codes, np.arange(n_classes), learners, **fields)


class TestFromLabels:
    def test_integers_keep_their_values_and_order(self):
        made = Votes.from_labels([[10, 2], [2, 7]])
        assert made.classes.tolist() == [2, 7, 10]
        assert made.classes.dtype == np.int64
        assert made.classes[made.codes].tolist() == [[10, 2], [2, 7]]

    def test_none_and_nan_are_missing(self):
        made = Votes.from_labels([[0, None], [np.nan, 1]])
        assert made.codes.tolist() == [[0, -1], [-1, 1]]

    def test_minus_one_is_missing_beside_non_negative_integers(self):
        assert Votes.from_labels([[0, -1], [1, 1]]).codes.tolist() == [[0, -1], [1, 1]]

    def test_minus_one_against_one_is_a_class(self):
        assert Votes.from_labels([[1, -1], [1, 1]]).classes.tolist() == [-1, 1]

    def test_booleans_stay_booleans(self):
        made = Votes.from_labels([[True, False], [True, True]])
        assert made.classes.tolist() == [False, True]
        assert made.classes.dtype == bool

    def test_text_follows_the_rules_for_files(self):
        made = Votes.from_labels(np.array([["1", " 1 "], ["1.0", "01"], ["NA", "b"]], object))
        assert made.classes.tolist() == ["01", "1", "b"]
        assert made.codes.tolist() == [[1, 1], [1, 0], [-1, 2]]

    def test_numbers_among_text_are_text(self):
        made = Votes.from_labels(np.array([["a", 1], [1.0, "b"]], object))
        assert made.classes.tolist() == ["1", "a", "b"]

    def test_fractions_are_refused_with_their_place(self):
        with pytest.raises(InputError, match=r"label 0\.5 in row 2 of learner 1 is not a whole number"):
            Votes.from_labels([[0.0, 1.0], [0.5, 1.0]])

    def test_infinity_is_refused(self):
        with pytest.raises(InputError, match="not a whole number"):
            Votes.from_labels([[0.0, 1.0], [np.inf, 1.0]])

    def test_given_classes_fix_the_codes(self):
        made = Votes.from_labels([["b", "a"]], classes=["c", "b", "a"])
        assert made.codes.tolist() == [[1, 2]]
        assert made.n_classes == 3

    def test_a_label_outside_the_given_classes_is_refused_with_its_place(self):
        with pytest.raises(InputError, match="label 'x' in row 1 of learner 2 is not among the classes"):
            Votes.from_labels([["b", "x"]], classes=["a", "b"])

    def test_truth_never_changes_the_classes(self):
        made = Votes.from_labels([["a", "b"], ["b", "b"], ["a", "a"]], truth=["a", "zebra", None])
        assert made.classes.tolist() == ["a", "b"]
        assert made.truth.tolist() == [0, 2, -1]
        assert made.truth_only.tolist() == ["zebra"]

    def test_truth_of_minus_one_is_unknown_beside_non_negative_integers(self):
        made = Votes.from_labels([[0, 1], [1, 1]], truth=[-1, 1])
        assert made.truth.tolist() == [-1, 1]
        assert made.truth_only.tolist() == []

    def test_one_class_is_refused(self):
        with pytest.raises(InputError, match="only the class 4"):
            Votes.from_labels([[4, 4], [4, 4]])

    def test_a_flat_array_is_refused(self):
        with pytest.raises(InputError, match=r"shape \(rows, learners\)"):
            Votes.from_labels([0, 1, 1])

    @pytest.mark.parametrize("array", [np.array([[1j, 2]]), np.array([["2020-01-01"] * 2], "datetime64[D]")])
    def test_labels_of_a_foreign_type_are_refused(self, array):
        with pytest.raises(InputError, match="must be integers, whole floats, booleans or text"):
            Votes.from_labels(array)


class TestOddArrays:
    def test_masked_values_are_missing(self):
        masked = np.ma.array([[0, 1], [1, 0]], mask=[[True, False], [False, False]])
        assert Votes.from_labels(masked).codes.tolist() == [[-1, 1], [1, 0]]

    def test_nan_beside_text_is_missing_whatever_the_missing_spellings(self):
        assert Votes.from_labels([["a", np.nan], ["b", "a"]], missing=["x"]).codes.tolist() == [[0, -1], [1, 0]]

    def test_missing_spellings_hold_for_numbers(self):
        assert Votes.from_labels([[0, 1, 9], [1, 0, 9]], missing=["9"]).classes.tolist() == [0, 1]

    def test_truth_in_booleans_fits_votes_in_integers_and_back(self):
        assert Votes.from_labels([[0, 1], [1, 0]], truth=[True, False]).truth.tolist() == [1, 0]
        assert Votes.from_labels([[False, True]], truth=[1]).truth.tolist() == [1]

    def test_huge_integers_are_kept_exactly(self):
        assert Votes.from_labels(np.array([[10**20, 1]], object)).classes.tolist() == ["1", str(10**20)]
        frame = pd.DataFrame({"a": [2**53, 2**53 + 1], "b": [1.0, 2.0]})
        assert Votes.from_frame(frame).n_classes == 4

    @pytest.mark.parametrize("value", [b"a", [1], {}, 1 + 2j])
    def test_values_that_are_no_labels_are_refused_with_their_place(self, value):
        labels = np.empty((1, 2), object)
        labels[0, 0], labels[0, 1] = "a", value
        with pytest.raises(InputError, match="label in row 1 of learner 'bo' is a"):
            Votes.from_labels(labels, learners=["al", "bo"])

    def test_ragged_rows_are_refused(self):
        with pytest.raises(InputError, match="not a regular table"):
            Votes.from_labels([[0, 1], [1]])
        with pytest.raises(InputError, match="regular array of numbers"):
            Votes.from_soft([[[1, 0], [1]]])

    def test_classes_that_are_the_same_label_are_refused(self):
        with pytest.raises(InputError, match="are the same label"):
            Votes.from_labels([["1", "2"]], classes=["1", "1.0", "2"])

    @pytest.mark.parametrize("ids", ["ab", 3])
    def test_ids_must_be_a_list(self, ids):
        with pytest.raises(InputError, match="flat list"):
            Votes.from_labels([[0, 1], [1, 0]], ids=ids)

    def test_a_frame_with_an_index_of_several_levels_has_readable_ids(self):
        index = pd.MultiIndex.from_tuples([(1, "a"), (2, "b")])
        made = Votes.from_frame(pd.DataFrame({"a": [0, 1], "b": [1, 1]}, index=index))
        assert list(made.ids) == ["1 / a", "2 / b"]
        assert made.content_hash

    def test_the_truth_cannot_be_a_learner_of_the_frame(self):
        with pytest.raises(InputError, match="both the truth and a learner"):
            Votes.from_frame(pd.DataFrame({"a": [0, 1], "b": [1, 1]}), learners=["a", "b"], truth="a")

    def test_partly_missing_soft_votes_are_warned_about(self):
        with pytest.warns(UserWarning, match="some but not all values missing"):
            Votes.from_soft([[[np.nan, 1.0]]])


class TestFromFrame:
    def test_columns_are_learners_and_roles_are_taken_out(self):
        frame = pd.DataFrame({"row": ["x", "y"], "a": ["cat", None], "b": ["dog", "cat"], "gold": ["cat", "cat"]})
        made = Votes.from_frame(frame, id="row", truth="gold")
        assert made.learners == ("a", "b")
        assert list(made.ids) == ["x", "y"]
        assert made.codes.tolist() == [[0, 1], [-1, 0]]
        assert made.truth.tolist() == [0, 0]

    def test_nullable_and_categorical_columns_are_read(self):
        frame = pd.DataFrame(
            {"a": pd.array([1, None, 2], "Int64"), "b": pd.Categorical([2, 1, None]), "c": [1.0, np.nan, 2.0]}
        )
        assert Votes.from_frame(frame).codes.tolist() == [[0, 1, 0], [-1, 0, -1], [1, -1, 1]]

    def test_the_index_names_the_rows(self):
        frame = pd.DataFrame({"a": [0, 1], "b": [1, 1]}, index=["p", "q"])
        assert list(Votes.from_frame(frame).ids) == ["p", "q"]

    def test_a_column_that_is_not_there_is_named(self):
        with pytest.raises(InputError, match="no column 'gold'"):
            Votes.from_frame(pd.DataFrame({"a": [0, 1], "b": [1, 1]}), truth="gold")

    def test_two_columns_of_one_name_are_refused(self):
        with pytest.raises(InputError, match="two columns named 'a'"):
            Votes.from_frame(pd.DataFrame([[0, 1], [1, 0]], columns=["a", "a"]))


class TestFromSoft:
    def test_codes_are_the_most_probable_classes_and_the_lowest_among_equals(self):
        made = Votes.from_soft([[[0.2, 0.8], [0.5, 0.5]]], classes=["n", "y"])
        assert made.codes.tolist() == [[1, 0]]
        assert made.soft.dtype == np.float32

    def test_nan_and_zeros_are_missing(self):
        made = Votes.from_soft([[[np.nan, np.nan], [0, 0], [0, 1]]])
        assert made.codes.tolist() == [[-1, -1, 1]]
        assert made.soft.tolist() == [[[0, 0], [0, 0], [0, 1]]]

    def test_sums_that_are_off_are_renormalised_with_a_warning(self):
        with pytest.warns(UserWarning, match=r"1 soft votes did not sum to 1 .*row 2"):
            made = Votes.from_soft([[[0.5, 0.5]], [[0.2, 0.2]]])
        assert made.soft[1].tolist() == [[0.5, 0.5]]

    @pytest.mark.parametrize("value", [-0.1, 1.5, np.inf])
    def test_impossible_probabilities_are_refused_with_learner_and_row(self, value):
        with pytest.raises(InputError, match=r"Learner 'b' gives the probability .* in row 2"):
            Votes.from_soft([[[0.5, 0.5]] * 2, [[0.5, 0.5], [value, 0.5]]], learners=["a", "b"])


class TestInvariants:
    def test_a_code_outside_the_classes_is_named_by_learner_and_row(self):
        with pytest.raises(InputError, match="Learner 'm1' votes for class code 3 in row 2; codes go from 0 to 2"):
            votes([[0, 1], [2, 3]])

    @pytest.mark.parametrize(
        ("change", "sentence"),
        [
            ({"learners": ["a"]}, "2 columns of votes but 1 learner names"),
            ({"learners": ["a", "a"]}, "Two learners are named 'a'"),
            ({"learners": ["a", ""]}, "Learner number 2 has an empty name"),
            ({"ids": ["x"]}, "2 rows of votes but 1 ids"),
            ({"truth": [0]}, "one entry for each of the 2 rows"),
            ({"truth": [0, 9]}, "truth of row 2 is 9"),
            ({"truth": [0.5, 1.0]}, "must be integers"),
            ({"soft": np.zeros((2, 2, 2))}, r"must have shape \(2, 2, 3\)"),
            ({"soft": np.full((2, 2, 3), 0.9)}, "'m0' in row 1 are not between 0 and 1 with sum 1"),
            ({"soft": one_hot(np.array([[0, 1], [1, 1]]), 3)}, "'m0' in row 2 is not its most probable class"),
        ],
    )
    def test_what_does_not_fit_is_refused(self, change, sentence):
        with pytest.raises(InputError, match=sentence):
            votes([[0, 1], [2, -1]], **change)

    def test_arrays_are_read_only_and_the_callers_array_is_not(self):
        codes = np.zeros((2, 2), np.int32)
        made = votes(codes)
        with pytest.raises(ValueError, match="read-only"):
            made.codes[0, 0] = 1
        codes[0, 0] = 1

    def test_repeated_classes_are_refused(self):
        with pytest.raises(InputError, match="class 'a' is listed twice"):
            Votes(np.zeros((1, 2), int), np.array(["a", "a"], object), ["x", "y"])


class TestSelection:
    made = votes([[0, 1], [2, -1], [1, 1]], ids=["x", "y", "z"], truth=[0, 2, -1])

    def test_rows_take_ids_and_truth_along(self):
        part = self.made.select_rows([2, 0])
        assert part.codes.tolist() == [[1, 1], [0, 1]]
        assert list(part.ids) == ["z", "x"]
        assert part.truth.tolist() == [-1, 0]
        assert part.n_classes == 3

    def test_rows_by_mask_and_slice_agree(self):
        mask = np.array([True, True, False])
        assert self.made.select_rows(mask).content_hash == self.made.select_rows(slice(2)).content_hash

    def test_learners_by_name_and_position_agree(self):
        assert self.made.select_learners(["m1"]).content_hash == self.made.select_learners([1]).content_hash

    @pytest.mark.parametrize("rows", [[7], [True], 1, [0.5]])
    def test_rows_that_are_not_there_are_refused(self, rows):
        with pytest.raises(InputError):
            self.made.select_rows(rows)

    def test_no_rows_are_a_selection_too(self):
        assert self.made.select_rows([]).n_rows == 0

    @pytest.mark.parametrize("learner", ["m9", 2, -3, True, 0.5])
    def test_an_unknown_learner_is_refused(self, learner):
        with pytest.raises(InputError, match="no learner"):
            self.made.select_learners([learner])

    def test_facts_are_of_the_selection(self):
        assert self.made.coverage == pytest.approx(5 / 6)
        assert self.made.select_rows([1]).coverage == 0.5

    def test_truth_can_be_taken_away(self):
        bare = self.made.without_truth()
        assert bare.truth is None
        assert bare.codes is not None


class TestFacts:
    def test_coverage_counts_votes_cast(self):
        made = votes([[0, -1], [1, -1], [1, 2]])
        assert made.coverage == pytest.approx(4 / 6)
        assert made.learner_coverage.tolist() == pytest.approx([1, 1 / 3])
        assert made.votes_per_row.tolist() == [1, 1, 2]

    def test_ties_go_to_the_lowest_class_and_are_counted(self):
        result = votes([[2, 1, -1], [1, 1, 2], [-1, -1, -1], [0, 1, 2]]).majority_vote
        assert result.codes.tolist() == [1, 1, -1, 0]
        assert result.tied.tolist() == [True, False, False, True]
        assert result.support.tolist() == [1, 2, 0, 1]
        assert result.n_tied == 2

    @given(hnp.arrays(np.int64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=8), elements=st.integers(-1, 4)))
    def test_majority_vote_equals_counting(self, codes):
        result = majority_vote(codes)
        counts = np.stack([(codes == k).sum(axis=1) for k in range(5)], axis=1)
        best = counts.max(axis=1)
        assert (result.codes == np.where(best > 0, counts.argmax(axis=1), -1)).all()
        assert (result.support == best).all()
        assert (result.tied == ((counts == best[:, None]).sum(axis=1) > 1) & (best > 0)).all()

    @given(
        hnp.arrays(np.int64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=8), elements=st.integers(-1, 4)),
        st.integers(0, 2**31),
        st.sampled_from([1, 3, 1 << 20]),
    )
    def test_ties_are_broken_and_drawn_among_the_tied_classes(self, codes, seed, block):
        rng = np.random.default_rng(seed)
        posterior, truth = rng.integers(4, size=(len(codes), 5)) / 4, rng.integers(-1, 6, size=len(codes))
        counts = np.stack([(codes == k).sum(axis=1) for k in range(5)], axis=1)
        leads = (counts == counts.max(axis=1, keepdims=True)) & (counts > 0)
        result = majority_vote(codes)
        with mock.patch.object(majority, "_BLOCK", block):
            broken, hits = break_ties(codes, result, posterior), fair_hits(codes, result, truth)
        expected = np.where(leads, posterior, -1.0).argmax(axis=1)
        assert (broken == np.where(leads.any(axis=1), expected, -1)).all()
        inside = (truth >= 0) & (truth < 5) & leads[np.arange(len(codes)), np.clip(truth, 0, 4)]
        np.testing.assert_allclose(hits, inside / np.maximum(leads.sum(axis=1), 1))

    def test_unanimous_needs_two_votes(self):
        assert votes([[1, 1], [1, -1], [-1, -1], [0, 1]]).unanimous.tolist() == [True, False, False, False]

    def test_constant_learners_are_named(self):
        assert votes([[1, 0, -1], [1, 1, 2]]).constant_learners == ("m0",)

    def test_identical_learners_are_grouped_and_silent_ones_left_out(self):
        made = votes([[1, 0, 1, 0, -1, -1], [0, 2, 0, 2, -1, -1]])
        assert made.identical_learners == (("m0", "m2"), ("m1", "m3"))

    def test_class_counts_leave_missing_votes_out(self):
        assert votes([[1, -1], [1, 0]]).class_counts.tolist() == [[0, 2, 0], [1, 0, 0]]

    def test_the_hash_sees_every_field(self):
        base = {"codes": [[0, 1], [1, 1]], "ids": ["x", "y"], "truth": [0, 1]}
        hashes = {
            votes(**base).content_hash,
            votes(**{**base, "codes": [[0, 1], [1, 0]]}).content_hash,
            votes(**{**base, "ids": ["x", "z"]}).content_hash,
            votes(**{**base, "truth": [1, 1]}).content_hash,
            votes(**{**base, "truth": None}).content_hash,
            votes(**base, n_classes=4).content_hash,
            votes(**base, learners=["a", "b"]).content_hash,
            votes(**base, soft=one_hot(np.array(base["codes"]), 3)).content_hash,
        }
        assert len(hashes) == 8
        assert votes(**base).content_hash in hashes

    def test_the_size_is_said_in_words(self):
        assert repr(votes([[0, 1]], truth=[0])) == "Votes(1 row × 2 learners × 3 classes, with truth)"
