"""What cannot be meant by `compile`, `fit`, `evaluate` or `predict` is refused, with what was expected and found."""

import re
from typing import Any

import numpy as np
import pytest
import torch

from torchkeras import Input, Model, Sequential, losses
from torchkeras.callbacks import History
from torchkeras.layers import LSTM, Dense

X, Y = np.ones((10, 4), "float32"), np.ones((10, 3), "float32")
LABELS = np.arange(10) % 3


def model(loss: Any = "mse", activation=None, **options) -> Any:  # Any: what follows calls it wrongly on purpose
    inputs = Input((4,), name="features")
    made = Model(inputs, Dense(3, activation=activation, name="out")(inputs))
    made.compile("sgd", loss, **options)
    return made


def two_outputs(loss: Any = "mse", **options) -> Any:
    inputs = Input((4,))
    made = Model(inputs, [Dense(2, name="left")(inputs), Dense(3, name="right")(inputs)])
    made.compile("sgd", loss, **options)
    return made


def classifier(loss="sparse_categorical_crossentropy"):
    return model(loss, "softmax")


OWN = " An object of your own is found when it is passed in `custom_objects` or put into a CustomObjectScope."
SUBCLASS = "give a name, a config or an instance of a subclass of torchkeras.optimizers.Optimizer."
NO_LOSS = "compile: the model has no loss to optimize: give compile a `loss`, or the model one with `add_loss`."
OUTPUTS = "the model has 2 outputs: left, right."
COMPILE = [
    (lambda: model().compile("sdg", "mse"), f"Unknown optimizer: 'sdg'. Did you mean 'sgd'?{OWN}"),
    (lambda: model("mxe"), f"Unknown loss function: 'mxe'. Did you mean 'mse' or 'mae'?{OWN}"),
    (lambda: model(metrics=["xyz"]), f"Unknown metric function: 'xyz'.{OWN}"),
    (lambda: model(None), NO_LOSS),
    (lambda: two_outputs([None, None]), NO_LOSS),
    (
        lambda: model(losses.Huber(reduction="none")),
        (
            "compile: the loss Huber has reduction 'none'; training minimizes one number: choose "
            "'sum_over_batch_size', 'sum' or 'mean'."
        ),
    ),
    (
        lambda: model(target_tensors=[Input((3,))]),
        "compile: target_tensors must be arrays or tensors; found a symbolic tensor.",
    ),
    (
        lambda: model(on_nonfinite="ignore"),
        "compile: on_nonfinite must be None or 'warn', 'stop', 'skip' or 'raise'; found 'ignore'.",
    ),
    (lambda: two_outputs(["mse"]), f"compile: loss has 1 entries; {OUTPUTS}"),
    (lambda: two_outputs({"lef": "mse"}), "compile: loss names the output 'lef'; the outputs are left, right."),
    (lambda: two_outputs(loss_weights=[1, 2, 3]), f"compile: loss_weights has 3 entries; {OUTPUTS}"),
    (
        lambda: two_outputs(loss_weights={"up": 1}),
        "compile: loss_weights names the output 'up'; the outputs are left, right.",
    ),
    (
        lambda: two_outputs(loss_weights=2),
        "compile: loss_weights must be a list or a dictionary for several outputs; found 2.",
    ),
    (
        lambda: two_outputs(loss_weights=["1", 1]),
        "compile: loss_weights must hold finite numbers; found '1'.",
    ),
    (lambda: two_outputs(metrics=[["mae"]]), f"compile: metrics has 1 entries; {OUTPUTS}"),
    (
        lambda: two_outputs(metrics={"up": "mae"}),
        "compile: metrics names the output 'up'; the outputs are left, right.",
    ),
    (
        lambda: two_outputs(weighted_metrics={"up": "mae"}),
        "compile: weighted_metrics names the output 'up'; the outputs are left, right.",
    ),
    (
        lambda: model(sample_weight_mode="time"),
        "compile: sample_weight_mode must be None or 'temporal'; found 'time'.",
    ),
    (
        lambda: two_outputs(sample_weight_mode={"up": "temporal"}),
        "compile: sample_weight_mode names the output 'up'; the outputs are left, right.",
    ),
]


def test_a_hook_that_training_does_not_call():
    made, called = model(), []
    made.out.linear.weight.register_post_accumulate_grad_hook(called.append)
    text = (
        "The parameter 'out.linear.weight' has a hook of register_post_accumulate_grad_hook, which this training does "
        "not call: it leaves no gradient in `grad`. Use register_hook, or a train_step with loss.backward()."
    )
    with pytest.warns(UserWarning, match=f"^{re.escape(text)}$"):
        made.fit(X, Y, verbose=0)
    assert not called


