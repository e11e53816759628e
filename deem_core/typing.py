"""Array types: the names that signatures use for NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int32]
"""Class indices, -1 for none."""

Integers = NDArray[np.integer[Any]]
"""Whole numbers of any width: what functions accept where they make `Codes` or count."""

Floats = NDArray[np.float64]

Posterior = NDArray[np.floating[Any]]
"""(n, K) class probabilities of either precision."""

Mask = NDArray[np.bool_]

Labels = NDArray[Any]
"""Original label values."""

Rows = NDArray[np.integer[Any]] | NDArray[np.floating[Any]]
"""What a model reads of n rows: (n, d) class codes, or (n, d, K) probabilities."""
