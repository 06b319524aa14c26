"""Models with operations: compiled whole by torch, exported, and ejected or refused by name."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from torchkeras import Input, Model
from torchkeras.export.errors import EjectError
from torchkeras.keras3 import layers, ops

BATCH = torch.rand(3, 8, 4, generator=torch.Generator().manual_seed(0))


def _products(x: Any) -> Any:
    h = ops.softmax(ops.relu(ops.matmul(x, ops.ones((4, 6))) - 1))
    h = ops.concatenate([h, ops.transpose(ops.reshape(h, (-1, 6, 8)), (0, 2, 1))], axis=-1)
    return layers.Dense(2)(ops.mean(ops.einsum("btc,btd->bcd", h, h), axis=-1))


# The one function of each model, whose result has a row for each sample.
MODELS: dict[str, Callable[[Any], Any]] = {
    "products": _products,
    "scan": lambda x: ops.scan(lambda c, step: (c + step, c), ops.sum(x, axis=1), ops.transpose(x, (1, 0, 2)))[0],
    "fori_loop": lambda x: ops.fori_loop(0, 2, lambda i, y: y * 0.5 + i, x),
    "map": lambda x: ops.map(lambda row: ops.sum(row, axis=0), x),
    "vectorized_map": lambda x: ops.vectorized_map(lambda row: ops.max(row, axis=0), x),
    "associative_scan": lambda x: ops.associative_scan(torch.add, x, axis=1),
    "cond": lambda x: x + ops.cond(ops.sum(x) > 0, lambda: ops.ones(()), lambda: ops.zeros(())),
    "switch": lambda x: ops.switch(ops.sum(x), [torch.neg, torch.exp, torch.sin], x),
}
# As parameters of a test that exports them.
EXPORTED = {name: pytest.param(name) for name in MODELS}
EXPORTED["vectorized_map"] = pytest.param("vectorized_map", marks=pytest.mark.torch("2.13", "exports torch.vmap"))


def made(name: str) -> Model:
    inputs = Input((8, 4))
    return Model(inputs, MODELS[name](inputs))


@pytest.mark.torch("2.8", "its compiler follows whole models")
@pytest.mark.parametrize("name", MODELS)
def test_torch_compiles_it_whole(name: str):
    model = made(name)
    torch._dynamo.reset()
    compiled = torch.compile(model, backend="eager", fullgraph=True)
    for batch in (BATCH, -BATCH):
        torch.testing.assert_close(compiled(batch), model(batch))


@pytest.mark.torch("2.8", "its compiler follows whole models")
@pytest.mark.parametrize("name", EXPORTED.values())
def test_torch_exports_it(name: str):
    model = made(name)
    program: Any = torch.export.export(model, (BATCH,)).module()
    for batch in (BATCH, -BATCH):
        torch.testing.assert_close(program(batch), model(batch))


@pytest.mark.torch("2.8", "its compiler follows whole models")
@pytest.mark.parametrize("name", [EXPORTED[name] for name in ("products", "fori_loop", "vectorized_map", "cond")])
def test_a_file_has_it(name: str, tmp_path: Path):
    model = made(name)
    model.export(tmp_path / "model.pt2")
    program: Any = torch.export.load(tmp_path / "model.pt2").module()
    torch.testing.assert_close(program(BATCH), model(BATCH))


def _ejected(folder: Path) -> Any:
    spec: Any = importlib.util.spec_from_file_location("ejected", folder / "model.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Net


@pytest.mark.parametrize("name", ["fori_loop", "map", "vectorized_map", "associative_scan"])
def test_eject_takes_the_loop_from_its_caller(name: str, tmp_path: Path):
    model = made(name)
    loop = model.layers[-1]
    net = _ejected(model.eject(tmp_path / "net"))(**{loop.name: loop.function})
    torch.testing.assert_close(net(BATCH), model(BATCH))


@pytest.mark.parametrize("name", ["products", "scan", "cond", "switch"])
def test_eject_names_an_operation_that_it_does_not_write(name: str, tmp_path: Path):
    with pytest.raises(EjectError, match=r"'operation_\w+': eject knows no plain PyTorch for the function 'ops\.\w+'"):
        made(name).eject(tmp_path / "net")


LAYERS: dict[str, tuple[tuple[int, ...], Any]] = {
    "RMSNormalization": ((8, 4), layers.RMSNormalization),
    "EinsumDense": ((8, 4), lambda: layers.EinsumDense("btc,cd->btd", output_shape=(None, 3))),
    "STFTSpectrogram": ((1000, 1), layers.STFTSpectrogram),
    "AutoContrast": ((8, 8, 3), layers.AutoContrast),
    "Pipeline": ((8, 8, 3), lambda: layers.Pipeline([layers.Rescaling(0.5)])),
}


@pytest.mark.parametrize("name", LAYERS)
def test_eject_names_a_newer_layer_that_it_does_not_write(name: str, tmp_path: Path):
    shape, layer = LAYERS[name]
    inputs = Input(shape)
    with pytest.raises(EjectError, match=f"{name} '.*': eject knows no plain PyTorch for this class"):
        Model(inputs, layer()(inputs)).eject(tmp_path / "net")
