"""Code of users that holds parameters, buffers and modules in every way, as a Layer and as an `nn.Module`.

Each is written once: `making` and `forward` go into a class of either base, so that both have the same names and, by
one `state_dict`, the same values. What trains and what is kept can so be held against plain PyTorch.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.nn.utils import parametrizations, parametrize, prune

from torchkeras.engine.layer.layer import Layer


@dataclass(frozen=True)
class Code:
    """`make(module)`: what `__init__` does; `forward(module, x)`: the outputs for inputs of 4 features, 3 of them."""

    name: str
    make: Callable[[Any], None]
    forward: Callable[[Any, torch.Tensor], torch.Tensor]
    image: bool = False  # inputs are of shape (6, 6, 4) with the channels first, as torch has them

    @property
    def input_shape(self) -> tuple[int, ...]:
        return (4, 6, 6) if self.image else (4,)

    def layer_class(self) -> type[Layer]:
        def init(layer: Any, **options: Any) -> None:
            Layer.__init__(layer, **options)
            self.make(layer)

        return type("Own", (Layer,), {"__init__": init, "forward": self.forward, "__doc__": "Own code."})

    def plain(self) -> nn.Module:
        """The same in plain PyTorch."""

        def init(module: Any) -> None:
            nn.Module.__init__(module)
            self.make(module)

        return type("Plain", (nn.Module,), {"__init__": init, "forward": self.forward})()


def holding(**modules: Any) -> Callable[[Any], None]:
    """What sets attributes to what these functions make."""

    def make(module: Any) -> None:
        for name, function in modules.items():
            setattr(module, name, function() if isinstance(module, Layer) else seen_by_torch(function()))

    return make


def seen_by_torch(value: Any) -> Any:
    """A list or dict as the module that plain PyTorch needs in its place."""
    if isinstance(value, dict):
        return nn.ModuleDict({key: seen_by_torch(each) for key, each in value.items()})
    if not isinstance(value, (list, tuple)):
        return value
    if all(isinstance(each, nn.Parameter) for each in value):
        return nn.ParameterList(value)
    return nn.ModuleList(map(seen_by_torch, value))


def in_turn(*names: str) -> Callable[[Any, torch.Tensor], torch.Tensor]:
    """What applies the modules under these paths, one after another."""

    def forward(module: Any, x: torch.Tensor) -> torch.Tensor:
        for name in names:
            found = module
            for part in name.split("."):
                found = (
                    found[int(part)]
                    if part.isdigit()
                    else found[part]
                    if hasattr(found, "keys")
                    else getattr(found, part)
                )
            x = found(x)
        return x

    return forward


def two_linears() -> list[nn.Linear]:
    return [nn.Linear(4, 5), nn.Linear(5, 3)]


class LoRA(nn.Module):
    """A linear module that is frozen, and an addition that trains."""

    def __init__(self, base: nn.Linear, rank: int = 2):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.a = nn.Parameter(torch.randn(rank, base.in_features) * 0.1)
        self.b = nn.Parameter(torch.randn(base.out_features, rank) * 0.1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.base(x) + x @ self.a.T @ self.b.T


class Block(nn.Module):
    """A residual block of plain modules, as torchvision writes them."""

    def __init__(self, channels: int):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels)
        self.conv2, self.bn2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x + self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x))))))


class ResNet(nn.Module):
    """A small residual network of plain modules."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(4, 6, 3, bias=False), nn.BatchNorm2d(6)
        self.layer1 = nn.Sequential(Block(6), Block(6))
        self.avgpool, self.fc = nn.AdaptiveAvgPool2d(1), nn.Linear(6, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.layer1(torch.relu(self.bn1(self.conv1(x))))
        return self.fc(self.avgpool(x).flatten(1))


class Scale(nn.Module):
    """A parametrization: weights times two."""

    def forward(self, weight: torch.Tensor) -> torch.Tensor:
        return 2 * weight

    def right_inverse(self, weight: torch.Tensor) -> torch.Tensor:
        return weight / 2


def _parameters(module: Any) -> None:
    module.kernel = nn.Parameter(torch.randn(4, 3))
    module.register_parameter("bias", nn.Parameter(torch.zeros(3)))
    module.missing = None


def _buffers(module: Any) -> None:
    module.linear = nn.Linear(4, 3)
    module.register_buffer("seen", torch.zeros(4))
    module.register_buffer("passing", torch.zeros(2), persistent=False)


def _by_buffers(module: Any, x: torch.Tensor) -> torch.Tensor:
    if module.training and not x.is_meta:
        module.seen.add_(x.detach().mean(0))
    return module.linear(x + module.seen)


def _wrapped(change: Callable[..., Any], **options: Any) -> Callable[[Any], None]:
    def make(module: Any) -> None:
        module.linear = nn.Linear(4, 3)
        change(module.linear, **options)

    return make


def _old(name: str) -> Callable[..., Any]:
    """Torch's old form of the parametrization of that name, which gives a warning."""

    def change(module: nn.Module) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            getattr(nn.utils, name)(module)

    return change


def _replaced(module: Any) -> None:
    module.linear = nn.Linear(4, 7)
    module.linear = LoRA(nn.Linear(4, 3))


def _tied(module: Any) -> None:
    module.encoder, module.decoder, module.last = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 3)
    module.decoder.weight = module.encoder.weight


