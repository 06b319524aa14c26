"""The commonest mistakes of newcomers and their messages, each of which names the fix."""

import re
import sys
import warnings
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from torchkeras import Input, Model, Sequential, callbacks, clear_session, config, layers, losses, models, optimizers
from torchkeras.errors import LikelyMistakeWarning
from torchkeras.layers import LSTM, Add, Conv2D, Dense, Embedding, Layer

X, Y = np.ones((10, 4), "float32"), np.ones((10, 3), "float32")
LABELS = np.arange(10) % 3
ONE_HOT = np.eye(3, dtype="float32")[LABELS]
IMAGES = np.zeros((2, 28, 28, 3), "float32")
FIRST = torch.zeros(2, 3, 28, 28)
CHANNELS_FIRST = (
    "Its channels come first: give x.movedim(1, -1) (np.moveaxis(x, 1, -1) of an array), or end the transforms of its "
    'Dataset with operator.methodcaller("movedim", 0, -1).'
)


def compiled(loss: Any = "mse", activation: Any = None, units: int = 3, optimizer: Any = "sgd", **options) -> Any:
    model = Sequential([Dense(units, activation=activation, input_shape=(4,), name="out")], name="model")
    model.compile(optimizer, loss, **options)
    return model


def images(*shape: int) -> Any:
    return Sequential([Conv2D(2, 3, input_shape=shape, name="stem")], name="model")


def trained(model: Any) -> Any:
    model.compile("sgd", "mse")
    return model


def unbuilt() -> Any:
    return Sequential([Dense(3)], name="model")


def weights_of(model: Any, path: str) -> str:
    model.save_weights(path)
    return path


def saved(model: Any, path: str) -> str:
    model.save(path)
    return path


class WithoutSuper(Layer):
    def __init__(self, units):
        self.units = units

    def call(self, inputs):
        return inputs


class WeightInCall(Layer):
    def call(self, inputs):
        self.scale = self.add_weight("scale", (4,))
        return inputs * self.scale


class ByNumPy(Layer):
    def call(self, inputs):
        return np.tanh(inputs)


class ByValue(Layer):
    def call(self, inputs):
        return inputs if inputs.mean() > 0 else -inputs


class Mine(Layer):
    def call(self, inputs):
        return inputs


def batches():
    while True:
        yield X, Y


def twice_named() -> Model:
    inputs = Input((4,))
    return Model(inputs, Dense(3, name="same")(Dense(4, name="same")(inputs)))


def between(inputs: Any, outputs: Any) -> Model:
    return Model(inputs, outputs, name="model")


def one_loss_of_two() -> Model:
    inputs = Input((4,))
    model = Model(inputs, [Dense(3, name="a")(inputs), Dense(3, name="b")(inputs)])
    model.compile("sgd", {"a": "mse"})
    return model


A, B = Input((4,), name="a"), Input((4,), name="b")


