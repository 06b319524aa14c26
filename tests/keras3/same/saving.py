"""Objects to and from plain data, and your own classes in configs and in models' JSON."""

import json
from types import SimpleNamespace

import numpy as np

# What entries of genuine Keras hold and ours do not: where its code stands, and what says the same by another form.
SHOWN = ("class_name", "registered_name")


def own(keras):
    """The user's classes and functions."""

    @keras.saving.register_keras_serializable(package="mine")
    class Scale(keras.layers.Layer):
        def __init__(self, factor=2.0, **kwargs):
            super().__init__(**kwargs)
            self.factor = factor

        def build(self, input_shape):
            self.scale = self.add_weight(shape=(input_shape[-1],), initializer="ones", name="scale")

        def call(self, inputs):
            return inputs * self.scale * self.factor

        def get_config(self):
            return {**super().get_config(), "factor": self.factor}

    @keras.saving.register_keras_serializable(package="mine")
    class Twice(keras.layers.Layer):
        def __init__(self, inner, **kwargs):
            super().__init__(**kwargs)
            self.inner = inner

        def build(self, input_shape):
            if not self.inner.built:
                self.inner.build(input_shape)

        def call(self, inputs):
            return self.inner(self.inner(inputs))

        def get_config(self):
            return {**super().get_config(), "inner": keras.saving.serialize_keras_object(self.inner)}

        @classmethod
        def from_config(cls, config):
            config = dict(config)
            return cls(keras.saving.deserialize_keras_object(config.pop("inner")), **config)

    @keras.saving.register_keras_serializable(package="mine", name="Wide")
    class Pair(keras.layers.Dense):
        pass

    @keras.saving.register_keras_serializable(package="mine")
    class Box:
        def __init__(self, value):
            self.value = value

        def get_config(self):
            return {"value": self.value}

        @classmethod
        def from_config(cls, config):
            return cls(config["value"])

    @keras.saving.register_keras_serializable(package="mine")
    def halved(x):
        return x / 2

    return SimpleNamespace(Scale=Scale, Twice=Twice, Pair=Pair, Box=Box, halved=halved)


def named(entry):
    return [entry[key] for key in SHOWN]


def case_values(keras):
    values = {
        "plain": [None, 1, 1.5, "a", True],
        "nested": {"a": (1, [2, (3,)])},
        "bytes": b"ab",
        "slice": slice(1, None, 2),
        "ellipsis": ...,
        "array": np.arange(3),
        "number": np.float32(2),
    }
    made = keras.saving.serialize_keras_object(values)
    back = keras.saving.deserialize_keras_object(made)
    at = back["slice"]
    return {
        "made": made,
        "back": {
            **{name: back[name] for name in ("plain", "nested", "array", "number")},
            "bytes": back["bytes"].decode(),
        },
        "slice": [at.start, at.stop, at.step],
        "ellipsis": back["ellipsis"] is ...,
    }


def case_objects(keras):
    objects = [
        keras.losses.MeanSquaredError(),
        keras.losses.BinaryCrossentropy(from_logits=True),
        keras.metrics.MeanAbsoluteError(),
        keras.initializers.Constant(2.0),
        keras.regularizers.L2(0.5),
        keras.constraints.MaxNorm(2.0),
        keras.optimizers.schedules.ExponentialDecay(0.5, 2, 0.5),
        keras.random.SeedGenerator(3, name="seeds"),
        keras.DTypePolicy("mixed_bfloat16"),
        keras.activations.relu,
        keras.losses.mean_squared_error,
    ]
    made = [keras.saving.serialize_keras_object(each) for each in objects]
    back = [keras.saving.deserialize_keras_object(each) for each in made]
    return {
        "made": made,
        "same": [type(one) is type(other) for one, other in zip(objects, back, strict=True)],
        "again": [keras.saving.serialize_keras_object(each) == entry for each, entry in zip(back, made, strict=True)],
    }


def case_layers(keras):
    layers = [
        keras.layers.Dense(3, "relu", kernel_initializer="ones", name="dense"),
        keras.layers.Bidirectional(keras.layers.LSTM(2, name="steps"), name="both"),
        keras.layers.LeakyReLU(0.5, name="leaky"),
        keras.layers.BatchNormalization(name="norm"),
    ]
    made = [keras.saving.serialize_keras_object(each) for each in layers]
    back = [keras.saving.deserialize_keras_object(json.loads(json.dumps(each))) for each in made]
    x = np.linspace(-1.0, 1.0, 6, dtype="float32").reshape(2, 3)
    return {
        "named": [[each["module"], *named(each)] for each in made],
        "units": back[0].units,
        "output": keras.ops.convert_to_numpy(back[0](x)),
        "leaky": keras.ops.convert_to_numpy(back[2](x)),
        "layer": [type(back[1].forward_layer) is keras.layers.LSTM, back[1].forward_layer.units],
        "types": [type(one) is type(other) for one, other in zip(layers, back, strict=True)],
    }


