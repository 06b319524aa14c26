"""The training surface of a compiled model: fit, evaluate, predict, and the same on one batch or with generators."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import torch
from tqdm import tqdm

from torchkeras.arrays import to_numpy
from torchkeras.callbacks.base import CallbackList
from torchkeras.callbacks.given import as_callbacks
from torchkeras.callbacks.logging import History
from torchkeras.callbacks.logs import Named
from torchkeras.callbacks.progress import level, shown
from torchkeras.engine.data import checks
from torchkeras.engine.data.batch import ArrayData, Batch
from torchkeras.engine.data.sources import Source, open_source
from torchkeras.engine.data.sources.arrays import ArraySource
from torchkeras.engine.fit import runs
from torchkeras.engine.fit.compile import Compiling
from torchkeras.engine.fit.custom_steps import Extending, own_step
from torchkeras.engine.fit.epoch import floats, ordered, results
from torchkeras.engine.fit.generator_methods import GeneratorMethods
from torchkeras.engine.fit.model_data import Intake, describe, fixed_batch_size
from torchkeras.engine.fit.one_process import check_one_process, check_whole
from torchkeras.engine.fit.resume import Run
from torchkeras.engine.graph.call_forms import in_form
from torchkeras.engine.graph.fold_batch_norm import Merged, frozen, keeps_no_tensor
from torchkeras.engine.graph.hook_free_calls import HookFreeCalls
from torchkeras.engine.graph.network import Network
from torchkeras.engine.layer.symbolic import unpacked
from torchkeras.engine.speed.auto_compile import Auto
from torchkeras.engine.step.step import losses, predict_step
from torchkeras.engine.step.targets import check_units
from torchkeras.legacy.arguments import old_names

BATCH_SIZE = 32
WORTH_A_LOOK = 32  # batches, of each of which inference_mode takes a few percent off: from there on a look pays


class Trainer(GeneratorMethods, Compiling, abstract=True):
    """Training and evaluating, added to a network."""

    history: Any = None
    stop_training = False
    _counts = False  # whether an epoch of `fit` is under way
    _validated: Source | None = None  # what the `fit` under way validates on

    @property
    def _validation_arrays(self) -> list[np.ndarray] | None:
        """While `fit` validates on arrays: its inputs, targets and weights, one after another."""
        if not isinstance(self._validated, ArraySource):
            return None
        data = self._validated.data
        weights = [torch.ones(len(data)) if weight is None else weight for weight in data.weights]
        return [to_numpy(tensor) for tensor in (*data.inputs, *data.targets, *weights)]

    # --- data --------------------------------------------------------------------------------------------------------

    def _intake(self, class_weight: Any = None) -> Intake:
        owned = ("train_step", "test_step", "compute_loss")
        free = any(getattr(type(self), name) is not getattr(Extending, name) for name in owned)
        return Intake(self, lambda: self._ready().targets, class_weight, self.target_tensors, free)

    def _source(self, intake: Intake, x: Any, y: Any = None, sample_weight: Any = None, **options: Any) -> Source:
        """What a user gave as data, opened; a model without a graph yet is built for it."""
        method, batch_size = options["method"], options["batch_size"]
        if batch_size is not None:
            checks.check_count(method, "batch_size", batch_size, least=1)
        source = open_source(
            x, y, sample_weight, **options, prepare=intake.batch, check_arrays=intake.arrays, device=self._device,
            default_batch_size=fixed_batch_size(self) or BATCH_SIZE,
        )  # fmt: skip
        raw = options.get("raw", False)
        if not self._is_connected and not (raw and self._trains_alone):
            self._build_for(source, method)
        if raw:
            source.give_raw(intake.raw)
        if source.samples is not None and source.batch_size is not None:
            self._check_batches(source.samples, source.batch_size, method)
        return source

    def _build_for(self, source: Source, method: str) -> None:
        """Build the model for the first batch of a source."""
        if source.once:
            raise ValueError(
                f"{method}: {describe(self)} has no input shape yet, and {source.kind} gives each batch only once: "
                "give the first layer an input_shape, or call model.build(input_shape)."
            )
        with torch.random.fork_rng():
            next(source.batches("sequential"))
        source.close()

    def _check_batches(self, samples: int, batch_size: int, what: str) -> None:
        checks.check_batches(describe(self), fixed_batch_size(self), self.stateful, samples, batch_size, what)

    # --- whole data --------------------------------------------------------------------------------------------------

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
        shuffle: Any = True,
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
            shuffle (bool or "batch", default True): True shuffles samples, "batch" shuffles whole batches, False keeps
                the order. HDF5 data needs "batch" or False. A generator or DataLoader has its own order.
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
            RuntimeError: the model is not compiled, or several processes train.
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
        check_one_process(self, "fit")
        verbose = level(verbose)
        for name, value in (("epochs", epochs), ("initial_epoch", initial_epoch)):
            checks.check_count("fit", name, value, least=0)
        due = runs.due_epochs(validation_freq)
        made = {"workers": workers, "use_multiprocessing": use_multiprocessing, "max_queue_size": max_queue_size}
        self._check_compiled()
        if self._trains_alone and validation_data is not None:
            self._step("test")  # which it must have: nothing else could tell what an evaluation is
        intake = self._intake(class_weight)
        source = self._source(
            intake, x, y, sample_weight, batch_size=batch_size, shuffle=shuffle, steps=steps_per_epoch, method="fit",
            raw=own_step(self, "train") is not None, **made,
        )  # fmt: skip
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
        self.history = History()
        hooks = self._hooks(callbacks, source, verbose, epochs, validation is not None, self.history)
        checks.check_executions(self.steps_per_execution, hooks)
        self.stop_training = False
        if validation is not None:
            self._step("test")  # what cannot be evaluated is told before the first epoch
        run = Run(self, source, hooks, initial_epoch, validation)
        validate = None if validation is None else partial(self._validate, source, validation, size is None)
        self.__dict__["_validated"] = validation
        order = "batch" if shuffle == "batch" else "shuffled" if shuffle else "sequential"
        try:
            with (
                self._collected(compiled),
                self._mode(True),
                self._counting(),
                self._choosing(run, epochs, hooks, verbose),
            ):
                owned = own_step(self, "train") is not None
                step = partial(self._step, "train")
                plan = runs.Plan(epochs, order, names, step, validate, due, owned, self.steps_per_execution)
                runs.fit(self, run, plan, hooks)
        finally:
            for each in (source, validation):
                if each is not None:
                    each.close()
            self.__dict__["_validated"] = None
            for callback in hooks:
                if hasattr(callback, "abandon"):
                    callback.abandon()
        return self.history

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

    @contextmanager
    def _counting(self) -> Iterator[None]:
        self._counts = True
        try:
            yield
        finally:
            self._counts = False

    @contextmanager
    def _counted_apart(self) -> Iterator[None]:
        """In the middle of an epoch: what metrics have counted of it is put by while they count something else."""
        kept = self._ready().kept if self._counts else {}
        states = {name: metric.state_dict() for name, metric in kept.items()}
        for metric in kept.values():
            metric.reset_state()
        try:
            yield
        finally:
            for name, state in states.items():
                kept[name].load_state_dict(state)

    def _evaluate(self, source: Source, hooks: CallbackList) -> runs.Numbers:
        with self._mode(False), torch.no_grad():
            owned, compiled = own_step(self, "test") is not None, self._ready()
            late = not owned and compiled.score is losses
            return runs.evaluate(
                compiled, self._step("test"), source, hooks, self.metrics_names, owned, late, self.steps_per_execution
            )

    def _validation(
        self,
        source: Source,
        split: float,
        given: Any,
        batch_size: int | None,
        own_batch_size: int | None,
        steps: int | None,
        made: dict[str, Any],
    ) -> tuple[Source, Source | None]:
        """What is trained on, and what is validated on.

        `batch_size`: of arrays to validate on, that of the training where the validation has no `own_batch_size`.
        """
        raw = own_step(self, "test") is not None
        options = {"shuffle": None, "steps": steps, "method": "validation", "raw": raw, **made}
        if given is not None:
            several = isinstance(given, (list, tuple))
            if several or hasattr(given, "shape"):
                if not several or len(given) not in (2, 3):
                    found = f"{len(given)} items" if several else type(given).__name__
                    raise ValueError(
                        "When passing validation_data, it must contain 2 (x_val, y_val) or 3 (x_val, y_val, "
                        f"val_sample_weights) items; found {found}."
                    )
                return source, self._source(self._intake(), *given, batch_size=batch_size, **options)
            return source, self._source(self._intake(), given, batch_size=own_batch_size, **options)
        if not 0.0 <= split < 1.0:
            raise ValueError(f"fit: validation_split must be from 0 up to, not including, 1; found {split!r}.")
        if steps is not None:
            raise ValueError("fit: validation_steps goes with validation_data; there is none.")
        if not split:
            return source, None
        parts = source.split(split)
        if own_batch_size is not None:
            checks.check_count("fit", "validation_batch_size", own_batch_size, least=1)
            parts[1].batch_size = own_batch_size
        for part in parts:
            if part.samples is not None and part.batch_size is not None:
                self._check_batches(part.samples, part.batch_size, "validation_split")
        return parts

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
            RuntimeError: the model is not compiled, or several processes train.
            ValueError: the data does not fit the model, or an option has a bad value.

        Example:
            >>> model = Sequential([Dense(1, input_shape=(2,), kernel_initializer="ones")])
            >>> model.compile("sgd", "mse")
            >>> model.evaluate(np.ones((4, 2)), np.zeros((4, 1)), verbose=0)
            4.0

        Source: https://keras.io/api/models/model_training_apis/
        """
        check_one_process(self, "evaluate")
        made = {"workers": workers, "use_multiprocessing": use_multiprocessing, "max_queue_size": max_queue_size}
        self._check_compiled()
        if self._trains_alone:
            self._step("test")
        source = self._source(
            self._intake(), x, y, sample_weight, batch_size=batch_size, shuffle=None, steps=steps, method="evaluate",
            raw=own_step(self, "test") is not None, **made,
        )  # fmt: skip
        try:
            with self._counted_apart():
                numbers = floats(self._evaluate(source, self._hooks(callbacks, source, verbose)))
        finally:
            source.close()
        return Named(numbers) if return_dict else unpacked(list(numbers.values()))

    def predict(
        self,
        x: Any,
        batch_size: int | None = None,
        verbose: int | str = 0,
        steps: int | None = None,
        callbacks: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
    ) -> Any:
        """The outputs for all samples as NumPy arrays, in evaluation mode.

        Where there are enough samples, and neither a hook nor a callback could notice, batch normalizations are folded
        into the layers before them with the present weights; see `freeze_for_inference`.

        Arguments:
            x (data): the inputs in the forms that `fit` takes; targets in its batches are ignored.
            batch_size (positive integer or None, default None): samples in a batch; None is 32, or the batch size that
                the model's inputs have.
            verbose (0, 1, 2 or "auto", default 0): 0 shows nothing, 1 and "auto" a bar, 2 a line.
            steps (positive integer or None, default None): the number of batches; None takes all. A generator needs it.
            callbacks (callback or list, default None): what is called during the prediction.
            max_queue_size (positive integer, default 10): how many batches of a `Sequence` or generator are made ahead.
            workers (integer of at least 0, default 1): how many threads or processes make these batches.
            use_multiprocessing (bool, default False): whether they are processes, not threads.

        Returns:
            An array; for several outputs a list, or the form that the model was made with.

        Errors:
            ValueError: the data does not fit the model, or an option has a bad value.

        Example:
            >>> model = Sequential([Dense(1, input_shape=(2,), kernel_initializer="ones")])
            >>> model.predict(np.ones((3, 2))).tolist()
            [[2.0], [2.0], [2.0]]

        Source: https://keras.io/api/models/model_training_apis/
        """
        check_whole(self, "predict")
        made = {"workers": workers, "use_multiprocessing": use_multiprocessing, "max_queue_size": max_queue_size}
        own = type(self).predict_step is not Extending.predict_step
        source = self._source(
            Intake(self), x, batch_size=batch_size, shuffle=None, steps=steps, method="predict", raw=own, **made
        )
        try:
            with self._mode(False):
                # A callback may change weights between two batches: what was folded before them would be out of date.
                graphed = None if own else self._predicting_compiled()
                alone = not (own or graphed or as_callbacks(callbacks))
                network = self._computing
                run: Any = graphed or (Merged(network, source.samples) if alone else HookFreeCalls(network))
                step = self._own_prediction if own else partial(predict_step, run.run)
                long = isinstance(source, ArraySource) and source.steps >= WORTH_A_LOOK
                with torch.inference_mode() if alone and long and keeps_no_tensor(run) else torch.no_grad():
                    hooks = self._hooks(callbacks, source, verbose)
                    return in_form(
                        self._output_form, unpacked(runs.predict(step, source, hooks, self.steps_per_execution))
                    )
        finally:
            source.close()

    def _own_prediction(self, given: Any) -> Any:
        """The outputs by the user's `predict_step`: of checked inputs, or of a batch as its loader made it."""
        return self.predict_step(given.raw if isinstance(given, Batch) else (unpacked(given),))

    def freeze_for_inference(self) -> Network:
        """A copy for inference alone, with batch normalizations folded into the layers before them.

        A BatchNormalization that follows a convolution or Dense without activation, both called once and the first used
        by nothing else, becomes part of that layer. Its kernel is `kernel * scale` and its bias `(bias - moving_mean) *
        scale + beta`, with the scale `gamma / sqrt(moving_variance + epsilon)` of each channel. The outputs are the
        model's in evaluation but for rounding. Layers with hooks, or of classes of your own, stay as they are.

        The copy is in evaluation mode, its weights record no gradients, and later changes of the model do not reach it.
        It has the layers by their names. It can be called, moved, copied, pickled, compiled by torch and read
        (`frozen.code`). It has no `fit`, `predict` or `save`. Its `state_dict` is that of the folded layers. A model
        whose class has a `forward` or `call` of its own, or that has hooks, is copied as it is.

        Returns:
            A torch module with the model's inputs and outputs.

        Errors:
            RuntimeError: the model has no input shape yet.

        Example:
            >>> model = Sequential([Dense(2, input_shape=(4,)), BatchNormalization()])
            >>> len(model.freeze_for_inference().state_dict())
            2
        """
        with self._mode(False), torch.no_grad():
            return frozen(self)

    def _hooks(
        self, callbacks: Any, source: Source, verbose: int | str, epochs: int = 1, validates: bool = False, *last: Any
    ) -> CallbackList:
        """The user's callbacks, what shows the run, then `last`; those that keep the run's state behind all."""
        verbose = level(verbose)
        found = [*as_callbacks(callbacks), *shown(verbose), *last]
        hooks = CallbackList(sorted(found, key=lambda callback: hasattr(callback, "resume")))
        hooks.set_model(self)
        names = [] if self._compiled_model is None else self.metrics_names
        known = source.samples is not None
        params: dict[str, Any] = {"batch_size": source.batch_size, "samples": source.samples} if known else {}
        params |= {"epochs": epochs, "verbose": verbose, "do_validation": validates}
        params["steps"] = None if known else source.steps
        # As in Keras 2.2.4, where a generator's run names its validation's numbers without one too.
        params["metrics"] = names + ([f"val_{name}" for name in names] if validates or not known else [])
        hooks.set_params(params)
        return hooks

    # --- one batch ---------------------------------------------------------------------------------------------------

    def train_on_batch(
        self, x: Any, y: Any = None, sample_weight: Any = None, class_weight: Any = None, return_dict: bool = False
    ) -> Any:
        """One update on one batch.

        Metrics with a state count all batches since `reset_metrics`.

        Arguments:
            x (array, list or dict): the inputs.
            y (array, list or dict, default None): the targets.
            sample_weight (array or None, default None): a weight for each sample.
            class_weight (dict or None, default None): a weight for each class number.
            return_dict (bool, default False): whether to return the numbers by name.

        Returns:
            The loss as a float; with metrics a list in the order of `metrics_names`, or with `return_dict` a dict.

        Errors:
            RuntimeError: the model is not compiled, or several processes train.
            ValueError: the data does not fit the model.

        Example:
            >>> model = Sequential([Dense(1, input_shape=(2,), kernel_initializer="ones")])
            >>> model.compile("sgd", "mse")
            >>> model.train_on_batch(np.ones((4, 2)), np.zeros((4, 1)))
            4.0

        Source: https://keras.io/api/models/model_training_apis/
        """
        batch = self._one_batch("train_on_batch", x, y, sample_weight, class_weight)
        compiled = self._ready()
        if compiled.guard is not None:
            compiled.guard.begin()
        with self._collected(compiled), self._mode(True):
            numbers = self._numbers("train", batch, return_dict)
        runs.look_at(compiled, self, "train_on_batch")
        return numbers

    def test_on_batch(self, x: Any, y: Any = None, sample_weight: Any = None, return_dict: bool = False) -> Any:
        """The loss and metrics on one batch, in evaluation mode.

        Arguments:
            x (array, list or dict): the inputs.
            y (array, list or dict, default None): the targets.
            sample_weight (array or None, default None): a weight for each sample.
            return_dict (bool, default False): whether to return the numbers by name.

        Returns:
            The loss as a float; with metrics a list in the order of `metrics_names`, or with `return_dict` a dict.

        Errors:
            RuntimeError: the model is not compiled, or several processes train.
            ValueError: the data does not fit the model.

        Source: https://keras.io/api/models/model_training_apis/
        """
        batch = self._one_batch("test_on_batch", x, y, sample_weight)
        with self._mode(False), torch.no_grad(), self._counted_apart():
            return self._numbers("test", batch, return_dict)

    def _one_batch(self, method: str, x: Any, y: Any, sample_weight: Any, class_weight: Any = None) -> Batch:
        check_one_process(self, method)
        self._check_compiled()
        data = ArrayData(*self._intake(class_weight).arrays(x, y, sample_weight), device=self._device)
        self._check_batches(len(data), len(data), method)
        return next(data.batches(len(data), "sequential"))

    def _numbers(self, kind: str, batch: Batch, by_name: bool) -> Any:
        values = self._step(kind)(batch)
        kept = self._ready().kept
        found = results(kept, kept if own_step(self, kind) is None else values)
        numbers = floats(ordered({**values, **found}, self.metrics_names))
        return Named(numbers) if by_name else unpacked(list(numbers.values()))

    def reset_metrics(self) -> None:
        """Set the metrics with a state to zero; `fit` and `evaluate` do so when they begin."""
        for metric in self._ready().kept.values():
            metric.reset_state()

    def predict_on_batch(self, x: Any) -> Any:
        """The outputs for one batch, in evaluation mode.

        Arguments:
            x (array, list or dict): the inputs.

        Returns:
            What `predict` returns.

        Source: https://keras.io/api/models/model_training_apis/
        """
        return self.predict(x, batch_size=max(1, len(Intake(self).inputs(x)[0])))
