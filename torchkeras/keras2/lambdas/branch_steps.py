"""Instructions that branch, loop and return."""

from __future__ import annotations

from typing import Any, NoReturn

from torchkeras.keras2.lambdas import calls
from torchkeras.keras2.lambdas.calls import operation
from torchkeras.keras2.lambdas.expression import Call, made
from torchkeras.keras2.lambdas.instructions import Instruction
from torchkeras.keras2.lambdas.limits import DEPTH, Refused, weigh
from torchkeras.keras2.lambdas.list_steps import ListSteps
from torchkeras.keras2.lambdas.names import ERRORS, Module, Named
from torchkeras.keras2.lambdas.steps import Returned
from torchkeras.keras2.lambdas.values import (
    Cell,
    Frame,
    Function,
    Iterator,
    Method,
    Null,
    Own,
    described,
)

_INTRINSICS = {3: None, 5: "positive", 6: "tuple"}  # StopIteration's error, +x, a list as a tuple


class BranchSteps(ListSteps):
    """Branches and loops. Where a condition is not known, both ways are read to the end of the function."""

    def branch(self, frame: Frame, condition: Any, place: int, when: bool) -> None:
        """Go on at `place` if the condition is `when`; both ways if it is not known."""
        if not calls.is_step(condition):
            self._known_truth(condition)
            if bool(condition) is when:
                frame.place = place
            return
        self._both_ways(frame, condition, frame.copy(place), frame.copy(frame.place), when)

    def _both_ways(self, frame: Frame, condition: Any, there: Frame, here: Frame, when: bool) -> NoReturn:
        """Read both ways of a branch to the end; `there` is the one that is taken if the condition is `when`."""
        if frame.depth > DEPTH:
            raise Refused(f"branches in branches, over {DEPTH} deep")
        there.depth = here.depth = frame.depth + 1
        found = self.run(there), self.run(here)
        raise Returned(calls.chosen(condition, *(found if when else reversed(found))))

    @staticmethod
    def _known_truth(condition: Any) -> None:
        if isinstance(condition, (Null, Module, Named, Function, Method, Iterator, Cell, Own)):
            raise Refused(f"a branch by {described(condition)}")

    def jump(self, frame: Frame, instruction: Instruction) -> None:
        frame.place = instruction.argument

    def pop_jump(self, frame: Frame, instruction: Instruction) -> None:
        self.branch(frame, frame.pop(), instruction.argument, instruction.name.endswith("TRUE"))

    def pop_jump_if_none(self, frame: Frame, instruction: Instruction) -> None:
        condition = operation("is", (frame.pop(), None), {}, self.budget)
        self.branch(frame, condition, instruction.argument, not instruction.name.endswith("NOT_NONE"))

    def jump_or_pop(self, frame: Frame, instruction: Instruction) -> None:
        value, when = frame.peek(1), "IF_TRUE" in instruction.name
        if calls.is_step(value):
            here = frame.copy(frame.place)
            here.pop()
            self._both_ways(frame, value, frame.copy(instruction.argument), here, when)
        self._known_truth(value)
        if bool(value) is when:
            frame.place = instruction.argument
        else:
            frame.pop()

    def get_iter(self, frame: Frame, instruction: Instruction) -> None:
        value = frame.pop()
        frame.stack.append(value if isinstance(value, Iterator) else Iterator(self._items(value)))

    def for_iter(self, frame: Frame, instruction: Instruction) -> None:
        found = frame.peek(1)
        if not isinstance(found, Iterator):
            raise Refused(f"a loop over {described(found)}")
        if found.place < len(found.items):
            frame.stack.append(found.items[found.place])
            found.place += 1
        else:
            frame.pop()
            frame.place = instruction.argument

    def setup_loop(self, frame: Frame, instruction: Instruction) -> None:
        frame.loops.append((instruction.argument, len(frame.stack)))

    def pop_block(self, frame: Frame, instruction: Instruction) -> None:
        if not frame.loops:
            raise Refused("the end of a loop that has no beginning")
        frame.loops.pop()

    def break_loop(self, frame: Frame, instruction: Instruction) -> None:
        if not frame.loops:
            raise Refused("a break outside of a loop")
        frame.place, height = frame.loops.pop()
        del frame.stack[height:]

    def yield_value(self, frame: Frame, instruction: Instruction) -> None:
        frame.made.append(calls.frozen_list(frame.pop()))
        frame.stack.append(None)

    def return_generator(self, frame: Frame, instruction: Instruction) -> None:
        frame.stack.append(None)  # which the next instruction drops

    def return_value(self, frame: Frame, instruction: Instruction) -> None:
        raise Returned(calls.frozen_list(frame.pop()))

    def raise_varargs(self, frame: Frame, instruction: Instruction) -> None:
        """Where a branch raises an error, the formula does so when the branch is taken."""
        error = (frame.pop_many(instruction.number) or [None])[0]
        if isinstance(error, Named) and error.name in ERRORS:
            error = made(Call, "raise", ())
        if not isinstance(error, Call) or error.operation != "raise" or not frame.depth:
            raise Refused(f"it raises {described(error)}")
        raise Returned(error)

    def return_const(self, frame: Frame, instruction: Instruction) -> None:
        weigh(instruction.argument, self.budget)
        raise Returned(instruction.argument)

    def call_intrinsic_1(self, frame: Frame, instruction: Instruction) -> None:
        name = _INTRINSICS.get(instruction.number)
        if name is None:
            raise Refused(f"the instruction CALL_INTRINSIC_1 {instruction.number}")
        value = frame.pop()
        frame.stack.append(tuple(value) if isinstance(value, list) else operation(name, (value,), {}, self.budget))
