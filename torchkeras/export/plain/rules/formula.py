"""Formulas of Lambdas as text of torch's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from torchkeras.export.errors import EjectError
from torchkeras.keras2.lambdas.expression import Argument, Call, in_order
from torchkeras.keras2.lambdas.formula_text import Writer

_MATH = ("abs", "exp", "log", "square", "sign", "sin", "cos", "tanh", "sigmoid", "round")
_PAIRS = {"maximum": "maximum", "minimum": "minimum", "pow": "pow"}
_CLAMPED = {"K.maximum": "min", "tf.maximum": "min", "K.minimum": "max", "tf.minimum": "max"}
_REDUCED = {"sum": "sum", "mean": "mean", "max": "amax", "min": "amin"}
# Functions of a tensor alone.
ALONE: Mapping[str, str] = {
    **{f"{module}.{name}": f"torch.{name}({{x}})" for module in ("K", "tf") for name in _MATH},
    **dict.fromkeys(("K.relu", "tf.nn.relu"), "torch.relu({x})"),
    "K.sqrt": "{x}.clamp(min=0.0).sqrt()",
    "K.flatten": "{x}.reshape(-1)",
    "K.batch_flatten": "{x}.flatten(1)",
    "K.identity": "{x}",
    "tf.identity": "{x}",
    "tf.sqrt": "{x}.sqrt()",
    "K.int_shape": "{x}.shape",
    "K.shape": "{x}.shape",
    "tf.shape": "{x}.shape",
    "K.ndim": "{x}.ndim",
    "K.stop_gradient": "{x}.detach()",
}
# Functions of a tensor, or several, and numbers: the names of their arguments, with defaults, and the text.
OF_SEVERAL: Mapping[str, tuple[str, str]] = {
    **{f"{m}.{name}": ("x y", f"torch.{to}({{x}}, {{y}})") for m in ("K", "tf") for name, to in _PAIRS.items()},
    **{
        f"K.{name}": ("x axis=None keepdims=False", f"{{x}}.{to}({{axis}}, keepdim={{keepdims}})")
        for name, to in _REDUCED.items()
    },
    **{
        f"tf.reduce_{name}": (
            "input_tensor axis=None keepdims=False",
            f"{{input_tensor}}.{to}({{axis}}, keepdim={{keepdims}})",
        )
        for name, to in _REDUCED.items()
    },
    "K.clip": ("x min_value max_value", "{x}.clamp({min_value}, {max_value})"),
    "K.concatenate": ("tensors axis=-1", "torch.cat({tensors}, {axis})"),
    "K.expand_dims": ("x axis=-1", "{x}.unsqueeze({axis})"),
    "K.l2_normalize": ("x axis", "{x} * {x}.square().sum({axis}, keepdim=True).clamp(min=1e-12).rsqrt()"),
    "K.permute_dimensions": ("x pattern", "{x}.permute({pattern})"),
    "K.repeat_elements": ("x rep axis", "{x}.repeat_interleave({rep}, {axis})"),
    "K.reshape": ("x shape", "{x}.reshape({shape})"),
    "K.softmax": ("x axis=-1", "torch.softmax({x}, {axis})"),
    "K.squeeze": ("x axis", "{x}.squeeze({axis})"),
    "K.stack": ("x axis=0", "torch.stack({x}, {axis})"),
    "tf.concat": ("values axis", "torch.cat({values}, {axis})"),
}


def torch_text(layer: Any, inputs: list[str], several: bool) -> str:
    """A Lambda's formula as an expression of torch's. Raises EjectError for a function that has no text here.

    `inputs`: the texts of the layer's inputs; `several`: whether the function gets a list of them.
    """
    formula = layer.function

    def refuse(reason: str) -> EjectError:
        return EjectError(f"Lambda {layer.name!r}: eject writes no {reason}; the formula is {formula!r}.")

    def call(step: Call, given: list[str], named: Mapping[str, str]) -> str:
        found = _call(step.operation, given, named)
        if found is None:
            raise refuse(step.operation)
        return found

    if any(isinstance(step, Argument) and step.name == "mask" for step in in_order(formula.result)):
        raise refuse("formula with a mask")
    whole = f"[{', '.join(inputs)}]" if several else inputs[0]
    mark = "\0"  # braces are places in a line of generated code
    names = {formula.parameters[0]: mark, "training": "self.training"}
    try:
        text = Writer(formula.result, formula.parameters, call, names).whole()
    except EjectError:
        raise
    except ValueError as error:
        raise refuse(f"such formula ({error})") from error
    if re.search(r":-\d+[\],]", text):
        raise refuse("steps back")
    text = text.replace("{", "{{").replace("}", "}}")
    text = re.sub(rf"{mark}\[(\d+)\]", lambda found: inputs[int(found[1])], text) if several else text
    return text.replace(mark, whole)


def _call(name: str, given: list[str], named: Mapping[str, str]) -> str | None:
    """A call of an operation as torch's expression; None for one that has none."""
    if name in ALONE and len(given) == 1 and not named:
        return _filled(ALONE[name], {"x": given[0]})
    if name in ("len", "int", "float"):
        return f"{name}({', '.join(given)})"
    if name in _CLAMPED and len(given) == 2 and re.fullmatch(r"-?[\d.e-]+", given[1]):
        return _filled(f"{{x}}.clamp({_CLAMPED[name]}={given[1]})", {"x": given[0]})
    if name not in OF_SEVERAL:
        return None
    words, text = OF_SEVERAL[name]
    values = _by_name(words, given, named)
    return None if values is None else _filled(text, values)


def _by_name(words: str, given: list[str], named: Mapping[str, str]) -> dict[str, str] | None:
    """The arguments of a function by name, where `words` are its own, as `x axis=-1`; None if they do not fit."""
    parts = [word.partition("=") for word in words.split()]
    keys = [key for key, _, _ in parts]
    defaults = {key: default for key, sign, default in parts if sign}
    values = {**defaults, **dict(zip(keys, given, strict=False)), **named}
    return values if len(given) <= len(keys) and set(values) == set(keys) else None


def _filled(text: str, values: Mapping[str, str]) -> str:
    """The text with the values in its places, in brackets where a method follows."""
    for key, value in values.items():
        atom = value if re.fullmatch(r"[\w\0]+|[\[(].*[\])]", value) else f"({value})"
        text = text.replace(f"{{{key}}}.", f"{atom}.").replace(f"{{{key}}} *", f"{atom} *").replace(f"{{{key}}}", value)
    return f"({text})" if " * " in text and text.endswith("rsqrt()") else text