# (what it is, what the user writes, the error)
MISTAKES = [
    # --- shapes of inputs
    (
        "an axis too many",
        lambda: compiled().fit(X[:, None], Y),
        ValueError,
        (
            "Error when checking input: expected out_input to have 2 dimensions, but got array with "
            "shape (10, 1, 4). Give an array of shape (samples, 4), or make the model's Input for the "
            "shape of the data."
        ),
    ),
    (
        "one sample without its axis",
        lambda: compiled().predict(X[0]),
        ValueError,
        (
            "Error when checking input: expected out_input to have shape (4,) but got array with "
            "shape (1,). It has no axis of samples: give x[None] for one sample, or leave that axis "
            "out of the Input's shape."
        ),
    ),
    (
        "other features",
        lambda: compiled().predict(X[:, :3]),
        ValueError,
        (
            "Error when checking input: expected out_input to have shape (4,) but got array with "
            "shape (3,). Give an array of shape (samples, 4), or make the model's Input for the shape "
            "of the data."
        ),
    ),
    (
        "other features, called",
        lambda: compiled()(torch.zeros(2, 3)),
        ValueError,
        (
            "Input out_input of Sequential 'model' has shape (None, 4); found shape (2, 3). Give a "
            "tensor of that shape, or make the Input for the shape of the data."
        ),
    ),
    (
        "grey images without channels",
        lambda: images(28, 28, 1).predict(IMAGES[..., 0]),
        ValueError,
        (
            "Error when checking input: expected stem_input to have 4 dimensions, but got array with "
            "shape (2, 28, 28). It has no axis of channels: give x[..., None]."
        ),
    ),
    (
        "channels first",
        lambda: images(28, 28, 3).predict(np.moveaxis(IMAGES, -1, 1)),
        ValueError,
        (
            "Error when checking input: expected stem_input to have shape (28, 28, 3) but got array "
            f"with shape (3, 28, 28). {CHANNELS_FIRST}"
        ),
    ),
    (
        "channels first in a DataLoader, images of any size",
        lambda: trained(images(None, None, 3)).fit(DataLoader(TensorDataset(FIRST, FIRST))),
        ValueError,
        (
            "Error when checking input: expected stem_input to have shape (None, None, 3) but got array "
            f"with shape (3, 28, 28). {CHANNELS_FIRST}"
        ),
    ),
    (
        "channels first, called",
        lambda: images(28, 28, 3)(FIRST),
        ValueError,
        (
            "Input stem_input of Sequential 'model' has shape (None, 28, 28, 3); found shape (2, 3, 28, 28). "
            f"{CHANNELS_FIRST}"
        ),
    ),
    (
        "channels last",
        lambda: Sequential([Conv2D(2, 3, input_shape=(3, 28, 28), data_format="channels_first")]).predict(IMAGES),
        ValueError,
        (
            "Error when checking input: expected conv2d_1_input to have shape (3, 28, 28) but got "
            "array with shape (28, 28, 3). Its channels come last: give x.movedim(-1, 1) (np.moveaxis(x, -1, 1) of an "
            "array)."
        ),
    ),
    (
        "channels first in input_shape",
        lambda: Sequential([Conv2D(2, 5, input_shape=(3, 28, 28), name="stem")]),
        ValueError,
        (
            "Conv2D 'stem': kernel_size (5, 5) does not fit the input (None, 3, 28, 28): axis 1 is 3 "
            "long. If that is the axis of channels, give data_format='channels_first'."
        ),
    ),
    (
        "the batch size in Input",
        lambda: between(batched := Input((10, 4), name="x"), Dense(3)(batched)).predict(X),
        ValueError,
        (
            "Error when checking input: expected x to have 3 dimensions, but got array with shape "
            "(10, 4). It has no axis of samples: give x[None] for one sample, or leave that axis out "
            "of the Input's shape."
        ),
    ),
    (
        "Input of a number",
        lambda: Input(4, name="x"),
        ValueError,
        "Input 'x': a shape is a tuple, such as (4,); found 4.",
    ),
    (
        "an axis too few for a convolution",
        lambda: Conv2D(2, 3, name="stem")(torch.zeros(2, 28, 28)),
        ValueError,
        (
            "Input 0 is incompatible with layer stem: expected ndim=4, found ndim=3 (input shape (2, "
            "28, 28)). Give it an input of 4 axes: samples, rows, columns and channels."
        ),
    ),
    (
        "a vector for Dense",
        lambda: Dense(3, name="out")(torch.zeros(4)),
        ValueError,
        (
            "Input 0 is incompatible with layer out: expected min_ndim=2, found ndim=1 (input shape "
            "(4,)). Give it an input of 2 axes: samples and features."
        ),
    ),
    (
        "a stacked LSTM without return_sequences",
        lambda: LSTM(3, name="second")(LSTM(3)(Input((5, 4)))),
        ValueError,
        (
            "Input 0 is incompatible with layer second: expected ndim=3, found ndim=2 (input shape "
            "(None, 3)). Give it an input of 3 axes: samples, steps and features, as a recurrent "
            "layer gives with return_sequences=True."
        ),
    ),
    (
        "a layer called on another size",
        lambda: (layer := Dense(3, name="out"))(torch.zeros(2, 4)) + layer(torch.zeros(2, 5)),
        ValueError,
        (
            "Input 0 is incompatible with layer out: expected axis -1 of input shape to have value 4 "
            "(input shape (2, 5)). Give it that size, or make a new layer for this input."
        ),
    ),
    (
        "Add of other shapes",
        lambda: Add(name="sum")([Input((4,)), Input((5,))]),
        ValueError,
        "Add 'sum': operands could not be broadcast together with shapes (4,) and (5,). Bring them to one shape.",
    ),
    # --- kinds of data
    (
        "a list of numbers for a tensor",
        lambda: compiled()([[1.0, 2.0, 3.0, 4.0]]),
        TypeError,
        (
            "Sequential 'model' takes torch tensors; found float. Make a tensor of it with "
            "torch.as_tensor, or give arrays to `predict`."
        ),
    ),
    (
        "an array for a tensor",
        lambda: Dense(3, name="out")(X),
        TypeError,
        (
            "Dense 'out' takes torch tensors; found ndarray. Make a tensor of it with "
            "torch.as_tensor, or give arrays to `predict`."
        ),
    ),
    (
        "integers for Dense",
        lambda: Dense(3, name="out")(torch.zeros(2, 4, dtype=torch.int64)),
        TypeError,
        "Dense 'out' has weights of float32 and was called on a tensor of int64: give x.to(torch.float32).",
    ),
    (
        "float64 for a model",
        lambda: compiled()(torch.zeros(2, 4, dtype=torch.float64)),
        TypeError,
        "Sequential 'model' has weights of float32 and was called on a tensor of float64: give x.to(torch.float32).",
    ),
    (
        "text for numbers",
        lambda: compiled().predict(np.array([["a"] * 4])),
        ValueError,
        (
            'Error when checking input: out_input takes numbers; found strings. Input(shape, dtype="string") takes '
            "strings, for layers such as TextVectorization, StringLookup and Hashing."
        ),
    ),
    (
        "numbers that an Embedding does not have",
        lambda: Embedding(10, 3)(torch.tensor([[1, 10]])),
        IndexError,
        (
            "Embedding 'embedding_1': inputs out of range: they must be from 0 to 9, since input_dim is "
            "10; found 1 to 10. Give input_dim the largest of them plus one."
        ),
    ),
    (
        "samples in a list",
        lambda: compiled().fit([*X], Y),
        ValueError,
        (
            "Error when checking model input: expected 1 array(s), for 'out_input', but got 10: (4,), "
            "(4,), (4,), (4,), (4,), (4,), (4,), (4,), (4,), (4,). A list or tuple has an array for "
            "each input: join samples by np.array, and give targets as y."
        ),
    ),
    (
        "x and y in one tuple",
        lambda: compiled().fit((X, Y)),
        ValueError,
        (
            "Error when checking model input: expected 1 array(s), for 'out_input', but got 2: (10, "
            "4), (10, 3). A list or tuple has an array for each input: join samples by np.array, and "
            "give targets as y."
        ),
    ),
    (
        "no targets",
        lambda: compiled().fit(X),
        ValueError,
        "Error when checking model target: expected data for 'out', but got None. Give the targets as y.",
    ),
    # --- names
    (
        "a wrong loss name",
        lambda: compiled("binary_crossentropi"),
        ValueError,
        (
            "Unknown loss function: 'binary_crossentropi'. Did you mean 'binary_crossentropy' or "
            "'binary_focal_crossentropy' or 'BinaryCrossentropy'? An object of your own is found when "
            "it is passed in `custom_objects` or put into a CustomObjectScope."
        ),
    ),
    (
        "a wrong optimizer name",
        lambda: compiled(optimizer="adma"),
        ValueError,
        (
            "Unknown optimizer: 'adma'. Did you mean 'adamax' or 'adam' or 'nadam'? An object of your "
            "own is found when it is passed in `custom_objects` or put into a CustomObjectScope."
        ),
    ),
    (
        "a wrong activation name",
        lambda: Dense(3, activation="rleu"),
        ValueError,
        (
            "Dense: activation: Unknown activation function: 'rleu'. Did you mean 'relu' or 'relu6'? "
            "An object of your own is found when it is passed in `custom_objects` or put into a "
            "CustomObjectScope."
        ),
    ),
    (
        "an argument of Lightning's Trainer",
        lambda: compiled().fit(X, Y, max_epochs=3),
        TypeError,
        (
            "fit: unknown option 'max_epochs'. Did you mean 'epochs'? Its options are x, y, batch_size, epochs, "
            "verbose, callbacks, validation_split, validation_data, shuffle, class_weight, sample_weight, "
            "initial_epoch, steps_per_epoch, validation_steps, validation_batch_size, validation_freq, max_queue_size, "
            "workers, use_multiprocessing, fast_dev_run."
        ),
    ),
    (
        "an argument of the wrong method",
        lambda: compiled().evaluate(X, Y, epochs=2),
        TypeError,
        (
            "evaluate: unknown option 'epochs'. Its options are x, y, batch_size, verbose, sample_weight, steps, "
            "callbacks, max_queue_size, workers, use_multiprocessing, return_dict."
        ),
    ),
    (
        "a misspelled argument",
        lambda: compiled().predict(X, batchsize=2),
        TypeError,
        "Model.predict() got an unexpected keyword argument 'batchsize'"
        + (". Did you mean 'batch_size'?" if sys.version_info >= (3, 13) else ""),
    ),
    (
        "class numbers without an axis of their own",
        lambda: steps("categorical_crossentropy", 3).fit(np.ones((2, 5, 2)), np.zeros((2, 5))),
        ValueError,
        (
            "Error when checking target: expected out to have 3 dimensions, but got array with shape (2, 5). If y "
            "holds class numbers, use sparse_categorical_crossentropy and y[..., None]."
        ),
    ),
    (
        "labels of two classes without an axis of their own",
        lambda: steps("binary_crossentropy", 1).fit(np.ones((2, 5, 2)), np.zeros((2, 5))),
        ValueError,
        (
            "Error when checking target: expected out to have 3 dimensions, but got array with shape (2, 5). Give y a "
            "last axis of its own: y[..., None]."
        ),
    ),
    (
        "one-hot rows for a loss of class numbers",
        lambda: compiled("categorical_generalized_cross_entropy", "softmax").fit(X, ONE_HOT),
        ValueError,
        (
            "Error when checking target: expected out to have shape (1,) but got array with shape (3,). The loss takes "
            "class numbers: give y.argmax(-1), or use categorical_crossentropy for one-hot rows."
        ),
    ),
    (
        "AUC of class numbers",
        lambda: compiled("sparse_categorical_crossentropy", "softmax", metrics=["auc"]).fit(X, LABELS),
        ValueError,
        (
            "AUC 'auc': y_true of shape (10, 1) does not fit y_pred of shape (10, 3). If y_true holds class numbers, "
            "give one-hot rows, by torchkeras.utils.to_categorical."
        ),
    ),
    (
        "a misspelled option that must be given",
        lambda: Dense(unit=3),
        TypeError,
        "Dense: option 'units' is missing; is it misspelled as 'unit'?",
    ),
    (
        "a misspelled name of a number to watch",
        lambda: compiled().fit(X, Y, validation_split=0.5, callbacks=[callbacks.EarlyStopping("val_los")], verbose=0),
        ValueError,
        (
            "EarlyStopping: whether more or less of 'val_los' is better is not known: give mode='max' or mode='min', "
            "or the metric an attribute `higher_is_better`. Did you mean 'val_loss'?"
        ),
    ),
    (
        "a module for an activation, in a file",
        lambda: Sequential([Dense(3, activation=torch.nn.ReLU(), input_shape=(4,))]).save("m.keras"),
        ValueError,
        (
            "The activation function is written to a config by its name; ReLU() has none: give the name of the "
            "function, such as 'relu', or add the module after the layer."
        ),
    ),
    (
        "a list of batches",
        lambda: compiled().fit([(X, Y), (X, Y)]),
        ValueError,
        (
            "Error when checking model input: expected 1 array(s), for 'out_input', but got 2: tuple, tuple. A list or "
            "tuple has an array for each input: join samples by np.array, and give targets as y. Batches come from a "
            "DataLoader, a Sequence or a generator, not from a list."
        ),
    ),
    (
        "a misspelled option of compile",
        lambda: Sequential([Dense(1, input_shape=(4,))]).compile("sgd", "mse", metric=["mae"]),
        TypeError,
        (
            "compile: unknown option 'metric'. Did you mean 'metrics'? Its options are optimizer, loss, metrics, "
            "loss_weights, sample_weight_mode, weighted_metrics, target_tensors, on_nonfinite, jit_compile, "
            "cuda_graph, steps_per_execution, distribute, sync_batch_norm, numerics."
        ),
    ),
    (
        "a sample as a list of lists",
        lambda: compiled().predict([[1, 2, 3, 4]]),
        ValueError,
        (
            "Error when checking input: expected out_input to have shape (4,) but got array with shape (1,). A list "
            "has an array for each input: give one, np.array(...), of shape (samples, 4)."
        ),
    ),
    (
        "classes from 1 on, for a loss of torch",
        lambda: compiled(torch.nn.CrossEntropyLoss()).fit(X, LABELS + 1),
        ValueError,
        (
            "Output 'out': the loss of torch takes class numbers from 0 to 2; found labels from 1 to 3. Count the "
            "classes from 0, and give the last layer a unit for each."
        ),
    ),
    (
        "classes below 0, for a function of torch",
        lambda: compiled(torch.nn.functional.cross_entropy).fit(X, LABELS.astype("int8") - 1),
        ValueError,
        (
            "Output 'out': the loss of torch takes class numbers from 0 to 2; found labels from -1 to 1. Count the "
            "classes from 0, and give the last layer a unit for each."
        ),
    ),
    (
        "a name that is no device",
        lambda: config.set_device("gpu"),
        ValueError,
        "set_device: 'gpu' is no device of torch, such as 'cpu', 'cuda' or 'cuda:1'.",
    ),
    (
        "a device that is not there",
        lambda: config.set_device("cuda:99"),
        ValueError,
        f"set_device: there is no 'cuda:99'; torch finds {torch.cuda.device_count()} CUDA devices.",
    ),
    (
        "a wrong metric name",
        lambda: compiled(metrics=["acuracy"]),
        ValueError,
        (
            "Unknown metric function: 'acuracy'. Did you mean 'accuracy' or 'Accuracy' or "
            "'BinaryAccuracy'? An object of your own is found when it is passed in `custom_objects` "
            "or put into a CustomObjectScope."
        ),
    ),
    (
        "a metric without its list",
        lambda: compiled(metrics="accuracy"),
        TypeError,
        "compile: metrics must be a list or a dictionary, such as ['accuracy']; found 'accuracy'.",
    ),
    (
        "a wrong option",
        lambda: Dense(3, input_dims=4),
        TypeError,
        (
            "Dense: unknown option 'input_dims'. Its options are units, activation, use_bias, "
            "kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer, "
            "activity_regularizer, kernel_constraint, bias_constraint, name, trainable, dtype, "
            "input_shape, batch_input_shape."
        ),
    ),
    (
        "a wrong layer name",
        lambda: compiled().get_layer("dense_7"),
        ValueError,
        "No such layer: 'dense_7'. The layers are out.",
    ),
    # --- before there is something
    (
        "fit before compile",
        lambda: Sequential([Dense(3, input_shape=(4,))], name="model").fit(X, Y),
        RuntimeError,
        "You must compile the model 'model' before training or testing: `model.compile(optimizer, loss)`.",
    ),
    (
        "get_weights before a shape is known",
        lambda: unbuilt().get_weights(),
        RuntimeError,
        (
            "Sequential 'model' has no graph yet: its first layer needs an input_shape, or call the "
            "model on data, or call build(input_shape)."
        ),
    ),
    (
        "save_weights before a shape is known",
        lambda: unbuilt().save_weights("model.weights.h5"),
        RuntimeError,
        (
            "Sequential 'model' has no graph yet: its first layer needs an input_shape, or call the "
            "model on data, or call build(input_shape)."
        ),
    ),
    (
        "summary before a shape is known",
        lambda: unbuilt().summary(),
        RuntimeError,
        (
            "Sequential 'model' has no graph yet: its first layer needs an input_shape, or call the "
            "model on data, or call build(input_shape)."
        ),
    ),
    (
        "outputs before a shape is known",
        lambda: unbuilt().output,
        RuntimeError,
        (
            "Sequential 'model' has no graph yet: its first layer needs an input_shape, or call the "
            "model on data, or call build(input_shape)."
        ),
    ),
    (
        "set_weights before the first call",
        lambda: Dense(3, name="out").set_weights([np.ones((4, 3)), np.ones(3)]),
        ValueError,
        (
            "out: set_weights was given 2 arrays; the layer has none before it is built: call it on "
            "data, or build(input_shape), first."
        ),
    ),
    (
        "a kernel before the first call",
        lambda: Dense(3, name="out").kernel,
        AttributeError,
        "out: kernel is made when the layer is first called. Call it before, or build it.",
    ),
    # --- targets
    (
        "one-hot rows for class numbers",
        lambda: compiled("sparse_categorical_crossentropy", "softmax").fit(X, ONE_HOT),
        ValueError,
        (
            "Error when checking target: expected out to have shape (1,) but got array with shape "
            "(3,). The loss takes class numbers: give y.argmax(-1), or use categorical_crossentropy "
            "for one-hot rows."
        ),
    ),
    (
        "class numbers for one-hot rows",
        lambda: compiled("categorical_crossentropy", "softmax").fit(X, LABELS),
        ValueError,
        (
            "Error when checking target: expected out to have shape (3,) but got array with shape "
            "(1,). categorical_crossentropy takes one-hot rows, of shape (samples, classes): make "
            "them with torchkeras.utils.to_categorical, or use the loss sparse_categorical_crossentropy, "
            "which takes the class numbers themselves."
        ),
    ),
    (
        "classes counted from 1",
        lambda: compiled("sparse_categorical_crossentropy", "softmax").fit(X, LABELS + 1),
        ValueError,
        (
            "Output 'out': sparse_categorical_crossentropy takes class numbers from 0 to 2; found "
            "labels from 1 to 3. Count the classes from 0, and give the last layer a unit for each."
        ),
    ),
    (
        "one unit for several classes",
        lambda: compiled("sparse_categorical_crossentropy", "sigmoid", 1).fit(X, LABELS),
        ValueError,
        (
            "Output 'out': sparse_categorical_crossentropy takes class numbers from 0 to 0; found "
            "labels from 0 to 2. For two classes give the last layer 2 units, or use a sigmoid and "
            "binary_crossentropy."
        ),
    ),
    (
        "too few units for the classes",
        lambda: compiled("categorical_crossentropy", "softmax", 2).fit(X, ONE_HOT),
        ValueError,
        (
            "Error when checking target: expected out to have shape (2,) but got array with shape "
            "(3,). Give the last layer a unit for each class, which are 3."
        ),
    ),
    (
        "two columns for one unit",
        lambda: compiled("binary_crossentropy", "sigmoid", 1).fit(X, ONE_HOT[:, :2]),
        ValueError,
        (
            "Error when checking target: expected out to have shape (1,) but got array with shape "
            "(2,). Give the last layer 2 units, or y the shape (samples, 1)."
        ),
    ),
    (
        "class numbers for several units",
        lambda: compiled("binary_crossentropy", "sigmoid").fit(X, LABELS),
        ValueError,
        (
            "Error when checking target: expected out to have shape (3,) but got array with shape "
            "(1,). Give the last layer 1 unit, or use sparse_categorical_crossentropy if y holds "
            "class numbers."
        ),
    ),
    (
        "labels -1 and 1",
        lambda: compiled("binary_crossentropy", "sigmoid", 1).fit(X, LABELS % 2 * 2 - 1),
        ValueError,
        (
            "Output 'out': binary_crossentropy takes targets from 0 to 1; found -1 to 1. Give labels "
            "-1 and 1 as (y + 1) / 2, and other values scaled; more than two classes take "
            "sparse_categorical_crossentropy and a unit for each."
        ),
    ),
    (
        "a softmax over one unit",
        lambda: compiled("binary_crossentropy", "softmax", 1).fit(X, LABELS % 2),
        ValueError,
        (
            "fit: the output 'out' is a softmax over one unit, which is always 1: nothing can be "
            "learned. Use activation='sigmoid', or a unit for each class."
        ),
    ),
    (
        "no Flatten",
        lambda: (model := images(28, 28, 3)).compile("sgd", "mse") or model.fit(IMAGES, Y[:2]),
        ValueError,
        (
            "Error when checking target: expected stem to have 4 dimensions, but got array with shape "
            "(2, 3). The model gives more than one row for a sample: put a Flatten or a global "
            "pooling into it."
        ),
    ),
    (
        "y of another length",
        lambda: compiled().fit(X, Y[:9]),
        ValueError,
        (
            "Input arrays should have the same number of samples as target arrays. Found 10 input "
            "samples and 9 target samples."
        ),
    ),
    # --- masks and weights of samples
    (
        "a mask of another length",
        lambda: LSTM(3, name="l")(torch.zeros(2, 5, 4), mask=torch.ones(2, 4, dtype=torch.bool)),
        ValueError,
        (
            "LSTM 'l': the mask must have the shape (2, 5), a value for each time step of the input "
            "(2, 5, 4); found (2, 4)."
        ),
    ),
    (
        "a mask of numbers",
        lambda: LSTM(3, name="l")(torch.zeros(2, 5, 4), mask=torch.ones(2, 5)),
        ValueError,
        "LSTM 'l': the mask must be of torch.bool; found torch.float32: give mask.bool().",
    ),
    (
        "weights of another length",
        lambda: compiled().fit(X, Y, sample_weight=np.ones(9)),
        ValueError,
        "Output 'out': sample_weight of shape (9,) does not fit a target of shape (10, 3): give it the shape (10,).",
    ),
    (
        "weights for each value",
        lambda: compiled().fit(X, Y, sample_weight=np.ones((10, 3))),
        ValueError,
        (
            "Output 'out': sample_weight must have 1 axes under sample_weight_mode None; found shape "
            "(10, 3). sample_weight_mode='temporal' in compile() takes a weight for each time step."
        ),
    ),
    (
        "a class without a weight",
        lambda: compiled("sparse_categorical_crossentropy", "softmax").fit(X, LABELS, class_weight={0: 1.0}),
        ValueError,
        "Output 'out': class_weight has no weight for the classes [1, 2] of the targets. Give each one.",
    ),
    # --- graphs
    (
        "an Input that is missing",
        lambda: between(A, Add()([A, B])),
        ValueError,
        (
            "Graph disconnected: cannot obtain value for tensor <KerasTensor 'b' shape=(?, 4) "
            "dtype=float32> at layer 'b'. It is not among the model's inputs. The following previous "
            "layers were accessed without issue: ['a']. Add this Input to the model's inputs: "
            "Model(inputs=[..., b], outputs=...)."
        ),
    ),
    (
        "outputs of another Input",
        lambda: between(A, Dense(3)(B)),
        ValueError,
        (
            "Graph disconnected: cannot obtain value for tensor <KerasTensor 'b' shape=(?, 4) "
            "dtype=float32> at layer 'b'. It is not among the model's inputs. The following previous "
            "layers were accessed without issue: []. Add this Input to the model's inputs: "
            "Model(inputs=[..., b], outputs=...)."
        ),
    ),
    (
        "a name given twice",
        lambda: twice_named(),
        ValueError,
        (
            "The name 'same' is used 2 times in the model. All layer names should be unique: give "
            "each layer a name of its own, or none."
        ),
    ),
    (
        "data for an Input",
        lambda: between(torch.zeros(2, 4), Dense(3)(A)),
        TypeError,
        (
            "Model 'model': inputs must be symbolic tensors, the outputs of layers; found Tensor. "
            "Begin with Input(shape)."
        ),
    ),
    (
        "a layer for its output",
        lambda: between(A, Dense(3)),
        TypeError,
        (
            "Model 'model': outputs must be symbolic tensors, the outputs of layers; found Dense. "
            "Call the layer on a symbolic tensor and give its output."
        ),
    ),
    (
        "a layer given to a layer",
        lambda: Dense(3, name="out")(Dense(4)),
        TypeError,
        (
            "Dense 'out' takes torch tensors; found Dense. Call that layer first, and give its "
            "output: Dense(...)(Dense(...)(x))."
        ),
    ),
    (
        "a list of layers for a Model",
        lambda: Model([Dense(3), Dense(2)]),
        TypeError,
        (
            "Model: a model is made of inputs and outputs, or is of a class with a `call` or "
            "`forward` of its own; found no outputs. Sequential makes a model of a list of layers."
        ),
    ),
    (
        "layers without a list",
        lambda: Sequential(Dense(3), Dense(2)),  # type: ignore[arg-type]
        TypeError,
        "Sequential takes its layers in one list: Sequential([first, second]).",
    ),
    (
        "a class for a layer",
        lambda: Sequential([Dense]),
        TypeError,
        (
            "The added layer must be an instance of class Layer. Found: <class "
            "'torchkeras.layers.core.Dense'> (type). Make a layer of the class: Dense(...)."
        ),
    ),
    (
        "a torch module on a symbolic tensor",
        lambda: torch.nn.Linear(4, 3)(A),
        TypeError,
        (
            "Linear is a module of torch and was called on a symbolic tensor. Make it a layer, which "
            "owns its weights and follows the mode: torchkeras.layers.TorchModule(module)(tensor), "
            "where module is the Linear."
        ),
    ),
    (
        "a condition on a symbolic tensor",
        lambda: bool(A > 0),
        TypeError,
        (
            "<KerasTensor 'operation_gt_1' shape=(?, 4) dtype=bool> has no value yet, so it has no "
            "truth value: a graph cannot branch on it. Use torch.where."
        ),
    ),
    # --- fit
    (
        "validation_split with a generator",
        lambda: compiled().fit(batches(), steps_per_epoch=1, validation_split=0.2),
        ValueError,
        (
            "validation_split 0.2 takes the last samples of arrays; a generator cannot be divided. "
            "Give the data to validate on as validation_data."
        ),
    ),
    (
        "a generator without steps",
        lambda: compiled().fit(batches()),
        ValueError,
        "fit: steps_per_epoch must be given with a generator: it does not say how many batches make an epoch.",
    ),
    (
        "y beside a generator",
        lambda: compiled().fit(batches(), Y, steps_per_epoch=1),
        ValueError,
        "fit: y cannot be given with a generator. Its batches bring their targets: (x, y) or (x, y, sample_weight).",
    ),
    (
        "negative epochs",
        lambda: compiled().fit(X, Y, epochs=-1),
        ValueError,
        "fit: epochs must be an integer of at least 0; found -1.",
    ),
    (
        "a batch size that is no integer",
        lambda: compiled().fit(X, Y, batch_size=2.5),
        ValueError,
        "fit: batch_size must be an integer of at least 1; found 2.5.",
    ),
    (
        "a callback class",
        lambda: compiled().fit(X, Y, callbacks=[callbacks.EarlyStopping]),
        TypeError,
        "callbacks: EarlyStopping is a class; give an object of it: EarlyStopping(...).",
    ),
    (
        "a function for a callback",
        lambda: compiled().fit(X, Y, callbacks=[len]),
        TypeError,
        (
            "callbacks: <built-in function len> is no callback: it has no hook, such as "
            "on_epoch_end(epoch, logs). Give one flat list of callbacks; a function becomes one by "
            "LambdaCallback(on_epoch_end=function)."
        ),
    ),
    (
        "validation inputs alone",
        lambda: compiled().fit(X, Y, validation_data=X),
        ValueError,
        (
            "When passing validation_data, it must contain 2 (x_val, y_val) or 3 (x_val, y_val, "
            "val_sample_weights) items; found ndarray."
        ),
    ),
    (
        "a negative learning rate",
        lambda: optimizers.SGD(-0.1),
        ValueError,
        "SGD: lr must be a number of at least 0; found -0.1.",
    ),
    (
        "dropout in percent",
        lambda: layers.Dropout(50),
        ValueError,
        "Dropout: rate must be a number from 0 to below 1; found 50.",
    ),
    (
        "a loss without a mean",
        lambda: compiled(losses.Huber(reduction="none")),
        ValueError,
        (
            "compile: the loss Huber has reduction 'none'; training minimizes one number: choose "
            "'sum_over_batch_size', 'sum' or 'mean'."
        ),
    ),
    # --- weights and files
    (
        "a transposed kernel",
        lambda: compiled().set_weights([np.ones((3, 4)), np.ones(3)]),
        ValueError,
        (
            "model: weight 'out/kernel:0' has shape (4, 3); the array given for it has shape (3, 4). "
            "Give arrays as get_weights() does, kernels as (inputs, units)."
        ),
    ),
    (
        "a kernel without its bias",
        lambda: compiled().set_weights([np.ones((4, 3))]),
        ValueError,
        "model: set_weights was given 1 arrays; the layer has 2 weights: out/kernel:0, out/bias:0.",
    ),
    (
        "weights of another architecture",
        lambda: compiled().load_weights(weights_of(compiled(units=5), "other.weights.h5")),
        ValueError,
        (
            "other.weights.h5: layer 'out' (Dense): weight 'out/kernel:0' has shape (4, 3); "
            "/layers/dense/vars/0 in the file has shape (4, 5). Build the model as it was when its "
            "weights were saved."
        ),
    ),
    (
        "load_model of weights",
        lambda: models.load_model(weights_of(compiled(), "only.weights.h5")),
        ValueError,
        (
            "only.weights.h5: there is no 'model_config' in it. A file of weights alone is read by "
            "`model.load_weights` of a model built by code."
        ),
    ),
    (
        "a class of one's own in a file",
        lambda: models.load_model(saved(Sequential([Mine(input_shape=(4,))]), "mine.h5")),
        ValueError,
        (
            "mine.h5: Unknown layer: 'Mine'. Did you mean 'Cosine'? An object of your own is found "
            "when it is passed in `custom_objects` or put into a CustomObjectScope."
        ),
    ),
    # --- layers of one's own
    (
        "no super().__init__",
        lambda: WithoutSuper(3)(A),
        AttributeError,
        "WithoutSuper has no 'name' yet: its __init__ must call super().__init__(**options).",
    ),
    (
        "a weight made in call",
        lambda: WeightInCall(name="layer")(A),
        ValueError,
        (
            "WeightInCall 'layer' cannot compute on input shape (None, 4): it makes the weight 'scale', and each call "
            "another. Make weights in __init__ or build."
        ),
    ),
    (
        "NumPy in call",
        lambda: ByNumPy(name="layer")(A),
        TypeError,
        (
            "ByNumPy 'layer' cannot compute on input shape (None, 4): its code looks at values, and shapes are found "
            "without any. Compute with torch alone: torch.tanh(x) and not np.tanh(x), torch.where(x > 0, a, b) and not "
            "`if`, no .item() and .numpy(). Or write compute_output_shape."
        ),
    ),
    (
        "a question about values in call",
        lambda: ByValue(name="layer")(A),
        ValueError,
        (
            "ByValue 'layer' cannot compute on input shape (None, 4): its code looks at values, and shapes are found "
            "without any. Compute with torch alone: torch.tanh(x) and not np.tanh(x), torch.where(x > 0, a, b) and not "
            "`if`, no .item() and .numpy(). Or write compute_output_shape."
        ),
    ),
    (
        "a function for a layer",
        lambda: Sequential([len]),
        TypeError,
        (
            "The added layer must be an instance of class Layer. Found: <built-in function len> "
            "(builtin_function_or_method). A function becomes a layer by Lambda(function)."
        ),
    ),
    # --- files
    (
        "a path for the text of an architecture",
        lambda: models.model_from_json("model.json"),
        ValueError,
        "model_from_json takes the text of an architecture; found a path. Give open('model.json').read().",
    ),
    (
        "a folder that is not there",
        lambda: compiled().save("nowhere/model.h5"),
        FileNotFoundError,
        "[Errno 2] There is no folder nowhere: 'nowhere/model.h5'",
    ),
    (
        "a target of an output without a loss",
        lambda: one_loss_of_two().fit(X, {"a": Y, "b": Y}),
        ValueError,
        (
            "Error when checking model target: no target is called 'b'; there are ['a']. Each output that compile gave "
            "a loss has one."
        ),
    ),
    (
        "a file that is not there",
        lambda: models.load_model("nothing.h5"),
        FileNotFoundError,
        "nothing.h5: there is no such file.",
    ),
]


