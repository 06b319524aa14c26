"""Python as a person writes it, evaluated on tensors and on symbolic ones."""

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F

from torchkeras.layers import Input

torch.manual_seed(0)
VALUES = {
    "a": torch.rand(2, 6, 4) + 0.1,
    "b": torch.rand(2, 6, 4) + 0.1,
    "m": torch.rand(2, 4, 5),
    "i": torch.rand(2, 3, 8, 8),
    "n": torch.randint(0, 4, (2, 6, 4)),
}
NAMES = {"torch": torch, "F": F}


@dataclass(frozen=True)
class Row:
    """A text that computes; what stands of it in `model.code`, if it is another; the axes that may be unknown."""

    text: str
    line: str = ""
    unknown: tuple[int, ...] = (1,)

    @property
    def used(self) -> list[str]:
        return sorted(set(compile(self.text, "", "eval").co_names) & VALUES.keys())

    def compute(self, values: dict[str, Any]) -> Any:
        return eval(self.text, NAMES, values)


def parts(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def inputs_of(row: Row, unknown: tuple[int, ...]) -> dict[str, Any]:
    found = {}
    for name in row.used:
        tensor = VALUES[name]
        is_other = name == "m"  # whose second axis is the features of `a`
        shape = [None if axis == 0 or (axis in unknown and not is_other) else n for axis, n in enumerate(tensor.shape)]
        found[name] = Input(batch_shape=tuple(shape), dtype=str(tensor.dtype).removeprefix("torch."), name=name)
    return found


def assert_same(found: Any, expected: Any) -> None:
    for mine, other in zip(parts(found), parts(expected), strict=True):
        torch.testing.assert_close(mine, other, equal_nan=True)
