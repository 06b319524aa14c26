"""Files by versions of tf.keras that call themselves alike and differ, leave out an option, or have one that is new.

    python golden_tf_keras_doubts.py tests/golden/tf.keras-doubts

It runs under each of TensorFlow 1.10, 1.11, 2.1, 2.2, 2.9 and 2.15. Each model becomes `VERSION-NAME.h5`, its inputs
and outputs, or the losses of three steps with sample weights, `VERSION-NAME.npz`. See
`tests/saving/test_tf_keras_doubts.py`.
"""

import os
import sys

import numpy as np
import tensorflow as tf

keras = tf.keras
L, models = keras.layers, keras.models
version = ".".join(tf.__version__.split(".")[:2])
random = np.random.RandomState(3)
STEPS = (5, 3)


def both(inputs):
    """A Bidirectional that cuDNN could compute, after a Masking."""
    return L.Bidirectional(L.GRU(2, return_sequences=True))(L.Masking()(inputs))


def functional():
    inputs = L.Input(STEPS)
    return models.Model(inputs, both(inputs))


def compiled():
    model = functional()
    model.compile("sgd", "mse")
    return model


def sequential():
    return models.Sequential([L.Masking(input_shape=STEPS), L.Bidirectional(L.LSTM(2, return_sequences=True))])


def causal():
    inputs = L.Input(STEPS)
    masked = L.Masking()(inputs)
    attended = L.Attention(causal=True)([inputs, inputs])
    return models.Model(inputs, L.AdditiveAttention(causal=True)([attended, masked]))


def weighted():
    inputs = L.Input(STEPS)
    model = models.Model(inputs, L.Dense(2)(L.Flatten()(inputs)))
    model.compile(keras.optimizers.SGD(0.1), "mae")
    return model


def of(layer):
    """A model of one layer."""

    def build():
        inputs = L.Input(STEPS)
        return models.Model(inputs, layer()(inputs))

    return build


ALONE = {
    "separable": of(lambda: L.SeparableConv1D(4, 2, padding="causal", dilation_rate=2)),
    "rescaling": of(lambda: L.Rescaling([1.0, 2.0, -3.0], offset=[0.0, 0.5, 1.0])),
    "rescaling_offset": of(lambda: L.Rescaling(2.0, offset=[0.0, 0.5, 1.0])),
    "normalization": of(lambda: L.Normalization(mean=[[1.0, 2.0, 3.0]], variance=[[1.0, 4.0, 9.0]])),
}
BOTH = {"functional": functional, "compiled": compiled, "sequential": sequential}
MODELS = {
    "1.10": {"weighted": weighted},
    "1.11": {"weighted": weighted},
    "2.1": BOTH,
    "2.2": BOTH,
    "2.9": {"causal": causal},
    "2.15": {"causal": causal, **ALONE},
}


def record(model, x):
    if model.optimizer is None or version not in ("1.10", "1.11"):
        return {"y": model.predict(x)}
    t, weights = random.uniform(-1, 1, (len(x), 2)).astype("float32"), np.arange(len(x), dtype="float32")
    losses = [float(np.ravel(model.train_on_batch(x, t, sample_weight=weights))[0]) for _ in range(3)]
    return {"t": t, "weights": weights, "losses": losses}


def main(folder):
    if not os.path.isdir(folder):
        os.makedirs(folder)
    for name, build in sorted(MODELS[version].items()):
        keras.backend.clear_session()
        place = os.path.join(folder, f"{version}-{name}")
        model = build()
        model.set_weights([random.uniform(-0.6, 0.6, w.shape) for w in model.get_weights()])
        model.save(place + ".h5")
        x = random.uniform(-1, 1, (4, *STEPS)).astype("float32")
        x[0, 3:], x[1, 0], x[1, 2] = 0, 0, 0  # padding, and gaps
        np.savez(place + ".npz", x=x, **record(model, x))


main(sys.argv[1])
