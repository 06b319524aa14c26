"""Layers of a user's own, written the Keras way or the torch way."""

import copy
import json
import pickle
from enum import IntEnum
from math import inf, nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import torchkeras
from torchkeras import initializers, registry
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.weights.weight import weight
from torchkeras.layers import Conv2D, Dense, Flatten, Input
from torchkeras.models import Model, Sequential, load_model, model_from_json
from torchkeras.registry import custom_object_scope


@pytest.fixture(autouse=True)
def fresh_session():
    torchkeras.clear_session()
    torch.manual_seed(0)


class Scaled(Layer):
    """As the guides for Keras 2 write a layer, attributes before `super().__init__` included."""

    def __init__(self, units, scale=1.0, kernel_initializer="glorot_uniform", **kwargs):
        self.units = units
        self.scale = scale
        self.kernel_initializer = initializers.get(kernel_initializer)
        super().__init__(**kwargs)

    def build(self, input_shape):
        self.kernel = self.add_weight(
            name="kernel",
            shape=(input_shape[1], self.units),
            initializer=self.kernel_initializer,
            regularizer="l2",
            constraint="non_neg",
            trainable=True,
        )
        self.seen = self.add_weight(name="seen", shape=(1,), initializer="zeros", trainable=False)
        super().build(input_shape)

    def call(self, x):
        return torch.matmul(x, self.kernel) * self.scale + self.seen

    def compute_output_shape(self, input_shape):
        return (input_shape[0], self.units)

    def get_config(self):
        config = {"units": self.units, "scale": self.scale}
        config["kernel_initializer"] = initializers.serialize(self.kernel_initializer)
        return {**super().get_config(), **config}


class Twice(Layer):
    """The least of all: no options, no weights, the shape found by running."""

    def call(self, inputs):
        return torch.cat([inputs, inputs], -1)


class Perceptron(Layer):
    """As for torch: modules in `__init__`, `forward`."""

    def __init__(self, features, hidden=5, **kwargs):
        super().__init__(**kwargs)
        self.features = features
        self.hidden = nn.Linear(features, hidden)
        self.norm = nn.BatchNorm1d(hidden)

    def forward(self, x):
        return self.norm(self.hidden(x)).relu()


class Shifted(Conv2D):
    """A layer of the package with another `call`."""

    def call(self, inputs):
        assert inputs.shape[-1] == 3, "channels last, as Keras shows them"
        return super().call(inputs)[:, :, 1:] + 1


class Options(Layer):
    """Options declared as fields, as the package's own layers do."""

    times: int = 2

    def forward(self, inputs):
        return inputs * self.times


CUSTOM = {cls.__name__: cls for cls in (Scaled, Twice, Perceptron, Shifted, Options)}


def test_a_layer_written_for_keras():
    layer = Scaled(2, scale=3.0, name="scaled")
    assert (layer.built, layer.weights) == (False, [])
    output = layer(Input((4,)))
    assert (output.shape, layer.built) == ((None, 2), True)
    assert [weight.full_name for weight in layer.trainable_weights] == ["scaled/kernel:0"]
    assert [weight.full_name for weight in layer.non_trainable_weights] == ["scaled/seen:0"]
    assert [name for name, _ in layer.named_parameters()] == ["kernel"]
    assert [name for name, _ in layer.named_buffers()] == ["seen"]
    layer.set_weights([np.ones((4, 2)), np.full(1, 0.5)])
    assert layer(torch.ones(1, 4)).tolist() == [[12.5, 12.5]]


def test_it_trains_with_its_regularizer_and_constraint():
    model = Sequential([Scaled(2, input_shape=(4,), name="scaled")])
    model.compile("sgd", "mse")
    kernel = model.get_weights()[0]
    x, y = np.ones((4, 4)), -np.ones((4, 2))
    loss = model.test_on_batch(x, y)
    expected = np.mean((x @ kernel - y) ** 2) + 0.01 * np.sum(kernel**2)
    np.testing.assert_allclose(loss, expected, rtol=1e-5)
    model.train_on_batch(x, y)
    assert (model.get_weights()[0] >= 0).all()
    assert (model.get_weights()[0] != kernel).any()


