"""Freezing and thawing what modules own: statistics, backbones, layers three deep; what an optimizer must reach."""

import copy
import re
from collections import namedtuple
from typing import Any

import pytest
import torch
from law import assert_law, ids
from own_code import Block, ResNet
from torch import nn

from torchkeras import Input, Model, layers
from torchkeras.engine.layer.layer import Layer

NUMBERS = torch.Generator().manual_seed(6)
IMAGES = torch.randn(8, 4, 6, 6, generator=NUMBERS)
TARGETS = torch.randn(8, 2, generator=NUMBERS)


class Holding(Layer):
    """A user's layer around a module, or another layer."""

    def __init__(self, inside: nn.Module, **options: Any):
        super().__init__(**options)
        self.inside = inside

    def forward(self, x: Any) -> Any:
        return self.inside(x)


def backbone_and_head(backbone: nn.Module) -> tuple[Model, Layer]:
    inputs = Input((4, 6, 6))
    layer = Holding(backbone, name="backbone")
    return Model(inputs, layers.Dense(2, name="head")(layer(inputs))), layer


def statistics(module: nn.Module) -> dict[str, torch.Tensor]:
    return {name: buffer.clone() for name, buffer in module.named_buffers()}


@pytest.mark.parametrize("frozen", [True, False], ids=["frozen", "fine-tuned"])
@pytest.mark.parametrize("kind", ["SGD", "Adam"])
def test_a_backbone_is_that_of_plain_pytorch(kind, frozen):
    backbone = ResNet()
    plain = nn.Sequential(copy.deepcopy(backbone), nn.Linear(3, 2))
    model, layer = backbone_and_head(backbone)
    layer.trainable = not frozen
    plain[1].load_state_dict(model.get_layer("head").linear.state_dict())
    plain[0].requires_grad_(not frozen)
    plain.train()
    plain[0].train(not frozen)
    make: Any = {"SGD": torch.optim.SGD, "Adam": torch.optim.Adam}[kind]
    model.compile((make, {"lr": 0.01}), "mse")
    optimizer = make([parameter for parameter in plain.parameters() if parameter.requires_grad], lr=0.01)
    before = copy.deepcopy(plain[0].state_dict())
    for _ in range(3):
        model.train_on_batch(IMAGES, TARGETS)
        optimizer.zero_grad()
        ((plain(IMAGES) - TARGETS) ** 2).mean().backward()
        optimizer.step()
    for mine, other in zip(model.state_dict().values(), plain.state_dict().values(), strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-4, atol=1e-5)
    moved = [name for name, tensor in backbone.state_dict().items() if not torch.equal(before[name], tensor)]
    assert bool(moved) is not frozen
    if not frozen:
        assert len(moved) == len(before)
    assert_law(model)


def test_thawing_lets_the_statistics_move_again_and_modes_go_on():
    model, layer = backbone_and_head(ResNet())
    model.compile("sgd", "mse")
    for frozen in (True, False, True):
        layer.trainable = not frozen
        model.compile("sgd", "mse")
        before = statistics(layer)
        model.fit(IMAGES, TARGETS, epochs=2, verbose=0)
        assert all(torch.equal(tensor, before[name]) for name, tensor in statistics(layer).items()) is frozen
        model.train()
        assert {m.training for m in layer.modules() if isinstance(m, nn.BatchNorm2d)} == {not frozen}
        model.eval()
        assert not any(module.training for module in model.modules())


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_statistics_stay_wherever_in_a_nest_the_freezing_is(depth):
    """Three layers, one in the other, the module in the innermost; one of the three is frozen."""
    nest = [Holding(nn.Sequential(Block(4), nn.Flatten()), name="inner")]
    for name in ("middle", "outer"):
        nest.append(Holding(nest[-1], name=name))
    inputs = Input((4, 6, 6))
    model = Model(inputs, layers.Dense(2)(nest[-1](inputs)))
    nest[depth].trainable = False
    model.compile("sgd", "mse")
    before = copy.deepcopy(nest[0].state_dict())
    model.fit(IMAGES, TARGETS, epochs=2, verbose=0)
    assert all(torch.equal(before[name], tensor) for name, tensor in nest[0].state_dict().items())
    assert_law(model)
    nest[depth].trainable = True
    model.compile("sgd", "mse")
    model.fit(IMAGES, TARGETS, epochs=2, verbose=0)
    assert not any(torch.equal(before[name], tensor) for name, tensor in nest[0].state_dict().items())


