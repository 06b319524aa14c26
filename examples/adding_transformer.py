"""A small transformer learns to add: it continues "48+87=" with "531", the digits of the sum from the last one on.

Each position attends to those before it, and predicts the next character (Vaswani et al., arXiv:1706.03762). It learns
from 7,000 of the 10,000 sums of two numbers below 100, and is asked for the others. It takes 20 seconds on one core.

    held-out sums that are right: 1.000

python examples/adding_transformer.py [epochs]
"""

import sys

import numpy as np
import torch

from torchkeras.layers import Dense, Embedding, Input, Layer, LayerNormalization, MultiHeadAttention
from torchkeras.models import Model
from torchkeras.optimizers import Adam
from torchkeras.optimizers.schedules import CosineDecay

EPOCHS = int(sys.argv[1]) if len(sys.argv) > 1 else 12
CHARACTERS = "0123456789+="
WIDTH, HEADS, BLOCKS = 64, 4, 2
QUESTION = len("48+87=")


class Positions(Layer):
    """Adds a learned vector for each position."""

    def build(self, input_shape):
        self.vectors = self.add_weight("vectors", shape=input_shape[1:], initializer="uniform")

    def call(self, inputs):
        return inputs + self.vectors


def block(x):
    """What other positions know, then what follows from it; each is added to what was there."""
    normal = LayerNormalization()(x)
    x = x + MultiHeadAttention(HEADS, WIDTH // HEADS)(normal, normal, use_causal_mask=True)
    return x + Dense(WIDTH)(Dense(4 * WIDTH, activation="gelu")(LayerNormalization()(x)))


torch.manual_seed(0)
first, second = np.divmod(np.random.default_rng(0).permutation(10_000), 100)
sums = [f"{a:02}+{b:02}=" + f"{a + b:03}"[::-1] for a, b in zip(first, second, strict=True)]
coded = np.array([[CHARACTERS.index(character) for character in line] for line in sums])
learned, asked = coded[:7000], coded[7000:]

characters = Input((coded.shape[1] - 1,))
x = Positions()(Embedding(len(CHARACTERS), WIDTH)(characters))
for _ in range(BLOCKS):
    x = block(x)
model = Model(characters, Dense(len(CHARACTERS), activation="softmax")(LayerNormalization()(x)))

answers = np.arange(coded.shape[1] - 1) >= QUESTION - 1  # the question cannot be predicted: it has no weight
weights = np.tile(answers.astype("float32"), (len(learned), 1))
steps = EPOCHS * -(-len(learned) // 128)
model.compile(Adam(CosineDecay(3e-3, steps)), "sparse_categorical_crossentropy", sample_weight_mode="temporal")
model.fit(learned[:, :-1], learned[:, 1:, None], 128, EPOCHS, sample_weight=weights, verbose=2)

lines = asked.copy()
lines[:, QUESTION:] = 0
for position in range(QUESTION, coded.shape[1]):  # a character at a time, each after the model's own
    lines[:, position] = model.predict(lines[:, :-1])[:, position - 1].argmax(-1)
right = (lines == asked).all(1)
print(f"held-out sums that are right: {right.mean():.3f}")
for line in lines[:5]:  # in the usual order
    text = "".join(CHARACTERS[character] for character in line)
    print(text[:QUESTION] + text[QUESTION:][::-1])
