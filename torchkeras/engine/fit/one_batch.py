"""Training and testing on one batch: `train_on_batch`, `test_on_batch`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch

from torchkeras.base.rules import FLAG_OR_DIGIT, check
from torchkeras.callbacks.base import CallbackList
from torchkeras.callbacks.logs import Logs
from torchkeras.engine.data.batch import ArrayData, Batch
from torchkeras.engine.fit import runs
from torchkeras.engine.fit.custom_steps import own_step
from torchkeras.engine.fit.distributing import check_unwrapped
from torchkeras.engine.fit.epoch import Executions, Sums, ordered, results, run_epoch
from torchkeras.engine.fit.opening import Opening
from torchkeras.engine.fit.turns import one_trains
from torchkeras.engine.step.step import AS_IT_IS
from torchkeras.engine.symbolic.tensor import unpacked

COUNTING: Counter[int] = Counter()  # how many of `fit`, `evaluate` and the like count in a metric now, by its id


class OneBatch(Opening, abstract=True):
    """Training and testing on one batch, added to a network."""

    @one_trains
    def train_on_batch(
        self,
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
        class_weight: Any = None,
        return_dict: bool = False,
        reset_metrics: bool = True,
    ) -> Any:
        """One update on one batch.

        Arguments:
            x (array, list or dict): the inputs.
            y (array, list or dict, default None): the targets.
            sample_weight (array or None, default None): a weight for each sample.
            class_weight (dict or None, default None): a weight for each class number.
            return_dict (bool, default False): whether to return the numbers by name.
            reset_metrics (bool, default True): whether metrics with a state count this batch alone; False counts what
                they counted before as well, since `reset_metrics()`, `fit` or `evaluate`.

        Returns:
            The loss as a float; with metrics a list in the order of `metrics_names`, or with `return_dict` a dict.

        Errors:
            RuntimeError: the model is not compiled, or the user has wrapped it for several processes.
            ValueError: the data does not fit the model.

        Example:
            >>> model = Sequential([Dense(1, input_shape=(2,), kernel_initializer="ones")])
            >>> model.compile("sgd", "mse")
            >>> model.train_on_batch(np.ones((4, 2)), np.zeros((4, 1)))
            4.0

        Source: https://keras.io/api/models/model_training_apis/
        """
        check("train_on_batch", FLAG_OR_DIGIT, return_dict=return_dict, reset_metrics=reset_metrics)
        batch = self._one_batch("train_on_batch", x, y, sample_weight, class_weight)
        compiled = self._ready()
        if compiled.guard is not None:
            compiled.guard.begin()
        together = self._together("train_on_batch", once=compiled, samples=batch.whole)
        counting = self._counting("train_on_batch", reset_metrics)
        with together, self._collected(compiled), self._mode(True), counting:
            numbers = self._numbers("train", batch, return_dict)
        runs.look_at(compiled, self, "train_on_batch")
        return numbers

    def test_on_batch(
        self, x: Any, y: Any = None, sample_weight: Any = None, return_dict: bool = False, reset_metrics: bool = True
    ) -> Any:
        """The loss and metrics on one batch, in evaluation mode.

        Arguments:
            x (array, list or dict): the inputs.
            y (array, list or dict, default None): the targets.
            sample_weight (array or None, default None): a weight for each sample.
            return_dict (bool, default False): whether to return the numbers by name.
            reset_metrics (bool, default True): whether metrics with a state count this batch alone; False counts what
                they counted before as well, since `reset_metrics()`, `fit` or `evaluate`.

        Returns:
            The loss as a float; with metrics a list in the order of `metrics_names`, or with `return_dict` a dict.

        Errors:
            RuntimeError: the model is not compiled, or the user has wrapped it for several processes.
            ValueError: the data does not fit the model.

        Source: https://keras.io/api/models/model_training_apis/
        """
        check("test_on_batch", FLAG_OR_DIGIT, return_dict=return_dict, reset_metrics=reset_metrics)
        batch = self._one_batch("test_on_batch", x, y, sample_weight)
        together = self._together("test_on_batch", once=self._ready(), samples=batch.whole)
        with together, self._mode(False), torch.no_grad(), self._counting("test_on_batch", reset_metrics):
            return self._numbers("test", batch, return_dict)

    def _one_batch(self, method: str, x: Any, y: Any, sample_weight: Any, class_weight: Any = None) -> Batch:
        check_unwrapped(self, method)
        self._check_compiled()
        data = ArrayData(*self._intake(class_weight).arrays(x, y, sample_weight), device=self._device)
        self._check_batches(len(data), len(data), method)
        batch = next(data.batches(len(data), "sequential"))
        return batch if self._processes is None else self._processes.part.of(batch)

    def _numbers(self, kind: str, batch: Batch, by_name: bool) -> Any:
        step, kept, owned = self._step(kind), self._ready().kept, own_step(self, kind) is not None
        if self._processes is None:
            values = step(batch)
            found = {**values, **results(kept, values if owned else kept)}
        else:
            sums = Sums(kept, owned, processes=self._processes)
            run_epoch(step, [batch], sums, Executions(CallbackList(), kind, 1))
            found = sums.means()
        numbers = Logs(ordered(found, self.metrics_names)).copy()
        return numbers if by_name else unpacked(list(numbers.values()))

    def reset_metrics(self) -> None:
        """Set the metrics with a state to zero; `fit`, `evaluate` and each single batch do so when they begin."""
        for metric in self._ready().kept.values():
            metric.reset_state()

    def _counting(self, method: str, reset: bool) -> AbstractContextManager[None]:
        """Metrics with a state count what is inside the block, by itself if they are `reset`."""
        return self._counted_apart(method, reset) if self._ready().kept else AS_IT_IS

    @contextmanager
    def _counted_apart(self, method: str, reset: bool | None = None) -> Iterator[None]:
        """What metrics have counted of something under way, in this model or another, is put by for the block.

        `reset`: whether those that count nothing else begin at 0; None leaves it to the block.
        """
        counting = self._ready().kept
        with self._in_turn(method) if counting else nullcontext():
            under_way = {name: metric for name, metric in counting.items() if id(metric) in COUNTING}
            if under_way and reset is False:
                raise ValueError(
                    f"{method}: reset_metrics=False would go on with what the metrics have counted of the epoch of "
                    "`fit` that is under way: leave it away."
                )
            states = {name: metric.state_dict() for name, metric in under_way.items()}
            for name, metric in counting.items():
                if name in under_way or (reset and metric._resets_by_batch):
                    metric.reset_state()
            ids = Counter(map(id, counting.values()))
            COUNTING.update(ids)
            try:
                yield
            finally:
                COUNTING.subtract(ids)
                for each in [each for each in ids if not COUNTING[each]]:
                    del COUNTING[each]
                for name, state in states.items():
                    counting[name].load_state_dict(state)
