"""Weights as one object each, low-rank adaptation and stateless calls: one code under genuine Keras and here."""

import os
import tempfile

import numpy as np
import torch

ROWS = (np.arange(12.0).reshape(4, 3) / 7).astype("float32")


def values(shape):
    return np.sin(np.arange(np.prod(shape)).reshape(shape) + 1).astype("float32")


def filled(layer):
    for variable in layer.variables:
        if variable.dtype == "float32":
            variable.assign(values(variable.shape))
    return layer


def said(variable):
    return {
        "name": variable.name,
        "path": variable.path,
        "shape": list(variable.shape),
        "ndim": variable.ndim,
        "dtype": variable.dtype,
        "trainable": variable.trainable,
        "values": variable.numpy(),
    }


def case_a_variable_stands_for_its_tensor(keras):
    found = keras.Variable([[1.0, -2.0], [3.0, 4.0]], name="mine")
    other = np.array([[1.0, 1.0], [2.0, 2.0]], "float32")
    tensor = torch.tensor(other)
    results = [
        *(found + other, other + found, found - tensor, tensor - found, found * 2, 2 / found, found**2, -found),
        *(found @ tensor, tensor @ found, abs(found), found > 0, found == 3.0, found != 3.0, found // 2, found % 2),
        *(torch.matmul(tensor, found), keras.ops.matmul(found, other), found[0], found[:, 1]),
        *(round(found, 1), keras.ops.sum(found)),
    ]
    assigned = [found.assign(other), found.assign_add(other), found.assign_sub(0.5 * other)]
    return {
        "said": said(found),
        "results": [keras.ops.convert_to_numpy(each) for each in results],
        "assigned": [keras.ops.convert_to_numpy(each) for each in assigned],
        "after": found.numpy(),
    }


def case_variables_as_they_are_made(keras):
    keras.backend.clear_session()
    made = [
        keras.Variable(np.ones((2, 1), "int64"), trainable=False),
        keras.Variable("ones", shape=(2,), dtype="float16"),
        keras.Variable(lambda shape, dtype: np.full(shape, 3, dtype), shape=(2,), trainable=False, name="three"),
    ]
    return [said(each) for each in made]


def case_attributes_are_the_entries_of_weights(keras):
    keras.backend.clear_session()
    found = {}
    for layer, shape, names in (
        (keras.layers.Dense(2, kernel_constraint="non_neg"), (None, 3), ("kernel", "bias")),
        (keras.layers.Conv2D(2, 3), (None, 5, 5, 3), ("kernel", "bias")),
        (keras.layers.EinsumDense("abc,cd->abd", (None, 2), bias_axes="d"), (None, 4, 3), ("kernel", "bias")),
        (keras.layers.Embedding(4, 2), (None, 3), ("embeddings",)),
        (keras.layers.BatchNormalization(), (None, 3), ("gamma", "beta", "moving_mean", "moving_variance")),
        (keras.layers.LayerNormalization(), (None, 3), ("gamma", "beta")),
        (keras.layers.PReLU(), (None, 3), ("alpha",)),
    ):
        layer.build(shape)
        filled(layer)
        attributes = [getattr(layer, name) for name in names]
        found[type(layer).__name__] = {
            "same": [any(each is weight for weight in layer.weights) for each in attributes],
            "said": [said(each) for each in attributes],
            "constrained": [each.constraint is not None for each in attributes],
        }
        layer.trainable = False
        found[type(layer).__name__]["frozen"] = [each.trainable for each in attributes]
    return found


def case_paths(keras):
    keras.backend.clear_session()

    class Inner(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(2)
            self.mine = keras.Variable(1.0, name="mine")
            self.early = self.add_weight(name="early")

        def build(self, input_shape):
            self.late = self.add_weight(shape=(2,))
            self.further = keras.layers.Dense(3)
            self.further.build(input_shape)

        def call(self, inputs):
            return self.dense(inputs) + self.mine

    class Outer(keras.Model):
        def __init__(self):
            super().__init__()
            self.inner = Inner()

        def call(self, inputs):
            return self.inner(inputs)

    model = Outer()
    model(ROWS)
    chain = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    late = keras.Sequential([keras.layers.Dense(2)])
    late.build((None, 3))
    inputs = keras.Input((4, 3))
    attention = keras.layers.MultiHeadAttention(2, 2)
    graph = keras.Model(inputs, attention(inputs, inputs))
    return [sorted(each.path for each in one.weights) for one in (model, chain, late, graph)]


def adapted(keras):
    yield keras.layers.Dense(2, kernel_regularizer="l2"), ROWS
    yield keras.layers.EinsumDense("abc,cde->abde", (4, 3, 2)), values((2, 4, 3))
    yield keras.layers.EinsumDense("abc,bcd->abd", (4, 2)), values((2, 4, 3))
    yield keras.layers.Embedding(5, 2), np.array([[0, 1, 4], [2, 2, 3]])


def case_low_rank_adaptation(keras):
    found = []
    for layer, inputs in adapted(keras):
        layer.build(inputs.shape)
        layer.enable_lora(2, lora_alpha=3)
        filled(layer)
        target = values(layer(inputs).shape)
        model = keras.Sequential([layer])
        model.compile(keras.optimizers.SGD(0.1), "mse")
        model.fit(inputs, target, batch_size=len(inputs), epochs=3, verbose=0)
        config = layer.get_config()
        found.append(
            {
                "weights": [(each.name, each.trainable, each.numpy()) for each in layer.weights],
                "kernel": keras.ops.convert_to_numpy(
                    layer.embeddings if hasattr(layer, "embeddings") else layer.kernel
                ),
                "outputs": keras.ops.convert_to_numpy(layer(inputs)),
                "config": {name: config[name] for name in ("lora_rank", "lora_alpha")},
                "losses": len(layer.losses),
            }
        )
    return found


def case_files_of_adapted_layers(keras):
    found = []
    for layer, inputs in adapted(keras):
        options = layer.get_config()
        layer.build(inputs.shape)
        layer.enable_lora(2)
        filled(layer)
        model = keras.Sequential([layer])
        model.build(inputs.shape)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.keras")
            model.save(path)
            again = keras.saving.load_model(path)
            path = os.path.join(folder, "model.weights.h5")
            model.save_weights(path)
            plain = keras.Sequential([type(layer).from_config(options)])
            plain.build(inputs.shape)
            plain.load_weights(path)
            plain.layers[0].weights[0].assign(values(plain.layers[0].weights[0].shape) / 2)
            plain.save_weights(path)
            model.load_weights(path)
        found.append(
            [
                keras.ops.convert_to_numpy(again(inputs)),
                again.layers[0].lora_enabled,
                keras.ops.convert_to_numpy(plain(inputs)),
                keras.ops.convert_to_numpy(model(inputs)),
            ]
        )
    return found


def case_stateless_call(keras):
    model = keras.Sequential(
        [
            keras.Input((3,)),
            keras.layers.Dense(4, kernel_regularizer="l2"),
            keras.layers.BatchNormalization(),
            keras.layers.Dense(2),
        ]
    )
    filled(model)
    trainable = [torch.tensor(values(each.shape)) / 2 for each in model.trainable_variables]
    others = [each.value for each in model.non_trainable_variables]
    outputs, now, losses = model.stateless_call(
        trainable, others, torch.tensor(ROWS), training=True, return_losses=True
    )
    return {
        "outputs": keras.ops.convert_to_numpy(outputs),
        "now": [keras.ops.convert_to_numpy(each) for each in now],
        "losses": len(losses),
        "left": [each.numpy() for each in model.trainable_variables],
    }


def case_a_step_of_ones_own(keras):
    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(2)
            self.tracker = keras.metrics.Mean(name="loss")

        def call(self, inputs):
            return self.dense(inputs)

        def train_step(self, data):
            x, y = data
            self.zero_grad()
            loss = keras.ops.mean((self(x, training=True) - y) ** 2)
            loss.backward()
            weights = self.trainable_weights
            gradients = [each.value.grad for each in weights]
            with torch.no_grad():
                self.optimizer.apply(gradients, weights)
            self.tracker.update_state(loss)
            return {"loss": self.tracker.result()}

    model = Own()
    model(ROWS)
    filled(model)
    model.compile(keras.optimizers.SGD(0.1, momentum=0.9))
    model.fit(ROWS, values((4, 2)), batch_size=2, epochs=2, shuffle=False, verbose=0)
    return [each.numpy() for each in model.weights]


def case_name_scope(keras):
    with keras.name_scope("encoder"):
        outer = keras.Variable([1.0], name="outer")
        with keras.name_scope("block"):
            inner = keras.Variable([1.0], name="inner")
    return [outer.path, inner.path, keras.Variable([1.0], name="alone").path]


def case_types_of_numbers_beside_a_tensor_without_axes(keras):
    found = {}
    for name in ("maximum", "minimum", "floor_divide", "divide", "true_divide", "add", "multiply"):
        for dtype in ("int8", "float16", "float32", "bool"):
            tensor = keras.ops.ones((), dtype=dtype)
            for number in (2, 2.0):
                if not (name == "floor_divide" and dtype == "bool"):
                    result = getattr(keras.ops, name)(tensor, number)
                    found[f"{name} {dtype} {number}"] = keras.backend.standardize_dtype(result.dtype)
    return found
