"""What TensorBoard's files hold: numbers, histograms, the graph, images and points."""

import importlib
import json
import re
import threading
import time

import numpy as np
import pytest
import torch
from callback_models import X, Y, drive, small

from torchkeras import Input, Model, layers
from torchkeras.callbacks import CallbackList, LambdaCallback, TensorBoard
from torchkeras.callbacks.tensorboard_forms import images_of, read_metadata


def written(folder):
    module = importlib.import_module("tensorboard.backend.event_processing.event_accumulator")
    events = module.EventAccumulator(
        str(folder), {"scalars": 0, "histograms": 0, "tensors": 0, "images": 0, "graph": 1}
    )
    events.Reload()
    return events


def fit(model, board, epochs=1, **options):
    return model.fit(X, Y, batch_size=8, epochs=epochs, verbose=0, callbacks=[board], **options)


def plain(folder, **options):
    return TensorBoard(folder, write_graph=False, **options)


# --- numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("update_freq", "steps"), [("epoch", [0, 1]), ("batch", [4, 8, 12, 12, 16, 20, 24, 24]), (5, [8, 12, 16, 24, 24])]
)
def test_numbers(tmp_path, update_freq, steps):
    board = plain(tmp_path, update_freq=update_freq)
    assert CallbackList([board]).wants("on_train_batch_end") == (update_freq != "epoch")
    drive([board], numbers=lambda epoch: {"loss": torch.tensor(1.0), "val_loss": 2.0})
    events = written(tmp_path)
    assert [event.step for event in events.Scalars("loss")] == steps
    assert [event.value for event in events.Scalars("val_loss")] == [2.0, 2.0]
    assert set(events.Tags()["scalars"]) == {"loss", "val_loss"}


def test_after_a_stop_what_was_written_later_is_forgotten(tmp_path, monkeypatch):
    first, other = plain(tmp_path), plain(tmp_path)
    states = []
    keep = LambdaCallback(on_epoch_end=lambda epoch, logs: states.append(first.state_dict()))
    drive([first, keep], epochs=3, numbers=lambda epoch: {"loss": 1.0})
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 10.0)  # files are read in the order of the seconds in their names
    other.on_train_begin()
    other.load_state_dict(states[1])
    other.on_epoch_end(2, {"loss": 2.0})
    other.on_train_end()
    assert states[1] == {"samples_seen": 0, "samples_seen_at_last_write": 0, "next_step": 2}
    assert [(event.step, event.value) for event in written(tmp_path).Scalars("loss")] == [(0, 1.0), (1, 1.0), (2, 2.0)]


# --- weights, gradients, outputs -------------------------------------------------------------------------------------


def test_histograms_of_weights(tmp_path):
    fit(small(), plain(tmp_path, histogram_freq=2), epochs=3)
    events = written(tmp_path)
    assert [event.step for event in events.Histograms("hidden/kernel_0")] == [0, 2]
    assert set(events.Tags()["histograms"]) == {
        f"{layer}/{w}_0" for layer in ("hidden", "out") for w in ("kernel", "bias")
    }
    assert events.Tags()["images"] == []


def test_gradients_are_those_of_the_first_batch(tmp_path):
    model = small("sgd")
    before = model.get_weights()
    stop = LambdaCallback(on_batch_end=lambda batch, logs: setattr(model, "stop_training", True))
    board = plain(tmp_path, histogram_freq=1, write_grads=True)
    model.fit(X, Y, batch_size=8, verbose=0, shuffle=False, callbacks=[board, stop])
    after = model.get_weights()
    events = written(tmp_path)
    for index, name in enumerate(["hidden/kernel_0", "hidden/bias_0", "out/kernel_0", "out/bias_0"]):
        (event,) = events.Histograms(f"{name}_grad")
        gradient = (before[index] - after[index]) / model.optimizer.lr
        found = event.histogram_value
        assert found.num == gradient.size
        assert [found.min, found.max] == pytest.approx([gradient.min(), gradient.max()], rel=1e-3)


def test_hooks_for_gradients_are_gone_after_a_batch(tmp_path):
    model = small()
    board = plain(tmp_path, histogram_freq=1, write_grads=True)
    listening = []
    look = LambdaCallback(on_batch_begin=lambda batch, logs: listening.append(len(board._handles)))
    model.fit(X, Y, batch_size=8, verbose=0, callbacks=[board, look])
    assert listening == [4, 0, 0]
    assert not board._gradients