@pytest.mark.parametrize(("act", "message"), COMPILE)
def test_compile_refuses(act, message):
    with pytest.raises(ValueError) as error:  # noqa: PT011  # the whole text is compared below
        act()
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (
            lambda: model(metrics="accuracy"),
            "compile: metrics must be a list or a dictionary, such as ['accuracy']; found 'accuracy'.",
        ),
        (lambda: model(3), "Could not interpret 3 as a loss function: give a name, a config or a callable."),
        (
            lambda: model().compile(None, "mse"),
            f"Could not interpret None as an optimizer: {SUBCLASS}",
        ),
    ],
)
def test_compile_refuses_other_types(act, message):
    with pytest.raises(TypeError) as error:
        act()
    assert str(error.value) == message


def test_a_refused_loss_is_no_part_of_the_model():
    made = model()
    keys = list(made.state_dict())
    with pytest.raises(ValueError, match="the loss Linear has a parameter 'weight' of its own"):
        made.compile("sgd", torch.nn.Linear(1, 1))
    assert list(made.state_dict()) == keys
    with pytest.raises(ValueError, match="the loss Linear has a parameter 'weight' of its own"):
        made.fit(X, Y)


@pytest.mark.parametrize(
    "act",
    [
        lambda made: made.fit(X, Y),
        lambda made: made.evaluate(X, Y),
        lambda made: made.train_on_batch(X, Y),
        lambda made: made.test_on_batch(X, Y),
    ],
)
def test_a_model_that_is_not_compiled(act):
    inputs = Input((4,))
    with pytest.raises(RuntimeError) as error:
        act(Model(inputs, Dense(3)(inputs), name="fresh"))
    assert str(error.value) == (
        "You must compile the model 'fresh' before training or testing: `model.compile(optimizer, loss)`."
    )


# --- data ------------------------------------------------------------------------------------------------------------

GIVE = "Give an array of shape (samples, 4), or make the model's Input for the shape of the data."
RANK = f"Error when checking input: expected features to have 2 dimensions, but got array with shape (10, 1, 4). {GIVE}"
SIZE = f"Error when checking input: expected features to have shape (4,) but got array with shape (3,). {GIVE}"
SAMPLE = (
    "Error when checking input: expected features to have shape (4,) but got array with shape (1,). It has no axis of "
    "samples: give x[None] for one sample, or leave that axis out of the Input's shape."
)
JOIN = "A list or tuple has an array for each {}: join samples by np.array"
INPUTS = [
    (X[:, None], ValueError, RANK),
    (X[:, :3], ValueError, SIZE),
    (X[0], ValueError, SAMPLE),
    (None, ValueError, "Error when checking model input: expected data for 'features', but got None. Give x."),
    ({"other": X}, ValueError, "No data provided for \"features\". Need data for each key in: ['features']"),
    (
        [X, X],
        ValueError,
        (
            "Error when checking model input: expected 1 array(s), for 'features', but got 2: (10, 4), (10, 4). "
            f"{JOIN.format('input')}, and give targets as y."
        ),
    ),
    (X[:0], ValueError, "The data has no samples."),
]


@pytest.mark.parametrize(("x", "kind", "message"), INPUTS)
def test_inputs_that_do_not_fit(x, kind, message):
    made = model()
    y = Y if x is None or not hasattr(x, "__len__") else Y[: len(x)]
    for act in (
        lambda: made.fit(x, y),
        lambda: made.evaluate(x, y),
        lambda: made.predict(x),
        lambda: made.train_on_batch(x, y),
        lambda: made.test_on_batch(x, y),
        lambda: made.predict_on_batch(x),
    ):
        with pytest.raises(kind) as error:
            act()
        assert str(error.value) == message


@pytest.mark.parametrize("act", [Sequential.fit, Sequential.predict])
def test_an_empty_generator_for_a_sequential_that_is_not_built(act):
    made = Sequential([Dense(3)], name="unbuilt")
    made.compile("sgd", "mse")
    with pytest.raises(ValueError, match=r"^No batches came from a generator\.$"):
        act(made, (x for x in []), **{"steps_per_epoch" if act is Sequential.fit else "steps": 1})


