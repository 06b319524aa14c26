"""Attribute names are the user's: besides Keras's and torch's names, `Layer` and `Model` have only a short list."""

import inspect
import warnings
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from tests.layers.table import ROWS
from torchkeras.engine.layer.layer import Layer
from torchkeras.layers import Conv2D, Dense, Flatten, Input
from torchkeras.layers.cells import Cell
from torchkeras.layers.recurrence import Recurrent
from torchkeras.layers.steps import Drops
from torchkeras.layers.wrappers import Wrapper
from torchkeras.models import Model, Sequential, load_model


def words(text: str) -> list[str]:
    return text.split()


# Methods and attributes of Keras 2.2.4's classes, as far as they are here.
KERAS_LAYER = words(
    """
    add_loss add_weight build call compute_mask compute_output_shape count_params dtype from_config get_config
    get_input_at get_input_mask_at get_input_shape_at get_output_at get_output_mask_at get_output_shape_at
    get_weights input input_mask input_shape input_spec losses non_trainable_weights output output_mask output_shape
    set_weights stateful supports_masking trainable trainable_weights weights
    """
)
KERAS_MODEL = words(
    """
    evaluate evaluate_generator fit fit_generator get_layer history input_names inputs layers load_weights loss
    loss_weights losses metrics metrics_names optimizer output_names outputs predict predict_generator
    predict_on_batch sample_weight_mode save save_weights stop_training summary target_tensors test_on_batch to_json
    to_yaml train_on_batch weighted_metrics
    """
)
KERAS_SEQUENTIAL = words("add pop predict_classes predict_proba")
TORCH_SEQUENTIAL = words("append extend insert")
# Names that Keras has from later on, and our own.
LATER_LAYER = words(
    """
    add_metric compute_dtype dtype_policy non_trainable_variables reset_states trainable_variables variable_dtype
    variables
    """
)
LATER_MODEL = words("compute_loss compute_metrics export jit_compile predict_step reset_metrics test_step train_step")
OWN_MODEL = words(
    "code cuda_graph eject freeze_for_inference minimize on_nonfinite steps_per_execution distribute stop_evaluating "
    "stop_predicting sync_batch_norm"
)

# Names that were ours once; users have them for what they like.
FREED = words(
    """
    before_relu casts class_name commutes_with_relu direct ends_in follow_keras1 follow_theano in_place infer
    initializer_of input_ndim input_type keeps_shape keeps_types known layers_of_keras1 layout logits make
    min_input_ndim native_layout overwritable overwrite rectified run shape_from unrectified validation_arrays walks
    weights_of_keras1
    """
)


def public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


# Options of other versions of Keras, which say what to do when they are set.
REFUSED_OF_MODELS = ["run_eagerly", "auto_scale_loss"]


def test_the_public_names_are_these():
    layer = {*KERAS_LAYER, *LATER_LAYER, "built"}  # in Keras an attribute of each layer, here with a default
    model = layer | {*KERAS_MODEL, *LATER_MODEL, *OWN_MODEL, *REFUSED_OF_MODELS}
    of_torch = public(nn.Module) | {"training"}  # a property here, an attribute of each module there
    assert public(Layer) - of_torch == layer
    assert public(Model) - of_torch == model
    assert public(Sequential) - of_torch == model | {*KERAS_SEQUENTIAL, *TORCH_SEQUENTIAL}


KINDS = sorted({type(row.make()) for row in ROWS}, key=lambda kind: kind.__name__)
ALLOWED = words(
    """
    activity_regularizer adapt attention_axes finalize_state flash_attention get_vocabulary input_dtype mean
    partial_output_shape rank
    reset_state score_mode set_vocabulary sliding_window update_state variance vocabulary_size
    """
)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not issubclass(kind, (Recurrent, Cell, Drops, Wrapper))])
def test_a_layer_has_its_options_its_weights_and_little_else(kind):
    options = {option.field for base in kind.__mro__ for option in getattr(base, "_options", {}).values()}
    initializers = {f"{weight.option or weight.name}_initializer" for weight in kind._weights.values()}
    assert public(kind) - public(Layer) - options - initializers - {*kind._weights, *ALLOWED} == set()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_no_layer_has_a_freed_name(row):
    assert not [name for name in FREED if hasattr(row.make(), name)]


# --- a user's layers --------------------------------------------------------------------------------------------------


class AsWeights(Layer):
    """Written the Keras way, its weights kept under the freed names."""

    def build(self, input_shape):
        for name in FREED:
            setattr(self, name, self.add_weight(name=name, shape=(1,), initializer="ones"))
        super().build(input_shape)

    def call(self, inputs):
        return inputs * sum(getattr(self, name) for name in FREED) / len(FREED)


