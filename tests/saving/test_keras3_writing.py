"""Configs as Keras 3 writes them: like those of genuine files, and refused where Keras 3 computes otherwise."""

import inspect
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from test_paths import GOLDEN, model_of

import torchkeras
from torchkeras import losses, optimizers, registry, regularizers
from torchkeras.engine.layer.layer import Layer
from torchkeras.layers import (
    GRU,
    LSTM,
    Activation,
    ActivityRegularization,
    Add,
    Attention,
    BatchNormalization,
    Bidirectional,
    Concatenate,
    Conv2D,
    Conv2DTranspose,
    CuDNNLSTM,
    Dense,
    Dot,
    Dropout,
    Embedding,
    Input,
    Lambda,
    LeakyReLU,
    LocallyConnected1D,
    Masking,
    MultiHeadAttention,
    Multiply,
    RandomCrop,
    Softmax,
    TimeDistributed,
    UpSampling2D,
)
from torchkeras.models import Model, Sequential, load_model
from torchkeras.saving import keras3_names
from torchkeras.saving.layer_facts import FACTS, keras3_name
from torchkeras.saving.write import keras3_training
from torchkeras.saving.write.keras3_writing import keras3_form

CASES = sorted((GOLDEN / "keras-3.15").iterdir())
SIGMOID = {"recurrent_activation": "sigmoid"}


def plain(config: Any) -> Any:
    """As it comes out of a file."""
    return json.loads(json.dumps(config))


def histories(entry: dict[str, Any], numbers: dict[str, int]) -> Any:
    """The calls of a layer, with layers by their numbers."""

    def places(value: Any) -> Any:
        if isinstance(value, dict) and value.get("class_name") == "__keras_tensor__":
            name, *rest = value["config"]["keras_history"]
            return [numbers[name], *rest, value["config"]["shape"], value["config"]["dtype"]]
        return [places(item) for item in value] if isinstance(value, list) else value

    return [places(call["args"]) for call in entry.get("inbound_nodes", [])]


def same(ours: Any, theirs: Any) -> None:
    """Every option that we write is genuine Keras's, with its value, but for names, initializers and policies."""
    for option, value in ours["config"].items():
        if option == "name" or option.endswith("initializer"):
            continue
        found = theirs["config"][option]
        if option == "dtype" and isinstance(found, dict):
            found = found["config"]["name"]
        if isinstance(value, dict) and "class_name" in value:
            assert value["module"] == found["module"]
            same(value, found)
        elif option != "layers":
            assert value == found or [value] == found, option


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_configs_are_those_of_genuine_files(case: Path):
    ours, theirs = plain(keras3_form(model_of(case))[0]), json.loads((case / "case.json").read_text())["config"]
    assert [ours[key] for key in ("module", "class_name")] == [theirs[key] for key in ("module", "class_name")]
    # Keras 3 writes how a mask is computed as a layer; ours computes it as the layer of the mask says.
    entries = [[e for e in found["config"]["layers"] if e["class_name"] != "NotEqual"] for found in (ours, theirs)]
    numbers = [{entry["config"]["name"]: k for k, entry in enumerate(found)} for found in entries]
    assert len(entries[0]) == len(entries[1])
    for mine, genuine in zip(*entries, strict=True):
        for key in ("module", "class_name", "registered_name"):
            assert mine[key] == genuine[key]
        same(mine, genuine)
        assert histories(mine, numbers[0]) == histories(genuine, numbers[1])
    if "input_layers" in theirs["config"]:
        for key in ("input_layers", "output_layers"):
            mine, genuine = (np.array(found["config"][key], dtype=object) for found in (ours, theirs))
            assert len(mine.reshape(-1, 3)) == len(genuine.reshape(-1, 3))


# --- parts -----------------------------------------------------------------------------------------------------------


def layer_of(model: Model, index: int = -1) -> dict[str, Any]:
    return plain(keras3_form(model)[0])["config"]["layers"][index]


