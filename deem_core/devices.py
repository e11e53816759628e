"""Devices: where models can be trained on this machine, as torch sees it."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Device:
    """A place to train.

    Attributes
    ----------
    name : str
        What the ``device`` setting calls it, such as "cuda:0" or "cpu".
    title : str
        What people call it.
    threads : int, optional
        Cores, of a CPU.
    memory, free_memory : int, optional
        Bytes, of a GPU.
    """

    name: str
    title: str
    threads: int | None = None
    memory: int | None = None
    free_memory: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def cores() -> int:
    """Return how many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1


def cpu() -> Device:
    """Return the processor, which is always there."""
    return Device("cpu", "Processor", threads=cores())


def devices() -> list[Device]:
    """Return every place to train, the one that "auto" would choose first."""
    import torch  # noqa: PLC0415  # takes a second, and only this needs it

    found = []
    for at in range(torch.cuda.device_count()):
        free, total = torch.cuda.mem_get_info(at)
        found.append(Device(f"cuda:{at}", torch.cuda.get_device_name(at), memory=total, free_memory=free))
    if torch.backends.mps.is_available():
        found.append(Device("mps", "Apple GPU"))
    return [*found, cpu()]
