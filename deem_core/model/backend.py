"""Backend of a training: torch, or the compiled kernel on a CPU."""

from __future__ import annotations

import logging
import platform
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from threading import Event, Thread
from typing import TYPE_CHECKING

from deem_core.control import NO_CONTROL, Control, Stopped
from deem_core.engine import threads
from deem_core.errors import InputError
from deem_core.model.config import GIVEN, Settings, Shape
from deem_core.model.kernel import compilation

if TYPE_CHECKING:
    from deem_core.model.energy import Model
    from deem_core.model.kernel.engine import Engine

STEP = "Compiling the training kernel (once on this machine, about half a minute)"
"""What is being done, for those who are told."""

SMALL_WORK = 10_000_000
"""Restarts × updates × cells of a batch up to which torch is done before the kernel is loaded."""

TOO_SMALL = "there is too little to do for the compiled kernel to pay off"
"""Why torch trains on a CPU that could have the kernel."""

SMALL_BATCH = 20_000
"""Cells of a batch (rows × learners × classes) that torch takes as long for as for fewer."""

DENSE_UNITS = 500
"""Units of a dense layer (softmax) from which on torch's products are quicker."""

BARE_CLASSES = 300
"""Classes from which on, without layers, torch's products are quicker."""

_ALL = 2**64 - 1
_LOADED = Event()  # the kernel, by this process
_PATIENCE = 0.2  # seconds between two questions whether to stop


def with_backend(settings: Settings, shape: Shape, device_type: str, *, trainings: int | None = None) -> Settings:
    """Return settings with the backend chosen by device and size.

    The choice looks at sizes alone, so that the same seed gives the same labels wherever numba is installed.

    Parameters
    ----------
    settings : Settings
        Resolved.
    shape : Shape
    device_type : str
        Such as "cpu" or "cuda".
    trainings : int, optional
        How many there will be; the restarts by default.

    Raises
    ------
    InputError
        If the backend that was asked for cannot be had.
    """
    config = settings.config
    if config.backend == "auto":
        backend, reason = _choice(settings, shape, device_type, trainings or config.restarts)
        return Settings(replace(config, backend=backend), {**settings.reasons, "backend": reason})
    if config.backend == "numba" and device_type != "cpu":
        raise InputError(f"The numba backend computes on the CPU, not on {device_type}: choose device cpu, or torch.")
    if config.backend == "numba" and not compilation.available():
        raise InputError("numba is not installed: install it (pip install numba), or choose the backend torch.")
    return Settings(config, {**settings.reasons, "backend": GIVEN})


def _choice(settings: Settings, shape: Shape, device_type: str, trainings: int) -> tuple[str, str]:
    config = settings.config
    if device_type != "cpu":
        return "torch", f"it trains on {device_type}"
    if not compilation.available():
        return "torch", "numba is not installed"
    units = shape.n_learners * shape.n_classes
    cells = max(int(config.batch_size or 1) * units, SMALL_BATCH)
    if trainings * int(config.updates or 1) * cells < SMALL_WORK:
        return "torch", TOO_SMALL
    if config.n_layers and config.activation == "softmax" and units > DENSE_UNITS:
        return "torch", f"softmax layers of {units:,} units are dense"
    if not config.n_layers and shape.n_classes >= BARE_CLASSES:
        return "torch", f"{shape.n_classes:,} classes without layers are dense"
    return "numba", "the compiled kernel is several times faster on a CPU"


def prepare(settings: Settings, control: Control = NO_CONTROL) -> Settings:
    """Load the kernel if it is wished for.

    Where it must be compiled first, that is told. Where it cannot be compiled, torch trains instead, unless the kernel
    was asked for.

    Raises
    ------
    InputError
        If it was asked for and cannot be compiled.
    """
    if settings.config.backend != "numba":
        return settings
    if not compilation.compiled_before():
        control.tell(STEP, 0.0)
        if type(control) is Control:  # nobody listens
            logging.getLogger(__name__).warning("%s", STEP)
    try:
        _compile(control)
    except Stopped:
        raise
    except Exception as error:  # whatever a compiler may have against this machine
        reason = f"the training kernel could not be compiled here ({type(error).__name__})"
        if settings.reasons["backend"] == GIVEN:
            raise InputError(f"{reason[0].upper()}{reason[1:]}: choose the backend torch.") from error
        return Settings(replace(settings.config, backend="torch"), {**settings.reasons, "backend": reason})
    return settings


def require(settings: Settings, control: Control = NO_CONTROL) -> None:
    """Load the kernel for a piece, if it trains by it.

    Other pieces train by it, so no other backend may take its place.

    Raises
    ------
    InputError
        If it cannot be had.
    """
    if settings.config.backend != "numba" or _LOADED.is_set():
        return
    given = Settings(settings.config, {**settings.reasons, "backend": GIVEN})
    try:
        prepare(given, control)
    except InputError as error:
        raise InputError(
            f"The machine {platform.node() or 'at work'} cannot train as the others do. {error} Or install DEEM Studio "
            "there as on the other machines; all pieces of a training take the same backend."
        ) from error


def _compile(control: Control) -> None:
    """Load or compile the kernel in a thread.

    A wish to stop is heard meanwhile.
    """
    failures: list[Exception] = []

    def work() -> None:
        try:
            from deem_core.model.kernel.engine import warm_up  # noqa: PLC0415

            warm_up()
        except Exception as error:  # handed on
            failures.append(error)

    thread = Thread(target=work, name="compiler", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_PATIENCE)
        control.check()
    if failures:
        raise failures[0]
    _LOADED.set()


def crew(trainings: int) -> Executor | None:
    """Return threads that share the rows of a batch.

    None where trainings at once, a thread each, keep all cores busy: sharing out rows costs more than it gives then.
    How many threads there are changes no result.
    """
    many = threads()
    return _crew(many) if trainings < many else None


@cache
def _crew(many: int) -> Executor:
    return ThreadPoolExecutor(many, "kernel")


def make_engine(model: Model, crew: Executor | None) -> Engine:
    """Return models in the kernel's memory.

    numba is loaded only here.
    """
    from deem_core.model.kernel.engine import Engine  # noqa: PLC0415

    return Engine(model, crew)


def number_key(*numbers: int) -> int:
    """Return the key of the kernel's random numbers.

    For some numbers, such as seed and update.
    """
    key = 0
    for number in numbers:  # splitmix64's mixing, number by number
        key = (key + number + 0x9E3779B97F4A7C15) & _ALL
        key = ((key ^ (key >> 30)) * 0xBF58476D1CE4E5B9) & _ALL
        key = ((key ^ (key >> 27)) * 0x94D049BB133111EB) & _ALL
        key ^= key >> 31
    return key