def case_names(keras):
    mine = own(keras)
    kinds = (mine.Scale, mine.Twice, mine.Pair, mine.Box, mine.halved)
    names = [keras.saving.get_registered_name(each) for each in (*kinds, np.sum)]
    found = [keras.saving.get_registered_object(name) for name in names]
    return {
        "names": names,
        "found": [each is other for each, other in zip(found, kinds, strict=False)],
        "custom": keras.saving.get_registered_object("x", custom_objects={"x": 3}),
        "module": keras.saving.get_registered_object("x", module_objects={"x": 4}),
        "none": keras.saving.get_registered_object("nothing"),
    }


def case_own(keras):
    mine = own(keras)
    made = [
        keras.saving.serialize_keras_object(each)
        for each in (mine.Scale(3.0), mine.Pair(2), mine.Box((1, 2)), mine.halved)
    ]
    back = [keras.saving.deserialize_keras_object(each) for each in made]
    return {
        "named": [named(each) for each in made],
        "config": [made[0]["config"]["factor"], made[2]["config"], made[3]["config"]],
        "types": [
            type(back[0]) is mine.Scale,
            type(back[1]) is mine.Pair,
            type(back[2]) is mine.Box,
            back[3] is mine.halved,
        ],
        "values": [back[0].factor, back[1].units, list(back[2].value)],
    }


def model_of(keras):
    mine = own(keras)
    inputs = keras.Input((3,), name="inputs")
    x = keras.layers.Dense(3, activation=mine.halved, kernel_initializer="ones", name="first")(inputs)
    x = mine.Scale(1.5, name="scaled")(x)
    x = mine.Twice(
        keras.layers.Dense(3, kernel_initializer="ones", bias_initializer="ones", name="inner"), name="twice"
    )(x)
    return keras.Model(inputs, mine.Pair(2, kernel_initializer="ones", name="pair")(x), name="model")


def case_json(keras):
    model = model_of(keras)
    made = json.loads(model.to_json())
    back = keras.models.model_from_json(model.to_json())
    x = np.linspace(-1.0, 1.0, 6, dtype="float32").reshape(2, 3)
    return {
        "named": [named(made), *[named(each) for each in made["config"]["layers"]]],
        "built": [each.get("build_config") for each in made["config"]["layers"]],
        "names": [each.name for each in back.layers],
        "output": keras.ops.convert_to_numpy(back(x)),
        "same": keras.ops.convert_to_numpy(model(x)),
    }


def case_sequential_json(keras):
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, kernel_initializer="ones", name="d")], name="s")
    model.compile("sgd", "mse")
    back = keras.models.model_from_json(model.to_json())
    x = np.ones((1, 3), "float32")
    return {
        "named": named(json.loads(model.to_json())),
        "compiled": back.compiled,
        "loss": back.train_on_batch(x, np.zeros((1, 2), "float32")),
        "output": keras.ops.convert_to_numpy(back(x)),
    }


def case_nested_model(keras):
    mine = own(keras)
    inner = keras.Sequential([keras.Input((3,)), keras.layers.Dense(3, kernel_initializer="ones", name="d")], name="in")
    layer = mine.Twice(inner, name="twice")
    x = np.ones((1, 3), "float32")
    back = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(layer))
    return {"output": keras.ops.convert_to_numpy(back(x)), "type": type(back) is mine.Twice, "inner": back.inner.name}


def case_scope(keras):
    class Mine(keras.layers.Layer):
        pass

    entry = keras.saving.serialize_keras_object(Mine(name="mine"))
    with keras.saving.custom_object_scope({"Mine": Mine}):
        inside = type(keras.saving.deserialize_keras_object(entry)) is Mine
    given = type(keras.saving.deserialize_keras_object(entry, custom_objects={"Mine": Mine})) is Mine
    try:
        keras.saving.deserialize_keras_object(entry)
        outside = "found"
    except TypeError:
        outside = "TypeError"
    return {"inside": inside, "given": given, "outside": outside, "global": "Mine" in keras.saving.get_custom_objects()}


def case_own_variables(keras):
    layer = keras.layers.Dense(2, kernel_initializer="ones")
    layer.build((None, 3))
    store = {}
    layer.save_own_variables(store)
    values = {name: np.asarray(keras.ops.convert_to_numpy(each)) for name, each in store.items()}
    other = keras.layers.Dense(2)
    other.build_from_config(layer.get_build_config())
    other.load_own_variables(values)
    return {"store": values, "weights": other.get_weights(), "built": layer.get_build_config()}
