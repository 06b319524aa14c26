"""What a formula is made of: steps, each an argument, an operation of other steps, a choice, or a function inside.

Between steps stand plain values: numbers, texts, None, slices, and tuples, lists and mappings of these and of steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from torchkeras.keras2.lambdas.limits import HEIGHT, Refused


@dataclass(frozen=True, eq=False)
class Argument:
    """An argument of the function; `training` is whether the layer is in training mode."""

    name: str
    height: int = 0


@dataclass(frozen=True, eq=False)
class Call:
    """An operation, by its name in the closed list, of values in which steps may stand."""

    operation: str
    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any] = field(default_factory=dict)
    height: int = 0


@dataclass(frozen=True, eq=False)
class Choice:
    """`yes` where the condition holds, else `no`; only one of them is computed."""

    condition: Any
    yes: Any
    no: Any
    height: int = 0


@dataclass(frozen=True, eq=False)
class Inner:
    """A function that an operation calls with each of several values; no other step has these parameters."""

    parameters: tuple[str, ...]
    result: Any
    height: int = 0


Step = Argument | Call | Choice | Inner
STEP = (Argument, Call, Choice, Inner)
TRAINING = "training"


def made(kind: type, *parts: Any) -> Any:
    """A step. Raises Refused for one that is too far from the arguments."""
    height = 1 + max((step.height for part in parts for step in steps_in(part)), default=0)
    if height > HEIGHT:
        raise Refused(f"a formula of over {HEIGHT} operations one after another")
    return kind(*parts, height=height)


def steps_in(value: Any) -> list[Step]:
    """The steps that stand in a value."""
    if isinstance(value, STEP):
        return [value]
    if isinstance(value, (tuple, list)):
        return [step for part in value for step in steps_in(part)]
    if isinstance(value, Mapping):
        return [step for part in value.values() for step in steps_in(part)]
    return steps_in((value.start, value.stop, value.step)) if isinstance(value, slice) else []


def inputs_of(step: Step) -> list[Step]:
    """The steps that a step takes."""
    if isinstance(step, Call):
        return steps_in((step.arguments, step.keywords))
    if isinstance(step, Inner):
        return steps_in(step.result)
    return steps_in((step.condition, step.yes, step.no)) if isinstance(step, Choice) else []


def in_order(result: Any) -> list[Step]:
    """All steps of a formula, each once, after those that it takes."""
    found: dict[int, Step] = {}
    pending = [(step, False) for step in reversed(steps_in(result))]
    while pending:
        step, ready = pending.pop()
        if id(step) in found:
            continue
        if ready:
            found[id(step)] = step
        else:
            pending += [(step, True), *((each, False) for each in reversed(inputs_of(step)))]
    return list(found.values())


def names_in(result: Any) -> dict[int, frozenset[str]]:
    """The arguments that each step of a formula depends on, by its id, without those of functions inside it."""
    found: dict[int, frozenset[str]] = {}
    for step in in_order(result):
        names = frozenset([step.name] if isinstance(step, Argument) else ())
        names = names.union(*(found[id(each)] for each in inputs_of(step)))
        found[id(step)] = names.difference(step.parameters) if isinstance(step, Inner) else names
    return found
