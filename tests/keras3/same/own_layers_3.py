"""Layers of one's own: masks of nested inputs, mixed precision, tuples, paths of variables, losses and summaries."""

import numpy as np

X = np.arange(6, dtype="float32").reshape(2, 3) / 8
STEPS = np.arange(24, dtype="float32").reshape(2, 4, 3) / 8


def form(value):
    """What a nested value is made of."""
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__}({', '.join(map(form, value))})"
    if isinstance(value, dict):
        return f"dict({', '.join(f'{name}={form(each)}' for name, each in value.items())})"
    return "none" if value is None else "tensor"


def first(value):
    while isinstance(value, (list, tuple, dict)):
        value = next(iter(value.values())) if isinstance(value, dict) else value[0]
    return value


def paths(layer):
    return [variable.path for variable in layer.weights]


def case_masks_of_nested_inputs(keras):
    seen = []

    class One(keras.layers.Layer):
        supports_masking = True

        def call(self, inputs, mask=None):
            seen.append(form(mask))
            return first(inputs) * 1.0

    class Two(keras.layers.Layer):
        supports_masking = True

        def call(self, a, b, a_mask=None, b_mask=None, mask=None):
            seen.append([form(a_mask), form(b_mask), form(mask)])
            return first(a) * 1.0

    class Own(keras.Model):
        def call(self, inputs, training=None, mask=None):
            seen.append(form(mask))
            return first(inputs) * 1.0

    class Inner(One):
        def call(self, inputs, mask=None):
            return super().call(inputs)

    def collected(run):
        seen.clear()
        run()
        return list(seen)

    def last(run):
        return collected(run)[-1]

    one, other = keras.Input((3,)), keras.Input((3,))
    masked = keras.layers.Masking()(STEPS)
    graph = keras.Model([one, other], One()([one, other]))
    by_name = keras.Model([one, other], One()({"b": one, "a": other}))
    two = keras.Model([one, other], Two()([one, other], other))
    return {
        "one": collected(lambda: One()(X)),
        "list": collected(lambda: One()([X, X])),
        "tuple": collected(lambda: One()((X, X))),
        "dict": collected(lambda: One()({"a": X, "b": X})),
        "nested": collected(lambda: One()([{"a": X}, (X, X)])),
        "masked": collected(lambda: One()([masked, STEPS])),
        "given": collected(lambda: One()([X, X], mask=[None, np.ones(2, bool)])),
        "two": collected(lambda: Two()(X, X)),
        "two nested": collected(lambda: Two()([X, X], {"a": X})),
        "two masked": collected(lambda: Two()([masked, STEPS], STEPS)),
        "model": collected(lambda: Own()([X, X])),
        "model predicts": last(lambda: Own().predict([X, X], verbose=0)),
        "by super": collected(lambda: Inner()([X, X])),
        "symbols": last(lambda: One()([one, other])),
        "graph": last(lambda: graph.predict([X, X], verbose=0)),
        "graph by name": last(lambda: by_name([X, X])),
        "graph of two": last(lambda: two([X, X])),
    }


