"""The limits within which a stored function is read, and the one error for what is refused."""

from __future__ import annotations

from typing import Any

from torchkeras.errors import ForbiddenContentError

BYTES = 1 << 20  # of marshalled data
OBJECTS = 50_000  # in marshalled data
DEPTH = 40  # of marshalled data, of calls, of tuples in tuples
WORK = 100_000  # instructions, values made, parts of values
OPERATION = 5  # of this work is an operation of a formula that is computed
STEPS = 5_000  # of a formula
HEIGHT = 150  # of a formula: the longest way from its result to an argument
LENGTH = 10_000  # of a text or a sequence
INPUTS = 100  # of a layer, of which a formula names each
NUMBER = 1 << 64  # the size of a whole number


class Refused(ForbiddenContentError):  # noqa: N818  (it says what happened to the function)
    """A stored function with something that is not on the list. The text names it."""


class Budget:
    """What is left of the work that reading one function may take, or calls of functions inside in a computation."""

    def __init__(self, left: int = WORK):
        self.left = left

    def spend(self, amount: int = 1) -> None:
        """Raises Refused when nothing is left."""
        self.left -= amount
        if self.left < 0:
            raise Refused(f"it takes more than {WORK} steps")


def weigh(value: Any, budget: Budget, depth: int = 0) -> None:
    """Spend what a value has parts. Raises Refused for one that is too deep."""
    budget.spend()
    if depth > DEPTH:
        raise Refused(f"values in values, over {DEPTH} deep")
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (tuple, list)):
        for part in value:
            weigh(part, budget, depth + 1)
    elif isinstance(value, slice):
        weigh((value.start, value.stop, value.step), budget, depth + 1)
    elif isinstance(value, str) and len(value) > LENGTH:
        raise Refused(f"a text of over {LENGTH} letters")
    elif isinstance(value, int) and abs(value) >= NUMBER:
        raise Refused(f"a whole number beyond {NUMBER}")
