"""A generative adversarial network that writes the digit it is asked for (Mirza and Osindero, arXiv:1411.1784).

Two networks train against each other in a step of their own: one writes scans from noise and a digit, the other tells
them from real ones. A classifier that sees only written scans then has to read real ones. It takes 30 seconds on one
core.

    real scans read rightly by what learned from written ones: 0.906

python examples/gan.py [epochs]
"""

import sys

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier
from torch.nn import functional as F

from torchkeras.layers import Concatenate, Dense, Dropout, Embedding, Flatten, Input, LeakyReLU
from torchkeras.models import Model

EPOCHS = int(sys.argv[1]) if len(sys.argv) > 1 else 80
NOISE = 32


def writer():
    """Noise and a digit to a scan, with pixels from -1 to 1."""
    noise, digit = Input((NOISE,)), Input((1,), dtype="int64")
    x = Concatenate()([noise, Flatten()(Embedding(10, 16)(digit))])
    for width in (128, 256):
        x = LeakyReLU(0.2)(Dense(width)(x))
    return Model([noise, digit], Dense(64, activation="tanh")(x))


def judge():
    """A scan and its digit to a logit, above 0 for real ones."""
    scan, digit = Input((64,)), Input((1,), dtype="int64")
    x = Concatenate()([scan, Flatten()(Embedding(10, 16)(digit))])
    for width in (256, 128):
        x = Dropout(0.3)(LeakyReLU(0.2)(Dense(width)(x)))
    return Model([scan, digit], Dense(1)(x))


class GAN(Model):
    """Two models and the step that trains them, each with an optimizer of its own."""

    def __init__(self):
        super().__init__()
        self.writer, self.judge = writer(), judge()
        self.writing = torch.optim.Adam(self.writer.parameters(), 5e-4, betas=(0.5, 0.999))
        self.judging = torch.optim.Adam(self.judge.parameters(), 5e-4, betas=(0.5, 0.999))

    def forward(self, digits):
        """A new scan of each digit."""
        return self.writer([torch.randn(len(digits), NOISE, device=digits.device), digits])

    def train_step(self, data):
        digits, scans, _ = data
        written = self(digits)
        real, fake = self.judge([scans, digits]), self.judge([written.detach(), digits])
        judged = F.softplus(-real).mean() + F.softplus(fake).mean()
        self.update(self.judging, judged)
        fooled = F.softplus(-self.judge([written, digits])).mean()
        self.update(self.writing, fooled)
        return {"judge": judged, "writer": fooled}

    def update(self, optimizer, loss):
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


torch.manual_seed(0)
scans = load_digits()
pixels = (scans.data / 8 - 1).astype("float32")
held_out = np.arange(len(pixels)) % 5 == 0

model = GAN()
model.compile()  # the step has its own losses and optimizers
model.fit(scans.target[~held_out], pixels[~held_out], batch_size=32, epochs=EPOCHS, verbose=0)

asked = np.repeat(np.arange(10), 100)
written = model.predict(asked[:, np.newaxis])
read = KNeighborsClassifier(5).fit(written, asked).score(pixels[held_out], scans.target[held_out])
print(f"real scans read rightly by what learned from written ones: {read:.3f}")

for row in written[::100].reshape(10, 8, 8).transpose(1, 0, 2):  # one of each digit, side by side
    print("  ".join("".join(" .:oO@"[int((pixel + 1) * 2.99)] for pixel in line) for line in row))