CLASSES = "Output 'out': sparse_categorical_crossentropy takes class numbers from 0 to 2; found labels from"
COUNT = "Count the classes from 0, and give the last layer a unit for each."
LENGTHS = "Input arrays should have the same number of samples as target arrays."
ONE_HOT = (
    "categorical_crossentropy takes one-hot rows, of shape (samples, classes): make them with "
    "torchkeras.utils.to_categorical, or use the loss sparse_categorical_crossentropy, which takes the class numbers "
    "themselves."
)
TARGETS = [
    (
        model,
        None,
        "Error when checking model target: expected data for 'out', but got None. Give the targets as y.",
    ),
    (
        model,
        Y[:, :2],
        (
            "Error when checking target: expected out to have shape (3,) but got array with shape (2,). "
            "Give the last layer 2 units, or y the shape (samples, 3)."
        ),
    ),
    (
        model,
        LABELS,
        (
            "Error when checking target: expected out to have shape (3,) but got array with shape (1,). "
            "Give the last layer 1 unit, or use sparse_categorical_crossentropy if y holds class numbers."
        ),
    ),
    (
        model,
        Y[None],
        (
            "Error when checking target: expected out to have 2 dimensions, but got array with shape (1, 10, 3). "
            "Give y the shape (samples, 3)."
        ),
    ),
    (model, {"other": Y}, "No data provided for \"out\". Need data for each key in: ['out']"),
    (
        model,
        Y[:9],
        f"{LENGTHS} Found 10 input samples and 9 target samples.",
    ),
    (
        two_outputs,
        [Y[:, :2], Y[:8]],
        "All target arrays (y) should have the same number of samples. Got array shapes: [(10, 2), (8, 3)]",
    ),
    (
        two_outputs,
        Y,
        (
            "Error when checking model target: expected 2 array(s), for 'left', 'right', but got 1: (10, 3). "
            f"{JOIN.format('target')}."
        ),
    ),
    (classifier, LABELS + 1, f"{CLASSES} 1 to 3. {COUNT}"),
    (classifier, LABELS - 1, f"{CLASSES} -1 to 1. {COUNT}"),
    (classifier, LABELS + 0.5, "Output 'out': class numbers must be whole; found 0.5 among the labels."),
    (
        classifier,
        Y,
        (
            "Error when checking target: expected out to have shape (1,) but got array with shape (3,). The loss takes "
            "class numbers: give y.argmax(-1), or use categorical_crossentropy for one-hot rows."
        ),
    ),
    (
        lambda: classifier("categorical_crossentropy"),
        LABELS,
        f"Error when checking target: expected out to have shape (3,) but got array with shape (1,). {ONE_HOT}",
    ),
]


@pytest.mark.parametrize(("make", "y", "message"), TARGETS)
def test_targets_that_do_not_fit(make, y, message):
    made = make()
    for act in (made.fit, made.evaluate, made.train_on_batch, made.test_on_batch):
        with pytest.raises(ValueError) as error:  # noqa: PT011  # the whole text is compared below
            act(X, y)
        assert str(error.value) == message


def stateful():
    inputs = Input(batch_shape=(2, 3, 4))
    made = Model(inputs, LSTM(3, stateful=True)(inputs))
    made.compile("sgd", "mse")
    return made


