"""What torch's utilities make of the layers of the package is theirs too: pruned, parametrized, adapted, replaced."""

import copy
import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from law import assert_law, ids
from own_code import LoRA, Scale
from torch import nn
from torch.nn.utils import parametrize, prune

from torchkeras import Input, Model, layers, optimizers, regularizers
from torchkeras.engine.layer.layer import Layer

SIGMOID: dict[str, Any] = {"recurrent_activation": "sigmoid"}
ATTENTION = layers.MultiHeadAttention
# Layer, shape of an input of numbers below 5, and the paths of the tensors that it computes with.
KINDS: dict[str, tuple[Callable[[], Layer], tuple[int, ...], tuple[str, ...]]] = {
    "Dense": (lambda: layers.Dense(3), (4,), ("linear.weight", "linear.bias")),
    "Conv1D": (lambda: layers.Conv1D(3, 2, padding="causal"), (5, 4), ("conv.weight", "conv.bias")),
    "Embedding": (lambda: layers.Embedding(5, 3), (4,), ("embedding.weight",)),
    "BatchNormalization": (layers.BatchNormalization, (4,), ("norm.weight", "norm.bias")),
    "BatchNormalization(mode=1)": (lambda: layers.BatchNormalization(mode=1), (4,), ("norm.weight", "norm.bias")),
    "GroupNormalization": (lambda: layers.GroupNormalization(2), (3, 4), ("norm.weight", "norm.bias")),
    "LayerNormalization": (layers.LayerNormalization, (3, 4), ("norm.weight", "norm.bias")),
    "SimpleRNN": (lambda: layers.SimpleRNN(3), (5, 4), ("rnn.weight_ih_l0", "rnn.weight_hh_l0")),
    "SimpleRNN(elu)": (lambda: layers.SimpleRNN(3, activation="elu"), (5, 4), ("rnn.weight_ih_l0", "rnn.bias_ih_l0")),
    "LSTM": (lambda: layers.LSTM(3), (5, 4), ("lstm.weight_ih_l0", "lstm.weight_hh_l0", "lstm.bias_ih_l0")),
    "LSTM(sigmoid)": (lambda: layers.LSTM(3, **SIGMOID), (5, 4), ("lstm.weight_ih_l0", "lstm.weight_hh_l0")),
    "GRU": (lambda: layers.GRU(3), (5, 4), ("gru.weight_ih_l0", "gru.weight_hh_l0")),
    "GRU(reset_after)": (lambda: layers.GRU(3, reset_after=True, **SIGMOID), (5, 4), ("gru.weight_hh_l0",)),
    "Bidirectional": (
        lambda: layers.Bidirectional(layers.LSTM(3, **SIGMOID)),
        (5, 4),
        ("forward_layer.lstm.weight_ih_l0", "backward_layer.lstm.weight_hh_l0"),
    ),
    "RNN": (lambda: layers.RNN(layers.LSTMCell(3)), (5, 4), ("cell.lstm.weight_ih_l0", "cell.lstm.weight_hh_l0")),
    "MultiHeadAttention": (
        lambda: layers.MultiHeadAttention(2, 3),
        (5, 4),
        ("query.product.weight", "attention_output.product.weight"),
    ),
    "EinsumDense": (lambda: layers.EinsumDense("abc,bcd->abd", (3, 5)), (3, 4), ("product.weight",)),
    "PReLU": (layers.PReLU, (3, 4), ("prelu.weight",)),
}


PATHS = [(kind, path) for kind, (_, _, paths) in KINDS.items() for path in paths]
EVERY = pytest.mark.parametrize(("kind", "path"), PATHS, ids=[f"{kind}-{path}" for kind, path in PATHS])


def made(kind: str) -> tuple[Model, Layer, torch.Tensor]:
    make, shape, _ = KINDS[kind]
    inputs = Input(shape)
    layer = make()
    model = Model(inputs, layer(inputs, inputs) if kind == "MultiHeadAttention" else layer(inputs))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.uniform_(0.05, 0.3)
    x = torch.randint(0, 5, (6, *shape), generator=torch.Generator().manual_seed(4)).float()
    return model, layer, x if kind == "Embedding" else x / 5 - 0.3


def holder(layer: Layer, path: str) -> tuple[nn.Module, str]:
    module, _, name = path.rpartition(".")
    return layer.get_submodule(module), name


def pruned(module: nn.Module, name: str) -> None:
    prune.custom_from_mask(module, name, torch.arange(getattr(module, name).numel()).view_as(getattr(module, name)) % 2)


