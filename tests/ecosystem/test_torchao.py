"""torchao: weights of 8 bits, and training that prepares for them, as on the same network in plain PyTorch."""

import copy
import re

import numpy as np
import pytest
import torch
from shared import BATCH, RANDOM, STEPS, assert_equal_states, fit, train_by_hand
from torch import nn
from torchao.quantization import (
    Int8DynamicActivationInt8WeightConfig,
    Int8DynamicActivationIntxWeightConfig,
    Int8WeightOnlyConfig,
    PerGroup,
    quantize_,
)
from torchao.quantization.qat import FakeQuantizedLinear, QATConfig

from torchkeras import Input, Model
from torchkeras.layers import BatchNormalization, Conv2D, Dense, Flatten, LayerNormalization, MultiHeadAttention

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:TypedStorage is deprecated:UserWarning"),
]

WIDE = RANDOM.standard_normal((BATCH * STEPS, 64)).astype("float32")
TARGETS = WIDE[:, :16].copy()
CONFIGS = {"weights": Int8WeightOnlyConfig, "weights and activations": Int8DynamicActivationInt8WeightConfig}
PREPARED = Int8DynamicActivationIntxWeightConfig(weight_dtype=torch.int8, weight_granularity=PerGroup(32))


def wide_model() -> Model:
    inputs = Input((64,))
    return Model(inputs, Dense(16)(Dense(32, activation="relu")(inputs)))


def plain_wide(model: Model) -> nn.Sequential:
    plain = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 16))
    with torch.no_grad():
        for parameter, own in zip(plain.parameters(), model.parameters(), strict=True):
            parameter.copy_(own)
    return plain


def trained() -> Model:
    model = wide_model()
    fit(model, WIDE, TARGETS)
    return model


@pytest.mark.parametrize("config", CONFIGS)
def test_a_quantized_model_predicts_what_the_plain_one_does_quantized(config):
    model = trained()
    plain = plain_wide(model)
    expected = model.predict(WIDE)
    for module in (model, plain):
        quantize_(module, CONFIGS[config]())
    found = model.predict(WIDE)
    assert type(model.layers[1].linear.weight).__name__ == "Int8Tensor"
    assert 0 < np.abs(found - expected).max() < 0.03 * np.abs(expected).max()
    with torch.no_grad():
        np.testing.assert_array_equal(found, plain(torch.from_numpy(WIDE)))
    model.compile("sgd", "mse")
    assert model.evaluate(WIDE, TARGETS, verbose=0) == pytest.approx(float(((found - TARGETS) ** 2).mean()), rel=1e-5)


ERRORS = {"weights": 0.02, "weights and activations": 0.03}


@pytest.mark.parametrize("config", CONFIGS)
def test_a_frozen_model_with_int8_weights(config):
    frozen, x = wide_model().freeze_for_inference(), torch.from_numpy(WIDE)
    wanted = frozen(x)
    quantize_(frozen, CONFIGS[config]())
    with torch.no_grad():
        assert 0 < (frozen(x) - wanted).abs().max() < ERRORS[config] * wanted.abs().max()


def test_layers_of_all_kinds_with_linear_modules_inside():
    inputs = Input((5, 32))
    hidden = LayerNormalization()(MultiHeadAttention(2, 16)(inputs, inputs))
    model = Model(inputs, Dense(16)(BatchNormalization()(Dense(32)(hidden))))
    x = RANDOM.standard_normal((64, 5, 32)).astype("float32")
    expected = model.predict(x)
    quantize_(model, Int8WeightOnlyConfig())
    assert sum(type(p).__name__ == "Int8Tensor" for p in model.parameters()) == 6
    assert 0 < np.abs(model.predict(x) - expected).max() < 0.05 * np.abs(expected).max()


def test_convolutions_stay_and_the_dense_layer_behind_them_is_quantized():
    inputs = Input((8, 8, 3))
    hidden = Flatten()(BatchNormalization()(Conv2D(8, 3, activation="relu")(inputs)))
    model = Model(inputs, Dense(16)(hidden))
    x = RANDOM.standard_normal((64, 8, 8, 3)).astype("float32")
    expected = model.predict(x)
    quantize_(model, Int8WeightOnlyConfig())
    assert type(model.layers[1].conv.weight) is nn.Parameter
    assert 0 < np.abs(model.predict(x) - expected).max() < 0.03 * np.abs(expected).max()


