"""The random state of Python, NumPy, torch and a user's objects: reading and restoring it.

A state is a dictionary by part: "python", "numpy", "torch", "cuda", and "own:" with the place of each generator that
the user's objects hold themselves. It holds tensors and plain values only.
"""

from __future__ import annotations

import hashlib
import random
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from torchkeras.base.python import attributes_of
from torchkeras.world import processes

Own = Mapping[str, Any]
DEEPEST, LONGEST = 6, 64  # how far, and into lists of which length, generators are looked for


def state(own: Own | None = None) -> dict[str, Any]:
    """The state of the global generators, and of the user's `own`."""
    return {part: read() for part, read in _PARTS.items()} | {
        f"own:{k}": _state_of(found) for k, found in (own or {}).items()
    }


def state_of_thread(own: Own) -> dict[str, Any]:
    """The state without torch's parts, which a thread that makes data shares with the training."""
    return {part: found for part, found in state(own).items() if part not in ("torch", "cuda")}


def restore(saved: Mapping[str, Any], own: Own | None = None) -> None:
    """Restore a state, or some parts of one.

    Raises ValueError for a state of more CUDA devices than there are. Warns of a generator that is not in `own`.
    """
    for part, found in saved.items():
        if part in _PARTS:
            _SETTERS[part](found)
        elif part.removeprefix("own:") in (own or {}):
            _write((own or {})[part.removeprefix("own:")], found)
        else:
            warnings.warn(
                f"The checkpoint has the state of a random generator at {part[4:]}; there is none.", stacklevel=2
            )


def of_another_number(saved: Sequence[Mapping[str, Any]], number: int) -> dict[str, Any]:
    """The state for process `number` of a run that resumes with more or fewer processes, from the states of all before.

    A part that was equal in all processes stays so. Of the others a process has its own; a new process is seeded by its
    number and the state of the first.
    """
    found = dict(saved[min(number, len(saved) - 1)])
    for part, first in saved[0].items():
        if all(_equal_states(first, each.get(part)) for each in saved):
            found[part] = first
        elif number >= len(saved):
            found[part] = _SEEDED[part](_seed(saved[0], number), first) if part in _SEEDED else first
    return found


def seeded(device: Any, state: torch.Tensor, number: int) -> torch.Tensor:
    """The state of a generator of torch for a new process, from that of the first."""
    return torch.Generator(device).manual_seed(_seed({"torch": state}, number)).get_state()


def generator(device: str, state: torch.Tensor) -> torch.Generator:
    """A generator of torch in a saved state. Of several processes, each has one on its own CUDA device.

    Raises ValueError for a CUDA device that is not there.
    """
    place = torch.device(device)
    if place.type == "cuda":
        there = torch.cuda.device_count()
        if there and processes.world_size() > 1:
            place = torch.device("cuda", torch.cuda.current_device())
        if (place.index or 0) >= there:
            raise ValueError(f"The checkpoint has a random generator of {device}; there are {there} CUDA devices.")
    return torch.Generator(place).set_state(state)


def changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> set[str]:
    """The parts of two states that differ."""
    return {part for part in after if not _equal_states(before.get(part), after[part])}


def found_in(**owners: Any) -> dict[str, Any]:
    """The generators that objects hold, by their places: `loader.dataset.transform.random`.

    They are looked for in attributes and in short lists and dicts, to some depth.
    """
    places: dict[str, Any] = {}
    seen: set[int] = set()
    for name, owner in owners.items():
        places.update(_walk(name, owner, DEEPEST, seen))
    return places


def _walk(place: str, value: Any, depth: int, seen: set[int]) -> Iterator[tuple[str, Any]]:
    if id(value) in seen or isinstance(value, (type, str, bytes, int, float, np.ndarray, torch.Tensor)):
        return
    seen.add(id(value))
    if _is_generator(value):
        yield place, value
        return
    if depth:
        for inner, item in _items_in(place, value):
            yield from _walk(inner, item, depth - 1, seen)


def _items_in(place: str, value: Any) -> list[tuple[str, Any]]:
    """The parts of an object by their places: the items of a short dict or list, none of a long one, or attributes."""
    if not isinstance(value, (Mapping, list, tuple)):
        return [(f"{place}.{name}", item) for name, item in attributes_of(value).items()]
    if len(value) > LONGEST:
        return []
    items = dict(value).items() if isinstance(value, Mapping) else enumerate(tuple(value))
    return [(f"{place}[{key!r}]", item) for key, item in items]


