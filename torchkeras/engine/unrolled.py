"""`compile(cuda_graph=True, steps_per_execution=n)`: n train steps, updates and all, captured as one CUDA graph.

The numbers of an update that change from step to step are told to the graph on the device: `Optimizer.numbers`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

import torch

from torchkeras.engine.data import Batch
from torchkeras.engine.graphed import in_two, read_by, whole
from torchkeras.engine.loop import Executions, Sums, run_batch, together
from torchkeras.engine.one_graph import Make, OneGraph, Options
from torchkeras.engine.recipe import Recipe, Step, Values
from torchkeras.engine.steps import constrain, train_step


class Unrolled(OneGraph[Values]):
    """`steps` train steps of one recipe: the mean of what they report."""

    does = "execution"

    def __init__(self, options: Options, steps: int):
        super().__init__(options, captures=True)
        self.steps = steps

    def takes(self, recipe: Recipe) -> bool:
        """Whether nothing of an update is decided on the host, but for the numbers that it is told."""
        optimizer = recipe.optimizer
        return (
            bool(recipe.parameters)
            and recipe.guard is None
            and recipe.scaling is None
            and getattr(optimizer, "takes_tensors", False)
            and not (optimizer.gradient_accumulation_steps or optimizer.ema_overwrite_frequency)
        )

    def __call__(self, recipe: Recipe, batches: Sequence[Batch]) -> Values:
        optimizer, done = recipe.optimizer, recipe.optimizer.iterations
        numbers = torch.tensor([optimizer.numbers(k) for k in range(self.steps)])
        device = batches[0].inputs[0].device
        if device.type == "cuda":
            numbers = numbers.pin_memory().to(device, non_blocking=True)
        given = [part for batch in batches for part in (batch.inputs, batch.targets, batch.weights)]
        found = self.call(
            recipe.direct,
            [*given, [numbers]],
            lambda: together([(train_step(recipe, batch), batch.size) for batch in batches]),
            *(partial(_steps, recipe, partial(make, recipe)) for make in (whole, in_two)),
            more=[batch.size for batch in batches],
            roots=(*read_by(recipe), optimizer),
        )
        optimizer.iterations = done + self.steps  # a replay counts nothing of Python's
        return found

    def kept(self, found: Values) -> Values:
        return {name: value.clone() for name, value in found.items()}


def _steps(recipe: Recipe, make: Make, options: Options, changes: int) -> Callable[..., Values] | None:
    """As many steps, one after the other, as there are sizes of batches; `make` makes what learns of a batch."""
    learn = make(options, changes)
    if learn is None:
        return None

    def run(*given: Any) -> Values:
        tensors = [part for part in given if isinstance(part, list)]
        sizes, (numbers,) = given[len(tensors) :], tensors[-1]
        done = []
        for k, size in enumerate(sizes):
            learned = learn(*tensors[3 * k : 3 * k + 3], size)
            with torch.no_grad():
                recipe.optimizer.apply_told(learned.gradients, numbers[k])
                constrain(recipe)
            done.append((learned.values, size))
        with torch.no_grad():
            return together(done)

    return run


def run_unrolled(
    unrolled: Unrolled,
    recipe: Recipe,
    step: Step,
    batches: Iterable[Batch],
    sums: Sums,
    hooks: Executions,
    stopped: Callable[[], Any],
) -> None:
    """As `run_epoch`, as many batches at a time as are unrolled; those left at the end one by one."""
    for some in _several(batches, unrolled.steps):
        if len(some) == unrolled.steps:
            hooks.begin(sums.batches, some[0].size)
            values = unrolled(recipe, some)
            sizes = [batch.size for batch in some]
            sums.add(values, *sizes)
            hooks.end(sums.batches - 1, sum(sizes), values)
            hooks.finish()
        else:
            for batch in some:
                run_batch(step, batch, sums, hooks)
        if stopped():
            break
    hooks.finish()


def _several(batches: Iterable[Batch], count: int) -> Iterator[list[Batch]]:
    ahead = iter(batches)
    while some := list(islice(ahead, count)):
        yield some
