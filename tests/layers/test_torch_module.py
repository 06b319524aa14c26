"""Modules of torch as layers: in a graph, trained, saved and loaded, they are what they are in plain torch."""

import copy
import pickle
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import torchkeras
from torchkeras.base.nested import leaves
from torchkeras.errors import ArchitectureError
from torchkeras.layers import (
    RNN,
    Bidirectional,
    Dense,
    GlobalAveragePooling2D,
    Identity,
    Input,
    Lambda,
    SpectralNormalization,
    TimeDistributed,
    TorchModule,
)
from torchkeras.models import Model, Sequential, clone_model, load_model, model_from_json


@dataclass(frozen=True)
class Row:
    """A module, by its call, and the shapes of its inputs without the batch axis: `5x8` floats, `5<9` integers."""

    call: str
    inputs: str
    pickles: bool = True

    def make(self) -> nn.Module:
        torch.manual_seed(1)
        return eval(self.call, {"nn": nn})

    def tensors(self, rows: int) -> list[torch.Tensor]:
        torch.manual_seed(2)
        found = []
        for text in self.inputs.split():
            sizes, below, limit = text.partition("<")
            shape = (rows, *map(int, sizes.split("x")))
            found.append(torch.randint(int(limit), shape) if below else torch.randn(shape))
        return found


ROWS = [
    Row("nn.Linear(8, 3)", "8"),
    Row("nn.Linear(8, 3, bias=False)", "5x8"),
    Row("nn.LazyLinear(3)", "5x8"),
    Row("nn.Bilinear(4, 3, 2)", "4 3"),
    Row("nn.Identity()", "8"),
    Row("nn.Embedding(9, 4)", "5<9"),
    Row("nn.EmbeddingBag(9, 4)", "5<9"),
    Row("nn.Conv1d(3, 4, 2)", "3x8"),
    Row("nn.Conv2d(3, 4, 3, padding=1)", "3x6x6"),
    Row("nn.Conv3d(2, 3, 2)", "2x4x4x4"),
    Row("nn.LazyConv2d(4, 3)", "3x6x6"),
    Row("nn.ConvTranspose1d(3, 4, 2)", "3x8"),
    Row("nn.ConvTranspose2d(3, 4, 2, stride=2)", "3x5x5"),
    Row("nn.MaxPool2d(2)", "3x6x6"),
    Row("nn.AvgPool1d(2)", "3x6"),
    Row("nn.AdaptiveAvgPool2d(1)", "3x6x6"),
    Row("nn.LPPool2d(2, 2)", "3x6x6"),
    Row("nn.BatchNorm1d(8)", "8"),
    Row("nn.BatchNorm2d(3)", "3x4x4"),
    Row("nn.LayerNorm(8)", "5x8"),
    Row("nn.RMSNorm(8)", "5x8"),
    Row("nn.GroupNorm(2, 4)", "4x5x5"),
    Row("nn.InstanceNorm2d(3, affine=True, track_running_stats=True)", "3x5x5"),
    Row("nn.LocalResponseNorm(2)", "3x5x5"),
    Row("nn.ReLU()", "8"),
    Row("nn.GELU()", "8"),
    Row("nn.SiLU()", "8"),
    Row("nn.PReLU(3)", "3x5"),
    Row("nn.Hardswish()", "8"),
    Row("nn.Softplus()", "8"),
    Row("nn.Softmax(-1)", "5x8"),
    Row("nn.GLU()", "8"),
    Row("nn.Dropout(0.5)", "8"),
    Row("nn.Dropout2d(0.5)", "3x5x5"),
    Row("nn.AlphaDropout(0.5)", "8"),
    Row("nn.Flatten()", "5x8"),
    Row("nn.Unflatten(1, (2, 4))", "8"),
    Row("nn.PixelShuffle(2)", "4x3x3"),
    Row("nn.Upsample(scale_factor=2)", "3x4x4"),
    Row("nn.ZeroPad2d(1)", "3x4x4"),
    Row("nn.ReflectionPad1d(1)", "3x4"),
    Row("nn.Unfold(2)", "3x4x4"),
    Row("nn.ChannelShuffle(2)", "4x3x3"),
    Row("nn.CosineSimilarity()", "5x4 5x4"),
    Row("nn.RNN(8, 4, batch_first=True)", "5x8"),
    Row("nn.LSTM(8, 4, num_layers=2, batch_first=True)", "5x8"),
    Row("nn.GRU(8, 4, batch_first=True, bidirectional=True)", "5x8"),
    Row("nn.LSTMCell(8, 4)", "8"),
    Row("nn.GRUCell(8, 4)", "8"),
    Row("nn.MultiheadAttention(8, 2, batch_first=True)", "5x8 6x8 6x8"),
    Row("nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)", "5x8"),
    Row("nn.TransformerDecoderLayer(8, 2, 16, batch_first=True)", "5x8 6x8"),
    Row("nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2)", "5x8"),
    Row("nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.LazyLinear(2))", "3x6x6"),
    Row("nn.utils.parametrizations.weight_norm(nn.Linear(8, 3))", "8", pickles=False),  # by torch's own decision
]
NEWER = {"nn.ChannelShuffle(2)": pytest.mark.torch("2.6", "gradients of ChannelShuffle")}
EVERY = pytest.mark.parametrize("row", [pytest.param(row, id=row.call, marks=NEWER.get(row.call, ())) for row in ROWS])


