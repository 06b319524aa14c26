"""Make tests/golden/masked-outputs: models with masked outputs, and what they report and learn.

    python scripts/golden_masked_outputs.py VERSION FOLDER NAME...      under tf.keras 1.12 to 2.15
    python scripts/golden_masked_outputs.py VERSION FOLDER NAME...      under Keras 2.3 and 3

`NAME`: of `MODELS`; 1.12 and 1.13 have no classes for those but the first two.

`VERSION-NAME.h5` or `.keras` is a compiled model with its first weights. The `.npz` has the batch `x`, `y0`, `w0`, ...;
what evaluate gives without and with sample weights, `plain` and `weighted`; the weights of the model after a step
without and with them, `trained0`, ... and `trained_weighted0`, ...
"""

import sys
from pathlib import Path

import numpy as np

VERSION, FOLDER = sys.argv[1], Path(sys.argv[2])
IS_KERAS3 = VERSION == "3"
if VERSION in ("2.3", "3"):
    import keras  # type: ignore[import-not-found]  # there and nowhere else
else:
    import tensorflow as tf  # type: ignore[import-not-found]  # there and nowhere else

    keras = tf.keras
layers = keras.layers


def compiled(inputs, outputs, **options):
    model = keras.Model(inputs, outputs)
    random = np.random.RandomState(1)
    model.set_weights([random.uniform(-1, 1, weight.shape).astype("float32") for weight in model.get_weights()])
    model.compile(keras.optimizers.SGD(0.5), **options)
    return model


def steps(loss, metrics, weighted, **options):
    inputs = layers.Input((4, 2))
    hidden = layers.SimpleRNN(3, return_sequences=True, name="rnn")(layers.Masking()(inputs))
    outputs = layers.TimeDistributed(layers.Dense(1), name="out")(hidden)
    return compiled(inputs, outputs, loss=loss, metrics=metrics, weighted_metrics=weighted, **options)


def two():
    inputs = layers.Input((4,))
    hidden = layers.Embedding(5, 2, mask_zero=True)(inputs)
    hidden = layers.SimpleRNN(3, return_sequences=True, name="rnn")(hidden)
    a = layers.Dense(2, activation="softmax", name="a")(hidden)
    b = layers.Dense(1, name="b")(layers.SimpleRNN(2, name="last")(hidden))
    return compiled(
        inputs,
        [a, b],
        loss=[keras.losses.SparseCategoricalCrossentropy(), "mse"],
        loss_weights=[1.0, 0.5],
        metrics={"a": ["sparse_categorical_accuracy"], "b": ["mae"]},
        weighted_metrics={"a": [keras.metrics.SparseCategoricalCrossentropy(name="sce")]},
    )


random = np.random.RandomState(0)
X = random.uniform(-1, 1, (3, 4, 2)).astype("float32")
Y = random.uniform(-1, 1, (3, 4, 1)).astype("float32")
WORDS = random.randint(1, 5, (3, 4)).astype("float32")
for batch in (X, WORDS):
    batch[0, 2:] = batch[1, 3:] = 0
LABELS = random.randint(0, 2, (3, 4, 1)).astype("float32")
NUMBERS = random.uniform(-1, 1, (3, 1)).astype("float32")
WEIGHTS = np.array([1.0, 0.0, 3.0], "float32")
OF_STEPS = random.uniform(0, 2, (3, 4)).astype("float32")
OF_STEPS[2, 0] = 0
FIRST = OF_STEPS if IS_KERAS3 else WEIGHTS  # Keras 3 refuses one weight for a sample with steps
TEMPORAL = {"sample_weight_mode": "temporal"} if VERSION.startswith("1.") or VERSION == "2.3" else {}

MODELS = {
    "named": (lambda: steps("mae", ["mae"], ["mse"]), (X, [Y], [FIRST])),
    "squared": (lambda: steps("mse", ["mae"], ["mae"]), (X, [Y], [FIRST])),
    "mse": (
        lambda: steps(
            "mse",
            ["mae", keras.metrics.RootMeanSquaredError(name="rmse"), "mse"],
            ["mse", keras.metrics.MeanAbsoluteError(name="wmae")],
        ),
        (X, [Y], [FIRST]),
    ),
    "sum": (lambda: steps(keras.losses.MeanAbsoluteError(reduction="sum"), ["mae"], ["mse"]), (X, [Y], [FIRST])),
    "temporal": (lambda: steps(keras.losses.Huber(), ["mae"], ["mse"], **TEMPORAL), (X, [Y], [OF_STEPS])),
    "two": (two, (WORDS, [LABELS, NUMBERS], [FIRST, WEIGHTS])),
}


def learned(model, start, *given, **options):
    model.set_weights(start)
    model.fit(*given, batch_size=3, shuffle=False, verbose=0, **options)
    return model.get_weights()


for name in sys.argv[3:]:
    make, (x, targets, weights) = MODELS[name]
    keras.backend.clear_session()
    model = make()
    model.save(str(FOLDER / f"{VERSION}-{name}.{'keras' if IS_KERAS3 else 'h5'}"))
    y, w = (given if len(given) > 1 else given[0] for given in (targets, weights))
    start = model.get_weights()
    stored = {"x": x, "plain": model.evaluate(x, y, batch_size=3, verbose=0)}
    stored["weighted"] = model.evaluate(x, y, sample_weight=w, batch_size=3, verbose=0)
    listed = {
        "y": targets,
        "w": weights,
        "trained": learned(model, start, x, y),
        "trained_weighted": learned(model, start, x, y, sample_weight=w),
    }
    stored.update({f"{key}{place}": each for key, found in listed.items() for place, each in enumerate(found)})
    np.savez(str(FOLDER / f"{VERSION}-{name}.npz"), **stored)
