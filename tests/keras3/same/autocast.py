"""Tensors of another floating-point type are cast to that in which a layer computes."""

import numpy as np
import torch

X = torch.arange(6, dtype=torch.float64).reshape(2, 3)
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
