"""Results of code that runs under genuine Keras and here: as JSON, and compared."""

import gzip
import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

GOLDEN = Path(__file__).parent.parent / "golden/keras3"
CLOSE = (1e-5, 1e-6)  # relative and absolute


def cases_of(module: ModuleType) -> dict[str, Callable[[Any], Any]]:
    """The cases of a file, by name without `case_`."""
    return {name.removeprefix("case_"): each for name, each in vars(module).items() if name.startswith("case_")}


def plain(found: Any) -> Any:
    """A result as plain data: an array is its type, its shape and its values."""
    if isinstance(found, Mapping):
        return {str(key): plain(value) for key, value in found.items()}
    if isinstance(found, (list, tuple)):
        return [plain(each) for each in found]
    if isinstance(found, (np.ndarray, np.generic)):
        values = np.asarray(found)
        return {"dtype": str(values.dtype), "shape": list(values.shape), "values": values.reshape(-1).tolist()}
    if found is None or isinstance(found, (bool, int, float, str)):
        return found
    raise TypeError(f"A case returns arrays, numbers and texts; found {type(found).__name__}: {found!r:.200}.")


def write(name: str, results: Mapping[str, Any]) -> None:
    """Store the results of a file's cases; the same results make the same bytes."""
    text = json.dumps(plain(results), sort_keys=True)
    (GOLDEN / f"{name}.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


def read(name: str) -> dict[str, Any]:
    """The stored results of a file's cases."""
    return json.loads(gzip.decompress((GOLDEN / f"{name}.json.gz").read_bytes()))


def check(found: Any, expected: Any, tolerance: tuple[float, float], where: str = "") -> None:
    """Assert that plain results are equal, numbers within a relative and an absolute tolerance."""
    if isinstance(expected, float) or isinstance(found, float):
        rtol, atol = tolerance
        assert isinstance(found, (int, float)), where
        same = found == expected or (math.isnan(found) and math.isnan(expected))
        assert same or abs(found - expected) <= atol + rtol * abs(expected), f"{where}: {found} is not {expected}"
    elif isinstance(expected, dict):
        assert isinstance(found, dict), where
        assert sorted(found) == sorted(expected), where
        for key, value in expected.items():
            check(found[key], value, tolerance, f"{where}/{key}")
    elif isinstance(expected, list):
        assert isinstance(found, list), where
        assert len(found) == len(expected), where
        for number, (one, other) in enumerate(zip(found, expected, strict=True)):
            check(one, other, tolerance, f"{where}/{number}")
    else:
        assert found == expected, f"{where}: {found!r} is not {expected!r}"
        assert type(found) is type(expected), where
