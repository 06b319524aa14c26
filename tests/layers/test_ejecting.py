"""Every layer of the table as plain PyTorch: the same numbers, in training too where what is drawn is given."""

from typing import Any

import pytest
import torch
from table import A_CELL, ROWS, STRINGS, Row

from torchkeras import registry
from torchkeras.engine.symbolic.tensor import as_list
from torchkeras.export.errors import EjectError
from torchkeras.export.plain.module_text import Written, write
from torchkeras.export.plain.rules import RULES
from torchkeras.layers import BatchNormalization, Input
from torchkeras.models import Model

IN_GRAPHS = [row for row in ROWS if row.differs not in (A_CELL, STRINGS)]
# What stands in no row: the writer of networks writes these, and Merge makes one of the other layers.
IN_NO_ROW = {"InputLayer", "Model", "Sequential", "Merge"}


def test_every_layer_has_a_rule_or_a_reason_to_have_none():
    ruled = {name for name in registry.layers.names() if registry.layers.find(name) in RULES}
    without = {row.name for row in ROWS if "ejects" in row.differs} | IN_NO_ROW
    lacking = set(registry.layers.names()) - ruled - without
    assert not lacking, 'write a rule in torchkeras/export/plain/rules, or {"ejects": why not} in the rows of the layer'
    assert not ruled & without, "these layers have a rule: their rows need no reason"


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
    if "ejects" in row.differs:
        with pytest.raises(EjectError, match=f"{row.name} .*: eject knows no plain PyTorch for this class"):
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


# Parts of a row's call: these draw otherwise, or say what they do not do.
RANDOM = ("Dropout", "dropout=", "Noise", "Random", "SpectralNormalization", "variance=")


@pytest.mark.parametrize(
    "row",
    [row for row in IN_GRAPHS if "ejects" not in row.differs and not any(word in row.call for word in RANDOM)],
    ids=lambda row: f"{row.call}-{row.inputs}",
)
def test_the_same_training(row: Row):
    model = model_of(row)
    assert_trains_alike(model, row.tensors())


def test_another_moving_variance_is_told():
    inputs = Input((4,))
    written = write(Model(inputs, BatchNormalization(variance="population")(inputs)), "model.pt")
    note = "The moving variance follows one that is divided by n - 1, where the model's follows another."
    assert note in " ".join(written.text.split())


def assert_trains_alike(model: Model, given: Any) -> None:
    """Outputs in training, gradients of the inputs, and what the statistics are afterwards."""
    module, tensors = module_of(write(model, "model.pt")).train(), as_list(given)
    gradients = []
    for each in (model.train(), module):
        inputs = [t.detach().clone().requires_grad_(t.is_floating_point()) for t in tensors]
        outputs = as_list_of(each(*inputs) if each is module else each(inputs))
        floating = [output for output in outputs if output.requires_grad]
        total = sum((output.square().sum() for output in floating), torch.zeros(()))
        if floating:
            total.backward()
        gradients.append([*outputs, *(t.grad for t in inputs if t.grad is not None)])
    for mine, other in zip(*gradients, strict=True):
        torch.testing.assert_close(mine, other, atol=1e-4, rtol=1e-3)
    before, after = (write(model, "model.pt").state, module.state_dict())
    for name in after:
        if "num_batches_tracked" not in name:
            torch.testing.assert_close(after[name], before[name].detach(), atol=1e-5, rtol=1e-4)


DROPPING = [
    "SimpleRNN(3, dropout=0.4, recurrent_dropout=0.3)",
    "SimpleRNN(3, dropout=0.4)",
    "GRU(3, dropout=0.4, recurrent_dropout=0.3)",
    "GRU(3, dropout=0.4, recurrent_dropout=0.3, implementation=2)",
    "GRU(3, dropout=0.4, recurrent_dropout=0.3, reset_after=True)",
    "GRU(3, dropout=0.4, recurrent_dropout=0.3, reset_after=True, implementation=2)",
    "LSTM(3, dropout=0.4, recurrent_dropout=0.3, return_sequences=True)",
    "LSTM(3, dropout=0.4, recurrent_dropout=0.3, implementation=2, use_bias=False)",
    "LSTM(3, dropout=0.4, recurrent_activation='sigmoid', implementation=2)",
    "LSTM(3, dropout=0.4, recurrent_activation='sigmoid')",
    "Bidirectional(GRU(3, dropout=0.4, recurrent_dropout=0.3))",
    "RNN(LSTMCell(3, dropout=0.4, recurrent_dropout=0.3))",
    "RNN([GRUCell(3, dropout=0.4), GRUCell(2, recurrent_dropout=0.3, implementation=2)])",
]


@pytest.mark.parametrize("call", DROPPING)
def test_what_recurrent_layers_drop(call: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(torch.nn.functional, "dropout", dropped)
    row = Row(call, "4x5x6")
    assert_trains_alike(model_of(row), row.tensors())


@pytest.mark.parametrize("call", ["ConvLSTM2D(3, 2, dropout=0.4, recurrent_dropout=0.3, padding='same')"])
def test_what_recurrent_layers_over_images_drop(call: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(torch.nn.functional, "dropout", lambda x, p=0.5, training=True: x * (1 - p) if training else x)
    row = Row(call, "2x3x4x5x2")
    assert_trains_alike(model_of(row), row.tensors())


def dropped(x: torch.Tensor, p: float = 0.5, training: bool = True) -> torch.Tensor:
    """Dropout of given places: the same for all gates and steps, others for each sample."""
    rows, features = (x.shape[0], x.shape[-1]) if x.shape[-2] == 1 else x.shape[-2:]
    kept = (torch.arange(rows * features).view(rows, features) * 7 % 5 > 1).float() / (1 - p)
    return x * (kept.unsqueeze(1) if x.shape[-2] == 1 else kept) if training else x


@pytest.mark.parametrize(
    "call",
    [
        "Dropout(0.3)",
        "Dropout(0.3, noise_shape=(None, 1, None))",
        "SpatialDropout1D(0.3)",
        "GaussianNoise(0.3)",
        "GaussianDropout(0.3)",
        "AlphaDropout(0.3)",
        "AlphaDropout(0.3, noise_shape=(None, 1, None))",
        "Embedding(50, 4, dropout=0.3)",
    ],
)
def test_noise_has_the_same_distribution(call: str):
    row = Row(call, "40x6x50" if "Embedding" not in call else "40x50<50")
    model = model_of(row)
    module = module_of(write(model, "model.pt")).train()
    model.train()
    x = torch.ones(40, 6, 50) if "Embedding" not in call else row.tensors()
    ours = torch.stack([model(x) for _ in range(200)])
    theirs = torch.stack([module(x) for _ in range(200)])
    for statistic in (torch.mean, torch.std):
        torch.testing.assert_close(statistic(theirs), statistic(ours), atol=0.02, rtol=0.02)
    shared = [value.std((2, 3) if "1D" not in call else 2).mean() for value in (ours, theirs)]
    torch.testing.assert_close(shared[1], shared[0], atol=0.02, rtol=0.05)
