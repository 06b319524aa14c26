"""`SwapEMAWeights`: evaluates a model with the moving averages of its weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torchkeras.base.rules import FLAG_OR_DIGIT, read
from torchkeras.callbacks.base import Callback

if TYPE_CHECKING:
    from torchkeras.models.model import Model


class SwapEMAWeights(Callback):
    """Evaluates and predicts with the moving averages of the weights, and trains with the weights themselves.

    The optimizer keeps the averages (`use_ema=True`). Weights and averages change places by `optimizer.swap_ema()`, so
    nothing is lost. After training the weights are in the model again.

    Options:
        swap_on_epoch (bool, default False): whether the averages are in the model from the end of each epoch to the
            beginning of the next one too, so that callbacks after this one, such as ModelCheckpoint, save them.

    Errors:
        ValueError: an option has a bad value, or the optimizer keeps no averages.

    Example:
        >>> SwapEMAWeights(swap_on_epoch=True).swapped
        False

    Source: https://keras.io/api/callbacks/swap_ema_weights/
    """

    state_names = ("swapped",)

    def __init__(self, swap_on_epoch: bool = False):
        self.swap_on_epoch = read("SwapEMAWeights", "swap_on_epoch", FLAG_OR_DIGIT, swap_on_epoch)
        self.swapped = False
        if self.swap_on_epoch:  # otherwise an epoch costs nothing
            self.on_epoch_begin, self.on_epoch_end = self._on_epoch_begin, self._on_epoch_end

    def set_model(self, model: Model) -> None:
        optimizer = getattr(model, "optimizer", None)
        if not getattr(optimizer, "use_ema", False):
            raise ValueError(
                "SwapEMAWeights: the optimizer must have use_ema=True, to keep averages of the weights; found "
                f"{'no optimizer' if optimizer is None else type(optimizer).__name__}."
            )
        self.model = model

    def _on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self._put(False)

    def _on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self._put(True)

    def on_train_end(self, logs: Any = None) -> None:
        self._put(False)

    def on_test_begin(self, logs: Any = None) -> None:
        self._put(True)

    def on_test_end(self, logs: Any = None) -> None:
        self._put(False)

    def on_predict_begin(self, logs: Any = None) -> None:
        self._put(True)

    def on_predict_end(self, logs: Any = None) -> None:
        self._put(False)

    def _put(self, averages: bool) -> None:
        """Have the averages in the model, or the weights that are trained."""
        if averages is not self.swapped:
            self.model.optimizer.swap_ema()
            self.swapped = averages
