"""Models are made on the default device of torch: `with torch.device(...)`, `torch.set_default_device(...)`."""

from typing import Any

import numpy as np
import pytest
import torch
from plain_pytorch import refused
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from torchkeras import config
from torchkeras.engine.building.building import move_modules
from torchkeras.engine.layer.layer import Layer
from torchkeras.layers import (
    LSTM,
    AlphaDropout,
    BatchNormalization,
    Conv2D,
    Dense,
    Dropout,
    Embedding,
    GlobalAveragePooling2D,
    Input,
    Normalization,
)
from torchkeras.models import Model, Sequential, load_model

X, Y = np.ones((4, 3), "float32"), np.zeros((4, 2), "float32")


class OwnModel(Model):
    def __init__(self):
        super().__init__()
        self.dense = Dense(2)

    def call(self, inputs):
        return self.dense(inputs)


class Own(Layer):
    def build(self, input_shape):
        self.scale = self.add_weight("scale", (3,))
        self.linear = nn.Linear(3, 3)

    def call(self, inputs):
        return self.linear(inputs) * self.scale


def images():
    inputs = Input((8, 8, 3))
    features = GlobalAveragePooling2D()(BatchNormalization()(Conv2D(4, 3)(inputs)))
    return Model(inputs, Dense(3, kernel_initializer="orthogonal")(features * 2 + 1))


def texts():
    return Sequential([Embedding(5, 3, input_length=7), LSTM(4), Dense(2)])


def own():
    return Sequential([Own(input_shape=(3,)), Dense(2)])


def devices(model):
    return {tensor.device.type for tensor in (*model.parameters(), *model.buffers())}


@pytest.mark.parametrize("make", [images, texts, own])
def test_a_model_is_made_where_torch_says(make):
    assert devices(make()) == {config.device().type}
    with torch.device("meta"):
        assert devices(make()) == {"meta"}
        with torch.device("cpu"):
            assert devices(make()) == {"cpu"}
    torch.set_default_device("meta")
    try:
        assert devices(make()) == {"meta"}
    finally:
        torch.set_default_device(None)
    assert devices(make()) == {config.device().type}


def test_weights_are_made_where_torch_says_when_they_are_made():
    model = Sequential([Dense(3)])
    with torch.device("meta"):
        model.build((None, 4))
    assert devices(model) == {"meta"}


def test_the_default_device_of_torch_goes_before_ours():
    before = config.SETTINGS.device
    config.set_device("meta")
    try:
        assert devices(texts()) == {"meta"}
        with torch.device("cpu"):
            assert (devices(texts()), config.device().type) == ({"cpu"}, "cpu")
    finally:
        config.set_device(before)


def on_meta():
    with torch.device("meta"):
        return Sequential([Dense(2, input_shape=(3,), name="out")], name="model")


NO_VALUES = (
    "lies on the device 'meta' and has no values: model.to_empty(device='cpu') gives it memory, and set_weights or a "
    "file the values."
)


@pytest.mark.parametrize(
    "use",
    [
        lambda model: model.predict(X),
        lambda model: model.evaluate(X, Y, verbose=0),
        lambda model: model.fit(X, Y, verbose=0),
        lambda model: model.train_on_batch(X, Y),
    ],
)
def test_a_model_without_values_neither_trains_nor_predicts(use):
    model = on_meta()
    model.compile("sgd", "mse")
    with refused(RuntimeError, f"Sequential 'model' {NO_VALUES}"):
        use(model)


def test_weights_without_values(tmp_path):
    whole = Sequential([Dense(2, input_shape=(3,), name="out")])
    whole.save_weights(tmp_path / "model.weights.h5")
    whole.save(tmp_path / "model.h5")
    model = on_meta()
    for use in (
        lambda: model.get_weights(),
        lambda: model.set_weights(whole.get_weights()),
        lambda: model.save(tmp_path / "other.h5"),
    ):
        with refused(ValueError, f"out: weight 'kernel' {NO_VALUES}"):
            use()
    with pytest.raises(ValueError, match="the weight that it is for lies on the device 'meta' and has no values"):
        model.load_weights(tmp_path / "model.weights.h5")
    with torch.device("meta"), pytest.raises(ValueError, match="the weight that it is for lies on the device 'meta'"):
        load_model(tmp_path / "model.h5")
    model.to_empty(device="cpu")
    model.load_weights(tmp_path / "model.weights.h5")
    assert np.array_equal(model.predict(X), whole.predict(X))
    model = on_meta()
    model.load_state_dict(whole.state_dict(), assign=True)
    assert np.array_equal(model.predict(X), whole.predict(X))


@pytest.mark.parametrize("layer", [Dropout(0.5), AlphaDropout(0.5), Dense(2), LSTM(2), BatchNormalization()])
def test_what_is_made_elsewhere_computes_as_ever(layer):
    inputs = torch.ones(4, 5, 3, device="cpu", requires_grad=True)
    layer(inputs)
    layer.train()
    with torch.device("meta"):
        outputs = layer(inputs)
        outputs.sum().backward()
    gradient: Any = inputs.grad
    assert outputs.device.type == gradient.device.type == "cpu"


