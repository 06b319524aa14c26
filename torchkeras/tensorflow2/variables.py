"""`tf.Variable`, `tf.Module` and `tf.train.Checkpoint`."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from torchkeras.base.naming import count_name
from torchkeras.base.tracing import traced
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.weights.weight import Value
from torchkeras.keras3 import variable
from torchkeras.keras3.optimizers import Optimizer
from torchkeras.optimizers.base import Optimizer as BaseOptimizer
from torchkeras.tensorflow2.elements import StringTensor
from torchkeras.tensorflow2.tensors import as_value, constant


class _Kind(type):
    """Makes `isinstance(weight, tf.Variable)` true of the weights of layers too."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, (nn.Parameter, variable.Variable))


class Variable(variable.Variable, metaclass=_Kind):
    """A tensor that is assigned, and trained where it is `trainable`.

    Options:
        initial_value (array, number, tensor or function without arguments): the first values, whose type it has.
        trainable (bool or None, default None): whether training changes it; None means True.
        validate_shape (bool, default True), caching_device, variable_def, import_scope (None): change nothing.
        name (text or None, default None): the name.
        dtype (type or None, default None): the type; None is that of the values.
        constraint (function or None, default None): applied to it after each step of an optimizer.
        synchronization, aggregation (text): change nothing.
        shape (list or None, default None): the sizes; None is those of the values.

    Example:
        >>> count = Variable(1)
        >>> int(count.assign_add(2))
        3

    Source: https://www.tensorflow.org/api_docs/python/tf/Variable
    """

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        import_scope: Any = None,
        constraint: Any = None,
        synchronization: Any = None,
        aggregation: Any = None,
        shape: Any = None,
        experimental_enable_variable_lifting: bool = True,
    ) -> None:
        if initial_value is None:
            raise ValueError("tf.Variable: initial_value must be given.")
        if callable(initial_value) and not isinstance(initial_value, (Tensor, variable.TensorLike)):
            initial_value = initial_value()
        values = constant(initial_value, dtype)
        if isinstance(values, StringTensor):
            raise TypeError("tf.Variable: a variable of texts is not supported; keep them in a list.")
        # A name of TensorFlow may have its scope in it.
        name = count_name("Variable") if name is None else re.sub(r"[/:]", "_", name)
        trains = trainable is None or bool(trainable)
        super().__init__(values.detach().clone(), dtype=values.dtype, trainable=trains, name=name)
        self.constraint = constraint

    @property
    def dtype(self) -> torch.dtype:
        """The type."""
        return self.tensors[0].dtype

    @property
    def value(self) -> Tensor:
        """The tensor itself. `value()` is a copy, as `read_value()`."""
        found = super().value
        return Value.of(found.view_as(found), self) if type(found) is Tensor and not traced() else found

    @property
    def initial_value(self) -> Tensor:
        """The values."""
        return self.read_value()

    def read_value(self) -> Tensor:
        """The values as a tensor, through which gradients flow."""
        return self.value * 1 if self.trainable else self.value.clone()

    def scatter_nd_update(self, indices: Any, updates: Any, name: Any = None) -> Variable:
        """Set the numbers at places that stand along the last axis."""
        places = tuple(as_value(indices).long().movedim(-1, 0))
        with torch.no_grad():
            self.value[places] = as_value(updates).to(self.dtype)
        return self

    def assign(self, value: Any, use_locking: bool = False, name: Any = None, read_value: bool = True) -> Variable:  # type: ignore[override]
        """Set the values. Raises ValueError for values of another shape."""
        super().assign(as_value(value).detach().to(self.dtype))
        return self

    def assign_add(self, delta: Any, use_locking: bool = False, name: Any = None, read_value: bool = True) -> Variable:  # type: ignore[override]
        """Add to the values."""
        return self.assign(self.value + as_value(delta))

    def assign_sub(self, delta: Any, use_locking: bool = False, name: Any = None, read_value: bool = True) -> Variable:  # type: ignore[override]
        """Subtract from the values."""
        return self.assign(self.value - as_value(delta))


