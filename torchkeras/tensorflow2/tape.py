"""`tf.GradientTape` by torch's autograd."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import grad

from torchkeras.engine.weights.weight import Variable
from torchkeras.keras3 import tree
from torchkeras.keras3.optimizers.variables import Held, weight_of
from torchkeras.tensorflow2.tensors import as_value

# The tapes whose blocks are open, the innermost last.
_open: list[GradientTape] = []


class GradientTape:
    """Records what is computed in its block, for `gradient`.

    torch records what is computed from tensors that require gradients, which variables do that train. A gradient that
    is computed in the block of a tape, of that or of an outer one, can be differentiated again.

    Options:
        persistent (bool, default False): whether `gradient` may be called more than once.
        watch_accessed_variables (bool, default True): whether variables are watched; False leaves that to `watch`, and
            others have no gradient.

    Example:
        >>> x = torch.tensor(3.0)
        >>> with GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> float(tape.gradient(y, x))
        6.0

    Source: https://www.tensorflow.org/api_docs/python/tf/GradientTape
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self.persistent, self.watch_accessed_variables = persistent, watch_accessed_variables
        self._watched: list[Any] = []
        self._is_used = False

    def __enter__(self) -> GradientTape:
        self._recording = torch.enable_grad()
        self._recording.__enter__()
        _open.append(self)
        return self

    def __exit__(self, *error: Any) -> None:
        _open.remove(self)
        self._recording.__exit__(*error)

    def watch(self, tensor: Any) -> None:
        """Record what is computed from a tensor, or from those in a list, that is not a variable."""
        for source in tree.flatten(tensor):
            for each in weight_of(source).tensors:
                if each.is_floating_point() or each.is_complex():  # TensorFlow only logs that others have no gradient
                    each.requires_grad_(True)
            self._watched.append(source)

    def watched_variables(self) -> tuple[Any, ...]:
        """The variables that `watch` was called with; torch keeps no list of those that a computation reads."""
        return tuple(each for each in self._watched if isinstance(each, (nn.Parameter, Variable)))

    def stop_recording(self) -> Any:
        """A block of which nothing is recorded."""
        return torch.no_grad()

    def reset(self) -> None:
        """Begin again: a gradient may be asked for once more."""
        self._watched.clear()
        self._is_used = False

    def gradient(
        self, target: Any, sources: Any, output_gradients: Any = None, unconnected_gradients: Any = "none"
    ) -> Any:
        """The gradients of the sum of the targets, in the form of the sources; None for one that a target has none of.

        Arguments:
            target (tensor, or a list or dict of tensors): what is differentiated.
            sources (tensor or variable, or a list or dict of them): what by.
            output_gradients (tensor or list, default None): what the gradients of the targets are multiplied by.
            unconnected_gradients ("none" or "zero", default "none"): what stands in place of a gradient that is not
                there.

        Errors:
            RuntimeError: a tape that is not persistent is asked again.
        """
        if self._is_used and not self.persistent:
            raise RuntimeError(
                "GradientTape.gradient: a tape gives gradients once; for more make it GradientTape(persistent=True)."
            )
        self._is_used = True
        zero = str(getattr(unconnected_gradients, "value", unconnected_gradients)) == "zero"
        return self._gradient(target, sources, output_gradients, zero)

    def _gradient(self, target: Any, sources: Any, factors: Any, zero: bool) -> Any:
        targets = [as_value(each) for each in tree.flatten(target)]
        weights = [None] * len(targets) if factors is None else tree.flatten(factors)
        reached = [
            (each, torch.ones_like(each) if weight is None else as_value(weight).to(each.dtype))
            for each, weight in zip(targets, weights, strict=True)
            if isinstance(each, Tensor) and each.requires_grad
        ]
        asked = [
            each for source in tree.flatten(sources) for each in weight_of(source).tensors if self._is_recorded(each)
        ]
        found: Sequence[Any] = ()
        if reached and asked:
            outputs, by = zip(*reached, strict=True)
            # Another tape may need the same graph, which goes when the tensors do.
            found = grad(outputs, asked, by, retain_graph=True, create_graph=bool(_open), allow_unused=True)
        known = {id(each): gradient for each, gradient in zip(asked, found, strict=False)}
        return tree.map_structure(lambda source: _of_source(weight_of(source), known, zero), sources)

    def _is_recorded(self, tensor: Tensor) -> bool:
        if self.watch_accessed_variables:
            return tensor.requires_grad
        watched = (each for source in self._watched for each in weight_of(source).tensors)
        return tensor.requires_grad and any(tensor is each for each in watched)

    def jacobian(self, target: Any, sources: Any, **options: Any) -> Any:
        """The gradients of each number of the target, with its shape before that of the source."""
        each = [tree.flatten(self._gradient(number, sources, None, True)) for number in as_value(target).reshape(-1)]
        rows = iter([torch.stack(list(found)) for found in zip(*each, strict=True)])
        return tree.map_structure(lambda source: next(rows).reshape(*target.shape, *source.shape), sources)

    def batch_jacobian(self, target: Any, source: Any, **options: Any) -> Any:
        """The Jacobian of each sample, of which the others have no part: (batch, sizes of target, sizes of source)."""
        columns = as_value(target).flatten(1).unbind(1)
        each = [self._gradient(column, source, None, True) for column in columns]
        return torch.stack(each, 1).reshape(*target.shape, *source.shape[1:])


def _of_source(source: Held, known: Mapping[int, Any], zero: bool) -> Any:
    """The gradient of a weight in Keras's order of axes."""
    found = [known[id(each)] for each in source.tensors if known.get(id(each)) is not None]
    if len(found) < len(source.tensors):
        return torch.zeros(source.shape, dtype=source.tensors[0].dtype) if zero else None
    return source.arrangement.array(found)


def custom_gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function with a gradient of its own: it returns its result, and a function of the gradients of that."""

    class _Own(torch.autograd.Function):
        @staticmethod
        def forward(context: Any, *args: Tensor) -> Any:
            result, context.backward_by = function(*[each.detach() for each in args])
            return result.clone() if any(result is each for each in args) else result

        @staticmethod
        def backward(context: Any, *gradients: Tensor) -> Any:
            found = context.backward_by(*gradients)
            return tuple(found) if isinstance(found, (list, tuple)) else found

    @wraps(function)
    def call(*args: Any) -> Any:
        return _Own.apply(*[as_value(each) for each in args])

    return call