def _sharing(module: Any) -> None:
    module.first = module.second = nn.Linear(4, 4)
    module.last = nn.Linear(4, 3)


def _parametrized(module: Any) -> None:
    module.linear = nn.Linear(4, 3)
    parametrize.register_parametrization(module.linear, "weight", Scale())


CODES = [
    Code("module", holding(linear=partial(nn.Linear, 4, 3)), in_turn("linear")),
    Code("parameters", _parameters, lambda m, x: x @ m.kernel + m.bias),
    Code("buffers", _buffers, _by_buffers),
    Code("list", holding(parts=two_linears), in_turn("parts.0", "parts.1")),
    Code("tuple", holding(parts=lambda: tuple(two_linears())), in_turn("parts.0", "parts.1")),
    Code("dict", holding(parts=lambda: dict(zip("ab", two_linears(), strict=True))), in_turn("parts.a", "parts.b")),
    Code(
        "nested lists and dicts",
        holding(parts=lambda: {"a": [nn.Linear(4, 5)], "b": ({"c": nn.Linear(5, 3)},)}),
        in_turn("parts.a.0", "parts.b.0.c"),
    ),
    Code(
        "a list of parameters",
        holding(parts=lambda: [nn.Parameter(torch.randn(4, 3)), nn.Parameter(torch.zeros(3))]),
        lambda m, x: x @ m.parts[0] + m.parts[1],
    ),
    Code("ModuleList", holding(parts=lambda: nn.ModuleList(two_linears())), in_turn("parts.0", "parts.1")),
    Code(
        "ModuleDict",
        holding(parts=lambda: nn.ModuleDict({"a": nn.Linear(4, 5), "b": nn.Linear(5, 3)})),
        in_turn("parts.a", "parts.b"),
    ),
    Code(
        "ParameterList",
        holding(parts=lambda: nn.ParameterList([torch.randn(4, 3), torch.zeros(3)])),
        lambda m, x: x @ m.parts[0] + m.parts[1],
    ),
    Code(
        "ParameterDict",
        holding(parts=lambda: nn.ParameterDict({"kernel": torch.randn(4, 3), "bias": torch.zeros(3)})),
        lambda m, x: x @ m.parts["kernel"] + m.parts["bias"],
    ),
    Code(
        "Sequential",
        holding(net=lambda: nn.Sequential(nn.Linear(4, 5, bias=False), nn.BatchNorm1d(5), nn.Linear(5, 3))),
        in_turn("net"),
    ),
    Code("parametrize", _parametrized, in_turn("linear")),
    Code("parametrizations.weight_norm", _wrapped(parametrizations.weight_norm), in_turn("linear")),
    Code("parametrizations.spectral_norm", _wrapped(parametrizations.spectral_norm), in_turn("linear")),
    Code("parametrizations.orthogonal", _wrapped(parametrizations.orthogonal), in_turn("linear")),
    Code("old weight_norm", _wrapped(_old("weight_norm")), in_turn("linear")),
    Code("old spectral_norm", _wrapped(_old("spectral_norm")), in_turn("linear")),
    Code("prune", _wrapped(prune.l1_unstructured, name="weight", amount=4), in_turn("linear")),
    Code("LoRA", _replaced, in_turn("linear")),
    Code("tied", _tied, in_turn("encoder", "decoder", "last")),
    Code("one module under two names", _sharing, in_turn("first", "second", "last")),
    Code("resnet", holding(net=ResNet), in_turn("net"), image=True),
]

LAZY = [
    Code("LazyLinear", holding(linear=partial(nn.LazyLinear, 3)), in_turn("linear")),
    Code(
        "LazyConv2d, LazyBatchNorm2d",
        holding(
            conv=partial(nn.LazyConv2d, 5, 3, bias=False),
            norm=nn.LazyBatchNorm2d,
            pool=lambda: nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten()),
            last=partial(nn.LazyLinear, 3),
        ),
        in_turn("conv", "norm", "pool", "last"),
        image=True,
    ),
]
