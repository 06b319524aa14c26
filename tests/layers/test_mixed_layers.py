"""Every layer under a mixed policy: outputs have 16 bits, weights and their gradients 32, and numbers are near."""

from typing import Any

import pytest
import torch
from table import ROWS, Row

from torchkeras import Input, Model
from torchkeras.base.naming import clear_session
from torchkeras.engine.symbolic.tensor import as_list

NEAR = {"float16": 0.004, "bfloat16": 0.02}  # a few units in the last place of the largest number
AS_ITS_OPERANDS = ("Operation",)  # no layer of Keras: it computes in the type that comes
ROWS_OF_MODELS = [
    row
    for row in ROWS
    if row.name not in AS_ITS_OPERANDS and ("half" not in row.differs or "integers" in row.differs["half"])
]


def made(row: Row, tensors: Any, policy: str) -> tuple[Model, list[Any]]:
    """A model of a layer alone, and its symbolic outputs."""
    clear_session()
    torch.manual_seed(1)
    layer = row.make()
    layer.dtype_policy = policy
    inputs = [Input((*t.shape[1:],), dtype=str(t.dtype).removeprefix("torch.")) for t in as_list(tensors)]
    outputs = layer(inputs if len(inputs) > 1 else inputs[0])
    model = Model(inputs, outputs)
    return model.eval(), as_list(outputs)


@pytest.mark.parametrize("row", ROWS_OF_MODELS, ids=[f"{row.call}-{row.inputs}" for row in ROWS_OF_MODELS])
@pytest.mark.parametrize("half", NEAR)
def test_a_layer_computes_in_16_bits(row: Row, half: str):
    dtype, tensors = getattr(torch, half), row.tensors()
    expected, _ = made(row, tensors, "float32")
    model, symbolic = made(row, tensors, f"mixed_{half}")
    model.set_weights(expected.get_weights())
    found, eager = as_list(model(tensors)), as_list(model.layers[-1](tensors))
    for value, by_hand, told, exact in zip(found, eager, symbolic, as_list(expected(tensors)), strict=True):
        torch.testing.assert_close(by_hand, value, rtol=0, atol=0)
        assert value.dtype is told.dtype is (dtype if exact.is_floating_point() else exact.dtype)
        near = NEAR[half] * exact.detach().abs().max().item() if exact.is_floating_point() else 0
        torch.testing.assert_close(value.to(exact.dtype), exact, rtol=0, atol=near)
    weights = [parameter for parameter in model.parameters() if parameter.requires_grad]
    if "gradients" not in row.differs and weights:
        trained = as_list(model.train()([t.requires_grad_(t.is_floating_point()) for t in as_list(tensors)]))
        sum(value.float().square().mean() for value in trained if value.is_floating_point()).backward()  # type: ignore[union-attr]
        for weight in weights:
            assert weight.dtype is torch.float32
            assert weight.grad is None or weight.grad.isfinite().all()
