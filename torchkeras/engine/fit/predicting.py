"""Predicting: `predict`, on all samples or on one batch, and a copy of the model that does nothing else."""

from __future__ import annotations

from functools import partial
from operator import is_
from typing import Any

import numpy as np
import torch

from torchkeras.base.arrays import as_tensor, to_numpy
from torchkeras.base.rules import FLAG_OR_DIGIT, check
from torchkeras.base.shards import refuse
from torchkeras.callbacks.given import as_callbacks
from torchkeras.engine.data.batch import Batch
from torchkeras.engine.data.sources.arrays import ArraySource
from torchkeras.engine.fit import runs
from torchkeras.engine.fit.custom_steps import Extending, on_batch
from torchkeras.engine.fit.distributing import check_unwrapped
from torchkeras.engine.fit.model_data import Intake
from torchkeras.engine.fit.opening import Opening
from torchkeras.engine.graph.call_forms import in_form
from torchkeras.engine.graph.fold_batch_norm import Merged, frozen, keeps_no_tensor
from torchkeras.engine.graph.hook_free_calls import HookFreeCalls
from torchkeras.engine.graph.network import Network
from torchkeras.engine.speed.choose import compile_options
from torchkeras.engine.speed.compiled_steps import Running
from torchkeras.engine.step.step import predict_step
from torchkeras.engine.symbolic.tensor import as_list, fits_shape, unpacked
from torchkeras.world.processes import has_group

WORTH_A_LOOK = 32  # batches, of each of which inference_mode takes a few percent off: from there on a look pays
FLOATS = (np.dtype("float32"), np.dtype("float64"))
PLAIN = (None, 0, None, None, 10, 1, False, True)  # the options of `predict` as they are where nobody gives any


