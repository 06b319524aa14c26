"""`compile(jit_compile=..., cuda_graph=...)`: what the two options may be, and which steps they make."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torchkeras.engine.auto import CAPTURED, Auto
from torchkeras.engine.graphed import Learning, Running, Scoring
from torchkeras.engine.network import Network
from torchkeras.engine.steps import Learner, Scorer, learn, losses

CAPTURED_AS_IT_IS = {"backend": "cudagraphs"}


def check(setting: Any, cuda_graph: Any) -> None:
    """Raise ValueError for what is no value of `jit_compile` or `cuda_graph`."""
    if not (isinstance(cuda_graph, bool) or cuda_graph == "auto"):
        raise ValueError(f"compile: cuda_graph must be True, False or 'auto'; found {cuda_graph!r}.")
    if cuda_graph is True and isinstance(setting, Mapping) and setting.keys() & {"mode", "backend"}:
        raise ValueError(
            "compile: cuda_graph=True chooses torch.compile's mode or backend, and so does jit_compile="
            f"{dict(setting)!r}: give one of the two."
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
    if setting == "auto" and cuda_graph is not True:
        return Auto(captures=cuda_graph == "auto")
    options = _options(setting, cuda_graph)
    return learn if options is None else Learning(options, on_cuda=cuda_graph is True)


def scorer(setting: Any, cuda_graph: Any) -> Scorer:
    """`steps.losses`, or what does the same; "auto" leaves evaluations as they are."""
    options = _options(setting, cuda_graph)
    return losses if options is None else Scoring(options, on_cuda=cuda_graph is True)


def runner(network: Network, setting: Any, cuda_graph: Any) -> Running | None:
    """What predicts by a graph; None where nothing is to; "auto" leaves predictions as they are."""
    options = _options(setting, cuda_graph)
    return None if options is None else Running(network, options, cuda_graph is True)


def _options(setting: Any, cuda_graph: Any) -> dict[str, Any] | None:
    """Those of torch.compile; None where it is not to be used, or "auto" decides."""
    given = dict(setting) if isinstance(setting, Mapping) else {}
    if cuda_graph is True:
        return {**given, **(CAPTURED_AS_IT_IS if setting is False else CAPTURED)}
    return None if setting in (False, "auto") else given
