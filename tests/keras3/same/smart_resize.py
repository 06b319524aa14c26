"""`keras.preprocessing`: the middle of images in another size, and older names."""

from typing import Any

import numpy as np


def case_smart_resize(keras: Any):
    """Every proportion, rank, type and interpolation."""
    random, found = np.random.RandomState(0), {}
    for shape in [(8, 6, 3), (2, 5, 9, 1), (7, 7, 3)]:
        for dtype in ("float32", "uint8"):
            x = (random.rand(*shape) * 255).astype(dtype)
            for size in [(4, 4), (6, 2)]:
                for interpolation in ("bilinear", "nearest"):
                    y = keras.preprocessing.image.smart_resize(x, size, interpolation)
                    found[f"{shape} {dtype} {size} {interpolation}"] = [str(y.dtype), y.astype("float32")]
    first = np.moveaxis(random.rand(8, 6, 3), -1, 0)
    found["channels first"] = keras.preprocessing.image.smart_resize(first, (4, 3), data_format="channels_first")
    return found


def case_older_names(keras: Any):
    """Names that are those of `keras.utils`."""
    preprocessing = keras.preprocessing
    return {
        "image": [
            getattr(preprocessing.image, name) is getattr(keras.utils, name) for name in ("load_img", "save_img")
        ],
        "folders": preprocessing.image_dataset_from_directory is keras.utils.image_dataset_from_directory,
        "padded": preprocessing.sequence.pad_sequences([[1], [2, 3]], maxlen=3),
    }
