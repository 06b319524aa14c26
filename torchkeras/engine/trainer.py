"""The training surface of a model: compile, fit, evaluate, predict, and the same on one batch."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch

from torchkeras import config, losses, optimizers
from torchkeras.arrays import to_numpy
from torchkeras.callbacks.base import CallbackList
from torchkeras.callbacks.logging import History
from torchkeras.callbacks.progress import shown
from torchkeras.engine import checks, weighting
from torchkeras.engine.compiled import compile_arguments, reported_names, resolve, training_config
from torchkeras.engine.data import ArrayData
from torchkeras.engine.loop import Result, run_epoch
from torchkeras.engine.network import Network
from torchkeras.engine.steps import Recipe, predict_step, test_step, train_step
from torchkeras.engine.symbol import KerasTensor, as_list, unpacked
from torchkeras.legacy.arguments import old_names

BATCH_SIZE = 32


class Trainer(Network, abstract=True):
    """Compiling, training and evaluating, added to a network."""

    optimizer: Any = None
    loss: Any = None
    metrics: Any = None
    loss_weights: Any = None
    sample_weight_mode: Any = None
    weighted_metrics: Any = None
    history: Any = None
    stop_training = False
    _recipe: Recipe | None = None
    _placed: list[Any] | None = None

    def compile(  # type: ignore[override]  # nn.Module's compile is torch.compile in place; Keras's name goes before
        self,
        optimizer: Any,
        loss: Any = None,
        metrics: Any = None,
        loss_weights: Any = None,
        sample_weight_mode: Any = None,
        weighted_metrics: Any = None,
        target_tensors: Any = None,
    ) -> None:
        """Settle how the model is trained.

        `optimizer`, `loss`: a name or an object. `metrics` (means over samples) and `weighted_metrics` (with sample
        weights): lists. For several outputs: lists, or dictionaries by output name; the loss minimized is their sum
        weighted by `loss_weights`. `sample_weight_mode="temporal"`: a weight for every time step. Which weights train
        is settled here too. Raises ValueError for an unknown name or a list of another length.
        """
        if target_tensors is not None:
            raise ValueError("compile: target_tensors must be None; give the targets to `fit`.")
        self._recipe = None
        self.optimizer = optimizers.get(optimizer)
        # Not by setattr: torch would make a loss that is a module, refused later on, a part of the model.
        self.__dict__.update(loss=loss, metrics=metrics or [], loss_weights=loss_weights)
        self.sample_weight_mode, self.weighted_metrics = sample_weight_mode, weighted_metrics
        if self._graph is not None:
            self._settle()

    def _settle(self) -> None:
        """Resolve what `compile` was given against the outputs, and collect the weights that train."""
        targets = resolve(
            self.output_names,
            self.outputs,
            self.loss,
            self.metrics,
            self.loss_weights,
            self.sample_weight_mode,
            self.weighted_metrics,
        )
        variables = self.trainable_weights
        parameters = [tensor for variable in variables for tensor in variable.tensors]
        self.optimizer.bind(
            parameters,
            [variable.arrangement for variable in variables],
            [variable.layer.name for variable in variables],
            [variable.name for variable in variables],
        )
        self._recipe = Recipe(
            self,
            targets,
            self.optimizer,
            parameters,
            [variable for variable in self.weights if variable.regularizer is not None],
            [variable for variable in variables if variable.constraint is not None],
            self._needs_details(),
        )

    def _needs_details(self) -> bool:
        masked = any(tensor._keras_mask is not None for tensor in self.outputs)
        return masked or any(getattr(m, "activity_regularizer", None) is not None for m in self.modules())

    @property
    def metrics_names(self) -> list[str]:
        """The names of the numbers that `evaluate` and `train_on_batch` return, in their order."""
        return reported_names(list(self._ready().targets))

    def _ready(self) -> Recipe:
        if self.optimizer is None:
            raise RuntimeError(
                f"You must compile the model {self.name!r} before training or testing: "
                "`model.compile(optimizer, loss)`."
            )
        if self._recipe is None:
            self._settle()
        assert self._recipe is not None
        return self._recipe

    @property
    def _device(self) -> torch.device:
        """Where the weights are; the default device for a model without any."""
        return next((t.device for t in (*self.parameters(), *self.buffers())), config.device())

    # --- data --------------------------------------------------------------------------------------------------------

    def _inputs(self, x: Any) -> list[torch.Tensor]:
        if self._graph is None:
            (first,) = checks.standardize(x, ["input"])
            self.build((None, *first.shape[1:]))
        shapes, types = zip(*((tensor.shape, self._type_of(tensor)) for tensor in self.inputs), strict=True)
        return checks.standardize(x, self.input_names, shapes, types, "input")

    def _type_of(self, tensor: KerasTensor) -> torch.dtype:
        """The type a symbolic tensor has now, which is another after `model.half()` or `model.double()`."""
        if not tensor.dtype.is_floating_point:
            return tensor.dtype
        return next((p.dtype for p in self.parameters() if p.is_floating_point()), tensor.dtype)

    def _data(self, x: Any, y: Any, sample_weight: Any = None, class_weight: Any = None) -> ArrayData:
        """Checked inputs, targets and weights, on the model's device. Raises what `checks` and `weighting` raise."""
        inputs = self._inputs(x)
        targets = self._ready().targets
        names, target_losses = [target.name for target in targets], [target.loss for target in targets]
        outputs = [self.outputs[target.index] for target in targets]
        shapes = [tensor.shape for tensor in outputs]
        types = [
            torch.int64 if loss is losses.sparse_categorical_crossentropy else self._type_of(tensor)
            for tensor, loss in zip(outputs, target_losses, strict=True)
        ]
        true = checks.standardize_targets(y, names, shapes, target_losses, types)
        checks.check_labels(true, names, shapes, target_losses)
        modes = [target.weight_mode for target in targets]
        weights = weighting.standardize_weights(true, names, sample_weight, class_weight, modes)
        checks.check_lengths(inputs, true, weights)
        return ArrayData(inputs, true, weights, device=self._device)

    @property
    def _fixed_batch_size(self) -> int | None:
        return next((t.shape[0] for t in self.inputs if t.shape[0] is not None), None)

    def _batch_size(self, method: str, given: Any) -> int:
        if given is None:
            return self._fixed_batch_size or BATCH_SIZE
        checks.check_count(method, "batch_size", given, least=1)
        return int(given)

    def _check_batches(self, samples: int, batch_size: int, what: str) -> None:
        model = f"{type(self).__name__} {self.name!r}"
        checks.check_batches(model, self._fixed_batch_size, self.stateful, samples, batch_size, what)

    # --- whole data --------------------------------------------------------------------------------------------------

    @old_names("fit")
    def fit(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose: int = 1,
        callbacks: Any = None,
        validation_split: float = 0.0,
        validation_data: Any = None,
        shuffle: Any = True,
        class_weight: Any = None,
        sample_weight: Any = None,
        initial_epoch: int = 0,
        steps_per_epoch: int | None = None,
        validation_steps: int | None = None,
    ) -> History:
        """Train for `epochs` passes over arrays or tensors; returns the `History` of the reported numbers.

        `validation_split`: the last part of the data, kept for validation. `validation_data`: (x, y) or (x, y, weight).
        `batch_size`: 32 unless given, or the model's own when its inputs fix one.
        `shuffle`: True, False or "batch". `verbose`: 0 silent, 1 a progress bar, 2 a line an epoch. `initial_epoch`:
        the number of the first epoch. Raises ValueError for data that does not fit the model.
        """
        for name, value in (("steps_per_epoch", steps_per_epoch), ("validation_steps", validation_steps)):
            if value is not None:
                raise ValueError(f"fit: {name} goes with generators; arrays have a batch_size.")
        if shuffle not in (True, False, "batch"):
            raise ValueError(f"fit: shuffle must be True, False or 'batch'; found {shuffle!r}.")
        for name, value in (("epochs", epochs), ("initial_epoch", initial_epoch)):
            checks.check_count("fit", name, value, least=0)
        data = self._data(x, y, sample_weight, class_weight)
        batch_size = self._batch_size("fit", batch_size)
        data, validation = self._validation(data, validation_split, validation_data)
        self._check_batches(len(data), batch_size, "fit")
        if validation is not None:
            self._check_batches(len(validation), batch_size, "validation")
        recipe, names = self._ready(), self.metrics_names
        logged = names + ([f"val_{name}" for name in names] if validation else [])
        params = {
            "batch_size": batch_size,
            "epochs": epochs,
            "steps": None,
            "samples": len(data),
            "verbose": verbose,
            "do_validation": validation is not None,
            "metrics": logged,
        }
        self.history = History()
        hooks = CallbackList([*as_list(callbacks), *shown(verbose), self.history])
        hooks.set_params(params)
        hooks.set_model(self)
        self.stop_training = False
        with self._collected(recipe):
            hooks.on_train_begin({})
            for epoch in range(initial_epoch, epochs):
                hooks.on_epoch_begin(epoch, {})
                batches = data.batches(batch_size, _order(shuffle))
                result = self._run(partial(train_step, recipe), batches, hooks, "train", lambda: self.stop_training)
                logs = result.logs()
                if validation is not None:
                    logs.update(self._evaluate(validation, batch_size, hooks).logs("val_"))
                hooks.on_epoch_end(epoch, logs)
                if self.stop_training:
                    break
            hooks.on_train_end({})
        return self.history

    def _run(self, step: Any, batches: Any, hooks: CallbackList, kind: str, stopped: Any = lambda: False) -> Result:
        with self._mode(kind == "train"):
            return run_epoch(step, batches, self.metrics_names, self._device, hooks, kind, stopped)

    def _evaluate(self, data: ArrayData, batch_size: int, hooks: CallbackList) -> Result:
        hooks.on_test_begin({})
        result = self._run(partial(test_step, self._ready()), data.batches(batch_size, "sequential"), hooks, "test")
        hooks.on_test_end(result.logs())
        return result

    def _validation(self, data: ArrayData, split: float, given: Any) -> tuple[ArrayData, ArrayData | None]:
        if given is not None:
            if not isinstance(given, (list, tuple)) or len(given) not in (2, 3):
                found = f"{len(given)} items" if isinstance(given, (list, tuple)) else type(given).__name__
                raise ValueError(
                    "When passing validation_data, it must contain 2 (x_val, y_val) or 3 (x_val, y_val, "
                    f"val_sample_weights) items; found {found}."
                )
            return data, self._data(given[0], given[1], given[2] if len(given) == 3 else None)
        if not 0.0 <= split < 1.0:
            raise ValueError(f"fit: validation_split must be from 0 up to, not including, 1; found {split!r}.")
        return data.split(split) if split else (data, None)

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        verbose: int = 1,
        sample_weight: Any = None,
        steps: int | None = None,
        callbacks: Any = None,
    ) -> Any:
        """The reported numbers over the data, in evaluation mode: the loss, or a list as `metrics_names` orders it."""
        if steps is not None:
            raise ValueError("evaluate: steps goes with generators; arrays have a batch_size.")
        data = self._data(x, y, sample_weight)
        batch_size = self._batch_size("evaluate", batch_size)
        self._check_batches(len(data), batch_size, "evaluate")
        hooks = self._hooks(callbacks, len(data), batch_size, verbose)
        return unpacked(self._evaluate(data, batch_size, hooks).floats())

    def predict(
        self, x: Any, batch_size: int | None = None, verbose: int = 0, steps: int | None = None, callbacks: Any = None
    ) -> Any:
        """The outputs for all samples as NumPy arrays, in evaluation mode: an array, or a list for several outputs."""
        if steps is not None:
            raise ValueError("predict: steps goes with generators; arrays have a batch_size.")
        inputs = self._inputs(x)
        checks.check_lengths(inputs, [])
        batch_size = self._batch_size("predict", batch_size)
        data = ArrayData(inputs, device=self._device)
        self._check_batches(len(data), batch_size, "predict")
        hooks = self._hooks(callbacks, len(data), batch_size, verbose)
        hooks.on_predict_begin({})
        parts: list[list[torch.Tensor]] = []
        with self._mode(False):
            for index, batch in enumerate(data.batches(batch_size, "sequential")):
                hooks.on_predict_batch_begin(index, {"batch": index, "size": batch.size})
                parts.append(predict_step(self, batch.inputs))
                hooks.on_predict_batch_end(index, {"batch": index, "size": batch.size})
        hooks.on_predict_end({})
        return unpacked([to_numpy(torch.cat(outputs)) for outputs in zip(*parts, strict=True)])

    def _hooks(self, callbacks: Any, samples: int, batch_size: int, verbose: int) -> CallbackList:
        hooks = CallbackList([*as_list(callbacks), *shown(verbose)])
        hooks.set_params({"batch_size": batch_size, "samples": samples, "steps": None, "verbose": verbose, "epochs": 1})
        hooks.set_model(self)
        return hooks

    # --- one batch ---------------------------------------------------------------------------------------------------

    def train_on_batch(self, x: Any, y: Any, sample_weight: Any = None, class_weight: Any = None) -> Any:
        """One update on one batch; returns the loss, or a list in the order of `metrics_names`, as floats."""
        data, recipe = self._data(x, y, sample_weight, class_weight), self._ready()
        self._check_batches(len(data), len(data), "train_on_batch")
        with self._collected(recipe), self._mode(True):
            return self._one(partial(train_step, recipe), data)

    def test_on_batch(self, x: Any, y: Any, sample_weight: Any = None) -> Any:
        """The reported numbers on one batch, in evaluation mode."""
        data, recipe = self._data(x, y, sample_weight), self._ready()
        self._check_batches(len(data), len(data), "test_on_batch")
        with self._mode(False):
            return self._one(partial(test_step, recipe), data)

    def _one(self, step: Any, data: ArrayData) -> Any:
        values = step(next(data.batches(len(data), "sequential")))
        return unpacked(torch.stack([value.float() for value in values]).tolist())

    def predict_on_batch(self, x: Any) -> Any:
        """The outputs for one batch, as `predict`."""
        return self.predict(x, batch_size=max(1, len(as_list(self._inputs(x))[0])))

    # --- state -------------------------------------------------------------------------------------------------------

    @contextmanager
    def _mode(self, training: bool) -> Iterator[None]:
        """Training or evaluation mode inside the block, then what each module was in before."""
        before = [(module, module.training) for module in self.modules()]
        self.train(training)
        try:
            yield
        finally:
            for module, mode in before:
                module.training = mode

    @contextmanager
    def _collected(self, recipe: Recipe) -> Iterator[None]:
        """Gradients for the weights that trained when the model was compiled, whatever `trainable` says since."""
        placed = [(parameter.device, parameter.dtype) for parameter in recipe.parameters]
        if placed != self._placed:  # the model was moved: its optimizer state follows
            recipe.optimizer.bind(recipe.parameters)
            self._placed = placed
        now = {id(tensor) for variable in self.trainable_weights for tensor in variable.tensors}
        if now != {id(parameter) for parameter in recipe.parameters}:
            warnings.warn(
                "Discrepancy between trainable weights and collected trainable weights, did you set "
                "`model.trainable` without calling `model.compile` after?",
                stacklevel=3,
            )
        frozen = [parameter for parameter in recipe.parameters if not parameter.requires_grad]
        for parameter in frozen:
            parameter.requires_grad_(True)
        try:
            yield
        finally:
            for parameter in frozen:
                parameter.requires_grad_(False)

    def _training_config(self) -> dict[str, Any] | None:
        """How the model was compiled, as plain data for a file; None when it was not."""
        if self.optimizer is None:
            return None
        return training_config(self)

    def _compile_as(self, training: Mapping[str, Any], custom_objects: Mapping[str, Any] | None) -> None:
        """Compile as a file says."""
        self.compile(**compile_arguments(training, custom_objects))

    def __getstate__(self) -> dict[str, Any]:
        # The recipe holds the layers' tensors by identity: a copy settles its own, from what compile was given.
        state = super().__getstate__()
        if self._recipe is not None:
            state["_optimizer_state"] = self.optimizer.get_weights()
        return {**state, "_recipe": None, "history": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        arrays = state.pop("_optimizer_state", None)
        super().__setstate__(state)
        if arrays is not None:
            self._settle()
            self.optimizer.set_weights(arrays)


def _order(shuffle: Any) -> str:
    return "batch" if shuffle == "batch" else "shuffled" if shuffle else "sequential"