def test_quantized_weights_are_counted_and_do_not_train():
    model = trained()
    count = model.count_params()
    quantize_(model, Int8WeightOnlyConfig())
    assert model.count_params() == count
    assert [weight.shape for weight in model.weights][:2] == [(64, 32), (32,)]
    assert [weight.full_name.split("/")[1] for weight in model.trainable_weights] == ["bias:0", "bias:0"]
    lines: list[str] = []
    model.summary(print_fn=lines.append)
    assert "Trainable params: 48" in "\n".join(lines)


@pytest.mark.parametrize("suffix", [".h5", ".weights.h5", ".safetensors", ".pt", ".keras"])
def test_files_of_keras_have_no_form_for_them(suffix, tmp_path):
    model = trained()
    quantize_(model, Int8WeightOnlyConfig())
    path = tmp_path / f"quantized{suffix}"
    save = model.save if suffix == ".keras" else model.save_weights
    text = (
        f"{path}: 'dense_a.linear.weight' has the type Int8Tensor, which such a file cannot hold: save it with "
        "torch.save(model.state_dict(), path), or save the model before it is quantized."
    )
    with pytest.raises(TypeError, match=f"^{re.escape(text)}$"):
        save(path)
    assert not path.exists()
    with pytest.raises(TypeError, match="is of the type Int8Tensor, which has no form in Keras"):
        model.get_weights()


def test_a_state_dict_of_torch_brings_them_back(tmp_path):
    model = trained()
    quantize_(model, Int8WeightOnlyConfig())
    torch.save(model.state_dict(), tmp_path / "quantized.pt")
    other = wide_model()
    other.load_state_dict(torch.load(tmp_path / "quantized.pt", weights_only=True), assign=True)
    np.testing.assert_array_equal(other.predict(WIDE), model.predict(WIDE))


def test_training_prepared_for_8_bits_is_that_of_plain_pytorch():
    model = wide_model()
    plain = plain_wide(model)
    for module in (model, plain):
        quantize_(module, QATConfig(PREPARED, step="prepare"))
    assert isinstance(model.layers[1].linear, FakeQuantizedLinear)
    start = copy.deepcopy(plain)
    fit(model, WIDE, TARGETS)
    train_by_hand(plain, plain.parameters(), WIDE, TARGETS)
    assert_equal_states(model, plain)
    assert not torch.equal(plain[0].weight, start[0].weight)

    prepared = model.predict(WIDE)
    for module in (model, plain):
        quantize_(module, QATConfig(PREPARED, step="convert"))
    with torch.no_grad():
        np.testing.assert_allclose(model.predict(WIDE), plain(torch.from_numpy(WIDE)), rtol=1e-5, atol=1e-6)
    assert np.abs(model.predict(WIDE) - prepared).max() < 0.02 * np.abs(prepared).max()


@pytest.mark.parametrize("suffix", [".h5", ".weights.h5", ".safetensors", ".pt"])
def test_prepared_weights_are_those_of_the_plain_layers_in_files(suffix, tmp_path):
    model, other = wide_model(), wide_model()
    quantize_(model, QATConfig(PREPARED, step="prepare"))
    fit(model, WIDE, TARGETS)
    model.save_weights(tmp_path / f"prepared{suffix}")
    other.load_weights(tmp_path / f"prepared{suffix}")
    for own, expected in zip(other.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_array_equal(own, expected)


def test_attention_prepared_for_8_bits_predicts_what_its_modules_compute():
    """The three products of an attention are one where they are plain; prepared ones are computed one by one."""
    inputs = Input((5, 32))
    model = Model(inputs, MultiHeadAttention(2, 16)(inputs, inputs))
    x = RANDOM.standard_normal((64, 5, 32)).astype("float32")
    before = model.predict(x)
    quantize_(model, QATConfig(PREPARED, step="prepare"))
    calls = []
    with torch.no_grad():
        hook = model.layers[1].query.product.register_forward_hook(lambda *_: calls.append(1))
        expected = model.eval()(torch.from_numpy(x))
        hook.remove()
    np.testing.assert_allclose(model.predict(x), expected, rtol=1e-5, atol=1e-6)
    assert calls
    assert 0 < np.abs(model.predict(x) - before).max() < 0.1 * np.abs(before).max()
