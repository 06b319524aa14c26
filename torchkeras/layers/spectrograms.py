"""Spectrograms of signals: MelSpectrogram, STFTSpectrogram.

Source: https://keras.io/api/layers/preprocessing_layers/audio_preprocessing/
"""

import warnings
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.signal import windows as shapes

from torchkeras import config
from torchkeras.base.dtypes import dtype_of
from torchkeras.base.rules import ABOVE_0, AT_LEAST_0, FINITE, Rule, one_of, optional, rule
from torchkeras.engine.facts import Facts
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.options import DataFormat, OptionalPositive, Positive
from torchkeras.engine.symbolic.tensor import Shape
from torchkeras.engine.weights.weight import weight
from torchkeras.initializers import Initializer
from torchkeras.initializers.fourier import fourier_kernel
from torchkeras.layers.preprocessing import FLOATS, array, set_constant
from torchkeras.layers.spatial import Spatial, pad, windows
from torchkeras.tensor_functions.operations.signals import WINDOWS, stft

SIZES = (torch.float32, torch.float64)  # of the numbers that torch transforms on every device


# --- the mel scale ---------------------------------------------------------------------------------------------------


def mel(hertz: Any) -> Any:
    """A frequency on the mel scale: `1127 * log(1 + hertz / 700)`."""
    return 1127.0 * np.log(1.0 + hertz / 700.0)


def mel_weights(
    num_mel_bins: int, num_spectrogram_bins: int, sampling_rate: float, lowest: float, highest: float
) -> np.ndarray:
    """The weights of the frequencies of a spectrum in each mel bin, (frequencies, bins): triangles of height 1.

    The bins are equally far apart on the mel scale, and each reaches from the middle of the one before to that of the
    next. The frequency 0 counts nowhere.
    """
    frequencies = mel(np.linspace(0.0, sampling_rate / 2.0, num_spectrogram_bins)[1:])[:, None]
    edges = np.linspace(mel(lowest), mel(highest), num_mel_bins + 2)
    left, middle, right = edges[:-2], edges[1:-1], edges[2:]
    rising, falling = (frequencies - left) / (middle - left), (right - frequencies) / (right - middle)
    return np.pad(np.minimum(rising, falling).clip(min=0), ((1, 0), (0, 0)))


# --- options ---------------------------------------------------------------------------------------------------------


def _window(*names: str) -> Rule:
    """The name of a window, its values, or None."""
    named = one_of(*names, None)
    text = f"must be one of {', '.join(map(repr, names))}, the numbers of a window, or None"

    def holds(value: Any) -> bool:
        return named.holds(value) if isinstance(value, (str, type(None))) else _are_in_a_row(value)  # type: ignore[misc]

    return rule(text, holds, lambda v: v if isinstance(v, (str, type(None))) else FLOATS.read(v), "Any")


def _are_in_a_row(value: Any) -> bool:
    try:
        found = array(value)
    except ValueError:  # lists of unequal lengths
        return False
    return found.ndim == 1 and found.dtype.kind in "iuf" and len(found) > 0


# --- MelSpectrogram --------------------------------------------------------------------------------------------------


