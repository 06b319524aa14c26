"""`compile(cuda_graph=True, steps_per_execution=n)`: n train steps, updates and all, captured as one CUDA graph.

The numbers of an update that change from step to step are told to the graph on the device: `Optimizer.numbers`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

import torch

from torchkeras.engine.captured import CaptureError
from torchkeras.engine.data import Batch
from torchkeras.engine.graphed import in_two, read_by, tensors, whole
from torchkeras.engine.loop import Executions, Sums, run_batch, together
from torchkeras.engine.one_graph import OneGraph, Options
from torchkeras.engine.recipe import Recipe, Step, Values
from torchkeras.engine.steps import Learned, constrain, learn


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
        optimizer.follow(recipe.parameters)
        numbers = torch.tensor([optimizer.numbers(k) for k in range(self.steps)])
        device = batches[0].inputs[0].device
        if device.type == "cuda":
            numbers = numbers.pin_memory().to(device, non_blocking=True)
        given = [part for batch in batches for part in (batch.inputs, batch.targets, batch.weights)] + [[numbers]]
        sizes = [batch.size for batch in batches]
        plain = partial(_steps(recipe, partial(learn, recipe)), *given, *sizes)
        if optimizer.use_ema and not done:  # the averages begin
            return plain()
        makers = (partial(_made, recipe, make) for make in (whole, in_two))
        try:
            found = self.call(recipe.direct, given, plain, *makers, more=sizes, roots=(*read_by(recipe), optimizer))
        except CaptureError:
            optimizer.iterations = done
            raise
        optimizer.iterations = done + self.steps  # a replay counts nothing of Python's
        return found

    def kept(self, found: Values) -> Values:
        return {name: value.clone() for name, value in found.items()}


def _made(recipe: Recipe, make: Any, options: Options, changes: int) -> Callable[..., Values] | None:
    learns = make(recipe, options, changes)
    return None if learns is None else _steps(recipe, lambda batch: learns(*tensors(batch), batch.size))


def _steps(recipe: Recipe, learns: Callable[[Batch], Learned]) -> Callable[..., Values]:
    """As many steps, one after the other, as there are sizes of batches."""

    def run(*given: Any) -> Values:
        parts = [part for part in given if isinstance(part, list)]
        sizes, (numbers,) = given[len(parts) :], parts[-1]
        done = []
        for k, size in enumerate(sizes):
            inputs, targets, weights = parts[3 * k : 3 * k + 3]
            learned = learns(Batch(inputs, targets, weights, size))
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
        if len(some) == unrolled.steps and unrolled.takes(recipe):  # a hook may have set another option
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