def single(*layers: Any, shape: tuple[int, ...] = (4, 3), **options: Any) -> Model:
    tensor = first = Input(shape, **options)
    for layer in layers:
        tensor = layer(tensor)
    return Model(first, tensor)


def test_initializers_regularizers_and_constraints_are_objects_of_their_modules():
    torchkeras.clear_session()
    layer = Dense(
        2, kernel_initializer="he_normal", kernel_regularizer=regularizers.l2(0.5), kernel_constraint="non_neg"
    )
    config = layer_of(single(layer))["config"]
    assert config["kernel_initializer"] == {
        "module": "keras.initializers",
        "class_name": "VarianceScaling",
        "config": {"scale": 2.0, "mode": "fan_in", "distribution": "truncated_normal", "seed": None},
        "registered_name": None,
    }
    assert config["kernel_regularizer"]["module"] == "keras.regularizers"
    assert config["kernel_constraint"] == {
        "module": "keras.constraints",
        "class_name": "NonNeg",
        "config": {},
        "registered_name": None,
    }


def double(x: Any) -> Any:
    return 2 * x


def test_functions_of_ones_own_are_written_by_name():
    own = {"module": "builtins", "class_name": "function", "config": "double", "registered_name": "function"}
    assert layer_of(single(Dense(2, activation=double)))["config"]["activation"] == own
    assert layer_of(single(Lambda(double)))["config"]["function"] == own


def test_an_activation_may_be_a_layer():
    found = layer_of(single(Dense(2, activation=LeakyReLU(0.1, name="leaky"))))["config"]["activation"]
    assert found["class_name"] == "LeakyReLU"
    assert found["config"] == {"name": "leaky", "trainable": True, "negative_slope": 0.1, "dtype": "float32"}


class Doubling(Dense):
    pass


def test_a_layer_of_ones_own_is_written_as_registered():
    found = layer_of(single(Doubling(2)))
    assert (found["module"], found["class_name"], found["registered_name"]) == (None, "Doubling", "Doubling")


def test_both_directions_stand_in_a_config():
    config = layer_of(single(Bidirectional(GRU(2, go_backwards=True, **SIGMOID))))["config"]
    assert config["layer"]["config"]["go_backwards"] is True
    assert config["backward_layer"]["config"]["go_backwards"] is False


def test_operators_are_operations():
    a = Input((4, 3), name="a")
    config = plain(keras3_form(Model(a, (1 - a)[..., 1:]))[0])["config"]
    tensor = {
        "class_name": "__keras_tensor__",
        "config": {"shape": [None, 4, 3], "dtype": "float32", "keras_history": ["a", 0, 0]},
    }
    subtract, getitem = config["layers"][1:]
    assert (subtract["module"], subtract["class_name"]) == ("keras.src.ops.numpy", "Subtract")
    assert subtract["inbound_nodes"] == [{"args": [1, tensor], "kwargs": {}}]
    assert getitem["inbound_nodes"][0]["args"][1] == [
        {"class_name": "__ellipsis__", "config": {}},
        {"class_name": "__slice__", "config": {"start": 1, "stop": None, "step": None}},
    ]


def names_in(call: dict[str, Any]) -> Any:
    def names(value: Any) -> Any:
        if isinstance(value, list):
            return [names(item) for item in value]
        return value["config"]["keras_history"][0] if isinstance(value, dict) else value

    return names(call["args"]), {key: names(value) for key, value in call["kwargs"].items()}