STEPS = np.ones((10, 3, 4), "float32")
STATEFUL = (
    "In a stateful network, you should only pass inputs with a number of samples that can be divided by the batch size."
)
PARTS = "(x_val, y_val) or 3 (x_val, y_val, val_sample_weights)"
VALIDATION = f"When passing validation_data, it must contain 2 {PARTS} items"
OPTIONS = [
    (
        lambda: model().fit(X, Y, steps_per_epoch=0),
        "fit: steps_per_epoch must be an integer of at least 1; found 0.",
    ),
    (
        lambda: model().fit(X, Y, validation_steps=2),
        "fit: validation_steps goes with validation data; there is none.",
    ),
    (
        lambda: model().fit(X, Y, validation_freq=0),
        "fit: validation_freq must be a positive integer or a list of them; found 0.",
    ),
    (
        lambda: model(torch.nn.MSELoss()).fit(X, Y, sample_weight=np.ones(10)),
        (
            "The loss MSELoss gives one number a batch, so sample or class weights cannot enter it: make it with "
            "reduction='none'."
        ),
    ),
    (lambda: model().fit(X, Y, shuffle="yes"), "fit: shuffle must be True, False or 'batch'; found 'yes'."),
    (lambda: model().fit(X, Y, verbose=3), "verbose must be 0, 1 or 2; found 3."),
    (lambda: model().evaluate(X, Y, verbose=3), "verbose must be 0, 1 or 2; found 3."),
    (lambda: model().predict(X, verbose="bar"), "verbose must be 0, 1 or 2; found 'bar'."),
    (lambda: model().predict(X, verbose=[1]), "verbose must be 0, 1 or 2; found [1]."),
    (lambda: model().fit(X, Y, epochs=2.5), "fit: epochs must be an integer of at least 0; found 2.5."),
    (lambda: model().fit(X, Y, initial_epoch=-1), "fit: initial_epoch must be an integer of at least 0; found -1."),
    (lambda: model().fit(X, Y, validation_data=(X,)), f"{VALIDATION}; found 1 items."),
    (lambda: model().fit(X, Y, validation_data=X), f"{VALIDATION}; found ndarray."),
    (lambda: model().fit(X, Y, validation_data=(X[:, :3], Y)), SIZE),
    (
        lambda: model().fit(X, Y, validation_split=1.0),
        "fit: validation_split must be from 0 up to, not including, 1; found 1.0.",
    ),
    (
        lambda: model().fit(X[:1], Y[:1], validation_split=0.5),
        "validation_split 0.5 of 1 samples leaves none to one of the two parts.",
    ),
    (
        lambda: model().fit(X, Y, sample_weight=np.ones(9)),
        "Output 'out': sample_weight of shape (9,) does not fit a target of shape (10, 3): give it the shape (10,).",
    ),
    (
        lambda: model().fit(X, np.eye(3)[np.arange(10) % 3], class_weight={1: 2.0, 2: 1.0}),
        "Output 'out': class_weight has no weight for the classes [0] of the targets. Give each one.",
    ),
    (lambda: stateful().fit(STEPS, Y, batch_size=3), f"{STATEFUL} fit: found 10 samples, batch size 3."),
    (lambda: stateful().evaluate(STEPS, Y, batch_size=3), f"{STATEFUL} evaluate: found 10 samples, batch size 3."),
    (lambda: stateful().predict(STEPS, batch_size=3), f"{STATEFUL} predict: found 10 samples, batch size 3."),
    (
        lambda: stateful().fit(STEPS, Y, batch_size=2, verbose=0, validation_data=(STEPS[:3], Y[:3])),
        f"{STATEFUL} validation: found 3 samples, batch size 2.",
    ),
]


@pytest.mark.parametrize(("act", "message"), OPTIONS)
def test_options_that_cannot_be_meant(act, message):
    with pytest.raises(ValueError) as error:  # noqa: PT011  # the whole text is compared below
        act()
    assert str(error.value) == message


@pytest.mark.parametrize("batch_size", [0, -1, 2.5, True, "8", np.float32(4)])
def test_batch_sizes_that_cannot_be_meant(batch_size):
    made = model()
    for method, act in (
        ("fit", lambda: made.fit(X, Y, batch_size)),
        ("evaluate", lambda: made.evaluate(X, Y, batch_size)),
        ("predict", lambda: made.predict(X, batch_size)),
    ):
        with pytest.raises(ValueError, match="batch_size") as error:
            act()
        assert str(error.value) == f"{method}: batch_size must be an integer of at least 1; found {batch_size!r}."


def test_after_a_refusal_the_weights_are_as_before_and_training_goes_on():
    made = classifier()
    before = made.get_weights()
    with pytest.raises(ValueError, match="labels from"):
        made.fit(X, LABELS + 1)
    for mine, saved in zip(made.get_weights(), before, strict=True):
        np.testing.assert_array_equal(mine, saved)
    assert made.fit(X, LABELS, verbose=0).epoch == [0]


def test_a_fixed_batch_size_is_the_default_and_is_kept_to():
    inputs = Input(batch_shape=(4, 3))
    model = Model(inputs, Dense(2)(inputs), name="fixed")
    model.compile("sgd", "mse")
    assert model.predict(np.zeros((8, 3))).shape == (8, 2)
    assert len(model.fit(np.zeros((8, 3)), np.zeros((8, 2)), verbose=0).history["loss"]) == 1
    message = (
        "Model 'fixed' has a fixed batch size of 4: give it as batch_size, and a multiple of it as samples. "
        "{}: found {} samples, batch size {}."
    )
    for call, found in (
        (lambda: model.predict(np.zeros((6, 3))), ("predict", 6, 4)),
        (lambda: model.predict(np.zeros((8, 3)), batch_size=8), ("predict", 8, 8)),
        (lambda: model.evaluate(np.zeros((2, 3)), np.zeros((2, 2)), verbose=0), ("evaluate", 2, 4)),
        (lambda: model.train_on_batch(np.zeros((8, 3)), np.zeros((8, 2))), ("train_on_batch", 8, 8)),
    ):
        with pytest.raises(ValueError, match="fixed batch size") as error:
            call()
        assert str(error.value) == message.format(*found)


def test_a_class_is_no_callback():
    with pytest.raises(TypeError) as refused:
        model().fit(X, Y, verbose=0, callbacks=[History])
    assert str(refused.value) == "callbacks: History is a class; give an object of it: History(...)."