class AsAttributes(Layer):
    """Options of its own kept under the freed names, and a weight."""

    def __init__(self, factor=2.0, **options):
        super().__init__(**options)
        for name in FREED:
            setattr(self, name, factor)

    def build(self, input_shape):
        self.kernel = self.add_weight(name="kernel", shape=(input_shape[-1], 3), initializer="glorot_uniform")
        super().build(input_shape)

    def call(self, inputs):
        return inputs @ self.kernel * sum(getattr(self, name) for name in FREED) / len(FREED)

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], 3)

    def get_config(self):
        return {**super().get_config(), "factor": self.run}  # type: ignore[attr-defined]


class AsLayers(Layer):
    """Layers of Keras inside it, kept under the freed names."""

    def build(self, input_shape):
        for name in FREED:
            layer = Dense(2, name=f"inner_{name}")
            layer.build(input_shape)
            setattr(self, name, layer)
        super().build(input_shape)

    def call(self, inputs):
        return sum(getattr(self, name)(inputs) for name in FREED)

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], 2)


def scaled(self, inputs: Any) -> Any:
    return inputs * 0.5


METHODS: dict[str, Any] = dict.fromkeys(FREED, scaled)


def by_methods(self, inputs: Any) -> Any:
    for name in FREED[:3]:
        inputs = getattr(self, name)(inputs)
    return inputs


class AsMethods(Layer):
    """Methods of its own under the freed names."""

    def build(self, input_shape):
        self.kernel = self.add_weight(name="kernel", shape=(input_shape[-1], 3), initializer="glorot_uniform")
        super().build(input_shape)

    def call(self, inputs):
        return by_methods(self, inputs @ self.kernel)

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], 3)


class MyDense(Dense):
    """A layer of Keras with methods of its own under the freed names, and an output of its own."""

    def call(self, inputs):
        return by_methods(self, super().call(inputs))


class MyConv2D(Conv2D):
    """The same of a layer that computes channels first."""

    def call(self, inputs):
        return by_methods(self, super().call(inputs))


for _kind in (AsMethods, MyDense, MyConv2D):
    for _name, _method in METHODS.items():
        setattr(_kind, _name, _method)

SHAPES: dict[Any, tuple[int, ...]] = {
    AsWeights: (4,),
    AsAttributes: (4,),
    AsLayers: (4,),
    AsMethods: (4,),
    MyDense: (4,),
    MyConv2D: (6, 5, 2),
}
ARGUMENTS: dict[Any, tuple[Any, ...]] = {MyDense: (3,), MyConv2D: (3, 2)}


def made(kind):
    """A compiled model around a layer of the user's, and data for it."""
    inputs = Input(SHAPES[kind])
    outputs = kind(*ARGUMENTS.get(kind, ()), name="own")(inputs)
    model = Model(inputs, Dense(1)(Flatten()(outputs) if len(outputs.shape) > 2 else outputs))
    model.compile("sgd", "mse")
    return model, np.random.default_rng(0).normal(size=(8, *SHAPES[kind])).astype("float32"), np.ones((8, 1), "float32")


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("suffix", [".h5", ".keras"])
def test_a_users_layer_may_use_them_trained_saved_and_loaded(kind, suffix, tmp_path):
    model, x, y = made(kind)
    before = model.get_weights()
    model.fit(x, y, epochs=2, verbose=0)
    own = len(model.get_layer("own").get_weights())
    assert own == {AsWeights: len(FREED), AsLayers: 2 * len(FREED), MyDense: 2, MyConv2D: 2}.get(kind, 1)
    assert all((a != b).any() for a, b in zip(before, model.get_weights(), strict=True))
    np.testing.assert_allclose(model.predict(x), model(torch.from_numpy(x)).detach(), rtol=1e-5, atol=1e-6)
    model.save(tmp_path / f"m{suffix}")
    loaded = load_model(tmp_path / f"m{suffix}", custom_objects={kind.__name__: kind})
    np.testing.assert_allclose(loaded.predict(x), model.predict(x), rtol=1e-6, atol=1e-6)
    loaded.fit(x, y, verbose=0)


class OfTorch(Layer):
    """Written the torch way: modules and a Parameter under the freed names."""

    def __init__(self, **options):
        super().__init__(**options)
        for name in FREED:
            setattr(self, name, nn.Linear(4, 4))
        self.logits = nn.Parameter(torch.ones(4))

    def forward(self, inputs):
        for name in FREED:
            if name != "logits":
                inputs = torch.tanh(getattr(self, name)(inputs))
        return inputs * self.logits


def test_a_layer_in_the_torch_way_may_keep_modules_and_parameters_under_them():
    layer, x = OfTorch(), torch.randn(3, 4)
    inputs = Input((4,))
    model = Model(inputs, Dense(2)(layer(inputs)))
    expected, scale = x, layer._parameters["logits"]
    assert isinstance(scale, nn.Parameter)
    for name in FREED:
        if name != "logits":
            linear: Any = layer._modules[name]
            expected = torch.tanh(expected @ linear.weight.T + linear.bias)
    torch.testing.assert_close(layer(x), expected * scale)
    torch.testing.assert_close(model(x), model.layers[-1](layer(x)))
    np.testing.assert_allclose(model.predict(x.numpy()), model(x).detach(), rtol=1e-5, atol=1e-6)
    assert {name.split(".")[0] for name in layer.state_dict()} == set(FREED)