class Predicting(Opening, abstract=True):
    """Predicting, added to a network."""

    def predict(
        self,
        x: Any,
        batch_size: int | None = None,
        verbose: int | str = 0,
        steps: int | None = None,
        callbacks: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        gather: bool = True,
    ) -> Any:
        """The outputs for all samples as NumPy arrays, in evaluation mode.

        Where there are enough samples, and neither a hook nor a callback could notice, batch normalizations are folded
        into the layers before them with the present weights; see `freeze_for_inference`.

        Arguments:
            x (data): the inputs in the forms that `fit` takes; targets in its batches are ignored.
            batch_size (positive integer or None, default None): samples in a batch; None is 32, or the batch size that
                the model's inputs have.
            verbose (0, 1, 2 or "auto", default 0): 0 shows nothing, 1 and "auto" a bar, 2 a line.
            steps (positive integer or None, default None): the number of batches; None takes all. A generator needs it.
            callbacks (callback or list, default None): what is called during the prediction.
            max_queue_size (positive integer, default 10): how many batches of a `Sequence` or generator are made ahead.
            workers (integer of at least 0, default 1): how many threads or processes make these batches.
            use_multiprocessing (bool, default False): whether they are processes, not threads.
            gather (bool, default True): where several processes share the batches, whether each of them gets the
                outputs of all; False gives each those that it computed. One process has all in any case.

        Returns:
            An array; for several outputs a list, or the form that the model was made with.

        Errors:
            ValueError: the data does not fit the model, or an option has a bad value; the outputs of several processes
                cannot be joined.

        Example:
            >>> model = Sequential([Dense(1, input_shape=(2,), kernel_initializer="ones")])
            >>> model.predict(np.ones((3, 2))).tolist()
            [[2.0], [2.0], [2.0]]

        Source: https://keras.io/api/models/model_training_apis/
        """
        options = (batch_size, verbose, steps, callbacks, max_queue_size, workers, use_multiprocessing, gather)
        if all(map(is_, options, PLAIN)) and type(x) is np.ndarray and self._takes_at_once(x):
            return self._predicted_at_once(x)
        check("predict", FLAG_OR_DIGIT, gather=gather)
        check_unwrapped(self, "predict")
        made = {"workers": workers, "use_multiprocessing": use_multiprocessing, "max_queue_size": max_queue_size}
        own = type(self).predict_step is not Extending.predict_step
        source = self._source(
            Intake(self), x, batch_size=batch_size, shuffle=None, steps=steps, method="predict", raw=own, **made
        )
        if gather and source.divided:
            raise ValueError(
                "predict: a DataLoader with a DistributedSampler gives each process samples of which the order is not "
                "known. Give the DataLoader without it, which is divided here, or gather=False."
            )
        try:
            with self._together("predict", source, gather=gather), self._mode(False):
                # A callback may change weights between two batches: what was folded before them would be out of date.
                graphed = None if own else self._predicting_compiled()
                alone = not (own or graphed or as_callbacks(callbacks))
                network = self._computing
                run: Any = graphed or (Merged(network, source.samples) if alone else HookFreeCalls(network))
                step = self._own_prediction if own else lambda batch: predict_step(run.run, batch.inputs)
                processes = None if source.part is None else self._processes
                long = isinstance(source, ArraySource) and source.steps >= WORTH_A_LOOK
                with torch.inference_mode() if alone and long and keeps_no_tensor(run) else torch.no_grad():
                    hooks = self._hooks(callbacks, source, verbose)
                    outputs = runs.predict(step, source, hooks, self.steps_per_execution, processes, gather)
                    return in_form(self._output_form, unpacked(outputs))
        finally:
            source.close()

    def _takes_at_once(self, x: np.ndarray) -> bool:
        """Whether an array is one sample of what the graph takes: there is nothing to be looked at or changed."""
        taken = None if self._graph is None or self._computing is not self else self._graph.one_sample
        return (
            taken is not None
            and x.dtype in FLOATS
            and (x.shape == taken or fits_shape(x.shape, taken))
            and self._input_form is None
            and type(self).predict_step is Extending.predict_step
            and not has_group()
            and compile_options(self._given.jit_compile, self._given.cuda_graph) is None
        )

    def _predicted_at_once(self, x: np.ndarray) -> Any:
        """The outputs for one sample, for which all that `predict` does beside would take longer than the model."""
        device, dtype = self._place
        with self._mode(False, device), torch.set_grad_enabled(False):
            outputs = self._call_module(as_tensor(x).to(device, dtype))
            found = [np.array(to_numpy(each)) for each in as_list(outputs)]  # not in memory of the model's own
        return in_form(self._output_form, unpacked(found))

    def _predicting_compiled(self) -> Running | None:
        """What predicts compiled by torch, where `compile` said so; the modules are looked at again."""
        options = compile_options(self._given.jit_compile, self._given.cuda_graph)
        if options is None:
            return None
        compiled = self._ready()
        if compiled.predicting is None:
            compiled.predicting = Running(options, on_cuda=self._given.cuda_graph is True)
        compiled.predicting.calls = HookFreeCalls(self._computing)
        return compiled.predicting

    def _own_prediction(self, batch: Batch) -> list[Any]:
        """The outputs by the user's `predict_step`: of checked inputs, or of a batch as its loader made it."""
        data = (unpacked(batch.inputs),) if batch.raw is None else batch.raw
        return as_list(on_batch(f"{type(self).__name__}.predict_step", batch, partial(self.predict_step, data)))

    def predict_on_batch(self, x: Any) -> Any:
        """The outputs for one batch, in evaluation mode.

        Arguments:
            x (array, list or dict): the inputs.

        Returns:
            What `predict` returns.

        Source: https://keras.io/api/models/model_training_apis/
        """
        return self.predict(x, batch_size=max(1, len(Intake(self).inputs(x)[0])))

    def freeze_for_inference(self) -> Network:
        """A copy for inference alone, with batch normalizations folded into the layers before them.

        A BatchNormalization that follows a convolution or Dense without activation, both called once and the first used
        by nothing else, becomes part of that layer. Its kernel is `kernel * scale` and its bias `(bias - moving_mean) *
        scale + beta`, with the scale `gamma / sqrt(moving_variance + epsilon)` of each channel. The outputs are the
        model's in evaluation but for rounding. Layers with hooks, or of classes of your own, stay as they are.

        The copy is in evaluation mode, its weights record no gradients, and later changes of the model do not reach it.
        It has the layers by their names. It can be called, moved, copied, pickled, compiled by torch and read
        (`frozen.code`). It has no `fit`, `predict` or `save`. Its `state_dict` is that of the folded layers. A model
        whose class has a `forward` or `call` of its own, or that has hooks, is copied as it is.

        Returns:
            A torch module with the model's inputs and outputs.

        Errors:
            RuntimeError: the model has no input shape yet.

        Example:
            >>> model = Sequential([Dense(2, input_shape=(4,)), BatchNormalization()])
            >>> len(model.freeze_for_inference().state_dict())
            2
        """
        refuse(self.parameters(), "freeze_for_inference")
        with self._mode(False), torch.no_grad():
            made = frozen(self)
        return made.eval()
