"""Files by Keras 3 of a Bidirectional that is unrolled over a mask, and of one that is not.

    KERAS_BACKEND=tensorflow python golden_unrolled_masks.py tests/golden/tf.keras-unrolled-masks

Each becomes `VERSION-NAME.keras`, with its inputs and outputs in `VERSION-NAME.npz`. On torch, Keras 3.15 cannot call
the unrolled one. See `tests/saving/test_unrolled_masks.py`.
"""

import os
import sys

import keras
import numpy as np

L = keras.layers
version = ".".join(keras.__version__.split(".")[:2])
random = np.random.RandomState(3)
MODELS = {"gru": {"unroll": True}, "rolled": {}}


def main(folder):
    for name, options in MODELS.items():
        inputs = L.Input((5, 3))
        outputs = L.Bidirectional(L.GRU(2, return_sequences=True, **options))(L.Masking()(inputs))
        model = keras.Model(inputs, outputs)
        model.set_weights([random.uniform(-0.6, 0.6, w.shape) for w in model.get_weights()])
        x = random.uniform(-1, 1, (2, 5, 3)).astype("float32")
        x[0, 3:], x[1, 0], x[1, 2] = 0, 0, 0  # padding, and gaps
        place = os.path.join(folder, f"{version}-{name}")
        model.save(place + ".keras")
        np.savez(place + ".npz", x=x, y=model.predict(x, verbose=0))


main(sys.argv[1])