def test_states_keys_and_masks_go_by_their_names():
    a, b, h = Input((4, 3), name="a"), Input((5, 3), name="b"), Input((2,), name="h")
    m = Input((5,), name="m", dtype="bool")
    model = Model(
        [a, b, h, m],
        [
            GRU(2, name="gru", **SIGMOID)(a, initial_state=h),
            Attention(name="attention")([a, b], mask=[None, m]),
            MultiHeadAttention(2, 3, name="heads")(a, b, b, use_causal_mask=True),
        ],
    )
    calls = {
        entry["name"]: names_in(entry["inbound_nodes"][0])
        for entry in plain(keras3_form(model)[0])["config"]["layers"]
        if entry["inbound_nodes"]
    }
    assert calls == {
        "gru": (["a"], {"initial_state": ["h"]}),
        "attention": ([["a", "b", "b"]], {"mask": [None, "m"]}),
        "heads": (["a", "b"], {"key": "b", "use_causal_mask": True}),
    }


def test_a_layer_in_two_places_is_marked_as_the_same():
    i, dense = Input((4, 3)), Dense(3)
    model = Model(i, [TimeDistributed(dense)(i), dense(i)])
    config = plain(keras3_form(model)[0])["config"]["layers"]
    assert config[1]["config"].get("layer", config[1])["shared_object_id"] == 1
    assert config[2]["config"].get("layer", config[2])["shared_object_id"] == 1


# --- refusals --------------------------------------------------------------------------------------------------------


def masked(*layers: Any) -> Model:
    return single(Masking(), *layers)


def joined() -> Model:
    i = Input((4, 3))
    return Model(i, Add()([Masking()(i), i]))


def product() -> Model:
    i = Input((4, 3))
    return Model(i, Multiply()([Masking()(i)] * 2))


def called_twice() -> Model:
    i, j = Input((3,)), Input((3,))
    inner = Model(j, Dense(3)(j), name="inner")
    return Model(i, inner(inner(i)))


def of_two_models() -> Model:
    i, j, dense = Input((3,)), Input((3,)), Dense(3)
    return Model(i, Model(j, dense(j))(dense(i)))


NO_FORM = "has no form in Keras 3."
REFUSED: dict[str, tuple[Any, str]] = {
    "hard_sigmoid": (
        lambda: single(Dense(2, activation="hard_sigmoid")),
        f"Dense 'dense_1': activation 'hard_sigmoid' {NO_FORM}",
    ),
    "recurrent": (lambda: single(LSTM(2)), f"LSTM 'lstm_1': recurrent_activation 'hard_sigmoid' {NO_FORM}"),
    "inside": (
        lambda: single(Bidirectional(LSTM(2, name="inner"))),
        f"LSTM 'inner': recurrent_activation 'hard_sigmoid' {NO_FORM}",
    ),
    "bilinear": (
        lambda: single(UpSampling2D(interpolation="bilinear"), shape=(4, 4, 3)),
        f"UpSampling2D 'up_sampling2d_1': interpolation 'bilinear' {NO_FORM}",
    ),
    "half": (
        lambda: single(Conv2D(2, 3, padding="half"), shape=(4, 4, 3)),
        f"Conv2D 'conv2d_1': padding 'half' {NO_FORM}",
    ),
    "target": (
        lambda: single(Conv2DTranspose(2, 3, target_shape=(None, 6, 6, 2)), shape=(4, 4, 3)),
        f"Conv2DTranspose 'conv2d_transpose_1': target_shape (None, 6, 6, 2) {NO_FORM}",
    ),
    "mode": (
        lambda: single(BatchNormalization(mode=1)),
        f"BatchNormalization 'batch_normalization_1': mode 1 {NO_FORM}",
    ),
    "activity": (
        lambda: single(Dense(2, activity_regularizer="l2")),
        (
            "Dense 'dense_1': Keras 3 divides its activity_regularizer by the samples of a batch. "
            "Use regularizers.PerSample."
        ),
    ),
    "activity of steps": (
        lambda: single(TimeDistributed(Dense(2, activity_regularizer="l2")), shape=(4, 3)),
        (
            "TimeDistributed 'time_distributed_1': Keras 3 does not count the activity_regularizer of its layer. "
            "Put an ActivityRegularization(per_sample=True) after it."
        ),
    ),
    "activity layer": (
        lambda: single(ActivityRegularization(0.1)),
        f"ActivityRegularization 'activity_regularization_1': per_sample False {NO_FORM}",
    ),
    "dropout": (
        lambda: single(Embedding(3, 2, dropout=0.5), shape=(4,), dtype="int32"),
        f"Embedding 'embedding_1': dropout 0.5 {NO_FORM}",
    ),
    "cudnn": (lambda: single(CuDNNLSTM(2)), f"CuDNNLSTM 'cu_dnnlstm_1' {NO_FORM}"),
    "local": (lambda: single(LocallyConnected1D(2, 2)), f"LocallyConnected1D 'locally_connected1d_1' {NO_FORM}"),
    "crop": (lambda: single(RandomCrop(2, 2), shape=(4, 4, 3)), f"RandomCrop 'random_crop_1' {NO_FORM}"),
    "softmax": (
        lambda: masked(Softmax()),
        "Softmax 'softmax_1': a mask arrives, and Keras 3 applies it; that has no form there.",
    ),
    "steps": (
        lambda: masked(Bidirectional(LSTM(2, return_sequences=True, **SIGMOID))),
        (
            "Bidirectional 'bidirectional_1': a mask arrives, and Keras 3 gives zeros at masked steps; "
            "that has no form there."
        ),
    ),
    "joined": (
        joined,
        "Add 'add_1': a mask arrives, and Keras 3 joins masks in another way; that has no form there.",
    ),
    "product": (
        product,
        "Multiply 'multiply_1': a mask arrives, and Keras 3 joins masks in another way; that has no form there.",
    ),
    "called twice": (
        called_twice,
        (
            "Model 'inner' is called 2 times and gives an output of the model, which has no form in Keras 3. "
            "Put a layer after it, such as Activation('linear')."
        ),
    ),
}


