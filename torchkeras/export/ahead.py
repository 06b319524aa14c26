"""`model.freeze_for_inference(example=x)`: a frozen network as machine code for such inputs, by torch's AOTInductor."""

from __future__ import annotations

import io
import tempfile
import warnings
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils.benchmark import Timer

from torchkeras.base.interrupts import imported
from torchkeras.base.nested import put_together, taken_apart
from torchkeras.base.torch_versions import COMPILES
from torchkeras.base.tracing import traced
from torchkeras.engine.graph.layer_calls import HookFreeCalls
from torchkeras.engine.graph.network import Network
from torchkeras.engine.symbolic.tensor import as_list
from torchkeras.export.checking import differing
from torchkeras.export.errors import ExportError, reason
from torchkeras.export.examples import signatures_of
from torchkeras.export.program import Program, followed

Run = Callable[[list[Tensor]], list[Tensor]]

# Which is faster depends on the sizes: an MLP of 64 units takes 0.2 of the time by the second way for one sample, and
# 1.2 for 64. An LSTM of 64 samples is fastest without either.
WAYS: tuple[Mapping[str, Any], ...] = (
    {},
    {"freezing": True, "max_autotune": True, "max_autotune_gemm_backends": "CPP,ATEN"},
)
TIMED = 0.2  # seconds, of calls of each


class CompiledNetwork:
    """A frozen network: called with inputs like its example it runs machine code, and else the network.

    `network`: the frozen network, with its weights and its code. Its weights at the time of compiling are part of the
    machine code, so later changes do not reach that.
    """

    def __init__(self, network: Network, example: Any):
        self.network = network
        inputs = [each.detach().contiguous() for each in self._flat((example,), {})]
        outputs = network(example)
        self._form, wanted = taken_apart(outputs)
        self._is_single = isinstance(outputs, Tensor)
        self._kinds = list(map(_kind, inputs))
        self._run = _fastest(network, inputs, wanted)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The outputs for the inputs, as `network` gives them."""
        inputs = self._flat(args, kwargs)
        if list(map(_kind, inputs)) != self._kinds or _is_watched():
            return self.network(*args, **kwargs)
        outputs = self._run(inputs)
        return outputs[0] if self._is_single else put_together(self._form, outputs)

    def _flat(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The inputs in the order of the network's; none for a call with other arguments."""
        if len(args) != 1 or kwargs or not isinstance(args[0], Tensor):
            args, kwargs = self.network._in_order(args, kwargs)
        return [] if kwargs else as_list(args[0])


def _kind(value: Any) -> Any:
    """What machine code depends on in an input; None for all but plain tensors that record nothing."""
    if type(value) is not Tensor or value.requires_grad or value.layout is not torch.strided:
        return None
    return value.shape, value.dtype, value.device, value.is_contiguous()


def _is_watched() -> bool:
    """Whether a transformation of torch must see the operations of a call."""
    return traced() or torch._C._get_tracing_state() is not None or torch.is_autocast_enabled("cpu")


def compiled(network: Network, example: Any) -> CompiledNetwork:
    """A frozen network compiled for such inputs. Raises ExportError where it cannot be."""
    try:
        if not COMPILES:
            raise ExportError(f"this needs torch 2.8 or newer; this is torch {torch.__version__}.")
        if network._weights_device.type != "cpu":
            raise ExportError(f"its weights are on {network._weights_device}; this is for the CPU.")
        if network.stateful:
            raise ExportError("it keeps states from call to call: make its layers with stateful=False.")
        if HookFreeCalls(network).observed():
            raise ExportError("it has hooks, which would not run.")
        with torch.no_grad():
            return CompiledNetwork(network, example)
    except ExportError as error:
        raise ExportError(f"{network.name!r} cannot be compiled for inference: {error}") from error


def _fastest(network: Network, inputs: list[Tensor], wanted: list[Tensor]) -> Run:
    """The fastest of the network and of its machine code. Raises ExportError where no code gives the outputs."""
    module = Program(network, signatures_of(network, None))
    program = followed(module, inputs)
    runs: list[Run] = [module.compute]
    failure: ExportError | None = None
    for way in WAYS:
        try:
            run = _compiled(program, way)
            _check(network, wanted, run(inputs))
        except ExportError as error:
            failure = failure or error
        else:
            runs.append(run)
    if failure is not None and len(runs) == 1:
        raise failure
    return min(runs, key=partial(_seconds, inputs))


def _seconds(inputs: list[Tensor], run: Run) -> float:
    """The least time of a call."""
    timer = Timer("run(inputs)", globals={"run": run, "inputs": inputs}, num_threads=torch.get_num_threads())
    return min(timer.blocked_autorange(min_run_time=TIMED).times)


def _check(network: Network, wanted: list[Tensor], found: list[Tensor]) -> None:
    """Raise ExportError for outputs that differ from the network's by more than rounding."""
    for name, mine, other in zip(network.output_names, wanted, found, strict=True):
        if (difference := differing(mine, other)) is not None:
            raise ExportError(f"its machine code gives another output {name!r}: {difference}")


def _compiled(program: Any, way: Mapping[str, Any]) -> Run:
    """The machine code of a program as a function."""
    inductor = imported("torch._inductor")
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(), redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")  # of torch's compiler, about its own code
        path = str(Path(folder) / "network.pt2")
        try:
            inductor.aoti_compile_and_package(program, package_path=path, inductor_configs=dict(way))
        except Exception as error:
            raise ExportError(f"torch's compiler fails: {reason(error)}") from error
        # Its own call reads its description of inputs and outputs each time, which takes some 50 microseconds.
        return inductor.aoti_load_package(path).loader.run
