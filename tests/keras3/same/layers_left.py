"""Layers: a class without `call`, and images that are made larger."""

from __future__ import annotations

from typing import Any

import numpy as np


def _images(*shape: int) -> np.ndarray:
    return np.sin(np.arange(int(np.prod(shape)), dtype="float32")).reshape(shape)


def _error(compute: Any) -> str | None:
    try:
        compute()
    except (NotImplementedError, ValueError) as error:
        return type(error).__name__
    return None


def case_layers_without_call(keras: Any) -> dict[str, Any]:
    class Nothing(keras.layers.Layer):
        pass

    class Inherits(keras.layers.Identity):
        pass

    x = _images(2, 3)
    return {
        "by hand": _error(lambda: Nothing()(x)),
        "in a graph": _error(lambda: Nothing()(keras.Input((3,)))),
        "Layer itself": _error(lambda: keras.layers.Layer()(x)),
        "an inherited call": keras.ops.convert_to_numpy(Inherits()(x)),
    }


def case_upsampled_images(keras: Any) -> dict[str, Any]:
    found = {}
    for interpolation in ("nearest", "bilinear", "bicubic"):
        for size in (2, (2, 3), (1, 4)):
            layer = keras.layers.UpSampling2D(size, interpolation=interpolation)
            found[f"{interpolation} {size}"] = keras.ops.convert_to_numpy(layer(_images(2, 4, 5, 2)))
            whole = (_images(2, 4, 5, 2) * 100).astype("int32")
            found[f"{interpolation} {size} of integers"] = keras.ops.convert_to_numpy(layer(whole))
        first = keras.layers.UpSampling2D(2, "channels_first", interpolation)
        found[f"{interpolation} channels first"] = keras.ops.convert_to_numpy(first(_images(2, 3, 4, 5)))
        inputs = keras.Input((4, None, 2))
        model = keras.Model(inputs, keras.layers.UpSampling2D((2, 3), interpolation=interpolation)(inputs))
        found[f"{interpolation} in a model"] = [list(model.output.shape), model.predict(_images(2, 4, 5, 2), verbose=0)]
    return found


def case_upsampling_refuses(keras: Any) -> dict[str, Any]:
    def compute(interpolation: str) -> Any:
        return keras.layers.UpSampling2D(2, interpolation=interpolation)(_images(1, 4, 5, 2))

    return {name: _error(lambda name=name: compute(name)) for name in ("lanczos3", "lanczos5", "area", "cubic")}
