"""The functions of a graph: their names, and where they stand among layers and operations, in `summary` and after."""

import numpy as np

FUNCTIONS = {
    "halved": lambda ops, x: x / 2,
    "reflected": lambda ops, x: 2 / x,
    "floor": lambda ops, x: x // 2,
    "rest": lambda ops, x: x % 2,
    "square": lambda ops, x: x**2,
    "negative": lambda ops, x: -x,
    "size": lambda ops, x: abs(x),
    "slice": lambda ops, x: x[:, 1],
    "product": lambda ops, x: x @ x,
    "greater": lambda ops, x: x > 1,
    "at most": lambda ops, x: x <= 1,
    "difference": lambda ops, x: 2 - x,
    "sum of logarithms": lambda ops, x: ops.logsumexp(x),
    "softmax": lambda ops, x: ops.softmax(x),
    "both": lambda ops, x: ops.logical_and(x > 1, x < 2),
    "part": lambda ops, x: ops.split(x, 2, axis=1)[0],
    "chosen": lambda ops, x: ops.where(x > 1, x, 0),
    "reshaped": lambda ops, x: ops.reshape(x, (-1, 16)),
    "again": lambda ops, x: x / 2 - 1.0,
}


def case_names(keras):
    keras.utils.clear_session()
    found = {}
    for name, function in FUNCTIONS.items():
        inputs = keras.Input((4, 4), name="inputs")
        model = keras.Model(inputs, function(keras.ops, inputs))
        found[name] = [[each.name for each in model.operations], [each.name for each in model.layers]]
    return found


def graph_of(keras):
    left, right = keras.Input((4,), name="left"), keras.Input((4,), name="right")
    shared = keras.Sequential([keras.Input((4,), name="i"), keras.layers.Dense(3, name="d")], name="shared")
    distance = keras.ops.sum(keras.ops.square(shared(left) - shared(right)), axis=1, keepdims=True)
    return keras.Model([left, right], keras.layers.Dense(1, name="last")(distance * 2.0), name="distance")


def case_summary(keras):
    keras.utils.clear_session()
    model, lines = graph_of(keras), []
    for options in ({}, {"expand_nested": True}, {"show_trainable": True}):
        model.summary(line_length=79, print_fn=lambda text, *_, **__: lines.append(str(text)), **options)
    return [line for line in "\n".join(lines).split("\n") if line]


def case_layers(keras):
    keras.utils.clear_session()
    model = graph_of(keras)
    again = keras.Model.from_config(model.get_config())
    numbers = [np.ones((2, 4), "float32"), np.zeros((2, 4), "float32")]
    again.set_weights([np.ones(weight.shape, "float32") for weight in model.get_weights()])
    return [
        [[each.name for each in made.layers], [each.name for each in made.operations], len(made.layers)]
        for made in (model, again, keras.models.clone_model(model))
    ], again.predict(numbers, verbose=0)


def case_paths_inside(keras):
    """Layers that have layers of their own inside, called by the code of another layer."""
    keras.utils.clear_session()
    layers = keras.layers

    class Block(layers.Layer):
        def __init__(self, **options):
            super().__init__(**options)
            self.attention = layers.MultiHeadAttention(2, 4)
            self.grouped = layers.GroupQueryAttention(4, 2, 1, name="grouped")
            self.recurrent = layers.Bidirectional(layers.LSTM(2, return_sequences=True))
            self.stack = keras.Sequential([layers.Dense(3), layers.TimeDistributed(layers.Dense(2))])

        def call(self, inputs):
            attended = self.attention(inputs, inputs) + self.grouped(inputs, inputs)
            return self.stack(self.recurrent(attended))

    inputs = keras.Input((5, 8))
    model = keras.Model(inputs, Block(name="block")(inputs))
    return [weight.path for weight in model.weights]
