"""A script as it was written for Keras 1. Nothing in it is changed: `torchkeras run examples/old_script.py`."""

import numpy as np
from keras.layers import Convolution2D, Dense, Flatten, Input, MaxPooling2D, merge
from keras.models import Model
from keras.utils import np_utils
from sklearn.datasets import load_digits

np.random.seed(7)  # noqa: NPY002  # what Keras 1 draws from
scans = load_digits()
x = scans.images[..., np.newaxis] / 16
y = np_utils.to_categorical(scans.target, 10)

image = Input(shape=(8, 8, 1))
fine = Convolution2D(16, 3, 3, border_mode="same", activation="relu")(image)
coarse = Convolution2D(16, 5, 5, border_mode="same", activation="relu")(image)
both = merge([fine, coarse], mode="concat", concat_axis=3)
digit = Dense(10, activation="softmax")(Flatten()(MaxPooling2D((2, 2))(both)))

model = Model(input=image, output=digit)
model.compile(optimizer="adadelta", loss="categorical_crossentropy", metrics=["accuracy"])
model.fit(x[:1500], y[:1500], nb_epoch=5, batch_size=32, verbose=2)
print("loss and accuracy on the others:", model.evaluate(x[1500:], y[1500:], verbose=0))
