"""`keras.ops.numpy`: the functions of `keras.ops` that NumPy has too."""

from typing import TYPE_CHECKING, Any

from torchkeras.keras3.operations import FUNCTIONS as _FUNCTIONS
from torchkeras.keras3.ops import linalg as _linalg, nn as _nn

_NOT_NUMPY = """
associative_scan cast cdist cond convert_to_numpy convert_to_tensor custom_gradient dtype erf erfc erfinv
extract_sequences fft fft2 fori_loop ifft2 in_top_k irfft is_tensor istft logdet logsumexp map rearrange rfft rsqrt
saturate_cast scan scatter scatter_update segment_max segment_min segment_prod segment_sum shape slice slice_update
stft stop_gradient switch top_k unstack vectorized_map view_as_complex view_as_real while_loop
"""
_OTHERS = {*_linalg.__all__, *_nn.__all__, *_NOT_NUMPY.split()}
__all__ = [name for name in _FUNCTIONS if "." not in name and name not in _OTHERS]  # pyright: ignore[reportUnsupportedDunderAll]
globals().update({name: _FUNCTIONS[name] for name in __all__})

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...
