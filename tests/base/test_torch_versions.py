"""What stands for the names that an earlier torch does not have."""

import ast
import importlib
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.modules import module as torch_modules

from torchkeras.base import torch_versions


def names_of_torch(text: str) -> Iterator[str]:
    """What code uses of torch's modules by their dotted names, such as `torch.nn.functional.relu`."""
    for node in ast.walk(ast.parse(text)):
        names: list[str] = []
        value: Any = node
        while isinstance(value, ast.Attribute):
            names.insert(0, value.attr)
            value = value.value
        if names and isinstance(value, ast.Name) and value.id == "torch":
            yield ".".join(["torch", *names])


def exists(name: str) -> bool:
    """Whether torch has a name. A part that is no module ends the search: what it has depends on the object."""
    module: Any = torch
    for part in name.split(".")[1:]:
        if not hasattr(module, part):
            try:
                importlib.import_module(f"{module.__name__}.{part}")
            except ModuleNotFoundError:
                return False
        module = getattr(module, part)
        if not isinstance(module, ModuleType):
            break
    return True


def test_this_torch_has_every_name_that_the_package_uses():
    assert not exists("torch.compiler.is_expecting")
    package = Path(torch_versions.__file__).parents[1]
    texts = {path: path.read_text() for path in package.rglob("*.py") if path.name != "torch_versions.py"}
    missing = {f"{path.name}: {name}" for path, text in texts.items() for name in names_of_torch(text)}
    assert not {each for each in missing if not exists(each.partition(": ")[2])}


@pytest.fixture
def earlier(monkeypatch):
    """The names as they are with a torch that has none of what came later."""
    monkeypatch.delattr(torch_modules, "_has_any_global_hook", raising=False)
    monkeypatch.delattr(torch.compiler, "is_exporting", raising=False)
    monkeypatch.setitem(sys.modules, "torch._higher_order_ops.scan", None)
    return runpy.run_path(torch_versions.__file__)


@pytest.mark.parametrize(
    "register",
    [
        lambda hook: torch_modules.register_module_forward_pre_hook(hook),
        lambda hook: torch_modules.register_module_forward_hook(hook),
        lambda hook: torch_modules.register_module_forward_hook(hook, always_call=True),
        lambda hook: torch_modules.register_module_full_backward_pre_hook(hook),
        lambda hook: torch_modules.register_module_full_backward_hook(hook),
    ],
    ids=["forward_pre", "forward", "always_called", "backward_pre", "backward"],
)
def test_hooks_of_all_modules_are_seen(earlier, register):
    functions = [earlier["has_any_global_hook"], torch_versions.has_any_global_hook]
    assert not any(function() for function in functions)
    handle = register(lambda *given: None)
    try:
        assert all(function() for function in functions)
    finally:
        handle.remove()
    assert not any(function() for function in functions)


def test_the_newest_torch_has_its_own_functions():
    assert torch_versions.has_any_global_hook is getattr(
        torch_modules, "_has_any_global_hook", torch_versions.has_any_global_hook
    )
    assert torch_versions.is_exporting is getattr(torch.compiler, "is_exporting", torch_versions.is_exporting)
    assert torch_versions.in_eager_mode is torch._disable_dynamo  # type: ignore[attr-defined]


def test_a_missing_scan_names_the_version(earlier):
    with pytest.raises(NotImplementedError, match=f"torch {torch.__version__.replace('+', '.')} does not have.*2.6"):
        earlier["scan"](None, nn.Identity(), None, dim=0)


def test_a_torch_without_is_exporting_exports_nothing(earlier):
    assert earlier["is_exporting"]() is False


@pytest.mark.torch("2.10", "a setting of its compiler")
def test_python_that_overlooks_changes_has_them_looked_for(monkeypatch):
    settings = importlib.import_module("torch._dynamo.config")
    monkeypatch.setattr(torch_versions, "OVERLOOKS_CHANGES", True)
    with settings.patch(use_recursive_dict_tags_for_guards=True):
        run = torch_versions.compiled(lambda x: x + 1, {"backend": "eager"})
        assert settings.use_recursive_dict_tags_for_guards is False
        assert run(torch.ones(2)).tolist() == [2.0, 2.0]
