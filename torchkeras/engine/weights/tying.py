"""`layer.kernel = other.kernel`: a declared weight that is the parameter of another layer, as PyTorch ties weights."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from torchkeras.engine.base_layer import AnyLayer
from torchkeras.engine.weights.expressions import whole_parameter
from torchkeras.engine.weights.weight import Value, Weight, owned


def tie(layer: AnyLayer, name: str, value: Tensor) -> bool:
    """Make the declared weight of that name the parameter that `value` is, if both have one order; whether they have.

    `value` is the weight of another layer, `layer.kernel = other.kernel`, or a view of a whole parameter in Keras's
    order of axes, `dense.kernel = embedding.embeddings.T`. A layer without weights is tied when it makes them. Raises
    ValueError for another shape or type.
    """
    declaration = layer._weights[name]
    if not declaration.applies(layer):  # type: ignore[arg-type]
        return False
    tensors = _parameters_of(declaration, value)
    if not tensors:
        return False
    if layer.built:
        _set(layer, declaration, tensors)
    else:
        layer.__dict__.setdefault("_tied", {})[name] = tensors
    return True


def tie_what_was_given(layer: AnyLayer) -> None:
    """Tie the weights that were given before the layer had made its own."""
    for name, tensors in layer.__dict__.pop("_tied", {}).items():
        _set(layer, layer._weights[name], tensors)


def _parameters_of(declaration: Weight, value: Tensor) -> list[nn.Parameter]:
    """The parameters, one for each path of the weight; none if `value` is not made of whole ones in that order."""
    variable = value._variable if isinstance(value, Value) else None
    if variable is not None and declaration in type(variable.layer)._weights.values():
        same = variable.paths == declaration.paths_in(variable.layer)
        return declaration.owned_by(variable.layer) if same else []  # type: ignore[return-value]
    found = whole_parameter(value)
    if found is None or declaration.pieces is not None or len(declaration.paths) > 1:
        return []
    parameter, order = found
    own = torch.empty(parameter.shape, device="meta")
    if "..." not in declaration.keras and own.dim() != len(declaration.keras):
        return []
    return [parameter] if declaration._permuted(own).stride() == own.permute(order).stride() else []


def _set(layer: AnyLayer, declaration: Weight, tensors: list[nn.Parameter]) -> None:
    paths = declaration.paths_in(layer)  # type: ignore[arg-type]
    for path, tensor in zip(paths, tensors, strict=True):
        before = owned(layer, path)
        if before is None or before.shape != tensor.shape or before.dtype != tensor.dtype:
            has = "no weight" if before is None else f"{before.dtype} of shape {tuple(before.shape)}"
            raise ValueError(
                f"{type(layer).__name__} {layer.name!r}: {declaration.name!r} can only be tied to a weight of its own "
                f"shape and type. {path!r} is {has}; found {tensor.dtype} of shape {tuple(tensor.shape)}."
            )
    for path, tensor in zip(paths, tensors, strict=True):
        *around, name = path.split(".")
        setattr(layer.get_submodule(".".join(around)), name, tensor)
