"""Check that a written module is the model: equal outputs, computed where torchkeras cannot be imported."""

from __future__ import annotations

import copy
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from torchkeras.base.nested import leaves
from torchkeras.export.errors import UnequalError
from torchkeras.export.plain import facts, runner
from torchkeras.export.plain.module_text import Written
from torchkeras.export.plain.samples import samples

Outputs = list[list[Tensor]]
# (absolute, relative), by the narrowest type of an output or computation; the former is times the largest value.
TOLERANCES = {torch.float64: (1e-9, 1e-7), torch.float32: (1e-5, 1e-4)}
COARSE = (2e-2, 2e-2)


def expected(network: Any) -> tuple[list[list[Tensor]], Outputs]:
    """Random inputs for some consecutive calls, and the model's outputs in evaluation mode.

    The model and its states do not change. Raises UnequalError if it cannot compute any of the inputs tried.
    """
    problem = "nothing"
    for batches in samples(network):
        try:
            found = _outputs_of(network, batches)
        except (RuntimeError, ValueError, IndexError) as error:
            problem = str(error).strip().splitlines()[0]
            continue
        _check_repeats(network, batches, found)
        if all(bool(output.isfinite().any()) for outputs in found for output in outputs if output.numel()):
            return batches, found
        problem = "no finite number"
    raise UnequalError(
        f"{facts.title_of(network)}: its written form cannot be checked, since on random inputs the model itself gives "
        f"{problem}."
    )


def _check_repeats(network: Any, batches: list[list[Tensor]], found: Outputs) -> None:
    """Raise UnequalError for a model whose outputs in evaluation mode are random."""
    again = _outputs_of(network, batches)
    pairs = [pair for each in zip(found, again, strict=True) for pair in zip(*each, strict=True)]
    if not all(torch.allclose(a.double(), b.double(), rtol=1e-3, atol=1e-3, equal_nan=True) for a, b in pairs):
        raise UnequalError(
            f"{facts.title_of(network)}: its written form cannot be checked, since it draws random numbers in "
            "evaluation mode, too."
        )


def _outputs_of(network: Any, batches: list[list[Tensor]]) -> Outputs:
    device = next((tensor.device for tensor in network.parameters()), torch.device("cpu"))
    with _in_evaluation(network), torch.no_grad():
        called = [[tensor.to(device) for tensor in inputs] for inputs in batches]
        results = [leaves(network(inputs if len(inputs) > 1 else inputs[0])) for inputs in called]
        return [[output.cpu() for output in outputs] for outputs in results]


@contextmanager
def _in_evaluation(network: Any) -> Iterator[None]:
    """Evaluation mode, with states that begin as zeros; modes and states are restored at the end."""
    modes = {module: module.training for module in network.modules()}
    stateful = facts.stateful_layers(network)
    states = [[state.clone() for state in layer.states] for layer in stateful]
    try:
        network.eval()
        for layer in stateful:
            layer.reset_states()
        yield
    finally:
        for module, mode in modes.items():
            module.training = mode
        for layer, before in zip(stateful, states, strict=True):
            layer.reset_states(before)


def found_by(written: Written, folder: Path, scratch: Path, batches: list[list[Tensor]]) -> Outputs:
    """The outputs of the written module, from a clean process, or from this one if it needs the user's functions.

    Raises UnequalError if it does not run.
    """
    return (
        _found_here(written, folder, batches) if written.functions else _found_there(written, folder, scratch, batches)
    )


def _found_here(written: Written, folder: Path, batches: list[list[Tensor]]) -> Outputs:
    """The outputs, computed in this process."""
    namespace: dict[str, Any] = {"__name__": "model"}
    exec(compile(written.text, str(folder / "model.py"), "exec"), namespace)  # noqa: S102  # our own text
    functions = {name: copy.deepcopy(f) if isinstance(f, nn.Module) else f for name, f in written.functions.items()}
    try:
        return runner.outputs_of(namespace[written.name](**functions), runner.weights_of(folder), batches)
    except (RuntimeError, TypeError, ValueError, NameError, AttributeError, LookupError) as error:
        reason = str(error).strip().splitlines()[0]
        raise UnequalError(f"the written module does not run: {type(error).__name__}: {reason}") from error


def _found_there(written: Written, folder: Path, scratch: Path, batches: list[list[Tensor]]) -> Outputs:
    """The outputs, computed by a process in which torchkeras cannot be imported."""
    given, found = scratch / "given.pt", scratch / "found.pt"
    torch.save(batches, given)
    command = [sys.executable, "-I", str(Path(runner.__file__)), str(folder), written.name, str(given), str(found)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        reason = (ended.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise UnequalError(f"the written module does not run: {reason}")
    return torch.load(found, weights_only=True)


def check(network: Any, wanted: Outputs, found: Outputs) -> None:
    """Raise UnequalError where outputs differ in number, shape, type or value."""
    title, coarse = facts.title_of(network), any(facts.mixed_type(layer) for layer in facts.inner_layers(network))
    for mine, theirs in zip(found, wanted, strict=True):
        if len(mine) != len(theirs):
            raise UnequalError(f"{title}: the written module gives {len(mine)} outputs instead of {len(theirs)}.")
        for index, (output, model) in enumerate(zip(mine, theirs, strict=True)):
            if (output.shape, output.dtype) != (model.shape, model.dtype):
                kinds = f"{tuple(output.shape)} of {output.dtype} instead of {tuple(model.shape)} of {model.dtype}"
                raise UnequalError(f"{title}: the written module gives {kinds} as output {index}.")
            _check_values(f"{title}: output {index} of the written module", output, model, coarse)


def _check_values(what: str, found: Tensor, wanted: Tensor, coarse: bool) -> None:
    if not wanted.is_floating_point():
        if not torch.equal(found, wanted):
            raise UnequalError(f"{what} differs from the model's.")
        return
    absolute, relative = COARSE if coarse else TOLERANCES.get(wanted.dtype, COARSE)
    finite = wanted[wanted.isfinite()]
    largest = max(float(finite.abs().max()), 1e-3) if finite.numel() else 1.0
    if not torch.allclose(found, wanted, rtol=relative, atol=absolute * largest, equal_nan=True):
        worst = float((found.double() - wanted.double()).abs().nan_to_num().max())
        raise UnequalError(f"{what} differs from the model's by up to {worst:.3g}.")