@pytest.fixture(autouse=True)
def fresh_session():
    torchkeras.clear_session()


def test_how_many_classes_are_in_the_table():
    assert len({type(row.make()) for row in ROWS}) >= 40


def inputs_of(row: Row) -> list[Any]:
    tensors = row.tensors(2)
    return [Input(tuple(t.shape[1:]), dtype=str(t.dtype).removeprefix("torch.")) for t in tensors]


def with_weights(row: Row, module: nn.Module, first: Any) -> nn.Module:
    """A module without parameters is trained with a scale before it."""
    return (
        module if next(module.parameters(), None) is not None or not first.dtype.is_floating_point else Scaled(module)
    )


class Scaled(nn.Module):
    def __init__(self, module: nn.Module):
        super().__init__()
        self.scale, self.module = nn.Parameter(torch.tensor(0.9)), module

    def forward(self, first: Any, *others: Any) -> Any:
        return self.module(first * self.scale, *others)


def assert_state(found: nn.Module, expected: nn.Module) -> None:
    torch.testing.assert_close(dict(found.state_dict()), dict(expected.state_dict()))


@EVERY
def test_trains_saves_and_loads_as_in_plain_torch(row: Row, tmp_path):
    tensors = row.tensors(12)
    module = with_weights(row, row.make(), tensors[0])
    with torch.no_grad():
        module.eval()(*tensors)  # which gives lazy parameters their values
    plain, inputs = copy.deepcopy(module), inputs_of(row)
    layer = TorchModule(module)
    output = leaves(layer(*inputs))[0]
    model = Model(inputs, output)
    expected = leaves(plain(*tensors))[0].detach()
    assert (output.shape[1:], output.dtype) == (tuple(expected.shape[1:]), expected.dtype)
    assert {id(v.tensors[0]) for v in model.weights} == {*map(id, module.state_dict(keep_vars=True).values())}
    target = torch.randn_like(expected)

    torch.manual_seed(3)
    model.compile("sgd", "mse")
    model.fit([t.numpy() for t in tensors], target.numpy(), batch_size=4, shuffle=False, verbose=0)
    torch.manual_seed(3)
    optimizer = torch.optim.SGD(plain.parameters(), lr=0.01)
    for start in range(0, 12, 4):
        outputs = leaves(plain.train()(*(t[start : start + 4] for t in tensors)))[0]
        optimizer.zero_grad()
        nn.functional.mse_loss(outputs, target[start : start + 4]).backward()
        optimizer.step()
    assert_state(module, plain)

    model.save(tmp_path / "model.h5")
    found = model.predict([t.numpy() for t in tensors], verbose=0)
    pickled = [pickle.loads(pickle.dumps(model))] if row.pickles else []  # noqa: S301  # just written
    again = load_model(
        tmp_path / "model.h5", custom_objects={layer.name: lambda: with_weights(row, row.make(), tensors[0])}
    )
    for other in (again, copy.deepcopy(model), *pickled):
        torch.testing.assert_close(
            torch.as_tensor(other.predict([t.numpy() for t in tensors], verbose=0)), torch.as_tensor(found)
        )
    with torch.no_grad():
        torch.testing.assert_close(torch.as_tensor(found), leaves(plain.eval()(*tensors))[0])


