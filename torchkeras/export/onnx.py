"""A program as an ONNX file, by torch's exporter. Needs the packages onnx and onnxscript."""

from __future__ import annotations

import importlib
import importlib.util
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.export import ExportedProgram

from torchkeras.export.errors import ExportError, reason
from torchkeras.export.examples import Signature

LARGEST = 2**31 - 2**24  # bytes: the most that one file of protocol buffers holds, minus some room for the graph
NEEDED = ("onnx", "onnxscript")


def require() -> None:
    """Raise ImportError if a package that torch's exporter needs is missing."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise ImportError(
            f"An .onnx file: {' and '.join(missing)} not found. Install with `pip install torchkeras-graph[onnx]`."
        )


# --- writing ---------------------------------------------------------------------------------------------------------


def write(
    program: ExportedProgram,
    path: Path,
    signatures: Sequence[Signature],
    output_names: Sequence[str],
    opset_version: int | None,
) -> None:
    """Write an ONNX file. Raises ExportError for what ONNX, or torch's exporter to it, does not have."""
    size = sum(tensor.nbytes for tensor in program.state_dict.values())
    if size > LARGEST:
        raise ExportError(f"its weights have {size:,} bytes; one ONNX file holds {LARGEST:,}: export it as .pt2.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of torch's exporter, about its own code
            program = program.run_decompositions(DECOMPOSITIONS)
            _refuse_memory(program)
            made: Any = torch.onnx.export(
                program,
                verbose=False,
                input_names=[each.name for each in signatures],
                output_names=list(output_names),
                dynamic_shapes=tuple(map(axis_names, signatures)),
                opset_version=opset_version,
            )
    except ExportError:
        raise
    except Exception as error:
        raise ExportError(f"torch.onnx cannot write it: {reason(_cause(error))}") from error
    graph = made.model.graph
    for node in graph.all_nodes():
        node.metadata_props.pop("pkg.torch.onnx.stack_trace", None)  # it has paths of this machine
    _rename_inner_values(graph)
    made.save(path)


def _rename_inner_values(graph: Any) -> None:
    """Rename values that torch's exporter gave the name of an input or output, such as "conv2d_1" for a convolution."""
    ends = [*graph.inputs, *graph.outputs]
    taken = {value.name for value in ends}
    for number, value in enumerate(value for node in graph.all_nodes() for value in node.outputs):
        if value.name in taken and not any(value is end for end in ends):
            value.name = f"{value.name}_value_{number}"


def _refuse_memory(program: ExportedProgram) -> None:
    kept = sorted(program.graph_signature.buffers_to_mutate.values())
    if kept:
        raise ExportError(
            f"it keeps {', '.join(map(repr, kept))} from call to call, and an ONNX file keeps nothing: export it as "
            ".pt2, or with stateful=False."
        )


def _cause(error: BaseException) -> BaseException:
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def axis_names(signature: Signature) -> dict[int, str]:
    """The names of an input's unknown axes: "batch", and the input's name with the number of the axis."""
    return {k: f"{signature.name}_{k}" if k else "batch" for k, size in enumerate(signature.shape) if size is None}


# --- what torch's exporter has not -----------------------------------------------------------------------------------

_ATTENTION = torch.ops.aten.scaled_dot_product_attention.default


def _attention(query: Tensor, key: Tensor, value: Tensor, mask: Any = None, *args: Any, **options: Any) -> Any:
    """Attention over three axes by one over four, as ONNX has it."""
    mask = options.pop("attn_mask", mask)
    if query.dim() != 3:
        return NotImplemented
    mask = None if mask is None else mask.unsqueeze(-3)
    return _ATTENTION(query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1), mask, *args, **options).squeeze(1)


DECOMPOSITIONS: dict[Any, Callable[..., Any]] = {_ATTENTION: _attention}


# --- running ---------------------------------------------------------------------------------------------------------


def read(path: Path, input_names: Sequence[str]) -> Callable[[list[Tensor]], list[Tensor]]:
    """An ONNX file as a function from inputs to outputs (lists): by onnxruntime, or by onnx's reference."""
    run = _runtime(path) if importlib.util.find_spec("onnxruntime") else _reference(path)

    def compute(inputs: list[Tensor]) -> list[Tensor]:
        given = {name: tensor.numpy() for name, tensor in zip(input_names, inputs, strict=True)}
        return [torch.as_tensor(found) for found in run(None, given)]

    return compute


def _runtime(path: Path) -> Any:
    onnxruntime = importlib.import_module("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # errors
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"]).run
    except Exception as error:
        raise ExportError(f"onnxruntime cannot read the written file: {reason(error)}") from error


def _reference(path: Path) -> Any:
    return importlib.import_module("onnx.reference").ReferenceEvaluator(str(path)).run
