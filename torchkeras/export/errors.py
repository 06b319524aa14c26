"""The errors of models that cannot leave in the form asked for."""

from __future__ import annotations

from torchkeras.engine.graph.network import Network
from torchkeras.engine.layer.layer import Layer


class ExportError(ValueError):
    """A model that cannot be exported, and why: the layer, the operation or the axis that stands in the way."""


class EjectError(ExportError):
    """A model that cannot be written as plain PyTorch."""


class UnequalError(EjectError):
    """A model whose written form does not run, or computes something else; it is not kept."""


def reason(error: BaseException) -> str:
    """The first line of what went wrong, with the layer in whose computation it did: "Lambda 'l': no such kernel"."""
    layer = innermost_layer(error)
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = next((k for k, line in enumerate(lines) if not line.endswith(":")), 0)  # a line so ended says nothing alone
    text = f"{type(error).__name__}: {' '.join(lines[: told + 1])}"
    return text if layer is None else f"{type(layer).__name__} {layer.name!r}: {text}"


def innermost_layer(error: BaseException) -> Layer | None:
    """The last layer, no model, whose method the error came through."""
    found, place = None, error.__traceback__
    while place is not None:
        caller = place.tb_frame.f_locals.get("self")
        if isinstance(caller, Layer) and not isinstance(caller, Network):
            found = caller
        place = place.tb_next
    return found
