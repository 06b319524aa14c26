"""The losses and metrics that layers add while they compute: `add_loss`, `add_metric`.

The forward pass of a step collects them in `ADDED`. In a call by hand, and in a custom step, each layer stores the
losses of the last pass, for `losses` of a layer or model: a pass is one call of a model, or of a layer outside of any
model, with the calls of other layers by its code.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import Tensor, nn

from torchkeras.base.tracing import traced
from torchkeras.engine.base_layer import AnyLayer
from torchkeras.engine.dtypes import widened
from torchkeras.engine.layer.changed_options import SETTLED
from torchkeras.engine.symbolic.tensor import as_list
from torchkeras.engine.users_code import CODE
from torchkeras.engine.weights.expressions import expression_of, value_now
from torchkeras.engine.weights.weight import penalized
from torchkeras.regularizers import L1L2
from torchkeras.world.one_process import CURRENT

if TYPE_CHECKING:
    from torchkeras.engine.layer.layer import Layer


class Added(threading.local):
    """Where added losses and metrics go, in each thread.

    `taken`: the losses, and the metrics by name, of a step's forward pass; None outside of one. `by_hand`: stands for
    the pass of a model by hand that runs now, or for the last one; `inside`: whether one runs.
    """

    def __init__(self) -> None:
        self.taken: tuple[list[Tensor], dict[str, Tensor]] | None = None
        self.inside = False
        self.by_hand = object()

    def one_pass(self) -> OnePass | nullcontext[None]:
        """The calls by hand inside the block are one pass; a block inside another one is a part of it."""
        return PART if self.inside else OnePass(self)

    def this_pass(self) -> object | None:
        """Stands for the pass by hand that runs; None if none does, and in the call of a model that is compiled."""
        return self.by_hand if self.inside else CODE.outermost


class OnePass:
    """The outermost block of `Added.one_pass`: a class, which is faster than a generator for each call of a model."""

    def __init__(self, added: Added):
        self._added = added

    def __enter__(self) -> None:
        # A model that a layer's code calls is a part of that call.
        self._added.inside, self._added.by_hand = True, CODE.outermost or object()

    def __exit__(self, *_: object) -> None:
        self._added.inside = False


PART = nullcontext()
ADDED = Added()


@dataclass(frozen=True, eq=False)
class LossOfWeights:
    """A loss that `add_loss` got outside of a call. A step computes it as it does the penalty on a weight."""

    layer: AnyLayer
    compute: Callable[[], Any]

    array: ClassVar[None] = None
    tensors: ClassVar[Sequence[Tensor]] = ()

    @property
    def full_name(self) -> str:
        """Its name in errors."""
        return f"add_loss of {type(self.layer).__name__} {self.layer.name!r}"

    def regularizer(self, _: Any) -> Any:
        """The loss now."""
        found = self.compute()
        return widened(found) if isinstance(found, Tensor) else found


def add_loss(layer: AnyLayer, losses: Any) -> None:
    """Add scalars to the loss: of the running pass or, outside of a call, of every step.

    Raises TypeError for a loss that is neither a tensor nor a function, and ValueError for one that is no scalar.
    """
    computing = CODE.owner is not None or ADDED.taken is not None or ADDED.inside or traced()
    for loss in losses if isinstance(losses, (list, tuple)) else [losses]:
        if not computing:
            _add_to_every_step(layer, loss)
            continue
        value: Any = loss() if callable(loss) else loss
        _check_scalar(layer, value)
        _add_to_pass(layer, widened(value))


def _check_scalar(layer: AnyLayer, loss: Any) -> None:
    """Raise TypeError for a loss that is no tensor, and ValueError for one that is no scalar."""
    if not isinstance(loss, Tensor):
        raise TypeError(f"{layer.name}: add_loss takes tensors or functions; found {type(loss).__name__}.")
    if loss.dim():
        raise ValueError(
            f"{layer.name}: add_loss takes scalars; found the shape {tuple(loss.shape)}. Take its mean or sum."
        )


def _add_to_every_step(layer: AnyLayer, loss: Any) -> None:
    """Store a loss that depends on weights alone. Raises ValueError for a tensor whose value would never change."""
    if not callable(loss):
        _check_scalar(layer, loss)
        live = loss if isinstance(loss, nn.Parameter) else expression_of(loss)
        if live is None:
            raise ValueError(
                f"{type(layer).__name__} {layer.name!r}: add_loss was given a tensor outside of a call, whose value "
                "would stay as it is now. Give a function, which every step calls: add_loss(lambda: ...); or "
                "compute it by functions of keras.backend alone, such as K.sum(K.square(layer.kernel))."
            )
        loss = partial(value_now, live)
    layer.__dict__["_losses_of_weights"] = (*layer._losses_of_weights, LossOfWeights(layer, loss))
    SETTLED.count += 1


def copied_losses(layer: AnyLayer) -> tuple[LossOfWeights, ...]:
    """The losses of weights that a copy gets. Functions are not copied: they compute from the original's weights."""
    losses = layer._losses_of_weights
    found = tuple(loss for loss in losses if isinstance(loss.compute, partial))
    if len(found) < len(losses):
        warnings.warn(
            f"{type(layer).__name__} {layer.name!r}: a function that add_loss was given is not copied, since it "
            "computes from the weights of this layer: add it again to the copy.",
            stacklevel=4,
        )
    return found