def outputs(model: Model) -> list[np.ndarray]:
    """What a model gives for whole numbers, which an Embedding takes too."""
    random = np.random.RandomState(0)
    given = [random.randint(0, 3, (2, *t.shape[1:])).astype("float32") for t in model.inputs]
    found = model.predict(given if len(given) > 1 else given[0])
    return found if isinstance(found, list) else [found]


def said(config: Any) -> Any:
    """A config without the options that Keras 3 always writes."""
    if isinstance(config, dict):
        return {key: said(value) for key, value in config.items() if key not in ("dtype", "zero_output_for_mask")}
    return [said(item) for item in config] if isinstance(config, (list, tuple)) else config


@pytest.mark.parametrize("name", REFUSED)
def test_what_keras_3_computes_otherwise_stands_under_a_name_that_it_refuses(name: str, tmp_path: Path):
    torchkeras.clear_session()
    make, text = REFUSED[name]
    model, path = make(), tmp_path / "m.keras"
    config, unread = keras3_form(model)
    assert unread[0] == text
    assert '"torchkeras>' in json.dumps(config)
    with pytest.warns(UserWarning, match="Keras 3 refuses it") as caught:
        model.save(path)
    reasons = " ".join(unread)
    assert [str(each.message) for each in caught] == [
        f"{path}: torchkeras reads the file, Keras 3 refuses it: {reasons}"
    ]
    loaded = load_model(path)
    assert said(loaded.get_config()) == said(model.get_config())
    for found, wanted in zip(outputs(loaded), outputs(model), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_a_layer_of_two_models_is_refused_by_keras_3():
    torchkeras.clear_session()
    config, unread = keras3_form(of_two_models())
    assert config["class_name"] == "torchkeras>Model"
    assert unread == ["Dense 'dense_1': a layer of two models, one inside the other, has no form in Keras 3."]


def test_the_names_that_keras_3_refuses():
    def layer(made: Any, **options: Any) -> Any:
        return keras3_form(single(made, **options))[0]["config"]["layers"][-1]

    assert layer(LSTM(2))["config"]["recurrent_activation"] == {
        "module": None,
        "class_name": "function",
        "config": "torchkeras>hard_sigmoid",
        "registered_name": "torchkeras>hard_sigmoid",
    }
    half = layer(Conv2D(2, 3, padding="half"), shape=(4, 4, 3))
    assert (half["module"], half["class_name"], half["registered_name"]) == (None, *["torchkeras>Conv2D"] * 2)
    assert keras3_form(called_twice())[0]["class_name"] == "torchkeras>Model"


def test_penalties_as_keras_3_has_them():
    torchkeras.clear_session()
    layer = Dense(
        2,
        activity_regularizer=regularizers.PerSample(regularizers.L1L2(0.5)),
        kernel_regularizer=regularizers.OrthogonalRegularizer(0.25),
    )
    config = keras3_form(single(layer))[0]["config"]["layers"][-1]["config"]
    found = [config[f"{name}_regularizer"] for name in ("activity", "kernel")]
    assert [(each["module"], each["class_name"]) for each in found] == [
        ("keras.regularizers", "L1L2"),
        ("keras.regularizers", "OrthogonalRegularizer"),
    ]
    assert found[0]["config"] == {"l1": 0.5, "l2": 0.0}


def test_masks_beside_initial_states_are_not_as_in_keras_3():
    torchkeras.clear_session()
    i, h = Input((4, 3)), Input((2,))
    model = Model([i, h], GRU(2, **SIGMOID)(Masking()(i), initial_state=h))
    assert keras3_form(model)[1] == [
        "GRU 'gru_1': a mask arrives, and Keras 3 does not use it together with initial states; that has no form there."
    ]


def test_one_mask_on_two_ways_is_no_reason_to_refuse():
    i = Input((4, 3))
    m = Masking()(i)
    merged = Concatenate()([Add()([m, Dense(3)(Dropout(0.1)(m))]), m])
    assert keras3_form(Model(i, LSTM(2, **SIGMOID)(merged)))[0]["class_name"] == "Functional"


def test_a_dot_ends_masks_as_in_keras_3():
    i = Input((4, 3))
    assert keras3_form(Model(i, Dot(2)([Masking()(i), i])))[0]["class_name"] == "Functional"


# --- training --------------------------------------------------------------------------------------------------------


def compiled(optimizer: Any, loss: Any = "mse", **options: Any) -> dict[str, Any]:
    model = Sequential([Dense(2, input_shape=(3,)), Activation("tanh")])
    model.compile(optimizer, loss, **options)
    return plain(keras3_form(model)[0])["compile_config"]


def test_a_model_that_was_not_compiled_has_an_empty_config():
    assert keras3_form(single(Dense(2)))[0]["compile_config"] == {}


def test_how_a_model_was_compiled():
    found = compiled(
        optimizers.SGD(0.5, momentum=0.25, nesterov=True, clipnorm=2.0), "kld", metrics=["accuracy", "mae"]
    )
    assert found["optimizer"] == {
        "module": "keras.optimizers",
        "class_name": "SGD",
        "config": {"learning_rate": 0.5, "momentum": 0.25, "nesterov": True, "global_clipnorm": 2.0},
        "registered_name": None,
    }
    assert (found["loss"], found["metrics"]) == ("kl_divergence", ["accuracy", "mae"])


def test_decay_is_a_schedule():
    rate = compiled(optimizers.Adam(0.5, decay=0.25))["optimizer"]["config"]["learning_rate"]
    assert rate["class_name"] == "InverseTimeDecay"
    assert rate["config"] == {
        "initial_learning_rate": 0.5,
        "decay_steps": 1,
        "decay_rate": 0.25,
        "staircase": False,
    }


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (
            {"optimizer": optimizers.SGD(clipnorm=1.0, clipvalue=0.5)},
            "SGD: clipnorm 1.0 together with clipvalue has no form in Keras 3, which takes one of them.",
        ),
        (
            {"optimizer": "sgd", "metrics": ["cosine_proximity"]},
            "compile: the metric 'cosine_proximity' has no form in Keras 3.",
        ),
    ],
)
def test_what_keras_3_cannot_compile_stands_under_a_name_that_it_refuses(
    given: dict[str, Any], text: str, tmp_path: Path
):
    model, path = Sequential([Dense(2, input_shape=(3,)), Activation("tanh")]), tmp_path / "m.keras"
    model.compile(**{"loss": "mse", **given})
    config, unread = keras3_form(model)
    assert unread == [text]
    assert "torchkeras>" in json.dumps(config["compile_config"])
    with pytest.warns(UserWarning, match="Keras 3 refuses it"):
        model.save(path)
    loaded = load_model(path)
    assert loaded.optimizer.get_config() == model.optimizer.get_config()
    assert loaded.metrics == model.metrics


