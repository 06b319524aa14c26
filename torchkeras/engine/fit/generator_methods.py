"""Training on generators under the older names: `fit_generator`, `evaluate_generator`, `predict_generator`."""

from __future__ import annotations

from typing import Any

from torchkeras.callbacks.logging import History
from torchkeras.legacy.arguments import old_names


class GeneratorMethods:
    """Keras 2.2.4's methods for generators; `fit`, `evaluate` and `predict` take generators too."""

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
        """`fit` on a generator or `Sequence`.

        Arguments:
            generator (generator or Sequence): batches (x, y) or (x, y, sample_weight).
            steps_per_epoch (positive integer or None, default None): the batches of an epoch; a generator needs it.
            epochs (integer, default 1): the epoch to stop before.
            verbose (0, 1 or 2, default 1): 0 shows nothing, 1 a bar for each epoch, 2 a line for each.
            callbacks (callback or list, default None): what is called during training.
            validation_data (data, default None): (x, y) or (x, y, sample_weight), or what makes its own batches.
            validation_steps (positive integer or None, default None): the batches of a validation.
            class_weight (dict or None, default None): a weight for each class number.
            max_queue_size (positive integer, default 10): how many batches are made ahead.
            workers (integer of at least 0, default 1): how many threads or processes make the batches.
            use_multiprocessing (bool, default False): whether they are processes, not threads.
            shuffle (bool, default True): whether the batches of a `Sequence` are shuffled; a generator has its own
                order.
            initial_epoch (integer, default 0): the number of the first epoch.

        Returns:
            A `History`: the reported numbers of each epoch.
        """
        return self.fit(
            generator, epochs=epochs, verbose=verbose, callbacks=callbacks, validation_data=validation_data,
            shuffle=None if shuffle is True else shuffle, class_weight=class_weight, initial_epoch=initial_epoch,
            steps_per_epoch=steps_per_epoch,
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
        """`evaluate` on a generator or `Sequence`.

        Arguments:
            generator (generator or Sequence): batches (x, y) or (x, y, sample_weight).
            steps (positive integer or None, default None): the number of batches; a generator needs it.
            max_queue_size (positive integer, default 10): how many batches are made ahead.
            workers (integer of at least 0, default 1): how many threads or processes make the batches.
            use_multiprocessing (bool, default False): whether they are processes, not threads.
            verbose (0, 1 or 2, default 0): 0 shows nothing, 1 a bar, 2 a line.

        Returns:
            The loss; with metrics a list in the order of `metrics_names`.
        """
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
        """`predict` on a generator or `Sequence`.

        Arguments:
            generator (generator or Sequence): batches of inputs; targets in them are ignored.
            steps (positive integer or None, default None): the number of batches; a generator needs it.
            max_queue_size (positive integer, default 10): how many batches are made ahead.
            workers (integer of at least 0, default 1): how many threads or processes make the batches.
            use_multiprocessing (bool, default False): whether they are processes, not threads.
            verbose (0, 1 or 2, default 0): 0 shows nothing, 1 a bar, 2 a line.

        Returns:
            The outputs as NumPy arrays.
        """
        return self.predict(
            generator, verbose=verbose, steps=steps, max_queue_size=max_queue_size, workers=workers,
            use_multiprocessing=use_multiprocessing,
        )  # fmt: skip
