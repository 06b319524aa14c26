"""Write the stubs of layers, losses, metrics, optimizers and of `keras.ops`.

Type checkers cannot follow how their options are declared: fields with rules, the keyword arguments of a function,
dataclass fields of two kinds. A stub, `__init__.pyi` in the package, gives each such class its signature. The class
derives from the one in the source, which has its methods and docstring. All else is imported from where it is defined.

The stubs are not under version control: `scripts/setup` writes them for editors, `scripts/check` before it checks
types, and `scripts/build` for the wheel.
"""

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterable
from inspect import Parameter
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, get_type_hints

import torch

from torchkeras import layers, losses, metrics, optimizers
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.options import Option
from torchkeras.keras3 import ops
from torchkeras.optimizers.base import GIVEN, RULES

PACKAGES = (layers, losses, metrics, optimizers)
# Bases in the source disagree with each other here and there, which is said where they stand, if at all.
HEAD = """# Made by scripts/write_stubs.py from the declarations in the source.
# mypy: disable-error-code="misc, override"

"""
KNOWN = {
    **dict.fromkeys(("Any", "Literal", "overload"), "typing"),
    **dict.fromkeys(("Callable", "Mapping", "Sequence"), "collections.abc"),
    "Module": "torch.nn",
    "Tensor": "torch",
    "DTypePolicy": "torchkeras.base.dtypes",
    "KerasTensor": "torchkeras.engine.symbolic.tensor",
    "Reduction": "torchkeras.losses.reduction",
    "schedules": "torchkeras.optimizers",
}
# What a call takes and gives, by the types of `forward`; any other layer may give anything.
ONE, SEVERAL = "_OneInput", "_SeveralInputs"
CALLS = {(torch.Tensor, torch.Tensor): ONE, (Any, torch.Tensor): SEVERAL}
CALLED = """
class {name}:
    @overload
    def __call__(self, inputs: {symbolic}, *, mask: Any = None, training: bool | None = None) -> KerasTensor: ...
    @overload
    def __call__(self, inputs: {real}, *, mask: Any = None, training: bool | None = None) -> Tensor: ...
"""
BASE_OPTIONS = [
    parameter
    for method in (Layer._set_name, Layer._set_base_options)
    for parameter in inspect.signature(method).parameters.values()
    if parameter.kind is Parameter.KEYWORD_ONLY
]


def stub(package: ModuleType) -> str:
    """The whole text."""
    offered = public(package)
    classes = [value for value in dict.fromkeys(offered.values()) if is_restated(value, package)]
    lines = [HEAD, "import torch\n"]
    body = []
    if package is layers:
        body.append(CALLED.format(name=ONE, symbolic="KerasTensor", real="Tensor"))
        body.append(CALLED.format(name=SEVERAL, symbolic="Sequence[KerasTensor]", real="Sequence[Tensor]"))
    body += [restated(cls, classes) for cls in classes]
    lines += [f"from {cls.__module__} import {cls.__name__} as _{cls.__name__}\n" for cls in classes]
    for name, value in offered.items():
        if value in classes:
            body.append(f"{name} = {value.__name__}\n" * (value.__name__ != name))
        elif isinstance(value, ModuleType):
            lines.append(f"from {package.__name__} import {name} as {name}\n")
        elif not isinstance(value, (type, FunctionType)) and not inspect.ismethod(value):
            body.append(f"{name}: {constant_type(package, name, value)}\n")
        elif inspect.ismethod(value) or value.__module__ == package.__name__:
            body.append(function(name, value))
        else:
            lines.append(f"from {value.__module__} import {value.__name__} as {value.__name__}\n")
            body.append(f"{name} = {value.__name__}\n" * (value.__name__ != name))
    used = {node.id for node in ast.walk(ast.parse("".join(body))) if isinstance(node, ast.Name)}
    lines += [f"from {KNOWN[name]} import {name}\n" for name in sorted(used & set(KNOWN) - set(offered))]
    return formatted("".join((*lines, *body)))


def public(package: ModuleType) -> dict[str, Any]:
    """What a package offers, by name, in the order in which it defines it."""
    return {name: value for name, value in vars(package).items() if name in package.__all__}


def is_restated(value: Any, package: ModuleType) -> bool:
    """Whether an object is a class whose source does not show a type checker how it is made."""
    if not inspect.isclass(value) or not value.__module__.startswith(package.__name__):
        return False
    return getattr(value, "__signature__", None) is not None or issubclass(value, optimizers.Optimizer)


def restated(cls: type, classes: Iterable[type]) -> str:
    """A class on top of that of the source, and of those of its bases that are restated too."""
    above = [base for base in cls.__mro__[1:] if base in classes]
    nearest = [base for base in above if not any(issubclass(other, base) for other in above if other is not base)]
    called = call(cls)
    forms = [] if called is None or called in map(call, above) else [called]
    bases = ", ".join([*forms, f"_{cls.__name__}", *(base.__name__ for base in nearest)])
    return f"class {cls.__name__}({bases}):\n    def __init__({arguments(cls)}) -> None: ...\n"


