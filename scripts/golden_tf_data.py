"""What genuine TensorFlow's `tf.data` returns for the cases in `tests/tensorflow2/same/data.py`, into `tests/golden`.

    python scripts/golden_tf_data.py

Run it where TensorFlow 2 is installed. The tests call the same functions with this package and compare.
"""

import gzip
import importlib
import json
import sys
from pathlib import Path

import tensorflow as tf

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.keras3.same_results import cases_of, plain  # noqa: E402  # found by the path above

results = {
    case: plain(function(tf))
    for case, function in cases_of(importlib.import_module("tests.tensorflow2.same.data")).items()
}
place = ROOT / "tests/golden/tensorflow2/data.json.gz"
place.parent.mkdir(exist_ok=True)
place.write_bytes(gzip.compress(json.dumps(results, sort_keys=True).encode(), mtime=0))
print(len(results), "cases by TensorFlow", tf.__version__)
