"""Tensors of another floating-point type are cast to that in which a layer computes."""

import numpy as np
import torch

X = torch.arange(6, dtype=torch.float64).reshape(2, 3)
THIRDS = np.arange(6).reshape(2, 3) / 3
IMAGES = torch.arange(32, dtype=torch.float64).reshape(1, 4, 4, 2)


def result(found):
    return found.detach().numpy()


def case_layers(keras):
    layers, ones = keras.layers, {"kernel_initializer": "ones"}
    return {
        "Dense": result(layers.Dense(2, **ones)(X)),
        "Conv2D": result(layers.Conv2D(2, 3, **ones)(IMAGES)),
        "Flatten": result(layers.Flatten()(IMAGES)),
        "Activation": result(layers.Activation("relu")(X)),
        "of doubles": result(layers.Dense(2, dtype="float64", **ones)(X)),
        "from halves": result(layers.Dense(2, **ones)(X.half())),
        "several": result(layers.Add()([X, X.float()])),
        "integers": result(layers.Dense(2, **ones)(torch.arange(6, dtype=torch.int32).reshape(2, 3))),
        "integers stay": result(layers.Flatten()(torch.arange(4).reshape(2, 2))),
    }


def case_models(keras):
    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(2, kernel_initializer="ones")

        def call(self, inputs):
            return self.dense(inputs)

    def sequential(*before):
        return keras.Sequential([*before, keras.layers.Dense(2, kernel_initializer="ones")])

    inputs = keras.Input((3,))
    return {
        "own": result(Own()(X)),
        "sequential": result(sequential(keras.Input((3,)))(X)),
        "sequential without an input": result(sequential()(X)),
        "functional": result(keras.Model(inputs, keras.layers.Dense(2, kernel_initializer="ones")(inputs))(X)),
        "an array": result(Own()(np.ones((2, 3)))),
    }


def case_arrays_of_doubles(keras):
    class Exponential(keras.Operation):
        def call(self, x):
            return keras.ops.exp(x)

    class Own(keras.Model):
        def call(self, inputs):
            return inputs + 0

    doubles = keras.layers.Activation("linear", dtype="float64")
    return {
        "a layer of doubles": np.array_equal(result(doubles(THIRDS)), THIRDS),
        "a model of doubles": np.array_equal(result(Own(dtype="float64")(THIRDS)), THIRDS),
        "others": result(keras.layers.Activation("linear")(THIRDS)),
        "an operation": result(Exponential()(THIRDS)),
    }


def case_further_arguments(keras):
    class Seeing(keras.layers.Layer):
        def call(self, inputs, other, several):
            self.seen = [str(each.dtype) for each in (inputs, other, *several)]
            return inputs

    found = {}
    for dtype in ("float32", "float64", "mixed_bfloat16"):
        layer = Seeing(dtype=dtype)
        layer(X, other=X, several=[X, THIRDS])
        found[dtype] = layer.seen
        layer(X.float(), other=X, several=[X])
        found[f"{dtype}, given one of 32 bits"] = layer.seen
    return found


def case_type_of_a_model(keras):
    class Own(keras.Model):
        def __init__(self, dtype):
            super().__init__(dtype=dtype)
            self.dense = keras.layers.Dense(2, kernel_initializer="ones")

        def call(self, inputs):
            self.seen = str(inputs.dtype)
            return self.dense(inputs)

    found = {}
    for dtype in (None, "float64", "mixed_bfloat16", "float16"):
        model = Own(dtype)
        model.compile("sgd", "mse")
        losses = model.fit(THIRDS, THIRDS[:, :2], epochs=2, verbose=0).history["loss"]
        predicted = model.predict(THIRDS, verbose=0)
        found[str(dtype)] = [losses, predicted, model.seen, model.dtype_policy.name, model.dense.dtype_policy.name]
    return found
