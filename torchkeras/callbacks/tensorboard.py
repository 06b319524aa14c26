"""`TensorBoard`: losses, metrics, weights and the model, as files that TensorBoard shows."""

import math
import os
import warnings
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from torchkeras.base.annexes import later
from torchkeras.base.extras import extra
from torchkeras.base.rules import FLAG_OR_DIGIT, NAMES, integer, is_integer, is_number, optional, read, read_path, rule
from torchkeras.callbacks.base import Callback
from torchkeras.callbacks.monitoring import one_number
from torchkeras.callbacks.profiling import begun, ended
from torchkeras.engine.graph.trace import graph_of

if TYPE_CHECKING:
    from torchkeras.callbacks import tensorboard_forms as forms
else:
    forms = later("torchkeras.callbacks.tensorboard_forms")

WRITER = "torch.utils.tensorboard"
WORDS = {"epoch": "epoch", "batch": 1}
UPDATE_FREQ = rule(
    "must be 'epoch', 'batch' or a number above 0",
    lambda v: v in WORDS if isinstance(v, str) else is_number(v) and 0 < v < math.inf,
    lambda v: WORDS[v] if isinstance(v, str) else v,
)
PROFILED = rule(
    "must be an integer of at least 0, or a pair of the first and last batch, counted from 1",
    lambda v: (
        (is_integer(v) and v >= 0)
        or (isinstance(v, (tuple, list)) and len(v) == 2 and all(map(is_integer, v)) and 1 <= v[0] <= v[1])
    ),
    lambda v: ((int(v), int(v)) if v else ()) if is_integer(v) else (int(v[0]), int(v[1])),
)
METADATA = rule(
    "must be a path, or a dictionary from names of layers to paths",
    lambda v: all(
        each is None or isinstance(each, (str, os.PathLike)) for each in (v.values() if isinstance(v, Mapping) else [v])
    ),
)
DATA = rule(
    "must be an array, or a list or dictionary of arrays",
    lambda v: isinstance(v, (list, tuple, Mapping)) or hasattr(v, "__array__"),
)