def steps(loss: str, units: int) -> Any:
    """A model that gives numbers for each step."""
    model = Sequential([LSTM(4, return_sequences=True, input_shape=(5, 2)), Dense(units, "sigmoid", name="out")])
    model.compile("sgd", loss)
    return model


def test_a_layer_in_an_attribute_is_said_to_be_lost(tmp_path):
    model = Sequential([Dense(3, input_shape=(4,), name="out")], name="m")
    model.words = layers.TextVectorization(vocabulary=["a"])
    model.part = Sequential([model.layers[0]])  # of a layer of the model: nothing is lost
    text = (
        "Sequential 'm': the graph does not call the layers in its attributes words, so they are in no config or file. "
        "load_model then makes a model without them, and refuses weights of theirs: save such a layer by itself."
    )
    with pytest.warns(UserWarning, match=f"^{re.escape(text)}$"):
        model.save(tmp_path / "m.keras")


def test_warn_is_what_fit_does():
    model = Sequential([Dense(1, input_shape=(4,))])
    model.compile("sgd", "mse", on_nonfinite="warn")
    with pytest.warns(LikelyMistakeWarning, match="the loss is nan from epoch 1 on"):
        model.fit(np.full((2, 4), np.nan, "float32"), np.ones((2, 1)), verbose=0)
    with pytest.raises(ValueError, match=r"^compile: on_nonfinite must be None or 'warn', .*; found 'ignore'\."):
        model.compile("sgd", "mse", on_nonfinite="ignore")


