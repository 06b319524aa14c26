"""Mistakes that train without an error: `fit` warns of each, once after `compile`, and of nothing that is right."""

import re
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from torchkeras import layers, losses, metrics
from torchkeras.errors import LikelyMistakeWarning
from torchkeras.models import Model, Sequential

RANDOM = np.random.default_rng(0)
X = RANDOM.random((16, 4), "float32")
FRACTIONS = RANDOM.random((16, 1), "float32")
BITS = np.arange(16).reshape(16, 1) % 2
CLASSES = np.arange(16) % 3
ONE_HOT = np.eye(3)[CLASSES]


def net(units: int, activation: Any = None, **options: Any) -> Any:
    return Sequential([layers.Dense(units, activation=activation, input_shape=(4,), name="out", **options)])


def apart(units: int, activation: str) -> Any:
    """With the activation in a layer of its own."""
    return Sequential([layers.Dense(units, input_shape=(4,)), layers.Activation(activation, name="out")])


def ended(units: int, end: Any) -> Any:
    """With a layer, a module or a function of torch behind its last layer."""
    inputs = layers.Input((4,))
    scores = layers.Dense(units)(inputs)
    return Model(
        inputs, layers.TorchModule(end)(scores) if type(end).__module__.startswith("torch.nn") else end(scores)
    )


def inside(units: int, activation: str) -> Any:
    """With a model as its last layer."""
    inputs = layers.Input((4,))
    return Model(inputs, Sequential([net(units, activation)], name="out")(inputs))


def warned(model: Any, x: Any, y: Any = None, times: int = 1, **options: Any) -> list[str]:
    """What `fit` warns of."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always", LikelyMistakeWarning)
        for _ in range(times):
            model.fit(x, y, verbose=0, **options)
    return [str(each.message) for each in found if issubclass(each.category, LikelyMistakeWarning)]


class Softmaxed(layers.Layer):
    """A user's layer that has another one, and computes more."""

    def __init__(self, layer: Any, **options: Any):
        super().__init__(**options)
        self.layer = layer

    def call(self, inputs: torch.Tensor) -> torch.Tensor:
        return torch.softmax(self.layer(inputs), -1)


AGAIN = "fit: the output 'out' ends in {}, and {} applies it again: it takes logits. Leave the last activation out"
OUTSIDE = "fit: the output 'out' ends in {}, which gives numbers outside of 0 to 1, but {} takes probabilities."


@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize(
    ("make", "loss", "y", "text"),
    [
        (lambda: net(3, "softmax"), nn.CrossEntropyLoss(), CLASSES, AGAIN.format("softmax", "CrossEntropyLoss")),
        (lambda: apart(3, "softmax"), nn.CrossEntropyLoss(), CLASSES, AGAIN.format("softmax", "CrossEntropyLoss")),
        (lambda: inside(3, "softmax"), nn.CrossEntropyLoss(), CLASSES, AGAIN.format("softmax", "CrossEntropyLoss")),
        *(
            (lambda end=end: ended(3, end), nn.CrossEntropyLoss(), CLASSES, "ends in softmax, and CrossEntropyLoss")
            for end in (layers.Softmax(), nn.Softmax(dim=-1), partial(torch.softmax, dim=-1))
        ),
        *(
            (lambda end=end: ended(1, end), nn.BCEWithLogitsLoss(), BITS, "ends in sigmoid, and BCEWithLogitsLoss")
            for end in (nn.Sigmoid(), torch.sigmoid)
        ),
        (lambda: net(1, "sigmoid"), nn.BCEWithLogitsLoss(), BITS, AGAIN.format("sigmoid", "BCEWithLogitsLoss")),
        (lambda: net(3, "softmax"), nn.NLLLoss(), CLASSES, "ends in softmax, but NLLLoss takes logarithms"),
        (
            lambda: net(3),
            "sparse_categorical_crossentropy",
            CLASSES,
            OUTSIDE.format("linear", "sparse_categorical_crossentropy"),
        ),
        (
            lambda: net(3, "softplus"),
            "categorical_crossentropy",
            ONE_HOT,
            OUTSIDE.format("softplus", "categorical_crossentropy"),
        ),
        (lambda: net(1, "tanh"), losses.BinaryCrossentropy(), BITS, OUTSIDE.format("tanh", "BinaryCrossentropy")),
        (lambda: inside(1, "tanh"), "binary_crossentropy", BITS, OUTSIDE.format("tanh", "binary_crossentropy")),
    ],
)
def test_activations_that_do_not_fit_the_loss(make: Callable[[], Any], loss: Any, y: Any, text: str, times: int):
    model = make()
    model.compile("sgd", loss)
    found = warned(model, X, y, times)
    assert len(found) == 1
    assert text in found[0]


