"""Your own callback: after each epoch it finds the digit that the model knows least, for other callbacks to watch."""

import numpy as np
import torch
from sklearn.datasets import load_digits

from torchkeras.callbacks import Callback, EarlyStopping
from torchkeras.layers import Dense
from torchkeras.models import Sequential


class HardestDigit(Callback):
    """Adds `hardest_acc` to the logs of an epoch: the accuracy on the digit that the model knows least.

    `hardest`: these digits, one an epoch.
    """

    state_names = ("hardest",)  # what BackupAndRestore keeps of it

    def __init__(self, images, classes):
        self.images, self.classes = images, classes
        self.hardest = []

    def on_train_begin(self, logs=None):
        self.hardest = []

    def on_epoch_end(self, epoch, logs=None):
        right = self.model.predict(self.images).argmax(-1) == self.classes
        by_digit = [right[self.classes == digit].mean() for digit in range(10)]
        self.hardest.append(int(np.argmin(by_digit)))
        logs["hardest_acc"] = float(min(by_digit))  # History and the callbacks after this one see it


torch.manual_seed(0)
scans = load_digits()
images = (scans.images / 16).astype("float32").reshape(-1, 64)
held_out = np.arange(len(images)) % 5 == 0

model = Sequential([Dense(64, activation="relu", input_shape=(64,)), Dense(10, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
hardest = HardestDigit(images[held_out], scans.target[held_out])
enough = EarlyStopping("hardest_acc", patience=2)  # no longer better
history = model.fit(
    images[~held_out], scans.target[~held_out], batch_size=16, epochs=20, callbacks=[hardest, enough], verbose=0
)
for digit, accuracy in zip(hardest.hardest, history.history["hardest_acc"], strict=True):
    print(f"least known: {digit}, of which {accuracy:.0%} are right")