@pytest.mark.parametrize("name", ["Highway", "TimeDistributedDense"])
def test_a_users_layer_stands_under_its_own_name(name, tmp_path):
    own = type(name, (Layer,), {"call": lambda self, inputs: inputs * 2})
    model = Sequential([own(input_shape=(3,))])
    config, unread = keras3_form(model)
    assert (config["config"]["layers"][1]["class_name"], unread) == (name, [])
    model.save(tmp_path / "m.keras")
    loaded = load_model(tmp_path / "m.keras", {name: own})
    np.testing.assert_array_equal(loaded.predict(np.ones((1, 3))), [[2, 2, 2]])


def test_a_class_of_losses_that_keras_3_does_not_have_stands_under_such_a_name(tmp_path, monkeypatch):
    without = keras3_training.LOSS._replace(known=keras3_names.LOSSES - {"Huber"})
    monkeypatch.setattr(keras3_training, "LOSS", without)
    model, path = Sequential([Dense(2, input_shape=(3,))]), tmp_path / "m.keras"
    model.compile("sgd", losses.Huber(2.0))
    config, unread = keras3_form(model)
    assert unread == ["compile: the loss 'Huber' has no form in Keras 3."]
    assert "torchkeras>" in json.dumps(config["compile_config"]["loss"])
    with pytest.warns(UserWarning, match="Keras 3 refuses it"):
        model.save(path)
    assert load_model(path).loss.get_config() == losses.Huber(2.0).get_config()