def test_a_score_of_the_largest_of_one_output():
    for metric, text in (
        ("f1_score", "Give F1Score(threshold=0.5)."),
        (metrics.FBetaScore(), "Give FBetaScore(threshold=0.5)."),
        (metrics.F1Score(threshold=0.5), None),
    ):
        model = net(1, "sigmoid")
        model.compile("sgd", "binary_crossentropy", metrics=[metric])
        found = warned(model, X, BITS.astype("float32"))
        assert len(found) == (text is not None)
        assert text is None or found[0].endswith(text)


@pytest.mark.parametrize(
    ("make", "loss", "y"),
    [
        (lambda: net(3, "softmax"), "sparse_categorical_crossentropy", CLASSES),
        (lambda: net(1, "sigmoid"), "binary_crossentropy", BITS),
        (lambda: net(1, "hard_sigmoid"), "binary_crossentropy", BITS),
        (lambda: net(3), nn.CrossEntropyLoss(), CLASSES),
        (lambda: net(1), nn.BCEWithLogitsLoss(), BITS.astype("float32")),
        (lambda: net(3), losses.CategoricalCrossentropy(from_logits=True), ONE_HOT),
        (lambda: net(3, "log_softmax"), nn.NLLLoss(), CLASSES),
        (lambda: net(1, "tanh"), "mse", FRACTIONS),
        (lambda: net(1, "sigmoid"), "mse", BITS),
        (lambda: net(1, lambda x: x.sigmoid()), "binary_crossentropy", BITS),
        (
            lambda: Sequential([layers.Input((4,)), Softmaxed(layers.Dense(3))]),
            "sparse_categorical_crossentropy",
            CLASSES,
        ),
    ],
)
def test_activations_that_fit_the_loss(make: Callable[[], Any], loss: Any, y: Any):
    model = make()
    model.compile("sgd", loss)
    assert warned(model, X, y) == []


@pytest.mark.parametrize("metric", ["accuracy", "binary_accuracy"])
def test_accuracy_of_numbers_with_fractions(metric: str):
    model = net(1)
    model.compile("sgd", "mse", metrics=[metric])
    (text,) = warned(model, X, FRACTIONS)
    assert re.search(r"the metric '\w+' counts equal classes, but the targets of the output 'out' have fractions", text)
    model.compile("sgd", "mse", metrics=[metric])
    assert warned(model, X, BITS) == []


def test_accuracy_of_probabilities_of_classes():
    model = net(3, "softmax")
    model.compile("sgd", "mse", metrics=["accuracy"])
    assert warned(model, X, 0.9 * ONE_HOT + 0.1 / 3) == []
    model.compile("sgd", "mse", metrics=["accuracy"])
    assert len(warned(model, X, RANDOM.random((16, 3)))) == 1


def squares(true: torch.Tensor, predicted: torch.Tensor) -> torch.Tensor:
    return (true - predicted).square().mean()


@pytest.mark.parametrize("y", [FRACTIONS, FRACTIONS[:, 0]])
def test_a_loss_of_ones_own_that_spreads_numbers(y: Any):
    model = net(3)
    model.compile("sgd", squares)
    (text,) = warned(model, X, y)
    assert text == (
        "fit: the loss squares gets targets of the shape (None, 1) and outputs of (None, 3), and spreads the numbers "
        "of one over the other. Give both one shape."
    )


@pytest.mark.parametrize(
    ("units", "y"), [(1, FRACTIONS), (1, FRACTIONS[:, 0]), (3, CLASSES), (3, RANDOM.random((16, 3)))]
)
def test_a_loss_of_ones_own_that_fits(units: int, y: Any):
    model = net(units)
    model.compile("sgd", squares)
    assert warned(model, X, y) == []


