"""A formula as plain data for a config, and back.

`{"parameters": [names], "steps": [...], "result": value}`. A step is `{"argument": name}`, `{"call": name, "arguments":
[...], "keywords": {...}}`, `{"choice": [condition, yes, no]}` or `{"function": [names], "result": value}`. A value is a
number, a text, a list, or a mapping: `{"step": k}` an earlier step, `{"tuple": [...]}`, `{"slice": [...]}`,
`{"mapping": {...}}`, `{"ellipsis": true}`, `{"float": "inf"}`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from torchkeras.keras2.lambdas.expression import (
    STEP,
    TRAINING,
    Argument,
    Call,
    Choice,
    Inner,
    Step,
    in_order,
    made,
    names_in,
    steps_in,
)
from torchkeras.keras2.lambdas.formula import Formula
from torchkeras.keras2.lambdas.functions import OWN, lookup
from torchkeras.keras2.lambdas.limits import DEPTH, STEPS, WORK, Budget, Refused, weigh

# --- to data ---------------------------------------------------------------------------------------------------------


def data_of(formula: Formula) -> dict[str, Any]:
    """The formula as plain data."""
    steps = in_order(formula.result)
    places = {id(step): place for place, step in enumerate(steps)}
    return {
        "parameters": list(formula.parameters),
        "steps": [_step_data(step, places) for step in steps],
        "result": _data(formula.result, places),
    }


def _step_data(step: Step, places: Mapping[int, int]) -> dict[str, Any]:
    if isinstance(step, Argument):
        return {"argument": step.name}
    if isinstance(step, Choice):
        return {"choice": _listed((step.condition, step.yes, step.no), places)}
    if isinstance(step, Inner):
        return {"function": list(step.parameters), "result": _data(step.result, places)}
    found: dict[str, Any] = {"call": step.operation, "arguments": _listed(step.arguments, places)}
    if step.keywords:
        found["keywords"] = {key: _data(part, places) for key, part in step.keywords.items()}
    return found


def _data(value: Any, places: Mapping[int, int]) -> Any:
    """A value as plain data; a step by its place."""
    if isinstance(value, STEP):
        return {"step": places[id(value)]}
    if isinstance(value, tuple):
        return {"tuple": _listed(value, places)}
    if isinstance(value, list):
        return _listed(value, places)
    if isinstance(value, slice):
        return {"slice": _listed((value.start, value.stop, value.step), places)}
    if isinstance(value, Mapping):
        return {"mapping": {key: _data(part, places) for key, part in value.items()}}
    if value is Ellipsis:
        return {"ellipsis": True}
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    return value


def _listed(values: Sequence[Any], places: Mapping[int, int]) -> list[Any]:
    return [_data(part, places) for part in values]


# --- from data -------------------------------------------------------------------------------------------------------

# What a mapping of one entry may hold, by its key.
_HELD: Mapping[Any, Any] = {
    "step": int,
    "tuple": list,
    "slice": list,
    "mapping": Mapping,
    "ellipsis": object,
    "float": str,
}


def formula_from(data: Any, name: str, given: Mapping[str, Any]) -> Formula:
    """The formula of plain data. `given`: the user's functions, by name. Raises Refused for data of another form."""
    form = isinstance(data, Mapping) and set(data) == {"parameters", "steps", "result"}
    if not form or not isinstance(data["steps"], list) or len(data["steps"]) > STEPS:
        raise Refused(f"a formula is parameters, at most {STEPS} steps, and a result")
    parameters = _names(data["parameters"])
    budget, steps, own = Budget(WORK), [], {}
    for entry in data["steps"]:
        steps.append(_step(entry, steps, budget))
        called = steps[-1].operation if isinstance(steps[-1], Call) else ""
        if called.startswith(OWN):
            own[called.removeprefix(OWN)] = _own(called.removeprefix(OWN), given)
    result = _value(data["result"], steps, budget)
    _check_names(parameters, steps, result)
    return Formula(name, parameters, result, own)


