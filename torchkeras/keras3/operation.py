"""`keras.Operation`: the base of operations of one's own."""

from __future__ import annotations

import inspect
from typing import Any

from torchkeras import config
from torchkeras.base.nested import mapped, tensors_in
from torchkeras.engine.facts import Facts, is_users_method
from torchkeras.engine.graph.network import as_tensors
from torchkeras.keras3.layer import Layer
from torchkeras.keras3.variable import Variable


class Operation(Layer, abstract=True):
    """A function of tensors as an object: the base of operations of one's own. It is a layer without weights.

    A subclass has a `call`, which computes, and may have a `compute_output_spec`, which says the shapes and types of
    the outputs. On symbolic tensors the object adds a node to the graph. It computes in the types of its inputs.

    Options:
        name (text or None, default None): the name; None counts.

    Errors:
        ValueError: `name` is no text, or has a "/".
        NotImplementedError: of `get_config`, where the constructor took other values than numbers and texts.

    Example:
        >>> class Times(Operation):
        ...     def __init__(self, factor, name=None):
        ...         super().__init__(name=name)
        ...         self.factor = factor
        ...     def call(self, x):
        ...         return self.factor * x
        >>> Times(3)(torch.ones(2)).tolist()
        [3.0, 3.0]
        >>> Times(3)(KerasTensor((None, 2))).shape
        (None, 2)

    Source: https://keras.io/api/ops/
    """

    _without_policy = True  # its config has no type

    class _Facts(Facts):
        casts = False

    def __init__(self, name: str | None = None) -> None:
        if name is not None and (not isinstance(name, str) or "/" in name):
            raise ValueError(
                f"{type(self).__name__}: name must be a string and cannot contain character `/`; found {name!r}."
            )
        super().__init__(name=name)

    def get_build_config(self) -> None:
        """None: there is nothing to build."""

    def _compute(self, *args: Any, **kwargs: Any) -> Any:
        if tensors_in((args, kwargs)):
            return super()._compute(*args, **kwargs)
        values = mapped((args, kwargs), lambda variable: variable.value, (Variable,))
        args, kwargs = as_tensors(values, (), config.device())
        return self._computed(*args, **kwargs)

    def get_config(self) -> dict[str, Any]:
        """The name and the arguments of the constructor, from which `from_config` makes the operation again.

        Errors:
            NotImplementedError: an argument is no number or text: give the class a `get_config`.
        """
        cls = type(self)
        parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
        takes_name = any(each.name == "name" or each.kind is each.VAR_KEYWORD for each in parameters)
        name = {"name": self.name} if takes_name else {}
        if is_users_method(cls, "get_config"):
            return name
        arguments = self.__dict__.get("_arguments")
        if arguments is None:
            raise NotImplementedError(
                f"{cls.__name__} {self.name!r}: its constructor takes other values than numbers and texts, or any "
                "number of them: give the class a get_config."
            )
        defaults = {
            each.name: each.default for each in parameters if each.default is not each.empty and each.name != "name"
        }
        return {**name, **defaults, **arguments}
