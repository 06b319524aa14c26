"""What code that changes tensors in place does to the caller's data, and to values that others see."""

from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from torchkeras import Input, Model
from torchkeras.layers import Conv1D, Dense, Lambda, Layer, TimeDistributed, TorchModule, add
from torchkeras.losses import Loss, LossFunctionWrapper
from torchkeras.metrics import MeanMetricWrapper, Metric


def plus_one(tensor: torch.Tensor) -> torch.Tensor:
    tensor += 1
    return tensor


class PlusOne(Layer):
    def call(self, inputs: Any) -> Any:
        inputs += 1
        return inputs


class WithItsShape(PlusOne):
    """Its code is not run when the graph is made."""

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape


class ByKeyword(Layer):
    """Its second argument is changed, through a view."""

    def call(self, inputs: Any, other: Any) -> Any:
        other.view(-1).add_(1)
        return inputs * 0 + other


class Whole(Model):
    def call(self, inputs: Any) -> Any:
        inputs += 1
        return inputs * 1


LAYERS = {
    "function": lambda x: Lambda(plus_one)(x),
    "layer": lambda x: PlusOne()(x),
    "layer with its shape": lambda x: WithItsShape()(x),
    "argument": lambda x: ByKeyword()(x, other=x),
    "model inside": lambda x: Whole()(x),
}


@pytest.mark.parametrize("kind", LAYERS)
def test_data_stay_as_they_are(kind: str):
    inputs = Input((3,))
    model = Model(inputs, LAYERS[kind](inputs))
    for data in (np.zeros((4, 3), "float32"), torch.zeros(4, 3), np.zeros((1, 3), "float32")):
        for _ in range(2):
            np.testing.assert_array_equal(model.predict(data, verbose=0), np.ones(data.shape))
        model(torch.as_tensor(data))
        model.compile("sgd", "mse")
        assert model.evaluate(data, data, verbose=0) == 1
        assert not data.any()


def test_data_of_a_model_with_its_own_code_stay():
    model, data = Whole(), torch.zeros(4, 3)
    for _ in range(2):
        np.testing.assert_array_equal(model.predict(data, verbose=0), np.ones((4, 3)))
    assert not data.any()


@pytest.mark.parametrize("kind", LAYERS)
def test_other_nodes_see_the_value_that_they_were_given(kind: str):
    inputs = Input((3,))
    hidden = Dense(3, kernel_initializer="identity")(inputs)
    changed = LAYERS[kind](hidden)
    model = Model(inputs, [changed, hidden, add([hidden, changed])])
    found = model.predict(np.zeros((2, 3)), verbose=0)
    assert [float(each.mean()) for each in found] == [1, 0, 1]


def test_a_layer_for_each_time_step_changes_nothing_either():
    inputs = Input((2, 3))
    model, data = Model(inputs, TimeDistributed(Lambda(plus_one))(inputs)), np.zeros((4, 2, 3), "float32")
    np.testing.assert_array_equal(model.predict(data, verbose=0), np.ones((4, 2, 3)))
    assert not data.any()


def test_a_relu_in_place_on_what_is_used_again():
    inputs = Input((3,))
    hidden = Dense(3, kernel_initializer="identity")(inputs)
    model = Model(inputs, add([hidden, TorchModule(nn.ReLU(inplace=True))(hidden)]))
    assert model.predict(-np.ones((2, 3)), verbose=0).tolist() == [[-1.0] * 3] * 2


def test_what_nothing_else_uses_is_not_copied():
    inputs = Input((3, 2))
    model = Model(inputs, TorchModule(nn.ReLU(inplace=True))(Conv1D(3, 1)(inputs)))
    assert "clone" not in model.code
    assert "clone" in Model(inputs, TorchModule(nn.ReLU(inplace=True))(inputs)).code


# --- losses, metrics and steps of the user's --------------------------------------------------------------------------


def changes_target(y_true: Any, y_pred: Any) -> Any:
    y_true /= 2
    return (y_true - y_pred).square().mean(-1)


def changes_output(y_true: Any, y_pred: Any) -> Any:
    y_pred *= 2
    return (y_true - y_pred).square().mean(-1)


class Own(Loss):
    def call(self, y_true: Any, y_pred: Any) -> Any:
        return changes_target(y_true, y_pred)


class OwnModule(nn.Module):
    def forward(self, predicted: Any, true: Any) -> Any:
        return changes_target(true, predicted).mean()


class OwnMetric(Metric):
    def __init__(self, name: str = "own"):
        super().__init__(name=name)
        self.total = self.add_variable(name="total")

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        self.total.add_(changes_output(y_true, y_pred).sum())

    def result(self) -> Any:
        return self.total


