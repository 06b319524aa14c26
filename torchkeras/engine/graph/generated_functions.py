"""The functions that run a network's graph, written from it as text: one for each form of its inputs and outputs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from torchkeras.base.tracing import compiled_somewhere, is_compiling
from torchkeras.engine.graph import codegen
from torchkeras.engine.graph.codegen import Variant
from torchkeras.engine.graph.hook_free_calls import Remembered
from torchkeras.engine.layer.changed_options import SETTLED
from torchkeras.engine.symbolic.tensor import as_list

if TYPE_CHECKING:
    from torchkeras.engine.graph.network import Network


def is_attribute(network: Network, name: str) -> bool:
    """Whether a name is one of a network's attributes other than its layers."""
    return hasattr(type(network), name) or name in network.__dict__


class GeneratedFunctions:
    """The functions of one network, by variant, with their texts. Each is written when it is first asked for.

    They run over the network's layers, or over what stands in for these.
    """

    def __init__(self, network: Network, texts: Mapping[Variant, str] | None = None):
        self.network = network
        self.texts: dict[Variant, str] = dict(texts or {})
        self.functions: dict[Variant, Any] = {v: codegen.compiled(t, network.name) for v, t in self.texts.items()}
        self.remembered: Remembered | None = None
        self._settled = SETTLED.count  # how often options had changed by which functions are written

    def clear(self) -> None:
        """The graph is another one: forget what was written."""
        self.functions, self.texts = {}, {}

    @property
    def plain(self) -> Variant:
        """The variant of inputs without masks, to outputs alone."""
        return Variant(masked=(False,) * len(self.network._graphed.inputs))

    @property
    def code(self) -> str:
        """The text of the plain function."""
        self.function(self.plain)
        return self.texts[self.plain]

    def function(self, variant: Variant) -> Any:
        """The function of a variant."""
        self.renew()
        if variant not in self.texts:
            self.functions[variant], self.texts[variant] = self._write(variant)
        return self.functions[variant]

    def _write(self, variant: Variant) -> tuple[Any, str]:
        network = self.network
        text = codegen.source(network._graphed, variant, network._layer_keys(), partial(is_attribute, network))
        return codegen.compiled(text, network.name), text

    def renew(self) -> None:
        """Write functions again where an option has changed since by which they are written."""
        if self._settled == SETTLED.count:
            return
        count = SETTLED.count
        written = {variant: self._write(variant) for variant in list(self.functions)}
        self.functions = {variant: function for variant, (function, _) in written.items()}
        self.texts = {variant: text for variant, (_, text) in written.items()}
        self._settled = count

    def write_later(self) -> None:
        """Have the plain function written at the first call; torch.compile does not trace the writing."""
        plain, written = self.plain, []

        def write() -> None:
            if not written:
                function, self.texts[plain] = self._write(plain)
                written.append(function)

        # What torch.compiler.assume_constant_result does, after it has imported the compiler.
        write._dynamo_marked_constant = True  # type: ignore[attr-defined]

        def forward(*given: Any) -> Any:
            write()
            if not is_compiling():  # whose guards watch the table
                self.functions[plain] = written[0]
            return written[0](*given)

        self.functions[plain] = forward

    def layers_now(self, inputs: tuple[Any, ...]) -> Any:
        """What a function runs over: the network's layers, or in a plain call what stands in for them."""
        if (
            type(inputs[0]) is not torch.Tensor
            or (compiled_somewhere() and is_compiling())
            or torch._C._get_tracing_state()
        ):
            return self.network
        if self.remembered is None:
            self.remembered = Remembered(self.network)
        return self.remembered.layers()

    def run(
        self, layers: Any, *inputs: Any, mask: Any = None, details: bool = False, logits: tuple[int, ...] = ()
    ) -> Any:
        """What `Network.forward` gives, computed over `layers`: the network itself, or what stands in for its layers.

        Raises ValueError for another number of inputs.
        """
        tensors = inputs[0] if len(inputs) == 1 and isinstance(inputs[0], (list, tuple)) else inputs
        masks = () if mask is None else as_list(mask)
        # A tuple finds what is stored for the variant that is equal to it, and is made in less time.
        key = tuple(m is not None for m in masks) if masks else (False,) * len(tensors), details, logits
        if self._settled != SETTLED.count:
            self.renew()
        # Dynamo of torch 2.11 and older does not find a named tuple by an equal one that has no names.
        named = compiled_somewhere() and is_compiling()
        function = self.functions.get(Variant(*key) if named else key)  # type: ignore[call-overload]
        if function is None:
            self._check_count(len(tensors))
            function = self.function(Variant(*key))
        return function(layers, *tensors, *[m for m in masks if m is not None] if masks else ())

    def _check_count(self, found: int) -> None:
        network = self.network
        wanted = len(network._graphed.inputs)
        if found != wanted:
            raise ValueError(
                f"{type(network).__name__} {network.name!r} has {wanted} inputs "
                f"({', '.join(network.input_names)}); it was called with {found}."
            )
