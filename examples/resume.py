"""A training that is interrupted in the middle of an epoch, and continues when the same script runs again."""

import os
import signal
import tempfile

import numpy as np
import torch
from sklearn.datasets import load_digits

from torchkeras import clear_session
from torchkeras.callbacks import BackupAndRestore, Callback, ReduceLROnPlateau
from torchkeras.layers import Dense, Dropout
from torchkeras.models import Sequential

scans = load_digits()
images = (scans.images / 16).astype("float32").reshape(-1, 64)


class Interruption(Callback):
    """Does what a cluster does when the time is up: sends SIGTERM, here in epoch 3."""

    needed_to_resume = False  # the run goes on without it

    def on_train_batch_end(self, batch, logs=None):
        if self.model.optimizer.iterations == 130:
            os.kill(os.getpid(), signal.SIGTERM)


def train(folder, *callbacks):
    """A user's script, which knows nothing of interruptions; it is the same each time."""
    clear_session()  # layers are numbered from 1, as in a new process
    torch.manual_seed(0)
    model = Sequential([Dense(64, activation="relu", input_shape=(64,)), Dropout(0.3), Dense(10, activation="softmax")])
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    backup = BackupAndRestore(folder, save_freq=20)
    plateau = ReduceLROnPlateau("loss", patience=1)
    history = model.fit(images, scans.target, epochs=6, callbacks=[plateau, backup, *callbacks], verbose=0)
    steps = model.optimizer.iterations
    print(f"  {len(history.epoch)} of 6 epochs, {steps} steps; left in the folder: {sorted(os.listdir(folder))}")
    return model


with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
    print("without a stop:")
    straight = train(other)
    print("interrupted:")
    train(folder, Interruption())
    print("run again:")
    resumed = train(folder)

pairs = zip(straight.get_weights(), resumed.get_weights(), strict=True)
print("the weights are equal, bit by bit:", all(np.array_equal(one, two) for one, two in pairs))