def error(what: str, name: str) -> str:
    return (
        f"{what}: it changes {name} in place, which may be the data itself, and what metrics and further epochs see. "
        f"Make a new tensor: {name} = {name} / 2 and not {name} /= 2."
    )


@pytest.mark.parametrize(
    ("options", "what", "name"),
    [
        ({"loss": changes_target}, "the loss or metric changes_target", "y_true"),
        ({"loss": changes_output}, "the loss or metric changes_output", "y_pred"),
        ({"loss": Own()}, "the loss or metric Own", "y_true"),
        ({"loss": OwnModule()}, "the loss or metric OwnModule", "y_true"),
        ({"loss": "mse", "metrics": [changes_target]}, "the loss or metric changes_target", "y_true"),
        ({"loss": LossFunctionWrapper(changes_target)}, "the loss or metric LossFunctionWrapper", "y_true"),
        ({"loss": partial(changes_target)}, "the loss or metric changes_target", "y_true"),
        (
            {"loss": "mse", "metrics": [MeanMetricWrapper(changes_output)]},
            "the loss or metric MeanMetricWrapper",
            "y_pred",
        ),
        ({"loss": "mse", "metrics": [OwnMetric()]}, "the loss or metric OwnMetric", "y_pred"),
    ],
)
def test_losses_and_metrics_that_change_what_they_are_given_are_refused(options: Any, what: str, name: str):
    inputs = Input((3,))
    model = Model(inputs, Dense(2)(inputs))
    model.compile("sgd", **options)
    data = torch.ones(4, 3), torch.ones(4, 2)
    for run in (model.fit, model.evaluate):
        with pytest.raises(RuntimeError) as found:
            run(*data, verbose=0)
        assert str(found.value) == error(what, name)


@pytest.mark.torch("2.8", "compiled steps")
@pytest.mark.parametrize("change", [changes_target, changes_output])
@pytest.mark.parametrize("as_metric", [False, True])
def test_steps_that_torch_compiles_refuse_them_too(change: Any, as_metric: bool):
    inputs = Input((3,))
    model = Model(inputs, Dense(2)(inputs))
    options = {"loss": "mse", "metrics": [change]} if as_metric else {"loss": change}
    model.compile("sgd", jit_compile={"backend": "aot_eager"}, **options)
    data = torch.ones(12, 3), torch.ones(12, 2)
    name = "y_true" if change is changes_target else "y_pred"
    for run in (model.fit, model.evaluate):
        with pytest.raises(RuntimeError) as found:
            run(*data, batch_size=4, verbose=0)
        assert str(found.value) == error(f"the loss or metric {change.__name__}", name)


def test_steps_that_change_their_batch_are_refused():
    class Stepping(Model):
        def train_step(self, data: Any) -> Any:
            x = data[0]
            x /= 255
            return {"loss": self(x).mean()}

        def test_step(self, data: Any) -> Any:
            y = data[1]
            y /= 255
            return {"loss": y.mean()}

        def predict_step(self, data: Any) -> Any:
            data[0].div_(255)
            return self(data[0])

    inputs = Input((3,))
    model, x, y = Stepping(inputs, Dense(2)(inputs)), torch.ones(4, 3), torch.ones(4, 2)
    model.compile()
    steps = {"train": lambda: model.fit(x, y, verbose=0), "test": lambda: model.evaluate(x, y, verbose=0)}
    for kind, run in {**steps, "predict": lambda: model.predict(x, verbose=0)}.items():
        with pytest.raises(RuntimeError) as found:
            run()
        assert str(found.value) == error(f"Stepping.{kind}_step", "y" if kind == "test" else "x")
    model.fit(DataLoader(TensorDataset(x, y), 4), verbose=0)  # a loader's batch is its own


def test_a_compute_loss_that_changes_the_targets_is_refused():
    class Scoring(Model):
        def compute_loss(self, x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None) -> Any:
            return changes_target(y, y_pred).mean()

    inputs = Input((3,))
    model = Scoring(inputs, Dense(2)(inputs))
    model.compile("sgd", "mse")
    with pytest.raises(RuntimeError) as found:
        model.fit(torch.ones(4, 3), torch.ones(4, 2), verbose=0)
    assert str(found.value) == error("Scoring.compute_loss", "y")


@pytest.mark.torch("2.8", "compiled steps")
def test_own_losses_compile():
    def own(y_true: Any, y_pred: Any) -> Any:
        return (y_true - y_pred).square().mean(-1)

    inputs = Input((3,))
    model = Model(inputs, Dense(2, kernel_initializer="ones")(inputs))
    model.compile("sgd", own, metrics=[own], jit_compile=True)
    history = model.fit(torch.ones(4, 3), torch.ones(4, 2), verbose=0).history
    assert history["loss"] == history["own"] == [4.0]
