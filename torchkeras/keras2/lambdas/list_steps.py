"""Instructions that compute by operators, and that make, change and unpack lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchkeras.keras2.lambdas import calls
from torchkeras.keras2.lambdas.calls import operation
from torchkeras.keras2.lambdas.instructions import Instruction
from torchkeras.keras2.lambdas.limits import Refused, weigh
from torchkeras.keras2.lambdas.names import Named
from torchkeras.keras2.lambdas.opcodes import BINARY
from torchkeras.keras2.lambdas.steps import Steps
from torchkeras.keras2.lambdas.values import (
    Frame,
    Iterator,
    OwnList,
    described,
)

OPERATORS = {
    "POWER": "**",
    "MULTIPLY": "*",
    "MATRIX_MULTIPLY": "@",
    "DIVIDE": "old /",
    "TRUE_DIVIDE": "/",
    "FLOOR_DIVIDE": "//",
    "MODULO": "%",
    "ADD": "+",
    "SUBTRACT": "-",
    "SUBSCR": "[]",
    "LSHIFT": "<<",
    "RSHIFT": ">>",
    "AND": "&",
    "XOR": "^",
    "OR": "|",
}
UNARY = {"UNARY_NEGATIVE": "negative", "UNARY_POSITIVE": "positive", "UNARY_NOT": "not", "UNARY_INVERT": "~"}


class ListSteps(Steps):
    """Operators and lists."""

    def _operate(self, frame: Frame, name: str, *values: Any) -> None:
        result = operation(name, values, {}, self.budget)
        frame.stack.append(OwnList(result, frame.owner) if isinstance(result, list) else result)

    def binary(self, frame: Frame, instruction: Instruction) -> None:
        sign = OPERATORS[instruction.name.partition("_")[2]]
        self._binary(frame, sign, instruction.name.startswith("INPLACE"))

    def binary_op(self, frame: Frame, instruction: Instruction) -> None:
        self._binary(frame, instruction.argument, len(BINARY) // 2 <= instruction.number < len(BINARY))

    def _binary(self, frame: Frame, sign: str, in_place: bool) -> None:
        x, y = frame.pop_many(2)
        self._operate(frame, sign, x, y)
        if in_place and sign == "+" and any(x is each for each in frame.lists):
            self._replace(frame, x, frame.peek(1))  # whoever has the list has what was added, too

    def unary(self, frame: Frame, instruction: Instruction) -> None:
        self._operate(frame, UNARY[instruction.name], frame.pop())

    def to_bool(self, frame: Frame, instruction: Instruction) -> None:
        pass  # the branch that follows asks for it

    def compare(self, frame: Frame, instruction: Instruction) -> None:
        sign = instruction.argument
        old = "old " if sign in ("==", "!=") and not self.newer else ""
        self._operate(frame, old + sign, *frame.pop_many(2))

    def is_op(self, frame: Frame, instruction: Instruction) -> None:
        x, y = frame.pop_many(2)
        if isinstance(x, Named) and isinstance(y, Named):
            frame.stack.append((x == y) is not bool(instruction.number))
        else:
            self._operate(frame, "is not" if instruction.number else "is", x, y)

    def contains_op(self, frame: Frame, instruction: Instruction) -> None:
        self._operate(frame, "not in" if instruction.number else "in", *frame.pop_many(2))

    def binary_slice(self, frame: Frame, instruction: Instruction) -> None:
        value, start, stop = frame.pop_many(3)
        self._operate(frame, "[]", value, slice(start, stop))

    def old_slice(self, frame: Frame, instruction: Instruction) -> None:
        kind = int(instruction.name[-1])
        stop = frame.pop() if kind & 2 else None
        start = frame.pop() if kind & 1 else None
        self._operate(frame, "[]", frame.pop(), slice(start, stop))

    # --- lists -------------------------------------------------------------------------------------------------------

    def build_tuple(self, frame: Frame, instruction: Instruction) -> None:
        frame.stack.append(tuple(frame.pop_many(instruction.number)))
        self._weigh(frame.stack[-1])

    def build_list(self, frame: Frame, instruction: Instruction) -> None:
        frame.stack.append(OwnList(frame.pop_many(instruction.number), frame.owner))
        self._weigh(frame.stack[-1])

    def build_slice(self, frame: Frame, instruction: Instruction) -> None:
        if instruction.number not in (2, 3):
            raise Refused(f"a slice of {instruction.number}")
        frame.stack.append(slice(*frame.pop_many(instruction.number)))

    def build_map(self, frame: Frame, instruction: Instruction) -> None:
        presized = frame.version == "2.7" or any(each.name == "STORE_MAP" for each in frame.instructions)
        flat = [] if presized else frame.pop_many(2 * instruction.number)
        frame.stack.append(self._mapping(flat[::2], flat[1::2]))

    def build_const_key_map(self, frame: Frame, instruction: Instruction) -> None:
        keys = frame.pop()
        values = frame.pop_many(instruction.number)
        if not isinstance(keys, tuple) or len(keys) != len(values):
            raise Refused("a dictionary of another number of keys than values")
        frame.stack.append(self._mapping(keys, values))

    def store_map(self, frame: Frame, instruction: Instruction) -> None:
        mapping, value, key = frame.pop_many(3)
        if not isinstance(mapping, dict):
            raise Refused(f"a key of {described(mapping)}")
        frame.stack.append({**mapping, **self._mapping([key], [value])})

    def dict_merge(self, frame: Frame, instruction: Instruction) -> None:
        added = frame.pop()
        place = len(frame.stack) - instruction.number
        into = frame.peek(instruction.number)
        if not isinstance(into, dict) or not isinstance(added, dict):
            raise Refused("keywords that are not known")
        frame.stack[place] = {**into, **added}

    def _mapping(self, keys: Sequence[Any], values: Sequence[Any]) -> dict[str, Any]:
        if not all(isinstance(key, str) for key in keys):
            raise Refused("a dictionary with keys that are not texts")
        self.budget.spend(len(keys))
        return dict(zip(keys, values, strict=True))

    def _weigh(self, value: Any) -> None:
        weigh(value, self.budget)

    def _own_list(self, frame: Frame, value: Any) -> OwnList:
        if not isinstance(value, OwnList) or value.owner is not frame.owner:
            raise Refused("a list that is changed by another function than the one that made it")
        return value

    def list_append(self, frame: Frame, instruction: Instruction) -> None:
        item = frame.pop()
        found = self._own_list(frame, frame.peek(instruction.number))
        self._append(found, item)

    def _append(self, found: OwnList, item: Any) -> None:
        if item is found:
            raise Refused("a list in itself")
        found.append(calls.frozen_list(item))
        self._weigh(item)

    def list_extend(self, frame: Frame, instruction: Instruction) -> None:
        items = frame.pop()
        found = self._own_list(frame, frame.peek(instruction.number))
        for item in self._items(items):
            self._append(found, item)

    def store_subscr(self, frame: Frame, instruction: Instruction) -> None:
        value, found, key = frame.pop_many(3)
        if calls.is_step(found):
            self._replace(frame, found, operation("replaced", (found, key, value), {}, self.budget))
            return
        own = self._own_list(frame, found)
        if not isinstance(key, int) or not -len(own) <= key < len(own) or value is own:
            raise Refused("a place of a list that it does not have")
        own[key] = calls.frozen_list(value)
        self._weigh(value)

    def _replace(self, frame: Frame, old: Any, new: Any) -> None:
        """Change a list that is a step, and that only variables of the running function have."""
        shared = any(cell.value is old for cell in frame.cells.values())
        inside = any(_is_inside(old, each) for each in (*frame.variables.values(), *frame.stack, frame.made))
        if shared or inside or not any(old is each for each in frame.lists):
            raise Refused("a list that is changed by another function than the one that made it")
        frame.lists.append(new)
        frame.variables.update({name: new for name, value in frame.variables.items() if value is old})
        frame.stack[:] = [new if value is old else value for value in frame.stack]

    def list_to_tuple(self, frame: Frame, instruction: Instruction) -> None:
        frame.stack.append(tuple(self._items(frame.pop())))

    def unpack_sequence(self, frame: Frame, instruction: Instruction) -> None:
        value, count = frame.pop(), instruction.number
        self.budget.spend(count)
        if calls.is_step(value):
            found = [operation("unpacked", (value, count, place), {}, self.budget) for place in range(count)]
        else:
            found = list(self._items(value))
        if len(found) != count:
            raise Refused(f"{len(found)} values, of which {count} are taken")
        frame.stack += reversed(found)

    def _items(self, value: Any) -> tuple[Any, ...]:
        """The values of a known list."""
        if isinstance(value, Iterator):
            found = value.items[value.place :]
        elif isinstance(value, (tuple, list, str, dict)):
            found = tuple(value)
        else:
            what = "what is known only when the layer runs" if calls.is_step(value) else described(value)
            raise Refused(f"a loop over {what}")
        self.budget.spend(len(found))
        return found


def _is_inside(item: Any, value: Any) -> bool:
    """Whether a value is a part of a list or tuple, of any depth."""
    parts = value.items if isinstance(value, Iterator) else value
    if not isinstance(parts, (tuple, list)):
        return False
    return any(part is item or _is_inside(item, part) for part in parts)
