"""What genuine Keras 3.15 on torch returns for the cases in `tests/keras3/same`, into `tests/golden/keras3`.

    KERAS_BACKEND=torch python scripts/golden_same.py [losses ...]

Run it where Keras 3.15 and torch are installed. A case is a function of the module `keras`; the tests call the same
function with `torchkeras.keras3` and compare.
"""

import importlib
import sys
from pathlib import Path

import keras

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.keras3.same_results import cases_of, write  # noqa: E402  # found by the path above

for name in sys.argv[1:] or sorted(path.stem for path in (ROOT / "tests/keras3/same").glob("[!_]*.py")):
    cases = cases_of(importlib.import_module(f"tests.keras3.same.{name}"))
    write(name, {case: function(keras) for case, function in cases.items()})
    print(name, len(cases), "cases")