def test_a_model_in_which_nothing_trains_has_no_gradients(tmp_path):
    model = small()
    model.trainable = False
    model.compile("sgd", "mse")
    message = (
        "TensorBoard: write_grads found no gradients in epoch 0: the training step does not compute them by autograd, "
        "or no weight trains."
    )
    with pytest.raises(RuntimeError, match=f"^{re.escape(message)}$"):
        fit(model, plain(tmp_path, histogram_freq=1, write_grads=True))


def test_outputs_of_layers_for_validation_data(tmp_path):
    model = small()
    board = plain(tmp_path, histogram_freq=1, batch_size=5)
    board.validation_data = [X, Y, np.ones(len(X))]
    fit(model, board)
    events = written(tmp_path)
    for name, size in (("hidden_out", 25), ("out_out", 15)):
        (event,) = events.Histograms(name)
        assert event.histogram_value.num == size
    predicted = model.predict(X[:5])
    found = events.Histograms("out_out")[0].histogram_value
    assert [found.min, found.max] == pytest.approx([predicted.min(), predicted.max()], rel=1e-6)


def test_a_layer_called_twice_has_two_histograms(tmp_path):
    given = Input((4,))
    shared = layers.Dense(4, name="shared")
    model = Model(given, layers.Dense(3)(shared(shared(given))))
    model.compile("sgd", "mse")
    board = plain(tmp_path, histogram_freq=1)
    board.validation_data = [X, Y]
    fit(model, board)
    assert {"shared_out_0", "shared_out_1"} <= set(written(tmp_path).Tags()["histograms"])


def test_images_of_weights_are_written(tmp_path):
    given = Input((6, 4))
    model = Model(given, layers.Conv1D(5, 3, name="conv")(given))
    model.compile("sgd", "mse")
    board = plain(tmp_path, histogram_freq=1, write_images=True)
    model.fit(np.ones((4, 6, 4)), np.ones((4, 4, 5)), verbose=0, callbacks=[board])
    events = written(tmp_path)
    assert set(events.Tags()["images"]) == {*(f"conv/kernel_0/image/{i}" for i in range(3)), "conv/bias_0/image"}
    assert [(e.width, e.height) for e in events.Images("conv/kernel_0/image/0")] == [(4, 3)]


@pytest.mark.parametrize(
    ("shape", "images"),
    [
        ((7,), [(7, 1)]),
        ((2, 5), [(2, 5)]),
        ((5, 2), [(2, 5)]),
        ((3, 4, 2), [(3, 4)] * 2),
        ((3, 4, 9), [(3, 4)] * 3),
        ((3, 3, 1, 2), [(3, 3)] * 2),
        ((3, 3, 2, 2), []),
        ((1,), []),
        ((0,), [(0, 1)]),
    ],
)
def test_forms_of_images(shape, images):
    found = images_of(np.ones(shape))
    assert [image.shape for image in found] == images
    assert all(image.dtype == np.uint8 for image in found)


@pytest.mark.parametrize(
    ("values", "shades"),
    [
        ([0.0, 1.0, 2.0], [0, 127, 255]),
        ([-1.0, 0.0, 1.0], [1, 128, 255]),
        ([0.0, 0.0], [0, 0]),
        ([np.nan, 1.0], [0, 0]),
    ],
)
def test_shades(values, shades):
    (image,) = images_of(np.array(values))
    assert image[:, 0].tolist() == shades


# --- the graph -------------------------------------------------------------------------------------------------------


def test_the_graph_is_that_of_the_layers(tmp_path):
    given, other = Input((4,), name="given"), Input((4,), name="other")
    shared = layers.Dense(4, name="shared")
    added = layers.Add(name="sum")([shared(given), shared(other)])
    model = Model([given, other], layers.Dense(3, name="out")(added))
    model.compile("sgd", "mse")
    model.fit([X, X], Y, verbose=0, callbacks=[TensorBoard(tmp_path)])
    events = written(tmp_path)
    nodes = {node.name: node for node in events.Graph().node}
    assert {name: (node.op, list(node.input)) for name, node in nodes.items()} == {
        "given": ("InputLayer", []),
        "other": ("InputLayer", []),
        "shared": ("Dense", ["given"]),
        "shared_call1": ("Dense", ["other"]),
        "sum": ("Add", ["shared", "shared_call1"]),
        "out": ("Dense", ["sum"]),
    }
    (shape,) = nodes["out"].attr["_output_shapes"].list.shape
    assert [dim.size for dim in shape.dim] == [-1, 3]
    assert (
        b"def forward(self, given, other):" in events.Tensors("model/code/text_summary")[0].tensor_proto.string_val[0]
    )


# --- points ----------------------------------------------------------------------------------------------------------


