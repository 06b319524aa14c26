"""Memory of a rank and bytes that it sends in a training step, on more ranks than there are machines, by simulation.

    python benchmarks/simulated.py [--model resnet50 llama7b] [--way ddp fsdp] [--ranks 8 64 1024]

torch's `fake` process group answers every collective at once, fake tensors have shapes and no memory, and torch's
`MemTracker` adds up what they would take. So nothing is timed and no number is computed; but every layer, hook, bucket
and collective of a step is that of a real one, seen from rank 0. Beside each figure stands what a formula says.

Bytes sent are those of ring algorithms, as NCCL and gloo use them: of a tensor of B bytes on N ranks, an all-reduce
sends 2 (N - 1) / N B, an all-gather or reduce-scatter of B bytes in total (N - 1) / N B.
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.distributed as dist
from simulated_models import MODELS, Simulated
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed._tools.mem_tracker import MemTracker
from torch.distributed.device_mesh import DeviceMesh
from torch.nn.parallel import DistributedDataParallel
from torch.testing._internal.distributed.fake_pg import FakeStore
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from torchkeras.distribution.sharding import shard
from torchkeras.distribution.shared_batch import SharedBatch
from torchkeras.distribution.units import size_of, units_of
from torchkeras.engine.building.building import on_meta
from torchkeras.layers import BatchNormalization
from torchkeras.world.one_process import CURRENT, WHOLE

RANKS = (8, 16, 32, 64, 128, 256, 512, 1024)
GIGA = 1e9
COLUMNS = ("lasting", "peak", "sent")


def all_reduce(ranks: int, size: float) -> float:
    return 2 * (ranks - 1) / ranks * size


def gather_or_scatter(ranks: int, size: float) -> float:
    return (ranks - 1) / ranks * size


@dataclass
class Sent(TorchDispatchMode):
    """Adds up the bytes that each kind of collective sends."""

    ranks: int
    bytes: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__init__()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.namespace == "c10d":
            name = func.name().removeprefix("c10d::").strip("_")
            cost, place = COLLECTIVES[name]
            size = sum(each.nbytes for each in tree_leaves(args[place]) if isinstance(each, Tensor))
            self.bytes[name] = self.bytes.get(name, 0) + cost(self.ranks, size)
        return func(*args, **kwargs or {})


# What each sends, and where among its arguments the whole of it is.
COLLECTIVES: dict[str, tuple[Callable[[int, float], float], int]] = {
    "allreduce": (all_reduce, 0),
    "allgather": (gather_or_scatter, 0),
    "allgather_base": (gather_or_scatter, 0),
    "reduce_scatter_base": (gather_or_scatter, 1),
}


@dataclass
class Figures:
    """Of rank 0, in bytes: weights, gradients and moments; the peak of a step; what it sends; what `forward` leaves."""

    lasting: float
    peak: float
    sent: float
    activations: float


class Totals(MemTracker):
    """torch's tracker without its figures of each module, which take most of its time."""

    def _pre_fw_hook(self, *_: Any) -> None: ...

    _post_fw_hook = _pre_bw_hook = _post_bw_hook = _pre_fw_hook  # type: ignore[assignment]

    def total(self, kind: str = "current") -> int:
        """Bytes now, or at the "peak" since the block began."""
        return self.get_tracker_snapshot(kind)[torch.device("cpu")]["Total"]


@contextmanager
def ranks_of(number: int) -> Iterator[DeviceMesh]:
    """A fake group of so many ranks."""
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=number)
    try:
        yield DeviceMesh("cpu", torch.arange(number))
    finally:
        dist.destroy_process_group()


def of_buckets(_, bucket):  # DDP compares annotations with objects, not with texts
    """As DDP's own reduction, whose result a fake group does not give."""
    dist.all_reduce(bucket.buffer())
    found: torch.futures.Future[Tensor] = torch.futures.Future()
    found.set_result(bucket.buffer())
    return found


def measured(simulated: Simulated, way: str, ranks: int) -> Figures:
    """A step of rank 0 of so many, under "ddp", "fsdp" or, of one rank, "alone"."""
    with ranks_of(ranks) as mesh, on_meta():
        model = simulated.make()
        with FakeTensorMode(allow_non_fake_inputs=True):
            return _step(simulated, model, way, mesh)


