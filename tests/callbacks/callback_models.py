"""Models for the tests of callbacks: one that is none, and a small real one."""

from typing import Any

import numpy as np
import torch

from torchkeras import Input, Model, layers
from torchkeras.callbacks import CallbackList, Logs
from torchkeras.optimizers.by_hand import ByHand, Group

RANDOM = np.random.default_rng(3)
X = RANDOM.standard_normal((24, 4)).astype("float32")
Y = RANDOM.standard_normal((24, 3)).astype("float32")


class FakeOptimizer:
    """A rate, a momentum, and averages that change places with the weights. It has no parameters."""

    _given = None
    as_group = property(Group)
    as_torch = ByHand.as_torch

    def __init__(self, lr: float = 1.0, **options: Any):
        self.lr = lr
        self.swaps = 0
        for name, value in options.items():
            setattr(self, name, value)

    def swap_ema(self) -> None:
        self.swaps += 1

    def state_dict(self) -> dict[str, Any]:
        return dict(vars(self))

    def load_state_dict(self, state: dict[str, Any]) -> None:
        vars(self).update(state)


class FakeModel:
    """Weights that are the number of the epoch; what is asked of it is written down."""

    def __init__(self, lr: float = 1.0, **options: Any):
        self.optimizer = FakeOptimizer(lr, **options)
        self.stop_training = False
        self.epoch = 0
        self.calls: list[list[Any]] = []

    def get_weights(self):
        return [np.array(float(self.epoch))]

    def set_weights(self, weights):
        self.calls.append(["set_weights", float(weights[0])])

    def save(self, path, overwrite=True):
        self.calls.append(["save", path])

    def save_weights(self, path, overwrite=True):
        self.calls.append(["save_weights", path])


class NeverRead(torch.Tensor):
    """A number that nobody may read: what gives its value to the host raises."""

    def item(self) -> Any:
        raise AssertionError("a number was read")

    tolist = __float__ = __bool__ = numpy = cpu = item  # type: ignore[assignment]

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return super().__torch_function__(func, types, args, kwargs or {})


def never_read() -> torch.Tensor:
    return torch.tensor(0.5).as_subclass(NeverRead)


def small(optimizer: Any = "sgd", **options: Any) -> Model:
    torch.manual_seed(0)
    inputs = Input((4,), name="given")
    hidden = layers.Dense(5, activation="relu", name="hidden")(inputs)
    model = Model(inputs, layers.Dense(3, name="out")(hidden))
    model.compile(optimizer, "mse", **options)
    return model


def drive(entries, model=None, epochs=2, steps=3, size=4, numbers=None, batch_logs=None, **params):
    """What the loop does, with a model that is none unless given; `numbers` makes the logs of an epoch."""
    model = FakeModel() if model is None else model
    each = CallbackList(entries)
    names = ["loss", "acc", "val_loss"]
    given = {"epochs": epochs, "steps": steps, "samples": steps * size, "batch_size": size, "metrics": names, **params}
    each.set_params(given)
    each.set_model(model)
    each.on_train_begin()
    for epoch in range(epochs):
        each.on_epoch_begin(epoch)
        for batch in range(steps):
            each.on_train_batch_begin(batch, Logs(batch=batch, size=size))
            each.on_train_batch_end(batch, batch_logs() if batch_logs else Logs(size=size, loss=torch.tensor(0.5)))
            if model.stop_training:
                break
        each.on_test_begin()
        each.on_test_batch_end(0)
        each.on_test_end()
        each.on_epoch_end(epoch, Logs(numbers(epoch) if numbers else {"loss": torch.tensor(1.0 / (epoch + 1))}))
        if model.stop_training:
            break
    each.on_train_end()
    return model
