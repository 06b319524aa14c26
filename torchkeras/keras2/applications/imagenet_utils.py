"""`keras.applications.imagenet_utils`: images as networks want them, and what their outputs mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from torchkeras import config
from torchkeras.engine.symbolic.tensor import KerasTensor
from torchkeras.keras2.applications.frozen import frozen
from torchkeras.keras2.extras import extra
from torchkeras.keras2.renamed import renamed
from torchkeras.utils import imagenet

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
            return imagenet.of_tensor(x, data_format or config.image_data_format(), mode)
        return _of_arrays(x, data_format=data_format, mode=mode)

    return preprocess_input


preprocess_input = preprocessing("caffe")