def build(kind):
    first = {
        "Scaled": lambda: Scaled(2, scale=0.5, name="mine"),
        "Twice": lambda: Twice(name="mine"),
        "Options": lambda: Options(times=3, name="mine"),
    }
    x = Input((4,))
    return Model(x, Dense(3)(first[kind]()(x)))


@pytest.mark.parametrize("kind", ["Scaled", "Twice", "Options"])
def test_config_file_copies(kind, tmp_path):
    model = build(kind).eval()
    values = torch.randn(2, 4)
    expected = model(values)
    by_argument = model_from_json(model.to_json(), custom_objects=CUSTOM)
    with custom_object_scope(CUSTOM):
        by_scope = model_from_json(model.to_json())
    for again in (by_argument, by_scope):
        again.set_weights(model.get_weights())
        torch.testing.assert_close(again(values), expected)
        assert json.loads(again.to_json()) == json.loads(model.to_json())
    model.save(tmp_path / "model.h5")
    torch.testing.assert_close(load_model(tmp_path / "model.h5", custom_objects=CUSTOM)(values), expected)
    torch.testing.assert_close(copy.deepcopy(model)(values), expected)
    torch.testing.assert_close(pickle.loads(pickle.dumps(model))(values), expected)  # noqa: S301


def test_an_unknown_layer_in_a_config():
    with pytest.raises(ValueError, match="Unknown layer") as error:
        model_from_json(build("Twice").to_json())
    assert str(error.value) == (
        "Unknown layer: 'Twice'. An object of your own is found when it is passed in `custom_objects` or put into a "
        "CustomObjectScope."
    )


def test_a_layer_written_for_torch():
    x = Input((4,))
    layer = Perceptron(4, name="mlp")
    model = Model(x, Dense(2)(layer(x)))
    assert model.get_layer("mlp").output_shape == (None, 5)
    assert "mlp.hidden.weight" in model.state_dict()
    model.compile("sgd", "mse")
    values = torch.randn(8, 4)
    torch.testing.assert_close(layer.eval()(values), layer.norm(layer.hidden(values)).relu())
    assert Twice()(values).shape == (8, 8)


def test_a_subclass_sees_kerass_order_and_so_does_what_it_calls():
    x = Input((6, 5, 3))
    layer = Shifted(4, 3, padding="same", name="shifted")
    model = Model(x, Flatten()(Conv2D(2, 1)(layer(x))))
    assert layer.output_shape == (None, 6, 4, 4)
    values = torch.randn(2, 6, 5, 3)
    plain = Conv2D(4, 3, padding="same")
    plain(values)
    plain.set_weights(layer.get_weights())
    torch.testing.assert_close(layer(values), plain(values)[:, :, 1:] + 1)
    last = model.get_layer("conv2d_1")
    torch.testing.assert_close(model(values), last(layer(values)).flatten(1))


def test_a_call_may_take_training():
    class Noise(Layer):
        def call(self, inputs, training=None):
            return inputs + 1 if (self.training if training is None else training) else inputs

    x = Input((2,))
    model = Model(x, [Noise()(x), Noise()(x, training=True)])
    assert [item.tolist() for item in model.eval()(torch.zeros(1, 2))] == [[[0.0, 0.0]], [[1.0, 1.0]]]
    assert [item.tolist() for item in model.train()(torch.zeros(1, 2))] == [[[1.0, 1.0]]] * 2


class Level(IntEnum):
    TWO = 2


@pytest.mark.parametrize("limit", [inf, -inf, nan, np.float64(0.5), Level.TWO])
@pytest.mark.parametrize("suffix", ["h5", "keras", "pt"])
def test_a_call_may_take_any_number(limit: float, suffix: str, tmp_path: Path):
    class Raise(Layer):
        def call(self, inputs, limit=0.0, limits=()):
            return inputs + limit + len(limits)

    x = Input((3,))
    model = Model(x, Raise()(x, limit=limit, limits=[limit, -inf]))
    model.save(tmp_path / f"m.{suffix}")
    again = load_model(tmp_path / f"m.{suffix}", custom_objects={"Raise": Raise})
    values = np.array([[0.0, 1.0, 5.0]], "float32")
    for each in (model, again):
        np.testing.assert_array_equal(each.predict(values, verbose=0), values + np.float32(limit) + 2)


