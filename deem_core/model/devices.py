"""Devices of this machine, and the one that a setting means.

Torch takes a second and much memory to import, so it is imported only where it is asked.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from deem_core.engine import cores
from deem_core.errors import InputError, missing_torch, torch_wanted
from deem_core.model.passport import has_passed, torch_version

if TYPE_CHECKING:
    import torch

NAME = re.compile(r"(cpu|mps|cuda)(?::(\d{1,2}))?")
"""Names of devices, such as cuda:1."""

UNCHECKED = ", not checked yet"
"""Said of an Apple GPU without a passport."""


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


def cpu() -> Device:
    """Return the processor, which is always there."""
    return Device("cpu", "Processor", threads=cores())


def devices() -> list[Device]:
    """Return every place to train, the one that "auto" would choose first.

    Without PyTorch that is the processor alone.
    """
    if missing_torch():
        return [cpu()]
    import torch  # noqa: PLC0415

    gpus = []
    for at in range(torch.cuda.device_count()):
        free, total = torch.cuda.mem_get_info(at)
        gpus.append(Device(f"cuda:{at}", torch.cuda.get_device_name(at), memory=total, free_memory=free))
    if not torch.backends.mps.is_available():
        return [*gpus, cpu()]
    apple = _apple_gpu()
    if has_passed("mps", apple.title):
        return [*gpus, apple, cpu()]
    return [*gpus, cpu(), replace(apple, title=f"{apple.title}{UNCHECKED}")]


def _apple_gpu() -> Device:
    import torch  # noqa: PLC0415

    name = getattr(torch.backends.mps, "get_name", lambda: "Apple GPU")()  # not in every version
    total = torch.mps.recommended_max_memory()
    return Device("mps", name, memory=total, free_memory=total - torch.mps.driver_allocated_memory())


def pick_device(wish: str) -> torch.device:
    """Return the device that a setting means.

    "auto" takes CUDA, else Apple's GPU if it has passed ``make gpu-check``, else the CPU.

    Raises
    ------
    InputError
        If there is no such device here.
    MissingPackageError
        If PyTorch is not installed.
    """
    with torch_wanted():
        import torch  # noqa: PLC0415

    if wish != "auto":
        expected_device(wish)  # refuses what is no name of a device
        device = torch.device(wish)
        missing = (device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count()) or (
            device.type == "mps" and not torch.backends.mps.is_available()
        )
        if missing:
            raise InputError(f"There is no device {wish!r} on this machine. Choose another one, or auto.")
        return device
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device(devices()[0].name)


def free_bytes(device: torch.device) -> int | None:
    """Return the bytes still free on a GPU; None for a CPU."""
    import torch  # noqa: PLC0415

    if device.type == "cuda":
        kept = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)  # by torch, and free to use
        return torch.cuda.mem_get_info(device)[0] + kept
    if device.type == "mps":
        return torch.mps.recommended_max_memory() - torch.mps.current_allocated_memory()
    return None


def release(device: torch.device) -> None:
    """Give the memory back that torch keeps on a GPU for later."""
    import torch  # noqa: PLC0415

    if device.type == "cuda":
        with torch.cuda.device(device):
            torch.cuda.empty_cache()
    elif device.type == "mps":
        torch.mps.empty_cache()


def upload(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Return a tensor of the CPU on a device.

    CUDA copies from pinned memory while it computes. Elsewhere the copy is waited for: only then may the memory it
    comes from be used again.
    """
    if device.type == "cuda":
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)


def expected_device(wish: str) -> str:
    """Return the device that `pick_device` will most likely pick, without torch.

    Returns
    -------
    str
        "cpu", "mps", "cuda" or "cuda:1".

    Raises
    ------
    InputError
        If it is not the name of a device.
    """
    name = likely_device() if wish == "auto" else wish
    if not NAME.fullmatch(name):
        raise InputError(f"There is no device {name[:40]!r}; it is one of auto, cpu, cuda, cuda:1 and mps.")
    return "cuda" if name == "cuda:0" else name


def likely_device() -> str:
    """Return the device that torch will most likely choose, found without torch.

    A wrong guess does no harm but to let a run wait in another queue than it should.
    """
    if platform.system() == "Darwin":
        return "mps" if platform.machine() == "arm64" and has_passed("mps") else "cpu"
    hidden = os.environ.get("CUDA_VISIBLE_DEVICES", "all").strip() in ("", "-1")
    if hidden or not torch_version() or torch_version().endswith("+cpu"):
        return "cpu"
    return "cuda" if os.path.exists("/dev/nvidia0") or shutil.which("nvidia-smi") else "cpu"
