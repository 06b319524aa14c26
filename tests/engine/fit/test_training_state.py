"""What a model keeps through training: its modes, type and device, its optimizer, and what was settled by compile."""

import copy
import pickle
import re
import warnings
from typing import Any

import numpy as np
import pytest
import torch

from torchkeras import Input, Model
from torchkeras.callbacks import EarlyStopping, LambdaCallback
from torchkeras.layers import BatchNormalization, Dense, Dropout, Layer
from torchkeras.metrics import RootMeanSquaredError
from torchkeras.models import load_model
from torchkeras.optimizers import SGD, Adam

RANDOM = np.random.default_rng(2)
X = RANDOM.standard_normal((16, 4)).astype("float32")
Y = RANDOM.standard_normal((16, 3)).astype("float32")


def made(optimizer: Any = "adam", **options):
    inputs = Input((4,))
    hidden = BatchNormalization(name="norm")(Dense(5, activation="relu", name="hidden")(inputs))
    model = Model(inputs, Dense(3, name="out")(Dropout(0.2, name="drop")(hidden)))
    model.compile(optimizer, "mse", **options)
    return model


def train(model, epochs=1):
    torch.manual_seed(0)
    return model.fit(X, Y, batch_size=8, epochs=epochs, verbose=0).history["loss"]


def same_weights(one, other):
    return all(map(np.array_equal, one.get_weights(), other.get_weights()))


# --- modes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [True, False])
@pytest.mark.parametrize(
    ("act", "inside"),
    [
        (lambda model, look: model.fit(X, Y, verbose=0, callbacks=[LambdaCallback(on_batch_end=look)]), True),
        (lambda model, look: model.evaluate(X, Y, verbose=0, callbacks=[Looking(look)]), False),
        (lambda model, look: model.predict(X, callbacks=[Looking(look)]), False),
    ],
    ids=["fit", "evaluate", "predict"],
)
def test_modes_are_set_for_the_time_and_then_as_before(act, inside, mode):
    model = made().train(mode)
    model.get_layer("drop").train(not mode)
    seen = []
    own = [module for module in model.modules() if isinstance(module, Layer)]  # those of torch, while they compute
    act(model, lambda *_: seen.append([layer.training for layer in own]))
    assert seen == [[inside] * len(own)]
    assert model.training is mode
    assert model.get_layer("norm").training is mode
    assert model.get_layer("drop").training is not mode


class Looking:
    """Looks at the end of every batch that is not of training."""

    def __init__(self, look):
        self.on_test_batch_end = self.on_predict_batch_end = look

    def set_params(self, params):
        pass

    def set_model(self, model):
        pass


def test_the_mode_is_restored_after_an_error():
    def fail(*_):
        raise KeyError("stop")

    model = made().eval()
    with pytest.raises(KeyError, match="stop"):
        model.fit(X, Y, verbose=0, callbacks=[LambdaCallback(on_batch_end=fail)])
    assert not any(module.training for module in model.modules())


def test_validation_is_in_evaluation_mode_within_fit():
    model = made(SGD(lr=0.0))
    history = model.fit(X, Y, verbose=0, validation_data=(X, Y), epochs=2)
    assert history.history["val_loss"][1] == pytest.approx(model.evaluate(X, Y, verbose=0), rel=1e-6)


# --- types and devices -----------------------------------------------------------------------------------------------


@pytest.mark.torch("2.6", "kernels of half types on the CPU")
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("optimizer", ["sgd", "rmsprop", "adam"])
def test_a_model_of_another_type_trains(dtype, optimizer):
    model = made(optimizer).to(dtype)
    before = model.get_weights()[0]
    losses = train(model, 3)
    assert np.isfinite(losses).all()
    assert {parameter.dtype for parameter in model.parameters()} == {dtype}
    assert not np.array_equal(model.get_weights()[0], before)
    found = model.predict(X)
    assert found.dtype == {torch.float16: np.float16, torch.bfloat16: np.float32, torch.float64: np.float64}[dtype]
    assert model.evaluate(X, Y, verbose=0) == pytest.approx(np.mean((found - Y) ** 2), rel=0.05)