def _is_generator(value: Any) -> bool:
    kinds = (np.random.Generator, np.random.RandomState, random.Random, torch.Generator)  # NumPy's are imported here
    return isinstance(value, kinds)


# --- the parts -------------------------------------------------------------------------------------------------------


def _cuda() -> list[torch.Tensor]:
    if not torch.cuda.is_initialized():
        return []
    # One of several processes has one device; asking for others would take memory of them.
    return torch.cuda.get_rng_state_all() if processes.world_size() == 1 else [torch.cuda.get_rng_state()]


def _set_cuda(states: list[torch.Tensor]) -> None:
    if states and processes.world_size() > 1:
        torch.cuda.set_rng_state(states[0])
        return
    there = torch.cuda.device_count()
    if any(map(_has_drawn, states[there:])):
        raise ValueError(f"The checkpoint has random states of {len(states)} CUDA devices; there are {there}.")
    if states:
        torch.cuda.set_rng_state_all(states[:there])


def _has_drawn(state: torch.Tensor) -> bool:
    """Whether numbers were drawn from a generator of a CUDA device since its seed: its state is seed and offset."""
    return bool(state[8:].any())


# The old generator of NumPy is the one that scripts and Keras draw from.
_PARTS: Mapping[str, Callable[[], Any]] = {
    "python": lambda: _of_python(random.getstate()),
    "numpy": lambda: _storable(np.random.get_state(legacy=False)),  # noqa: NPY002
    "torch": torch.get_rng_state,
    "cuda": _cuda,
}
_SETTERS: Mapping[str, Callable[[Any], None]] = {
    "python": lambda found: random.setstate(_for_python(found)),
    "numpy": lambda found: np.random.set_state(_for_numpy(found)),  # noqa: NPY002
    "torch": torch.set_rng_state,
    "cuda": _set_cuda,
}


def _seed(saved: Mapping[str, Any], number: int) -> int:
    seed_bytes = saved["torch"].numpy().tobytes() + number.to_bytes(8, "big")
    return int.from_bytes(hashlib.sha256(seed_bytes).digest()[:4], "big")  # NumPy takes no larger one


_SEEDED: Mapping[str, Callable[[int, Any], Any]] = {
    "python": lambda seed, first: _of_python(random.Random(seed).getstate()),
    "numpy": lambda seed, first: _storable(np.random.RandomState(seed).get_state(legacy=False)),
    "torch": lambda seed, first: torch.Generator().manual_seed(seed).get_state(),
    "cuda": lambda seed, first: [torch.Generator("cuda").manual_seed(seed).get_state() for _ in first],
}


def _state_of(generator: Any) -> Any:
    if isinstance(generator, np.random.Generator):
        return _storable(generator.bit_generator.state)
    if isinstance(generator, np.random.RandomState):
        return _storable(generator.get_state(legacy=False))
    return _of_python(generator.getstate()) if isinstance(generator, random.Random) else generator.get_state()


def _write(generator: Any, found: Any) -> None:
    if isinstance(generator, np.random.Generator):
        generator.bit_generator.state = _for_numpy(found)
    elif isinstance(generator, random.Random):
        generator.setstate(_for_python(found))
    else:
        generator.set_state(_for_numpy(found) if isinstance(generator, np.random.RandomState) else found)


def _of_python(found: Any) -> list[Any]:
    version, internal, gauss = found
    return [version, torch.from_numpy(np.array(internal, np.int64)), gauss]


def _for_python(found: Any) -> tuple[Any, ...]:
    version, internal, gauss = found
    return version, tuple(internal.tolist()), gauss


def _storable(found: Any) -> Any:
    """NumPy's arrays as tensors of a type that every torch can save; its numbers as Python's."""
    if isinstance(found, Mapping):
        return {key: _storable(item) for key, item in found.items()}
    if isinstance(found, np.ndarray):
        return torch.from_numpy(found.view(np.int32 if found.itemsize == 4 else np.int64).copy())
    return found.item() if isinstance(found, np.generic) else found


def _for_numpy(found: Any) -> Any:
    if isinstance(found, Mapping):
        return {key: _for_numpy(item) for key, item in found.items()}
    if isinstance(found, torch.Tensor):
        array = found.numpy()
        return array.view(np.uint32 if array.itemsize == 4 else np.uint64)
    return found


def _equal_states(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return torch.equal(one, other)
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_equal_states(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal_states, one, other))
    return one == other