@pytest.mark.parametrize("shuffle", [True, "batch", False])
def test_a_model_that_is_made_trains_and_predicts_under_another_device(shuffle):
    found = []
    for device in ("cpu", "meta"):
        torch.manual_seed(0)
        model = Sequential([Dense(2, input_shape=(3,), kernel_initializer="ones")])
        model.compile("adam", "mse", metrics=["acc"])
        with torch.device(device):
            options = {"batch_size": 2, "shuffle": shuffle, "validation_split": 0.25, "verbose": 0}
            history = model.fit(X, np.eye(2)[[0, 1, 1, 0]], class_weight={0: 1.0, 1: 2.0}, **options).history
            found.append([*history.values(), model.evaluate(X, Y, verbose=0), *model.predict(X).tolist()])
    assert found[0] == found[1]


class Asked(nn.Linear):
    """Keeps that something asked it to move its tensors."""

    asked = False

    def _apply(self, fn, recurse=True):
        self.asked = True
        return self


def test_modules_of_torch_are_moved_with_the_layer_that_has_them_but_not_to_where_they_have_no_values():
    class Holding(Layer):
        def __init__(self):
            super().__init__()
            self.inside, self.other = Asked(3, 3), Dense(3)
            self.other.__dict__["_modules"]["own"] = Asked(3, 3)

    layer = Holding()
    for device in ("cpu", "meta"):
        move_modules(layer, torch.device(device))
        assert not layer.inside.asked
    move_modules(layer, torch.device("cuda"))
    assert layer.inside.asked
    assert not vars(layer.other)["_modules"]["own"].asked  # that layer's own, which moves when it is built


def test_data_of_a_model_of_modules_that_is_not_built_goes_where_it_will_be_built(monkeypatch):
    class Unbuilt(Model):
        def __init__(self):
            super().__init__()
            self.net = nn.Linear(3, 2)

        def call(self, inputs):
            return self.net(inputs)

    model = Unbuilt()
    monkeypatch.setattr(config, "device", lambda: torch.device("cuda"))
    assert model._weights_device == torch.device("cuda")
    monkeypatch.undo()
    model(torch.ones(1, 3))
    monkeypatch.setattr(config, "device", lambda: torch.device("cuda"))
    assert model._weights_device == torch.device("cpu")


def with_constants():
    inputs = Input((6, 4))
    shifted = Dense(4)(inputs) + torch.arange(4.0, device="cpu")
    return Model(inputs, Normalization(mean=1.0, variance=2.0)(shifted))


def with_states():
    return Sequential([LSTM(3, stateful=True, batch_input_shape=(2, 6, 4))])


def emptied(model, state):
    model.to_empty(device="cpu").load_state_dict(state)


def within_another(model, state):
    emptied(nn.Sequential(model), {f"0.{name}": value for name, value in state.items()})


def assigned(model, state):
    model.load_state_dict(state, assign=True)


class Moved(TorchDispatchMode):
    """Counts the numbers that operations write to another place or type."""

    numbers = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        found = func(*args, **(kwargs or {}))
        if func in (torch.ops.aten._to_copy.default, torch.ops.aten.copy_.default):
            self.numbers += found.numel()
        return found


@pytest.mark.parametrize("make", [with_constants, with_states])
def test_a_move_copies_each_number_once(make):
    model = make()
    tensors = [*model.parameters(), *model.buffers()]
    with Moved() as moved:
        model.to(torch.float64)
    assert moved.numbers == sum(tensor.numel() for tensor in tensors)
    assert {tensor.dtype for tensor in (*model.parameters(), *model.buffers())} == {torch.float64}


def test_a_move_that_fails_leaves_the_constants():
    model = with_constants()
    before = dict(model.named_buffers())
    with pytest.raises(RuntimeError):
        model.to("xla")
    assert before
    assert all(before[name] is buffer for name, buffer in model.named_buffers())


def test_constants_go_to_shared_memory_with_the_weights():
    model = with_constants().share_memory()
    assert all(tensor.is_shared() for tensor in (*model.parameters(), *model.buffers()))


@pytest.mark.parametrize("load", [emptied, within_another, assigned])
@pytest.mark.parametrize("make", [with_constants, with_states])
def test_values_that_no_file_has_are_there_after_memory_came(make, load):
    expected = make()
    with torch.device("meta"):
        model = make()
    load(model, expected.state_dict())
    x = torch.rand(2, 6, 4)
    for _ in range(2):  # states go on from call to call
        torch.testing.assert_close(model(x), expected(x))


def test_constants_outlive_meta_and_follow_other_moves():
    model = with_constants()
    state, x = {name: value.clone() for name, value in model.state_dict().items()}, torch.rand(2, 6, 4)
    expected = model(x)
    emptied(model.to("meta"), state)
    torch.testing.assert_close(model(x), expected)
    torch.testing.assert_close(model.double()(x.double()), expected.double())


def test_a_model_on_meta_computes_shapes():
    own = OwnModel()
    own(torch.ones(4, 3))
    for model in (own, Sequential([Dense(2, input_shape=(3,))])):
        outputs = model.to("meta")(torch.ones(4, 3, device="meta"))
        assert (outputs.shape, outputs.device.type) == ((4, 2), "meta")
