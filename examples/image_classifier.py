"""Classify scanned digits from few examples: a layer of the model shifts the scans while it trains.

360 scans of scikit-learn are learned, the other 1,437 are held out. Both runs together take 15 seconds on one core.

    held-out accuracy: 0.978 without augmentation, 0.988 with it

python examples/image_classifier.py [epochs]
"""

import sys

import numpy as np
import torch
from sklearn.datasets import load_digits

from torchkeras.layers import (
    Activation,
    BatchNormalization,
    Conv2D,
    Dense,
    Dropout,
    Flatten,
    Input,
    MaxPooling2D,
    RandomTranslation,
)
from torchkeras.models import Model, Sequential
from torchkeras.optimizers import Adam
from torchkeras.optimizers.schedules import CosineDecay

EPOCHS = int(sys.argv[1]) if len(sys.argv) > 1 else 60

scans = load_digits()
images = (scans.images / 16).astype("float32")[..., np.newaxis]  # 8 x 8 pixels from 0 to 1, one channel
held_out = np.arange(len(images)) % 5 != 0


def block(image, filters):
    """A convolution whose outputs are normalized."""
    return Activation("relu")(BatchNormalization()(Conv2D(filters, 3, padding="same", use_bias=False)(image)))


def classifier(*augmentation):
    """A convolutional network behind layers that change its images in training, and only there."""
    image = Input((8, 8, 1))
    changed = Sequential([Input((8, 8, 1)), *augmentation])(image) if augmentation else image
    features = MaxPooling2D()(block(block(changed, 32), 32))
    features = Flatten()(MaxPooling2D()(block(features, 64)))
    return Model(image, Dense(10, activation="softmax")(Dropout(0.3)(features)))


def accuracy(*augmentation):
    """The share of held-out scans that a newly trained classifier reads rightly."""
    torch.manual_seed(0)
    model = classifier(*augmentation)
    steps = EPOCHS * -(-len(images[~held_out]) // 32)
    model.compile(Adam(CosineDecay(2e-3, steps)), "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(images[~held_out], scans.target[~held_out], 32, EPOCHS, verbose=0)
    return model.evaluate(images[held_out], scans.target[held_out], verbose=0, return_dict=True)["accuracy"]


without = accuracy()
augmented = accuracy(RandomTranslation(0.12, 0.12, fill_mode="constant"))  # up to a pixel; black comes in at the edges
print(f"held-out accuracy: {without:.3f} without augmentation, {augmented:.3f} with it")
