"""Several optimizers for the weights of one model."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from itertools import islice
from typing import Any

from torch import Tensor

from torchkeras import registry
from torchkeras.base.keras_axes import Arrangement
from torchkeras.keras3.optimizers.optimizer import Optimizer
from torchkeras.keras3.optimizers.table import TWINS
from torchkeras.keras3.optimizers.variables import Held, key_of, weight_of, weights_of
from torchkeras.keras3.optimizers.wrapped import Wrapper
from torchkeras.keras3.optimizers.written import serialize
from torchkeras.optimizers.parameter_groups import Gradients


def deserialized(value: Any, custom_objects: Mapping[str, Any] | None) -> Any:
    """An optimizer of a config inside another config; one that is an optimizer stays."""
    if not isinstance(value, Mapping):
        return value
    own = {**TWINS, **registry.get_custom_objects(), **(custom_objects or {})}
    return registry.Family("optimizer").from_config({k: value[k] for k in ("class_name", "config")}, own)


def _layer_of(weight: Held) -> str:
    return weight.path.rpartition("/")[0]


class OptimizerMap(MutableMapping[str, Any]):
    """Optimizers by the path of a weight ("dense/kernel"), or a regular expression that a whole path must match.

    Options:
        default_optimizer (Optimizer): that of all other weights.
        optimizer_map (dictionary or None, default None): optimizers, by path or expression.

    Errors:
        TypeError: for what is no optimizer, or no dictionary.

    Example:
        >>> optimizers = torchkeras.keras3.optimizers
        >>> chosen = OptimizerMap(optimizers.SGD(name="sgd"), {"encoder/.*": optimizers.Adam(name="adam")})
        >>> chosen["encoder/kernel"].name, chosen["decoder/kernel"].name
        ('adam', 'sgd')

    Source: https://keras.io/api/optimizers/
    """

    def __init__(self, default_optimizer: Any, optimizer_map: dict[str, Any] | None = None):
        if not isinstance(default_optimizer, Optimizer):
            raise TypeError(f"OptimizerMap: default_optimizer must be an Optimizer; found {default_optimizer!r}.")
        if optimizer_map is not None and not isinstance(optimizer_map, dict):
            raise TypeError(f"OptimizerMap: optimizer_map must be a dictionary, or None; found {optimizer_map!r}.")
        self._default_optimizer, self._optimizer_map = default_optimizer, optimizer_map or {}

    @property
    def default_optimizer(self) -> Any:
        """The optimizer of the weights that nothing else matches."""
        return self._default_optimizer

    def __getitem__(self, key: str) -> Any:
        if key in self._optimizer_map:
            return self._optimizer_map[key]
        found = [pattern for pattern in self._optimizer_map if re.fullmatch(pattern, key)]
        if len(found) > 1:
            raise ValueError(f"OptimizerMap: {key!r} matches {found[0]!r} and {found[1]!r}.")
        return self._optimizer_map[found[0]] if found else self._default_optimizer

    def __setitem__(self, key: str, optimizer: Any) -> None:
        if not isinstance(key, str):
            raise ValueError(f"OptimizerMap: a key must be a string; found {key!r}.")
        if key in self._optimizer_map:
            raise ValueError(f"OptimizerMap: {key!r} has an optimizer already.")
        if not isinstance(optimizer, Optimizer) or isinstance(optimizer, Wrapper):
            raise ValueError(f"OptimizerMap: {key!r} must have an Optimizer that wraps no other; found {optimizer!r}.")
        self._optimizer_map[key] = optimizer

    def __delitem__(self, key: str) -> None:
        del self._optimizer_map[key]

    def __len__(self) -> int:
        return len(self._optimizer_map)

    def __iter__(self) -> Iterator[str]:
        return iter(self._optimizer_map)

    def __call__(self, variable: Any) -> Any:
        """The optimizer of a weight."""
        return self[variable.path]

    def get_config(self) -> dict[str, Any]:
        """The optimizers as configs."""
        return {
            "default_optimizer": serialize(self._default_optimizer),
            "optimizer_map": {key: serialize(each) for key, each in self._optimizer_map.items()},
        }

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> Any:
        """The map whose `get_config` returned `config`."""
        each = {key: deserialized(value, custom_objects) for key, value in config["optimizer_map"].items()}
        return cls(deserialized(config["default_optimizer"], custom_objects), each)


class MultiOptimizer(Wrapper):
    """Each weight trains by an optimizer of its own.

    Options:
        optimizer_map (OptimizerMap or function): gives the optimizer of a weight, such as by its `path`.
        loss_scale_factor (number above 0 or None, default None): that of all optimizers inside.
        name (text or None, default None): the name; None makes one of the class's.

    Errors:
        ValueError: for a weight whose optimizer is none, or wraps another.
        AttributeError: for `learning_rate`: each optimizer inside has its own.

    Example:
        >>> optimizers = torchkeras.keras3.optimizers
        >>> slow, fast = optimizers.SGD(0.1), optimizers.SGD(1.0)
        >>> optimizer = MultiOptimizer(lambda variable: fast if variable.ndim > 1 else slow)
        >>> matrix, vector = torch.ones(1, 1), torch.ones(1)
        >>> optimizer.apply([torch.ones(1, 1), torch.ones(1)], [matrix, vector])
        >>> matrix, vector
        (tensor([[0.]]), tensor([0.9000]))

    Source: https://keras.io/api/optimizers/
    """

    def __init__(
        self,
        optimizer_map: OptimizerMap | Callable[[Any], Any],
        loss_scale_factor: float | None = None,
        name: str | None = None,
    ):
        self._begin_wrapping(name)
        self._optimizer_map = optimizer_map
        self._inside: list[Any] = []
        self.built, self._given, self._weights, self._chosen = False, None, [], []
        self.loss_scale_factor = self._read_scale(loss_scale_factor)
        if isinstance(optimizer_map, OptimizerMap):
            for each in (*optimizer_map._optimizer_map.values(), optimizer_map.default_optimizer):
                self._place_of(each)

    @property
    def optimizers(self) -> list[Any]:
        """The optimizers inside."""
        return self._inside

    def _place_of(self, optimizer: Any) -> int:
        """The place of an optimizer among those inside, where it gets one."""
        for place, each in enumerate(self._inside):
            if each is optimizer:
                return place
        optimizer.loss_scale_factor = self.loss_scale_factor
        self._inside.append(optimizer)
        return len(self._inside) - 1

    def _choose(self, weights: list[Held]) -> None:
        """Give each weight its optimizer."""
        self._weights, self._chosen = weights, []
        for weight in weights:
            found = self._optimizer_map(weight)
            if not isinstance(found, Optimizer) or isinstance(found, Wrapper):
                raise ValueError(
                    f"{type(self).__name__}: the weight {weight.path!r} must have an Optimizer that wraps no other; "
                    f"found {found!r}."
                )
            self._chosen.append(self._place_of(found))

    def _of(self, place: int, values: Sequence[Any]) -> list[Any]:
        """Of values, one a weight, those whose weights the optimizer at a place trains."""
        return [value for value, chosen in zip(values, self._chosen, strict=True) if chosen == place]

    def build(self, variables: Iterable[Any]) -> None:
        weights = [weight_of(each) for each in variables]
        self._choose(weights)
        self._given = [tensor for each in weights for tensor in each.tensors]
        for place, each in enumerate(self._inside):
            own = self._of(place, weights)
            if own:
                each.build(own)
        self.built = True

    def bind(
        self,
        parameters: Sequence[Tensor],
        arrangements: Sequence[Arrangement] | None = None,
        layers: Sequence[str] | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        if arrangements is None:  # the same weights, moved
            arrangements = [each.arrangement for each in self._weights]
            layers, names = [_layer_of(each) for each in self._weights], [each.name for each in self._weights]
        weights = weights_of(parameters, arrangements, layers, names)
        self._choose(weights)
        self._given = parameters
        for place, inner in enumerate(self._inside):
            own = self._of(place, weights)
            if own:
                inner.bind(
                    [tensor for weight in own for tensor in weight.tensors],
                    [weight.arrangement for weight in own],
                    [*map(_layer_of, own)],
                    [weight.name for weight in own],
                )
        self.built = True

    def apply(self, grads: Iterable[Any], trainable_variables: Iterable[Any] | None = None) -> None:
        gradients, own = list(grads), type(self).__name__
        if not gradients:
            return
        if trainable_variables is not None and not self.built:
            self.build(trainable_variables)
        if not self.built:
            raise ValueError(f"{own}.apply: give the variables too, or call build(variables) first.")
        variables = self._weights if trainable_variables is None else [weight_of(each) for each in trainable_variables]
        if len(gradients) != len(self._weights) or len(variables) != len(gradients):
            raise ValueError(
                f"{own}.apply: there must be a gradient for each of the {len(self._weights)} weights; found "
                f"{len(gradients)} gradients and {len(variables)} variables."
            )
        if self.stepping is not None:  # the model makes the step, by `update`
            super(Optimizer, self).apply(self._unscaled(gradients), variables)
            return
        places = {key_of(weight): chosen for weight, chosen in zip(self._weights, self._chosen, strict=True)}
        for place, inner in enumerate(self._inside):
            pairs = [p for p in zip(gradients, variables, strict=True) if places[key_of(p[1])] == place]
            if pairs:
                inner.apply([gradient for gradient, _ in pairs], [variable for _, variable in pairs])
        self._steps += 1

    def update(self, parameters: Sequence[Tensor], gradients: Gradients, samples: Any = 1) -> bool:
        if parameters is not self._given:
            self.bind(parameters)
        each = iter(gradients)
        of_weights = [list(islice(each, weight.arrangement.count)) for weight in self._weights]
        updated = False
        for place, inner in enumerate(self._inside):
            own = [gradient for found in self._of(place, of_weights) for gradient in found]
            if own:
                updated |= inner.update(inner._given, own, samples)
        self._steps += 1
        return updated

    def flush(self) -> bool:
        return False

    def _bound_parameters(self, method: str) -> Sequence[Tensor]:
        if self.stepping is not None:
            self.stepping.ready()
        if not self._given:
            raise ValueError(f"{type(self).__name__}.{method}: it has no parameters yet: call build(variables) first.")
        return self._given

    # --- what its optimizers have together ---------------------------------------------------------------------------

    @property
    def lr(self) -> Any:  # type: ignore[override]
        """Raises AttributeError: each optimizer inside has its own rate."""
        raise AttributeError(f"{type(self).__name__} has no learning rate: each of its `optimizers` has its own.")

    @property
    def learning_rate(self) -> Any:  # type: ignore[override]
        """Raises AttributeError: each optimizer inside has its own rate."""
        return self.lr

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} has no learning rate: each of its `optimizers` has its own.")

    @property
    def iterations(self) -> Any:  # type: ignore[override]
        """The number of steps taken."""
        return self._own_numbers[0]

    @property
    def loss_scale_factor(self) -> Any:  # type: ignore[override]
        """That of all optimizers inside."""
        return vars(self).get("_scale")

    @loss_scale_factor.setter
    def loss_scale_factor(self, value: Any) -> None:
        vars(self)["_scale"] = value
        for each in self._inside:
            each.loss_scale_factor = value

    @property
    def _active(self) -> list[Any]:
        return [each for place, each in enumerate(self._inside) if place in self._chosen]

    @property
    def use_ema(self) -> bool:  # type: ignore[override]
        """Whether one of them keeps moving averages."""
        return any(each.use_ema for each in self._active)

    @property
    def gradient_accumulation_steps(self) -> int | None:  # type: ignore[override]
        """The largest of theirs."""
        return max((each.gradient_accumulation_steps or 0 for each in self._active), default=0) or None

    def overwrite_with_ema(self) -> None:
        for each in self._active:
            if each.use_ema:
                each.overwrite_with_ema()

    def swap_ema(self) -> None:
        for each in self._active:
            if each.use_ema:
                each.swap_ema()

    def finalize_variable_values(self, var_list: Iterable[Any]) -> None:
        weights = [weight_of(each) for each in var_list]
        for each in self._active:
            known = {key_of(weight) for weight in each._weights}
            each.finalize_variable_values([weight for weight in weights if key_of(weight) in known])

    def drop_accumulated(self) -> None:
        for each in self._active:
            each.drop_accumulated()

    def samples_with(self, samples: Any) -> Any:
        return max((each.samples_with(samples) for each in self._active), default=samples)

    def tensors(self) -> list[Tensor]:
        return [tensor for each in self._active for tensor in each.tensors()]

    def shared_tensors(self) -> list[tuple[Tensor, Any]]:
        return [pair for each in self._active for pair in each.shared_tensors()]

    def get_config(self) -> dict[str, Any]:
        made = self._optimizer_map
        if not isinstance(made, OptimizerMap):
            raise ValueError(f"{type(self).__name__}: a function has no form in a config: give it an OptimizerMap.")
        return {
            "optimizer_map": {
                "module": "keras.optimizers",
                "class_name": "OptimizerMap",
                "config": made.get_config(),
                "registered_name": None,
            },
            "loss_scale_factor": self.loss_scale_factor,
            "name": self.name,
        }

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> Any:
        """The optimizer whose `get_config` returned `config`."""
        made = config["optimizer_map"]
        if isinstance(made, Mapping) and not isinstance(made, OptimizerMap):
            made = OptimizerMap.from_config(made["config"], custom_objects)
        return cls(**{**config, "optimizer_map": made})

    @property
    def no_form(self) -> str:  # type: ignore[override]
        return "the state of several optimizers has no form in a file of Keras"

    @property
    def own_config(self) -> dict[str, Any]:
        return self.get_config()

    def get_weights(self) -> Any:
        """Raises ValueError: the state has no form in Keras 2; see `variables` and `state_dict`."""
        raise ValueError(f"{type(self).__name__}: {self.no_form}: use save_own_variables.")

    def state_dict(self) -> dict[str, Any]:
        return {
            "class_name": type(self).__name__,
            "options": {},
            "steps": self._steps,
            "inside": [e.state_dict() for e in self._active],
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self._steps = state["steps"]
        for each, values in zip(self._active, state["inside"], strict=True):
            each.load_state_dict(values)
