"""Train with the processes of Accelerate's launcher.

accelerate launch --multi_gpu --num_processes 2 examples/accelerate_launch.py

(`--multi_gpu` is Accelerate's word for several processes, on machines without a GPU too.)

The launcher says to each process which one it is; `Accelerator()` makes the group, and `compile` uses the group that it
finds. The model, the data and the optimizer are not given to `prepare`: torchkeras shares them itself.
"""

import torch
from accelerate import Accelerator
from sklearn.datasets import load_digits

from torchkeras.layers import Dense, Input
from torchkeras.models import Sequential

accelerator = Accelerator(cpu=not torch.cuda.is_available())
torch.manual_seed(0)
digits = load_digits()
images = (digits.data / 16).astype("float32")

model = Sequential([Input((64,)), Dense(32, activation="relu"), Dense(10, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
history = model.fit(images, digits.target, batch_size=32, epochs=3, verbose=0)

accelerator.print(f"{accelerator.num_processes} processes, last loss {history.history['loss'][-1]:.5f}")
