"""`state_dict` and `load_state_dict`: training goes on bit by bit, in the middle of an accumulation too."""

import copy
import io
from typing import Any

import pytest
import torch

from torchkeras.base.keras_axes import IN_ORDER, Arrangement, permuted
from torchkeras.optimizers import (
    SGD,
    Adadelta,
    Adafactor,
    Adagrad,
    Adam,
    Adamax,
    AdamW,
    Ftrl,
    Lamb,
    Lion,
    Muon,
    Nadam,
    RMSprop,
    schedules,
)

MAKE: dict[str, Any] = {
    "SGD": lambda: SGD(0.1, 0.9, 0.1, True),
    "SGD_plain": lambda: SGD(0.1),
    "RMSprop": lambda: RMSprop(decay=0.1),
    "RMSprop_all": lambda: RMSprop(momentum=0.5, centered=True),
    "Adagrad": Adagrad,
    "Adadelta": Adadelta,
    "Adam": lambda: Adam(amsgrad=True),
    "AdamW": AdamW,
    "Adamax": Adamax,
    "Nadam": Nadam,
    "Lamb": Lamb,
    "Lion": Lion,
    "Muon": Muon,
    "Adafactor": Adafactor,
    "Ftrl": Ftrl,
    "everything": lambda: Adam(
        schedules.CosineDecay(0.1, 20),
        gradient_accumulation_steps=2,
        use_ema=True,
        ema_momentum=0.5,
        ema_overwrite_frequency=2,
        lr_multipliers={"a": 0.5},
        clipnorm=1.0,
    ),
}
ARRANGEMENTS = [permuted((1, 0)), IN_ORDER, Arrangement(lambda a, b: [[a], [b]], 2)]


def start() -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(shape, generator=generator) for shape in ((4, 3), (3,), (2,), (2,))]


def bound(optimizer: Any, parameters: list[torch.Tensor]) -> Any:
    optimizer.bind(parameters, ARRANGEMENTS, ["a", "a", "b"], ["kernel", "bias", "bias"])
    return optimizer


def run(optimizer: Any, parameters: list[torch.Tensor], steps: range) -> None:
    for step in steps:
        generator = torch.Generator().manual_seed(100 + step)
        gradients = [torch.randn(p.shape, generator=generator) for p in parameters]
        optimizer.update(parameters, gradients, 3 + step)


@pytest.mark.parametrize("name", MAKE)
def test_training_goes_on_bit_by_bit(name: str):
    parameters = start()
    optimizer = bound(MAKE[name](), parameters)
    run(optimizer, parameters, range(5))
    if name != "everything":
        optimizer.lr = 0.05
    file = io.BytesIO()
    torch.save((parameters, optimizer.state_dict()), file)
    file.seek(0)
    others, state = torch.load(file, weights_only=True)
    again = bound(MAKE[name](), others)
    again.load_state_dict(state)
    run(optimizer, parameters, range(5, 10))
    run(again, others, range(5, 10))
    assert all(torch.equal(a, b) for a, b in zip(parameters, others, strict=True))
    assert again.iterations == optimizer.iterations
    if name == "everything":
        optimizer.swap_ema()
        again.swap_ema()
        assert all(torch.equal(a, b) for a, b in zip(parameters, others, strict=True))


def test_a_state_before_the_first_step():
    parameters = start()
    optimizer = bound(Adam(), parameters)
    state = copy.deepcopy(optimizer.state_dict())
    run(optimizer, parameters, range(2))
    optimizer.load_state_dict(state)
    assert optimizer.iterations == 0
    assert not any(array.any() for array in optimizer.get_weights())


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"class_name": "SGD"}, "Adam: the state is of SGD."),
        ({"averages": [torch.zeros(1)]}, "Adam: the state is of 1 parameters; found 4."),
        ({"moments": {"ms": []}}, "Adam: the state has ms; found ms, vs."),
        (
            {"moments": {"ms": [torch.zeros(1)] * 4, "vs": [torch.zeros(1)] * 4}},
            "Adam: the state has shape (1,) for a parameter whose is (4, 3).",
        ),
    ],
)
def test_states_of_others_are_refused(change: dict[str, Any], text: str):
    optimizer = bound(Adam(), start())
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        optimizer.load_state_dict({**optimizer.state_dict(), **change})
    assert str(caught.value) == text


def test_averages_and_sums_follow_parameters_that_move():
    parameters = [torch.nn.Parameter(torch.ones(2))]
    optimizer = SGD(1.0, use_ema=True, gradient_accumulation_steps=2)
    optimizer.update(parameters, [torch.ones(2)])
    parameters[0].data = parameters[0].data.double()
    optimizer.bind(parameters)
    optimizer.update(parameters, [torch.ones(2, dtype=torch.float64) * 3])
    assert parameters[0].tolist() == [-1.0, -1.0]
    optimizer.swap_ema()
    assert parameters[0].dtype == torch.float64


@pytest.mark.parametrize("optimizer", [SGD(use_ema=True), SGD(gradient_accumulation_steps=2)])
def test_averages_and_accumulated_gradients_as_kerass_arrays(optimizer: SGD):
    parameters = start()
    bound(optimizer, parameters)
    assert optimizer.get_averages() == optimizer.get_accumulated() == []
    run(optimizer, parameters, range(1))
    for found, put, what in (
        (optimizer.get_averages(), optimizer.set_averages, "average"),
        (optimizer.get_accumulated(), lambda a: optimizer.set_accumulated(a, 1, 2.0), "accumulated gradient"),
    ):
        if found:
            assert [array.shape for array in found] == [(3, 4), (3,), (2, 2)]
            put(found)
            with pytest.raises(ValueError) as caught:  # noqa: PT011
                put([found[0].T, *found[1:]])
            assert str(caught.value) == f"SGD: an {what} has shape (3, 4); found (4, 3)."


def test_weights_that_trained_before_keep_their_moments_when_others_join():
    first, second = (torch.nn.Parameter(torch.randn(3, 2)) for _ in range(2))
    optimizer = Adam(use_ema=True)
    optimizer.bind([second])
    optimizer.update(optimizer._given, [torch.ones(3, 2)])
    (moment, _), (average,) = (
        [values[0].clone() for values in optimizer._groups[0].moments],
        optimizer._averages.values,
    )
    average = average.clone()
    optimizer.bind([first, second])
    assert optimizer.iterations == 1
    torch.testing.assert_close(optimizer._groups[0].moments[0], [torch.zeros(3, 2), moment])
    torch.testing.assert_close(optimizer._averages.values, [first.detach(), average])


def test_another_models_weights_begin_anew():
    optimizer = Adam(use_ema=True)
    for parameter in (torch.nn.Parameter(torch.randn(3)), torch.nn.Parameter(torch.randn(3))):
        optimizer.bind([parameter])
        assert not any(group.moments for group in optimizer._groups)
        optimizer.update(optimizer._given, [torch.ones(3)])