def test_an_optimizer_that_keras_3_does_not_have_stands_under_such_a_name(tmp_path, monkeypatch):
    monkeypatch.setattr(keras3_names, "OPTIMIZERS", keras3_names.OPTIMIZERS - {"Lamb"})
    model, path = Sequential([Dense(2, input_shape=(3,))]), tmp_path / "m.keras"
    model.compile(optimizers.Lamb(0.5), "mse")
    config, unread = keras3_form(model)
    assert unread == ["The optimizer Lamb has no form in Keras 3."]
    assert config["compile_config"]["optimizer"]["class_name"] == "torchkeras>Lamb"
    with pytest.warns(UserWarning, match="Keras 3 refuses it"):
        model.save(path)
    assert load_model(path).optimizer.get_config() == model.optimizer.get_config()


def half_trained(optimizer: Any) -> tuple[Model, Any, Any]:
    """A model that was trained for two epochs, and its data."""
    torch.manual_seed(0)
    random = np.random.RandomState(0)
    x, y = random.normal(size=(24, 5, 3)).astype("float32"), random.normal(size=(24, 2)).astype("float32")
    model = Sequential([LSTM(4, input_shape=(5, 3)), Dense(2, name="dense")])
    model.compile(optimizer, "mse")
    model.fit(x, y, epochs=2, verbose=0, shuffle=False)
    return model, x, y


