"""This package's own dialect and that of Keras 3 in one process: classes, files, copies, steps, errors."""

import copy
import pickle

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import torchkeras
from benchmarks import workloads
from torchkeras import Model, keras3, layers, models
from torchkeras.keras3 import Variable

RANDOM = np.random.RandomState(0)
ROWS, NUMBERS = RANDOM.randn(16, 6, 4).astype("float32"), RANDOM.randn(16, 1).astype("float32")


def _recurrent(keras, **options):
    inputs = keras.Input((6, 4), name="rows")
    hidden = keras.layers.GRU(5, name="gru", **options)(inputs)
    return keras.Model(
        inputs,
        keras.layers.Dense(1, name="dense")(keras.layers.BatchNormalization(name="bn", variance="population")(hidden)),
    )


class Counting(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.append(str(func))
        return func(*args, **(kwargs or {}))


def test_defaults_of_one_dialect_are_not_those_of_the_other():
    theirs, ours = keras3.layers.LSTM(3), layers.LSTM(3)
    assert theirs.get_config()["recurrent_activation"] == "sigmoid"
    assert ours.get_config()["recurrent_activation"] == "hard_sigmoid"
    assert (keras3.layers.GRU(3).reset_after, layers.GRU(3).reset_after) == (True, False)
    assert (keras3.layers.Dense(3).name, layers.Dense(3).name.rpartition("_")[0]) != ("dense_1", "")
    assert isinstance(theirs, keras3.layers.Layer)
    assert isinstance(theirs, layers.LSTM)
    assert not isinstance(ours, keras3.layers.Layer)


def test_a_layer_of_one_dialect_trains_in_a_model_of_the_other():
    inputs = torchkeras.Input((6, 4))
    mixed = Model(inputs, layers.Dense(1)(keras3.layers.LSTM(3)(inputs)))
    mixed.compile("sgd", "mse", metrics=["mae"])
    assert sorted(mixed.fit(ROWS, NUMBERS, verbose=0).history) == ["loss", "mean_absolute_error"]
    inputs = keras3.Input((6, 4))
    mixed = keras3.Model(inputs, keras3.layers.Dense(1)(layers.LSTM(3)(inputs)))
    mixed.compile("sgd", "mse", metrics=["mae"])
    assert sorted(mixed.fit(ROWS, NUMBERS, verbose=0).history) == ["loss", "mae"]


@pytest.mark.parametrize("suffix", [".safetensors", ".pt"])
def test_the_tensors_of_a_model_are_found_in_either_dialect(tmp_path, suffix):
    for keras, other in ((keras3, torchkeras), (torchkeras, keras3)):
        inputs = keras.Input((4,))
        model = keras.Model(inputs, keras.layers.Dense(2)(keras.layers.Dense(3, name="hidden")(inputs)))
        model.save(tmp_path / f"model{suffix}")
        again = other.models.load_model(tmp_path / f"model{suffix}", compile=False)
        np.testing.assert_array_equal(again.predict(ROWS[:, 0], verbose=0), model.predict(ROWS[:, 0], verbose=0))


@pytest.mark.parametrize(
    ("load", "suffix"),
    [
        *((models.load_model, suffix) for suffix in (".keras", ".h5")),
        *((keras3.models.load_model, suffix) for suffix in (".keras", ".h5", ".safetensors", ".pt")),
    ],
)
def test_a_saved_model_computes_and_trains_the_same_in_either_dialect(tmp_path, load, suffix):
    model = _recurrent(keras3)
    model.compile("adam", "mse", metrics=["mae"])
    model.fit(ROWS, NUMBERS, verbose=0)
    model.save(tmp_path / f"model{suffix}")
    again = load(tmp_path / f"model{suffix}")
    np.testing.assert_array_equal(again.predict(ROWS, verbose=0), model.predict(ROWS, verbose=0))
    assert isinstance(again.layers[1], keras3.layers.GRU) is (load is keras3.models.load_model)
    before = model.evaluate(ROWS, NUMBERS, verbose=0)
    for each in (model, again):
        each.fit(ROWS, NUMBERS, shuffle=False, verbose=0)
    np.testing.assert_allclose(again.predict(ROWS, verbose=0), model.predict(ROWS, verbose=0), rtol=1e-5, atol=1e-6)
    assert model.evaluate(ROWS, NUMBERS, verbose=0) != before


def test_a_model_of_this_package_is_read_in_the_dialect_with_its_own_meaning(tmp_path):
    model = _recurrent(torchkeras, recurrent_activation="hard_sigmoid")
    model.compile("sgd", "mse")
    model.save(tmp_path / "model.h5")
    again = keras3.models.load_model(tmp_path / "model.h5")
    assert isinstance(again.layers[1], keras3.layers.GRU)
    assert (again.layers[1].reset_after, again.layers[1].recurrent_activation) == (
        False,
        model.layers[1].recurrent_activation,
    )
    np.testing.assert_array_equal(again.predict(ROWS, verbose=0), model.predict(ROWS, verbose=0))


def test_a_step_runs_the_operations_of_the_same_model_in_this_package():
    seen = {}
    for keras in (torchkeras, keras3):
        model = _recurrent(keras, reset_after=True, recurrent_activation="sigmoid", activation="tanh")
        optimizer = keras.optimizers.SGD(0.1)
        model.compile(optimizer, "mse", metrics=["mae"], jit_compile=False)
        model.fit(ROWS[:8], NUMBERS[:8], batch_size=8, verbose=0)
        with Counting() as counting:
            model.fit(ROWS, NUMBERS, batch_size=8, shuffle=False, verbose=0)
        seen[keras.__name__] = sorted(counting.names)
    assert seen["torchkeras.keras3"] == seen["torchkeras"]


@pytest.mark.parametrize("from_logits", [False, True])
def test_a_step_of_a_classifier_runs_no_more_operations_than_in_this_package(from_logits):
    seen = {}
    for keras in (torchkeras, keras3):
        features = keras.Input((6, 4))
        hidden = keras.layers.Flatten()(features)
        outputs = keras.layers.Dense(3, activation=None if from_logits else "softmax")(hidden)
        model = keras.Model(features, outputs)
        loss = torchkeras.losses.SparseCategoricalCrossentropy(from_logits=True) if from_logits else None
        model.compile("adam", loss or "sparse_categorical_crossentropy", metrics=["accuracy"], jit_compile=False)
        classes = np.arange(16) % 3
        model.fit(ROWS[:8], classes[:8], batch_size=8, verbose=0)
        with Counting() as counting:
            model.fit(ROWS, classes, batch_size=8, shuffle=False, verbose=0)
        seen[keras] = len(counting.names)
    assert seen[keras3] <= seen[torchkeras]


@pytest.mark.parametrize("name", workloads.WORKLOADS)
def test_a_step_of_the_benchmarks_runs_no_more_operations_than_in_this_package(name):
    workload, seen = workloads.WORKLOADS[name], {}
    x, y = workloads.samples(workload, 1)
    for keras in (torchkeras, keras3):
        model = workloads.compiled(workload.network(keras), jit_compile=False)
        inputs, targets = [torch.from_numpy(each) for each in x], torch.from_numpy(y)
        workloads.keras_epoch(model, workload, inputs, targets)
        with Counting() as counting:
            workloads.keras_epoch(model, workload, inputs, targets)
        seen[keras] = len(counting.names)
    norms = sum(isinstance(layer, layers.BatchNormalization) for layer in model.layers)
    assert 0 < seen[keras3] <= seen[torchkeras] + 4 * norms  # Keras 3's moving variance is one that is divided by n


def pickled(value):
    return pickle.loads(pickle.dumps(value))  # noqa: S301


def test_copies_and_pickles_are_of_the_dialect():
    model = _recurrent(keras3)
    for again in (copy.deepcopy(model), pickled(model), keras3.models.clone_model(model)):
        assert type(again) is keras3.Model
        assert type(again.layers[1]) is keras3.layers.GRU
        again.set_weights(model.get_weights())
        np.testing.assert_array_equal(again.predict(ROWS, verbose=0), model.predict(ROWS, verbose=0))


def test_configs_make_the_layers_again():
    for layer in (
        keras3.layers.LSTM(3),
        keras3.layers.Bidirectional(keras3.layers.GRU(3)),
        keras3.layers.LeakyReLU(0.1),
    ):
        again = type(layer).from_config(layer.get_config())
        assert type(again) is type(layer)
        assert again.get_config() == layer.get_config()
    assert type(keras3.layers.Bidirectional(keras3.layers.GRU(3)).forward_layer) is keras3.layers.GRU


class Scale(keras3.layers.Layer):
    def build(self, input_shape):
        self.scale = self.add_weight(shape=(input_shape[-1],), initializer="ones", name="scale")
        self.calls = self.add_weight(shape=(), initializer="zeros", trainable=False, name="calls")

    def call(self, inputs):
        return inputs * self.scale


def test_a_weight_is_a_variable_that_torch_takes():
    layer = Scale(name="own")
    layer(np.ones((2, 3), "float32"))
    assert isinstance(layer.scale, Variable)
    assert isinstance(layer.calls, Variable)
    assert (layer.scale.path, layer.scale.trainable, layer.calls.trainable) == ("own/scale", True, False)
    layer.scale.assign([1.0, 2.0, 3.0])
    layer.calls.assign_add(2.0)
    assert layer(torch.ones(1, 3)).tolist() == [[1.0, 2.0, 3.0]]
    assert (float(layer.calls), layer.scale.numpy().tolist()) == (2.0, [1.0, 2.0, 3.0])
    assert torch.sum(layer.scale).item() == 6.0
    with pytest.raises(
        ValueError, match=r"^Variable 'own/scale': its shape is \(3,\); the values given have the shape"
    ):
        layer.scale.assign([1.0])


def test_variables_stay_variables_in_moves_copies_and_pickles():
    layer = Scale()
    layer(torch.ones(1, 3))
    for again in (copy.deepcopy(layer), pickled(layer), layer.to(torch.float64)):
        assert isinstance(again.scale, Variable)
        assert isinstance(again.calls, Variable)
        assert again.scale is again.weights[0]
        assert again.scale.value is again._parameters["scale"]
        assert again.calls.value is again._buffers["calls"]
    assert layer.calls.dtype == "float64"


def test_a_variable_as_an_attribute_is_a_weight():
    class Own(keras3.layers.Layer):
        def __init__(self):
            super().__init__()
            self.factor = Variable(2.0, name="factor")
            self.count = Variable(0.0, trainable=False, name="count")

        def call(self, inputs):
            return inputs * self.factor

    layer = Own()
    assert layer(torch.ones(2)).tolist() == [2.0, 2.0]
    assert [len(layer.trainable_weights), len(layer.non_trainable_weights)] == [1, 1]
    assert Variable([1, 2]).dtype == "float32"
    assert Variable(lambda shape, dtype: torch.ones(shape), shape=(2,)).tolist() == [1.0, 1.0]
    with pytest.raises(
        ValueError, match=r"^Variable: shape must be a tuple of integers for an initializer; found None"
    ):
        Variable("ones")
    with pytest.raises(ValueError, match=r"^Variable: aggregation must be one of 'none', 'mean', .*; found 'max'\.$"):
        Variable(1.0, aggregation="max")
    with pytest.raises(TypeError, match="unexpected keyword argument 'validate_shape'"):
        Variable(1.0, validate_shape=True)


@pytest.mark.torch("2.8", "its compiler follows whole models")
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor")  # its compiler, up to 2.10, asks for it
def test_a_model_with_own_weights_is_compiled_by_torch():
    model = keras3.Sequential([keras3.Input((3,)), Scale()])
    compiled = torch.compile(model, backend="eager")
    torch.testing.assert_close(compiled(torch.ones(2, 3)), model(torch.ones(2, 3)))


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: keras3.layers.ReversibleEmbedding(3, 2, lora_rank=4),
            "ReversibleEmbedding: lora_rank must be None; found 4. Instead, adapt an Embedding and a Dense",
        ),
        (lambda: keras3.layers.LSTM(3, seed=4), "LSTM: seed must be None; found 4. Instead, what is dropped in a step"),
        (
            lambda: keras3.layers.GRU(3, use_cudnn="x"),
            "GRU: use_cudnn must be 'auto' or True or False; found 'x'. Instead, torch chooses its kernel by itself",
        ),
        (lambda: keras3.layers.BatchNormalization(renorm=True), "BatchNormalization: renorm must be False; found True"),
        (lambda: keras3.layers.Dense(3, autocast=False, name="d"), "Dense 'd': autocast must be True; found False"),
        (
            lambda: keras3.Input((3,), sparse=True, name="i"),
            "Input 'i': sparse must be False; such inputs are not supported",
        ),
        (
            lambda: keras3.layers.Layer(name="l").add_weight((2,), aggregation="max"),
            "Layer 'l': add_weight: aggregation must",
        ),
        (
            lambda: keras3.Sequential([keras3.layers.Dense(1)]).compile(auto_scale_loss=False),
            "compile: auto_scale_loss must be True",
        ),
        (
            lambda: keras3.Sequential([keras3.layers.Dense(1)]).compile(run_eagerly=True, jit_compile=True),
            "compile: run_eagerly and jit_compile cannot both be True",
        ),
    ],
)
def test_what_is_refused(make, text):
    with pytest.raises((ValueError, TypeError)) as error:
        make()
    assert str(error.value).startswith(text)


def test_names_that_are_left_out_say_what_to_use():
    with pytest.raises(AttributeError, match=r"has no 'quantizers'\. Instead: quantize the torch module"):
        _ = keras3.quantizers
    with pytest.raises(
        AttributeError, match=r"module 'keras.layers' has no 'JaxLayer'\. Instead: write the layer in torch"
    ):
        _ = keras3.layers.JaxLayer
    with pytest.raises(AttributeError, match=r"module 'keras.layers' has no 'Dens'\. Did you mean 'Dense'\?"):
        _ = keras3.layers.Dens
    assert keras3.version() == keras3.__version__ == "3.15.0"
