"""`compile(jit_compile=..., cuda_graph=...)`: the values of the two options, and the steps that they choose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torchkeras.engine.speed.auto_compile import Auto
from torchkeras.engine.speed.compiled_call import CAPTURED, Options, captures
from torchkeras.engine.speed.compiled_steps import CompiledScoring, CompiledTraining
from torchkeras.engine.step.step import Scorer, TrainFunction, losses, train_pass

KNOWN = ("fullgraph", "dynamic", "backend", "mode", "options")  # of torch.compile


def check(setting: Any, cuda_graph: Any) -> None:
    """Raise ValueError for a bad value of `jit_compile` or `cuda_graph`, and for two that exclude each other."""
    options: Mapping[str, Any] = {}
    if isinstance(setting, Mapping):
        options = setting
    elif not (isinstance(setting, bool) or setting == "auto"):
        raise ValueError(
            "compile: jit_compile must be True, False, 'auto' or a dict of options of torch.compile; "
            f"found {setting!r}."
        )
    for name in options:
        if name not in KNOWN:
            raise ValueError(f"compile: jit_compile: torch.compile's options are {', '.join(KNOWN)}; found {name!r}.")
    if not (isinstance(cuda_graph, bool) or cuda_graph == "auto"):
        raise ValueError(f"compile: cuda_graph must be True, False or 'auto'; found {cuda_graph!r}.")
    if cuda_graph is True:
        _check_captured(setting, options)
    elif cuda_graph is False and captures(options):
        raise ValueError(
            f"compile: jit_compile={dict(options)!r} captures CUDA graphs, and cuda_graph=False says not to: give one "
            "of the two."
        )


def _check_captured(setting: Any, options: Mapping[str, Any]) -> None:
    """Raise ValueError for a `jit_compile` that excludes `cuda_graph=True`; `options`: those that it has."""
    if setting is False:
        raise ValueError(
            "compile: a CUDA graph is captured by torch.compile: cuda_graph=True and jit_compile=False exclude each "
            "other; give one of the two."
        )
    if options.get("options") is not None:
        raise ValueError(
            f"compile: cuda_graph=True is torch.compile's mode {CAPTURED['mode']!r}, and torch.compile takes a mode or "
            "options, not both: in place of cuda_graph=True have 'triton.cudagraphs': True among the options."
        )
    for name, expected in (*CAPTURED.items(), ("backend", "inductor")):
        if options.get(name) not in (None, expected):
            raise ValueError(
                f"compile: cuda_graph=True captures by torch.compile's {name} {expected!r}; jit_compile has "
                f"{options[name]!r}: give one of the two."
            )


def train_function(setting: Any, cuda_graph: Any) -> TrainFunction:
    """`step.train_pass`, or its compiled form, as `jit_compile` and `cuda_graph` say."""
    if setting == "auto" and cuda_graph is not True:
        return Auto(captures=cuda_graph == "auto")
    options = compile_options(setting, cuda_graph)
    if options is None:
        return train_pass
    return CompiledTraining(options, on_cuda=cuda_graph is True)


def scorer(setting: Any, cuda_graph: Any) -> Scorer:
    """`step.losses`, or its compiled form; "auto" compiles no evaluations."""
    options = compile_options(setting, cuda_graph)
    if options is None:
        return losses
    return CompiledScoring(options, on_cuda=cuda_graph is True)


def compile_options(setting: Any, cuda_graph: Any) -> Options | None:
    """The options of torch.compile; None if it is not used, or "auto" decides."""
    if cuda_graph is not True and setting in (False, "auto"):
        return None
    options = dict(setting) if isinstance(setting, Mapping) else {}
    if cuda_graph is True:
        options.update(CAPTURED)
    return options
