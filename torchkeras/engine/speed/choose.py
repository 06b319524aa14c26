"""`compile(jit_compile=..., cuda_graph=...)`: what the two options may be, and which steps they make."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torchkeras.engine.speed.auto_compile import Auto
from torchkeras.engine.speed.compiled_call import CAPTURED, Options, captures
from torchkeras.engine.speed.compiled_steps import Learning, Scoring
from torchkeras.engine.step.step import Learner, Scorer, learn, losses

KNOWN = ("fullgraph", "dynamic", "backend", "mode", "options")  # of torch.compile


def check(setting: Any, cuda_graph: Any) -> None:
    """Raise ValueError for what is no value of `jit_compile` or `cuda_graph`, and for two that contradict."""
    if isinstance(setting, Mapping):
        _check_options(setting)
    elif not (isinstance(setting, bool) or setting == "auto"):
        raise ValueError(
            "compile: jit_compile must be True, False, 'auto' or a dict of options of torch.compile; "
            f"found {setting!r}."
        )
    if not (isinstance(cuda_graph, bool) or cuda_graph == "auto"):
        raise ValueError(f"compile: cuda_graph must be True, False or 'auto'; found {cuda_graph!r}.")
    if cuda_graph is True:
        _check_captured(setting)
    elif cuda_graph is False and isinstance(setting, Mapping) and captures(setting):
        raise ValueError(
            f"compile: jit_compile={dict(setting)!r} captures CUDA graphs, and cuda_graph=False says not to: give one "
            "of the two."
        )


def _check_options(options: Mapping[str, Any]) -> None:
    """Raise ValueError for what is no option of torch.compile."""
    for name in options:
        if name not in KNOWN:
            raise ValueError(f"compile: jit_compile: torch.compile's options are {', '.join(KNOWN)}; found {name!r}.")


def _check_captured(setting: Any) -> None:
    """Raise ValueError for a `jit_compile` that `cuda_graph=True` cannot be combined with."""
    if setting is False:
        raise ValueError(
            "compile: a CUDA graph is captured by torch.compile: cuda_graph=True and jit_compile=False exclude each "
            "other; give one of the two."
        )
    given = setting if isinstance(setting, Mapping) else {}
    if given.get("options") is not None:
        raise ValueError(
            f"compile: cuda_graph=True is torch.compile's mode {CAPTURED['mode']!r}, and torch.compile takes a mode or "
            "options, not both: in place of cuda_graph=True have 'triton.cudagraphs': True among the options."
        )
    for name, wanted in (*CAPTURED.items(), ("backend", "inductor")):
        if given.get(name) not in (None, wanted):
            raise ValueError(
                f"compile: cuda_graph=True captures by torch.compile's {name} {wanted!r}; jit_compile has "
                f"{given[name]!r}: give one of the two."
            )


def learner(setting: Any, cuda_graph: Any) -> Learner:
    """`step.learn`, or what does the same by the values of `jit_compile` and `cuda_graph`."""
    if setting == "auto" and cuda_graph is not True:
        return Auto(captures=cuda_graph == "auto")
    options = compile_options(setting, cuda_graph)
    if options is None:
        return learn
    return Learning(options, on_cuda=cuda_graph is True)


def scorer(setting: Any, cuda_graph: Any) -> Scorer:
    """`step.losses`, or what does the same; "auto" compiles no evaluations."""
    options = compile_options(setting, cuda_graph)
    if options is None:
        return losses
    return Scoring(options, on_cuda=cuda_graph is True)


def compile_options(setting: Any, cuda_graph: Any) -> Options | None:
    """The options of torch.compile; None where it is not to be used, or "auto" decides."""
    if cuda_graph is not True and setting in (False, "auto"):
        return None
    given = dict(setting) if isinstance(setting, Mapping) else {}
    return {**given, **CAPTURED} if cuda_graph is True else given
