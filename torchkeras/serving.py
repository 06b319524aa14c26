"""`serve`: single requests of many threads, gathered to batches."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable
from concurrent.futures import Future, InvalidStateError
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np
import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

from torchkeras.base.arrays import as_numbers, to_numpy
from torchkeras.base.rules import AT_LEAST_0, integer, known_options, read
from torchkeras.base.texts import STRING, keras_shape
from torchkeras.engine.fit.methods import FLOATS, predict_at_once, takes_at_once
from torchkeras.engine.graph.fold_batch_norm import folds
from torchkeras.engine.graph.network import Network
from torchkeras.engine.graph.trace import is_connected
from torchkeras.engine.symbolic.tensor import fits_shape
from torchkeras.models import Model

__all__ = ["Server", "serve"]


class _Request(Future[Any]):
    """A sample, and the answer to it. Requests of one `kind` fit into one batch."""

    arrays: list[Any]
    form: Any = None
    kind: Any = None
    taken_back = False

    def cancel(self) -> bool:
        self.taken_back = super().cancel()
        return self.taken_back

    def formed(self, arrays: list[Any]) -> Any:
        """Arrays in the form of the sample: the names of a dict, the length of a list, None for a single array."""
        if self.form is None:
            return arrays[0]
        return arrays if isinstance(self.form, int) else dict(zip(self.form, arrays, strict=True))


class Server:
    """The result of `serve`: call it with one sample, from any thread."""

    def __init__(self, model: Model, max_batch: int = 32, max_delay: float = 0.0):
        if not isinstance(model, Model):
            raise TypeError(f"serve: model must be a Model; found {model!r:.200}.")
        self._model = model
        self._most = read("serve", "max_batch", integer(1), max_batch)
        self._delay = read("serve", "max_delay", AT_LEAST_0, max_delay)
        self._shapes = _sample_shapes(model)
        inputs = [] if self._shapes is None else model.inputs
        # The shape of a sample of each input of strings, by its index.
        self._of_strings = {k: keras_shape(t)[1:] for k, t in enumerate(inputs) if t.dtype == STRING}
        self._is_plain = type(model).predict is Model.predict and not (is_connected(model) and any(folds(model)))
        self._arriving: SimpleQueue[_Request | None] = SimpleQueue()  # None is the last
        self._waiting: list[_Request] = []  # what has arrived; only the thread uses it
        self._closed = self._ended = False
        self._process, self._own_thread = os.getpid(), 0
        self._thread = threading.Thread(target=self._work, name=f"serve {model.name}", daemon=True)
        self._thread.start()

    def __call__(self, x: Any, timeout: float | None = None) -> Any:
        """The outputs for one sample, once its batch is computed.

        Arguments:
            x (array, list or dict): the sample, in the form that `predict` takes, without the batch axis.
            timeout (number or None, default None): the seconds to wait; None waits as long as it takes.

        Returns:
            The same as `predict`, without the batch axis.

        Errors:
            ValueError: the sample has another shape than the model's inputs, or does not hold numbers.
            RuntimeError: the server is closed, or was made before this process was forked; or the call is made by the
                server's own thread, in a callback of a future, and would wait for itself: use `submit` there.
            TimeoutError: the answer does not come in time.
        """
        if threading.get_ident() == self._own_thread:
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
        """The same without waiting: a `concurrent.futures.Future` of the outputs, which you can `cancel`."""
        request = _Request()
        if type(x) is np.ndarray and x.dtype in FLOATS and self._shapes == [x.shape]:  # at once, as clients are many
            request.arrays = [x]
        else:
            self._look_at(x, request)
        if os.getpid() != self._process and not self._closed:
            raise RuntimeError(
                f"serve: the server of {self._model.name!r} has no thread in this process, which was forked from that "
                "of the server: call serve after the fork."
            )
        if not self._closed:
            self._arriving.put(request)
        if self._closed and request.cancel():  # it came too late, or may have: nobody will look at it
            raise RuntimeError(f"serve: the server of {self._model.name!r} is closed.")
        return request

    def close(self) -> None:
        """Answer the waiting requests, and end. Later requests are refused. In a future's callback it does not wait."""
        self._closed = True
        self._arriving.put(None)
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _look_at(self, x: Any, request: _Request) -> None:
        """Give a request the arrays of a sample, and their form."""
        request.form, given = self._form_of(x)
        request.arrays = arrays = [self._array(index, each) for index, each in enumerate(given)]
        self._check_shapes([array.shape for array in arrays])
        request.kind = [request.form, *((array.shape, array.dtype) for array in arrays)]

    def _array(self, index: int, value: Any) -> np.ndarray:
        """The value of the input of that index as an array."""
        if index in self._of_strings:
            strings = np.asarray(value, dtype=object)
            return strings.reshape(1) if strings.ndim == 0 and self._of_strings[index] == (1,) else strings
        numbers = as_numbers(value, "serve: a sample")
        return to_numpy(numbers) if isinstance(numbers, torch.Tensor) else numbers

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
        if self._shapes is None or found == self._shapes:
            return
        if len(found) != len(self._shapes) or not all(map(fits_shape, found, self._shapes)):
            raise ValueError(
                f"serve: a sample for {self._model.name!r} has arrays of the shapes {self._shapes}, without a batch "
                f"axis; found {found}."
            )

    def _work(self) -> None:
        self._own_thread = threading.get_ident()
        while requests := self._next():
            self._answer(requests)

    def _next(self) -> list[_Request]:
        """The next batch: requests of one kind, the oldest among them. None are left once the server is closed."""
        while waiting := self._gathered():
            kind, taken, self._waiting = waiting[0].kind, list[_Request](), list[_Request]()
            for request in waiting:
                if request.taken_back:
                    request.set_running_or_notify_cancel()
                elif request.kind == kind and len(taken) < self._most:
                    taken.append(request)
                else:
                    self._waiting.append(request)
            if taken:
                return taken
        return []

    def _gathered(self) -> list[_Request]:
        """All that waits: a request, and others that came until they were enough or the delay was over."""
        waiting, until = self._waiting, time.monotonic() + self._delay
        while len(waiting) < self._most and not self._ended:
            try:
                if not waiting:
                    request = self._arriving.get()
                    until = time.monotonic() + self._delay
                elif self._delay and (left := until - time.monotonic()) > 0:
                    request = self._arriving.get(timeout=left)
                else:
                    request = self._arriving.get_nowait()
            except Empty:
                break
            if request is None:
                self._ended = True
            else:
                waiting.append(request)
        return waiting

    def _answer(self, requests: list[_Request]) -> None:
        try:
            answers = self._answers(requests)
        except BaseException as error:  # noqa: BLE001  # of whatever kind, a SystemExit too, it is the answer
            if len(requests) > 1:  # each its own: another sample may be the one that fails
                for request in requests:
                    self._answer([request])
            elif requests[0].set_running_or_notify_cancel():
                requests[0].set_exception(error)
            return
        for request, answer in zip(requests, answers, strict=True):
            try:
                request.set_result(answer)
            except InvalidStateError:  # it was taken back meanwhile
                request.set_running_or_notify_cancel()

    def _answers(self, requests: list[_Request]) -> Iterable[Any]:
        """The outputs for each of some samples of one kind."""
        size = len(requests)
        arrays = [np.stack(each) for each in zip(*(request.arrays for request in requests), strict=True)]
        if self._is_plain and requests[0].form is None and takes_at_once(self._model._training, arrays[0], size):
            outputs = predict_at_once(self._model._training, arrays[0])
        else:
            outputs = self._model.predict(requests[0].formed(arrays), batch_size=size)
        if isinstance(outputs, np.ndarray):
            return outputs
        leaves, structure = tree_flatten(outputs)
        return [tree_unflatten([leaf[place] for leaf in leaves], structure) for place in range(size)]


@known_options
def serve(model: Model, max_batch: int = 32, max_delay: float = 0.0) -> Server:
    """Answer single requests from many threads in batches.

    A batch is computed when it has `max_batch` samples, or when its first one has waited for `max_delay` seconds.
    Without a delay it has the samples that came while the previous batch was computed, which suits callers that wait
    for answers. Each request gets the outputs of its own sample, or its own error. Samples of different shapes go into
    different batches.

    Arguments:
        model (Model): the model that predicts. You may train it meanwhile: each answer is computed with the weights of
            that moment.
        max_batch (positive integer, default 32): the most samples of a batch.
        max_delay (number of at least 0, default 0): the seconds that a sample may wait for more samples.

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
    shapes = [keras_shape(tensor) for tensor in model.inputs]
    if any(shape[0] is not None for shape in shapes):
        raise ValueError(f"serve: the inputs of {model.name!r} have a fixed batch size; found the shapes {shapes}.")
    return [shape[1:] for shape in shapes]