def test_moved_between_two_fits_the_optimizer_goes_on_with_its_state():
    plain, moved = made(), made()
    moved.set_weights(plain.get_weights())
    assert train(plain) == train(moved)
    moved.double()
    np.testing.assert_allclose(train(moved), train(plain), rtol=1e-4)
    assert moved.optimizer.get_weights()[1].dtype == np.float64
    assert moved.optimizer.iterations == 4
    for mine, theirs in zip(moved.get_weights(), plain.get_weights(), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.cuda
def test_on_cuda():
    model = made().cuda()
    losses = train(model, 20)
    assert losses[-1] < losses[0]
    assert {parameter.device.type for parameter in model.parameters()} == {"cuda"}
    assert isinstance(model.predict(X), np.ndarray)
    model.cpu()
    assert np.isfinite(train(model)).all()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])  # noqa: S301
def test_a_copy_trains_on_as_the_original_would(copied):
    model = made()
    train(model)
    twin = copied(model)
    assert same_weights(twin, model)
    assert twin.optimizer is not model.optimizer
    assert train(twin) == train(model)
    assert same_weights(twin, model)
    assert twin.optimizer.iterations == model.optimizer.iterations == 4


# --- compile and trainable -------------------------------------------------------------------------------------------


def test_what_is_frozen_after_compile_stays():
    model = made()
    model.get_layer("hidden").trainable = False
    before = model.get_layer("hidden").get_weights()[0]
    with pytest.warns(UserWarning, match="Discrepancy between trainable weights and collected trainable weights"):
        train(model)
    np.testing.assert_array_equal(model.get_layer("hidden").get_weights()[0], before)
    model.compile("adam", "mse")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        train(model)
    np.testing.assert_array_equal(model.get_layer("hidden").get_weights()[0], before)
    assert not any(parameter.requires_grad for parameter in model.get_layer("hidden").parameters())


def test_a_model_that_trains_nothing_is_still_evaluated():
    model = made()
    model.trainable = False
    model.compile("adam", "mse")
    before = model.get_layer("out").get_weights()
    assert len(train(model, 2)) == 2
    for mine, saved in zip(model.get_layer("out").get_weights(), before, strict=True):
        np.testing.assert_array_equal(mine, saved)


def test_compile_starts_the_optimizer_anew_and_a_second_fit_does_not():
    model = made()
    train(model, 2)
    train(model)
    assert model.optimizer.iterations == 6
    model.compile("adam", "mse")
    train(model)
    assert model.optimizer.iterations == 2


def test_gradients_of_one_s_own_are_left_alone():
    model = made()
    model(torch.from_numpy(X)).sum().backward()
    kept = {name: parameter.grad.clone() for name, parameter in model.named_parameters() if parameter.grad is not None}
    train(model)
    model.evaluate(X, Y, verbose=0)
    for name, parameter in model.named_parameters():
        if name in kept:
            torch.testing.assert_close(parameter.grad, kept[name])


def test_an_optimizer_of_two_models_has_the_state_of_the_one_that_is_asked(tmp_path):
    optimizer = Adam(0.1)
    models = made(optimizer), made(optimizer)
    for model in models:
        model.compile(optimizer, "mse")
        train(model)
    first, second = ([array.copy() for array in model.optimizer.get_weights()] for model in models)
    assert not np.array_equal(first[1], second[1])
    ways = [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))]  # noqa: S301
    ways.append(lambda model: model.save(tmp_path / "model.h5") or load_model(tmp_path / "model.h5"))
    for again in ways:
        assert np.array_equal(models[1].optimizer.get_weights()[1], second[1])  # it has its turn
        for array, wanted in zip(again(models[0]).optimizer.get_weights(), first, strict=True):
            np.testing.assert_array_equal(array, wanted)


