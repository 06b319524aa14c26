"""Models from translated configs, with the weights of their HDF5 files paired by the layers' names."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np

import torchkeras
from torchkeras.saving.containers.hdf5 import dataset_in, group_in, read_names, text
from torchkeras.saving.graph_config import model_from_config

GOLDEN = Path(__file__).parents[1] / "golden"
Translation = Callable[[Any], dict[str, Any]]


def folders(name: str) -> list[Path]:
    """The cases of one Keras: those made with the others, and those of our own."""
    return [path for base in (GOLDEN, GOLDEN / "keras-own-cases") for path in sorted((base / name).iterdir())]


def config_in(folder: Path, file: str) -> Any:
    """The config in `model.h5` or `model.keras`."""
    if file == "model.keras":
        with zipfile.ZipFile(folder / file) as archive:
            return json.loads(archive.read("config.json"))
    with h5py.File(folder / file) as opened:
        return json.loads(text(opened.attrs["model_config"]))


def assert_outputs(folder: Path, file: str, modern_config: Translation) -> None:
    """The translated model has the weights of the case's file, each once, and gives the saved outputs."""
    torchkeras.clear_session()
    model = model_from_config(json.loads(json.dumps(modern_config(config_in(folder, file)))))
    with h5py.File(folder / "model.h5") as opened:
        group = group_in(opened, "model_weights")
        stored = {name: group_in(group, name) for name in read_names(group, "layer_names")}
        named = {name: read_names(found, "weight_names") for name, found in stored.items()}
        assert {name for name, weights in named.items() if weights} == {x.name for x in model.layers if x.weights}
        for layer in model.layers:
            arrays = [dataset_in(stored[layer.name], weight)[()] for weight in named.get(layer.name, ())]
            for variable, array in zip(layer.weights, arrays, strict=True):
                assert variable.shape == array.shape
                variable.assign(array)
    record = dict(np.load(folder / "io.npz"))
    inputs = [record[f"x{k}"] for k in range(len(record)) if f"x{k}" in record]
    found = model.predict(inputs, batch_size=len(inputs[0]))
    if isinstance(found, dict):
        found = [found[key] for key in sorted(found)]
    outputs = found if isinstance(found, list) else [found]
    assert len(outputs) == sum(name.startswith("y") for name in record)
    for k, output in enumerate(outputs):
        np.testing.assert_allclose(output, record[f"y{k}"], atol=1e-4, rtol=1e-3, err_msg=f"output {k}")


def graph(*layers: dict[str, Any], inputs: Any = None, outputs: Any = None) -> dict[str, Any]:
    """A functional model's config, by default from `x` with 4 features to the last layer."""
    entries = [{**layer, "name": layer["config"]["name"]} for layer in layers]
    return {
        "class_name": "Functional",
        "config": {
            "name": "model",
            "layers": entries,
            "input_layers": [["x", 0, 0]] if inputs is None else inputs,
            "output_layers": [[entries[-1]["name"], 0, 0]] if outputs is None else outputs,
        },
    }
