"""Models that the user has wrapped for several processes: torch's wrappers, which a run of ours would not see."""

from __future__ import annotations

from torch import nn

from torchkeras.world import processes

FSDP1, FSDP2 = "FullyShardedDataParallel", "FSDPModule"  # a base of the classes that `fully_shard` gives


def check_unwrapped(model: nn.Module, method: str, trains: bool = True) -> None:
    """Raise RuntimeError for a model in which the user has wrapped a module for several processes.

    `trains`: whether the method needs the optimizer or the numbers of a step; FSDP2's modules compute without.
    """
    if not processes.has_group():  # without which torch does not wrap
        return
    for name, module in model.named_modules():
        bases = {base.__name__ for base in type(module).__mro__}
        if isinstance(module, nn.parallel.DistributedDataParallel) or FSDP1 in bases or (trains and FSDP2 in bases):
            where = f"the module {name!r}" if name else "the model"
            raise RuntimeError(
                f"{method}: {where} is wrapped for several processes ({type(module).__name__}), and {method} would "
                "not see that. Give the model itself to compile and fit, which wrap it; or train it by a loop of your "
                "own."
            )
