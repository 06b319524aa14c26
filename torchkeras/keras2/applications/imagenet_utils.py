"""`keras.applications.imagenet_utils`: images as networks want them, and what their outputs mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from torchkeras import config
from torchkeras.base.dtypes import dtype_of
from torchkeras.engine.symbolic.tensor import KerasTensor
from torchkeras.keras2.applications.frozen import frozen
from torchkeras.keras2.extras import extra
from torchkeras.keras2.renamed import renamed

MEAN = (0.485, 0.456, 0.406)  # of the red, green and blue of ImageNet's images, from 0 to 1
DEVIATION = (0.229, 0.224, 0.225)
MEAN_BLUE_FIRST = (103.939, 116.779, 123.68)  # from 0 to 255

decode_predictions = frozen("imagenet_utils", "decode_predictions")
_of_arrays = frozen("imagenet_utils", "preprocess_input")
_obtain_input_shape = renamed(include_top="require_flatten", dim_ordering="data_format")(
    extra("keras_applications.imagenet_utils")._obtain_input_shape
)


def preprocessing(usual: str) -> Callable[..., Any]:
    """The `preprocess_input` of networks that were trained on images of a mode."""

    @renamed(dim_ordering="data_format")
    def preprocess_input(x: Any, data_format: str | None = None, mode: str = usual) -> Any:
        """Images from 0 to 255 in red, green, blue, as networks for ImageNet want them.

        Arguments:
            x (array or tensor): an image or a batch. An array of floats is overwritten.
            data_format (text or None, default None): None is the one that is set.
            mode (text): "caffe" for blue, green, red less their means; "tf" for -1 to 1; "torch" for 0 to 1 less the
                means, divided by the deviations.

        Returns:
            The images; a symbolic tensor for one.
        """
        if isinstance(x, (torch.Tensor, KerasTensor)):
            return _of_tensor(x, data_format or config.image_data_format(), mode)
        return _of_arrays(x, data_format=data_format, mode=mode)

    return preprocess_input


def _of_tensor(x: Any, data_format: str, mode: str) -> Any:
    if mode == "tf":
        return x / 127.5 - 1.0
    first = data_format == "channels_first"
    dtype = x.dtype if x.is_floating_point() else dtype_of(config.floatx())

    def by_channel(values: Any) -> torch.Tensor:
        return torch.tensor(values, dtype=dtype, device=x.device).reshape((3, 1, 1) if first else (3,))

    if mode == "torch":
        return (x / 255.0 - by_channel(MEAN)) / by_channel(DEVIATION)
    return torch.flip(x, (-3 if first else -1,)) - by_channel(MEAN_BLUE_FIRST)


preprocess_input = preprocessing("caffe")