class MelSpectrogram(Layer):
    """`10 * log10(abs(stft(x)) ** mag_exp @ mel_weights)`: signals as pictures of mel bins and time.

    There is a frame around every `sequence_stride`-th step, where the signal continues by reflection. Values more than
    `top_db` below the largest of the batch are raised to that bound.

    Options:
        fft_length (positive integer, default 2048): the length of the transforms.
        sequence_stride (positive integer, default 512): the distance between two frames.
        sequence_length (positive integer or None, default None): the length of a frame, at most `fft_length`; None
            takes `fft_length`.
        window ("hann", "hamming", list of numbers or None, default "hann"): the factors of a frame; None applies none.
        sampling_rate (positive integer, default 16000): the number of steps of the signal per second.
        num_mel_bins (positive integer, default 128): the number of mel bins.
        min_freq (float of at least 0, default 20.0): the frequency where the first bin begins.
        max_freq (float above 0 or None, default None): the frequency where the last bin ends; None is half the
            sampling rate.
        power_to_db (bool, default True): whether the values become decibels.
        top_db (float, default 80.0): how far decibels may be below the largest.
        mag_exp (float, default 2.0): the power that magnitudes are raised to.
        min_power (float above 0, default 1e-10): the least power, and the least `ref_power`, before the logarithm.
        ref_power (float, default 1.0): the power that counts as 0 decibels.

    Shapes:
        (batch, steps) -> (batch, num_mel_bins, frames), or the same without the batch axis

    Errors:
        ValueError: `sequence_length` is above `fft_length`; a window of another length than the frames.

    Example:
        >>> MelSpectrogram(fft_length=512, sequence_stride=128, num_mel_bins=40)(torch.ones(2, 1024)).shape
        torch.Size([2, 40, 9])

    Source: https://keras.io/api/layers/preprocessing_layers/audio_preprocessing/mel_spectrogram/
    """

    fft_length: Positive = 2048
    sequence_stride: Positive = 512
    sequence_length: OptionalPositive = None
    window: Annotated[Any, _window(*WINDOWS)] = "hann"
    sampling_rate: Positive = 16000
    num_mel_bins: Positive = 128
    min_freq: Annotated[float, AT_LEAST_0] = 20.0
    max_freq: Annotated[Any, optional(ABOVE_0)] = None
    power_to_db: bool = True
    top_db: Annotated[float, FINITE] = 80.0
    mag_exp: Annotated[float, FINITE] = 2.0
    min_power: Annotated[float, ABOVE_0] = 1e-10
    ref_power: Annotated[float, FINITE] = 1.0

    def __init__(self, *args: Any, **given: Any):
        super().__init__(*args, **given)
        if self.sequence_length is None:
            self.sequence_length = self.fft_length
        if self.max_freq is None:
            self.max_freq = float(self.sampling_rate // 2)
        what = f"MelSpectrogram {self.name!r}"
        if self.sequence_length > self.fft_length:
            raise ValueError(
                f"{what}: sequence_length must be at most fft_length {self.fft_length}; found {self.sequence_length}."
            )
        if isinstance(self.window, list) and len(self.window) != self.sequence_length:
            raise ValueError(
                f"{what}: a window must have sequence_length {self.sequence_length} numbers; found {len(self.window)}."
            )

    def _make_modules(self, input_shape: Any) -> None:
        bins = self.fft_length // 2 + 1
        made = mel_weights(self.num_mel_bins, bins, self.sampling_rate, self.min_freq, self.max_freq)
        set_constant(self, "_mel_weights", made, torch.float32)
        if isinstance(self.window, list):
            set_constant(self, "_factors", self.window)

    def forward(self, inputs: Tensor) -> Tensor:
        dtype = dtype_of(self.compute_dtype)
        signals = inputs if inputs.dtype in SIZES else inputs.to(dtype if dtype in SIZES else torch.float32)
        lengths = (self.sequence_length, self.sequence_stride, self.fft_length)
        window = self._factors if isinstance(self.window, list) else self.window
        real, imaginary = stft(signals, *lengths, window)
        magnitudes = (real.square() + imaginary.square()).sqrt() ** self.mag_exp
        found = magnitudes @ self._mel_weights.to(magnitudes.dtype)
        outputs = (self._decibels(found) if self.power_to_db else found).mT
        return outputs.to(inputs.dtype if inputs.is_floating_point() else dtype)

    def _decibels(self, powers: Tensor) -> Tensor:
        reference = powers.new_full((), abs(self.ref_power))
        found = 10.0 * powers.clamp(min=self.min_power).log10()
        found = found - 10.0 * reference.clamp(min=self.min_power).log10()
        return torch.maximum(found, found.amax() - self.top_db)


# --- STFTSpectrogram -------------------------------------------------------------------------------------------------


@dataclass
class _Waves(Initializer):
    """`cos(-2 pi t f / n) * window / scale`, or `sin` for the imaginary side, in the shape (frame, 1, n // 2 + 1)."""

    side: str
    window: Any
    scaling: str | None
    periodic: bool

    def draw(self, values: Tensor, generator: torch.Generator | None) -> Tensor:
        """Set the kernel of a transform."""
        frame, _, bins = values.shape
        factors = None if self.window is None else self._factors(frame)
        return values.copy_(fourier_kernel(self.side, frame, bins, factors, self.scaling))

    def _factors(self, length: int) -> Tensor:
        if isinstance(self.window, str):
            return getattr(shapes, self.window)(length, sym=not self.periodic, dtype=torch.float64)
        return torch.tensor(self.window, dtype=torch.float64)


# Of `torch.signal.windows`, those that need no further numbers.
NAMED = ("bartlett", "blackman", "cosine", "hamming", "hann", "nuttall")


class STFTSpectrogram(Spatial):
    """The Fourier transforms of frames of a signal, by a convolution whose kernels may train.

    Options:
        mode ("log", "magnitude", "psd", "real", "imag", "angle" or "stft", default "log"): what comes out: the
            logarithm of the magnitude; the magnitude; the power, doubled for all frequencies but the first and the
            last; the real part; the imaginary part; the angle; both parts, one after the other.
        frame_length (positive integer, default 256): the length of a frame.
        frame_step (positive integer or None, default None): the distance between two frames, at most `frame_length`;
            None takes half of `frame_length`.
        fft_length (positive integer or None, default None): the length of the transforms, at least `frame_length`;
            None takes the next power of two.
        window (name, list of numbers or None, default "hann"): the factors of a frame: "bartlett", "blackman",
            "cosine", "hamming", "hann" or "nuttall"; None applies none.
        periodic (bool, default False): whether a window chosen by name is periodic, not symmetric.
        scaling ("density", "spectrum" or None, default "density"): what the window is divided by: the root of the sum
            of its squares, its sum, or nothing.
        padding ("valid" or "same", default "valid"): "valid" adds no zeros; "same" makes `ceil(steps / frame_step)`
            frames.
        expand_dims (bool, default False): whether channels and frequencies are separate axes.

    Shapes:
        (batch, steps, channels) -> (batch, frames, channels * frequencies), or with `expand_dims`
            (batch, frames, frequencies, channels); with the channels first by `data_format`

    Errors:
        ValueError: `frame_step` or `fft_length` does not fit `frame_length`; a window of another length.
        TypeError: the input has integers.

    Example:
        >>> STFTSpectrogram(frame_length=64)(torch.zeros(2, 320, 1)).shape
        torch.Size([2, 9, 33])

    Source: https://keras.io/api/layers/preprocessing_layers/audio_preprocessing/stft_spectrogram/
    """

    mode: Annotated[str, one_of("log", "magnitude", "psd", "real", "imag", "angle", "stft")] = "log"
    frame_length: Positive = 256
    frame_step: OptionalPositive = None
    fft_length: OptionalPositive = None
    window: Annotated[Any, _window(*NAMED)] = "hann"
    periodic: bool = False
    scaling: Annotated[Any, one_of("density", "spectrum", None)] = "density"
    padding: Annotated[str, one_of("valid", "same")] = "valid"
    expand_dims: bool = False
    data_format: DataFormat = None

    real_kernel = weight("real.weight", keras="frame one frequencies", torch="frequencies one frame", when="_has_real")
    imag_kernel = weight("imag.weight", keras="frame one frequencies", torch="frequencies one frame", when="_has_imag")

    rank: ClassVar[int] = 1
    _has_real = property(lambda self: self.mode != "imag")
    _has_imag = property(lambda self: self.mode != "real")

    def __init__(self, *args: Any, **given: Any):
        super().__init__(*args, **given)
        what, frame, transform = f"STFTSpectrogram {self.name!r}", self.frame_length, self.fft_length
        if (self.frame_step or 1) > frame:
            raise ValueError(f"{what}: frame_step must be at most frame_length {frame}; found {self.frame_step}.")
        if (transform or frame) < frame:
            raise ValueError(f"{what}: fft_length must be at least frame_length {frame}; found {transform}.")
        if isinstance(self.window, list) and len(self.window) != frame:
            raise ValueError(f"{what}: a window must have frame_length {frame} numbers; found {len(self.window)}.")
        if transform and transform & (transform - 1):
            text = f"{what}: a transform is fast where fft_length is a power of two; found {transform}."
            warnings.warn(text, stacklevel=2)

    @property
    def _sides(self) -> list[str]:
        return ["real"] * self._has_real + ["imag"] * self._has_imag

    @property
    def _step(self) -> int:
        return self.frame_step or max(self.frame_length // 2, 1)

    @property
    def _frequencies(self) -> int:
        return (self.fft_length or 1 << (self.frame_length - 1).bit_length()) // 2 + 1

    def _initializer_of(self, option: str) -> Any:
        return _Waves(option.partition("_")[0], self.window, self.scaling, self.periodic)

    def _make_modules(self, input_shape: Any) -> None:
        if self.padding == "valid":
            self._check_window("frame_length", [self.frame_length], input_shape)
        for side in self._sides:
            setattr(self, side, nn.Conv1d(1, self._frequencies, self.frame_length, self._step, bias=False))

    def forward(self, inputs: Tensor) -> Tensor:
        if not inputs.is_floating_point():
            raise TypeError(f"STFTSpectrogram {self.name!r}: signals must be floating-point; found {inputs.dtype}.")
        parts = self._parts(inputs)
        if self.mode in ("real", "imag"):
            return self._arranged(*parts)
        if self.mode == "stft":
            return self._arranged(torch.cat(parts, 2))
        real, imaginary = parts
        if self.mode == "angle":
            return self._arranged(torch.atan2(imaginary, real))
        powers = real.square() + imaginary.square()
        if self.mode == "psd":
            return self._arranged(powers + F.pad(powers[:, :, 1:-1], (0, 0, 1, 1)))
        found = self._arranged(powers.clamp(min=config.epsilon()).sqrt())
        return found if self.mode == "magnitude" else found.clamp(min=config.epsilon()).log()

    def _parts(self, inputs: Tensor) -> list[Tensor]:
        """The real and the imaginary part, or the one that the mode asks for: (batch, channels, frequencies, frames).

        Each channel is transformed by itself.
        """
        signals = inputs.reshape(-1, 1, inputs.shape[-1])
        signals = pad(signals, self.padding, [self.frame_length], [self._step], [1])
        modules: list[Any] = [self._modules[side] for side in self._sides]
        return [module(signals).unflatten(0, inputs.shape[:2]) for module in modules]

    def _arranged(self, found: Tensor) -> Tensor:
        return found.transpose(2, 3) if self.expand_dims else found.flatten(1, 2)

    class _Facts(Facts):
        def shape_from(self, input_shape: Shape) -> Shape:
            layer = self.layer
            channels, steps = input_shape[layer._axis_of_channels], input_shape[layer._spatial_axes[0]]
            frames = windows(steps, layer.padding, layer.frame_length, layer._step)
            frequencies = layer._frequencies * (2 if layer.mode == "stft" else 1)
            if not layer.expand_dims:
                return layer._shaped(input_shape, [frames], None if channels is None else channels * frequencies)
            return layer._shaped(input_shape, [frames, frequencies], channels)