def words():
    given = Input((2,), dtype="int32")
    model = Model(given, layers.Dense(3)(layers.Flatten()(layers.Embedding(7, 4, name="words")(given))))
    model.compile("sgd", "mse")
    return model


WORDS = np.arange(24).reshape(12, 2) % 7


def points(folder):
    (file,) = folder.glob("*/*/tensors.tsv")
    return np.loadtxt(file, delimiter="\t")


def test_points_of_an_embedding(tmp_path):
    model = words()
    board = plain(tmp_path, embeddings_freq=2, embeddings_data=WORDS, batch_size=5)
    model.fit(WORDS, np.zeros((12, 3)), epochs=2, verbose=0, shuffle=False, callbacks=[board])
    config = (tmp_path / "projector_config.pbtxt").read_text()
    assert "words_embedding" in config
    assert "metadata" not in config
    assert points(tmp_path).shape == (12, 8)
    assert len(list(tmp_path.glob("*/*/tensors.tsv"))) == 1


def test_points_are_what_the_layer_gives(tmp_path):
    model = words()
    board = plain(tmp_path, embeddings_freq=1, embeddings_data=[WORDS], embeddings_layer_names=["words"])
    model.fit(WORDS, np.zeros((12, 3)), verbose=0, callbacks=[board])
    kernel = model.get_layer("words").get_weights()[0]
    np.testing.assert_allclose(points(tmp_path), kernel[WORDS].reshape(12, 8), rtol=1e-6)


@pytest.mark.parametrize("metadata", ["labels.tsv", {"words": "labels.tsv"}])
@pytest.mark.parametrize(("text", "found"), [("{0}\n", "{0}"), ("{0}\t{0}x\n", "{0}\t{0}x")])
def test_labels_of_points(tmp_path, metadata, text, found):
    rows = [text.format(i) for i in range(12)]
    head = ["number\tname\n"] if "\t" in text else []
    (tmp_path / "labels.tsv").write_text("".join([*head, *rows]))
    board = plain(tmp_path, embeddings_freq=1, embeddings_data=WORDS, embeddings_metadata=metadata)
    words().fit(WORDS, np.zeros((12, 3)), verbose=0, callbacks=[board])
    (file,) = tmp_path.glob("*/*/metadata.tsv")
    lines = file.read_text().splitlines()
    assert lines == [line.strip() for line in head] + [found.format(i) for i in range(12)]


def test_metadata_of_one_column_is_labels(tmp_path):
    (tmp_path / "x").write_text("a\nb b\n")
    assert read_metadata(tmp_path / "x") == (["a", "b b"], None)


def test_labels_that_do_not_fit(tmp_path):
    (tmp_path / "labels").write_text("a\nb\n")
    board = plain(tmp_path, embeddings_freq=1, embeddings_data=WORDS, embeddings_metadata="labels")
    message = "TensorBoard: embeddings_metadata has 2 labels for layer 'words'; embeddings_data has 12 samples."
    before = threading.enumerate()
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        words().fit(WORDS, np.zeros((12, 3)), verbose=0, callbacks=[board])
    assert threading.enumerate() == before  # the one that writes has ended


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["wrds"], "embeddings_layer_names must be layers of the model; found 'wrds'. It has hidden, out."),
        (None, "embeddings_layer_names must be layers of the model; found none. It has hidden, out."),
    ],
)
def test_layers_of_points_that_are_not_there(tmp_path, names, message):
    board = plain(tmp_path, embeddings_freq=1, embeddings_data=X, embeddings_layer_names=names)
    with pytest.raises(ValueError, match=f"^{re.escape('TensorBoard: ' + message)}$"):
        fit(small(), board)


def test_a_layer_called_twice_gives_no_points(tmp_path):
    given = Input((4,))
    shared = layers.Dense(4, name="shared")
    model = Model(given, layers.Dense(3)(shared(shared(given))))
    model.compile("sgd", "mse")
    board = plain(tmp_path, embeddings_freq=1, embeddings_data=X, embeddings_layer_names=["shared"])
    message = "TensorBoard: layer 'shared' of embeddings_layer_names is called more than once."
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        fit(model, board)


# --- traces ----------------------------------------------------------------------------------------------------------


def steps_in(path):
    """How many updates of weights a trace has."""
    events = json.loads(path.read_text())["traceEvents"]
    return sum(event.get("name") == "aten::_fused_sgd_" for event in events)


