"""What genuine Keras on torch does not compute as it documents: sums in single precision, segments without rows."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
import torch

from tests.keras3.cases.signals import SPECTRA, WAVE, WAVES
from torchkeras import config

ops: Any = importlib.import_module("torchkeras.keras3.ops")


def same(found: torch.Tensor, expected: Any) -> None:
    torch.testing.assert_close(found, torch.as_tensor(expected), rtol=0.0, atol=0.0)


def test_segments_are_computed_in_the_type_of_the_data():
    same(ops.segment_sum(np.array([2**40 + 1, 1]), [0, 0], 1), [2**40 + 2])
    same(ops.segment_max(np.array([1.0, 1.0 + 1e-12]), [0, 0], 1), np.array([1.0 + 1e-12]))
    same(ops.segment_sum(np.ones(256, bool), [0] * 256, 1), [True])


@pytest.mark.parametrize("kind", ["int8", "uint8", "int32", "int64"])
def test_a_segment_without_rows_has_the_end_of_the_type(kind: str):
    data, ends = np.array([3, 4], kind), np.iinfo(kind)
    same(ops.segment_max(data, [0, 2], 3), np.array([3, ends.min, 4], kind))
    same(ops.segment_min(data, [0, 2], 3), np.array([3, ends.max, 4], kind))


def test_segments_of_a_list():
    same(ops.segment_max([1, 2, 10, 20, 100, 200], [0, 0, 1, 1, 2, 2]), np.array([2, 20, 200], "int32"))


@pytest.mark.parametrize(("length", "stride", "fft"), [(8, 2, 8), (8, 4, 8), (6, 2, 8), (8, 1, 10)])
@pytest.mark.parametrize("center", [True, False])
def test_the_inverse_gives_the_signal(length: int, stride: int, fft: int, center: bool):
    parts = ops.stft(WAVES, length, stride, fft, center=center)
    found = ops.istft(parts, length, stride, fft, length=WAVES.shape[-1], center=center)
    middle = slice(length, -length)  # towards the ends fewer windows overlap
    torch.testing.assert_close(found[..., middle], torch.as_tensor(WAVES)[..., middle], rtol=1e-4, atol=1e-5)


def test_a_signal_of_the_length_that_is_asked_for():
    for length in (8, 6):
        found = ops.istft(SPECTRA, length, 4, 8, length=50)
        assert found.shape == (2, 50)
        assert (found[:, 40:] == 0).all()


def test_windows_of_one_step():
    wave = ops.istft(ops.stft(WAVE, 1, 1, 1, window=None), 1, 1, 1, window=None)
    torch.testing.assert_close(wave, torch.as_tensor(WAVE))


def test_windows_follow_the_signal_in_a_list():
    assert config.floatx() == "float32"
    real, imaginary = ops.stft([0.0, 1.0, 2.0, 3.0, 4.0], 3, 2, 3)
    assert real.shape == imaginary.shape == (3, 2)