OPTIMIZERS = {
    "RMSprop": lambda: optimizers.RMSprop(),
    "RMSprop with decay": lambda: optimizers.RMSprop(decay=0.1),
    "RMSprop with momentum": lambda: optimizers.RMSprop(momentum=0.5, centered=True),
    "RMSprop of Keras 3": lambda: optimizers.RMSprop(epsilon_inside_root=True),
    "Adagrad": lambda: optimizers.Adagrad(),
    "Adagrad with decay": lambda: optimizers.Adagrad(decay=0.1),
    "Adadelta": lambda: optimizers.Adadelta(decay=0.1),
    "Adamax": lambda: optimizers.Adamax(),
    "Nadam": lambda: optimizers.Nadam(),
    "Adam": lambda: optimizers.Adam(amsgrad=True, decay=0.01),
    "SGD": lambda: optimizers.SGD(momentum=0.9, nesterov=True, decay=0.01),
    "rates by layer": lambda: optimizers.Adam(lr_multipliers={"dense": 0.5}),
    "two clippings": lambda: optimizers.RMSprop(clipnorm=1.0, clipvalue=0.5),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_goes_on_bit_by_bit_after_loading(name: str, tmp_path: Path):
    model, x, y = half_trained(OPTIMIZERS[name]())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the gate of the LSTM, among others
        model.save(tmp_path / "m.keras")
    loaded = load_model(tmp_path / "m.keras")
    assert loaded.optimizer.get_config() == model.optimizer.get_config()
    runs = [each.fit(x, y, epochs=2, verbose=0, shuffle=False).history for each in (model, loaded)]
    assert runs[0] == runs[1]
    for ours, theirs in zip(model.get_weights(), loaded.get_weights(), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("name", FACTS)
def test_facts_are_about_layers_and_their_options(name):
    assert name in registry.layers
    assert FACTS[name].renamed.keys() <= inspect.signature(registry.layers.find(name)).parameters.keys()


WRITTEN_OTHERWISE = {"Merge", "Model", "Operation", "Sequential", "TorchModule"}  # by their own code, not by facts


@pytest.mark.parametrize("name", sorted(set(registry.layers.names()) - WRITTEN_OTHERWISE))
def test_a_layer_stands_under_a_name_of_keras_3_or_under_none(name):
    theirs = (GOLDEN / "keras-3.15-layers.txt").read_text().split()
    assert set(theirs) == keras3_names.LAYERS
    assert keras3_name(name) in (None, *theirs)
    assert keras3_name(name) is not None or name not in theirs or name == "RandomCrop"  # which crops otherwise there


def test_a_layer_without_a_row_stands_under_its_name_where_keras_3_has_it():
    assert {"Dense", "Highway"}.isdisjoint(FACTS)
    assert [keras3_name("Dense"), keras3_name("Highway"), keras3_name("TimeDistributedDense")] == [
        "Dense",
        None,
        "Dense",
    ]


@pytest.mark.filterwarnings("ignore:.*Keras 3 refuses it:UserWarning")
@pytest.mark.parametrize("unroll", [False, True])
@pytest.mark.parametrize("sequences", [False, True])
@pytest.mark.parametrize("zeros", [None, False, True])
def test_both_ways_over_masked_steps_are_read_as_they_were(unroll, sequences, zeros, tmp_path):
    """Keras 3 gives a Bidirectional's last output where the last step is masked, whatever `zero_output_for_mask` is."""
    inputs = Input((5, 2))
    options = {"unroll": unroll, "return_sequences": sequences, "zero_output_for_mask": zeros}
    model = Model(inputs, Bidirectional(LSTM(4, **options))(Masking()(inputs)))
    x = np.random.rand(3, 5, 2).astype("float32")  # noqa: NPY002 - seeded by conftest.py
    x[0, 3:] = x[1, :2] = x[2, 2] = 0
    model.save(tmp_path / "m.keras")
    np.testing.assert_array_equal(load_model(tmp_path / "m.keras").predict(x), model.predict(x))
