"""Compile the steps of the suite for CUDA, without values, and print as JSON what each graph holds.

`python compiled_paths.py LIBRARY`: as `hot_paths.py`. Tensors are torch's fake ones, on `cuda:0`: the graph that
torch.compile makes of a step is the one that it makes on such a device, up to the kernels. Recurrent layers are left
out: their kernels run between two graphs, and are in `hot_paths.py`.
"""

# ruff: noqa: E402
# torch looks for a device once, when it is imported: the library comes first.

import ctypes
import sys

LIBRARY = sys.argv[1]
ctypes.CDLL(LIBRARY)

import json
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any
from unittest import mock

import torch
from device import install
from torch import Tensor, nn
from torch._dynamo.backends.common import aot_autograd
from torch._functorch._aot_autograd.utils import make_boxed_func
from torch._inductor.utils import get_first_incompatible_cudagraph_node
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._pytree import tree_leaves

import torchkeras
from benchmarks.workloads import WORKLOADS, samples
from torchkeras import Input, Sequential, layers, optimizers
from torchkeras.data.batch import Batch

SIZE, FEATURES, CLASSES = 4, 8, 3
CUDA = "cuda:0"
STEPS = 3  # the first of a shape runs without a graph, the second makes it
SPARSE = "sparse_categorical_crossentropy"
MEMORY: dict[str, Callable[..., Any]] = {
    "current_device": lambda: 0,
    "mem_get_info": lambda device=None: (2**40, 2**40),
    "memory_reserved": lambda device=None: 0,
    "memory_allocated": lambda device=None: 0,
}


def of_suite(name: str) -> tuple[Any, Any, Any]:
    """A network of the suite, not compiled, and a batch of its data."""
    x, y = samples(WORKLOADS[name], 1)
    return WORKLOADS[name].network(torchkeras), [each[:SIZE] for each in x], y[:SIZE]


def stacked(*kinds: Any, shape: tuple[int, ...] = (FEATURES,)) -> tuple[Any, Any, Any]:
    network = Sequential([Input(shape), *kinds, layers.Dense(CLASSES, "softmax")])
    return network, [torch.zeros(SIZE, *shape)], torch.zeros(SIZE, dtype=torch.int64)


class Faulty(layers.Layer):
    def __init__(self, fault: Callable[[Tensor], Tensor]):
        super().__init__()
        self.fault = fault

    def call(self, inputs: Tensor) -> Tensor:
        return self.fault(inputs)


def with_fault(fault: Callable[[Tensor], Tensor]) -> Any:
    return partial(stacked, Faulty(fault))


PATHS: dict[str, Callable[[], tuple[Any, Any, Any]]] = {
    **{f"suite: {name}": partial(of_suite, name) for name in ("mlp", "cnn", "resnet20", "transformer", "embeddings")},
    "a constant": lambda: stacked(layers.Lambda(lambda x: x * torch.arange(8.0, device=x.device))),
    "penalties": lambda: stacked(layers.Dense(4, kernel_regularizer="l2", activity_regularizer="l1")),
    "masks": lambda: stacked(layers.Masking(), layers.GlobalAveragePooling1D(), shape=(6, 4)),
    "half precision": lambda: stacked(layers.Dense(8, dtype="mixed_bfloat16")),
}
FAULTS = {
    "zeros without a device": with_fault(lambda x: x + torch.zeros(FEATURES, device="cpu")),
    "item": with_fault(lambda x: x if x.is_meta else x * x.detach().max().item()),
    "numbers fetched": with_fault(lambda x: x if x.is_meta else x + x.detach().cpu().mean()),
    "a boolean index": with_fault(lambda x: x if x.is_meta else x + x.detach()[x > 0].mean()),
}


def to_cuda(model: nn.Module) -> None:
    """Put fake tensors of the device in the place of a model's; torch's `to` cannot move fake parameters."""
    for module in model.modules():
        for name, parameter in module._parameters.items():
            if parameter is not None:
                moved = torch.empty_like(parameter, device=CUDA)
                module._parameters[name] = nn.Parameter(moved, requires_grad=parameter.requires_grad)
        for name, buffer in module._buffers.items():
            if buffer is not None:
                module._buffers[name] = torch.empty(buffer.shape, dtype=buffer.dtype, device=CUDA)


def of_path(make: Callable[[], tuple[Any, Any, Any]]) -> dict[str, Any]:
    """What the graphs of a train step and of one in evaluation hold."""
    graphs: list[torch.fx.GraphModule] = []

    def record(graph: torch.fx.GraphModule, inputs: Any) -> Any:
        graphs.append(graph)
        return make_boxed_func(graph.forward)

    torch._dynamo.reset()
    torchkeras.clear_session()
    with FakeTensorMode(allow_non_fake_inputs=True), mock.patch.multiple(torch.cuda, **MEMORY):
        model, x, y = make()
        to_cuda(model)
        backend = aot_autograd(fw_compiler=record, bw_compiler=record, inference_compiler=record)
        model.compile(optimizers.Adam(), SPARSE, metrics=["accuracy"], jit_compile={"backend": backend})
        inputs = [torch.empty(each.shape, dtype=tensor_type(each), device=CUDA) for each in x]
        batch = Batch(inputs, [torch.empty(y.shape, dtype=torch.int64, device=CUDA)], [None], SIZE)
        found = {}
        for kind in ("train", "test"):
            graphs.clear()
            model.train(kind == "train")
            step = model._training.step(kind)
            for _ in range(STEPS):
                step(batch)
            found[kind] = described(graphs)
    return found


def tensor_type(values: Any) -> torch.dtype:
    dtype = torch.as_tensor(values[:1]).dtype
    return torch.get_default_dtype() if dtype.is_floating_point else dtype


def described(graphs: list[torch.fx.GraphModule]) -> dict[str, Any]:
    """The number of graphs, the devices of all tensors in them, and whether a CUDA graph cannot hold one."""
    nodes = [node for graph in graphs for node in graph.graph.nodes]
    tensors = [each for node in nodes for each in tree_leaves(node.meta.get("val")) if isinstance(each, Tensor)]
    refused = map(get_first_incompatible_cudagraph_node, graphs)
    return {
        "graphs": len(graphs),
        "devices": sorted({str(tensor.device) for tensor in tensors}),
        "reads": [str(node.target) for node in nodes if "local_scalar" in str(node.target)],
        "not to capture": [str(node) for node in refused if node is not None],
    }


def caught(make: Callable[[], tuple[Any, Any, Any]]) -> dict[str, Any]:
    try:
        return of_path(make)
    except Exception as error:  # noqa: BLE001 - each is a finding, which the tests compare
        return {"error": f"{type(error).__name__}: {error}"}


def main() -> None:
    install(LIBRARY)
    warnings.simplefilter("ignore")
    chosen = sys.argv[2:]
    found = {
        "paths": {name: caught(make) for name, make in PATHS.items() if not chosen or name in chosen},
        "faults": {name: caught(make) for name, make in FAULTS.items() if not chosen or name in chosen},
    }
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
