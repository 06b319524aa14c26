"""`TensorBoard`: losses, metrics, weights and the model's code, as files that TensorBoard shows."""

import importlib
from typing import Any

from torchkeras.callbacks.base import Callback

# Options of Keras that are not there, and what they are when they ask for nothing.
NOT_THERE = {
    "batch_size": 32,
    "write_grads": False,
    "write_images": False,
    "embeddings_freq": 0,
    "embeddings_layer_names": None,
    "embeddings_metadata": None,
    "embeddings_data": None,
}


class TensorBoard(Callback):
    """Event files in `log_dir`: numbers each epoch, or at least `update_freq` samples apart ("batch": each batch).

    `histogram_freq`: epochs between histograms of all weights (0: none; Keras also draws the layers' outputs).
    `write_graph`: the generated forward as text. Raises ImportError without the package tensorboard,
    NotImplementedError for batch_size, write_grads, write_images and embeddings_*, ValueError for a bad value.
    """

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
    ):
        _refuse(
            batch_size=batch_size,
            write_grads=write_grads,
            write_images=write_images,
            embeddings_freq=embeddings_freq,
            embeddings_layer_names=embeddings_layer_names,
            embeddings_metadata=embeddings_metadata,
            embeddings_data=embeddings_data,
        )
        if update_freq not in ("epoch", "batch") and not _is_count(update_freq, 1):
            raise ValueError(f"TensorBoard: update_freq must be 'epoch', 'batch' or a number; found {update_freq!r}.")
        if not _is_count(histogram_freq, 0):
            raise ValueError(f"TensorBoard: histogram_freq must be a number of epochs; found {histogram_freq!r}.")
        self._module = _tensorboard().__name__
        self.log_dir = str(log_dir)
        self.histogram_freq = histogram_freq
        self.write_graph = write_graph
        self.update_freq = 1 if update_freq == "batch" else update_freq
        self.samples_seen = 0
        self.samples_seen_at_last_write = 0
        self._writer: Any = None
        if self.update_freq != "epoch":
            self.on_train_batch_end = self._on_batch  # only then does a batch cost anything

    def set_model(self, model: Any) -> None:
        self.model = model
        self._writer = importlib.import_module(self._module).SummaryWriter(self.log_dir)
        if self.write_graph:
            indented = "\n".join(f"    {line}" for line in model.code.splitlines())  # Markdown shows it as it is
            self._writer.add_text("model/code", indented)

    def _on_batch(self, batch: int, logs: Any = None) -> None:
        self.samples_seen += logs["size"]
        if self.samples_seen - self.samples_seen_at_last_write >= self.update_freq:  # type: ignore[operator]
            self._write(logs, self.samples_seen)
            self.samples_seen_at_last_write = self.samples_seen

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if self.histogram_freq and epoch % self.histogram_freq == 0:
            for layer in self.model.layers:
                for weight in layer.weights:
                    self._writer.add_histogram(weight.full_name.replace(":", "_"), weight.numpy(), epoch)
        self._write(logs or {}, epoch if self.update_freq == "epoch" else self.samples_seen)

    def on_train_end(self, logs: Any = None) -> None:
        self._writer.close()

    def _write(self, logs: Any, step: int) -> None:
        for name, value in logs.items():
            if name not in ("batch", "size"):
                self._writer.add_scalar(name, value, step)
        self._writer.flush()


def _refuse(**options: Any) -> None:
    for name, value in options.items():
        nothing = NOT_THERE[name]
        if value is not None if nothing is None else value != nothing:
            raise NotImplementedError(f"TensorBoard: {name} is not there; leave it out (found {value!r}).")


def _is_count(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _tensorboard() -> Any:
    try:
        return importlib.import_module("torch.utils.tensorboard")
    except ImportError as error:
        raise ImportError(
            "TensorBoard: the package tensorboard is missing. Install it with `pip install torchkeras[tensorboard]`."
        ) from error