@pytest.mark.parametrize(
    ("loss", "shapes"),
    [
        (lambda true, predicted: (true[:, 0] - predicted).square(), "(16,) and outputs of (16, 1)"),
        (lambda true, predicted: (true[:, 0] - predicted).abs().mean(), "(16,) and outputs of (16, 1)"),
        (lambda true, predicted: (2 * predicted.squeeze(-1) - true).square().mean(-1), "(16, 1) and outputs of (16,)"),
        (lambda true, predicted: torch.sub(true.flatten(), predicted).square(), "(16,) and outputs of (16, 1)"),
    ],
)
def test_a_loss_of_ones_own_in_which_each_target_meets_each_output(loss: Any, shapes: str):
    model = net(1)
    model.compile("sgd", loss)
    (text,) = warned(model, X, FRACTIONS)
    assert text == (
        f"fit: the loss <lambda> computes with targets of the shape {shapes}, so each target meets each output. "
        "Give both one shape."
    )
    assert warned(model, X, FRACTIONS) == []  # once


@pytest.mark.parametrize(
    "loss",
    [
        lambda true, predicted: (true[:, 0] - predicted[:, 0]).square(),
        # Differences of pairs: the targets among themselves, and the outputs.
        lambda true, predicted: ((true[:, 0] - true) - (predicted[:, 0] - predicted)).square().mean(-1),
        lambda true, predicted: (true @ predicted.T).square().mean(-1),
        torch.compile(lambda true, predicted: (true - predicted).square(), backend="eager", fullgraph=True),
    ],
)
def test_a_loss_of_ones_own_that_means_pairs(loss: Any):
    model = net(1)
    model.compile("sgd", loss)
    assert warned(model, X, FRACTIONS) == []


IMAGES = RANDOM.random((4, 3, 16, 16), "float32")


def ends() -> list[Any]:
    return [layers.GlobalAveragePooling2D(), layers.Dense(1)]


@pytest.mark.parametrize(
    "made",
    [
        lambda: Sequential([layers.Conv2D(2, 3, name="conv", input_shape=(3, 16, 16)), *ends()]),
        lambda: Sequential([layers.Conv2D(2, 3, name="conv"), *ends()]),  # the data has the shape
        lambda: Sequential([layers.Rescaling(2.0), layers.MaxPooling2D(1, name="conv"), *ends()]),
    ],
)
def test_images_with_the_channels_at_axis_1(made: Any):
    model = made()
    model.compile("sgd", "mse")
    (text,) = warned(model, IMAGES, np.zeros((4, 1)), times=2)
    assert text == (
        "fit: the layer 'conv' takes its input of the shape (None, 3, 16, 16) for images of 3 by 16 pixels with 16 "
        "channels. If the channels come first, pass data_format='channels_first' to the layers, or put "
        "Permute((2, 3, 1)) before them."
    )


@pytest.mark.parametrize(
    ("shape", "options"), [((3, 16, 16), {"data_format": "channels_first"}), ((16, 16, 3), {}), ((3, 5, 16), {})]
)
def test_images_as_the_layer_takes_them(shape: Any, options: Any):
    first = layers.Conv2D(2, 3, **options)
    model = Sequential([first, layers.Flatten(), layers.Dense(1)])
    model.compile("sgd", "mse")
    assert warned(model, np.zeros((4, *shape)), np.zeros((4, 1))) == []


NEGATIVE = "the sample weights of the output 'out' have negative numbers"
NUMBERED = "the sample weights of the output 'out' are different whole numbers"


@pytest.mark.parametrize(
    ("weights", "text"),
    [
        (-np.ones(16), NEGATIVE),
        (np.arange(16.0), NUMBERED),
        (np.ones(16), ""),
        (np.arange(16) % 4, ""),
        (RANDOM.random(16), ""),
    ],
)
@pytest.mark.parametrize("streamed", [False, True])
def test_weights(weights: Any, text: str, streamed: bool):
    model = net(1)
    model.compile("sgd", "mse")
    if streamed:
        batches = [tuple(map(torch.as_tensor, (X, FRACTIONS, weights.astype("float32"))))] * 2
        found = warned(model, iter(batches), steps_per_epoch=2)
    else:
        found = warned(model, X, FRACTIONS, sample_weight=weights)
    assert len(found) == bool(text)
    assert text in "".join(found)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("what", ["input", "target"])
def test_a_loss_that_is_not_finite_for_the_data(bad: float, what: str):
    x, y = X.copy(), FRACTIONS.copy()
    (x if what == "input" else y)[[3, 5], 0] = bad
    model = net(1)
    model.compile("sgd", "mse")
    (text,) = warned(model, x, y, epochs=2)
    name = model.input_names[0] if what == "input" else "out"
    assert re.fullmatch(
        rf"fit: the loss is (nan|inf) from epoch 1 on\. The {what} '{name}' has nan or infinity in 2 of 16 samples, "
        r"first in number 3\.",
        text,
    )


