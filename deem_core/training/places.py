"""Place: where the pieces of a training run, and on which device."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch

from deem_core.engine import Crew, Engine, cores, engine_of
from deem_core.errors import InputError
from deem_core.model.devices import expected_device, pick_device, release

CPU = torch.device("cpu")


@dataclass(frozen=True)
class Place:
    """An engine and the devices that compute.

    Attributes
    ----------
    engine : Engine
    device : torch.device
        Of the pieces, wherever they run.
    home : torch.device
        Of this process, which judges what they bring.
    """

    engine: Engine
    device: torch.device
    home: torch.device

    @classmethod
    def of(cls, wish: str = "auto", on: str | Engine | None = None) -> Place:
        """Return the place that the settings ``device`` and ``on`` mean.

        Raises
        ------
        InputError
            If there is no such engine, or no such device there.
        """
        engine = engine_of(on)
        if not engine.remote:
            device = pick_device(wish)
            return cls(engine, device, device)
        return cls(engine, torch.device(_shared_out(wish, engine)), CPU)

    @property
    def at_once(self) -> int:
        """Pieces that run at the same time."""
        on_cpu = self.device.type == "cpu"
        if not self.engine.remote:
            return cores() if on_cpu else 1
        return max(1, int(sum(node.cores if on_cpu else node.gpus for node in self.engine.nodes())))

    @property
    def title(self) -> str:
        """What people call it."""
        if not self.engine.remote:
            return self.device.type
        return f"the {'CPUs' if self.device.type == 'cpu' else 'GPUs'} of a Ray cluster"

    @contextmanager
    def crew(self) -> Iterator[Crew]:
        """Yield a crew.

        Memory of a GPU is given back at the end.

        Torch works outside the interpreter lock, and one thread per core, each with its own piece, beats several
        threads inside the small operations of one piece: so operations get one thread each meanwhile.
        """
        before = torch.get_num_threads()
        if self.home.type == "cpu":
            torch.set_num_threads(1)
        try:
            with self.engine.crew(gpu=self.device.type != "cpu") as crew:
                yield crew
        finally:
            torch.set_num_threads(before)
            release(self.home)


def arrive(device: str) -> torch.device:
    """Return the device of a piece, on the machine where it runs.

    There too an operation gets one thread: with others it would add up its numbers in another order.
    """
    if device == "cpu" and torch.get_num_threads() > 1:
        torch.set_num_threads(1)
    return pick_device(device)


def _shared_out(wish: str, engine: Engine) -> str:
    """Return the device of pieces on other machines.

    Raises
    ------
    InputError
        If they have none such.
    """
    name = ("cuda" if engine.gpus else "cpu") if wish == "auto" else expected_device(wish)
    if name not in ("cpu", "cuda"):
        raise InputError(
            f"The device {name} is one of this machine. On {engine.wish} the device is cpu or cuda, and the cluster "
            "chooses which GPU; or leave the device out."
        )
    if name == "cuda" and not engine.gpus:
        raise InputError(f"No machine of {engine.wish} offers a GPU: choose device cpu, or leave the device out.")
    return name
