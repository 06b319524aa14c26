"""Functions that old scripts give to layers: their variables, copies, pickles and files. Numbers are of Keras 2.2.4."""

from pathlib import Path

import pytest
from old_scripts import passed

PRELUDE = """
import copy
import pickle
import numpy as np
from keras import backend as K
from keras.layers import Activation, Dense, Input, Lambda, TimeDistributed
from keras.models import Model, Sequential, clone_model, load_model, model_from_json, model_from_yaml
x, given = Input((4,)), np.arange(8.0).reshape(2, 4)
slices = [[[0.0], [4.0]], [[2.0], [10.0]], [[6.0], [18.0]], [[12.0], [28.0]]]

def values(model):
    return [each.tolist() for each in model.predict(given)]
"""

LOOPS = """
def local():
    outputs = []
    for i in range(4):
        outputs.append(Lambda(lambda t: t[:, i:i + 1] * (i + 1))(x))
    return Model(x, outputs)

outputs = []
for i in range(4):
    outputs.append(Lambda(lambda t: t[:, i:i + 1] * (i + 1))(x))
assert values(local()) == values(Model(x, outputs)) == slices
y = x
for function in (K.abs, K.square, lambda t: t + 1):
    y = Lambda(lambda t: function(t))(y)
for k in (2.0, 3.0):
    y = Activation(lambda t: t * k)(y)
for k in (2.0, 3.0):
    y = Dense(4, kernel_initializer="identity", activation=lambda t: t * k)(y)
assert values(Model(x, y)) == [[36.0, 72.0, 180.0, 360.0], [612.0, 936.0, 1332.0, 1800.0]]
model = Sequential()
for k in range(1, 4):
    model.add(Lambda(lambda t: t + k, input_shape=(4,)))
k = 100
assert values(model) == [[6.0, 7.0, 8.0, 9.0], [10.0, 11.0, 12.0, 13.0]]
model = Sequential()
for k in range(1, 4):
    model.add(TimeDistributed(Lambda(lambda t: t * k), input_shape=(2, 2)))
k = 100
assert model.predict(given.reshape(2, 2, 2)).ravel().tolist() == (6 * given).ravel().tolist()
regular = Dense(4, kernel_initializer="identity", kernel_regularizer=lambda w: k * K.sum(w), input_shape=(4,))
k = 7
model = Sequential([regular])
k = 100
model.compile("sgd", "mse")
assert model.evaluate(given, given, verbose=0) == 28.0
"""

COUNTED = """
calls = []
def counting(t):
    global last
    last = len(calls)
    return t * (last + 1)

model = Sequential([Lambda(counting, input_shape=(4,))])
calls.append(1)  # a function that sets its globals goes on with those of its script
assert values(model)[0] == [0.0, 2.0, 4.0, 6.0] and last == 1
"""

SHARED = """
layer, k = Lambda(lambda t: t * k, name="times"), 1
layer(x), layer(x)
k = 2
try:
    layer(x)
except ValueError as error:
    print(error)
"""

WAYS = """
import keras

def square(t):
    return t * t

def closing(k):
    return lambda t: t * k

scale, many = 3.0, np.array([1.0, 2.0, 3.0, 4.0])
functions = {
    "plain": [lambda t: t * 2],
    "global": [lambda t: square(t) * scale],
    "closure": [closing(2.0)],
    "default": [lambda t, by=3.0: t * by],
    "arguments": [lambda t, by: t * by, None, None, {"by": 2}],
    "array": [lambda t, by: t * by, None, None, {"by": many}],
    "shape": [lambda t: t[:, :2], (2,)],
    "shapes": [lambda t: t[:, :2], lambda shape: (shape[0], 2)],
    "mask": [lambda t: t * 2, None, lambda t, mask: None],
    "named": [square],
}
for name, options in functions.items():
    inner = Sequential([Lambda(*options, input_shape=(4,)), Dense(2)])
    for model in (inner, Model(x, Dense(2)(inner(x)))):
        model.compile("rmsprop", "mse")
        model.fit(given, np.ones((2, 2)), verbose=0, callbacks=[keras.callbacks.ModelCheckpoint("epoch.h5")])
        again = {"epoch.h5": load_model("epoch.h5", custom_objects={"square": square})}
        for file in ("m.h5", "m.hdf5", "m.pt", "m.safetensors"):
            model.save(file, include_optimizer=file.startswith("m.h"))
            again[file] = load_model(file, custom_objects={"square": square})
        again["json"] = model_from_json(model.to_json(), custom_objects={"square": square})
        again["yaml"] = model_from_yaml(model.to_yaml(), custom_objects={"square": square})
        again["config"] = type(model).from_config(model.get_config())
        again["clone"] = clone_model(model)
        for way in ("json", "yaml", "config", "clone"):
            again[way].set_weights(model.get_weights())
        again["pickle"] = pickle.loads(pickle.dumps(model))
        again |= {"deepcopy": copy.deepcopy(model), "copy": copy.copy(model)}
        for way, found in again.items():
            assert np.array_equal(found.predict(given), model.predict(given)), (name, way)
"""

GLOBALS = """
outputs = []
for i in range(4):
    outputs.append(Lambda(lambda t: t[:, i:i + 1] * (i + 1))(x))
model = Model(x, outputs)
for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)):
    assert values(again) == slices
model.save("model.h5")
try:
    load_model("model.h5")
except Exception as error:
    print(type(error).__name__, error)

def named(t):
    return t * k

k = 2
model = Sequential([Lambda(named, input_shape=(4,))])
k = 7
assert values(model)[0] == values(pickle.loads(pickle.dumps(model)))[0] == [0.0, 2.0, 4.0, 6.0]
model.save("model.h5")
assert values(load_model("model.h5"))[0] == [0.0, 2.0, 4.0, 6.0]
assert values(load_model("model.h5", custom_objects={"k": 5}))[0] == [0.0, 5.0, 10.0, 15.0]
k = 3
twice = Sequential([Lambda(named, input_shape=(4,))])
twice.save("twice.h5")
assert values(load_model("twice.h5", custom_objects={"k": 3}))[0] == [0.0, 3.0, 6.0, 9.0]
"""

KERAS3 = """
model = Sequential([Lambda(lambda t: t * 2, input_shape=(4,), name="twice")])
model.save("model.keras")  # which has functions by name
try:
    load_model("model.keras")
except Exception as error:
    print(error)
assert values(load_model("model.keras", custom_objects={"twice": lambda t: t * 2})) == values(model)
"""


@pytest.mark.parametrize("code", [LOOPS, COUNTED, WAYS], ids=["loops", "counted", "ways"])
def test_functions_of_layers(code: str, tmp_path: Path):
    passed(PRELUDE + code, tmp_path)


def test_a_layer_has_one_value_of_a_variable(tmp_path: Path):
    assert passed(PRELUDE + SHARED, tmp_path) == (
        "Lambda 'times': its function uses k, which was 1 when the layer was first called, and is 2 now. A layer keeps "
        "the first value: make a layer for each value."
    )


def test_globals_of_functions_in_pickles_and_files(tmp_path: Path):
    assert passed(PRELUDE + GLOBALS, tmp_path) == (
        "ArchitectureError model.h5: a function <lambda> uses the global i, which was 0 and 3 in functions that were "
        "saved; a file has none of them: pass the value, custom_objects={'i': value}."
    )


def test_a_file_of_keras_3_has_functions_by_name(tmp_path: Path):
    assert passed(PRELUDE + KERAS3, tmp_path) == (
        "model.keras: Lambda 'twice': its function is stored by the name 'twice'; pass the function itself: "
        "custom_objects={'twice': function}."
    )
