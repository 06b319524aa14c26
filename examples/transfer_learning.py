"""Transfer learning from an old file: a network of Keras 1.2.2 on Theano learns to read the scans of a worse scanner.

`data/digits_keras_1.h5` is a genuine file of that version, trained on good scans (`scripts/old_digits.py`). Its network
has channels first. The worse scanner is simulated: its scans are fainter, with noise. Fifty of them are known, five of
each digit, and 747 held out. For so few, a new last layer is best. It takes 7 seconds on one core.

    held-out accuracy: 0.795 as it was, 0.869 with a new last layer, 0.853 after fine-tuning; 0.669 of a new network

python examples/transfer_learning.py [epochs]
"""

import sys
from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import load_digits

from torchkeras.layers import Dense, Dropout
from torchkeras.models import Model, clone_model, convert_data_format, load_model
from torchkeras.optimizers import Adam

EPOCHS = int(sys.argv[1]) if len(sys.argv) > 1 else 60
FILE = Path(__file__).parent / "data" / "digits_keras_1.h5"

scans = load_digits()
noise = np.random.default_rng(0).normal(0, 0.12, scans.images.shape)
worse = np.clip(0.5 * scans.images / 16 + noise, 0, 1).astype("float32")[1000:, ..., np.newaxis]
classes = scans.target[1000:]  # the old network has seen the first 1,000
known = np.concatenate([np.flatnonzero(classes == digit)[:5] for digit in range(10)])
held_out = np.setdiff1d(np.arange(len(classes)), known)

loaded, report = load_model(FILE, report=True)
print(report)  # what was done to each weight
old = convert_data_format(loaded, "channels_last")


def accuracy(model):
    """The share of held-out scans that a model reads rightly."""
    return (model.predict(worse[held_out]).argmax(-1) == classes[held_out]).mean()


def train(model, rate):
    """Train a model on the known scans."""
    model.compile(Adam(rate), "sparse_categorical_crossentropy")
    model.fit(worse[known], classes[known], batch_size=10, epochs=EPOCHS, verbose=0)
    return accuracy(model)


def with_new_head(network):
    """The layers up to `features`, and a new last layer."""
    features = network.get_layer("features").output
    return Model(network.input, Dense(10, activation="softmax")(Dropout(0.3)(features)))


torch.manual_seed(0)
as_it_was = accuracy(old)
new = train(with_new_head(clone_model(old)), 1e-3)  # a clone has new weights

model = with_new_head(old)
body = [layer for layer in model.layers if layer.weights][:-1]
for layer in body:
    layer.trainable = False
model.summary(show_trainable=True)
new_head = train(model, 3e-3)

for layer in body:
    layer.trainable = True
fine_tuned = train(model, 1e-4)
print(
    f"held-out accuracy: {as_it_was:.3f} as it was, {new_head:.3f} with a new last layer, "
    f"{fine_tuned:.3f} after fine-tuning; {new:.3f} of a new network"
)