@pytest.fixture(autouse=True)
def _names_from_1():
    clear_session()


@pytest.mark.parametrize(("act", "kind", "message"), [row[1:] for row in MISTAKES], ids=[row[0] for row in MISTAKES])
def test_the_message_says_what_to_do(act, kind, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(kind) as error:
        act()
    assert str(error.value) == message


def test_classes_that_a_loss_of_torch_passes_over():
    ignoring = torch.nn.CrossEntropyLoss(ignore_index=7)
    partly = partial(torch.nn.functional.cross_entropy, ignore_index=7)
    for loss, none in ((torch.nn.CrossEntropyLoss(), -100), (ignoring, 7), (partly, 7)):
        labels = np.where(LABELS == 1, none, LABELS)
        assert np.isfinite(compiled(loss).fit(X, labels, verbose=0).history["loss"]).all()


def test_a_method_with_almost_the_name_of_a_hook():
    class Mine(callbacks.Callback):
        def on_epoch_ends(self, epoch, logs=None):
            pass

        def on_improvement(self):
            pass

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        compiled().fit(X, Y, verbose=0, callbacks=[Mine()])
    assert [str(each.message) for each in told] == [
        "callbacks: Mine.on_epoch_ends is no hook, and nothing calls it. Did you mean on_epoch_end?"
    ]


@pytest.mark.parametrize(
    "call", [lambda: layers.TorchModule(torch.nn.Linear(5, 3), name="layer")(A), lambda: A[:, :3] + A]
)
def test_what_torch_says_of_sizes_that_stand_for_unknown_ones(call):
    with pytest.raises(ValueError, match=r"cannot compute on input shape .*240, .* \(240 stands for None\.\)$"):
        call()
