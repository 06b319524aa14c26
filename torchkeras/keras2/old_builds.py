"""What a layer of an old script computes from its weights in `build`: `self.W = K.concatenate([self.W_i, self.W_f])`.

In Keras that is a part of the graph, and has the weights' values of each moment. Here it is computed while the layer is
built, is recorded, and is computed again at each call. Slices and the like share the memory of their weight: they stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, NamedTuple

from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map_only

from torchkeras.base.tracing import is_compiling

COMPUTED = "_computed_in_build"


class Step(NamedTuple):
    """A call of a function of torch."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    options: dict[str, Any]
    found: Any


class Recorded(NamedTuple):
    """What computes some attributes of a layer: the steps, and where the results stand."""

    steps: list[Step]
    places: list[tuple[Any, Any, Tensor]]  # a dictionary or list, a key in it, the tensor there


class Recording(TorchFunctionMode):
    """Records what is computed from weights."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[Step] = []
        self.known: dict[int, Tensor] = {}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        options = dict(kwargs or {})
        found = func(*args, **options)
        made = [each for each in tree_leaves(found) if isinstance(each, Tensor)]
        given = [each for each in tree_leaves((args, options)) if isinstance(each, Tensor)]
        if made and any(map(self._is_of_weights, given)) and not any(a is b for a in made for b in given):
            self.steps.append(Step(func, args, options, found))
            self.known.update((id(each), each) for each in made)
        return found

    def _is_of_weights(self, tensor: Tensor) -> bool:
        return isinstance(tensor, nn.Parameter) or id(tensor) in self.known or hasattr(tensor, "_added_weight")


def recording(build: Callable[..., Any]) -> Callable[..., Any]:
    """A `build` that keeps how it computes tensors from weights."""

    @wraps(build)
    def built(layer: Any, /, *args: Any, **kwargs: Any) -> Any:
        with Recording() as record:
            found = build(layer, *args, **kwargs)
        places = [place for place in _places(vars(layer)) if id(place[2]) in record.known]
        places = [place for place in places if not isinstance(place[2]._base, nn.Parameter)]
        if places:
            vars(layer)[COMPUTED] = Recorded(_needed(record.steps, [each for _, _, each in places]), places)
        return found

    return built


def _places(holder: Any) -> Iterator[tuple[Any, Any, Tensor]]:
    """The tensors in a dictionary, and in lists and dictionaries inside it, with where they stand."""
    for key, value in list(holder.items() if isinstance(holder, dict) else enumerate(holder)):
        if isinstance(value, Tensor) and not isinstance(value, nn.Parameter):
            yield holder, key, value
        elif isinstance(value, (list, dict)):
            yield from _places(value)


def _needed(steps: list[Step], results: list[Tensor]) -> list[Step]:
    """The steps that some results come from."""
    wanted, kept = set(map(id, results)), []
    for step in reversed(steps):
        if any(id(each) in wanted for each in tree_leaves(step.found)):
            kept.append(step)
            wanted |= {id(each) for each in tree_leaves((step.args, step.options)) if isinstance(each, Tensor)}
    return kept[::-1]


@contextmanager
def with_current_values(layer: Any) -> Iterator[None]:
    """A block in which what `build` computed from weights is computed from their values of now."""
    recorded: Recorded | None = vars(layer).get(COMPUTED)
    if recorded is None or is_compiling():
        yield
        return
    now: dict[int, Any] = {}
    for function, args, options, found in recorded.steps:
        args, options = tree_map_only(Tensor, lambda each: now.get(id(each), each), (args, options))
        again = function(*args, **options)
        now.update((id(old), new) for old, new in zip(tree_leaves(found), tree_leaves(again), strict=True))
    for holder, key, old in recorded.places:
        holder[key] = now[id(old)]
    try:
        yield
    finally:
        for holder, key, old in recorded.places:
            holder[key] = old
