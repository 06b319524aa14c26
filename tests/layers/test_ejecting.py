"""Every layer of the table as plain PyTorch: the same numbers in evaluation mode, in training where nothing is drawn."""

from typing import Any

import pytest
import torch
from table import ROWS, Row

from torchkeras.engine.symbol import as_list
from torchkeras.export.errors import EjectError
from torchkeras.export.module_text import Written, write
from torchkeras.layers import Input
from torchkeras.models import Model

# What has no plain form, with the reason; it is refused by name.
REFUSED: dict[str, str] = {}
OUTSIDE = ("StringLookup", "LSTMCell", "GRUCell", "SimpleRNNCell", "StackedRNNCells", "ConvLSTM2DCell")  # in no graph
IN_GRAPHS = [row for row in ROWS if row.name not in OUTSIDE]


def model_of(row: Row, unknown: tuple[int, ...] = ()) -> Model:
    """The layer in a graph, with weights that nothing begins with."""
    inputs = []
    for number, tensor in enumerate(as_list(row.tensors())):
        shape = [None if number == 0 and axis in unknown else size for axis, size in enumerate(tensor.shape)]
        first = tensor.shape[0] if "stateful=True" in row.call else None
        inputs.append(Input(batch_shape=(first, *shape[1:]), dtype=str(tensor.dtype).removeprefix("torch.")))
    model = Model(inputs, row.make()(inputs if len(inputs) > 1 else inputs[0]), name="net")
    generator = torch.Generator().manual_seed(1)
    for name, tensor in (*model.named_parameters(), *model.named_buffers()):
        if tensor.is_floating_point() and "state_" not in name and not name.rpartition(".")[2].startswith("_"):
            values = torch.rand(tensor.shape, generator=generator)
            tensor.data.copy_(values + 0.5 if "var" in name else values - 0.5)
    # The second bias of torch's recurrent modules is no weight, but zero.
    for name, tensor in model.named_parameters():
        if name.endswith("bias_hh_l0") and not tensor.requires_grad:
            tensor.data.zero_()
    return model


def module_of(written: Written) -> Any:
    scope: dict[str, Any] = {"__name__": "model"}
    exec(compile(written.text, "model.py", "exec"), scope)  # noqa: S102  # the text that is tested
    module = scope[written.name](**written.functions)
    module.load_state_dict({name: tensor.detach().clone() for name, tensor in written.state.items()})
    return module


@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize("row", IN_GRAPHS, ids=lambda row: f"{row.call}-{row.inputs}")
def test_the_same_numbers(row: Row, known: bool):
    model = model_of(row, () if known else row.unknown).eval()
    if row.name in REFUSED:
        with pytest.raises(EjectError, match=REFUSED[row.name]):
            write(model, "model.pt")
        return
    tensors = as_list(row.tensors())
    module = module_of(write(model, "model.pt")).eval()
    model.reset_states()
    with torch.no_grad():
        for _ in range(2 if model.stateful else 1):
            for mine, other in zip(as_list_of(module(*tensors)), as_list_of(model(tensors)), strict=True):
                torch.testing.assert_close(mine, other, atol=1e-5, rtol=1e-4)


def as_list_of(outputs: Any) -> list[torch.Tensor]:
    return list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
