"""Compilation of the kernel by numba, kept on disk.

The first compilation takes about twenty seconds, loading what it left less than one. Compiled code goes to a folder
named after the kernel's sources: numba looks only at the file of the function it loads, and functions here call those
of other files.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
import platformdirs
from numpy.typing import NDArray

Function = TypeVar("Function", bound=Callable[..., Any])

Number: TypeAlias = Any  # of the precision it is given in
Reals: TypeAlias = NDArray[np.float32]
Ints: TypeAlias = NDArray[np.int32]
Flags: TypeAlias = NDArray[np.bool_]
Spans: TypeAlias = NDArray[np.int64]
Counter: TypeAlias = NDArray[np.uint64]

FAST = {"reassoc", "contract", "arcp", "nsz", "afn"}
"""Liberties in floating point; NaN and infinity keep their meaning, since they tell of a training that broke down."""

_HERE = Path(__file__).parent


def available() -> bool:
    """Return whether numba is installed."""
    return find_spec("numba") is not None


def compiled(function: Function) -> Function:
    """Compile a function on its first call, for fixed types, without the interpreter lock."""
    return _compiled(function, forceinline=False)


def inlined(function: Function) -> Function:
    """Compile a function into those that call it.

    Each array is handed over as its address, shape and strides; with a dozen of them a call costs as much as the work.
    """
    return _compiled(function, forceinline=True)


def _compiled(function: Function, **options: Any) -> Function:
    numba: Any = import_module("numba")
    folder = cache_folder()
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(folder or "")
    try:
        # Without numba's counting of references, which would cost as much as the work: functions here take no memory.
        options |= {"nogil": True, "error_model": "numpy", "fastmath": FAST, "_nrt": False}
        made = numba.njit(cache=folder is not None, **options)(function)
    finally:
        numba.config.CACHE_DIR = before  # other code of this process has its own
    return cast(Function, made)


def compiled_before() -> bool:
    """Return whether the kernel was compiled on this machine before."""
    folder = cache_folder()
    return folder is not None and any(folder.rglob("*.nbc"))


@cache
def cache_folder() -> Path | None:
    """Return the first of the possible folders that can be written, or None.

    NUMBA_CACHE_DIR if it is set; the package's own folder; the user's cache; the folder of temporary files.
    """
    name = f"kernel-{sources_hash()}"
    wished = os.environ.get("NUMBA_CACHE_DIR")
    user = f"deem-studio-{os.getuid()}" if hasattr(os, "getuid") else "deem-studio"
    places = [
        *([Path(wished)] if wished else []),
        _HERE / "__pycache__",
        Path(platformdirs.user_cache_dir("deem-studio", appauthor=False)),
        Path(tempfile.gettempdir()) / user,
    ]
    return next((place / name for place in places if _writable(place / name)), None)


def sources_hash() -> str:
    """Return a short name for the state of the kernel's sources."""
    digest = hashlib.sha256()
    for path in sorted(_HERE.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _writable(folder: Path) -> bool:
    """Return whether files can be made in a folder, which is made if need be, for its owner alone."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if hasattr(os, "getuid") and folder.stat().st_uid != os.getuid():
            return False  # compiled code of somebody else is not run
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
