"""What genuine TensorFlow 2.15 returns for the cases in `tests/tensorflow2/same`, into `tests/golden/tensorflow2`.

    python scripts/golden_tensorflow2.py [functions ...]

Run it where TensorFlow 2.15 is installed. A case is a function of the module `tensorflow`; the tests call the same
function with what `torchkeras run --as tensorflow` answers, and compare.
"""

import importlib
import sys
from pathlib import Path

import tensorflow as tf

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.keras3.same_results import cases_of  # noqa: E402  # found by the path above
from tests.tensorflow2.same_tensorflow import FILES, write  # noqa: E402

for name in sys.argv[1:] or FILES:
    cases = cases_of(importlib.import_module(f"tests.tensorflow2.same.{name}"))
    write(name, {case: function(tf) for case, function in cases.items()})
    print(name, len(cases), "cases")
