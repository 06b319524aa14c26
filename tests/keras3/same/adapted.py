"""What preprocessing layers know after `adapt`."""

import numpy as np

ROWS = np.array([[1.0, 2.0], [3.0, 6.0], [5.0, 7.0]], "float32")


def case_mean_and_variance(keras):
    found = {}
    for axis in (-1, None):
        layer = keras.layers.Normalization(axis=axis)
        layer.adapt(ROWS)
        found[str(axis)] = [keras.ops.convert_to_numpy(layer.mean), keras.ops.convert_to_numpy(layer.variance)]
    layer = keras.layers.Normalization(mean=[3.0, 1.0], variance=[2.0, 4.0])
    layer.build((None, 2))
    found["given"] = [keras.ops.convert_to_numpy(layer.mean), keras.ops.convert_to_numpy(layer.variance)]
    found["config"] = [layer.get_config()[name] for name in ("mean", "variance")]
    return found
