"""Output shapes of code that looks at values, which has none on torch's `meta` device: `if`, `.item()`, NumPy.

Such code runs once more with values, on small tensors of ones, as in Keras 3 on torch. So does code with a limit of
size.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from torchkeras.engine.layer.added_losses import ADDED
from torchkeras.engine.shapes.output_shapes import STANDS_FOR_NONE, on_values

META = re.compile(r"meta\b", re.IGNORECASE)  # in torch's errors: "on meta tensors", "with Meta tensors"


def with_values_if_needed(infer: Callable[[], Any]) -> Any:
    """What `infer` finds about shapes on `meta`; if code that it runs looks at values, what it finds with values.

    An error that names `meta` says so. One that names a number which stands for an unknown size may come of a limit, as
    an encoder has for the length of its texts: the tensors with values are smaller. No weight, state or random number
    of torch changes in either run. An error with values is raised as it is, unless it was not values that were missing.
    """
    try:
        return infer()
    except (RuntimeError, TypeError, ValueError) as error:  # torch's own, or one with a layer's name around it
        asks = _asks_for_values(error)
        if not asks and STANDS_FOR_NONE not in str(error):
            raise
        first = error
    before, ADDED.taken = ADDED.taken, ([], {})  # what code adds to losses and metrics on the way is left out
    try:
        with on_values():
            return infer()
    except (RuntimeError, TypeError, ValueError):
        if asks:
            raise
        raise first from first.__cause__
    finally:
        ADDED.taken = before


def _asks_for_values(error: BaseException | None) -> bool:
    """Whether torch says of a tensor, in an error or its causes, that it is on `meta`."""
    return error is not None and (META.search(str(error)) is not None or _asks_for_values(error.__cause__))
