"""Whether the code of a user's layer, or the function of a Lambda, is what runs now in this thread."""

from __future__ import annotations

import threading
from typing import Any


class _Code(threading.local):
    """`owner`: the layer whose code runs; None outside of such code, and while a layer makes its weights."""

    owner: Any = None


CODE = _Code()
