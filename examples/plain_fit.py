"""Train a small network on scanned digits, look at the history, save the model, and predict with the saved one."""

import tempfile
from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import load_digits

from torchkeras.callbacks import EarlyStopping
from torchkeras.layers import Conv2D, Dense, Flatten, Input, MaxPooling2D
from torchkeras.models import Model, load_model

torch.manual_seed(0)
scans = load_digits()  # 1,797 images of 8 x 8 pixels
images = (scans.images / 16).astype("float32")[..., np.newaxis]
held_out = np.arange(len(images)) % 5 == 0

image = Input((8, 8, 1))
hidden = MaxPooling2D()(Conv2D(24, 3, activation="relu")(image))
digit = Dense(10, activation="softmax")(Flatten()(hidden))
model = Model(image, digit)
model.summary()

model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
history = model.fit(
    images[~held_out],
    scans.target[~held_out],
    batch_size=32,
    epochs=8,
    validation_data=(images[held_out], scans.target[held_out]),
    callbacks=[EarlyStopping("val_loss", patience=2, restore_best_weights=True)],
    verbose=2,
)
print("reported:", *history.history)
print("best epoch:", 1 + int(np.argmin(history.history["val_loss"])))

numbers = model.evaluate(images[held_out], scans.target[held_out], verbose=0, return_dict=True)
print(f"held-out accuracy: {numbers['acc']:.3f}")

with tempfile.TemporaryDirectory() as folder:
    model.save(Path(folder) / "digits.h5")
    loaded = load_model(Path(folder) / "digits.h5")
same = np.array_equal(loaded.predict(images[held_out]), model.predict(images[held_out]))
print("the loaded model predicts the same:", same)
