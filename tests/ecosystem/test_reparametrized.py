"""`weight_norm`, `spectral_norm`, `parametrize` and pruning of torch.nn.utils, on the modules inside layers."""

import copy
from contextlib import nullcontext

import numpy as np
import pytest
import torch
from shared import (
    IMAGES,
    ROWS,
    SERIES,
    TARGETS,
    assert_equal_states,
    dense_model,
    fit,
    image_model,
    plain_dense,
    plain_images,
    series_model,
    train_by_hand,
    values,
)
from torch import nn
from torch.nn.utils import parametrizations, parametrize, prune, weight_norm as old_weight_norm

from torchkeras import Input, Model, clear_session
from torchkeras.callbacks import BackupAndRestore, Callback
from torchkeras.errors import WeightMismatchError
from torchkeras.layers import LSTM, Dense
from torchkeras.models import load_model

pytestmark = pytest.mark.slow

CHANNELS_FIRST = np.ascontiguousarray(IMAGES.transpose(0, 3, 1, 2))
NORMS = {"weight_norm": parametrizations.weight_norm, "spectral_norm": parametrizations.spectral_norm}


@pytest.mark.parametrize("norm", NORMS)
def test_a_normed_dense_trains_as_in_plain_pytorch(norm):
    model = dense_model()
    plain = plain_dense(model)
    for linear in (model.layers[1].linear, plain[0]):
        torch.manual_seed(5)
        NORMS[norm](linear)
    fit(model, ROWS, TARGETS)
    train_by_hand(plain.train(), plain.parameters(), ROWS, TARGETS)
    assert_equal_states(model, plain)
    with torch.no_grad():
        expected = plain.eval()(torch.from_numpy(ROWS))
    np.testing.assert_allclose(model.predict(ROWS), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("norm", NORMS)
def test_a_normed_convolution_trains_as_in_plain_pytorch(norm):
    model = image_model()
    plain = plain_images(model)
    for conv in (model.stem.conv, plain[0]):
        torch.manual_seed(5)
        NORMS[norm](conv)
    fit(model, IMAGES, TARGETS, rate=0.02)
    train_by_hand(plain.train(), plain.parameters(), CHANNELS_FIRST, TARGETS, rate=0.02)
    for (name, own), other in zip(model.named_parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(own, other, rtol=1e-4, atol=1e-5, msg=lambda text, n=name: f"{n}: {text}")
    with torch.no_grad():
        expected = plain.eval()(torch.from_numpy(CHANNELS_FIRST))
    np.testing.assert_allclose(model.predict(IMAGES), expected, rtol=1e-4, atol=1e-5)


def test_a_normed_lstm_trains_as_in_plain_pytorch():
    inputs = Input((5, 6))
    model = Model(inputs, LSTM(4, recurrent_activation="sigmoid")(inputs))
    lstm = model.layers[1].lstm
    plain = nn.LSTM(6, 4, batch_first=True)
    with torch.no_grad():
        for name, own in lstm.named_parameters():
            getattr(plain, name).copy_(own)
    plain.bias_hh_l0.requires_grad_(False)  # Keras has one bias, not two
    for module in (lstm, plain):
        parametrizations.weight_norm(module, "weight_hh_l0")

    fit(model, SERIES, TARGETS)
    train_by_hand(lambda x: plain(x)[0][:, -1], [p for p in plain.parameters() if p.requires_grad], SERIES, TARGETS)

    expected = dict(plain.named_parameters())
    for name, own in lstm.named_parameters():
        torch.testing.assert_close(own, expected[name], rtol=1e-5, atol=1e-6, msg=lambda text, n=name: f"{n}: {text}")


@pytest.mark.parametrize("recurrent_activation", ["sigmoid", "hard_sigmoid"])
def test_weight_norm_does_not_change_what_a_recurrent_layer_computes(recurrent_activation):
    model = series_model(recurrent_activation=recurrent_activation)
    expected = model.predict(SERIES)
    parametrizations.weight_norm(model.layers[1].lstm, "weight_hh_l0")
    np.testing.assert_allclose(model.predict(SERIES), expected, rtol=1e-5, atol=1e-6)
    before = values(model)
    fit(model, SERIES, TARGETS)
    moved = {name for name, value in model.state_dict().items() if not torch.equal(value, before[name])}
    assert "lstm_a.lstm.parametrizations.weight_hh_l0.original1" in moved


def test_the_old_weight_norm_works_too():
    model = dense_model()
    plain = plain_dense(model)
    with pytest.warns(FutureWarning, match="weight_norm"):
        old_weight_norm(model.layers[1].linear)
    parametrizations.weight_norm(plain[0])
    fit(model, ROWS, TARGETS)
    train_by_hand(plain, plain.parameters(), ROWS, TARGETS)
    with torch.no_grad():
        np.testing.assert_allclose(model.predict(ROWS), plain(torch.from_numpy(ROWS)), rtol=1e-5, atol=1e-6)


class Symmetric(nn.Module):
    def forward(self, weight: torch.Tensor) -> torch.Tensor:
        return weight.triu() + weight.triu(1).T


def test_a_parametrization_of_ones_own_is_kept_by_training_and_by_removing_it():
    inputs = Input((6,))
    model = Model(inputs, Dense(6)(inputs))
    linear = model.layers[1].linear
    parametrize.register_parametrization(linear, "weight", Symmetric())
    fit(model, ROWS, np.ascontiguousarray(np.tile(TARGETS, 2)[:, :6]))
    assert torch.equal(linear.weight, linear.weight.T)
    expected = model.predict(ROWS)
    parametrize.remove_parametrizations(linear, "weight")
    np.testing.assert_array_equal(model.predict(ROWS), expected)
    kernel, _ = model.get_weights()
    np.testing.assert_array_equal(kernel, kernel.T)


@pytest.mark.parametrize("suffix", [".h5", ".weights.h5", ".safetensors", ".pt"])
@pytest.mark.parametrize("norm", NORMS)
def test_normed_weights_go_through_files(norm, suffix, tmp_path):
    model, other = image_model(), image_model()
    for each in (model, other):
        NORMS[norm](each.stem.conv)
    fit(model, IMAGES, TARGETS)
    model.save_weights(tmp_path / f"normed{suffix}")
    other.load_weights(tmp_path / f"normed{suffix}")
    np.testing.assert_array_equal(other.predict(IMAGES), model.predict(IMAGES))


def test_pruned_weights_stay_zero_as_in_plain_pytorch():
    model = dense_model()
    plain = plain_dense(model)
    for linear in (model.layers[1].linear, plain[0]):
        prune.l1_unstructured(linear, "weight", amount=0.5)
    count = model.count_params()
    fit(model, ROWS, TARGETS)
    train_by_hand(plain, plain.parameters(), ROWS, TARGETS)
    assert_equal_states(model, plain)
    assert count == 2 * 30 + 5 + 24  # the mask is a weight that does not train

    expected = model.predict(ROWS)
    linear = model.layers[1].linear
    prune.remove(linear, "weight")
    assert (linear.weight == 0).sum() == 15
    np.testing.assert_array_equal(model.predict(ROWS), expected)
    kernel = model.layers[1].get_weights()[1 if model.layers[1].get_weights()[0].ndim == 1 else 0]
    assert (kernel == 0).sum() == 15


def test_global_pruning_goes_over_the_layers_of_a_model(tmp_path):
    model = image_model()
    plain = plain_images(model)
    for convs in ([model.stem.conv, model.last.conv], [plain[0], plain[3]]):
        prune.global_unstructured([(conv, "weight") for conv in convs], prune.L1Unstructured, amount=0.3)
    for own, other in ((model.stem.conv, plain[0]), (model.last.conv, plain[3])):
        torch.testing.assert_close(own.weight_mask, other.weight_mask)
    model.save_weights(tmp_path / "pruned.h5")
    other = image_model()
    for conv in (other.stem.conv, other.last.conv):
        prune.identity(conv, "weight")
    other.load_weights(tmp_path / "pruned.h5")
    np.testing.assert_array_equal(other.predict(IMAGES), model.predict(IMAGES))


def test_a_pruned_and_cleaned_model_loads_into_a_plain_one(tmp_path):
    model = image_model()
    prune.ln_structured(model.stem.conv, "weight", amount=0.5, n=2, dim=0)
    fit(model, IMAGES, TARGETS)
    prune.remove(model.stem.conv, "weight")
    for suffix in (".h5", ".weights.h5", ".safetensors", ".pt"):
        model.save_weights(tmp_path / f"pruned{suffix}")
        other = image_model()
        other.load_weights(tmp_path / f"pruned{suffix}")
        np.testing.assert_array_equal(other.predict(IMAGES), model.predict(IMAGES))


@pytest.mark.parametrize("suffix", [".keras", ".h5", ".safetensors", ".pt"])
def test_the_weights_of_a_whole_pruned_model_load_and_load_model_names_what_is_missing(suffix, tmp_path):
    model, other = image_model(), image_model()
    for each in (model, other):
        prune.l1_unstructured(each.stem.conv, "weight", amount=0.5)
    model.compile("adam", "mse")
    model.fit(IMAGES, TARGETS, batch_size=8, verbose=0)
    path = tmp_path / f"pruned{suffix}"
    model.save(path)
    with pytest.raises(WeightMismatchError, match="stem"):
        load_model(path)
    other.load_weights(path)
    np.testing.assert_array_equal(other.predict(IMAGES), model.predict(IMAGES))


class StoppedError(Exception):
    """In place of the end of a process."""


class StopOnce(Callback):
    def __init__(self, epoch):
        super().__init__()
        self.epoch = epoch

    def on_epoch_begin(self, epoch, logs=None):
        if epoch == self.epoch:
            raise StoppedError


def test_pruned_training_goes_on_from_a_checkpoint_with_the_state_of_its_optimizer(tmp_path):
    def run(state, folder, stop):
        clear_session()
        model = dense_model()
        prune.l1_unstructured(model.layers[1].linear, "weight", amount=0.5)
        model.load_state_dict(state or model.state_dict())
        before = values(model)
        model.compile("adam", "mse")
        callbacks = [BackupAndRestore(folder, accept=("callbacks",)), StopOnce(stop)]
        with pytest.raises(StoppedError) if stop is not None else nullcontext():
            model.fit(ROWS, TARGETS, batch_size=8, epochs=4, shuffle=False, verbose=0, callbacks=callbacks)
        return model, before

    _, state = run(None, tmp_path / "stopped", 2)
    resumed, _ = run(state, tmp_path / "stopped", None)
    expected, _ = run(state, tmp_path / "whole", None)
    assert_equal_states(resumed, expected, atol=0)


def test_a_copy_is_reparametrized_on_its_own():
    model = dense_model()
    parametrizations.weight_norm(model.layers[1].linear)
    twin = copy.deepcopy(model)
    fit(twin, ROWS, TARGETS)
    np.testing.assert_array_equal(model.predict(ROWS), copy.deepcopy(model).predict(ROWS))
    assert not np.array_equal(model.predict(ROWS), twin.predict(ROWS))