# --- one inside another ----------------------------------------------------------------------------------------------

HOOKS = ["on_epoch_begin", "on_train_batch_end", "on_test_begin", "on_test_batch_end", "on_epoch_end"]


def fitted_around(hook, act):
    """The reported numbers of a fit in which a callback acts once."""
    torch.manual_seed(0)
    model, done = made(metrics=[RootMeanSquaredError(name="root")]), []

    def once(*_):
        if not done:
            done.append(True)
            act(model)

    callback = LambdaCallback(**{hook: once})
    return model.fit(X, Y, batch_size=8, epochs=2, verbose=0, validation_data=(X, Y), callbacks=[callback]), model


@pytest.mark.parametrize("hook", HOOKS)
def test_a_fit_inside_a_fit(hook):
    """The outer one reports its own numbers; the inner one may be of another model, also within a validation."""
    inner = []

    def train_inside(model):
        weights, state = model.get_weights(), copy.deepcopy(model.optimizer.state_dict())
        with torch.random.fork_rng():
            inner.append(model.fit(X, Y, verbose=0, epochs=3, callbacks=[EarlyStopping("loss", patience=0)]))
            train(made())
        model.set_weights(weights)
        model.optimizer.load_state_dict(state)

    history, model = fitted_around(hook, train_inside)
    assert history.history == fitted_around(hook, lambda model: None)[0].history
    assert model.history is history
    assert history is not inner[0]
    assert len(history.epoch) == 2


def test_gradients_that_wait_end_with_a_fit_that_fails():
    model = made(SGD(0.1, gradient_accumulation_steps=2))

    def fail(*_):
        raise InterruptedError

    with pytest.raises(InterruptedError):
        model.fit(X, Y, batch_size=8, verbose=0, callbacks=[LambdaCallback(on_batch_end=fail)])
    assert model.optimizer.accumulated_batches == 0


def test_training_needs_no_gradients_to_be_on():
    with torch.no_grad():
        inside = train(made())
    assert inside == pytest.approx(train(made()), rel=0.5)
    model = made()
    message = (
        f"Model {model.name!r} cannot be trained inside torch.inference_mode(), where torch computes no gradients: "
        "leave its block before."
    )
    for act in (lambda: train(model), lambda: model.train_on_batch(X, Y)):
        with torch.inference_mode(), pytest.raises(RuntimeError, match=f"^{re.escape(message)}$"):
            act()


def test_each_loss_of_several_has_a_gradient():
    inputs = Input((4,))
    model = Model(inputs, [Dense(3, name="left")(inputs), Dense(3, name="right")(inputs)])

    def hits(y_true, y_pred):
        return (y_pred > 0).float().mean(-1)

    message = (
        "The loss hits has no gradient for any weight: something on the way from the weights to it, such as argmax, "
        "round or detach, has none."
    )
    model.compile("sgd", ["mse", hits])
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        model.train_on_batch(X, [Y, Y])
    model.compile("sgd", ["mse", hits], loss_weights=[1.0, 0.0])
    model.train_on_batch(X, [Y, Y])
    model.compile("sgd", ["mse", hits])
    model.layers[-1].trainable = False
    model.compile("sgd", ["mse", hits])
    assert len(model.train_on_batch(X, [Y, Y])) == 3


def test_options_of_an_output_without_a_loss_are_told():
    inputs = Input((4,))
    model = Model(inputs, [Dense(3, name="left")(inputs), Dense(3, name="right")(inputs)])
    for option, value in (("metrics", {"right": "mae"}), ("loss_weights", {"right": 2.0})):
        message = f"compile: {option} names the output 'right', which has no loss; it is left out."
        with pytest.warns(UserWarning, match=f"^{re.escape(message)}$"):
            model.compile("sgd", {"left": "mse"}, **{option: value})
