"""Instructions that load and store variables, and that turn the stack over."""

from __future__ import annotations

from typing import Any

from torchkeras.keras2.lambdas import calls
from torchkeras.keras2.lambdas.instructions import Instruction
from torchkeras.keras2.lambdas.limits import Refused, weigh
from torchkeras.keras2.lambdas.names import of_global
from torchkeras.keras2.lambdas.opcodes import since
from torchkeras.keras2.lambdas.steps import Steps
from torchkeras.keras2.lambdas.values import (
    NULL,
    Cell,
    Frame,
    Own,
    is_known,
)


class VariableSteps(Steps):
    """Variables, names, constants and the stack."""

    def load_const(self, frame: Frame, instruction: Instruction) -> None:
        weigh(instruction.argument, self.budget)
        frame.stack.append(instruction.argument)

    def load_common_constant(self, frame: Frame, instruction: Instruction) -> None:
        frame.stack.append(of_global(instruction.argument))

    def load_fast(self, frame: Frame, instruction: Instruction) -> None:
        frame.stack.append(self._variable(frame, instruction.argument))

    def _variable(self, frame: Frame, name: str) -> Any:
        if name in frame.cells and frame.code.layout == "3.11":
            return frame.cells[name]
        if frame.variables.get(name, NULL) is NULL:
            raise Refused(f"the variable {name!r}, which has no value yet")
        return frame.variables[name]

    def load_fast_and_clear(self, frame: Frame, instruction: Instruction) -> None:
        frame.stack.append(frame.variables.pop(instruction.argument, NULL))

    def store_fast(self, frame: Frame, instruction: Instruction) -> None:
        frame.variables[instruction.argument] = frame.pop()

    def delete_fast(self, frame: Frame, instruction: Instruction) -> None:
        frame.variables.pop(instruction.argument, None)

    def load_fast_load_fast(self, frame: Frame, instruction: Instruction) -> None:
        frame.stack += [self._variable(frame, name) for name in instruction.argument]

    def store_fast_load_fast(self, frame: Frame, instruction: Instruction) -> None:
        frame.variables[instruction.argument[0]] = frame.pop()
        frame.stack.append(self._variable(frame, instruction.argument[1]))

    def store_fast_store_fast(self, frame: Frame, instruction: Instruction) -> None:
        for name in instruction.argument:
            frame.variables[name] = frame.pop()

    def load_global(self, frame: Frame, instruction: Instruction) -> None:
        name = instruction.argument
        value = self._global(name)
        with_null = frame.code.layout == "3.11" and instruction.number & 1
        if not with_null:
            frame.stack.append(value)
        else:
            frame.stack += [value, NULL] if since(frame.version, "3.13") else [NULL, value]

    def _global(self, name: str) -> Any:
        value = self.given.get(name)
        if value is None or type(value).__name__ == "module":
            return of_global(name)
        if is_known(value):
            return value
        if callable(value) and name.isidentifier():
            self.own[name] = value
            return Own(name, value)
        raise Refused(f"custom_objects[{name!r}], which is neither a function nor numbers")

    def load_closure(self, frame: Frame, instruction: Instruction) -> None:
        frame.stack.append(self._cell(frame, instruction.argument))

    def load_deref(self, frame: Frame, instruction: Instruction) -> None:
        frame.stack.append(self._cell(frame, instruction.argument).read())

    def store_deref(self, frame: Frame, instruction: Instruction) -> None:
        cell = self._cell(frame, instruction.argument)
        if cell.value is not NULL:
            raise Refused(f"a second value of {cell.name!r}, which an inner function shares")
        cell.value = calls.frozen_list(frame.pop())

    @staticmethod
    def _cell(frame: Frame, name: str) -> Cell:
        if name not in frame.cells:
            raise Refused(f"the variable {name!r}, which is not shared")
        return frame.cells[name]

    # --- the stack ---------------------------------------------------------------------------------------------------

    def pop_top(self, frame: Frame, instruction: Instruction) -> None:
        frame.pop()

    def push_null(self, frame: Frame, instruction: Instruction) -> None:
        frame.stack.append(NULL)

    def copy(self, frame: Frame, instruction: Instruction) -> None:
        frame.stack.append(frame.peek(instruction.number))

    def swap(self, frame: Frame, instruction: Instruction) -> None:
        depth = instruction.number
        frame.peek(depth)
        frame.stack[-1], frame.stack[-depth] = frame.stack[-depth], frame.stack[-1]

    def rotate(self, frame: Frame, instruction: Instruction) -> None:
        count = {"ROT_TWO": 2, "ROT_THREE": 3, "ROT_FOUR": 4}.get(instruction.name, instruction.number)
        top = frame.pop()
        if not 1 <= count <= len(frame.stack) + 1:
            raise Refused("it turns over values that are not on the stack")
        frame.stack.insert(len(frame.stack) - count + 1, top)

    def duplicate(self, frame: Frame, instruction: Instruction) -> None:
        count = {"DUP_TOP": 1, "DUP_TOP_TWO": 2}.get(instruction.name, instruction.number)
        found = frame.pop_many(count)
        frame.stack += [*found, *found]
