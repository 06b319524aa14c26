"""The golden cases of one family: what genuine Keras 2.2.4 on TensorFlow 1.14 computed, layer by layer."""

import json
from functools import partial
from pathlib import Path

import h5py
import numpy as np
import torch

from torchkeras import config, constraints, regularizers
from torchkeras.engine.modes import call_module
from torchkeras.saving.containers.hdf5 import dataset_in, group_in, read_names

FOLDER = Path(__file__).parents[1] / "golden" / "keras-2.2.4-tensorflow"


def cases(*classes):
    """The names of the cases whose layer is one of these classes."""
    names = {cls.__name__ for cls in classes}
    found = [path.name for path in sorted(FOLDER.iterdir()) if _source(path.name).partition("(")[0] in names]
    assert found, names
    return found


def check(case, *classes, atol=1e-4):
    """Make the layer of a case, give it Keras's weights, and compare its output and its output shape."""
    known = {cls.__name__: cls for cls in classes}
    before = config.image_data_format()
    config.set_image_data_format(_described(case)["image_data_format"])
    try:
        layer = eval(_source(case), {**known, "regularizers": regularizers, "constraints": constraints}).eval()
    finally:
        config.set_image_data_format(before)
    with np.load(FOLDER / case / "io.npz") as stored:
        values = {name: stored[name] for name in stored.files if name[0] in "xy"}
    inputs = [torch.from_numpy(values[f"x{k}"]) for k in range(len(values)) if f"x{k}" in values]
    given = inputs if len(inputs) > 1 else inputs[0]
    layer(given)
    layer.set_weights(weights(case))
    output = layer(given)
    np.testing.assert_allclose(output.detach().numpy(), values["y0"], rtol=1e-4, atol=atol)
    described = _described(case)["inputs"]
    shapes = [tuple(d["batch_shape"] or (None, *x.shape[1:])) for d, x in zip(described, inputs, strict=True)]
    assert layer.compute_output_shape(shapes if len(shapes) > 1 else shapes[0])[1:] == values["y0"].shape[1:]


def weights(case):
    """The arrays of `model.h5`, in the order of Keras's `get_weights()`."""
    with h5py.File(FOLDER / case / "model.h5", "r") as file:
        model = group_in(file, "model_weights")
        layers = [group_in(model, name) for name in read_names(model, "layer_names")]
        return [np.asarray(dataset_in(group, name)) for group in layers for name in read_names(group, "weight_names")]


def layer_weights(case, layer):
    """Those of one layer."""
    with h5py.File(FOLDER / case / "model.h5", "r") as file:
        group = group_in(file, f"model_weights/{layer}")
        return [np.asarray(dataset_in(group, name)) for name in read_names(group, "weight_names")]


def same_in_both_formats(cls, *args, shape=(2, 3, 9, 8), **options):
    """A layer gives the same for channels_first and, its input turned, for channels_last. Gives back the former."""
    torch.manual_seed(0)
    images = torch.randn(shape)
    last_order = (0, *range(2, len(shape)), 1)
    first = cls(*args, data_format="channels_first", **options).eval()
    last = cls(*args, data_format="channels_last", **options).eval()
    first(images)
    last(images.permute(last_order))
    last.set_weights(first.get_weights())
    expected = first(images)
    found = last(images.permute(last_order))
    torch.testing.assert_close(found, expected.permute(last_order) if expected.dim() > 2 else expected)
    assert tuple(found.shape[1:]) == last.compute_output_shape((None, *shape[2:], shape[1]))[1:]
    return expected


def compiles(layer, *inputs, **arguments):
    """Compiled whole, without a graph break, the layer's `forward` computes the same."""
    torch._dynamo.reset()
    compiled = torch.compile(partial(call_module, layer), fullgraph=True, backend="eager")
    torch.testing.assert_close(compiled(*inputs, **arguments), call_module(layer, *inputs, **arguments))


def remade(layer):
    """The layer made again from its config, sent through JSON."""
    again = type(layer).from_config(json.loads(json.dumps(layer.get_config())))
    assert json.dumps(again.get_config()) == json.dumps(layer.get_config())
    return again


def _described(case):
    return json.loads((FOLDER / case / "case.json").read_text())


def _source(case):
    return _described(case)["source"]
