"""What the instructions of a stored function share: who reads it, and how much work is left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torchkeras.keras2.lambdas.limits import Budget
from torchkeras.keras2.lambdas.values import Frame, Function


class Returned(Exception):  # noqa: N818  (no error)
    """What a function gives."""

    def __init__(self, value: Any):
        self.value = value


class Steps:
    """Reads one stored function.

    `given`: the user's values of names. `newer`: whether the file is of a TensorFlow that compares tensors by `==`.
    `tensorflow`: 1 or 2, if the file tells.
    """

    def __init__(self, given: Mapping[str, Any], newer: bool, tensorflow: int | None = None):
        self.given, self.newer, self.tensorflow = given, newer, tensorflow
        self.budget = Budget()
        self.own: dict[str, Any] = {}
        self.taken: set[str] = set()  # names of arguments, of the function and of those inside

    def call(self, function: Function, arguments: Sequence[Any], keywords: Mapping[str, Any], depth: int = 0) -> Any:
        """What a function gives for these arguments."""
        raise NotImplementedError

    def run(self, frame: Frame) -> Any:
        """Read the instructions of a frame to the end of its function."""
        raise NotImplementedError