def case_mixed_precision(keras):
    class Scale(keras.layers.Layer):
        def build(self, shape):
            self.scale = self.add_weight(shape=(shape[-1],), initializer="ones", name="scale")

        def call(self, inputs):
            self.types = [keras.backend.standardize_dtype(each.dtype) for each in (inputs, self.scale, self.scale + 0)]
            return inputs * self.scale

    class Both(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense, self.scale = keras.layers.Dense(3, kernel_initializer="ones"), Scale()

        def call(self, inputs):
            return self.scale(self.dense(inputs))

    def type_of(value):
        return keras.backend.standardize_dtype(value.dtype)

    found = {}
    before = keras.config.dtype_policy()
    for policy in ("mixed_bfloat16", "float32"):
        keras.config.set_dtype_policy(policy)
        try:
            layer, model = Scale(), Both()
            inputs = keras.Input((3,))
            graph = keras.Model(inputs, Scale()(inputs))
            outputs = layer(X)
            found[policy] = {
                "layer": [type_of(outputs), layer.types, type_of(layer.scale)],
                "values": keras.ops.convert_to_numpy(keras.ops.cast(outputs, "float32")),
                "model": [type_of(model(X)), model.scale.types, type_of(model.scale.scale)],
                "graph": type_of(graph(X)),
                "one layer in full precision": type_of(Scale(dtype="float32")(X)),
            }
        finally:
            keras.config.set_dtype_policy(before)
    return found


def case_lambda_with_a_variable(keras):
    factor = keras.Variable(np.array([1.0, 2.0, 3.0], "float32"))
    inputs = keras.Input((3,))
    model = keras.Model(inputs, keras.layers.Lambda(lambda tensor: tensor * factor)(inputs))
    before = model.predict(X, verbose=0)
    factor.assign([5.0, 5.0, 5.0])
    return {"before": before, "after": model.predict(X, verbose=0), "weights": len(model.weights)}


def case_tuples_stay(keras):
    seen = []

    class Seeing(keras.layers.Layer):
        def call(self, inputs):
            seen.append(form(inputs))
            return first(inputs) * 1.0

    def symbols(value):
        if isinstance(value, (list, tuple)):
            return type(value)(map(symbols, value))
        if isinstance(value, dict):
            return {name: symbols(each) for name, each in value.items()}
        return keras.Input((3,))

    found = {}
    for what, value in {
        "list": [X, X],
        "tuple": (X, X),
        "one in a tuple": (X,),
        "dict": {"b": X, "a": X},
        "nested": [(X, X), [X]],
    }.items():
        seen.clear()
        Seeing()(value)
        by_hand, inputs = list(seen), symbols(value)
        model = keras.Model(inputs, Seeing()(inputs))
        symbolic = seen[-1]
        model.predict(value, verbose=0)
        found[what] = [by_hand, symbolic, seen[-1]]
    return found


def case_paths_of_layers(keras):
    layers = keras.layers

    class Cell(layers.Layer):
        def __init__(self, units, **options):
            super().__init__(**options)
            self.units = self.state_size = units

        def build(self, shape):
            self.kernel = self.add_weight(shape=(shape[-1], self.units), initializer="ones", name="kernel")

        def call(self, inputs, states):
            found = keras.ops.matmul(inputs, self.kernel) + states[0]
            return found, [found]

    class Pair(layers.Layer):
        def __init__(self, **options):
            super().__init__(**options)
            self.one, self.other = layers.Dense(2), layers.Dense(3, name="other")

        def call(self, inputs):
            return self.other(self.one(inputs))

    class Several(layers.Layer):
        def __init__(self):
            super().__init__()
            self.inside = [layers.Dense(2), Pair()]

        def call(self, inputs):
            for each in self.inside:
                inputs = each(inputs)
            return inputs

    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.pair, self.out = Pair(), layers.Dense(1)

        def call(self, inputs):
            return self.out(self.pair(inputs))

    images = np.zeros((1, 2, 4, 4, 1), "float32")
    makers = {
        "lstm": (lambda: layers.LSTM(2), STEPS),
        "gru": (lambda: layers.GRU(2, name="g"), STEPS),
        "simple": (lambda: layers.SimpleRNN(2), STEPS),
        "cell": (lambda: layers.RNN(Cell(2)), STEPS),
        "cells": (lambda: layers.RNN([Cell(2), Cell(3)]), STEPS),
        "cells of Keras": (lambda: layers.RNN([layers.LSTMCell(2), layers.GRUCell(3)]), STEPS),
        "stacked": (lambda: layers.RNN(layers.StackedRNNCells([layers.GRUCell(2)])), STEPS),
        "both ways": (lambda: layers.Bidirectional(layers.LSTM(2, name="q"), name="b"), STEPS),
        "each step": (lambda: layers.TimeDistributed(layers.Dense(2)), STEPS),
        "images": (lambda: layers.ConvLSTM2D(2, 2), images),
        "pair": (Pair, X),
        "several": (Several, X),
        "model": (Own, X),
        "sequential": (lambda: keras.Sequential([layers.Dense(2), Pair()]), X),
        "with an input": (lambda: keras.Sequential([keras.Input((3,)), layers.Dense(2), Pair()]), X),
        "nested": (lambda: keras.Sequential([keras.Sequential([layers.Dense(3)], name="inner")], name="outer"), X),
    }
    found = {}
    for what, (make, values) in makers.items():
        keras.backend.clear_session()
        layer = make()
        layer(values)
        found[what] = paths(layer)
        keras.backend.clear_session()
        inputs, layer = keras.Input(values.shape[1:]), make()
        found[f"{what} in a graph"] = paths(keras.Model(inputs, layer(inputs)))
    keras.backend.clear_session()
    model = Own()
    model.predict(X, verbose=0)
    found["model after predict"] = paths(model)
    return found


def case_paths_of_optimizers_and_metrics(keras):
    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.out = keras.layers.Dense(1)

        def call(self, inputs):
            return self.out(inputs)

    def of(make, model):
        keras.backend.clear_session()
        model = model()
        model.compile(make(), "mse")
        model.fit(X, X[:, :1], verbose=0)
        return [[each.name, each.path] for each in model.optimizer.variables]

    def sequential():
        return keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])

    kinds = (
        "Adadelta",
        "Adagrad",
        "Adam",
        "Adamax",
        "AdamW",
        "Ftrl",
        "Lamb",
        "Lion",
        "Muon",
        "Nadam",
        "RMSprop",
        "SGD",
    )
    found = {kind: of(getattr(keras.optimizers, kind), sequential) for kind in kinds}
    found["momentum"] = of(lambda: keras.optimizers.SGD(momentum=0.9, name="mom"), sequential)
    found["accumulated"] = of(lambda: keras.optimizers.SGD(gradient_accumulation_steps=2), sequential)
    found["average"] = of(lambda: keras.optimizers.SGD(use_ema=True), sequential)
    found["own model"] = of(lambda: keras.optimizers.SGD(momentum=0.9), Own)
    keras.backend.clear_session()
    metrics = keras.metrics.Mean(), keras.metrics.AUC(name="a"), keras.metrics.MeanIoU(2)
    found["metrics"] = [[[each.name, each.path] for each in metric.variables] for metric in metrics]
    return found


