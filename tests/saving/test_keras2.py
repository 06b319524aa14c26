"""Files in Keras 2's layout: round trips, training that goes on bitwise the same, by name, and what they hold."""

# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportIndexIssue=false
# h5py types what stands under a name as anything that may.

import json
from pathlib import Path

import h5py
import numpy as np
import pytest
import torch

import torchkeras
from torchkeras.layers import (
    LSTM,
    Add,
    BatchNormalization,
    Conv2D,
    Dense,
    Embedding,
    Flatten,
    GlobalAveragePooling2D,
    Input,
)
from torchkeras.models import Model, Sequential, load_model, save_model

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def fresh_session():
    torchkeras.clear_session()
    torch.manual_seed(0)


def cnn():
    x = Input((6, 6, 3))
    y = BatchNormalization()(Conv2D(4, 3, activation="relu")(x))
    return Model(x, Dense(2)(GlobalAveragePooling2D()(y)))


def shared():
    dense = Dense(4, name="shared")
    a, b = Input((4,)), Input((4,))
    return Model([a, b], Add()([dense(a), dense(dense(b))]))


def nested():
    x = Input((6, 6, 3))
    tail = Sequential([BatchNormalization(input_shape=(2,)), Dense(3, activation="tanh"), Dense(2)], name="tail")
    return Model(x, tail(cnn()(x)))


def frozen():
    model = Sequential([Flatten(input_shape=(2, 3)), Dense(4), BatchNormalization(), Dense(2)])
    model.layers[1].trainable = False
    return model


def recurrent():
    return Sequential([Embedding(9, 3, mask_zero=True, input_length=5), LSTM(4), Dense(2)])


BUILDS = [cnn, shared, nested, frozen, recurrent]


def data(model, samples=8):
    share = 1 if isinstance(model.layers[0], Embedding) else 3  # an Embedding takes whole numbers
    x = [RNG.integers(1, 9, (samples, *tensor.shape[1:])).astype("float32") / share for tensor in model.inputs]
    return (x[0] if len(x) == 1 else x), RNG.normal(size=(samples, model.output_shape[-1])).astype("float32")