@EVERY
def test_a_first_call_gives_lazy_modules_their_weights(row: Row):
    inputs, tensors = inputs_of(row), row.tensors(3)
    layer = TorchModule(row.make())
    outputs = leaves(layer(*inputs))
    model = Model(inputs, outputs).eval()
    assert not any(isinstance(p, nn.parameter.UninitializedParameter) for p in layer.parameters())
    expected = [t.detach() for t in leaves(copy.deepcopy(layer.module)(*tensors))]
    found = model(*tensors)
    for mine, other in zip(found if isinstance(found, list) else [found], expected, strict=True):
        torch.testing.assert_close(mine.detach(), other)


# --- inputs and outputs ----------------------------------------------------------------------------------------------


def test_outputs_have_the_form_that_the_module_gives():
    x = Input((5, 8))
    y, (h, c) = TorchModule(nn.LSTM(8, 4, batch_first=True))(x)
    assert (y.shape, h.shape, c.shape) == ((None, 5, 4), (1, None, 4), (1, None, 4))
    attention = TorchModule(nn.MultiheadAttention(8, 2, batch_first=True))
    y, weights = attention(x, x, value=x)
    assert (y.shape, weights.shape) == ((None, 5, 8), (None, 5, 5))
    assert attention(x, x, x, need_weights=False)[1] is None


def test_arguments_by_name_come_back_from_a_file(tmp_path):
    x = Input((5, 8))
    layer = TorchModule(nn.MultiheadAttention(8, 2, batch_first=True), name="attention")
    model = Model(x, layer(x, x, value=x, need_weights=True, average_attn_weights=False))
    given = torch.rand(2, 5, 8)
    model.save(tmp_path / "model.h5")
    again = load_model(tmp_path / "model.h5", {"attention": nn.MultiheadAttention(8, 2, batch_first=True)})
    for mine, other in zip(again(given), model(given), strict=True):
        torch.testing.assert_close(mine, other)
    assert model(given)[1].shape == (2, 2, 5, 5)


def test_images_as_the_graph_shows_them_or_channels_first():
    module = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)).eval()
    image, given = Input((6, 6, 3)), torch.rand(2, 6, 6, 3)
    layer = TorchModule(module, data_format="channels_first")
    features = layer(image)
    assert features.shape == (None, 4, 4, 4)
    model = Model(image, GlobalAveragePooling2D()(features)).eval()
    assert model.code.count("permute") == 1
    torch.testing.assert_close(model(given), module(given.permute(0, 3, 1, 2)).mean((2, 3)))
    torch.testing.assert_close(layer(given), module(given.permute(0, 3, 1, 2)).permute(0, 2, 3, 1))
    with pytest.raises(ValueError, match="Invalid channel dimensions") as error:
        TorchModule(module, name="m")(image)
    assert str(error.value) == (
        "TorchModule 'm' cannot compute on input shape (None, 6, 6, 3): Invalid channel dimensions. It was given the "
        "axes as the graph shows them; for a module that takes the channels first write TorchModule(module, "
        "data_format='channels_first')."
    )


def test_the_mode_reaches_the_module_and_training_sets_it_for_a_call():
    x, given = Input((8,)), torch.ones(2, 8)
    layer = TorchModule(nn.Dropout(0.5))
    model = Model(x, [layer(x), layer(x, training=False)])
    dropped, kept = model.train()(given)
    assert (dropped == 0).any()
    assert torch.equal(kept, given)
    assert torch.equal(model.eval()(given)[0], given)


