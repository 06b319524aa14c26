"""A CUDA graph played on the CPU: what is captured is recorded operation by operation, and a replay does it again.

As on a device, a replay reads and writes the very memory that was there at the capture, runs nothing of Python, and
a capture does nothing by itself and refuses to look at a value.
"""

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map_only

# Says nothing of it, and yet writes to the running statistics.
WRITES_UNSAID = (torch.ops.aten.native_batch_norm.default,)
# Have the host wait for a device.
LOOKS = {
    *("_local_scalar_dense", "nonzero", "equal", "masked_select", "_unique2", "unique_dim", "unique_consecutive"),
    *("repeat_interleave", "bincount"),
}
INDEXES = ("index", "index_put", "index_put_", "_index_put_impl_")


def tensors_of(values):
    return [value for value in tree_flatten(values)[0] if isinstance(value, torch.Tensor)]


def as_now(values):
    """With other tensors in the same memory: those given may become views of another shape in place."""
    return tree_map_only(torch.Tensor, torch.ops.aten.alias.default, values)


def memory(tensor):
    return tensor.untyped_storage()._cdata


class Recorder(TorchDispatchMode):
    """Records operations, and puts back what they write to that was there before."""

    def __init__(self):
        super().__init__()
        self.operations, self.made, self.before = [], set(), {}

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        given = tensors_of((args, kwargs))
        name = operation._schema.name.partition("::")[2]
        if name in LOOKS or (name in INDEXES and any(tensor.dtype is torch.bool for tensor in tensors_of(args[1]))):
            raise RuntimeError("operation not permitted when stream is capturing")
        writes = operation._schema.is_mutable or operation in WRITES_UNSAID
        if writes:
            for tensor in given:
                if memory(tensor) not in self.made and memory(tensor) not in self.before:
                    self.before[memory(tensor)] = (tensor.untyped_storage(), tensor.untyped_storage().clone())
        call = (torch.is_grad_enabled(), operation, as_now(args), as_now(kwargs))
        found = operation(*args, **kwargs)
        known = set(map(memory, given))
        new = [memory(tensor) not in known for tensor in tensors_of(found)]
        self.made.update(memory(tensor) for tensor, is_new in zip(tensors_of(found), new, strict=True) if is_new)
        if any(new) or (writes and torch.Tag.inplace_view not in operation.tags):  # else a view
            self.operations.append((*call, list(zip(as_now(tensors_of(found)), new, strict=True))))
        return found

    def undo(self):
        for storage, kept in self.before.values():
            storage.copy_(kept)


class Tape:
    """In the place of `captured.CudaGraph`; `replays` counts all of them."""

    captures = replays = 0

    def __init__(self, generators):
        self.generators = generators

    def capture(self, call):
        Tape.captures += 1
        self.recorder, drawn = Recorder(), [torch.get_rng_state(), *(each.get_state() for each in self.generators)]
        try:
            with self.recorder:
                return call()
        finally:
            self.recorder.undo()
            torch.set_rng_state(drawn[0])
            for generator, state in zip(self.generators, drawn[1:], strict=True):
                generator.set_state(state)

    def replay(self):
        Tape.replays += 1
        with torch._C._AutoDispatchBelowAutograd():
            for with_gradients, operation, args, kwargs, places in self.recorder.operations:
                with torch.set_grad_enabled(with_gradients):  # there some operations give more
                    found = tensors_of(operation(*args, **kwargs))
                for (place, new), tensor in zip(places, found, strict=True):
                    if new:
                        place.copy_(tensor)
