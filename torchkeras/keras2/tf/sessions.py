"""What `tf` has around its functions: sessions, graphs, scopes and variables."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor as Values

from torchkeras.engine.symbolic.tensor import KerasTensor
from torchkeras.keras2 import backend as K
from torchkeras.keras2.session import Session


class Options:
    """Options of a session, which may have options inside: torch takes its memory and threads as it needs them."""

    def __init__(self, **given: Any) -> None:
        self.__dict__.update(given)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self.__dict__[name] = Options()
        return self.__dict__[name]


class Graph:
    """The one graph that there is."""

    def as_default(self) -> AbstractContextManager[Graph]:
        """A block; all that scripts do is in this graph."""
        return nullcontext(self)

    def finalize(self) -> None:
        """Nothing: a graph is finished when its model is made."""


GRAPH = Graph()


class _Kind(type):
    """Makes `isinstance(x, tf.Tensor)` true of symbolic tensors and of those with values."""

    kinds: tuple[type, ...] = (Values, KerasTensor)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.kinds)


class Tensor(metaclass=_Kind):
    """What any tensor is an instance of; never an object."""


class _KindOfVariable(_Kind):
    kinds = (torch.nn.Parameter,)

    def __call__(cls, initial_value: Any = None, trainable: bool = True, *args: Any, **options: Any) -> Any:
        value = initial_value() if callable(initial_value) else initial_value
        return K.variable(value, options.get("dtype"), options.get("name"))


class Variable(metaclass=_KindOfVariable):
    """`tf.Variable(value)` is a `K.variable`."""


def get_variable(name: str, shape: Any = None, dtype: Any = None, initializer: Any = None, **options: Any) -> Any:
    """A variable of a shape, whose first values an initializer draws; without one they are uniform, as Glorot's."""
    sizes = tuple(shape or ())
    if initializer is None:
        limit = (6 / (sum(sizes[-2:]) or 1)) ** 0.5
        return K.random_uniform_variable(sizes, -limit, limit, dtype, name)
    return K.variable(initializer(sizes) if callable(initializer) else initializer, dtype, name)


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Any:
    """A symbolic tensor that `K.function` and sessions get values for."""
    return K.placeholder(shape, dtype=dtype, name=name)


def scope(*args: Any, **options: Any) -> AbstractContextManager[None]:
    """A block, whose name or device changes nothing: tensors lie where the model is."""
    return nullcontext()


def nothing(*args: Any, **options: Any) -> None:
    """Nothing: variables have their values when they are made."""


def printed(input_: Any, data: Any = None, message: str | None = None, **options: Any) -> Any:
    """The tensor itself; what TensorFlow printed beside is not printed."""
    return input_


def gradients(ys: Any, xs: Any, name: str | None = None) -> list[Any]:
    """The gradients of the sum of `ys`."""
    return K.gradients(sum(ys[1:], ys[0]) if isinstance(ys, (list, tuple)) else ys, xs)


def set_random_seed(seed: int) -> None:
    """Begin torch's random numbers at a seed."""
    torch.manual_seed(seed)


class logging:  # noqa: N801  (TensorFlow's name)
    """How much TensorFlow says; there is none."""

    DEBUG, INFO, WARN, WARNING, ERROR, FATAL = 10, 20, 30, 30, 40, 50
    set_verbosity = staticmethod(nothing)


class InteractiveSession(Session):
    """A session."""


NAMES: dict[str, Any] = {
    "Session": Session,
    "InteractiveSession": InteractiveSession,
    **dict.fromkeys(("ConfigProto", "GPUOptions", "OptimizerOptions", "RunOptions"), Options),
    "Graph": Graph,
    "Tensor": Tensor,
    "Variable": Variable,
    "get_variable": get_variable,
    "placeholder": placeholder,
    **dict.fromkeys(("device", "name_scope", "variable_scope", "control_dependencies", "colocate_with"), scope),
    **dict.fromkeys(("global_variables_initializer", "initialize_all_variables"), nothing),
    **dict.fromkeys(("local_variables_initializer", "variables_initializer", "Assert"), nothing),
    **dict.fromkeys(("no_op", "enable_eager_execution", "disable_eager_execution"), nothing),
    "get_default_graph": lambda: GRAPH,
    "get_default_session": K.get_session,
    "reset_default_graph": K.clear_session,
    "executing_eagerly": lambda: False,
    "Print": printed,
    "gradients": gradients,
    "stop_gradient": K.stop_gradient,
    "assign": K.update,
    "assign_add": K.update_add,
    "assign_sub": K.update_sub,
    **dict.fromkeys(("set_random_seed", "random.set_seed"), set_random_seed),
    "logging": logging,
    "test.is_gpu_available": lambda *_, **__: torch.cuda.is_available(),
    "test.gpu_device_name": lambda: "/device:GPU:0" if torch.cuda.is_available() else "",
}