def test_several_inputs_and_outputs():
    class Swapped(Layer):
        def call(self, inputs):
            a, b = inputs
            return [b, a]

        def compute_output_shape(self, input_shape):
            return [input_shape[1], input_shape[0]]

    a, b = Input((2,)), Input((3,))
    first, second = Swapped()([a, b])
    assert (first.shape, second.shape) == ((None, 3), (None, 2))
    found = Model([a, b], [first, second])(torch.zeros(1, 2), torch.ones(1, 3))
    assert [item.tolist() for item in found] == [[[1.0] * 3], [[0.0] * 2]]


def test_an_unknown_option():
    with pytest.raises(TypeError) as error:
        Twice(units=3)
    assert str(error.value) == (
        "Twice: unknown option 'units'. Its options are name, trainable, dtype, input_shape, batch_input_shape."
    )


def test_a_name_is_a_string():
    with pytest.raises(ValueError, match="name") as error:
        Dense(3, name=5)  # type: ignore[arg-type]
    assert str(error.value) == "Dense: name must be a string, or None; found 5."


def test_a_private_field_is_no_option():
    class Counting(Layer):
        times: int = 2
        _calls: int = 0

        def forward(self, inputs):
            return inputs

    assert list(Counting().get_config()) == ["name", "trainable", "times"]
    with pytest.raises(TypeError, match="unknown option '_calls'"):
        Counting(_calls=3)


@pytest.mark.parametrize("name", registry.layers.names())
def test_no_layer_of_the_package_has_a_private_option(name):
    assert not [option for option in getattr(registry.layers.find(name), "_options", ()) if option.startswith("_")]


def test_numbers_are_no_weights():
    layer = Dense(1, use_bias=False, name="head")
    layer(Input((1,)))
    with pytest.raises(ValueError, match="shape") as error:
        layer.set_weights([1.0])
    assert str(error.value) == (
        "head: weight 'head/kernel:0' has shape (1, 1); the array given for it has shape (). Give "
        "arrays as get_weights() does."
    )


# --- known by name ---------------------------------------------------------------------------------------------------


@pytest.fixture
def nothing_registered():
    with custom_object_scope():
        yield


@pytest.mark.usefixtures("nothing_registered")
def test_a_registered_class_is_known_in_files(tmp_path):
    @torchkeras.register(package="Own")
    class Doubling(Layer):
        def call(self, inputs):
            return 2 * inputs

    model = Sequential([Dense(2, input_shape=(3,)), Doubling()])
    model.save(tmp_path / "model.h5")
    again = load_model(tmp_path / "model.h5")
    assert type(again.layers[-1]) is Doubling
    config = {"class_name": "Own>Doubling", "config": {"name": "d"}}
    assert type(torchkeras.layers.deserialize(config)) is Doubling
    assert type(torchkeras.layers.deserialize({**config, "class_name": "Other>Doubling"})) is Doubling


@pytest.mark.usefixtures("nothing_registered")
def test_registering():
    @torchkeras.register
    def twice(x):
        return 2 * x

    assert torchkeras.register(twice) is twice
    assert torchkeras.get_custom_objects()["twice"] is twice
    assert torchkeras.activations.get("twice") is twice

    def other(x):
        return x

    with pytest.raises(ValueError, match=r"^register: 'twice' is registered already, as <function .*twice"):
        torchkeras.register(name="twice")(other)
    assert torchkeras.get_custom_objects()["twice"] is twice


def test_a_packages_class_is_not_the_built_in_one_of_its_name():
    with pytest.raises(ValueError, match=r"^Unknown layer: 'Own>Dense'\."):
        torchkeras.layers.deserialize({"class_name": "Own>Dense", "config": {"units": 2}})


class AsInKeras3(Layer):
    def build(self, input_shape):
        self.kernel = self.add_weight((input_shape[-1], 2), "ones")
        self.bias = self.add_weight(shape=2, initializer="zeros", trainable=True)
        self.gain = self.add_weight(initializer="ones")

    def call(self, x):
        return (x @ self.kernel + self.bias) * self.gain


