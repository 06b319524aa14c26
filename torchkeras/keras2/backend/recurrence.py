"""`rnn`: a step function along time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from torchkeras.keras2.backend.lambdas import as_node
from torchkeras.keras2.backend.nodes import is_symbolic, tensor

StepFunction = Callable[[Tensor, Any], tuple[Tensor, Any]]


def rnn(
    step_function: StepFunction,
    inputs: Any,
    initial_states: Any,
    go_backwards: bool = False,
    mask: Any = None,
    constants: Any = None,
    unroll: bool = False,
    input_length: int | None = None,
) -> tuple[Any, Any, list[Any]]:
    """(the last output, all outputs, the last states) of `step_function(x[t], states + constants)` along time.

    Where the mask is False, the states stay as they were. The output is then the first state, or with `unroll` the
    output of the step before, which begins at zero. So is a last output that the mask leaves out.

    Arguments:
        step_function (function): (input of a step, list of states and constants) -> (output, list of new states).
        inputs (tensor): (batch, time, ...).
        initial_states (list of tensors): the states before the first step.
        go_backwards (bool, default False): whether the walk goes from the last step to the first; the outputs are in
            the order of the walk.
        mask (tensor or None, default None): (batch, time), 0 or False for the steps to leave out.
        constants (list of tensors or None, default None): given to each step after the states.
        unroll (bool, default False): what masked steps give; see above. The number of steps must then be known.
        input_length (integer or None, default None): at most so many steps are made; not with `unroll`.

    Errors:
        ValueError: `inputs` have fewer than three axes; a mask without states; `unroll` of an unknown number of steps.

    Example:
        >>> step = lambda x, states: (x + states[0], [x + states[0]])
        >>> rnn(step, torch.ones(1, 3, 1), [torch.zeros(1, 1)])[1].flatten()
        tensor([1., 2., 3.])
    """
    if len(inputs.shape) < 3:
        raise ValueError(f"rnn needs inputs of three axes or more; found the shape {tuple(inputs.shape)}.")
    if unroll and inputs.shape[1] is None:
        raise ValueError("unroll needs a known number of time steps; give the Input that size.")
    if mask is not None and not initial_states and not unroll:
        raise ValueError("rnn with a mask needs initial states, the first of which is the output at masked steps.")

    def run(given: Any) -> Any:
        x, states, kept, others = given
        return _walk(step_function, x, states, kept, others, go_backwards, unroll, None if unroll else input_length)

    given = (inputs, list(initial_states), mask, list(constants or []))
    last, outputs, *states = as_node("rnn", run, given) if is_symbolic(given) else run(given)
    return last, outputs, states


def _walk(
    step_function: StepFunction,
    inputs: Tensor,
    states: list[Tensor],
    mask: Tensor | None,
    constants: list[Tensor],
    go_backwards: bool,
    unroll: bool,
    most: int | None,
) -> list[Tensor]:
    steps = list(inputs.unbind(1))
    valid = [None] * len(steps) if mask is None else list(tensor(mask).bool().unbind(1))
    if go_backwards:
        steps, valid = steps[::-1], valid[::-1]
    outputs: list[Tensor] = []
    for step, kept in list(zip(steps, valid, strict=True))[:most]:
        output, new_states = step_function(step, [*states, *constants])
        if kept is not None:
            if not unroll:
                before = states[0]
            else:
                before = outputs[-1] if outputs else torch.zeros_like(output)
            output = _where(kept, output, before)
            new_states = [_where(kept, new, old) for new, old in zip(new_states, states, strict=True)]
        outputs.append(output)
        states = list(new_states)
    return [outputs[-1], torch.stack(outputs, 1), *states]


def _where(kept: Tensor, new: Tensor, old: Tensor) -> Tensor:
    """The new values of the samples that are kept, else the old ones."""
    return torch.where(kept.reshape(*kept.shape, *[1] * (new.dim() - kept.dim())), new, old)
