"""SIGTERM and Ctrl-C while a `fit` runs: noted, for the run to end after the present step."""

from __future__ import annotations

import signal
import threading
from typing import Any


class StopSignals:
    """Notes SIGINT and SIGTERM between `listen` and `restore`. A second SIGINT raises KeyboardInterrupt."""

    def __init__(self) -> None:
        self.has_come = False
        self._handlers: dict[int, Any] = {}  # those of before, by signal

    def listen(self) -> None:
        """Note signals from now on; only in the main thread, and none that is ignored."""
        if threading.current_thread() is not threading.main_thread():
            return  # Python takes signals in the main thread alone
        for number in (signal.SIGINT, signal.SIGTERM):
            # None is a handler that Python did not set and cannot put back.
            if signal.getsignal(number) not in (signal.SIG_IGN, None):
                self._handlers[number] = signal.signal(number, self._note)

    def _note(self, number: int, frame: Any) -> None:
        if self.has_come and number == signal.SIGINT:
            raise KeyboardInterrupt
        self.has_come = True

    def restore(self) -> None:
        """Put the handlers of before back."""
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self._handlers = {}
