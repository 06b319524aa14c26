"""Training on generators by their older names: `fit_generator`, `evaluate_generator`, `predict_generator`."""

from __future__ import annotations

from typing import Any

from torchkeras.callbacks.logging import History
from torchkeras.legacy.arguments import old_names


class GeneratorMethods:
    """The part of a model that Keras 2.2.4 had beside `fit`, `evaluate` and `predict`, which take generators too."""

    fit: Any
    evaluate: Any
    predict: Any

    @old_names("fit_generator")
    def fit_generator(
        self,
        generator: Any,
        steps_per_epoch: int | None = None,
        epochs: int = 1,
        verbose: int = 1,
        callbacks: Any = None,
        validation_data: Any = None,
        validation_steps: int | None = None,
        class_weight: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        shuffle: bool = True,
        initial_epoch: int = 0,
    ) -> History:
        """`fit`, on a generator or Sequence."""
        return self.fit(
            generator, epochs=epochs, verbose=verbose, callbacks=callbacks, validation_data=validation_data,
            shuffle=shuffle, class_weight=class_weight, initial_epoch=initial_epoch, steps_per_epoch=steps_per_epoch,
            validation_steps=validation_steps, max_queue_size=max_queue_size, workers=workers,
            use_multiprocessing=use_multiprocessing,
        )  # fmt: skip

    @old_names("evaluate_generator")
    def evaluate_generator(
        self,
        generator: Any,
        steps: int | None = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        verbose: int = 0,
    ) -> Any:
        """`evaluate`, on a generator or Sequence."""
        return self.evaluate(
            generator, verbose=verbose, steps=steps, max_queue_size=max_queue_size, workers=workers,
            use_multiprocessing=use_multiprocessing,
        )  # fmt: skip

    @old_names("predict_generator")
    def predict_generator(
        self,
        generator: Any,
        steps: int | None = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        verbose: int = 0,
    ) -> Any:
        """`predict`, on a generator or Sequence."""
        return self.predict(
            generator, verbose=verbose, steps=steps, max_queue_size=max_queue_size, workers=workers,
            use_multiprocessing=use_multiprocessing,
        )  # fmt: skip
