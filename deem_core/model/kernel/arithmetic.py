"""Numbers of the kernel: exponentials, and random numbers by counting."""

from __future__ import annotations

from typing import Any

import numpy as np

from deem_core.model.kernel.compilation import Counter, Number, inlined

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_30, _27, _31, _11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
_UNIT = 2.0**-53

_LOG2E, _LN2_HIGH, _LN2_LOW = np.float32(1.44269504), np.float32(0.693359375), np.float32(-2.12194440e-4)
_LOWEST, _HIGHEST = np.float32(-87.0), np.float32(88.0)
_C5, _C4, _C3 = np.float32(1.9875691500e-4), np.float32(1.3981999507e-3), np.float32(8.3334519073e-3)
_C2, _C1, _C0 = np.float32(4.1665795894e-2), np.float32(1.6666665459e-1), np.float32(5.0000001201e-1)
_HALF, _ONE = np.float32(0.5), np.float32(1.0)


@inlined
def exponential(x: Number) -> Number:
    """Return exp(x) in float32 to one part in 1e7, between exp(−87) and exp(88).

    Cephes' polynomial; unlike the library's function, loops over it use vector instructions.
    """
    x = min(max(x, _LOWEST), _HIGHEST)
    whole = np.floor(x * _LOG2E + _HALF)
    rest = x - whole * _LN2_HIGH - whole * _LN2_LOW
    value = ((((_C5 * rest + _C4) * rest + _C3) * rest + _C2) * rest + _C1) * rest + _C0
    value = value * rest * rest + rest + _ONE
    return value * (np.int32((np.int32(whole) + np.int32(127)) << np.int32(23))).view(np.float32)


@inlined
def mixed(state: Any) -> Any:
    """Return the bits of a counter well mixed (splitmix64)."""
    state = (state ^ (state >> _30)) * _FIRST
    state = (state ^ (state >> _27)) * _SECOND
    return state ^ (state >> _31)


@inlined
def uniform(counter: Counter) -> Number:
    """Return a number in [0, 1) from a one-element counter (1,), and count on."""
    counter[0] += GOLDEN
    return (mixed(counter[0]) >> _11) * _UNIT
