"""The functions that run a graph, written from it as text: one for each form of its inputs and outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchkeras.base.tracing import is_compiling
from torchkeras.engine.graph import codegen
from torchkeras.engine.graph.codegen import Variant
from torchkeras.engine.graph.structure import Structure
from torchkeras.engine.layer.changed_options import SETTLED
from torchkeras.engine.layer.layer import Layer


class Written(Structure, abstract=True):
    """The part of a network that writes the functions, and keeps them (`_functions`) with their texts (`_sources`)."""

    _held_keys: Sequence[str] = ()
    _written_at = 0  # how often options had changed by which functions are written

    def __init__(self, name: str | None = None, trainable: bool = True):
        self._functions: dict[Variant, Any] = {}
        self._sources: dict[Variant, str] = {}
        self._written_at = SETTLED.count
        super().__init__(name=name, trainable=trainable)

    def _layer_keys(self) -> dict[Layer, str]:
        """The layers of the graph by the keys that they are registered under."""
        return {self._modules[key]: key for key in self._held_keys if key in self._modules}  # type: ignore[misc]

    def _function(self, variant: Variant) -> Any:
        self._renew_functions()
        if variant not in self._sources:
            self._functions[variant], self._sources[variant] = self._written(variant)
        return self._functions[variant]

    def _written(self, variant: Variant) -> tuple[Any, str]:
        """A function and its text."""
        text = codegen.source(self._graphed, variant, self._layer_keys(), self._is_attribute)
        return codegen.compiled(text, self.name), text

    @property
    def _plain(self) -> Variant:
        """The variant of inputs without masks, to outputs alone."""
        return Variant(masked=(False,) * len(self._graphed.inputs))

    def _renew_functions(self) -> None:
        """Write functions again where an option has changed since by which they are written."""
        if self._written_at != SETTLED.count:
            count = SETTLED.count
            written = {variant: self._written(variant) for variant in list(self._functions)}
            functions = {variant: function for variant, (function, _) in written.items()}
            texts = {variant: text for variant, (_, text) in written.items()}
            self.__dict__.update(_functions=functions, _sources=texts, _written_at=count)

    def _write_later(self) -> None:
        """Have the plain function written at the first call; torch.compile does not trace the writing."""
        plain, written = self._plain, []

        def write() -> None:
            if not written:
                function, self._sources[plain] = self._written(plain)
                written.append(function)

        # What torch.compiler.assume_constant_result does, after it has imported the compiler.
        write._dynamo_marked_constant = True  # type: ignore[attr-defined]

        def forward(*given: Any) -> Any:
            write()
            if not is_compiling():  # whose guards watch the table
                self._functions[plain] = written[0]
            return written[0](*given)

        self._functions[plain] = forward

    def _is_attribute(self, name: str) -> bool:
        return hasattr(type(self), name) or name in self.__dict__

    @property
    def code(self) -> str:
        """The text of the generated `forward`."""
        self._function(self._plain)
        return self._sources[self._plain]
