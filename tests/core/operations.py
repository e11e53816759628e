"""Watch over the operations of an update, on a device that holds no numbers."""

import weakref
from collections import Counter

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

META = torch.device("meta")

READS = {"_local_scalar_dense", "nonzero", "masked_select", "unique_dim", "_unique2", "equal", "item", "is_nonzero"}
"""Operations whose result the processor has to wait for."""


class Watch(TorchDispatchMode):
    """Counts what a GPU would be asked to do; fails where it would have to be waited for.

    Attributes
    ----------
    counts : Counter
        Operations on the device by name. Views are none: they start nothing there.
    uploads : int
        Copies from the processor to the device.
    bytes, peak : int
        Storage on the device that was made under watch: now, and at most.
    """

    def __init__(self):
        super().__init__()
        self.counts, self.uploads, self.bytes, self.peak = Counter(), 0, 0, 0
        self._seen = set()

    @property
    def operations(self):
        return sum(self.counts.values())

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        given = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        older = {tensor.untyped_storage()._cdata for tensor in given}
        result = operation(*args, **(kwargs or {}))
        made = [leaf for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor)]
        name = operation.overloadpacket.__name__
        before, after = ({tensor.device.type for tensor in tensors} for tensors in (given, made))
        if "meta" not in before | after:
            return result  # the processor on its own
        assert name not in READS, f"{name} waits for the device"
        assert not ("meta" in before and "cpu" in after), f"{name} copies to the processor"
        assert not any(tensor.device.type == "meta" and tensor.dtype == torch.float64 for tensor in made), (
            f"{name}: float64"
        )
        if name.startswith("index"):
            assert all(tensor.dtype != torch.bool for tensor in given[1:]), "a boolean index waits for the device"
        self.uploads += "cpu" in before
        self.counts[name] += not operation.is_view
        for tensor in made:
            if tensor.untyped_storage()._cdata not in older:  # views, and what was changed in place
                self._track(tensor)
        return result

    def _track(self, tensor):
        storage = tensor.untyped_storage()
        if tensor.device.type == "meta" and storage._cdata not in self._seen:
            self._seen.add(storage._cdata)
            self.bytes += storage.nbytes()
            self.peak = max(self.peak, self.bytes)
            weakref.finalize(storage, self._forget, storage._cdata, storage.nbytes())

    def _forget(self, key, size):
        self._seen.discard(key)
        self.bytes -= size


def to_meta(trainer):
    """Move all that a trainer holds on its device to the one without numbers; its batches stay where they are."""
    trainer.model = trainer.model.with_parameters([_moved(tensor) for tensor in trainer.model.parameters()])
    for name, value in vars(trainer).items():
        if isinstance(value, torch.Tensor):
            setattr(trainer, name, _moved(value))
        elif isinstance(value, list) and value and isinstance(value[0], torch.Tensor):
            setattr(trainer, name, [_moved(tensor) for tensor in value])
    trainer.device = META
    return trainer


def _moved(tensor):
    return tensor.detach().to(META).requires_grad_(tensor.requires_grad)
