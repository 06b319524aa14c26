"""What stands for the names that an earlier torch does not have."""

import importlib
import runpy
import sys

import pytest
import torch
from torch import nn
from torch.nn.modules import module as torch_modules

from torchkeras.base import torch_versions


@pytest.fixture
def earlier(monkeypatch):
    """The names as they are with a torch that has none of what came later."""
    monkeypatch.delattr(torch_modules, "_has_any_global_hook", raising=False)
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
    assert not any(function() for function in functions)


def test_the_newest_torch_has_its_own_functions():
    assert torch_versions.has_any_global_hook is getattr(
        torch_modules, "_has_any_global_hook", torch_versions.has_any_global_hook
    )
    assert torch_versions.in_eager_mode is torch._disable_dynamo  # type: ignore[attr-defined]


def test_a_missing_scan_names_the_version(earlier):
    with pytest.raises(NotImplementedError, match=f"torch {torch.__version__.replace('+', '.')} does not have.*2.6"):
        earlier["scan"](None, nn.Identity(), None, dim=0)


@pytest.mark.torch("2.10", "a setting of its compiler")
def test_python_that_overlooks_changes_has_them_looked_for(monkeypatch):
    settings = importlib.import_module("torch._dynamo.config")
    monkeypatch.setattr(torch_versions, "OVERLOOKS_CHANGES", True)
    with settings.patch(use_recursive_dict_tags_for_guards=True):
        run = torch_versions.compiled(lambda x: x + 1, {"backend": "eager"})
        assert settings.use_recursive_dict_tags_for_guards is False
        assert run(torch.ones(2)).tolist() == [2.0, 2.0]
