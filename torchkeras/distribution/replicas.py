"""Replicas of a model, one in each process, whose gradients torch's DistributedDataParallel averages."""

# pyright: reportPrivateImportUsage=false
# torch.distributed names what its own DistributedDataParallel calls with an underscore.

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.autograd import Variable
from torch.nn.parallel import DistributedDataParallel
from torch.overrides import TorchFunctionMode

from torchkeras.distribution.batch_statistics import runs_users_code
from torchkeras.distribution.group import BUCKET
from torchkeras.engine.layer.added_losses import ADDED
from torchkeras.engine.step.step import CompiledModel
from torchkeras.world.one_process import CURRENT, OneReplica

# A gradient in another order of axes than its weight, as of kernels with channels last, is copied: that is no error.
warnings.filterwarnings("ignore", "Grad strides do not match bucket view strides")


class Replicas(OneReplica):
    """The replica of this process: how a step passes forward, and whose gradients it gets.

    The first step computes its gradients alone, and sees which parameters have one, and in which order. From the second
    step on torch's reducer averages them while the backward pass runs, in the same buckets: so a training that starts
    again in the middle ends with the same bits. A model with the user's own code may compute another graph each time:
    there the reducer looks at each step which parameters have a gradient.
    """

    def __init__(self, compiled: CompiledModel, group: Any = None):
        self._compiled, self._group = compiled, group
        self._parameters: list[Tensor] = []
        self._parallel: DistributedDataParallel | None = None
        self._inputs: list[Tensor] | None = None

    def passing(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """`run`, a forward pass over the network, as one whose gradients will be averaged."""
        training = [each for each in self._compiled.parameters if each.requires_grad]
        if len(training) != len(self._parameters) or not all(map(operator.is_, training, self._parameters)):
            self._begin(training)
        if self._parallel is None:
            return run
        return partial(self._averaging, run)

    def _averaging(self, run: Callable[..., Any], inputs: Any, **options: Any) -> Any:
        assert self._parallel is not None
        return self._parallel(run, inputs, **options)[0]

    def gradients(self, loss: Tensor, parameters: list[Tensor], one: Tensor | None) -> list[Tensor | None]:
        """The gradients of the mean, over the processes, of `one * loss`; None for a parameter that has none."""
        assert one is not None  # no step of several processes is compiled
        parameters, one = list(parameters), CURRENT.batch.weighted(one)
        if self._parallel is None:
            return self._first(loss, parameters, one)
        loss.backward(one, inputs=self._inputs)
        return _taken(parameters)

    def _begin(self, parameters: list[Tensor]) -> None:
        self._parallel, self._parameters = None, parameters  # with the reducer its hooks end
        _taken(parameters)
        if any(map(runs_users_code, self._compiled.network.modules())):
            self._reduce(parameters, find_unused_parameters=True)

    def _first(self, loss: Tensor, parameters: list[Tensor], one: Tensor) -> list[Tensor | None]:
        order: list[Tensor] = []
        hooks = [each.register_post_accumulate_grad_hook(order.append) for each in parameters]
        torch.autograd.backward(loss, one, inputs=parameters)
        for hook in hooks:
            hook.remove()
        gradients = _taken(parameters)
        places = {id(parameter): place for place, parameter in enumerate(parameters)}
        ready = [places[id(parameter)] for parameter in order]
        means = averaged([gradients[place] for place in ready], self._group)  # type: ignore[misc]
        for place, mean in zip(ready, means, strict=True):
            gradients[place] = mean
        parallel = self._reduce(order, find_unused_parameters=False)
        # The reducer makes its buckets by the order in which the first gradients come: these are zeros.
        torch.autograd.backward(parallel(_zero, order)[0], inputs=order)
        _taken(order)
        return gradients

    def _reduce(self, parameters: list[Tensor], find_unused_parameters: bool) -> DistributedDataParallel:
        trained = set(map(id, parameters))
        others = any(each.requires_grad and id(each) not in trained for each in self._compiled.network.parameters())
        self._inputs = parameters if others else None  # autograd takes its time to look where these are
        self._parallel = DistributedDataParallel(
            _Pass(parameters),
            process_group=self._group,
            gradient_as_bucket_view=True,
            find_unused_parameters=find_unused_parameters,
        )
        return self._parallel


def _zero(parameters: list[Tensor]) -> Tensor:
    """0, whose gradients come in the order of the parameters: autograd goes back to what was computed last first."""
    parts = [(parameter * 0.0).sum() for parameter in reversed(parameters)]
    return torch.stack([part.double() for part in parts]).sum()


def _taken(parameters: Sequence[Tensor]) -> list[Tensor | None]:
    """The gradients that parameters hold, which they then hold no more."""
    found = [parameter.grad for parameter in parameters]
    for parameter in parameters:
        parameter.grad = None
    return found


def averaged(gradients: Sequence[Tensor], group: Any = None) -> list[Tensor]:
    """The means over the processes of gradients, in one order in all of them, by the buckets of torch's reducer."""
    if not gradients:
        return []
    processes, means = dist.get_world_size(group), list(gradients)
    limits = [dist._DEFAULT_FIRST_BUCKET_BYTES, BUCKET]
    buckets, _ = dist._compute_bucket_assignment_by_size(list(gradients), limits)
    for places in buckets:
        flat = torch.cat([gradients[place].reshape(-1) for place in places]).mul_(1.0 / processes)
        dist.all_reduce(flat, group=group)
        parts = flat.split([gradients[place].numel() for place in places])
        for place, part in zip(places, parts, strict=True):
            means[place] = part.view_as(gradients[place])
    return means


class Averaged(OneReplica):
    """What averages the gradients of a step of the user's own, once they are computed."""

    def __init__(self, group: Any = None):
        self._group = group
        self._means: dict[int, Tensor] = {}  # gradients of the present step that are means, by their id

    def gradients(self, loss: Tensor, parameters: list[Tensor], one: Tensor | None) -> list[Tensor | None]:
        """As `Replicas.gradients`."""
        assert one is not None
        return self._averaged(super().gradients(loss, list(parameters), CURRENT.batch.weighted(one)))

    def averaged(self, gradients: Sequence[Tensor | None]) -> list[Tensor | None]:
        """The weighted means of gradients over the processes, which have them of the same parameters."""
        return self._averaged([None if each is None else self._weighted(each) for each in gradients])

    def _weighted(self, gradient: Tensor) -> Tensor:
        return gradient if id(gradient) in self._means else CURRENT.batch.weighted(gradient)

    def _averaged(self, gradients: Sequence[Tensor | None]) -> list[Tensor | None]:
        own = [gradient for gradient in gradients if gradient is not None and id(gradient) not in self._means]
        means = dict(zip(map(id, own), averaged(own, self._group), strict=True))
        return [None if gradient is None else means.get(id(gradient), gradient) for gradient in gradients]

    @contextmanager
    def averaging(self, model: nn.Module) -> Iterator[None]:
        """Inside the block, a backward pass leaves the means over the processes in the gradients of the parameters.

        So a step may clip them by their norm, or pass them to optimizers of its own. A gradient to which several passes
        add is averaged after each: what it had before is a mean, and stays as it is.
        """
        parameters = [each for each in model.parameters() if each.is_floating_point() or each.is_complex()]
        weighting, reached = _Weighting(), set[int]()

        @torch.no_grad()
        def average() -> None:
            gradients: list[Tensor] = [each.grad for each in parameters if id(each) in reached]  # type: ignore[misc]
            reached.clear()
            own = gradients if weighting.is_passing else list(map(CURRENT.batch.weighted, gradients))
            for gradient, mean in zip(gradients, averaged(own, self._group), strict=True):
                self._means[id(gradient)] = gradient.copy_(mean)

        def note(parameter: Tensor) -> None:
            if not reached:
                Variable._execution_engine.queue_callback(average)  # type: ignore[attr-defined]
            reached.add(id(parameter))

        hooks = [_hooked(parameter, note) for parameter in parameters]
        is_even = CURRENT.batch.weight == 1.0  # as most are: a mode of torch would cost time for nothing
        try:
            with nullcontext() if is_even else weighting:
                yield
        finally:
            self._means.clear()
            for hook in hooks:
                hook.remove()


class _Weighting(TorchFunctionMode):
    """Inside the block `loss.backward()` begins with the weight of this process's part of the batch.

    Batch normalizations add up gradients of several processes on the way back, so these are weighted before. A pass
    that `torch.autograd.backward` begins is not seen. `is_passing`: whether one that was weighted is under way.
    """

    is_passing = False

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = dict(kwargs or {})
        if func is not Tensor.backward or (given["gradient"] is None and args[0].numel() != 1):
            return func(*args, **given)
        one = torch.ones_like(args[0]) if given["gradient"] is None else given["gradient"]
        self.is_passing = True
        try:
            return func(*args, **{**given, "gradient": CURRENT.batch.weighted(one)})
        finally:
            self.is_passing = False


def _hooked(parameter: Tensor, hook: Callable[[Tensor], None]) -> Any:
    """The handle of a hook after each gradient of a parameter, also of one that trains only later in the step."""
    trains = parameter.requires_grad
    handle = parameter.requires_grad_(True).register_post_accumulate_grad_hook(hook)
    parameter.requires_grad_(trains)
    return handle


class _Pass(nn.Module):
    """A pass over a network as DistributedDataParallel calls it: what layers add to the loss is among its outputs.

    `trained`: the parameters that it averages the gradients of.
    """

    def __init__(self, trained: Sequence[Tensor]):
        super().__init__()
        self.trained = nn.ParameterList(trained)

    def forward(self, run: Callable[..., Any], inputs: Any, **options: Any) -> Any:
        found = run(inputs, **options)
        return found, [] if ADDED.taken is None else list(ADDED.taken[0])