# --- a user's models --------------------------------------------------------------------------------------------------


class Net(Model):
    """A model of the user's own, which keeps its layers and numbers under the freed names."""

    def __init__(self, **options):
        inputs, layers = Input((4,)), {}
        outputs = inputs
        for name in FREED:
            layers[name] = Dense(4, name=f"dense_{name}", kernel_initializer="identity")
            outputs = layers[name](outputs)
        super().__init__(inputs, Dense(1)(outputs), **options)
        for name, layer in layers.items():
            setattr(self, name, layer)


class WithNumbers(Net):
    def __init__(self, **options):
        super().__init__(**options)
        for name in FREED:
            delattr(self, name)
            setattr(self, name, len(name))


class WithMethods(Net):
    def __init__(self, **options):
        super().__init__(**options)
        for name in FREED:
            delattr(self, name)


for _name, _method in METHODS.items():
    setattr(WithMethods, _name, _method)


@pytest.mark.parametrize("kind", [Net, WithNumbers, WithMethods])
def test_a_users_model_may_use_them_trained_and_saved(kind, tmp_path):
    model, x, y = kind(), np.random.default_rng(0).normal(size=(8, 4)).astype("float32"), np.ones((8, 1), "float32")
    model.compile("sgd", "mse")
    before = model.get_weights()
    assert len(before) == 2 * len(FREED) + 2
    model.fit(x, y, verbose=0, validation_split=0.25)
    assert all((a != b).any() for a, b in zip(before, model.get_weights(), strict=True))
    np.testing.assert_allclose(model.predict(x), model(torch.from_numpy(x)).detach(), rtol=1e-5, atol=1e-6)
    expected = {Net: model.get_layer("dense_run"), WithNumbers: 3}
    assert model.run == expected.get(kind, model.run)
    model.save_weights(tmp_path / "m.h5")
    other = kind()
    other.load_weights(tmp_path / "m.h5")
    np.testing.assert_allclose(other.predict(x), model.predict(x), rtol=1e-6, atol=1e-6)


# --- what looks at a model --------------------------------------------------------------------------------------------


def graph_model() -> Model:
    inputs = Input((4,))
    return Model(inputs, Dense(2)(inputs), name="graph")


MODELS = {
    "graph": graph_model,
    "sequential": lambda: Sequential([Dense(2, input_shape=(4,))], name="stack"),
    "not built": lambda: Sequential([Dense(2)], name="open"),
    "empty": lambda: Sequential(name="empty"),
}


def compiled(model):
    model.compile("sgd", "mse", metrics=["mae"])
    return model


@pytest.mark.parametrize("make", [*MODELS.values(), *(lambda m=m: compiled(m()) for m in list(MODELS.values())[:3])])
def test_inspection_passes_over_what_is_not_there_yet(make):
    assert {"fit", "name", "metrics_names"} <= {name for name, _ in inspect.getmembers(make())}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_inspection_of_a_layer_passes_over_what_is_not_there_yet(row):
    layer = row.make()
    assert dict(inspect.getmembers(layer))["name"] == layer.name


@pytest.mark.parametrize("row", [row for row in ROWS if "copies" not in row.differs], ids=lambda row: row.name)
def test_inspection_of_a_layer_in_use(row):
    layer = row.make()
    layer(row.tensors())
    assert dict(inspect.getmembers(layer))["built"] is True


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_metrics_have_no_names_before_compile(make):
    assert make().metrics_names == []


def test_metrics_have_names_once_the_model_is_built():
    model = compiled(MODELS["not built"]())
    assert model.metrics_names == []
    model.build((None, 4))
    assert model.metrics_names == ["loss", "mean_absolute_error"]


def test_what_needs_a_graph_is_an_attribute_error_with_its_own_words():
    model = MODELS["not built"]()
    assert not hasattr(model, "inputs")
    with pytest.raises(AttributeError) as error:
        _ = model.outputs
    assert str(error.value) == (
        "Sequential 'open' has no graph yet: its first layer needs an input_shape, or call the model on data, or call "
        "build(input_shape)."
    )


@pytest.mark.parametrize("make", [MODELS["graph"], MODELS["sequential"]])
def test_torch_traces_a_model_that_is_not_compiled(make):
    model, x = make().eval(), torch.randn(3, 4)
    with warnings.catch_warnings():
        for kind in (DeprecationWarning, FutureWarning):  # which torch gives for the function itself
            warnings.simplefilter("ignore", kind)
        traced: Any = torch.jit.trace(model, torch.randn(5, 4))
    torch.testing.assert_close(traced(x), model(x))


@pytest.mark.parametrize("make", [*MODELS.values(), lambda: torch.nn.Sequential(MODELS["graph"]())])
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")  # of the function itself
def test_torch_scripts_no_model(make):
    with pytest.raises(TypeError, match=r"torch\.jit\.script cannot compile it; call torch\.export\.export"):
        torch.jit.script(make())
