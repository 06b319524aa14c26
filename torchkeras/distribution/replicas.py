"""Replicas of a model, one in each process, whose gradients torch's DistributedDataParallel averages."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from torchkeras.engine.layer.added_losses import ADDED
from torchkeras.engine.step.compiled_model import CompiledModel


class Replicas:
    """The replica of this process: how a step passes forward, and whose gradients it gets."""

    def __init__(self, compiled: CompiledModel, group: Any = None):
        self._compiled, self._group = compiled, group
        self._parameters: list[Tensor] = []
        self._parallel: DistributedDataParallel | None = None
        self._pass = _Pass(compiled.network)

    def passing(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """`run`, a forward pass over the network, as one whose gradients will be averaged."""
        training = [each for each in self._compiled.parameters if each.requires_grad]
        if len(training) != len(self._parameters) or not all(map(operator.is_, training, self._parameters)):
            self._begin(training)
        self._pass.run = run
        assert self._parallel is not None
        return self._parallel_call

    def _parallel_call(self, inputs: Any, **options: Any) -> Any:
        assert self._parallel is not None
        return self._parallel(inputs, **options)[0]

    def gradients(self, loss: Tensor, parameters: Sequence[Tensor], one: Tensor) -> list[Tensor | None]:
        """The gradients of the mean, over the processes, of `one * loss`; None for a parameter that has none."""
        torch.autograd.backward(loss, one, inputs=list(parameters))
        found = [parameter.grad for parameter in parameters]
        for parameter in parameters:
            parameter.grad = None
        return found

    def _begin(self, parameters: list[Tensor]) -> None:
        self._parallel = None  # first, since its hooks end with it
        for parameter in parameters:
            parameter.grad = None
        taken = {id(parameter) for parameter in parameters}
        left = [name for name, each in self._pass.named_parameters() if id(each) not in taken]
        DistributedDataParallel._set_params_and_buffers_to_ignore_for_model(self._pass, left)
        static = all(_is_ours(module) for module in self._compiled.network.modules())
        self._parallel = DistributedDataParallel(
            self._pass,
            process_group=self._group,
            broadcast_buffers=False,  # statistics of batches are those of whole batches
            gradient_as_bucket_view=True,
            static_graph=static,
            find_unused_parameters=not static,
        )
        self._parameters = parameters


class Averaged:
    """What averages the gradients of a step of the user's own, once they are computed."""

    def __init__(self, group: Any = None):
        self._group = group

    def passing(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """`run` itself: the gradients are averaged behind it."""
        return run

    def gradients(self, loss: Tensor, parameters: Sequence[Tensor], one: Tensor) -> list[Tensor | None]:
        """As `Replicas.gradients`."""
        return self.averaged(torch.autograd.grad(loss, list(parameters), one, allow_unused=True))

    def averaged(self, gradients: Sequence[Tensor | None]) -> list[Tensor | None]:
        """The means of gradients over the processes, which have them of the same parameters."""
        found = [gradient for gradient in gradients if gradient is not None]
        means = iter(self._means(found))
        return [None if gradient is None else next(means) for gradient in gradients]

    def _means(self, gradients: list[Tensor]) -> list[Tensor]:
        by_type: dict[Any, list[int]] = {}
        for place, gradient in enumerate(gradients):
            by_type.setdefault((gradient.dtype, gradient.device), []).append(place)
        means = list(gradients)
        for places in by_type.values():
            flat = torch.cat([gradients[place].reshape(-1) for place in places])
            dist.all_reduce(flat, group=self._group)
            flat /= dist.get_world_size(self._group)
            parts = flat.split([gradients[place].numel() for place in places])
            for place, part in zip(places, parts, strict=True):
                means[place] = part.view_as(gradients[place])
        return means


class _Pass(nn.Module):
    """A network as DistributedDataParallel calls it: what layers add to the loss is among its outputs."""

    run: Callable[..., Any]

    def __init__(self, network: nn.Module):
        super().__init__()
        self.network = network

    def forward(self, inputs: Any, **options: Any) -> Any:
        found = self.run(inputs, **options)
        return found, [] if ADDED.taken is None else list(ADDED.taken[0])


def _is_ours(module: nn.Module) -> bool:
    """Whether it computes the same graph each time; of the user's own code it is not known."""
    return type(module).__module__.partition(".")[0] in ("torchkeras", "torch")