def normed(module: nn.Module, name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        nn.utils.weight_norm(module, name, dim=None)  # type: ignore[arg-type]


def parametrized(module: nn.Module, name: str) -> None:
    parametrize.register_parametrization(module, name, Scale())


WAYS = pytest.mark.parametrize("way", [pruned, normed, parametrized])


def weight_now(module: nn.Module, name: str) -> torch.Tensor:
    """What the weight is by the tensors that it is now made of."""
    if parametrize.is_parametrized(module, name):
        return getattr(module, name).detach()
    if hasattr(module, f"{name}_mask"):
        return (getattr(module, f"{name}_orig") * getattr(module, f"{name}_mask")).detach()
    v, g = getattr(module, f"{name}_v"), getattr(module, f"{name}_g")
    return (v * g / v.norm()).detach()


@EVERY
@WAYS
def test_a_layer_computes_with_what_its_weight_is_made_of(kind, path, way):
    """In evaluation, in training, in `predict`, after the tensors below have changed."""
    model, layer, x = made(kind)
    reference = copy.deepcopy(model)
    module, name = holder(layer, path)
    way(module, name)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.mul_(1.25)
    assert_law(model)
    twin = holder(reference.layers[-1], path)
    with torch.no_grad():
        for other, tensor in module.named_parameters():
            if other.partition(".")[0] != "parametrizations" and not other.startswith(name):
                getattr(twin[0], other).copy_(tensor)
        getattr(*twin).copy_(weight_now(module, name))
    for mode in (False, True):
        torch.testing.assert_close(model.train(mode)(x), reference.train(mode)(x))
    torch.testing.assert_close(torch.from_numpy(model.predict(x)), torch.from_numpy(reference.predict(x)))


@EVERY
@WAYS
@pytest.mark.parametrize("when", ["before compile", "after compile"])
def test_its_tensors_train_and_the_law_holds(kind, path, way, when):
    model, layer, x = made(kind)
    module, name = holder(layer, path)
    if when == "after compile":
        model.compile(torch.optim.SGD(model.parameters(), lr=0.05), "mse")
    way(module, name)
    model.compile(optimizers.SGD(0.05), "mse")
    targets = torch.rand(model(x).shape)
    before = {name: tensor.clone() for name, tensor in model.named_parameters()}
    for _ in range(3):
        model.train_on_batch(x, targets)
    assert_law(model)
    assert ids(model.optimizer._parameters) == ids(p for p in model.parameters() if p.requires_grad)
    new = [key for key in before if key.rpartition(".")[2].startswith((f"{name}_", "original"))]
    assert new
    assert all(not torch.equal(before[key], model.get_parameter(key)) for key in new)


@WAYS
def test_a_penalty_on_a_kernel_that_is_computed_counts(way):
    inputs = Input((4,))
    dense: Any = layers.Dense(3, kernel_regularizer=regularizers.l2(0.1))
    model = Model(inputs, dense(inputs))
    way(dense.linear, "weight")
    plain = copy.deepcopy(dense.linear) if way is parametrized else nn.Linear(4, 3)
    if way is not parametrized:
        way(plain, "weight")
        plain.load_state_dict(dense.linear.state_dict())
    model.compile(torch.optim.SGD(model.parameters(), lr=0.1), "mse")
    optimizer = torch.optim.SGD(plain.parameters(), lr=0.1)
    x, y = torch.ones(2, 4), torch.ones(2, 3)
    for _ in range(3):
        found = model.train_on_batch(x, y)
        optimizer.zero_grad()
        loss = ((plain(x) - y) ** 2).mean() + 0.1 * (plain.weight**2).sum()
        loss.backward()
        optimizer.step()
        assert found == pytest.approx(loss.item())
    for mine, other in zip(dense.linear.state_dict().values(), plain.state_dict().values(), strict=True):
        torch.testing.assert_close(mine, other)


@pytest.mark.parametrize("option", ["kernel_regularizer", "kernel_constraint"])
def test_a_rule_for_a_kernel_that_is_gone_is_refused(option):
    inputs = Input((4,))
    dense: Any = layers.Dense(3, name="head", **{option: "l2" if option == "kernel_regularizer" else "nonneg"})
    model = Model(inputs, dense(inputs))
    if option == "kernel_regularizer":
        dense.linear = LoRA(dense.linear)
    else:
        parametrized(dense.linear, "weight")
    text = (
        f"Dense 'head': its {option.partition('_')[2]} is for 'kernel', which stood in 'linear.weight' and is no "
        "weight any more: make the layer without it."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        model.compile("sgd", "mse")


# --- adapted, replaced -----------------------------------------------------------------------------------------------


def test_an_adapter_in_the_place_of_a_module_trains_and_what_it_froze_does_not(tmp_path):
    inputs = Input((4,))
    dense: Any = layers.Dense(3)
    model = Model(inputs, layers.Dense(2)(dense(inputs)))
    model.compile("sgd", "mse")
    dense.linear = LoRA(dense.linear)
    assert_law(model)
    plain = nn.Sequential(copy.deepcopy(dense.linear), copy.deepcopy(model.layers[-1].linear))
    make = lambda parameters: torch.optim.Adam(parameters, lr=0.01)  # noqa: E731  # as a factory
    model.compile(make(model.parameters()), "mse")
    optimizer = make(plain.parameters())
    numbers = torch.Generator().manual_seed(1)
    for _ in range(3):
        x, y = torch.randn(8, 4, generator=numbers), torch.randn(8, 2, generator=numbers)
        model.train_on_batch(x, y)
        optimizer.zero_grad()
        ((plain(x) - y) ** 2).mean().backward()
        optimizer.step()
    for mine, other in zip(model.state_dict().values(), plain.state_dict().values(), strict=True):
        torch.testing.assert_close(mine, other)
    assert not any(parameter.requires_grad for parameter in dense.linear.base.parameters())
    again = copy.deepcopy(model)
    for parameter in again.parameters():
        parameter.data.zero_()
    for name in ("w.h5", "w.weights.h5", "w.pt", "w.safetensors"):
        model.save_weights(tmp_path / name)
        again.load_weights(tmp_path / name)
        assert all(
            torch.equal(a, b) for a, b in zip(again.state_dict().values(), model.state_dict().values(), strict=True)
        )


@pytest.mark.parametrize(
    ("layer", "attribute", "instead"),
    [
        (layers.BatchNormalization, "norm", lambda: nn.Identity()),
        (layers.BatchNormalization, "norm", lambda: nn.InstanceNorm1d(4, affine=True)),
        (lambda: layers.GroupNormalization(2), "norm", lambda: nn.Identity()),
        (layers.LayerNormalization, "norm", lambda: nn.Identity()),
    ],
)
def test_a_module_in_the_place_of_another_is_what_computes(layer, attribute, instead):
    inputs = Input((5, 4))
    made = layer()
    model = Model(inputs, made(inputs))
    x = torch.randn(3, 5, 4)
    setattr(made, attribute, instead())
    assert_law(model)
    module = getattr(made, attribute)
    turned = made.__class__ is not layers.LayerNormalization
    expected = module(x.movedim(-1, 1)).movedim(1, -1) if turned else module(x)
    torch.testing.assert_close(model(x), expected)
    torch.testing.assert_close(torch.from_numpy(model.predict(x)), expected.detach())


def test_what_a_module_in_the_place_of_a_normalization_gives_may_be_written_over():
    inputs = Input((5, 5, 4))
    norm: Any = layers.BatchNormalization()
    model = Model(inputs, layers.Add()([layers.Activation("relu")(norm(inputs)), inputs]))
    norm.norm = nn.Identity()
    x = torch.randn(2, 5, 5, 4)
    torch.testing.assert_close(torch.from_numpy(model.predict(x)), x.relu() + x)


def test_a_module_beside_the_graph_is_a_weight_that_the_optimizer_reaches(tmp_path):
    inputs = Input((4,))
    model = Model(inputs, layers.Dense(3)(inputs))
    model.beside = nn.Linear(3, 2)
    assert_law(model)
    model.compile("sgd", "mse")
    assert ids(model.beside.parameters()) <= ids(model.optimizer._parameters or model._training.ready().parameters)
    for name in ("w.pt", "w.safetensors"):
        model.save_weights(tmp_path / name)
        again = Model(inputs, model.layers[-1](inputs))
        again.beside = nn.Linear(3, 2)
        again.load_weights(tmp_path / name)
        assert torch.equal(again.beside.weight, model.beside.weight)


@pytest.mark.parametrize("kind", ["BatchNormalization", "GroupNormalization"])
def test_hooks_on_a_module_inside_see_what_it_takes_and_gives(kind):
    model, layer, x = made(kind)
    seen: list[Any] = []
    layer.norm.register_forward_hook(lambda module, inputs, output: seen.append((inputs[0].shape, output.shape)))
    model(x)
    model.predict(x)
    assert len(seen) == 2