def assert_equal_weights(found, expected):
    for a, b in zip(found.get_weights(), expected.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("build", BUILDS)
def test_weights(build, tmp_path):
    model = build()
    model.compile("adam", "mse")
    x, y = data(model)
    model.fit(x, y, verbose=0)
    model.save_weights(tmp_path / "weights.h5")
    torchkeras.clear_session()
    again = build()
    again.load_weights(tmp_path / "weights.h5")
    assert_equal_weights(again, model)
    np.testing.assert_array_equal(again.predict(x), model.predict(x))


@pytest.mark.parametrize("build", BUILDS)
def test_a_model_that_is_not_compiled(build, tmp_path):
    model = build()
    x, _ = data(model)
    save_model(model, tmp_path / "model.h5")
    again = load_model(tmp_path / "model.h5")
    assert type(again) is type(model)
    assert (again.training, again.optimizer) == (False, None)
    assert json.dumps(again.get_config()) == json.dumps(model.get_config())
    assert list(again.state_dict()) == list(model.state_dict())
    assert not any(tensor.is_meta for tensor in (*again.parameters(), *again.buffers()))
    np.testing.assert_array_equal(again.predict(x), model.predict(x))
    assert [v.full_name for v in again.trainable_weights] == [v.full_name for v in model.trainable_weights]
    assert [p.requires_grad for p in again.parameters()] == [p.requires_grad for p in model.parameters()]


@pytest.mark.parametrize("optimizer", ["sgd", "rmsprop", "adam", "momentum", "amsgrad"])
@pytest.mark.parametrize("build", BUILDS)
def test_training_goes_on_bitwise_the_same(build, optimizer, tmp_path):
    made = {
        "momentum": torchkeras.optimizers.SGD(lr=0.02, momentum=0.9, nesterov=True, decay=0.01),
        "amsgrad": torchkeras.optimizers.Adam(lr=0.01, amsgrad=True, clipnorm=1.0),
    }.get(optimizer, optimizer)
    model = build()
    model.compile(made, "mse", metrics=["mae"])
    x, y = data(model)
    model.fit(x, y, epochs=3, batch_size=4, shuffle=False, verbose=0)
    model.save(tmp_path / "model.h5")
    again = load_model(tmp_path / "model.h5")
    assert again.optimizer.get_config() == model.optimizer.get_config()
    assert again.metrics_names == ["loss", "mean_absolute_error"]
    for _ in range(3):
        assert again.train_on_batch(x, y) == model.train_on_batch(x, y)
    assert_equal_weights(again, model)


def test_compiled_for_several_outputs(tmp_path):
    x = Input((3,))
    model = Model(x, [Dense(2, name="a", activation="softmax")(x), Dense(1, name="b")(x)])
    model.compile(
        "adam",
        {"a": "categorical_crossentropy", "b": "mae"},
        metrics={"a": ["accuracy"]},
        loss_weights={"a": 0.5, "b": 2.0},
    )
    values, y = RNG.normal(size=(6, 3)), [np.eye(2)[[0, 1, 0, 1, 1, 0]], RNG.normal(size=(6, 1))]
    model.save(tmp_path / "model.h5")
    again = load_model(tmp_path / "model.h5")
    assert again.metrics_names == ["loss", "a_loss", "b_loss", "a_acc"]
    assert again.evaluate(values, y, verbose=0) == model.evaluate(values, y, verbose=0)


def test_a_loss_and_a_metric_of_a_users_own(tmp_path):
    def own_loss(y_true, y_pred):
        return (y_true - y_pred).abs().mean(-1)

    model = Sequential([Dense(2, input_shape=(3,))])
    model.compile("sgd", own_loss, metrics=[own_loss])
    model.save(tmp_path / "model.h5")
    again = load_model(tmp_path / "model.h5", custom_objects={"own_loss": own_loss})
    assert again.metrics_names == ["loss", "own_loss"]
    x, y = data(model)
    assert again.test_on_batch(x, y) == model.test_on_batch(x, y)
    assert load_model(tmp_path / "model.h5", compile=False).optimizer is None


def test_without_the_optimizer(tmp_path):
    model = Sequential([Dense(2, input_shape=(3,))])
    model.compile("adam", "mse")
    model.save(tmp_path / "model.h5", include_optimizer=False)
    with h5py.File(tmp_path / "model.h5") as file:
        assert sorted(file.attrs) == ["backend", "keras_version", "model_config"]
        assert list(file) == ["model_weights"]
    assert load_model(tmp_path / "model.h5").optimizer is None


def test_what_a_file_holds(tmp_path):
    model = Sequential([Dense(2, input_shape=(3,), name="first"), BatchNormalization(name="second")], name="both")
    model.compile("adam", "mse")
    model.train_on_batch(*data(model))
    model.save(tmp_path / "model.h5")
    with h5py.File(tmp_path / "model.h5") as file:
        for group in (file, file["model_weights"]):
            for name, value in (("keras_version", "2.2.4"), ("backend", "tensorflow")):
                assert group.attrs[name] == value
                # Of two kinds of text the one that h5py 2, which Keras used, reads as bytes: Keras decodes them.
                assert h5py.check_string_dtype(group.attrs.get_id(name).dtype).encoding == "ascii"
        config = json.loads(file.attrs["model_config"])
        assert (config["class_name"], config["config"]["name"]) == ("Sequential", "both")
        assert json.loads(file.attrs["training_config"])["loss"] == "mse"
        group = file["model_weights"]
        assert group.attrs["layer_names"].tolist() == [b"first", b"second"]
        assert group["second"].attrs["weight_names"].tolist() == [
            *(b"second/gamma:0", b"second/beta:0", b"second/moving_mean:0", b"second/moving_variance:0"),
        ]
        np.testing.assert_array_equal(group["first/first/kernel:0"], model.get_weights()[0])
        assert len(file["optimizer_weights"].attrs["weight_names"]) == 1 + 3 * 4


def test_weights_are_read_from_a_whole_model_as_well(tmp_path):
    model = cnn()
    model.save(tmp_path / "model.h5")
    again = cnn()
    again.load_weights(tmp_path / "model.h5")
    assert_equal_weights(again, model)


FOLDER = Path(__file__).parents[1] / "golden" / "keras-2.2.4-tensorflow"
NAMED = [
    "model_channels_first_cnn",
    "model_frozen_layers",
    "model_multi_output_layer_reuse",
    "model_nested_model",
    "model_nested_shared_sequential",
    "model_resnet_block",
    "model_shared_layer",
]


@pytest.mark.parametrize("case", NAMED)
def test_a_config_of_keras_is_written_as_it_was_read(case):
    with h5py.File(FOLDER / case / "model.h5") as file:
        config = json.loads(file.attrs["model_config"])["config"]
    assert json.loads(json.dumps(load_model(FOLDER / case / "model.h5").get_config())) == config


# --- by name ---------------------------------------------------------------------------------------------------------


def named(**units):
    model = Sequential([Dense(size, name=name) for name, size in units.items()])
    model.build((None, 3))
    return model


def test_by_name_leaves_the_others_alone(tmp_path):
    source, target = named(a=4, b=5, c=2), named(a=4, other=5, c=3)
    source.save_weights(tmp_path / "weights.h5")
    before = [layer.get_weights() for layer in target.layers]
    with pytest.warns(UserWarning, match="Skipping loading of weights for layer 'c' due to mismatch of its weights"):
        target.load_weights(tmp_path / "weights.h5", by_name=True, skip_mismatch=True)
    np.testing.assert_array_equal(target.layers[0].get_weights()[0], source.layers[0].get_weights()[0])
    for layer, arrays in zip(target.layers[1:], before[1:], strict=True):
        for found, expected in zip(layer.get_weights(), arrays, strict=True):
            np.testing.assert_array_equal(found, expected)


def test_by_name_in_another_order(tmp_path):
    source, target = named(a=3, b=3), named(b=3, a=3)
    source.save_weights(tmp_path / "weights.h5")
    target.load_weights(tmp_path / "weights.h5", by_name=True)
    for name in "ab":
        np.testing.assert_array_equal(target.get_layer(name).get_weights()[0], source.get_layer(name).get_weights()[0])


# --- names -----------------------------------------------------------------------------------------------------------


def test_many_long_names_are_split_over_attributes(tmp_path):
    x = y = Input((1,))
    for k in range(300):
        y = Dense(1, name=f"layer_{k:03d}_" + "n" * 300)(y)
    model = Model(x, y)
    model.save_weights(tmp_path / "weights.h5")
    with h5py.File(tmp_path / "weights.h5") as file:
        assert [name for name in file.attrs if name.startswith("layer_names")] == ["layer_names0", "layer_names1"]
    again = Model.from_config(model.get_config())
    again.load_weights(tmp_path / "weights.h5")
    assert_equal_weights(again, model)
    model.save(tmp_path / "model.h5")  # its config is longer than 64 kB as well
    assert_equal_weights(load_model(tmp_path / "model.h5"), model)


def test_a_name_may_be_the_beginning_of_another(tmp_path):
    for names in (["block/conv", "block"], ["block", "block/conv"]):
        model = named(**dict.fromkeys(names, 2))
        model.save(tmp_path / "model.h5")
        assert_equal_weights(load_model(tmp_path / "model.h5"), model)


def test_two_models_inside_with_layers_of_one_name(tmp_path):
    parts = [Sequential([Dense(3, input_shape=(3,), name="same")], name=name) for name in ("one", "two")]
    model = Sequential([Sequential(parts, name="whole")])
    model.save(tmp_path / "model.h5")
    with h5py.File(tmp_path / "model.h5") as file:
        assert file["model_weights/whole"].attrs["weight_names"].tolist() == [
            *(b"same/kernel:0", b"same/bias:0", b"same_1/kernel:0", b"same_1/bias:0"),
        ]
    assert_equal_weights(load_model(tmp_path / "model.h5"), model)


@pytest.mark.parametrize("given", [str, Path])
def test_a_path_or_a_string(given, tmp_path):
    model = Sequential([Dense(2, input_shape=(3,))])
    model.save(given(tmp_path / "model.h5"))
    assert_equal_weights(load_model(given(tmp_path / "model.h5")), model)


def test_a_half_precision_model(tmp_path):
    model = Sequential([Dense(2, input_shape=(3,))]).half()
    model.save_weights(tmp_path / "weights.h5")
    again = Sequential([Dense(2, input_shape=(3,))])
    again.load_weights(tmp_path / "weights.h5")
    assert again.get_weights()[0].dtype == np.float32
    np.testing.assert_array_equal(again.get_weights()[0].astype("float16"), model.get_weights()[0])
