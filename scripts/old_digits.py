"""Make the file of `examples/transfer_learning.py`: a network that a genuine Keras 1.2.2 trained to read digits.

    KERAS_BACKEND=theano python scripts/old_digits.py examples/data/digits_keras_1.h5

in an environment with Keras 1.2.2, Theano 1.0.4 and scikit-learn. The network has its channels first, and
learns from the first 1,000 scans.
"""

import sys

import numpy as np
import theano.ifelse  # noqa: F401  # Keras 1.2.2 expects it to be imported
from keras.layers import Activation, Convolution2D, Dense, Dropout, Flatten, Input, MaxPooling2D
from keras.models import Model
from keras.preprocessing.image import ImageDataGenerator
from sklearn.datasets import load_digits

np.random.seed(0)  # noqa: NPY002  # what Keras 1 draws from
scans = load_digits()
images = (scans.images / 16).astype("float32")[:, np.newaxis]

image = Input((1, 8, 8), name="scan")
x = Convolution2D(32, 3, 3, border_mode="same", dim_ordering="th", name="edges")(image)
x = Activation("relu", name="edges_relu")(x)
x = Convolution2D(32, 3, 3, border_mode="same", dim_ordering="th", name="strokes")(x)
x = MaxPooling2D((2, 2), dim_ordering="th", name="strokes_pool")(Activation("relu", name="strokes_relu")(x))
x = Convolution2D(64, 3, 3, border_mode="same", dim_ordering="th", name="shapes")(x)
x = MaxPooling2D((2, 2), dim_ordering="th", name="shapes_pool")(Activation("relu", name="shapes_relu")(x))
features = Flatten(name="features")(x)
digit = Dense(10, activation="softmax", name="digit")(Dropout(0.3, name="drop")(features))
model = Model(image, digit)
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])

changed = ImageDataGenerator(rotation_range=10, width_shift_range=0.12, height_shift_range=0.12, dim_ordering="th")
batches = changed.flow(images[:1000], scans.target[:1000], batch_size=32, seed=0)
model.fit_generator(batches, samples_per_epoch=1000, nb_epoch=30, verbose=2)
print("loss and accuracy on the other scans:", model.evaluate(images[1000:], scans.target[1000:], verbose=0))
Model(image, digit).save(sys.argv[1])  # without the state of the optimizer