def call(cls: type) -> str | None:
    """The form of a layer's call, None where the source tells it."""
    if not issubclass(cls, Layer) or cls.__call__ is not Layer.__call__:
        return None
    hints = get_type_hints(cls.forward)
    result = hints.pop("return", None)
    return CALLS.get((next(iter(hints.values()), None), result))


def arguments(cls: type) -> str:
    """The arguments of a class's constructor, as code."""
    parameters = list(inspect.signature(cls).parameters.values())
    if issubclass(cls, Layer):
        options = cls._options
        parameters = [each.replace(annotation=option_type(cls, options[each.name])) for each in parameters[:-1]]
        shared = [each for each in BASE_OPTIONS if each.name not in options]
        parameters += shared
    elif issubclass(cls, optimizers.Optimizer):
        takes = {name: rule.takes for name, rule in {**RULES, **GIVEN}.items()}
        parameters = [each.replace(annotation=takes.get(each.name) or each.annotation) for each in parameters]
    return as_code([Parameter("self", Parameter.POSITIONAL_OR_KEYWORD), *parameters])


def option_type(cls: Any, option: Option) -> str:
    """What a layer's option takes: what its rule says, or else its annotation."""
    takes, rank = option.rule.takes, getattr(cls, "rank", None)
    if callable(takes):  # a class for all ranks says no more than its annotation
        takes = "" if rank is None else takes(rank)
    if not takes or option.plain is float:  # one of some numbers is no type for numbers that are no integers
        takes = option.plain.__name__
    return f"{takes} | None" if option.default is None and "None" not in takes and takes != "Any" else takes


def as_code(parameters: Iterable[Parameter]) -> str:
    """Parameters with annotations and defaults, as code."""
    found = []
    by_name = False
    for each in parameters:
        if each.kind is Parameter.KEYWORD_ONLY and not by_name:
            found.append("*")
            by_name = True
        stars = {Parameter.VAR_POSITIONAL: "*", Parameter.VAR_KEYWORD: "**"}.get(each.kind, "")
        by_name = by_name or bool(stars)
        text = f"{stars}{each.name}"
        if each.annotation is not each.empty:
            text += f": {type_text(each.annotation)}"
        if each.default is not each.empty:
            plain = isinstance(each.default, (bool, int, float, str, tuple, type(None)))
            text += f" = {each.default!r}" if plain else " = ..."
        found.append(text)
    return ", ".join(found)


def constant_type(package: ModuleType, name: str, value: Any) -> str:
    """The type of a constant: as annotated, or that of its value."""
    if name in package.__annotations__:
        return type_text(package.__annotations__[name])
    return "tuple[Any, ...]" if isinstance(value, tuple) else type(value).__name__


def type_text(annotation: Any) -> str:
    """An annotation as the stub writes it."""
    if not isinstance(annotation, str):  # a name in the stub is that of a class alone
        annotation = re.sub(r"\b(\w+\.)+(?=[A-Z])", "", inspect.formatannotation(annotation))
    return re.sub(r"^InitVar\[(.*)\]$", r"\1", annotation)


def function(name: str, value: Any) -> str:
    """A function of the package itself."""
    signature = inspect.signature(value)
    result = type_text(signature.return_annotation)
    return f"def {name}({as_code(signature.parameters.values())}) -> {result}: ...\n"


def formatted(text: str) -> str:
    """The text as ruff writes it, without imports that nothing uses."""
    for command in (["check", "--fix-only", "--quiet", "--select", "F401,I"], ["format", "--quiet"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--stdin-filename", "torchkeras/stub.pyi", "-"]
        text = subprocess.run(ruff, input=text, capture_output=True, text=True, check=True).stdout
    return text


def operations() -> str:
    """The functions of `keras.ops`, which are made from a table."""
    lines = ["from typing import Any\n", "__all__: list[str]\n"]
    lines += [f"from torchkeras.keras3.ops import {name} as {name}\n" for name in ("image", "linalg", "nn", "numpy")]
    for name in sorted(ops.__all__):
        parameters = inspect.signature(getattr(ops, name)).parameters.values()
        plain = [each.replace(annotation=Parameter.empty) for each in parameters]  # tensors, or what becomes one
        lines.append(f"def {name}({as_code(plain)}) -> Any: ...\n")
    return formatted("".join(lines))


def main() -> None:
    for package in PACKAGES:
        Path(package.__path__[0], "__init__.pyi").write_text(stub(package))
    Path(ops.__path__[0], "__init__.pyi").write_text(operations())


if __name__ == "__main__":
    main()
