"""Make files that Keras 1.1 to 2.3 saves in the middle of training, and the losses that follow.

    python scripts/golden_optimizer_states.py FOLDER [CASE ...]      in an environment with Keras on TensorFlow 1

Each case is a model and an optimizer, `nested_adam`: three steps, saved as FOLDER/<case>/model.h5, four more steps.
Their losses are in io.npz, as `tests/saving/test_training_goes_on.py` reads it. The layers have names that, as
texts, have another order than the layers, and equal shapes: an exchange of states loads, and trains wrongly.

TensorFlow 1 may read a variable before or after it is updated. Here all new values are computed before the first of
them is assigned.
"""

import os
import sys

import numpy as np
import tensorflow as tf  # type: ignore[import-not-found]
from keras import backend, layers, models, optimizers  # type: ignore[import-not-found]

KERAS1 = __import__("keras").__version__.startswith("1.")
NO_BIAS = {"bias": False} if KERAS1 else {"use_bias": False}
SIZE = 4


def at_once(function):
    """`K.function` that computes all new values before it assigns one."""

    def made(inputs, outputs, updates=(), **options):
        pairs = [update for update in updates if isinstance(update, tuple)]
        with tf.control_dependencies([*outputs, *(value for _, value in pairs)]):
            ops = [tf.assign(variable, tf.cast(value, variable.dtype.base_dtype)) for variable, value in pairs]
        return function(inputs, outputs, updates=[*ops, *(u for u in updates if not isinstance(u, tuple))], **options)

    return made


backend.update = lambda variable, value: (variable, value)
backend.update_add = lambda variable, value: (variable, variable + value)
backend.update_sub = lambda variable, value: (variable, variable - value)
backend.function = at_once(backend.function)


def dense(name):
    return layers.Dense(SIZE, activation="tanh", name=name)


def several():
    """dense_10 and dense_11 come before dense_2 as texts."""
    first = layers.Dense(SIZE, input_dim=SIZE, name="dense_1", **NO_BIAS)
    return models.Sequential([first, *(layers.Dense(SIZE, name=f"dense_{k}", **NO_BIAS) for k in range(2, 12))])


def unequal():
    """A bias comes before a kernel as a text."""
    return models.Sequential([layers.Dense(5, input_dim=SIZE, activation="tanh"), layers.Dense(SIZE)])


def nested():
    """A model in a model, a layer that is called twice, batch normalization, gates."""
    inner = models.Sequential([layers.Dense(SIZE, input_dim=SIZE, name="z"), dense("a"), dense("m")], name="inner")
    inputs = layers.Input((SIZE,))
    shared = dense("y")
    x = layers.BatchNormalization(name="k")(shared(inner(shared(dense("b")(inputs)))))
    x = layers.LSTM(SIZE, name="j")(layers.Reshape((1, SIZE), name="r")(x))
    outputs = dense("c")(x)
    return models.Model(inputs, outputs)


MODELS = {"several": several, "unequal": unequal, "nested": nested}
OPTIMIZERS = {
    "sgd": lambda: optimizers.SGD(0.001, momentum=0.9, decay=0.1),
    "rmsprop": lambda: optimizers.RMSprop(0.01),
    "adagrad": lambda: optimizers.Adagrad(0.05),
    "adadelta": lambda: optimizers.Adadelta(1.0),
    "adam": lambda: optimizers.Adam(0.02),
    "adamax": lambda: optimizers.Adamax(0.02),
    "nadam": lambda: optimizers.Nadam(0.02),
}


def value(weight, random):
    """A kernel near the identity, so that no layer loses what it gets."""
    return weight if weight.ndim < 2 else np.eye(*weight.shape) + random.uniform(-0.4, 0.4, weight.shape)


def run(folder, case):
    model_name, optimizer = case.split("_")
    backend.clear_session()
    random = np.random.RandomState(1)
    model = MODELS[model_name]()
    model.set_weights([value(w, random) for w in model.get_weights()])
    model.compile(OPTIMIZERS[optimizer](), "mse")
    x, t = (random.uniform(-1, 1, (8, SIZE)).astype("float32") for _ in range(2))
    for _ in range(3):
        model.train_on_batch(x * [1, 2, 3, 4], t)
    os.makedirs(os.path.join(folder, case), exist_ok=True)
    model.save(os.path.join(folder, case, "model.h5"))
    losses = [model.train_on_batch(x, t) for _ in range(4)]
    np.savez(os.path.join(folder, case, "io.npz"), x0=x, t0=t, losses=np.array(losses, "float32"))
    return losses


if __name__ == "__main__":
    every = [f"{model}_{optimizer}" for model in MODELS for optimizer in OPTIMIZERS]
    for one in sys.argv[2:] or every:
        print(one, run(sys.argv[1], one))
