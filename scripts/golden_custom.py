"""Files of genuine Keras 3.15 with classes of the user's in them, into `tests/golden/keras3-custom`.

    KERAS_BACKEND=torch python scripts/golden_custom.py write
    KERAS_BACKEND=torch python scripts/golden_custom.py read FOLDER

Run it where Keras 3.15 and torch are installed. The classes are those of `tests/keras3/own_classes.py`, on both sides.
`read` loads what this package wrote into a folder by `tests.keras3.own_classes.write(torchkeras.keras3, folder)`, and
says how far predictions and losses are from those written beside.
"""

import sys
from pathlib import Path

import keras

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.keras3.own_classes import differences, write  # noqa: E402  # found by the path above

if sys.argv[1:] == ["write"]:
    write(keras, ROOT / "tests/golden/keras3-custom")
else:
    print(differences(keras, Path(sys.argv[2])))
