"""`Trainer`: `fit` and `evaluate`, beside `predict` and the methods for one batch and for generators."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

import numpy as np
import torch
from tqdm import tqdm

from torchkeras.base.arrays import to_numpy
from torchkeras.base.rules import FLAG_OR_DIGIT, check
from torchkeras.callbacks.base import CallbackList
from torchkeras.callbacks.logging import History
from torchkeras.callbacks.logs import Logs
from torchkeras.callbacks.progress import level
from torchkeras.engine.data import checks
from torchkeras.engine.data.sources import Source
from torchkeras.engine.data.sources.arrays import ArraySource
from torchkeras.engine.fit import runs
from torchkeras.engine.fit.custom_steps import own_step
from torchkeras.engine.fit.distributing import check_unwrapped
from torchkeras.engine.fit.generator_methods import GeneratorMethods
from torchkeras.engine.fit.one_batch import OneBatch
from torchkeras.engine.fit.predicting import Predicting
from torchkeras.engine.fit.resume import Run
from torchkeras.engine.fit.turns import one_trains
from torchkeras.engine.speed.auto_compile import Auto
from torchkeras.engine.step.step import losses
from torchkeras.engine.step.targets import check_units
from torchkeras.engine.symbolic.tensor import unpacked
from torchkeras.legacy.arguments import old_names

AROUND = ("history", "stop_training", "_validated", "_fits")  # what a `fit` leaves as it was where it is inside another


class Trainer(GeneratorMethods, Predicting, OneBatch, abstract=True):
    """Training and evaluating, added to a network."""

    history: Any = None
    stop_training = False
    _fits = False  # whether a `fit` is under way
    _validated: Source | None = None  # what the `fit` under way validates on

    @property
    def _validation_arrays(self) -> list[np.ndarray] | None:
        """While `fit` validates on arrays: its inputs, targets and weights, one after another."""
        if not isinstance(self._validated, ArraySource):
            return None
        data = self._validated.data
        weights = [torch.ones(len(data), device="cpu") if weight is None else weight for weight in data.weights]
        return [to_numpy(tensor) for tensor in (*data.inputs, *data.targets, *weights)]

    @one_trains
    @old_names("fit")
    def fit(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose: int | str = 1,
        callbacks: Any = None,
        validation_split: float = 0.0,
        validation_data: Any = None,
        shuffle: Any = None,
        class_weight: Any = None,
        sample_weight: Any = None,
        initial_epoch: int = 0,
        steps_per_epoch: int | None = None,
        validation_steps: int | None = None,
        validation_batch_size: int | None = None,
        validation_freq: Any = 1,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
    ) -> History:
        """Train for `epochs` passes over the data.

        Arguments:
            x (data, default None): the inputs: an array or tensor, several in a list or in a dict by name, a data
                frame, an HDF5 dataset; or batches with their targets: a torch Dataset or DataLoader, a `Sequence`, or a
                generator of (x, y) or (x, y, sample_weight).
            y (data, default None): the targets, in the same forms; None when `x` makes batches with their targets.
            batch_size (positive integer or None, default None): samples in a batch; None is 32, or the batch size that
                the model's inputs have. Not for `x` that makes its own batches.
            epochs (integer, default 1): the epoch to stop before: training runs `epochs - initial_epoch` epochs.
            verbose (0, 1, 2 or "auto", default 1): 0 shows nothing, 1 and "auto" a bar for each epoch, 2 a line for
                each.
            callbacks (callback or list, default None): what is called during training; schedulers of torch may be among
                them.
            validation_split (float of at least 0 and below 1, default 0.0): the last part of the data, kept for
                validation.
            validation_data (data, default None): (x, y) or (x, y, sample_weight), or what makes its own batches; used
                in place of `validation_split`.
            shuffle (bool, "batch" or None, default None): True shuffles samples, "batch" shuffles whole batches, False
                keeps the order; of a `Sequence` either shuffles the batches. None is True, but for a generator, a
                DataLoader and the like, which have their own order and refuse True; a DataLoader that shuffles refuses
                False. HDF5 data needs "batch" or False.
            class_weight (dict or None, default None): a weight for each class number; for several outputs a list or a
                dict.
            sample_weight (array or None, default None): a weight for each sample, or for each time step where `compile`
                was given sample_weight_mode="temporal".
            initial_epoch (integer, default 0): the number of the first epoch.
            steps_per_epoch (positive integer or None, default None): the batches of an epoch; None takes all. A
                generator needs it.
            validation_steps (positive integer or None, default None): the batches of a validation; None takes all.
            validation_batch_size (positive integer or None, default None): samples in a batch of the validation; None
                is the size for training.
            validation_freq (positive integer or list, default 1): validate after every so many epochs, or after those
                listed, counted from 1.
            max_queue_size (positive integer, default 10): how many batches of a `Sequence` or generator are made ahead.
            workers (integer of at least 0, default 1): how many threads or processes make these batches; 0 makes each
                batch when it is needed.
            use_multiprocessing (bool, default False): whether they are processes, not threads.

        Returns:
            A `History`: the reported numbers of each epoch.

        Errors:
            RuntimeError: the model is not compiled, or the user has wrapped it for several processes.
            ValueError: the data does not fit the model, or an option has a bad value.
            TypeError: something among `callbacks` is no callback, or the data holds no numbers.

        Example:
            >>> model = Sequential([Dense(1, input_shape=(2,))])
            >>> model.compile("sgd", "mse")
            >>> history = model.fit(np.ones((8, 2)), np.ones((8, 1)), batch_size=4, epochs=2, verbose=0)
            >>> history.epoch
            [0, 1]

        Source: https://keras.io/api/models/model_training_apis/
        """
        check_unwrapped(self, "fit")
        verbose = level(verbose)
        for name, value in (("epochs", epochs), ("initial_epoch", initial_epoch)):
            checks.check_count("fit", name, value, least=0)
        if initial_epoch > epochs:
            warnings.warn(
                f"fit: initial_epoch {initial_epoch} is past epochs {epochs}, and no epoch runs: epochs is the epoch "
                "to stop before.",
                stacklevel=2,
            )
        due = runs.due_epochs(validation_freq)
        made = {"workers": workers, "use_multiprocessing": use_multiprocessing, "max_queue_size": max_queue_size}
        self._check_compiled()
        if self._trains_alone and validation_data is not None:
            self._step("test")  # which it must have: nothing else could tell what an evaluation is
        intake = self._intake(class_weight)
        source = self._source(
            intake, x, y, sample_weight, batch_size=batch_size, shuffle=shuffle, steps=steps_per_epoch, method="fit",
            raw=own_step(self, "train") is not None, shuffles=True, **made,
        )  # fmt: skip
        shuffle = True if shuffle is None else shuffle
        size = source.batch_size if validation_batch_size is None else validation_batch_size
        if validation_data is None and not validation_split:
            for name, value, default in (
                ("validation_steps", validation_steps, None),
                ("validation_batch_size", validation_batch_size, None),
                ("validation_freq", validation_freq, 1),
            ):
                if value != default:
                    raise ValueError(f"fit: {name} goes with validation data; there is none.")
        source, validation = self._validation(
            source, validation_split, validation_data, size, validation_batch_size, validation_steps, made
        )
        compiled, names = self._ready(), self.metrics_names
        if compiled.targets:
            check_units(compiled.network._graphed, compiled.targets)
        around = {name: getattr(self, name) for name in AROUND}  # of the fit whose callback calls this one
        history = self.history = History()
        hooks = self._hooks(callbacks, source, verbose, epochs, validation is not None, history)
        checks.check_executions(self.steps_per_execution, hooks)
        self.stop_training = False
        if validation is not None:
            self._step("test")  # a model that cannot be evaluated is refused before the first epoch
        given = {
            "shuffle": shuffle, "class_weight": class_weight, "validation_freq": validation_freq,
            "initial_epoch": initial_epoch,
        }  # fmt: skip
        run = Run(self, source, hooks, initial_epoch, validation, {**given, "sample_weight": sample_weight})
        validate = None if validation is None else partial(self._validate, source, validation, size is None)
        apart = self._counted_apart("fit")
        order = "batch" if shuffle == "batch" else "shuffled" if shuffle else "sequential"
        together = self._together(
            "fit", source, validation, **given, epochs=epochs, verbose=verbose,
            callbacks=[type(each).__name__ for each in hooks],
            validation=None if validation is None else [validation.samples, validation.batch_size, validation.steps],
        )  # fmt: skip
        running = nullcontext() if self._processes is None else self._processes.running(hooks)
        try:
            choosing = self._choosing(run, epochs, hooks, verbose)
            with apart, together, self._collected(compiled), self._mode(True), choosing, running:
                self.__dict__.update(_validated=validation, _fits=True)
                owned = own_step(self, "train") is not None
                step = partial(self._step, "train")
                plan = runs.Plan(epochs, order, names, step, validate, due, owned, self.steps_per_execution)
                runs.fit(self, run, plan, hooks)
        except BaseException:
            if self.optimizer is not None:
                self.optimizer.drop_accumulated()
            raise
        finally:
            for each in (source, validation):
                if each is not None:
                    each.close()
            self.__dict__.update(around if around["_fits"] else {"_validated": None, "_fits": False})
            for callback in hooks:
                if hasattr(callback, "abandon"):
                    callback.abandon()
        return history

    def _validate(
        self, trained: Source, source: Source, by_last_batch: bool, hooks: CallbackList, run: Run
    ) -> runs.Numbers | None:
        """The validation after an epoch; as in Keras 2.2.4 there is none when a batch ended the training.

        `by_last_batch`: the batch size is that of the last batch, where nothing else tells it, as there too.
        """
        whole = trained.samples is None and run.sums.batches == trained.steps
        if self.stop_training and not whole:
            return None
        if by_last_batch and isinstance(source, ArraySource):
            source.batch_size = run.sums.last_size
        return self._evaluate(source, hooks)

    @contextmanager
    def _choosing(self, run: Run, epochs: int, hooks: CallbackList, verbose: int) -> Iterator[None]:
        """The run inside may change to a compiled step, unless it is to come out the same bit by bit."""
        auto = self._ready().learn
        if not isinstance(auto, Auto):
            yield
            return
        known = run.source.steps
        again = torch.are_deterministic_algorithms_enabled() or any(hasattr(each, "resume") for each in hooks)
        steps = None if known is None else known * (epochs - run.epoch)
        auto.begin(steps, not again, tqdm.write if verbose == 1 else None)
        try:
            yield
        finally:
            auto.end()

    def _evaluate(self, source: Source, hooks: CallbackList) -> runs.Numbers:
        with self._mode(False), torch.no_grad():
            if self._processes is not None:
                self._processes.align(self)
            owned, compiled = own_step(self, "test") is not None, self._ready()
            late = not owned and compiled.score is losses
            return runs.evaluate(
                compiled, self._step("test"), source, hooks, self.metrics_names, owned, late, self.steps_per_execution,
                self._processes,
            )  # fmt: skip

    @old_names("evaluate")
    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        verbose: int | str = 1,
        sample_weight: Any = None,
        steps: int | None = None,
        callbacks: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        return_dict: bool = False,
    ) -> Any:
        """The loss and metrics over the data, in evaluation mode.

        Arguments:
            x (data, default None): the inputs, or batches with their targets, in the forms that `fit` takes.
            y (data, default None): the targets; None when `x` makes batches with their targets.
            batch_size (positive integer or None, default None): samples in a batch; None is 32, or the batch size that
                the model's inputs have.
            verbose (0, 1, 2 or "auto", default 1): 0 shows nothing, 1 and "auto" a bar, 2 a line.
            sample_weight (array or None, default None): a weight for each sample.
            steps (positive integer or None, default None): the number of batches; None takes all. A generator needs it.
            callbacks (callback or list, default None): what is called during the evaluation.
            max_queue_size (positive integer, default 10): how many batches of a `Sequence` or generator are made ahead.
            workers (integer of at least 0, default 1): how many threads or processes make these batches.
            use_multiprocessing (bool, default False): whether they are processes, not threads.
            return_dict (bool, default False): whether to return the numbers by name.

        Returns:
            The loss; with metrics a list in the order of `metrics_names`, or with `return_dict` a dict.

        Errors:
            RuntimeError: the model is not compiled, or the user has wrapped it for several processes.
            ValueError: the data does not fit the model, or an option has a bad value.

        Example:
            >>> model = Sequential([Dense(1, input_shape=(2,), kernel_initializer="ones")])
            >>> model.compile("sgd", "mse")
            >>> model.evaluate(np.ones((4, 2)), np.zeros((4, 1)), verbose=0)
            4.0

        Source: https://keras.io/api/models/model_training_apis/
        """
        check("evaluate", FLAG_OR_DIGIT, return_dict=return_dict)
        check_unwrapped(self, "evaluate")
        made = {"workers": workers, "use_multiprocessing": use_multiprocessing, "max_queue_size": max_queue_size}
        self._check_compiled()
        if self._trains_alone:
            self._step("test")
        source = self._source(
            self._intake(), x, y, sample_weight, batch_size=batch_size, shuffle=None, steps=steps, method="evaluate",
            raw=own_step(self, "test") is not None, **made,
        )  # fmt: skip
        try:
            with self._counted_apart("evaluate"), self._together("evaluate", source):
                numbers = Logs(self._evaluate(source, self._hooks(callbacks, source, verbose))).copy()
        finally:
            source.close()
        return numbers if return_dict else unpacked(list(numbers.values()))