def test_a_frozen_module_keeps_its_statistics():
    module = nn.BatchNorm1d(8)
    model = Sequential([TorchModule(module, trainable=False, input_shape=(8,)), Dense(1)])
    model.compile("sgd", "mse")
    model.fit(torch.rand(8, 8), torch.rand(8, 1), verbose=0)
    assert module.running_mean is not None
    assert module.running_mean.tolist() == [0] * 8
    assert module.weight.tolist() == [1] * 8


def test_the_type_is_that_of_the_parameters():
    x = Input((4,))
    assert TorchModule(nn.Linear(4, 2).double())(x).dtype is torch.float64
    assert TorchModule(nn.Linear(4, 2).bfloat16())(x).dtype is torch.bfloat16
    output = TorchModule(nn.Linear(4, 2), dtype="mixed_bfloat16")(x)
    assert (output.dtype, Model(x, output)(torch.rand(2, 4)).dtype) == (torch.bfloat16, torch.bfloat16)


# --- wherever a layer is taken ---------------------------------------------------------------------------------------


def test_modules_in_a_sequential():
    torch.manual_seed(0)
    first, last = nn.Linear(20, 4), nn.Linear(4, 1)
    model = Sequential([nn.Flatten(), first, nn.ReLU()])
    model.add(last)
    given = torch.rand(3, 4, 5)
    torch.testing.assert_close(model(given), last(first(given.flatten(1)).relu()))
    assert [type(layer) for layer in model.layers] == [TorchModule] * 4
    assert model.count_params() == 89
    assert next(model.parameters()) is first.weight


def test_a_module_at_every_time_step(tmp_path):
    module = nn.Linear(4, 3)
    x, given = Input((None, 4)), torch.rand(2, 5, 4)
    model = Model(x, TimeDistributed(module)(x))
    torch.testing.assert_close(model(given), module(given))
    model.save(tmp_path / "model.h5")
    again = load_model(tmp_path / "model.h5", {"Linear": lambda: nn.Linear(4, 3)})
    torch.testing.assert_close(again(given), model(given))


def test_what_cannot_take_a_module():
    with pytest.raises(ValueError, match="recurrent layer") as error:
        Bidirectional(nn.LSTM(8, 4))
    assert str(error.value).endswith(
        "Torch's own go both ways by an option: TorchModule(nn.LSTM(..., batch_first=True, bidirectional=True))."
    )
    with pytest.raises(ValueError, match="has neither kernel nor embeddings"):
        SpectralNormalization(nn.Linear(8, 4))(Input((8,)))
    with pytest.raises(ValueError, match="cell must have a `call` method"):
        RNN(nn.LSTMCell(8, 4))  # type: ignore[arg-type]


def test_a_lambda_owns_its_module_and_refuses_one_behind_its_back():
    module = nn.Linear(4, 1)
    model = Sequential([Lambda(module, input_shape=(4,))])
    before = module.weight.detach().clone()
    model.compile("sgd", "mse")
    model.fit(torch.rand(8, 4), torch.rand(8, 1), verbose=0)
    assert not torch.equal(module.weight, before)
    with pytest.raises(ValueError, match="must not be a method of the module") as error:
        Lambda(module.forward)
    assert str(error.value) == (
        "Lambda: function must not be a method of the module Linear: the layer would neither train the module nor set "
        "its mode. Write TorchModule(module), or pass the module itself."
    )


# --- configs ---------------------------------------------------------------------------------------------------------


def model_of_two() -> Model:
    x = Input((4,), name="x")
    return Model(x, TorchModule(nn.Linear(4, 4), name="b")(TorchModule(nn.Linear(4, 4), name="a")(x)))


