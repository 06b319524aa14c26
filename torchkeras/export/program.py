"""A model as an `ExportedProgram` of torch, and as a `.pt2` file."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.export import Dim, ExportedProgram
from torch.export.graph_signature import OutputKind

from torchkeras.base.naming import identifiers
from torchkeras.base.nested import leaves
from torchkeras.base.texts import STRING
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.symbolic.tensor import as_list, unpacked
from torchkeras.export.errors import ExportError, reason
from torchkeras.export.examples import Examples, Signature

TRACED = 3  # samples in the traced batch: torch treats 0 and 1 specially


class Program(nn.Module):
    """The module for torch's exporters: the model's own submodules, and a `forward` with the names of the inputs."""

    def __init__(self, model: nn.Module, signatures: Sequence[Signature]):
        super().__init__()
        # Not a submodule, so that the program's state_dict has the names of the model's.
        for name in ("_parameters", "_buffers", "_non_persistent_buffers_set", "_modules"):
            self.__dict__[name] = getattr(model, name)

        def forward(*inputs: Tensor) -> Any:
            outputs = model(*inputs) if len(inputs) == 1 else model(list(inputs))
            return unpacked(leaves(outputs))

        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        names = identifiers([each.name for each in signatures])
        forward.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in names])  # type: ignore[attr-defined]
        self.forward = forward

    def compute(self, inputs: Sequence[Tensor]) -> list[Tensor]:
        """The outputs as a list."""
        return as_list(self(*inputs))


@contextmanager
def inference(model: nn.Module) -> Iterator[Callable[[], None]]:
    """Evaluation mode without gradients; yields a function that resets stateful layers. Restores all at the end."""
    modes = [(module, module.training) for module in model.modules()]
    states = [state for module in model.modules() for state in _states(module)]
    kept = [state.clone() for state in states]

    def begin() -> None:
        for state in states:
            state.zero_()

    model.eval()
    try:
        with torch.no_grad():
            yield begin
    finally:
        for module, mode in modes:
            module.training = mode
        with torch.no_grad():
            for state, value in zip(states, kept, strict=True):
                state.copy_(value)


def _states(module: nn.Module) -> list[Tensor]:
    """The states that a stateful layer carries from batch to batch."""
    found = getattr(module, "states", None) if isinstance(module, Layer) and module.stateful else None
    return [state for state in found or () if isinstance(state, Tensor)]


def traced(program: Program, examples: Examples) -> ExportedProgram:
    """The operations of a model, found by torch.export. Raises ExportError with its message."""
    batch = Dim("batch", min=1)
    axes = [
        {axis: Dim.DYNAMIC if axis else batch for axis, size in enumerate(each.shape) if size is None}
        for each in examples.signatures
    ]
    return followed(program, examples.draw(TRACED), tuple(axes), _advice(examples))


def followed(
    program: Program, inputs: Sequence[Tensor], axes: tuple[dict[int, Any], ...] | None = None, advice: str = ""
) -> ExportedProgram:
    """The operations of a program for inputs of these sizes; any size of the `axes`. Raises ExportError."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of torch's exporter, about its own code
            found = torch.export.export(program, tuple(inputs), dynamic_shapes=axes)
    except Exception as error:
        raise ExportError(f"torch.export cannot follow it: {reason(error)}{advice}") from error
    for node in found.graph.nodes:
        node.meta.pop("stack_trace", None)  # it has paths of this machine
    return found


def _advice(examples: Examples) -> str:
    unknown = [
        f"axis {axis} of {each.name!r}"
        for each in examples.signatures
        for axis, size in enumerate(each.shape)
        if axis and size is None and each.dtype is not STRING
    ]
    return f" Sizes are unknown: {', '.join(unknown)}; input_signature= can fix them." if unknown else ""


def name_outputs(program: ExportedProgram, names: Sequence[str]) -> None:
    """Give the outputs of a program the names of layers."""
    specs = program.graph_signature.output_specs
    nodes: Any = program.graph.output_node().args[0]
    outputs = [node for node, spec in zip(nodes, specs, strict=True) if spec.kind is OutputKind.USER_OUTPUT]
    renamed: dict[str, str] = {}
    for node, name in zip(outputs, identifiers(names), strict=True):
        old = node.name
        if node.op == "call_function" and old not in renamed.values():  # an input keeps its own
            node._rename(name)
            renamed[old] = node.name
    for spec in specs:
        spec.arg.name = renamed.get(spec.arg.name, spec.arg.name)
    program.graph_module.recompile()


def write(program: ExportedProgram, path: Path) -> None:
    """Write a `.pt2` file."""
    with path.open("wb") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.export.save(program, file)


def read(path: Path) -> Any:
    """A `.pt2` file as a function from a list of inputs to the list of outputs."""
    with path.open("rb") as file, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The given buffer is not writable", UserWarning)  # of torch 2.12's own bytes
        module = torch.export.load(file).module()
    return lambda inputs: as_list(module(*inputs))
