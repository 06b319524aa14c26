"""The functions that run a network's graph, written from it as text: one for each form of its inputs and outputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch

from torchkeras.base.torch_tables import own_modules
from torchkeras.base.tracing import compiled_somewhere, is_compiling
from torchkeras.engine.graph import codegen
from torchkeras.engine.graph.codegen import Variant
from torchkeras.engine.graph.layer_calls import Call, DirectCalls, ModuleCalls, Remembered
from torchkeras.engine.graph.trace import graph_of
from torchkeras.engine.layer.changed_options import SETTLED
from torchkeras.engine.symbolic.tensor import as_list

if TYPE_CHECKING:
    from torchkeras.engine.graph.network import Network


Written = tuple[str, Mapping[str, Call]]  # a text, and what the names in it stand for


class GeneratedFunction:
    """A function that computes a graph, written as text when it is first needed.

    `compute(layers, *inputs, *masks)`: the function, which runs over `modules` where hooks must see the calls of the
    layers; `text`: its text; `calls`: what the names in the text stand for. `write` makes all four.
    """

    text: str
    calls: Mapping[str, Call]
    modules: ModuleCalls
    compute: Any = None  # before it is written

    def __init__(self, network: Network, variant: Variant, written: Written | None = None):
        self.variant, self.written = variant, written

        def write() -> None:
            if self.compute is None:
                if self.written is None:
                    self.written = codegen.source(graph_of(network), variant, network._layer_keys())
                self.text, self.calls = self.written
                self.modules = ModuleCalls(own_modules(network), self.calls)
                self.compute = codegen.compiled(self.text, network.name)

        # As torch.compiler.assume_constant_result does, without its import of the compiler: writing is not traced.
        write._dynamo_marked_constant = True  # type: ignore[attr-defined]
        self.write = write


class GeneratedFunctions:
    """The functions of one network, by variant."""

    def __init__(self, network: Network, written: Mapping[Variant, Written | None] | None = None):
        self.network = network
        self.functions = {each: GeneratedFunction(network, each, text) for each, text in (written or {}).items()}
        self.remembered: Remembered | None = None
        self._settled = SETTLED.count  # how often options that functions are written by had changed

    def clear(self) -> None:
        """Forget what was written: the graph is another one."""
        self.functions = {}

    @property
    def plain(self) -> Variant:
        """The variant of inputs without masks, to outputs alone."""
        return Variant(masked=(False,) * len(graph_of(self.network).inputs))

    @property
    def code(self) -> str:
        """The text of the plain function."""
        return self.function(self.plain).text

    def function(self, variant: Variant) -> GeneratedFunction:
        """The function of a variant, written."""
        self.renew()
        function = self.functions.get(variant) or GeneratedFunction(self.network, variant)
        function.write()  # what cannot be written is not stored
        self.functions[variant] = function
        return function

    def renew(self) -> None:
        """Write the functions again if an option that they are written by has changed since."""
        if self._settled == SETTLED.count:
            return
        count = SETTLED.count
        renewed = {}
        for variant in list(self.functions):
            renewed[variant] = GeneratedFunction(self.network, variant)
            renewed[variant].write()
        self.functions, self._settled = renewed, count

    def state(self) -> dict[Variant, Written | None]:
        """What a copy and a pickle of the network store of them."""
        self.renew()
        return {variant: function.written for variant, function in list(self.functions.items())}

    def write_later(self) -> None:
        """Have the plain function written at the first call."""
        self.functions[self.plain] = GeneratedFunction(self.network, self.plain)

    def direct_now(self, inputs: tuple[Any, ...]) -> DirectCalls | None:
        """The direct calls of the layers, for a plain call that nothing sees; else None."""
        if (
            type(inputs[0]) is not torch.Tensor
            or (compiled_somewhere() and is_compiling())
            or torch._C._get_tracing_state()
        ):
            return None
        if self.remembered is None:
            self.remembered = Remembered(self)
        return self.remembered.direct()

    def run(
        self,
        direct: DirectCalls | None,
        *inputs: Any,
        mask: Any = None,
        details: bool = False,
        logits: tuple[int, ...] = (),
    ) -> Any:
        """What `Network.forward` returns, computed by direct calls of the layers, or as modules where there are none.

        Raises ValueError for another number of inputs.
        """
        tensors: Any = inputs
        if len(inputs) == 1 and isinstance(inputs[0], (list, tuple)):
            tensors = inputs[0]
        masked, masks = (False,) * len(tensors), []
        if mask is not None:
            masks = as_list(mask)
            masked = tuple(each is not None for each in masks) or masked
            masks = [each for each in masks if each is not None]
        # A tuple finds what is stored for the variant that is equal to it, and is made in less time.
        key: Any = masked, details, logits
        if self._settled != SETTLED.count:
            self.renew()
        if traced := compiled_somewhere() and is_compiling():
            key = Variant(*key)  # Dynamo of torch 2.11 and older does not find a named tuple by one without names
        function = self.functions.get(key)
        if function is None:
            self._check_count(len(tensors))
            function = self.function(Variant(*key))
        elif traced or function.compute is None:
            function.write()
        if direct is None:
            layers: Any = function.modules
        else:
            layers = direct.made.get(function.variant)
            if layers is None or layers._function is not function:
                layers = function.modules if traced else direct.make(function)  # torch.compile cannot follow the choice
        compute: Any = function.compute
        return compute(layers, *tensors, *masks)

    def _check_count(self, found: int) -> None:
        network = self.network
        expected = len(graph_of(network).inputs)
        if found != expected:
            raise ValueError(
                f"{type(network).__name__} {network.name!r} has {expected} inputs "
                f"({', '.join(network.input_names)}); it was called with {found}."
            )
