"""Train by one process or by several, with the same numbers; nothing in the script says how many.

python examples/several_processes.py
torchrun --nproc-per-node=2 examples/several_processes.py
srun --ntasks=2 python examples/several_processes.py        (examples/slurm.sh)
"""

import numpy as np
import torch
from sklearn.datasets import load_digits

from torchkeras.distribution import initialize, is_main, world_size
from torchkeras.layers import Activation, BatchNormalization, Conv2D, Dense, Flatten, Input, MaxPooling2D
from torchkeras.models import Model

initialize(timeout=600)  # `compile` would do it; a process that waits longer for another one gives up
torch.manual_seed(0)
scans = load_digits()  # 1,797 images of 8 x 8 pixels
images = (scans.images / 16).astype("float32")[..., np.newaxis]
held_out = np.arange(len(images)) % 5 == 0

image = Input((8, 8, 1))
hidden = Activation("relu")(BatchNormalization()(Conv2D(24, 3, use_bias=False)(image)))
digit = Dense(10, activation="softmax")(Flatten()(MaxPooling2D()(hidden)))
model = Model(image, digit)

model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
history = model.fit(
    images[~held_out], scans.target[~held_out],
    batch_size=32,  # of all processes together
    epochs=3, verbose=2,
)  # fmt: skip
numbers = model.evaluate(images[held_out], scans.target[held_out], verbose=0, return_dict=True)

if is_main():  # every process has the same numbers
    print(f"{world_size()} processes, last loss {history.history['loss'][-1]:.5f}, accuracy {numbers['acc']:.3f}")