def _walked(value: Any, seen: set[int]) -> Iterator[Any]:
    """Variables, modules and layers in attributes, lists and dicts."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, (nn.Parameter, variable.Variable, Layer)):
        yield value
    elif isinstance(value, Module):
        for name in sorted(vars(value)):
            yield from _walked(vars(value)[name], seen)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _walked(each, seen)
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _walked(each, seen)


class Module:
    """The base of classes whose attributes are variables, layers and further modules: it lists their variables.

    Source: https://www.tensorflow.org/api_docs/python/tf/Module
    """

    def __init__(self, name: str | None = None) -> None:
        snake = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", type(self).__name__).lower()
        self._name = name or snake

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    @property
    def variables(self) -> tuple[Any, ...]:
        """All variables, by the names of attributes."""
        return self._listed("weights", lambda each: True)

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """The variables that train."""
        return self._listed("trainable_weights", lambda each: each.requires_grad)

    @property
    def non_trainable_variables(self) -> tuple[Any, ...]:
        """The variables that do not train."""
        return self._listed("non_trainable_weights", lambda each: not each.requires_grad)

    def _listed(self, of_layers: str, fits: Callable[[Any], bool]) -> tuple[Any, ...]:
        found: list[Any] = []
        for each in _walked(self, set()):
            found += getattr(each, of_layers) if isinstance(each, Layer) else [each] if fits(each) else []
        return tuple(found)

    @property
    def submodules(self) -> tuple[Any, ...]:
        """The modules and layers in attributes."""
        own = [each for each in vars(self).values() if isinstance(each, (Module, Layer))]
        return (*own, *(inside for each in own if isinstance(each, Module) for inside in each.submodules))

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """The method itself: names have no scopes here."""
        return method


# --- checkpoints ------------------------------------------------------------------------------------------------------

_INDEX, _LATEST = ".index", "checkpoint"
WEIGHTS = ".weights.h5"


class Status:
    """What `restore` returns; all is restored when it is called."""

    def assert_consumed(self) -> Status:
        """Nothing."""
        return self

    assert_existing_objects_matched = expect_partial = assert_nontrivial_match = run_restore_ops = assert_consumed

    def initialize_or_restore(self, session: Any = None) -> None:
        """Nothing."""


class Checkpoint:
    """Values of models, optimizers and variables in files: `Checkpoint(model=model, optimizer=optimizer)`.

    `save(prefix)` writes `<prefix>-<number>.index`, a file of torch, and the name of the last one into the file
    `checkpoint` beside it. Files of TensorFlow cannot be read.

    Source: https://www.tensorflow.org/api_docs/python/tf/train/Checkpoint
    """

    def __init__(self, root: Any = None, **kwargs: Any) -> None:
        self._objects = {**({} if root is None else {"root": root}), **kwargs}
        self.save_counter = Variable(0, trainable=False, name="save_counter", dtype="int64")
        for name, value in kwargs.items():
            setattr(self, name, value)

    def write(self, file_prefix: Any, options: Any = None) -> str:
        """Write the values to `<file_prefix>.index`."""
        path = Path(f"{_text(file_prefix)}{_INDEX}")
        path.parent.mkdir(parents=True, exist_ok=True)
        states = {name: _state_of(value) for name, value in self._objects.items()}
        torch.save({**states, "save_counter": int(self.save_counter)}, path)
        return _text(file_prefix)

    def save(self, file_prefix: Any, options: Any = None) -> str:
        """Write the values under the next number; returns the path without its suffix."""
        self.save_counter.assign_add(1)
        return _note_latest(self.write(f"{_text(file_prefix)}-{int(self.save_counter)}"))

    def read(self, save_path: Any, options: Any = None) -> Status:
        """Set the values from what `write` wrote. Raises ValueError for a file that lacks an object or a value."""
        path = Path(f"{_text(save_path)}{_INDEX}")
        if not path.is_file():
            raise FileNotFoundError(f"Checkpoint: there is no {path}; tf.train.latest_checkpoint finds the last one.")
        states = torch.load(path, weights_only=True)
        for name, value in self._objects.items():
            if name in states:
                _set_state(value, states[name], name)
        self.save_counter.assign(states["save_counter"])
        return Status()

    def restore(self, save_path: Any, options: Any = None) -> Status:
        """Set the values from a checkpoint; None changes nothing."""
        return Status() if save_path is None else self.read(save_path)


def _text(path: Any) -> str:
    return path.decode() if isinstance(path, bytes) else str(path)


def _note_latest(prefix: str) -> str:
    (Path(prefix).parent / _LATEST).write_text(f'model_checkpoint_path: "{Path(prefix).name}"\n')
    return prefix


def latest_checkpoint(checkpoint_dir: Any, latest_filename: Any = None) -> str | None:
    """The path, without its suffix, of the last checkpoint, or file of weights, that was written into a folder."""
    folder = Path(_text(checkpoint_dir))
    note = folder / (latest_filename or _LATEST)
    if note.is_file():
        found = re.search(r'model_checkpoint_path: "(.*)"', note.read_text())
        if found:
            return str(folder / found[1])
    files = sorted(folder.glob(f"*{WEIGHTS}"), key=lambda each: each.stat().st_mtime_ns)
    return str(files[-1]).removesuffix(WEIGHTS) if files else None


def _state_of(value: Any) -> Any:
    """The values of an object as tensors and numbers."""
    if isinstance(value, Layer):
        return [torch.as_tensor(each) for each in value.get_weights()]
    if isinstance(value, Optimizer):
        return [torch.as_tensor(each.numpy()) for each in value.variables] if value.built else []
    if isinstance(value, BaseOptimizer):
        return value.state_dict()
    if isinstance(value, (Tensor, variable.Variable)):
        return as_value(value).detach().clone()
    if isinstance(value, Module):
        return [each.detach().clone() for each in map(as_value, value.variables)]
    if hasattr(value, "state_dict"):
        return value.state_dict()
    return None


def _set_state(value: Any, state: Any, name: str) -> None:
    if isinstance(value, Layer):
        value.set_weights([each.numpy() for each in state])
    elif isinstance(value, Optimizer):
        _set_optimizer(value, state)
    elif isinstance(value, Module):
        _assign_all(value.variables, state, name)
    elif isinstance(value, (Tensor, variable.Variable)):
        _assign_all([value], [state], name)
    elif hasattr(value, "load_state_dict"):
        value.load_state_dict(state)


def _set_optimizer(optimizer: Any, state: Any) -> None:
    """Set the state now, or, where it has no weights yet, when it gets them."""
    if optimizer.built:
        _assign_all(optimizer.variables, state, optimizer.name)
        return
    build = optimizer.build

    def build_and_set(variables: Any) -> None:
        del optimizer.__dict__["build"]
        build(variables)
        if state:
            _assign_all(optimizer.variables, state, optimizer.name)

    optimizer.__dict__["build"] = build_and_set


def _assign_all(variables: Any, state: Any, name: str) -> None:
    if len(variables) != len(state):
        raise ValueError(f"Checkpoint: {name} has {len(variables)} values; the file has {len(state)}.")
    with torch.no_grad():
        for each, values in zip(variables, state, strict=True):
            each.copy_(values) if isinstance(each, Tensor) else each.assign(values)


class CheckpointManager:
    """Saves checkpoints into a folder and keeps the last ones.

    Options:
        checkpoint (Checkpoint): what to save.
        directory (path): the folder.
        max_to_keep (integer or None): how many files stay; None keeps all.
        checkpoint_name (text, default "ckpt"): the first part of their names.

    Source: https://www.tensorflow.org/api_docs/python/tf/train/CheckpointManager
    """

    def __init__(
        self, checkpoint: Checkpoint, directory: Any, max_to_keep: int | None = None, checkpoint_name: str = "ckpt",
        **options: Any,
    ) -> None:  # fmt: skip
        self.checkpoint, self.directory = checkpoint, _text(directory)
        self._most, self._name = max_to_keep, checkpoint_name
        numbered = sorted(
            Path(self.directory).glob(f"{checkpoint_name}-*{_INDEX}"), key=lambda each: each.stat().st_mtime_ns
        )
        self.checkpoints = [str(each).removesuffix(_INDEX) for each in numbered]

    @property
    def latest_checkpoint(self) -> str | None:
        """The path of the last one, without its suffix."""
        return latest_checkpoint(self.directory)

    def save(self, checkpoint_number: Any = None, **options: Any) -> str:
        """Write the values; the oldest files beyond `max_to_keep` are deleted."""
        prefix = str(Path(self.directory) / self._name)
        if checkpoint_number is None:
            found = self.checkpoint.save(prefix)
        else:
            found = _note_latest(self.checkpoint.write(f"{prefix}-{int(checkpoint_number)}"))
        self.checkpoints = [*(each for each in self.checkpoints if each != found), found]
        while self._most is not None and len(self.checkpoints) > self._most:
            Path(f"{self.checkpoints.pop(0)}{_INDEX}").unlink(missing_ok=True)
        return found

    def restore_or_initialize(self) -> str | None:
        """Restore the last one, if there is one; returns its path."""
        if self.latest_checkpoint is not None:
            self.checkpoint.restore(self.latest_checkpoint)
        return self.latest_checkpoint


def timestamp(name: Any = None) -> float:
    """The seconds since 1970."""
    return torch.tensor(time.time(), dtype=torch.float64)  # type: ignore[return-value]


TRAIN: dict[str, Any] = {
    "Checkpoint": Checkpoint,
    "CheckpointManager": CheckpointManager,
    "latest_checkpoint": latest_checkpoint,
}