def case_order_of_losses(keras):
    layers, ops = keras.layers, keras.ops

    class Adding(layers.Layer):
        def __init__(self, value, inside=None, **options):
            super().__init__(**options)
            self.value, self.inside = value, inside

        def build(self, shape):
            self.scale = self.add_weight(
                shape=(), initializer="ones", regularizer=lambda scale: scale * self.value * 100, name="scale"
            )

        def call(self, inputs):
            self.add_loss(ops.sum(inputs) * 0 + self.value)
            outputs = inputs if self.inside is None else self.inside(inputs)
            self.add_loss(ops.sum(outputs) * 0 + self.value + 0.5)
            return outputs

    def dense():
        return layers.Dense(2, kernel_initializer="ones", kernel_regularizer="l2", activity_regularizer="l2")

    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.adding, self.dense = Adding(1.0), dense()

        def call(self, inputs):
            self.add_loss(ops.sum(inputs) * 0 + 7.0)
            return self.adding(self.dense(inputs))

    def numbers(layer):
        layer(X)
        return [float(loss.detach()) for loss in layer.losses]

    inputs = keras.Input((3,))
    graph = keras.Model(inputs, Adding(2.0)(dense()(Adding(1.0)(inputs))))
    before = [float(loss.detach()) for loss in graph.losses]
    layer = Adding(1.0, Adding(2.0, dense()))
    layer(X)
    _, _, stateless = layer.stateless_call(
        layer.trainable_variables, layer.non_trainable_variables, X, return_losses=True
    )
    return {
        "layer": numbers(layer),
        "stateless": [float(loss.detach()) for loss in stateless],
        "graph before a call": before,
        "graph": numbers(graph),
        "model": numbers(Own()),
        "sequential": numbers(keras.Sequential([Adding(1.0), dense()])),
    }


def case_shapes_in_summaries(keras):
    layers = keras.layers

    class Pair(layers.Layer):
        def __init__(self):
            super().__init__()
            self.one, self.other = layers.Dense(2), layers.Dense(3)

        def build(self, input_shape):
            self.one.build(input_shape)
            self.other.build((*input_shape[:-1], 2))

        def call(self, inputs):
            return self.other(self.one(inputs))

    class Sized(Pair):
        def compute_output_shape(self, input_shape):
            return (*input_shape[:-1], 3)

    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.embedding, self.pair, self.sized = layers.Embedding(5, 3), Pair(), Sized()
            self.attention, self.lstm = layers.MultiHeadAttention(2, 2), layers.LSTM(2, return_state=True)
            self.norm, self.drop, self.out = layers.BatchNormalization(), layers.Dropout(0.5), layers.Dense(1)
            self.never = layers.Dense(4)

        def call(self, inputs):
            found = self.sized(self.pair(self.embedding(inputs)))
            found, _, _ = self.lstm(self.attention(found, found))
            return self.out(self.drop(self.norm(found)))

    def shapes(model):
        lines = []
        model.summary(print_fn=lambda line, **_: lines.append(line), line_length=100)
        rows = [line.split("│") for line in "\n".join(lines).splitlines() if line.startswith("│")]
        return [row[2].strip() for row in rows if row[2].strip()]

    model = Own()
    before = shapes(model)
    model(np.array([[1, 2, 3, 4]] * 2))
    return {"before": before, "after a call": shapes(model)}
