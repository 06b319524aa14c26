"""`serve`: single requests of many threads, gathered to batches."""

from __future__ import annotations

import threading
import time
from collections import deque
from concurrent.futures import Future
from typing import Any

import numpy as np
import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

from torchkeras.base.arrays import as_numbers, to_numpy
from torchkeras.base.rules import AT_LEAST_0, integer, read
from torchkeras.engine.graph.network import Network
from torchkeras.engine.graph.trace import is_connected
from torchkeras.engine.symbolic.tensor import fits_shape
from torchkeras.models import Model

__all__ = ["Server", "serve"]


class _Request:
    """A sample, and the answer to it."""

    def __init__(self, arrays: list[Any], form: Any):
        self.arrays, self.form = arrays, form
        self.kind = (str(form), *((array.shape, array.dtype) for array in arrays))  # of what fits into one batch
        self.answer: Future[Any] = Future()

    def formed(self, arrays: list[Any]) -> Any:
        """Arrays in the form of the sample: the names of a dict, the length of a list, None for a single array."""
        if self.form is None:
            return arrays[0]
        return arrays if isinstance(self.form, int) else dict(zip(self.form, arrays, strict=True))


class Server:
    """What `serve` gives: call it with one sample, from any thread."""

    def __init__(self, model: Model, max_batch: int = 32, max_delay: float = 0.002):
        if not isinstance(model, Model):
            raise TypeError(f"serve: model must be a Model; found {model!r:.200}.")
        self._model = model
        self._most = read("serve", "max_batch", integer(1), max_batch)
        self._delay = read("serve", "max_delay", AT_LEAST_0, max_delay)
        self._shapes = _sample_shapes(model)
        self._waiting: deque[_Request] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name=f"serve {model.name}", daemon=True)
        self._thread.start()

    def __call__(self, x: Any, timeout: float | None = None) -> Any:
        """The outputs for one sample, once its batch is computed.

        Arguments:
            x (array, list or dict): the sample, in the form that `predict` takes, without the batch axis.
            timeout (number or None, default None): the seconds to wait; None waits as long as it takes.

        Returns:
            What `predict` gives, without the batch axis.

        Errors:
            ValueError: the sample has another shape than the model's inputs, or does not hold numbers.
            RuntimeError: the server is closed, or was made before this process was forked; or the call is made by the
                server's own thread, in a callback of a future, and would wait for itself: use `submit` there.
            TimeoutError: there is no answer in time.
        """
        if threading.current_thread() is self._thread:
            raise RuntimeError(
                f"serve: the server of {self._model.name!r} was called in its own thread, and would wait for itself: "
                "use submit in a callback."
            )
        answer = self.submit(x)
        try:
            return answer.result(timeout)
        except TimeoutError:
            answer.cancel()
            raise

    def submit(self, x: Any) -> Future[Any]:
        """As a call, without waiting: a `concurrent.futures.Future` of the outputs, which `cancel` takes back."""
        request = self._request(x)
        if not (self._closed or self._thread.is_alive()):
            raise RuntimeError(
                f"serve: the server of {self._model.name!r} has no thread in this process, which was forked from that "
                "of the server: call serve after the fork."
            )
        with self._changed:
            if self._closed:
                raise RuntimeError(f"serve: the server of {self._model.name!r} is closed.")
            self._waiting.append(request)
            self._changed.notify()
        return request.answer

    def close(self) -> None:
        """Answer what waits, and end. Later requests are refused. A callback of a future does not wait for the end."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _request(self, x: Any) -> _Request:
        form, given = self._form_of(x)
        numbers = [as_numbers(each, "serve: a sample") for each in given]
        arrays = [to_numpy(each) if isinstance(each, torch.Tensor) else each for each in numbers]
        self._check_shapes([array.shape for array in arrays])
        return _Request(arrays, form)

    def _form_of(self, x: Any) -> tuple[Any, list[Any]]:
        """The form of a sample, as `_Request` has it, and the values of its inputs."""
        if isinstance(x, dict):
            names = list(x) if self._shapes is None else self._model.input_names
            if set(x) != set(names):
                raise ValueError(f"serve: {self._model.name!r} has the inputs {names}; found {list(x)}.")
            return names, [x[name] for name in names]
        if isinstance(x, (list, tuple)) and (self._shapes is None or len(self._shapes) > 1):
            return len(x), list(x)
        return None, [x]

    def _check_shapes(self, found: list[tuple[int, ...]]) -> None:
        """Raise ValueError if the arrays of a sample do not fit the model's inputs, where their shapes are known."""
        if self._shapes is None:
            return
        if len(found) != len(self._shapes) or not all(map(fits_shape, found, self._shapes)):
            raise ValueError(
                f"serve: a sample for {self._model.name!r} has arrays of the shapes {self._shapes}, without a batch "
                f"axis; found {found}."
            )

    def _work(self) -> None:
        while requests := self._next():
            self._answer([each for each in requests if each.answer.set_running_or_notify_cancel()])

    def _next(self) -> list[_Request]:
        """The next batch: requests of one kind, the oldest among them. None are left once the server is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed)
            if not self._waiting:
                return []
            until = time.monotonic() + self._delay
            while len(self._waiting) < self._most and not self._closed and (left := until - time.monotonic()) > 0:
                self._changed.wait(left)
            kind, taken, others = self._waiting[0].kind, [], deque[_Request]()
            for request in self._waiting:
                (taken if request.kind == kind and len(taken) < self._most else others).append(request)
            self._waiting = others
            return taken

    def _answer(self, requests: list[_Request]) -> None:
        if not requests:
            return
        try:
            arrays = [np.stack(each) for each in zip(*(request.arrays for request in requests), strict=True)]
            leaves, structure = tree_flatten(self._model.predict(requests[0].formed(arrays), batch_size=len(requests)))
        except BaseException as error:  # noqa: BLE001  # of whatever kind, a SystemExit too, it is the answer
            if len(requests) == 1:
                requests[0].answer.set_exception(error)
            else:  # each its own: another sample may be the one that fails
                for request in requests:
                    self._answer([request])
            return
        for place, request in enumerate(requests):
            request.answer.set_result(tree_unflatten([leaf[place] for leaf in leaves], structure))


def serve(model: Model, max_batch: int = 32, max_delay: float = 0.002) -> Server:
    """Answer single requests of many threads by batches of them.

    A batch is computed when it has `max_batch` samples, or when its first one has waited for `max_delay` seconds. Each
    request gets the outputs of its own sample, or its own error. Samples of different shapes go into different batches.

    Arguments:
        model (Model): what predicts. It may be trained meanwhile; an answer has the weights of that moment.
        max_batch (positive integer, default 32): the most samples of a batch.
        max_delay (number of at least 0, default 0.002): the seconds that a sample may wait for others.

    Returns:
        A `Server`: `server(x)` gives the outputs, `server.submit(x)` a future of them, `server.close()` ends it, as the
        end of a `with` block does.

    Errors:
        ValueError: an option has a bad value; the model keeps states from batch to batch, or has a fixed batch size.

    Example:
        >>> model = Sequential([Dense(1, input_shape=(2,), kernel_initializer="ones")])
        >>> with serve(model) as server:
        ...     server(np.ones(2)).tolist()
        [2.0]
    """
    return Server(model, max_batch, max_delay)


def _sample_shapes(model: Model) -> list[tuple[int | None, ...]] | None:
    """The shapes of one sample, of each input; None where they are not known."""
    if any(getattr(layer, "stateful", False) for layer in model.modules() if layer is not model):
        raise ValueError(f"serve: {model.name!r} keeps states from batch to batch: samples would get each other's.")
    if not (isinstance(model, Network) and is_connected(model)):
        return None
    shapes = [tuple(tensor.shape) for tensor in model.inputs]
    if any(shape[0] is not None for shape in shapes):
        raise ValueError(f"serve: the inputs of {model.name!r} have a fixed batch size; found the shapes {shapes}.")
    return [shape[1:] for shape in shapes]