def test_a_frozen_model_within_a_model_and_one_by_the_option():
    inner_inputs = Input((4, 6, 6))
    inner = Model(inner_inputs, Holding(Block(4))(inner_inputs))
    inner.trainable = False
    given = Holding(Block(4), trainable=False)
    inputs = Input((4, 6, 6))
    model = Model(inputs, layers.Dense(2)(layers.Flatten()(given(inner(inputs)))))
    model.compile("sgd", "mse")
    before = copy.deepcopy(model.state_dict())
    model.fit(IMAGES, TARGETS, epochs=2, verbose=0)
    moved = [name for name, tensor in model.state_dict().items() if not torch.equal(before[name], tensor)]
    assert moved == ["dense_a.linear.weight", "dense_a.linear.bias"]


def test_a_module_put_into_a_frozen_layer_is_frozen_when_it_is_said_again_and_trains_else():
    model, layer = backbone_and_head(ResNet())
    layer.trainable = False
    layer.inside = ResNet()
    assert_law(model)
    layer.trainable = False
    assert not any(parameter.requires_grad for parameter in layer.parameters())


# --- what an optimizer would not reach --------------------------------------------------------------------------------

Pair = namedtuple("Pair", ["first", "second"])


class Hiding(Layer):
    """Modules where torch does not see them."""

    def __init__(self, kind: Any, **options: Any):
        super().__init__(**options)
        self.parts = kind()

    def forward(self, x: Any) -> Any:
        return x


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (lambda: {nn.Linear(4, 4)}, "set"),
        (lambda: Pair(nn.Linear(4, 4), None), "Pair"),
        (lambda: type("Own", (dict,), {})(a=nn.Linear(4, 4)), "Own"),
        (lambda: {nn.Parameter(torch.ones(2))}, "set"),
    ],
)
def test_what_torch_does_not_see_is_an_error_at_compile(kind, name):
    inputs = Input((4,))
    model = Model(inputs, layers.Dense(2)(Hiding(kind)(inputs)), name="whole")
    text = (
        f"compile: Model 'whole' does not see what Hiding keeps in 'parts', a {name}: keep modules and parameters in "
        "attributes, or in a plain list, tuple or dict."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        model.compile("sgd", "mse")


def test_a_parameter_without_a_shape_is_an_error_at_compile():
    inputs = Input((4,))
    model = Model(inputs, layers.Dense(2)(inputs), name="whole")
    model.lazy = nn.LazyLinear(3)
    text = (
        "compile: the parameter 'lazy.weight' of Model 'whole' has no shape yet: call the model on data, or "
        "build(input_shape), before compile."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        model.compile("sgd", "mse")


class Margin(nn.Module):
    """A loss with a parameter of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.margin = nn.Parameter(torch.ones(()))

    def forward(self, predicted: torch.Tensor, true: torch.Tensor) -> torch.Tensor:
        return ((predicted - true) ** 2).mean() * self.margin


def test_a_loss_with_a_parameter_is_an_error_at_compile_unless_it_is_frozen_or_part_of_the_model():
    inputs = Input((4,))
    model, loss = Model(inputs, layers.Dense(2)(inputs), name="whole"), Margin()
    text = (
        "compile: the loss Margin has a parameter 'margin' of its own, which the optimizer of Model 'whole' would not "
        "reach: make it a part of the model, or freeze it by requires_grad_(False)."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        model.compile("sgd", loss)
    model.margin_loss = loss
    model.compile("sgd", loss)
    assert id(loss.margin) in ids(model._training.ready().parameters)
    other = Margin()
    other.margin.requires_grad_(False)
    Model(inputs, layers.Dense(2)(inputs)).compile("sgd", other)
