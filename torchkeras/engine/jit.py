"""`compile(jit_compile=..., cuda_graph=...)`: what the two options may be, and which steps they make."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torchkeras.engine.auto import Auto
from torchkeras.engine.graphed import Learning, Running, Scoring
from torchkeras.engine.network import Network
from torchkeras.engine.one_graph import Options, has_capture
from torchkeras.engine.steps import Learner, Scorer, learn, losses
from torchkeras.engine.unrolled import Unrolled


def check(setting: Any, cuda_graph: Any) -> None:
    """Raise ValueError for what is no value of `jit_compile` or `cuda_graph`."""
    if not (isinstance(cuda_graph, bool) or cuda_graph == "auto"):
        raise ValueError(f"compile: cuda_graph must be True, False or 'auto'; found {cuda_graph!r}.")
    if cuda_graph is True and isinstance(setting, Mapping) and has_capture(setting):
        raise ValueError(
            f"compile: cuda_graph=True captures steps, and so does torch.compile by jit_compile={dict(setting)!r}: "
            "give one of the two."
        )
    if not (isinstance(setting, (bool, Mapping)) or setting == "auto"):
        raise ValueError(
            "compile: jit_compile must be True, False, 'auto' or a dict of options of torch.compile; "
            f"found {setting!r}."
        )
    known = ("fullgraph", "dynamic", "backend", "mode", "options")
    for name in setting if isinstance(setting, Mapping) else ():
        if name not in known:
            raise ValueError(f"compile: jit_compile: torch.compile's options are {', '.join(known)}; found {name!r}.")


def learner(setting: Any, cuda_graph: Any) -> Learner:
    """`steps.learn`, or what does the same by the values of `jit_compile` and `cuda_graph`."""
    plain = Learning(None, captures=True) if cuda_graph is True else learn
    if setting == "auto":
        return Auto(plain, captures=cuda_graph is not False)
    return plain if setting is False else Learning(_options(setting), captures=cuda_graph is True)


def unrolled(setting: Any, cuda_graph: Any, steps: int) -> Unrolled | None:
    """What takes so many steps at once, where steps are captured; None where one comes after the other."""
    return Unrolled(_options(setting), steps) if cuda_graph is True and steps > 1 else None


def scorer(setting: Any, cuda_graph: Any) -> Scorer:
    """`steps.losses`, or what does the same; "auto" compiles no evaluations."""
    options, captures = _options(setting), cuda_graph is True
    return losses if options is None and not captures else Scoring(options, captures=captures)


def runner(network: Network, setting: Any, cuda_graph: Any) -> Running | None:
    """What predicts by a graph; None where nothing is to; "auto" compiles no predictions."""
    options, captures = _options(setting), cuda_graph is True
    return None if options is None and not captures else Running(network, options, captures)


def _options(setting: Any) -> Options:
    """Those of torch.compile; None where it is not to be used, or "auto" decides."""
    if setting in (False, "auto"):
        return None
    return dict(setting) if isinstance(setting, Mapping) else {}
