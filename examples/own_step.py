"""Your own training step: it learns each batch as it is, and with the worst small change of it."""

import numpy as np
import torch
from sklearn.datasets import load_digits

from torchkeras.layers import Dense, Input
from torchkeras.models import Model

CHANGE = 0.1  # of each pixel, which is from 0 to 1


class Steadied(Model):
    """A model trained against the changes of its input that raise its loss most (Goodfellow, arXiv:1412.6572)."""

    def train_step(self, data):
        x, y, sample_weight = data
        worse = self.worse(x, y)
        loss = self.compute_loss(x, y, self(x), sample_weight)
        loss_of_worse = self.compute_loss(worse, y, self(worse), sample_weight)
        self.minimize((loss + loss_of_worse) / 2, samples=len(x))
        return {"loss": loss, "loss_of_worse": loss_of_worse}

    def worse(self, x, y):
        """The images with each pixel changed in the direction that raises the loss."""
        x = x.detach().requires_grad_()
        (slope,) = torch.autograd.grad(self.compute_loss(x, y, self(x)), x)
        return (x + CHANGE * slope.sign()).detach()


scans = load_digits()
images = (scans.images / 16).astype("float32").reshape(-1, 64)
held_out = np.arange(len(images)) % 5 == 0
x, y = torch.from_numpy(images[held_out]), torch.from_numpy(scans.target[held_out])

for kind in (Model, Steadied):
    torch.manual_seed(0)
    pixels = Input((64,))
    model = kind(pixels, Dense(10, activation="softmax")(Dense(64, activation="relu")(pixels)))
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    history = model.fit(images[~held_out], scans.target[~held_out], epochs=8, verbose=0)
    model.eval()
    worse = Steadied.worse(model, x, y[:, None])
    clean, changed = (model.evaluate(each, y, verbose=0, return_dict=True)["acc"] for each in (x, worse))
    print(f"{kind.__name__}: {', '.join(history.history)}; accuracy {clean:.3f}, on changed scans {changed:.3f}")
