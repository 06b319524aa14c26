"""`K.get_session()` for scripts of Keras on TensorFlow: what they run is computed here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torchkeras.engine.symbolic.tensor import KerasTensor, as_list
from torchkeras.keras2 import backend as K


class Session:
    """Computes symbolic tensors for values of others, and tells the values of variables.

    Arguments:
        options: those of TensorFlow's sessions, such as `config`; torch takes its memory and threads as it needs them.
    """

    graph = None

    def __init__(self, *options: Any, **named: Any) -> None:
        pass

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *error: Any) -> None:
        pass

    def as_default(self) -> Session:
        """The session itself, as a block."""
        return self

    def run(self, fetches: Any, feed_dict: Mapping[Any, Any] | None = None) -> Any:
        """The values of tensors, a list for a list.

        Arguments:
            fetches (tensor, list or None): symbolic tensors, variables and tensors with values; None, which an
                initializer of variables is here, for nothing.
            feed_dict (dict or None, default None): arrays by symbolic tensor, and 0 or 1 for `K.learning_phase()`.

        Errors:
            ValueError: a tensor depends on an Input that `feed_dict` lacks.
        """
        if fetches is None:
            return None
        fed = {key: value for key, value in (feed_dict or {}).items() if isinstance(key, KerasTensor)}
        found = K.function(list(fed), as_list(fetches))(list(fed.values()))
        return found if isinstance(fetches, (list, tuple)) else found[0]

    def close(self) -> None:
        """Nothing: a session holds nothing."""


SESSION = Session()


def set_session(session: Any) -> None:
    """Nothing: what a session is made for here, its options, torch does without."""


def get_session() -> Session:
    """The session, always the same."""
    return SESSION