def test_a_module_given_for_several_layers_is_copied():
    module, model = nn.Linear(4, 4), model_of_two()
    for given in ({"a": module, "b": module}, {"Linear": module}, {"Linear": lambda: nn.Linear(4, 4)}):
        again = model_from_json(model.to_json(), given)
        assert len(list(again.parameters())) == 4
        assert not {*map(id, again.parameters())} & {*map(id, module.parameters())}
        again.set_weights(model.get_weights())
        torch.testing.assert_close(again(torch.ones(2, 4)), model(torch.ones(2, 4)))


class OfFour(nn.Linear):
    def __init__(self) -> None:
        super().__init__(4, 4)


def test_a_class_without_arguments_makes_the_module(tmp_path):
    model = Sequential([Input((4,)), TorchModule(OfFour(), name="own")])
    model.save(tmp_path / "m.keras")
    again = load_model(tmp_path / "m.keras", custom_objects={"own": OfFour})
    torch.testing.assert_close(again(torch.ones(2, 4)), model(torch.ones(2, 4)))
    with pytest.raises(
        ArchitectureError, match=r"TorchModule 'own': its entry in custom_objects makes no module: .*missing"
    ):
        load_model(tmp_path / "m.keras", custom_objects={"own": nn.Linear})


@pytest.mark.parametrize("given", [None, {"a": 5}, {"a": lambda: 5}])
def test_a_config_asks_for_the_module(given):
    with pytest.raises(ArchitectureError) as error:
        model_from_json(model_of_two().to_json(), given)
    assert str(error.value) == (
        "TorchModule 'a': its module, a Linear, is not stored in the file. Pass one of the same form, or a function "
        "that makes one: custom_objects={'a': module}."
    )


@pytest.mark.parametrize("module", [None, 5, ["Linear"], {"class_name": "Linear", "config": {}}, "os.system"])
def test_hostile_configs_are_refused(module):
    text = model_of_two().to_json()
    config = torchkeras.saving.containers.json_text.parse(text, "It")  # type: ignore[attr-defined]
    config["config"]["layers"][1]["config"]["module"] = module
    with pytest.raises(ArchitectureError):
        torchkeras.models.model_from_config(config, {"b": nn.Linear(4, 4)})


def test_a_module_of_two_layers_is_not_torn_apart_by_a_file():
    x, module = Input((4,)), nn.Linear(4, 4)
    model = Model(x, TorchModule(module, name="b")(TorchModule(module, name="a")(x)))
    given = {"a": nn.Linear(4, 4), "b": nn.Linear(4, 4)}
    for again in (model, clone_model(model), model_from_json(model.to_json(), custom_objects=given)):
        assert again.count_params() == 20
        assert again.get_layer("a").module is again.get_layer("b").module


def test_a_built_layer_takes_the_place_of_what_was_around_it():
    inputs = Input((4,))
    model = Model(inputs, Dense(3, name="last")(inputs))
    dense, x = model.layers[-1], torch.rand(2, 4)
    model.last = nn.Sequential(dense, nn.Flatten())
    expected = model(x)
    model.last.module = dense
    torch.testing.assert_close(model(x), expected)
    assert list(model.state_dict()) == ["last.module.linear.weight", "last.module.linear.bias"]


def test_no_module():
    for value, text in (
        (5, "TorchModule: module must be a module of torch, such as nn.Linear(4, 2); found 5."),
        (
            Identity(name="i"),
            "TorchModule: module must be a module of torch; found the layer Identity('i'), which needs no TorchModule.",
        ),
    ):
        with pytest.raises(ValueError, match="must be a module") as error:
            TorchModule(value)
        assert str(error.value) == text


def test_the_shape_of_the_output_before_a_call():
    layer = TorchModule(nn.LazyLinear(3))
    assert layer.compute_output_shape((None, 5, 4)) == (None, 5, 3)
    assert not layer.built


class LastStep(nn.Module):
    """A module of the user's around one of torch's recurrent ones."""

    def __init__(self, kind: Any, **options: Any):
        super().__init__()
        self.inside = kind(4, 5, batch_first=True, **options)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return self.inside(inputs)[0][:, -1]


