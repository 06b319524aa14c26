"""What an annex may replace in the core is declared there, and all that it replaces goes through `extend`."""

import ast
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import torchkeras
from torchkeras.base import extensions
from torchkeras.base.extensions import extend, replaceable, replaceable_in, withdraw
from torchkeras.layers import Dense, Layer

ANNEX = Path(torchkeras.__file__).parent / "keras2"


@replaceable("greet")
class Greeter:
    __module__ = "torchkeras.somewhere"

    def greet(self):
        return "Hello."

    def leave(self):
        return "Goodbye."


class Loud(Greeter):
    pass


def test_a_declared_member_is_replaced_and_a_new_one_added():
    extend(Loud, greet=lambda self: "HELLO.", shout=lambda self: "!")
    loud: Any = Loud()
    assert (loud.greet(), loud.shout(), Greeter().greet()) == ("HELLO.", "!", "Hello.")


def test_another_member_is_not_replaced():
    with pytest.raises(TypeError, match=r"^Loud.leave may not be replaced; these may: greet.$"):
        extend(Loud, leave=lambda self: "")
    assert Loud().leave() == "Goodbye."
    with pytest.raises(TypeError, match=r"^Layer.get_config may not be replaced; these may: __call__, __init__, "):
        extend(Layer, get_config=lambda self: {})
    with pytest.raises(TypeError, match=r"^Dense.forward may not be replaced"):
        extend(Dense, forward=lambda self, x: x)


def test_a_declared_member_is_removed():
    class Short(Greeter):
        def greet(self):
            return "Hi."

    for _ in range(2):
        withdraw(Short, "greet")
        assert Short().greet() == "Hello."
    with pytest.raises(TypeError, match=r"^Short.leave may not be replaced; these may: greet.$"):
        withdraw(Short, "leave")


def test_functions_of_a_module():
    module = ModuleType("torchkeras.somewhere")
    module.__dict__.update(first=lambda: 1, second=lambda: 2)
    replaceable_in("torchkeras.somewhere", "first")
    extend(module, first=lambda: 3, third=lambda: 4)
    assert (module.first(), module.second(), module.third()) == (3, 2, 4)
    with pytest.raises(TypeError, match=r"^torchkeras.somewhere.second may not be replaced; these may: first.$"):
        extend(module, second=lambda: 5)


def test_what_is_declared_exists():
    for owner, names in extensions._replaceable.items():
        if isinstance(owner, type) and owner.__module__.startswith("torchkeras.") and owner is not Greeter:
            missing = [name for name in names if not hasattr(owner, name) and name not in owner.__annotations__]
            assert missing == [], owner


def classes_of_the_core(tree: ast.AST) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("torchkeras"):
            found |= {
                each.asname or each.name for each in node.names if each.name[0].isupper() and not each.name.isupper()
            }
    return found


@pytest.mark.parametrize("path", sorted(ANNEX.rglob("*.py")), ids=lambda path: str(path.relative_to(ANNEX)))
def test_the_annex_sets_nothing_in_classes_of_the_core_but_by_extend(path: Path):
    tree = ast.parse(path.read_text())
    core = classes_of_the_core(tree)
    for node in ast.walk(tree):
        targets = node.targets if isinstance(node, (ast.Assign, ast.Delete)) else []
        for target in targets:
            for each in target.elts if isinstance(target, ast.Tuple) else [target]:
                written = isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and each.value.id in core
                assert not written, ast.unparse(node)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "setattr":
            assert ast.unparse(node.args[0]) not in core, ast.unparse(node)
