"""Dataclasses as plain JSON values, and back.

Arrays become lists, and numbers that are not finite become null, which reads back as NaN where a float is wanted.
Reading is strict: a value of another type than the field's annotation is a `TypeError`, so that damage is noticed
where it is read. Keys that the dataclass does not know are left out, because newer versions add keys.
"""

from __future__ import annotations

import math
import types
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import numpy as np

T = TypeVar("T")


def to_plain(value: Any) -> Any:
    """Return a value as JSON knows it."""
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: to_plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, dict):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_plain(item) for item in value]
    if hasattr(value, "tolist"):  # NumPy arrays and scalars
        return to_plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def from_plain(kind: type[T], value: Any) -> T:
    """Return the value of a type that `to_plain` made plain.

    The type is usually a dataclass.

    Raises
    ------
    KeyError
        If a field without a default is missing.
    TypeError
        If a value does not fit the annotation of its field.
    """
    return cast(T, _read(kind, value, kind.__name__))


def _read(kind: Any, value: Any, place: str) -> Any:  # noqa: PLR0911  # one answer for each kind of annotation
    if kind is Any:
        return value
    origin = get_origin(kind)
    if is_dataclass(kind):
        return _read_dataclass(cast(type[Any], kind), value, place)
    if origin in (Union, types.UnionType):
        return _read_union(get_args(kind), value, place)
    if origin is Literal:
        if value not in get_args(kind):
            raise TypeError(f"{place} is {value!r}, not one of {get_args(kind)}")
        return value
    if origin in (list, tuple, dict):
        return _read_container(origin, get_args(kind), value, place)
    if origin is np.ndarray:
        return _read_array(kind, value)
    if kind is float and value is None:
        return math.nan
    wanted = (int, float) if kind is float else kind
    if not isinstance(value, wanted) or (isinstance(value, bool) and kind is not bool):
        raise TypeError(f"{place} is a {type(value).__name__}, not a {getattr(kind, '__name__', kind)}")
    return float(value) if kind is float else value


def _read_dataclass(kind: type[Any], value: Any, place: str) -> Any:
    if not isinstance(value, dict):
        raise TypeError(f"{place} is a {type(value).__name__}, not an object")
    hints, arguments = _hints(cast(Any, kind)), {}
    for item in fields(kind):
        if item.name in value:
            arguments[item.name] = _read(hints[item.name], value[item.name], f"{place}.{item.name}")
        elif item.default is MISSING and item.default_factory is MISSING:
            raise KeyError(f"{place}.{item.name}")
    return kind(**arguments)


def _read_union(choices: tuple[Any, ...], value: Any, place: str) -> Any:
    if value is None and type(None) in choices:
        return None
    problem = TypeError(f"{place} has no type")
    for choice in choices:
        if choice is not type(None):
            try:
                return _read(choice, value, place)
            except TypeError as error:
                problem = error
    raise problem


def _read_container(origin: Any, arguments: tuple[Any, ...], value: Any, place: str) -> Any:
    if origin is dict:
        if not isinstance(value, dict):
            raise TypeError(f"{place} is a {type(value).__name__}, not an object")
        inner = arguments[1] if arguments else Any
        return {key: _read(inner, item, f"{place}.{key}") for key, item in value.items()}
    if not isinstance(value, list):
        raise TypeError(f"{place} is a {type(value).__name__}, not a list")
    if origin is list or (len(arguments) == 2 and arguments[1] is Ellipsis):
        inner = arguments[0] if arguments else Any
        return origin(_read(inner, item, f"{place}[{at}]") for at, item in enumerate(value))
    if len(value) != len(arguments):
        raise TypeError(f"{place} has {len(value)} items, not {len(arguments)}")
    return tuple(_read(inner, item, place) for inner, item in zip(arguments, value, strict=True))


def _read_array(kind: Any, value: Any) -> Any:
    """Return a list as an array of the annotation's type.

    Null is NaN.
    """
    scalar = get_args(get_args(kind)[1])[0]
    if scalar is Any or not isinstance(scalar, type) or not issubclass(scalar, np.generic):
        return np.asarray(value)
    if issubclass(scalar, np.floating):
        return np.array(value, np.float64).astype(scalar)  # float64 first: None becomes NaN
    return np.array(value, scalar)


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(cast(Any, kind))
