"""Spectrograms beyond the numbers of genuine Keras, which tests/keras3/same/text_layers.py has."""

import json
import re

import numpy as np
import pytest
import torch
from golden import compiles, remade

from torchkeras.layers import Dense, Flatten, Input, MelSpectrogram, STFTSpectrogram
from torchkeras.models import Sequential, load_model

SIGNAL = torch.sin(torch.arange(600.0) * 0.3).view(2, 300)


def test_a_tone_is_in_its_mel_bin():
    tone = torch.sin(2 * torch.pi * 1000 * torch.arange(8000.0) / 8000)
    layer = MelSpectrogram(fft_length=512, sequence_stride=128, sampling_rate=8000, num_mel_bins=20, power_to_db=False)
    loudest = layer(tone).mean(-1).argmax()
    edges = 700 * (torch.exp(torch.linspace(*np.log(1 + np.array([20, 4000]) / 700), 22)) - 1)
    assert edges[loudest] < 1000 < edges[loudest + 2]


def test_the_kernels_are_a_fourier_transform():
    frames = SIGNAL.unfold(1, 32, 16)
    expected = torch.fft.rfft(frames, 32)
    layer = STFTSpectrogram("stft", frame_length=32, window=None)
    real, imaginary = layer(SIGNAL.unsqueeze(-1)).chunk(2, -1)
    torch.testing.assert_close(real, expected.real, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(imaginary, expected.imag, atol=1e-4, rtol=1e-4)


def test_channels_first_with_an_axis_of_channels():
    x = torch.randn(2, 50, 3)
    last = STFTSpectrogram("psd", frame_length=16, padding="same", expand_dims=True)
    first = STFTSpectrogram("psd", frame_length=16, padding="same", expand_dims=True, data_format="channels_first")
    torch.testing.assert_close(first(x.movedim(-1, 1)), last(x).movedim(-1, 1))


def test_the_kernels_train_unless_they_are_frozen():
    for trainable in (True, False):
        layer = STFTSpectrogram(frame_length=16, trainable=trainable, input_shape=(64, 1))
        model = Sequential([layer, Flatten(), Dense(1)])
        model.compile("sgd", "mse")
        before = layer.get_weights()
        model.fit(np.ones((8, 64, 1), "float32"), np.ones((8, 1), "float32"), verbose=0)
        changed = any((old != new).any() for old, new in zip(before, layer.get_weights(), strict=True))
        assert changed is trainable


@pytest.mark.parametrize("name", ["model.h5", "model.keras"])
def test_in_files(name: str, tmp_path):
    model = Sequential([STFTSpectrogram("psd", frame_length=16, window="hamming", input_shape=(300, 1))])
    model.layers[0].set_weights([each + 1 for each in model.get_weights()])
    model.save(tmp_path / name)
    x = SIGNAL.unsqueeze(-1).numpy()
    np.testing.assert_allclose(load_model(tmp_path / name).predict(x), model.predict(x), rtol=1e-5)


def test_options_may_be_set_again():
    layer = MelSpectrogram(64, 16, num_mel_bins=8)
    layer(SIGNAL)
    layer.max_freq = 4000
    torch.testing.assert_close(layer(SIGNAL), MelSpectrogram(64, 16, num_mel_bins=8, max_freq=4000)(SIGNAL))
    with pytest.raises(ValueError, match="num_mel_bins cannot change from 8 to 10 any more"):
        layer.num_mel_bins = 10


def test_a_window_of_ones_own():
    layer = MelSpectrogram(64, 16, sequence_length=4, window=np.array([0.5, 1, 1, 0.5]), num_mel_bins=8)
    assert json.loads(json.dumps(layer.get_config()))["window"] == [0.5, 1.0, 1.0, 0.5]
    torch.testing.assert_close(remade(layer)(SIGNAL), layer(SIGNAL))
    compiles(layer, SIGNAL)


def test_a_length_that_is_no_power_of_two_is_told():
    with pytest.warns(UserWarning, match=r"^STFTSpectrogram 's': a transform is fast where fft_length is a power of"):
        STFTSpectrogram(frame_length=16, fft_length=20, name="s")


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: MelSpectrogram(64, sequence_length=65, name="m"),
            "MelSpectrogram 'm': sequence_length must be at most fft_length 64; found 65.",
        ),
        (
            lambda: MelSpectrogram(64, window=[1.0, 2.0], name="m"),
            "MelSpectrogram 'm': a window must have sequence_length 64 numbers; found 2.",
        ),
        (
            lambda: MelSpectrogram(window="cosine"),
            (
                "MelSpectrogram: window must be one of 'hann', 'hamming', the numbers of a window, or None; found "
                "'cosine'."
            ),
        ),
        (
            lambda: STFTSpectrogram("power"),
            (
                "STFTSpectrogram: mode must be one of 'log', 'magnitude', 'psd', 'real', 'imag', 'angle', 'stft'; "
                "found 'power'."
            ),
        ),
        (
            lambda: STFTSpectrogram(frame_length=8, frame_step=9, name="s"),
            "STFTSpectrogram 's': frame_step must be at most frame_length 8; found 9.",
        ),
        (
            lambda: STFTSpectrogram(frame_length=8, fft_length=4, name="s"),
            "STFTSpectrogram 's': fft_length must be at least frame_length 8; found 4.",
        ),
        (
            lambda: STFTSpectrogram(frame_length=8, window=[1.0], name="s"),
            "STFTSpectrogram 's': a window must have frame_length 8 numbers; found 1.",
        ),
        (
            lambda: STFTSpectrogram(frame_length=8, name="s")(Input((4, 1))),
            "STFTSpectrogram 's': frame_length 8 does not fit the input (None, 4, 1): axis 1 is 4 long.",
        ),
    ],
)
def test_bad_values_are_refused(make, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        make()


def test_integers_are_refused():
    text = "STFTSpectrogram 's': signals must be floating-point; found torch.int64."
    with pytest.raises(TypeError, match=f"^{re.escape(text)}$"):
        STFTSpectrogram(frame_length=4, name="s")(torch.ones(1, 9, 1, dtype=torch.int64))
