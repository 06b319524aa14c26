"""What a backbone of plain PyTorch must do in a model, whichever it is: the same as in a loop written by hand."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from shared import BATCH, LABELS, RANDOM, STEPS, fit, train_by_hand, values
from torch import nn
from torch.nn import functional as F

from torchkeras import Input, Model
from torchkeras.layers import Dense, Layer, TorchModule

PICTURES = RANDOM.standard_normal((BATCH * STEPS, 32, 32, 3)).astype("float32")
CHANNELS_FIRST = PICTURES.transpose(0, 3, 1, 2)  # a view, so that torch takes the same kernels in both loops
RATE = 0.005  # after three steps a larger one has made of the last digit's rounding the first digit's
LOSS = "sparse_categorical_crossentropy"


class OwnLayer(Layer):
    """A backbone as a user writes it into a layer of their own; `call` is in Keras's order of axes."""

    def __init__(self, backbone: nn.Module, **options: Any):
        super().__init__(**options)
        self.backbone = backbone

    def call(self, x: torch.Tensor) -> torch.Tensor:
        return self.backbone(x.permute(0, 3, 1, 2))


def by_torch_module(backbone: nn.Module, **options: Any) -> Layer:
    return TorchModule(backbone, data_format="channels_first", **options)


FORMS: dict[str, Callable[..., Layer]] = {"own layer": OwnLayer, "TorchModule": by_torch_module}


def model_around(layer: Layer, training: bool | None = None) -> Model:
    inputs = Input((32, 32, 3))
    features = layer(inputs) if training is None else layer(inputs, training=training)
    return Model(inputs, Dense(4, activation="softmax", name="head")(features))


def plain_around(backbone: nn.Module, model: Model) -> nn.Sequential:
    """The same in plain PyTorch, with a head of the same weights."""
    head = nn.Linear(model.head.linear.in_features, 4)
    head.load_state_dict(model.head.linear.state_dict())
    return nn.Sequential(copy.deepcopy(backbone), head)


def train_both(model: Model, plain: nn.Module, rate: float = RATE) -> None:
    torch.manual_seed(11)
    fit(model, PICTURES, LABELS, LOSS, rate)
    torch.manual_seed(11)
    trained = [parameter for parameter in plain.parameters() if parameter.requires_grad]
    train_by_hand(plain, trained, CHANNELS_FIRST, LABELS, F.cross_entropy, rate)


def assert_same(model: Model, plain: nn.Module, tolerance: float) -> None:
    own, expected = list(model.state_dict().items()), list(plain.state_dict().items())
    assert len(own) == len(expected)
    for (name, value), (_, other) in zip(own, expected, strict=True):
        torch.testing.assert_close(
            value, other, rtol=tolerance, atol=tolerance, msg=lambda text, n=name: f"{n}: {text}"
        )


def changed(model: Model, before: dict[str, torch.Tensor]) -> set[str]:
    return {name for name, value in model.state_dict().items() if not torch.equal(value, before[name])}


def check_fine_tuned(make: Callable[[], nn.Module], form: str, tolerance: float = 1e-6) -> None:
    """All of it trains, as by hand: weights and statistics."""
    backbone = make()
    model = model_around(FORMS[form](copy.deepcopy(backbone)))
    plain = plain_around(backbone, model)
    before = values(model)
    train_both(model, plain.train())
    assert_same(model, plain, tolerance)
    assert changed(model, before) == set(before)
    with torch.no_grad():
        expected = plain.eval()(torch.from_numpy(CHANNELS_FIRST)).softmax(-1)
    np.testing.assert_allclose(model.predict(PICTURES), expected, rtol=1e-5, atol=1e-6)


def check_frozen(make: Callable[[], nn.Module], form: str, training: bool | None, tolerance: float = 1e-6) -> None:
    """The head alone trains, as by hand on a backbone in evaluation; of the backbone no bit changes."""
    backbone = make()
    model = model_around(FORMS[form](copy.deepcopy(backbone), trainable=False), training)
    plain = plain_around(backbone, model)
    plain[0].eval().requires_grad_(False)
    before = values(model)
    train_both(model, plain)
    assert changed(model, before) == {"head.linear.weight", "head.linear.bias"}
    assert_same(model, plain, tolerance)
    assert [weight.full_name for weight in model.trainable_weights] == ["head/kernel:0", "head/bias:0"]


def check_in_evaluation_while_it_trains(make: Callable[[], nn.Module], form: str, tolerance: float = 1e-6) -> None:
    """`backbone(x, training=False)`: parameters train, statistics stay."""
    backbone = make()
    model = model_around(FORMS[form](copy.deepcopy(backbone)), training=False)
    plain = plain_around(backbone, model)
    plain[0].eval()
    before = values(model)
    train_both(model, plain)
    assert_same(model, plain, tolerance)
    assert changed(model, before) == {name for name, _ in model.named_parameters()}


def check_frozen_then_fine_tuned(make: Callable[[], nn.Module], form: str, tolerance: float = 1e-6) -> None:
    """The usual recipe: the head first, then all with a small rate."""
    backbone = make()
    layer = FORMS[form](copy.deepcopy(backbone), trainable=False)
    model = model_around(layer)
    plain = plain_around(backbone, model)
    plain[0].eval().requires_grad_(False)
    train_both(model, plain)
    layer.trainable = True
    plain.train().requires_grad_(True)
    train_both(model, plain, RATE / 10)
    assert_same(model, plain, tolerance)


def check_files(make: Callable[[], nn.Module], form: str, path: Any) -> None:
    """All weights and statistics go through a file, into a model of the same code."""
    model, other = (model_around(FORMS[form](make())) for _ in range(2))
    fit(model, PICTURES, LABELS, LOSS, RATE)
    model.save_weights(path)
    other.load_weights(path)
    for (name, value), (_, expected) in zip(other.state_dict().items(), model.state_dict().items(), strict=True):
        assert torch.equal(value, expected) or name.endswith("num_batches_tracked"), name
    np.testing.assert_array_equal(other.predict(PICTURES), model.predict(PICTURES))