def add_metric(layer: AnyLayer, value: Any, name: str, aggregation: str | None) -> None:
    """Report the mean of a tensor. Raises ValueError and TypeError for bad arguments."""
    if aggregation != "mean":
        raise ValueError(f"{layer.name}: add_metric: aggregation must be 'mean'; found {aggregation!r}.")
    if not isinstance(value, Tensor) or not isinstance(name, str):
        raise TypeError(f"{layer.name}: add_metric takes a tensor and a name; found {value!r} and {name!r}.")
    if ADDED.taken is None or value.is_meta:  # on `meta` a shape is being found
        return
    _, metrics = ADDED.taken
    if name in metrics:
        raise ValueError(
            f"{layer.name}: add_metric: {name!r} is added for a second time in one pass; give each call a name."
        )
    metrics[name] = value.detach().mean(dtype=None if value.is_floating_point() else torch.float32)


def _add_to_pass(layer: AnyLayer, loss: Tensor) -> None:
    """Add a loss to the step's pass or, in a pass by hand, to the losses that the layer stores."""
    if loss.is_meta:  # a shape is being found
        return
    if ADDED.taken is not None:
        ADDED.taken[0].append(loss)
        return
    if "_losses_of_call" not in layer.__dict__:
        layer.__dict__["_losses_of_call"] = (ADDED.this_pass() or ADDED.by_hand, [])
        layer.register_forward_pre_hook(_forget_other_passes)
    layer._losses_of_call[1].append(loss)


def losses_of_call(module: nn.Module) -> list[Tensor]:
    """The losses that a module added in its last pass by hand."""
    return list(module.__dict__.get("_losses_of_call", (None, ()))[1])


def penalties(layer: Layer) -> list[Tensor]:
    """The penalties on the weights of a layer and of those inside it, as they are now."""
    return [each.regularizer(each.array) for each in penalized(layer)]


def losses_of_calls(layer: Layer) -> list[Tensor]:
    """The losses that a layer and those inside it added in their last pass by hand."""
    return [loss for module in layer.modules() for loss in losses_of_call(module)]


def _forget_other_passes(layer: AnyLayer, _: Any) -> None:
    now = ADDED.this_pass()
    if now is None or layer._losses_of_call[0] is not now:
        layer.__dict__["_losses_of_call"] = (now or ADDED.by_hand, [])


def add_activity_losses(layer: AnyLayer, in_steps: bool) -> None:
    """Make a layer with an activity regularizer add its penalty: in calls by hand and, with `in_steps`, in steps.

    Steps compute the penalties of the layers in a model's graph themselves, but not those of layers inside layers.
    """
    if "_activity_hook" in layer.__dict__ and (layer._adds_in_steps or not in_steps):
        return
    if "_activity_hook" in layer.__dict__:
        layer._activity_hook.remove()
    layer.__dict__["_adds_in_steps"] = in_steps
    layer.__dict__["_activity_hook"] = layer.register_forward_hook(_add_always if in_steps else _add_by_hand)


def _add_by_hand(layer: AnyLayer, inputs: Any, outputs: Any) -> None:
    if ADDED.taken is None:
        _add_always(layer, inputs, outputs)


def _add_always(layer: AnyLayer, _: Any, outputs: Any) -> None:
    if layer.activity_regularizer is None:  # removed since
        return
    for output in as_list(outputs):
        loss = activity_loss(layer.activity_regularizer, widened(output))
        _check_scalar(layer, loss)
        _add_to_pass(layer, widened(loss))  # a hook runs in a pass, even in that of a layer called by hand


def activity_loss(regularizer: Any, output: Tensor) -> Tensor:
    """The penalty of an activity regularizer on the output for a batch; L1 and L2 are sums over the samples."""
    if type(regularizer) is L1L2:
        return CURRENT.batch.of_sum(regularizer(output))
    return regularizer(CURRENT.batch.joined(output))
