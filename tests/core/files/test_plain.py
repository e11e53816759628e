"""Dataclasses as JSON: what goes out comes back, and damage is noticed."""

import json
import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from deem_core.files.plain import from_plain, to_plain


@dataclass(frozen=True)
class Inner:
    name: str
    share: float


@dataclass(frozen=True)
class Outer:
    count: int
    kind: Literal["a", "b"]
    items: tuple[Inner, ...]
    pair: tuple[float, int]
    table: dict[str, list[float | None]]
    curve: NDArray[np.float64]
    flags: NDArray[np.bool_]
    maybe: Inner | None = None
    notes: list[str] = field(default_factory=list)


OUTER = Outer(
    count=3,
    kind="a",
    items=(Inner("x", 0.5), Inner("y", math.nan)),
    pair=(1.5, 2),
    table={"one": [1.0, None]},
    curve=np.array([[1.0, np.nan], [3.0, 4.0]]),
    flags=np.array([True, False]),
)


def through_json(value):
    return json.loads(json.dumps(to_plain(value), allow_nan=False))


def test_everything_comes_back_as_it_was():
    back = from_plain(Outer, through_json(OUTER))
    assert back.items[0] == OUTER.items[0]
    assert math.isnan(back.items[1].share)
    np.testing.assert_array_equal(back.curve, OUTER.curve)
    assert back.curve.dtype == np.float64
    assert back.flags.tolist() == [True, False]
    assert back.flags.dtype == np.bool_
    for name in ("count", "kind", "pair", "table", "maybe", "notes"):
        assert getattr(back, name) == getattr(OUTER, name), name


def test_numbers_that_are_not_finite_become_null():
    assert to_plain({"a": np.float32("inf"), "b": [np.nan]}) == {"a": None, "b": [None]}


def test_unknown_keys_are_left_out_and_missing_ones_take_their_default():
    plain = {**through_json(OUTER), "newer": 1}
    del plain["maybe"], plain["notes"]
    assert from_plain(Outer, plain).maybe is None


@pytest.mark.parametrize("name", ["count", "kind", "items", "pair", "table", "curve", "flags"])
def test_a_missing_field_is_an_error(name):
    plain = through_json(OUTER)
    del plain[name]
    with pytest.raises(KeyError, match=name):
        from_plain(Outer, plain)


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("count", "three"),
        ("count", True),
        ("kind", "c"),
        ("items", {}),
        ("items", [{"name": 1, "share": 0.0}]),
        ("pair", [1.0]),
        ("table", []),
        ("maybe", "x"),
        ("notes", "x"),
    ],
)
def test_a_value_of_another_type_is_an_error(name, damage):
    with pytest.raises(TypeError):
        from_plain(Outer, {**through_json(OUTER), name: damage})
