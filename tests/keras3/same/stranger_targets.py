"""Targets with an axis less or more than the outputs: language models, masks of pixels, rows of numbers."""

import numpy as np

TOKENS = np.arange(44).reshape(4, 11) % 12
NEXT = (TOKENS + 1) % 12


def _fitted(model, x, y, **options):
    return [model.fit(x, y, epochs=2, shuffle=False, verbose=0, **options).history, model.evaluate(x, y, verbose=0)]


def case_class_numbers_of_each_step(keras):
    constant = keras.initializers.Constant
    inputs = keras.Input((11,), dtype="int32")
    states = keras.layers.Embedding(12, 4, embeddings_initializer=constant(0.5))(inputs)
    outputs = keras.layers.Dense(12, activation="softmax", kernel_initializer=constant(0.1))(states)
    found = []
    for loss in ("sparse_categorical_crossentropy", keras.losses.SparseCategoricalCrossentropy()):
        for target in (NEXT, NEXT[..., None]):
            model = keras.Model(inputs, outputs)
            model.compile("sgd", loss, metrics=[keras.metrics.SparseCategoricalCrossentropy(name="again")])
            found.append(_fitted(model, TOKENS, target))
    return found


def case_class_numbers_of_a_class_of_ones_own(keras):
    class Language(keras.Model):
        def __init__(self):
            super().__init__()
            self.embedding = keras.layers.Embedding(12, 4, embeddings_initializer=keras.initializers.Constant(0.5))
            self.head = keras.layers.Dense(12, kernel_initializer=keras.initializers.Constant(0.1))

        def call(self, tokens, training=False):
            return self.head(self.embedding(tokens) * (1 + keras.ops.arange(keras.ops.shape(tokens)[1])[:, None]))

    model = Language()
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return _fitted(model, TOKENS, NEXT)


def case_numbers_of_each_step(keras):
    inputs = keras.Input((11, 1))
    outputs = keras.layers.Dense(1, kernel_initializer="ones")(inputs)
    x, y = TOKENS[..., None] / 10.0, (TOKENS % 2).astype("float32")
    found = []
    for loss in ("mse", "mae", "huber", keras.losses.LogCosh()):
        for target in (y, y[..., None]):
            model = keras.Model(inputs, outputs)
            model.compile("sgd", loss, metrics=["mae", keras.metrics.MeanSquaredError()])
            found.append(_fitted(model, x, target))
    return found


def case_classes_of_pixels(keras):
    inputs = keras.Input((4, 4, 2))
    outputs = keras.layers.Dense(3, activation="softmax", kernel_initializer=keras.initializers.Constant(0.2))(inputs)
    x, y = np.arange(160.0).reshape(5, 4, 4, 2) / 50, np.arange(80).reshape(5, 4, 4) % 3
    found = []
    for weights in (None, np.arange(80.0).reshape(5, 4, 4)):
        model = keras.Model(inputs, outputs)
        model.compile("sgd", "sparse_categorical_crossentropy")
        found.append(model.evaluate(x, y, verbose=0, sample_weight=weights))
    return found