@pytest.mark.parametrize("reaction", [None, "raise"])
def test_a_loss_of_a_validation_that_is_not_finite(reaction: str | None):
    model, spoiled = net(1), X.copy()
    spoiled[3, 0] = np.nan
    model.compile("sgd", "mse", on_nonfinite=reaction)
    (text,) = warned(model, X, FRACTIONS, validation_data=(spoiled, FRACTIONS), epochs=2)
    assert text == (
        f"fit: the val_loss is nan. The validation input '{model.input_names[0]}' has nan or infinity in 1 of 16 "
        "samples, first in number 3."
    )
    model.compile("sgd", "mse")
    batches = [(torch.full((4, 4), torch.nan), torch.ones(4, 1))]
    (text,) = warned(model, X, FRACTIONS, validation_data=iter(batches), validation_steps=1)
    assert text == "fit: the val_loss is nan. Look for such numbers in the validation data."
    model.compile("sgd", "mse")
    (text,) = warned(model, spoiled, FRACTIONS, validation_split=0.5)
    assert text.startswith("fit: the loss is nan from epoch 1 on. The input ")


def test_an_input_of_one_axis_that_is_not_finite():
    inputs = layers.Input((), name="number")
    model = Model(inputs, layers.Dense(1, name="out")(layers.Reshape((1,))(inputs)))
    model.compile("sgd", "mse")
    (text,) = warned(model, np.array([1, 2, np.nan, 4], "float32"), np.ones((4, 1)))
    assert text.endswith("The input 'number' has nan or infinity in 1 of 4 samples, first in number 2.")


def test_a_loss_that_grows_without_end():
    model = net(1)
    model.compile("sgd", "mse")
    model.optimizer.lr = 1e20
    (text,) = warned(model, X, FRACTIONS, epochs=5, batch_size=4)
    assert re.match(r"fit: the loss is (nan|inf) from epoch \d on\. The data is finite: a lower learning rate", text)
    model.compile("sgd", "mse", on_nonfinite="skip")
    assert warned(model, X, FRACTIONS) == []


def test_a_loss_of_streamed_data_that_is_not_finite():
    model = net(1)
    model.compile("sgd", "mse")
    batches = [(torch.full((4, 4), torch.nan), torch.ones(4, 1))] * 2
    (text,) = warned(model, iter(batches), steps_per_epoch=2)
    assert text == (
        "fit: the loss is nan from epoch 1 on. Look for such numbers in the data; compile(on_nonfinite='raise') stops "
        "at the first."
    )


def test_the_warning_can_be_turned_off_and_points_at_the_call():
    model = net(3)
    model.compile("sgd", "sparse_categorical_crossentropy")
    with pytest.warns(LikelyMistakeWarning) as found:
        model.fit(X, CLASSES, verbose=0)
    assert found[0].filename == __file__
    model.compile("sgd", "sparse_categorical_crossentropy")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", category=LikelyMistakeWarning)
        model.fit(X, CLASSES, verbose=0)


COMPARES = (
    "fit: the metric '{}' compares the class numbers of the output 'out' with each of its 3 scores. "
    "Take 'accuracy', or one-hot targets with their loss."
)


@pytest.mark.parametrize("metric", ["mae", metrics.mean_absolute_error])
@pytest.mark.filterwarnings("ignore:Using a target size")  # torch's, of the same
def test_a_distance_between_class_numbers_and_scores(metric: Any):
    model = net(3, "softmax")
    model.compile("sgd", "sparse_categorical_crossentropy", metrics=[metric])
    assert warned(model, X, CLASSES, times=2) == [COMPARES.format("mean_absolute_error")]


@pytest.mark.filterwarnings("ignore:Using a target size")
def test_the_warning_comes_before_the_error_of_shapes():
    model = net(3)
    model.compile("sgd", nn.CrossEntropyLoss(), metrics=["mae"])
    with (
        pytest.warns(LikelyMistakeWarning, match=re.escape(COMPARES.format("mean_absolute_error"))),
        pytest.raises(RuntimeError, match="must match the size"),
    ):
        model.fit(X, CLASSES, verbose=0)


def test_a_distance_that_compares_like_with_like():
    model = net(3, "softmax")
    model.compile("sgd", "categorical_crossentropy", metrics=["mae"])
    assert not warned(model, X, ONE_HOT)
