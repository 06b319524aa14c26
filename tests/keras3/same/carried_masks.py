"""Masks that layers inside code of one's own make, pass on and get, in graphs, in own models and by hand."""

from __future__ import annotations

import warnings

import numpy as np

TOKENS = np.array([[1, 2, 3, 0, 0], [4, 5, 0, 0, 0]])


def embedded(keras):
    constant = keras.initializers.Constant
    return keras.layers.Embedding(10, 4, mask_zero=True, embeddings_initializer=constant(0.3))


def recurrent(keras, **options):
    options.setdefault("bias_initializer", "ones")
    constant = keras.initializers.Constant
    return keras.layers.SimpleRNN(3, kernel_initializer=constant(0.1), recurrent_initializer=constant(0.2), **options)


def kinds(keras):
    """Layers of one's own: one with an embedding inside, one that makes a mask, and others that pass it or do not."""

    class Inner(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.embedding = embedded(keras)
            self.dense = keras.layers.Dense(2, kernel_initializer="ones")

        def call(self, x):
            return self.dense(self.embedding(x))

    class Marks(keras.layers.Layer):
        def compute_mask(self, x, mask=None):
            return keras.ops.not_equal(x, 0)

        def call(self, x):
            return keras.ops.expand_dims(keras.ops.cast(x, "float32"), -1) * 0.1

    class Plus(keras.layers.Layer):
        supports_masking = True

        def __init__(self, supports=True):
            super().__init__()
            self.supports_masking = supports

        def call(self, x):
            return x + 0.1

    class Takes(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.supports_masking = True

        def call(self, x, mask=None):
            return x if mask is None else x * keras.ops.cast(mask, "float32")[..., None] * 2.0

    class Reads(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.recurrent = recurrent(keras)

        def call(self, x):
            return self.recurrent(x)

    class Pair(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.embedding = embedded(keras)

        def call(self, x):
            found = self.embedding(x)
            return found, found * 2.0

    return Inner, Marks, Plus, Takes, Reads, Pair


def case_graphs_with_layers_of_ones_own(keras):
    Inner, Marks, Plus, Takes, Reads, Pair = kinds(keras)
    ways = {
        "inner": lambda x: recurrent(keras)(Inner()(x)),
        "inner_plus": lambda x: recurrent(keras)(Plus()(Inner()(x))),
        "inner_takes": lambda x: recurrent(keras)(Takes()(Inner()(x))),
        "marks": lambda x: recurrent(keras)(Marks()(x)),
        "marks_plus": lambda x: recurrent(keras)(Plus()(Marks()(x))),
        "marks_ends": lambda x: recurrent(keras)(Plus(False)(Marks()(x))),
        "reads": lambda x: Reads()(embedded(keras)(x)),
        "inner_reads": lambda x: Reads()(Plus()(Inner()(x))),
        "first_of_two": lambda x: recurrent(keras)(Pair()(x)[0]),
        "second_of_two": lambda x: recurrent(keras)(Pair()(x)[1]),
    }
    found = {}
    for name, way in ways.items():
        inputs = keras.Input((5,), dtype="int32")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = keras.Model(inputs, way(inputs))
            found[name] = model.predict(TOKENS, verbose=0)
            found[f"{name}_by_hand"] = keras.ops.convert_to_numpy(model(TOKENS))
            found[f"{name}_of_layers"] = keras.ops.convert_to_numpy(way(keras.ops.convert_to_tensor(TOKENS)))
    return found


def case_losses_and_metrics_of_outputs_with_masks(keras):
    class Tagger(keras.Model):
        def __init__(self):
            super().__init__()
            self.embedding = embedded(keras)
            self.recurrent = recurrent(keras, return_sequences=True)
            self.dense = keras.layers.Dense(1, kernel_initializer="ones")

        def call(self, x):
            return self.dense(self.recurrent(self.embedding(x)))

    class TaggerLayer(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.tagger = Tagger()

        def call(self, x):
            return self.tagger(x)

    def in_graph():
        inputs = keras.Input((5,), dtype="int32")
        return keras.Model(inputs, TaggerLayer()(inputs))

    random = np.random.RandomState(0)
    x = random.randint(1, 10, (8, 5))
    x[:4, 3:] = 0
    x[5, 1:] = 0
    y = random.randn(8, 5, 1).astype("float32") * 2
    found = {}
    for name, make in {"own": Tagger, "graph": in_graph, "sequential": lambda: keras.Sequential([Tagger()])}.items():
        model = make()
        model.compile("sgd", "mse", metrics=["mae"], weighted_metrics=["mse"])
        found[name] = model.fit(x, y, batch_size=4, epochs=2, shuffle=False, verbose=0).history
        found[f"{name}_evaluated"] = model.evaluate(x, y, batch_size=4, verbose=0)
        found[f"{name}_on_batch"] = model.train_on_batch(x, y)
    return found


def case_a_loss_whose_own_call_takes_no_mask(keras):
    class Own(keras.losses.MeanSquaredError):
        def __call__(self, y_true, y_pred, sample_weight=None):
            return 2.0 * super().__call__(y_true, y_pred, sample_weight)

    inputs = keras.Input((5,), dtype="int32")
    hidden = recurrent(keras, return_sequences=True)(embedded(keras)(inputs))
    model = keras.Model(inputs, hidden)
    model.compile("sgd", Own())
    y = np.arange(30.0).reshape(2, 5, 3)
    return model.fit(TOKENS, y, shuffle=False, verbose=0).history, model.evaluate(TOKENS, y, verbose=0)