@pytest.mark.parametrize("suffix", [".keras", ".h5", ".pt"])
def test_weights_are_made_as_in_keras_3(suffix, tmp_path):
    x = Input((3,))
    model = Model(x, AsInKeras3(name="own")(x))
    assert [(w.name, w.shape) for w in model.weights] == [("weight_0", (3, 2)), ("weight_1", (2,)), ("weight_2", ())]
    assert list(model.state_dict()) == ["own.kernel", "own.bias", "own.gain"]
    assert model.predict(np.ones((1, 3))).tolist() == [[3.0, 3.0]]
    model.set_weights([np.arange(6.0).reshape(3, 2), np.ones(2), np.array(2.0)])
    model.save(tmp_path / f"own{suffix}")
    again = load_model(tmp_path / f"own{suffix}", custom_objects={"AsInKeras3": AsInKeras3})
    assert again.predict(np.ones((1, 3))).tolist() == [[14.0, 20.0]]


def test_the_shape_of_a_weight_is_integers():
    class Unknown(Layer):
        def build(self, input_shape):
            self.kernel = self.add_weight("kernel", (None, 2))

    with pytest.raises(ValueError, match=r"add_weight: the shape of 'kernel' must be integers; found \(None, 2\)\."):
        Unknown()(Input((3,)))


def test_whether_a_weight_trains_is_a_flag():
    class Unsure(Layer):
        def build(self, input_shape):
            self.kernel = self.add_weight("kernel", (3, 2), trainable="no")

    with pytest.raises(ValueError, match=r"Unsure: trainable must be True, False, 1 or 0; found 'no'\."):
        Unsure()(Input((3,)))


class WithoutConfig(Layer):
    def __init__(self, units, **options):
        super().__init__(**options)
        self.inner = nn.Linear(units, units)

    def call(self, x):
        return self.inner(x)


class WithoutOptions(Layer):
    def __init__(self, units=3):
        super().__init__()
        self.units = units

    def call(self, x):
        return self.units * x


@pytest.mark.parametrize(
    ("layer", "reason"),
    [
        (
            lambda: WithoutConfig(3, name="own"),
            "WithoutConfig 'own' has no 'units' in its config, which its __init__ takes: let its get_config return it.",
        ),
        (
            lambda: WithoutOptions(),
            (
                "WithoutOptions 'without_options_1' does not take its config: let its __init__ take **options and pass "
                "them to super().__init__."
            ),
        ),
    ],
    ids=["config", "options"],
)
@pytest.mark.parametrize("nested", [False, True])
def test_saving_tells_of_a_layer_that_cannot_be_made_again(layer, reason, nested, tmp_path):
    model = Sequential([Input((3,)), layer()])
    model = Sequential([Input((3,)), model]) if nested else model
    path = tmp_path / "own.keras"
    with pytest.warns(UserWarning, match="load_model will fail") as told:
        model.save(path)
    assert [str(each.message) for each in told] == [f"{path}: load_model will fail: {reason}"]
    assert told[0].filename == __file__
    with pytest.raises(ValueError, match=r"__init__\(\)"):
        load_model(path, custom_objects={"WithoutConfig": WithoutConfig, "WithoutOptions": WithoutOptions})


class AsInKerassGuide(Layer):
    def __init__(self, units=3):
        super().__init__()
        self.units = units

    def build(self, input_shape):
        self.kernel = self.add_weight(shape=(input_shape[-1], self.units), initializer="ones", trainable=True)

    def call(self, inputs):
        return inputs @ self.kernel

    def get_config(self):
        return {"units": self.units}


@pytest.mark.parametrize("suffix", [".keras", ".h5", ".pt"])
def test_a_config_of_its_own_arguments_alone_is_enough(suffix, tmp_path):
    x = Input((3,))
    model = Model(x, AsInKerassGuide(2)(x))
    model.save(tmp_path / f"own{suffix}")
    again = load_model(tmp_path / f"own{suffix}", custom_objects={"AsInKerassGuide": AsInKerassGuide})
    assert again.predict(np.ones((1, 3))).tolist() == [[3.0, 3.0]]