@pytest.mark.parametrize("options", [{}, {"num_layers": 2, "bidirectional": True}], ids=str)
@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN, partial(nn.RNN, nonlinearity="relu")])
def test_a_users_module_may_hold_a_recurrent_one_of_torchs(kind: Any, options: dict[str, Any]):
    module = LastStep(kind, **options)
    by_hand, data = copy.deepcopy(module), torch.randn(6, 3, 4)
    inputs = Input((3, 4))
    model = Model(inputs, TorchModule(module)(inputs))
    assert model.output_shape == (None, 10 if options else 5)
    model.compile(torch.optim.SGD(model.parameters(), 0.1), "mse")
    model.fit(data, torch.zeros(6, 10 if options else 5), verbose=0)
    by_hand(data).square().mean().backward()
    torch.optim.SGD(by_hand.parameters(), 0.1).step()
    for found, expected in zip(module.parameters(), by_hand.parameters(), strict=True):
        torch.testing.assert_close(found, expected)


class Packed(nn.Module):
    """Its code looks at values: the lengths of the sequences."""

    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(4, 5, batch_first=True)

    def forward(self, x):
        lengths = (x.abs().sum(-1) > 0).sum(1).cpu()
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        return self.gru(packed)[1][0]


class Branching(nn.Module):
    """Its code looks at values: one branch or the other."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 5)

    def forward(self, x):
        return self.linear(x) if (x > 0).all() else self.linear(x) * 2


@pytest.mark.parametrize(("kind", "shape"), [(Packed, (None, 4)), (Packed, (3, 4)), (Branching, (4,))])
def test_a_module_that_looks_at_values_in_a_graph(kind, shape):
    module = kind()
    inputs = Input(shape)
    model = Model(inputs, TorchModule(module)(inputs))
    assert model.output_shape == (None, 5)
    x = torch.rand(2, *[size or 3 for size in shape])
    torch.testing.assert_close(model(x), module(x))
    model.compile("sgd", "mse")
    before = [each.clone() for each in module.parameters()]
    model.fit(x.numpy(), np.ones((2, 5)), verbose=0)
    assert not any(torch.equal(one, other) for one, other in zip(before, module.parameters(), strict=True))


class Placed(nn.Module):
    """Takes texts up to a length, as encoders do."""

    def __init__(self, limit):
        super().__init__()
        self.places = nn.Parameter(torch.rand(limit, 4))

    def forward(self, x):
        return x + self.places[: x.shape[1]]


def test_a_module_with_a_limit_of_length_in_a_graph():
    inputs, module = Input((None, 4)), Placed(64)
    model = Model(inputs, TorchModule(module)(inputs))
    assert model.output_shape == (None, None, 4)
    x = torch.rand(2, 11, 4)
    torch.testing.assert_close(model(x), module(x))


def test_a_module_with_too_low_a_limit_says_so():
    with pytest.raises(ValueError, match=r"^TorchModule 'placed' cannot compute on input shape \(None, None, 4\): "):
        TorchModule(Placed(20), name="placed")(Input((None, 4)))


class Masked(nn.Module):
    """Called as encoders are: `module(ids, attention_mask=mask)`."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(9, 4)

    def forward(self, ids, attention_mask=None, key=None):
        hidden = self.embedding(ids)
        for each in (attention_mask, key):
            hidden = hidden if each is None else hidden * each.unsqueeze(-1)
        return hidden


@pytest.mark.parametrize("suffix", ["h5", "safetensors", "pt"])
@pytest.mark.parametrize("name", ["attention_mask", "key"])
def test_tensors_by_name_come_back_from_files(name, suffix, tmp_path):
    ids, mask = Input((3,), dtype="int64"), Input((3,))
    model = Model([ids, mask], TorchModule(Masked(), name="encoder")(ids, **{name: mask}))
    model.save(tmp_path / f"model.{suffix}")
    again = load_model(tmp_path / f"model.{suffix}", custom_objects={"encoder": Masked()})
    inputs = [torch.randint(9, (2, 3)), torch.tensor([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])]
    torch.testing.assert_close(again(inputs), model(inputs))