@pytest.mark.parametrize(
    ("profile_batch", "name", "steps"),
    [
        (2, "trace-batch2-2.pt.trace.json", 1),
        ((1, 3), "trace-batch1-3.pt.trace.json", 3),
        ([3, 4], "trace-batch3-4.pt.trace.json", 2),  # of two epochs
        ((6, 99), "trace-batch6-6.pt.trace.json", 1),  # training ends before
    ],
)
def test_a_trace_has_the_batches_asked_for(tmp_path, profile_batch, name, steps):
    board = plain(tmp_path, profile_batch=profile_batch)
    fit(small("sgd"), board, epochs=2)
    (path,) = tmp_path.glob("*.json")
    assert (path.name, steps_in(path)) == (name, steps)


def test_no_trace_listens_to_no_batch(tmp_path):
    board = plain(tmp_path, profile_batch=0)
    assert not CallbackList([board]).wants("on_train_batch_begin")
    fit(small(), board)
    assert list(tmp_path.glob("*.json")) == []


def test_an_error_ends_the_trace(tmp_path):
    def fail(batch, logs):
        raise KeyError("a fault")

    board = plain(tmp_path, profile_batch=(1, 9))
    with pytest.raises(KeyError, match="a fault"):
        small().fit(X, Y, batch_size=8, verbose=0, callbacks=[board, LambdaCallback(on_train_batch_end=fail)])
    assert [path.name for path in tmp_path.glob("*.json")] == ["trace-batch1-1.pt.trace.json"]


def test_training_without_the_batch(tmp_path):
    message = "TensorBoard: no batch was traced, since training had 3 batches, and profile_batch begins with batch 9."
    with pytest.warns(RuntimeWarning, match=f"^{re.escape(message)}$"):
        fit(small(), plain(tmp_path, profile_batch=(9, 10)))
    assert list(tmp_path.glob("*.json")) == []


def test_a_trace_needs_each_batch(tmp_path):
    model = small()
    model.compile("sgd", "mse", steps_per_execution=2)
    with pytest.raises(ValueError, match=r"^fit: TensorBoard needs a call for every batch;"):
        fit(model, plain(tmp_path, profile_batch=1))
    fit(model, plain(tmp_path))


# --- options ---------------------------------------------------------------------------------------------------------


PROFILED = "profile_batch must be an integer of at least 0, or a pair of the first and last batch, counted from 1"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"update_freq": "step"}, "update_freq must be 'epoch', 'batch' or a number above 0; found 'step'."),
        ({"update_freq": 0}, "update_freq must be 'epoch', 'batch' or a number above 0; found 0."),
        ({"update_freq": None}, "update_freq must be 'epoch', 'batch' or a number above 0; found None."),
        ({"histogram_freq": -1}, "histogram_freq must be an integer of at least 0; found -1."),
        ({"embeddings_freq": 0.5}, "embeddings_freq must be an integer of at least 0; found 0.5."),
        ({"batch_size": 0}, "batch_size must be an integer of at least 1; found 0."),
        ({"profile_batch": -1}, f"{PROFILED}; found -1."),
        ({"profile_batch": (3, 2)}, f"{PROFILED}; found (3, 2)."),
        ({"profile_batch": (0, 2)}, f"{PROFILED}; found (0, 2)."),
        ({"profile_batch": "2,4"}, f"{PROFILED}; found '2,4'."),
        ({"embeddings_freq": 1}, "embeddings_freq needs embeddings_data, what the points are made of."),
    ],
)
def test_tensorboard_refuses(options, message):
    with pytest.raises(ValueError, match=f"^{re.escape('TensorBoard: ' + message)}$"):
        TensorBoard(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"write_grads": True}, "write_grads writes along with the histograms, so nothing with histogram_freq=0."),
        ({"write_images": True}, "write_images writes along with the histograms, so nothing with histogram_freq=0."),
        ({"embeddings_data": X}, "embeddings_data is for embeddings, of which embeddings_freq=0 writes none."),
        (
            {"embeddings_metadata": "x"},
            "embeddings_metadata is for embeddings, of which embeddings_freq=0 writes none.",
        ),
    ],
)
def test_options_that_write_nothing_warn_and_fit_runs(options, message, tmp_path):
    with pytest.warns(UserWarning, match=f"^{re.escape('TensorBoard: ' + message)}$"):
        callback = TensorBoard(tmp_path, **options)
    assert len(fit(small(), callback, epochs=2).history["loss"]) == 2


def test_without_the_package(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    message = (
        "TensorBoard: the package tensorboard is missing. Install it with `pip install torchkeras-graph[tensorboard]`."
    )
    with pytest.raises(ImportError, match=f"^{re.escape(message)}$"):
        TensorBoard()