def _check_names(parameters: tuple[str, ...], steps: list[Step], result: Any) -> None:
    """Raise Refused for a name of two parameters, and for an argument that is no parameter where it stands."""
    inner = [each for step in steps if isinstance(step, Inner) for each in step.parameters]
    known = {*parameters, TRAINING}
    if len({*inner, *known}) < len(inner) + len(known):
        raise Refused("the parameters of a formula and of functions inside it have names of their own")
    names = names_in(result)
    strangers = {step.name for step in steps if isinstance(step, Argument)} - {*known, *inner}
    if strangers or any(not names[id(step)] <= known for step in steps_in(result)):
        raise Refused("an argument that is no parameter of the formula, or of the function that it stands in")


def _names(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) and each.isidentifier() for each in value):
        raise Refused("the parameters of a formula are names")
    return tuple(value)


def _own(name: str, given: Mapping[str, Any]) -> Any:
    if not callable(given.get(name)):
        raise Refused(f"the function {name!r}; pass it in custom_objects={{{name!r}: function}}")
    return given[name]


def _step(entry: Any, steps: list[Step], budget: Budget) -> Step:
    """The step of one entry of the data, which takes some of the steps before it."""
    if not isinstance(entry, Mapping):
        raise Refused(f"a step of a formula; found {type(entry).__name__}")
    if set(entry) == {"argument"} and isinstance(entry["argument"], str):
        return Argument(entry["argument"])
    if set(entry) == {"function", "result"}:
        return made(Inner, _names(entry["function"]), _value(entry["result"], steps, budget))
    if set(entry) == {"choice"} and isinstance(entry["choice"], list) and len(entry["choice"]) == 3:
        return made(Choice, *(_value(part, steps, budget) for part in entry["choice"]))
    return _call(entry, steps, budget)


def _call(entry: Mapping[str, Any], steps: list[Step], budget: Budget) -> Call:
    """The call of an operation of the closed list or of a function of the user's."""
    name, arguments, keywords = entry.get("call"), entry.get("arguments"), entry.get("keywords", {})
    form = set(entry) <= {"call", "arguments", "keywords"} and isinstance(keywords, Mapping)
    if not isinstance(name, str) or not isinstance(arguments, list) or not form:
        raise Refused(f"a step of a formula; found {', '.join(map(repr, entry))[:200]}")
    if lookup(name) is None and not (name.startswith(OWN) and name.removeprefix(OWN).isidentifier()):
        raise Refused(f"{name[:200]!r}, which is not on the list of known functions")
    named = {str(key): _value(part, steps, budget) for key, part in keywords.items()}
    return made(Call, name, tuple(_value(part, steps, budget) for part in arguments), named)


def _value(value: Any, steps: list[Step], budget: Budget, depth: int = 0) -> Any:
    """A value of the data: a number, a text, a list, or what a mapping stands for."""
    budget.spend()
    if depth > DEPTH:
        raise Refused(f"values in values, over {DEPTH} deep")
    if isinstance(value, list):
        return [_value(part, steps, budget, depth + 1) for part in value]
    if isinstance(value, Mapping):
        return _of_mapping(value, steps, budget, depth + 1)
    if not isinstance(value, (int, float, str, type(None))):
        raise Refused(f"a value of type {type(value).__name__}")
    weigh(value, budget)
    return value


def _of_mapping(value: Mapping[Any, Any], steps: list[Step], budget: Budget, depth: int) -> Any:
    """What a mapping of one entry stands for, such as `{"step": 2}`; the parts of it are `depth` deep."""

    def inner(part: Any) -> Any:
        return _value(part, steps, budget, depth)

    entry: tuple[Any, Any] = next(iter(value.items())) if len(value) == 1 else ("", None)
    kind, part = entry
    if kind not in _HELD or not isinstance(part, _HELD[kind]):
        raise _no_value(value)
    if kind == "step" and 0 <= part < len(steps):
        return steps[part]
    if kind == "tuple":
        return tuple(map(inner, part))
    if kind == "slice" and len(part) == 3:
        return slice(*map(inner, part))
    if kind == "mapping":
        return {str(key): inner(each) for key, each in part.items()}
    if kind == "ellipsis":
        return Ellipsis
    if kind == "float" and part in ("inf", "-inf", "nan"):
        return float(part)
    raise _no_value(value)


def _no_value(value: Mapping[Any, Any]) -> Refused:
    return Refused(f"a value of a formula; found {', '.join(map(repr, value))[:200]}")