class TensorBoard(Callback):
    """Writes losses, metrics, weights and the model as event files that TensorBoard shows.

    Options:
        log_dir (path, default "./logs"): the folder of the files.
        histogram_freq (integer of at least 0, default 0): the epochs from one histogram of all weights to the next; 0
            writes none. If `fit` validates on arrays, there are histograms of the outputs of layers too.
        batch_size (positive integer, default 32): the number of validation samples, the first ones, for which these
            outputs are computed, and the batch size for `embeddings_data`.
        write_graph (bool, default True): whether to write the graph of layers, and the generated forward as text.
        write_grads (bool, default False): whether the histograms show the gradients of the epoch's first batch too.
        write_images (bool, default False): whether weights of up to three axes are shown as images too.
        embeddings_freq (integer of at least 0, default 0): the epochs from one plot of points to the next; 0 writes
            none.
        embeddings_layer_names (names or None, default None): the layers whose outputs are the points; None takes all
            Embedding layers.
        embeddings_metadata (path, dict or None, default None): a file in `log_dir` with the labels of the points, or a
            dictionary with such a file for each layer name.
        embeddings_data (arrays or None, default None): the inputs from which the points are computed.
        update_freq ("epoch", "batch" or a positive number, default "epoch"): numbers are written after each epoch,
            after each batch, or once so many samples have been trained on since the last time.
        profile_batch (integer of at least 0 or pair, default 0): the batch to trace by `torch.profiler`, or the first
            and the last one, counted from 1 over all epochs; 0 traces none. TensorBoard shows the trace by its plugin
            `torch-tb-profiler`. When training ends before that batch, a RuntimeWarning says so.

    Errors:
        ImportError: the package tensorboard is missing.
        TypeError: `log_dir` is no path.
        ValueError: an option has a bad value, or needs another option that is missing.

    Example:
        >>> TensorBoard("logs/run_1", histogram_freq=5).log_dir
        'logs/run_1'

    Source: https://keras.io/api/callbacks/tensorboard/
    """

    state_names = ("samples_seen", "samples_seen_at_last_write", "next_step")
    profile_batch: tuple[int, ...] = ()  # the first and the last

    main_only = True
    keeps_records = True

    def __init__(
        self,
        log_dir: Any = "./logs",
        histogram_freq: int = 0,
        batch_size: int = 32,
        write_graph: bool = True,
        write_grads: bool = False,
        write_images: bool = False,
        embeddings_freq: int = 0,
        embeddings_layer_names: Any = None,
        embeddings_metadata: Any = None,
        embeddings_data: Any = None,
        update_freq: int | str = "epoch",
        profile_batch: Any = 0,
    ):
        option = partial(read, "TensorBoard")
        self.log_dir = read_path("TensorBoard", "log_dir", log_dir)
        self.histogram_freq = option("histogram_freq", integer(0), histogram_freq)
        self.batch_size = option("batch_size", integer(1), batch_size)
        self.write_graph = option("write_graph", FLAG_OR_DIGIT, write_graph)
        self.write_grads = option("write_grads", FLAG_OR_DIGIT, write_grads) and self.histogram_freq > 0
        self.write_images = option("write_images", FLAG_OR_DIGIT, write_images)
        self.embeddings_freq = option("embeddings_freq", integer(0), embeddings_freq)
        self.embeddings_layer_names = option("embeddings_layer_names", optional(NAMES), embeddings_layer_names)
        self.embeddings_metadata = option("embeddings_metadata", optional(METADATA), embeddings_metadata)
        self.embeddings_data = option("embeddings_data", optional(DATA), embeddings_data)
        self.update_freq = option("update_freq", UPDATE_FREQ, update_freq)
        self.profile_batch = option("profile_batch", PROFILED, profile_batch)
        for name, asked in (("write_grads", write_grads), ("write_images", write_images)):
            if asked and not histogram_freq:
                warnings.warn(
                    f"TensorBoard: {name} writes along with the histograms, so nothing with histogram_freq=0.",
                    stacklevel=2,
                )
        self._check_embeddings(embeddings_freq, embeddings_layer_names, embeddings_metadata, embeddings_data)
        extra(WRITER, "TensorBoard")
        self.samples_seen = self.samples_seen_at_last_write = self.next_step = 0
        self._writer: Any = None
        self._points: dict[str, tuple[Any, Any]] = {}
        self._gradients: dict[Any, list[torch.Tensor]] = {}
        self._handles: list[Any] = []
        self._batches, self._trace = 0, None  # how many batches of the run have begun; the trace under way
        if self.profile_batch:
            self.needs_each_batch, self.on_batch_begin = True, self._count
        if self.update_freq != "epoch" or self.write_grads or self.profile_batch:
            self.on_batch_end = self._on_batch  # otherwise a batch costs nothing

    @staticmethod
    def _check_embeddings(freq: int, names: Any, metadata: Any, data: Any) -> None:
        given = {"embeddings_layer_names": names, "embeddings_metadata": metadata, "embeddings_data": data}
        if freq and data is None:
            raise ValueError("TensorBoard: embeddings_freq needs embeddings_data, what the points are made of.")
        unused = [name for name, value in given.items() if value is not None and not freq]
        if unused:
            warnings.warn(
                f"TensorBoard: {unused[0]} is for embeddings, of which embeddings_freq=0 writes none.", stacklevel=3
            )

    # --- hooks -------------------------------------------------------------------------------------------------------

    def on_train_begin(self, logs: Any = None) -> None:
        self._batches = 0
        self._open()
        if self.write_graph:
            indented = "\n".join(
                f"    {line}" for line in self.model.code.splitlines()
            )  # Markdown shows indented text as it is
            self._writer.add_text("model/code", indented)
            self._writer.file_writer.add_event(forms.graph_event(graph_of(self.model)))
        if self.embeddings_freq:
            self._points = {layer.name: self._labels(layer.name) for layer in self._embedding_layers()}

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        if self.write_grads and epoch % self.histogram_freq == 0:
            self._listen()

    def _count(self, batch: int, logs: Any = None) -> None:
        self._batches += 1
        if self._batches == self.profile_batch[0]:
            self._trace = begun()

    def _on_batch(self, batch: int, logs: Any = None) -> None:
        if self._trace is not None and self._batches >= self.profile_batch[1]:
            self._end_trace()
        self._stop_listening()
        if self.update_freq == "epoch":
            return
        self.samples_seen += logs["size"]
        if self.samples_seen - self.samples_seen_at_last_write >= self.update_freq:  # type: ignore[operator]
            self._write(logs, self.samples_seen)
            self.samples_seen_at_last_write = self.samples_seen

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if self.histogram_freq and epoch % self.histogram_freq == 0:
            self._write_weights(epoch)
            self._write_outputs(epoch)
            if self.write_grads:
                self._write_gradients(epoch)
        if self.embeddings_freq and epoch % self.embeddings_freq == 0:
            self._write_points(epoch)
        self._write_epoch(epoch, logs or {})

    def on_train_end(self, logs: Any = None) -> None:
        self.abandon()
        if self.profile_batch and self._batches < self.profile_batch[0]:
            warnings.warn(
                f"TensorBoard: no batch was traced, since training had {self._batches} batches, and profile_batch "
                f"begins with batch {self.profile_batch[0]}.",
                RuntimeWarning,
                stacklevel=2,
            )

    def abandon(self) -> None:
        """Called when `fit` ends, even by an error: end the trace, and the thread that writes."""
        self._end_trace()
        self._stop_listening()
        if self._writer is not None:
            self._writer.close()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        super().load_state_dict(state)
        self._writer.close()
        self._open(purge_step=self.next_step)  # TensorBoard forgets what was written after the state

    # --- writing -----------------------------------------------------------------------------------------------------

    def _end_trace(self) -> None:
        if self._trace is not None:
            running, self._trace = self._trace, None
            ended(running, Path(self.log_dir), f"batch{self.profile_batch[0]}-{self._batches}")

    def _open(self, **options: Any) -> None:
        self._writer = extra(WRITER, "TensorBoard").SummaryWriter(self.log_dir, **options)

    def _write_epoch(self, epoch: int, logs: Any) -> None:
        self._write(logs, epoch if self.update_freq == "epoch" else self.samples_seen)

    def _write(self, logs: Any, step: int) -> None:
        for name, value in logs.items():
            if name not in ("batch", "size"):
                self._writer.add_scalar(name, one_number("TensorBoard", name, value), step)
        self._writer.flush()
        self.next_step = step + 1

    def _weights(self) -> Iterator[tuple[str, Any]]:
        for layer in self.model.layers:
            for weight in layer.weights:
                yield weight.full_name.replace(":", "_"), weight

    def _write_weights(self, epoch: int) -> None:
        for name, weight in self._weights():
            values = weight.numpy()
            self._writer.add_histogram(name, values, epoch)
            images = forms.images_of(values) if self.write_images else []
            for index, image in enumerate(images):
                tag = f"{name}/image/{index}" if len(images) > 1 else f"{name}/image"
                self._writer.add_image(tag, image, epoch, dataformats="HW")

    def _write_outputs(self, epoch: int) -> None:
        if not self.validation_data:
            return
        inputs = [each[: self.batch_size] for each in self.validation_data[: len(self.model.inputs)]]
        with forms.outputs_of(self._called_layers()) as outputs:
            self.model.predict(inputs, batch_size=self.batch_size)
        for name, values in outputs.items():
            for index, value in enumerate(values):
                tag = f"{name}_out_{index}" if len(values) > 1 else f"{name}_out"
                self._writer.add_histogram(tag, value.float(), epoch)

    def _called_layers(self) -> list[Any]:
        return [layer for layer in self.model.layers if layer in set(self.model.children())]

    # --- gradients ---------------------------------------------------------------------------------------------------

    def _listen(self) -> None:
        self._gradients = {}
        for _, weight in self._weights():
            for tensor in weight.tensors:
                if tensor.requires_grad:
                    self._handles.append(tensor.register_hook(self._keeper(tensor)))

    def _keeper(self, tensor: torch.Tensor) -> Any:
        def keep(gradient: torch.Tensor) -> None:
            self._gradients[tensor] = gradient.detach().clone()  # type: ignore[assignment]

        return keep

    def _stop_listening(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles = []

    def _write_gradients(self, epoch: int) -> None:
        found, self._gradients = self._gradients, {}
        if not found:
            raise RuntimeError(
                f"TensorBoard: write_grads found no gradients in epoch {epoch}: the training step does not compute "
                "them by autograd, or no weight trains."
            )
        for name, weight in self._weights():
            gradients: Any = [found.get(tensor) for tensor in weight.tensors]
            if all(gradient is not None for gradient in gradients):
                self._writer.add_histogram(f"{name}_grad", weight.arrangement.array(gradients).float(), epoch)

    # --- points ------------------------------------------------------------------------------------------------------

    def _embedding_layers(self) -> list[Any]:
        layers = {layer.name: layer for layer in self._called_layers()}
        names = self.embeddings_layer_names or [
            name for name, layer in layers.items() if type(layer).__name__ == "Embedding"
        ]
        repeated = [name for name in names if name in layers and len(graph_of(self.model).nodes_of(layers[name])) > 1]
        if repeated:
            raise ValueError(f"TensorBoard: layer {repeated[0]!r} of embeddings_layer_names is called more than once.")
        unknown = [name for name in names if name not in layers]
        if unknown or not names:
            found = f"found {unknown[0]!r}" if unknown else "found none"
            raise ValueError(
                f"TensorBoard: embeddings_layer_names must be layers of the model; {found}. It has {', '.join(layers)}."
            )
        return [layers[name] for name in names]

    def _labels(self, name: str) -> tuple[Any, Any]:
        metadata = self.embeddings_metadata
        file = metadata.get(name) if isinstance(metadata, Mapping) else metadata
        return (None, None) if file is None else forms.read_metadata(Path(self.log_dir) / file)

    def _write_points(self, epoch: int) -> None:
        layers = self._embedding_layers()
        with forms.outputs_of(layers) as outputs:
            self.model.predict(self.embeddings_data, batch_size=self.batch_size)
        for layer in layers:
            points = torch.cat([values.flatten(1).float().cpu() for values in outputs[layer.name]])
            labels, head = self._points[layer.name]
            if labels is not None and len(labels) != len(points):
                raise ValueError(
                    f"TensorBoard: embeddings_metadata has {len(labels)} labels for layer {layer.name!r}; "
                    f"embeddings_data has {len(points)} samples."
                )
            self._writer.add_embedding(points, labels, None, epoch, f"{layer.name}_embedding", head)
