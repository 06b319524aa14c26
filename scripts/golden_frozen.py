"""Make tests/golden/frozen-after-compile: a model that trained a step, was frozen, and then saved.

    python scripts/golden_frozen.py FOLDER k2|tf|k3      with Keras 2.2.4, tf.keras 2.15 or Keras 3.15 on torch

So is the discriminator of an adversarial pair. The state in the file is that of the weights that trained at `compile`.
"""

import os
import sys

import numpy as np

folder, which = sys.argv[1:]
if which == "k3":
    os.environ["KERAS_BACKEND"] = "torch"
if which == "tf":
    from tensorflow import keras  # type: ignore[import-not-found]
else:
    import keras  # type: ignore[import-not-found]

models, layers = keras.models, keras.layers
shape = {} if which == "k3" else {"input_shape": (3,)}
model = models.Sequential([layers.Dense(4, activation="tanh", **shape), layers.Dense(1, activation="sigmoid")])
if which == "k3":
    model.build((None, 3))
model.compile("adam", "binary_crossentropy")
random = np.random.RandomState(0)
x, y = random.rand(8, 3).astype("float32"), random.randint(0, 2, (8, 1)).astype("float32")
model.train_on_batch(x, y)
model.trainable = False
np.savez(f"{folder}/{which}_io.npz", x0=x, y0=model.predict(x))
model.save(f"{folder}/{which}.h5")
if which == "tf":
    model.save(f"{folder}/{which}.keras")