def test_an_initializer_is_given_to_a_weight_once():
    layer = Layer()
    with pytest.raises(ValueError, match="add_weight: the initializer is given twice: 'ones' and 'zeros'"):
        layer.add_weight((2,), "ones", initializer="zeros")
    assert layer.add_weight((2,), "ones").tolist() == [1.0, 1.0]


def test_a_weight_of_a_shape_by_position_has_a_name():
    layer = Layer()
    assert layer.add_weight((2,), initializer="ones", name="scale").tolist() == [1.0, 1.0]
    layer.add_weight((1,), "zeros", name="shift", trainable=False)
    layer.add_weight("gain", (3,), None, "ones")
    layer.add_weight(name="bias", shape=4)
    assert [(weight.name, weight.shape) for weight in layer.weights] == [
        ("scale", (2,)),
        ("gain", (3,)),
        ("bias", (4,)),
        ("shift", (1,)),
    ]
    with pytest.raises(ValueError, match="add_weight: the name is given twice: 'a' and 'b'"):
        layer.add_weight("a", (2,), name="b")


class Counted(Layer):
    """Has a number where a model has its layers, and makes itself of a config in its own way."""

    def __init__(self, count, **options):
        super().__init__(**options)
        self.layers = count

    def get_config(self):
        return {**super().get_config(), "count": self.layers}

    @staticmethod
    def from_config(config):
        return Counted(**config)

    def call(self, inputs):
        return inputs * self.layers


def test_what_a_layer_of_ones_own_calls_layers_is_its_own(tmp_path):
    model = Sequential([Counted(3, input_shape=(2,))])
    model.save(tmp_path / "m.keras")
    again = load_model(tmp_path / "m.keras", custom_objects={"Counted": Counted})
    assert again.predict(np.ones((1, 2)), verbose=0).tolist() == [[3.0, 3.0]]


@pytest.mark.parametrize("made", ["layer", "graph", "code"])
def test_what_is_built_in_inference_mode_trains_later(made):
    x = torch.ones(4, 3)
    with torch.inference_mode():
        if made == "graph":
            model = Sequential([Dense(2, input_shape=(3,))])
        else:
            model = Dense(2) if made == "layer" else Sequential([Dense(2)])
            model(x)
    model(x).sum().backward()
    assert all(parameter.grad is not None for parameter in model.parameters())


def test_a_declared_weight_without_first_values_is_named():
    class Shifted(Layer):
        shift = weight("offset", keras="features")

        def _make_modules(self, input_shape):
            self.offset = nn.Parameter(torch.empty(input_shape[-1]))

        def forward(self, x):
            return x + self.offset

    with pytest.raises(RuntimeError) as error:
        Shifted(name="shifted")(torch.zeros(1, 2))
    assert str(error.value) == (
        "Shifted 'shifted': nothing gives the weight shift its first values: the class needs the option "
        "shift_initializer, or an _initializer_of that returns an initializer for 'shift'."
    )

    class Zeroed(Shifted):
        def _initializer_of(self, option):
            return initializers.Zeros()

    assert Zeroed()(torch.ones(1, 2)).tolist() == [[1.0, 1.0]]


def test_a_tensor_by_name_is_no_part_of_the_input_shape():
    shapes: list[Any] = []

    class Shifted(Layer):
        def build(self, input_shape: Any) -> None:
            shapes.append(input_shape)

        def call(self, inputs: Any, shift: Any = None) -> Any:
            return inputs + shift

        def compute_output_shape(self, input_shape: Any) -> Any:
            shapes.append(input_shape)
            return (*input_shape[:-1], 3)

    inputs, shift = Input((3,)), Input((1,))
    model = Model([inputs, shift], Shifted()(inputs, shift=shift))
    assert shapes == [(None, 3), (None, 3)]
    assert torch.equal(model([torch.ones(2, 3), torch.ones(2, 1)]), torch.full((2, 3), 2.0))


@pytest.mark.parametrize("make", [lambda: Layer(name="own"), lambda: Sequential([Layer(input_shape=(2,))], name="own")])
def test_a_name_stays_a_string(make: Any):
    with pytest.raises(ValueError, match="'own': name must be a string; found 3"):
        make().name = 3
