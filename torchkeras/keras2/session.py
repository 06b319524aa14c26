"""`K.get_session()` for scripts of Keras on TensorFlow: what they run is computed here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torchkeras import backend as K
from torchkeras.engine.layer.symbolic import KerasTensor, as_list


class Session:
    """Computes symbolic tensors for values of others, and tells the values of variables."""

    def run(self, fetches: Any, feed_dict: Mapping[Any, Any] | None = None) -> Any:
        """The values of tensors, a list for a list.

        Arguments:
            fetches (tensor or list): symbolic tensors, variables and tensors with values.
            feed_dict (dict or None, default None): arrays by symbolic tensor, and 0 or 1 for `K.learning_phase()`.

        Errors:
            ValueError: a tensor depends on an Input that `feed_dict` lacks.
        """
        fed = {key: value for key, value in (feed_dict or {}).items() if isinstance(key, KerasTensor)}
        found = K.function(list(fed), as_list(fetches))(list(fed.values()))
        return found if isinstance(fetches, (list, tuple)) else found[0]

    def close(self) -> None:
        """Nothing: a session holds nothing."""


SESSION = Session()


def get_session() -> Session:
    """The session, always the same."""
    return SESSION
