"""`gradients`: of torch's tensors at once, of symbolic ones as nodes of the graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import torch
from torch import Tensor, nn

from torchkeras.base.naming import unique_name
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.symbolic.tensor import KerasTensor, as_list, unpacked
from torchkeras.engine.weights.weight import Variable
from torchkeras.keras2.backend.nodes import is_symbolic
from torchkeras.keras2.backend.partial_graph import Part, needed


def gradients(loss: Any, variables: Any) -> list[Any]:
    """d sum(loss) / d variable for each of them; None for one that the loss does not depend on.

    They can be differentiated again. On symbolic tensors each gradient is a symbolic tensor. The part of the graph from
    the variable to the loss then runs a second time, so the dropout inside it, if any, is drawn again.

    Arguments:
        loss (tensor): of any shape; its numbers are added up.
        variables (tensor or list): tensors that the loss was computed from, variables or weights.

    Errors:
        TypeError: a loss with values, and a symbolic variable: make that an output of the model, or compute the loss
            in the graph, with `model.add_loss`.

    Example:
        >>> x = variable([1.0, 2.0])
        >>> gradients(sum(square(x)), [x])[0]
        tensor([2., 4.], grad_fn=<MulBackward0>)
    """
    wanted = as_list(variables)
    if isinstance(loss, KerasTensor):
        return [_symbolic(loss, each) for each in wanted]
    if is_symbolic(wanted):
        raise TypeError(
            "the loss has values and the variable is symbolic, so torch cannot tell how one came from the other. Take "
            "the gradient in the graph: K.gradients of the model's symbolic output, added by model.add_loss."
        )
    tensors = [each.tensors if isinstance(each, Variable) else [each] for each in wanted]
    found = _of(loss, [tensor for several in tensors for tensor in several])
    return [_in_keras_axes(each, [next(found) for _ in several]) for each, several in zip(wanted, tensors, strict=True)]


def _of(loss: Tensor, tensors: Sequence[Tensor], again: bool = True) -> Any:
    """Gradients, one by one. `again`: whether they can be differentiated."""
    if not loss.requires_grad or not any(each.requires_grad for each in tensors):
        return iter([None] * len(tensors))
    asked = [each for each in tensors if each.requires_grad]
    found = iter(torch.autograd.grad(loss.sum(), asked, create_graph=again, allow_unused=True))
    return iter([next(found) if each.requires_grad else None for each in tensors])


def _in_keras_axes(variable: Any, found: list[Tensor | None]) -> Tensor | None:
    """The gradient of a weight as it lies in Keras."""
    if not isinstance(variable, Variable):
        return found[0]
    if all(each is None for each in found):
        return None
    whole = [torch.zeros_like(t) if g is None else g for t, g in zip(variable.tensors, found, strict=True)]
    return variable.arrangement.array(whole)


# --- in a graph ------------------------------------------------------------------------------------------------------


class Gradients(Layer, abstract=True):
    """d sum(loss) / d its first input, or d a weight; the further inputs are what else the loss depends on.

    It has the layers between, and computes the loss again, whatever mode of torch it runs in.
    """

    def __init__(self, part: Part, weight: Any, shape: Any, dtype: torch.dtype):
        super().__init__(name=unique_name("gradients"))
        self.part = part
        self.__dict__.update(_weight=weight, _shape=shape, _type=dtype)

    def _infer_outputs(self, inputs: Any, masks: list[Any], arguments: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        return KerasTensor(self._shape, self._type), [None]

    def forward(self, inputs: Any, mask: Any = None) -> Tensor:
        recording = torch.is_grad_enabled()
        with torch.inference_mode(False), torch.enable_grad():
            given = [each.clone() if each.is_inference() else each for each in as_list(inputs)]
            if self._weight is None:
                given[0] = given[0] if given[0].requires_grad else given[0].detach().requires_grad_()
            tensors = given[:1] if self._weight is None else _tensors_of(self._weight)
            with _training_all(tensors):
                loss = self._loss(given, mask)
                found = list(_of(loss, tensors, again=recording))
            gradient = _in_keras_axes(self._weight, found)
            assert gradient is not None
        return gradient

    def _loss(self, given: list[Tensor], mask: Any) -> Tensor:
        """The loss; statistics that a layer keeps in training stay as they are."""
        kept = {name: buffer.clone() for name, buffer in self.part.named_buffers()} if self.training else {}
        named = {"mask": as_list(mask)} if any(each is not None for each in as_list(mask)) else {}
        return torch.func.functional_call(self.part, kept, (given,), named)

    def get_config(self) -> NoReturn:
        """Raises ValueError: no config can hold the part of the graph that a gradient is of."""
        raise ValueError(
            f"{self.name!r} is a gradient, which no file can hold. Save the model that it is taken of, and call "
            "K.gradients again after loading."
        )


def _tensors_of(weight: Any) -> list[Tensor]:
    return weight.tensors if isinstance(weight, Variable) else [weight]


class _training_all:  # noqa: N801  (a context manager)
    """Within it, these tensors need a gradient: a weight that is frozen for training has one too."""

    def __init__(self, tensors: list[Tensor]):
        self.frozen = [each for each in tensors if each.is_leaf and not each.requires_grad]

    def __enter__(self) -> None:
        for each in self.frozen:
            each.requires_grad_()

    def __exit__(self, *error: Any) -> None:
        for each in self.frozen:
            each.requires_grad_(False)


def _symbolic(loss: KerasTensor, variable: Any) -> Any:
    if isinstance(variable, KerasTensor):
        inputs = [variable, *(each for each in needed([loss], [variable]) if each is not variable)]
        if len(inputs) > len(needed([loss], [variable])):
            return None
        weight, shape, dtype = None, variable.shape, variable.dtype
    elif isinstance(variable, (nn.Parameter, Variable)):
        inputs, weight, shape, dtype = needed([loss]), variable, tuple(variable.shape), variable.dtype
    else:
        raise TypeError(f"gradients of a symbolic loss are of symbolic tensors and weights; found {variable!r:.200}.")
    part = Part(inputs, [loss])
    owned = {id(each) for each in (*part.parameters(), *part.buffers())}
    if weight is not None and not owned & {id(each) for each in _tensors_of(weight)}:
        return None
    if not dtype.is_floating_point:
        raise TypeError(f"a gradient is of floating-point numbers; found {variable!r}.")
    return Gradients(part, weight, shape, dtype)(unpacked(inputs))