def _step(simulated: Simulated, model: Any, way: str, mesh: DeviceMesh) -> Figures:
    memory, ranks = Totals(), mesh.size()
    sent = Sent(ranks)
    with memory:
        model.to_empty(device="cpu")
        if way == "fsdp":
            shard(model, mesh)
        optimizer = torch.optim.Adam(model.parameters())
        for parameter in model.parameters():  # as after a step before this one
            parameter.grad = torch.zeros_like(parameter)
        optimizer.step()
        optimizer.zero_grad()
        run: Any = model
        if way == "ddp":
            run = DistributedDataParallel(model, init_sync=False, broadcast_buffers=False, gradient_as_bucket_view=True)
            run.register_comm_hook(None, of_buckets)
        batch = simulated.batch()
    rows = len(batch[0])
    shared = SharedBatch(rows, rows * ranks) if ranks > 1 else WHOLE
    with sent, memory, CURRENT.on(shared):  # from here on the peak counts
        model.train()
        before = memory.total()
        loss = simulated.loss(run(batch[0]), batch[1])
        activations = memory.total() - before
        loss.backward()
        del loss
        optimizer.step()
    return Figures(memory.total(), memory.total("peak"), sum(sent.bytes.values()), activations)


def by_formula(simulated: Simulated, way: str, ranks: int, activations: float) -> Figures:
    """What is expected. `activations`: those of one rank alone."""
    with on_meta():
        model = simulated.make()
    values = [4 * parameter.numel() for parameter in model.parameters()]
    counts = torch.empty(len(values), device="meta")  # of Adam's steps, one for each weight
    fixed = sum(each.nbytes for each in (*model.buffers(), *simulated.batch_on_meta(), counts))
    whole = sum(values)
    norms = [each.norm.num_features for each in model.modules() if isinstance(each, BatchNormalization)]
    of_norms = sum(
        gather_or_scatter(ranks, 4 * ranks * (2 * channels + 1)) + all_reduce(ranks, 8 * channels) for channels in norms
    )
    if way == "ddp":
        lasting = 4 * whole + fixed
        return Figures(lasting, lasting + activations, all_reduce(ranks, whole) + of_norms, activations)
    # Each process has rows: as many as fit, rounded up.
    rows = [4 * -(-p.shape[0] // ranks) * math.prod(p.shape[1:]) for p in model.parameters()]
    of_units = [size_of(unit) * 4 for unit in units_of(model)]
    lasting = 4 * sum(rows) + fixed
    gathered = gather_or_scatter(ranks, ranks * sum(rows))
    at_root = gather_or_scatter(ranks, whole - sum(of_units))  # the weights in no unit are gathered once
    # As the backward pass begins there are no gradients yet but of one unit, whose weights are gathered.
    peak = lasting - sum(rows) + 2 * max(of_units) + activations
    return Figures(lasting, peak, 3 * gathered - at_root + of_norms, activations)


def table(names: list[str], ways: list[str], ranks: list[int]) -> Iterator[str]:
    """Rows of Markdown: measured figures, and in parentheses the formula's, in GB."""
    yield "| model | way | ranks | lasting, GB | peak, GB | sent in a step, GB |"
    yield "|---|---|---|---|---|---|"
    for name in names:
        activations = measured(MODELS[name], "alone", 1).activations
        for way in ways:
            for number in ranks:
                found = vars(measured(MODELS[name], way, number))
                expected = vars(by_formula(MODELS[name], way, number, activations))
                cells = (f"{found[key] / GIGA:.3f} ({expected[key] / GIGA:.3f})" for key in COLUMNS)
                yield f"| {name} | {way} | {number} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--way", nargs="+", choices=["ddp", "fsdp"], default=["ddp", "fsdp"])
    parser.add_argument("--ranks", nargs="+", type=int, default=list(RANKS))
    given = parser.parse_args()
    warnings.simplefilter("ignore", FutureWarning)  # of torch, of options that its older versions need
    for row in table(given.model, given.way, given.ranks):
        print(row, flush=True)


if __name__ == "__main__":
    main()
