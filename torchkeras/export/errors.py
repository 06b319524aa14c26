"""The errors for models that cannot be exported or ejected."""

from __future__ import annotations

from torchkeras.engine.graph.network import Network
from torchkeras.engine.layer.layer import Layer


class ExportError(ValueError):
    """A model that cannot be exported. The text names the layer, the operation or the axis."""


class EjectError(ExportError):
    """A model that cannot be written as plain PyTorch."""


class UnequalError(EjectError):
    """A model whose written form does not run or computes something else; it is not kept."""


def reason(error: BaseException) -> str:
    """The first line of an error, after the layer in which it happened: "Lambda 'l': no such kernel"."""
    layer = innermost_layer(error)
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    last = next((k for k, line in enumerate(lines) if not line.endswith(":")), 0)  # such a line needs the next one
    text = f"{type(error).__name__}: {' '.join(lines[: last + 1])}"
    return text if layer is None else f"{type(layer).__name__} {layer.name!r}: {text}"


def innermost_layer(error: BaseException) -> Layer | None:
    """The last layer, not a model, in the traceback of an error."""
    found, place = None, error.__traceback__
    while place is not None:
        caller = place.tb_frame.f_locals.get("self")
        if isinstance(caller, Layer) and not isinstance(caller, Network):
            found = caller
        place = place.tb_next
    return found
